"""A pendulum in the sun and its shadow: images and measurements joined by projection."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from latentry.data import Dataset
from latentry.errors import DataError, nearest
from latentry.generators.checks import check_counts, check_images, check_positive, check_seed
from latentry.graphs import Graph

__all__ = ["measure_pendulum", "pendulum", "pendulum_graph", "project_shadow"]

_CAUSES = {"angle": ((-30.0, 30.0), 7.0), "light": ((10.0, 30.0), 5.0)}  # centres in degrees, standard deviation
_CUTS = {"position": -3.8, "length": 6.5}
_PIVOT, _ROD, _BALL = 14.0, 9.0, 2.2
_BAND = 2.0  # height of the painted shadow
_READING = np.array([2.0, 2.0, 0.3, 0.3])  # standard deviations of the four instruments
_SKY, _EARTH = np.array([0.55, 0.75, 0.95]), np.array([0.80, 0.70, 0.50])
_METAL, _SUN, _DARK = np.array([0.2, 0.2, 0.3]), np.array([1.0, 0.9, 0.1]), np.array([0.25, 0.2, 0.15])


def pendulum_graph() -> Graph:
    """Return the graph in which angle and light each drive the shadow's position and length.

    Cost: constant.

    Returns:
        The graph.

    >>> pendulum_graph()
    Graph(angle → position, angle → length, light → position, light → length)
    """
    names = ("angle", "light", "position", "length")
    return Graph(names, tuple((cause, effect) for cause in names[:2] for effect in names[2:]))


def project_shadow(angle: np.ndarray, light: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    r"""Return position and length of the shadow on the ground, from the angles of rod and sun.

    A point (x, y) throws its shadow at :math:`x - y\tan\phi` for a sun at angle φ from the zenith. The pivot hangs at
    (0, 14), the rod is 9 long; the shadow reaches from the pivot's to the ball's and is never shorter than the ball,
    4.4. The position is its middle.

    Cost: linear in the rows.

    Args:
        angle: Of the rod, in degrees.
        light: Of the sun from the zenith, in degrees.

    Returns:
        Position and length.

    >>> position, length = project_shadow(np.array([0.0]), np.array([45.0]))
    >>> position.round(3), length.round(3)  # from −14 to −5
    (array([-9.5]), array([9.]))
    """
    swing, slant = np.radians(angle), np.tan(np.radians(light))
    pivot = -_PIVOT * slant
    ball = _ROD * np.sin(swing) - (_PIVOT - _ROD * np.cos(swing)) * slant
    return (pivot + ball) / 2, np.maximum(np.abs(pivot - ball), 2 * _BALL)


def pendulum(
    *,
    rows: int = 4096,
    size: int = 32,
    noise: float = 0.0,
    do: Mapping[str, int] | None = None,
    seed: int = 0,
) -> Dataset:
    """Draw images (size × size × 3 on [0, 1]) and readings of {angle, light} → {position, length}.

    The rod hangs left (0) or right (1), P = 0.5: angle −30° or 30°, standard deviation 7°. The sun is high (0) or low
    (1), P = 0.5: 10° or 30° from the zenith, 5°. Rod and sun are independent, and :func:`project_shadow` gives the shadow
    without noise; its outcomes are position above −3.8 and length above 6.5. The readings are angle, light, position
    and length with Gaussian noise of 2°, 2°, 0.3 and 0.3.

    A node set by ``do`` keeps the spread of its outcome. A set shadow is drawn from its observed distribution given
    that outcome, whatever rod and sun do, so that the image then breaks the physics, as an intervention must. After the pendulum of
    Yang et al. (*CausalVAE*, 2021), a grid of angles there; distributions and sizes are ours.

    Factors are the values (angle, light, position, length) and the outcomes (angle_state, …).

    Cost: rows · pixels.

    Args:
        rows: Number of scenes.
        size: Height and width in pixels.
        noise: Standard deviation of Gaussian noise added to each pixel.
        do: Nodes set to an outcome, e.g. ``{"light": 1}``.
        seed: Of everything.

    Returns:
        A dataset with the modalities "image" and "readings".

    Raises:
        DataError: If a parameter cannot be used.

    >>> data = pendulum(rows=8, seed=0)
    >>> data["image"].shape, data.columns["readings"]
    ((8, 32, 32, 3), ('angle', 'light', 'position', 'length'))
    """
    check_counts(rows=rows, size=size)
    check_positive("noise", noise, zero=True)
    check_seed(seed)
    settings = _checked(do or {})
    rng = np.random.default_rng(seed)
    values, states = _scenes(rows, settings, rng)
    for name in set(settings) & set(_CUTS):
        values[name] = _set_shadow(name, settings[name], rows, rng)
    states |= {name: (values[name] > cut).astype(np.int64) for name, cut in _CUTS.items()}
    readings = np.column_stack([values[name] for name in pendulum_graph().names])
    image = _images(values, size)
    if noise:
        image = image + noise * rng.standard_normal(image.shape, dtype=np.float32)
    return Dataset(
        {"image": image, "readings": readings + _READING * rng.standard_normal(readings.shape)},
        factors=values | {f"{name}_state": state for name, state in states.items()},
        columns={"readings": pendulum_graph().names},
    )


def measure_pendulum(images: np.ndarray) -> dict[str, np.ndarray]:
    """Read angle, light, position and length off images of :func:`pendulum`, as values and as outcomes.

    Each is a centroid of what covers the sky or the ground; the length is the shadow's area over its height.

    Cost: rows · pixels.

    Args:
        images: (rows, size, size, 3) on [0, 1].

    Returns:
        An array for each factor of :func:`pendulum`.

    Raises:
        DataError: If images have another shape.

    >>> data = pendulum(rows=100, seed=1)
    >>> measured = measure_pendulum(data["image"])
    >>> bool(np.abs(measured["position"] - data.factors["position"]).max() < 0.2)
    True
    """
    images = check_images(images)
    x, y = _axes(images.shape[1])
    sun = _cover(images, _SKY, _SUN, 0) * (y > 20)[:, None]
    metal = _cover(images, _SKY, _METAL, 0) * ((y > 1) & (y < 18))[:, None]
    dark = _cover(images, _EARTH, _DARK, 0) * (y < -1)[:, None]
    rod_x, rod_y = _centroid(metal, x, y)
    values = {
        "angle": np.degrees(np.arctan2(rod_x, _PIVOT - rod_y)),
        "light": np.degrees(np.arcsin(np.clip(_centroid(sun, x, y)[0] / 20, -1, 1))),
        "position": _centroid(dark, x, y)[0],
        "length": dark.sum(axis=(1, 2)) * (32 / len(x)) ** 2 / _BAND,
    }
    cuts = {name: sum(centres) / 2 for name, (centres, _) in _CAUSES.items()} | _CUTS
    return values | {f"{name}_state": (values[name] > cut).astype(np.int64) for name, cut in cuts.items()}


def _cover(images: np.ndarray, behind: np.ndarray, front: np.ndarray, channel: int) -> np.ndarray:
    return np.asarray(np.clip((images[..., channel] - behind[channel]) / (front[channel] - behind[channel]), 0, 1))


def _centroid(cover: np.ndarray, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    weight = cover.sum(axis=(1, 2)) + 1e-12
    return cover.sum(axis=1) @ x / weight, cover.sum(axis=2) @ y / weight


def _axes(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Centres of the columns and of the rows, in units of the scene."""
    steps = (np.arange(size) + 0.5) * 32 / size
    return steps - 16, 28 - steps


def _checked(do: Mapping[str, int]) -> Mapping[str, int]:
    names = pendulum_graph().names
    for name, value in do.items():
        if name not in names:
            raise DataError(f"do={dict(do)}: {name!r} is no node{nearest(str(name), names)}")
        if value not in (0, 1):
            raise DataError(f"do={dict(do)}: {name!r} has no outcome {value!r}. Give 0 or 1.")
    return do


def _scenes(
    rows: int, do: Mapping[str, int], rng: np.random.Generator
) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    values, states = {}, {}
    for name, (centres, deviation) in _CAUSES.items():
        drawn = rng.integers(0, 2, size=rows)
        states[name] = np.full(rows, do[name]) if name in do else drawn
        values[name] = np.asarray(centres)[states[name]] + deviation * rng.standard_normal(rows)
    values["position"], values["length"] = project_shadow(values["angle"], values["light"])
    return values, states


def _set_shadow(name: str, state: int, rows: int, rng: np.random.Generator) -> np.ndarray:
    """Draw values of a shadow from scenes of their own, only those with the wanted outcome."""
    kept = np.empty(0)
    while len(kept) < rows:
        fresh = _scenes(2 * rows + 100, {}, rng)[0][name]
        kept = np.concatenate([kept, fresh[(fresh > _CUTS[name]) == state]])
    return kept[:rows]


def _images(values: Mapping[str, np.ndarray], size: int) -> np.ndarray:
    """Paint sky, ground, sun, rod, ball and shadow over each other with edges one pixel soft."""
    pixel = 32 / size
    across, down = _axes(size)
    x, y = across[None, None, :], down[None, :, None]
    swing, sun = (np.radians(values[name])[:, None, None] for name in ("angle", "light"))
    ball_x, ball_y = _ROD * np.sin(swing), _PIVOT - _ROD * np.cos(swing)
    middle, half = values["position"][:, None, None], values["length"][:, None, None] / 2
    along = np.clip((x * np.sin(swing) + (_PIVOT - y) * np.cos(swing)), 0, _ROD)
    layers = (
        (_EARTH, -y + np.zeros_like(x)),
        (_DARK, np.minimum(half - np.abs(x - middle), _BAND / 2 - np.abs(y + 2))),
        (_SUN, 2.5 - np.hypot(x - 20 * np.sin(sun), y - 24)),
        (_METAL, 0.4 - np.hypot(x - along * np.sin(swing), y - _PIVOT + along * np.cos(swing))),
        (_METAL, _BALL - np.hypot(x - ball_x, y - ball_y)),
    )
    image = np.broadcast_to(_SKY.astype(np.float32), (len(middle), size, size, 3))
    for colour, inside in layers:
        cover = np.clip(inside / pixel + 0.5, 0, 1).astype(np.float32)[..., None]
        image = image + cover * (colour.astype(np.float32) - image)
    return image
