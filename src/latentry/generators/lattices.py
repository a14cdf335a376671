"""Slices of printed lattices and the curves of their compression: two modalities, one known cause."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np

from latentry.data import Dataset
from latentry.errors import DataError
from latentry.generators.checks import check_counts, check_positive, check_seed
from latentry.graphs import Graph, sample

__all__ = ["LATTICE_CURVES", "lattices", "lattices_graph"]

_KINKS = {"gyroid": (0.35, 0.45), "octet": (0.22, 0.65)}  # (x0, y0)
_SLOPES = {"softening": -0.20, "hardening": 0.50}
# True centres of the expert's parameters for each pair of outcomes (lattice, profile): kink x0, value y0, second slope.
LATTICE_CURVES: Mapping[tuple[int, int], Mapping[str, float]] = MappingProxyType(
    {
        (i, j): MappingProxyType({"x0": x0, "y0": y0, "slope": slope})
        for i, (x0, y0) in enumerate(_KINKS.values())
        for j, slope in enumerate(_SLOPES.values())
    }
)
_SCATTER = {"x0": 0.01, "y0": 0.02, "slope": 0.03}  # standard deviations from sample to sample
# per laboratory: pixel noise, brightness added, contrast, noise of the curve, gain of the load cell
_LABS = ((0.05, 0.0, 1.0, 0.02, 1.0), (0.10, 0.15, 0.75, 0.04, 0.9))


def lattices_graph() -> Graph:
    """Return the graph lattice → profile, with the probabilities that :func:`lattices` draws from.

    Observation alone cannot orient this edge.

    Cost: constant.

    Returns:
        The graph.

    >>> lattices_graph()
    Graph(lattice → profile; with tables)
    """
    tables = {"lattice": np.array([0.5, 0.5]), "profile": np.array([[0.25, 0.75], [0.8, 0.2]])}
    return Graph(("lattice", "profile"), (("lattice", "profile"),), cpts=tables)


def lattices(
    *,
    rows: int = 91,
    size: int = 32,
    points: int = 100,
    labs: int = 1,
    missing: float = 0.0,
    do: Mapping[str, int] | None = None,
    seed: int = 0,
) -> Dataset:
    r"""Draw images of gyroid or octet slices, and two-piece linear stress–strain curves; lattice → profile.

    A stand-in: the measurements of Garland et al. (*Additive Manufacturing* 35, 2020) that physics-informed multimodal
    autoencoders were shown on (Trask et al. 2022; Walker et al. 2023) are not public. Nothing here was measured.

    Two binary nodes. lattice is gyroid (0) or octet (1), P(octet) = 0.5; profile is softening or hardening,
    P(hardening | gyroid) = 0.75, P(hardening | octet) = 0.2. The lattice alone makes the image: a plane through
    :math:`|\sin x\cos y + \sin y\cos z + \sin z\cos x| < w`, or through the struts of radius r that join each node of a
    face-centred cubic grid with its twelve neighbours; two cells wide, with small random offsets and thickness. The
    curve at strain t on [0, 1] is :math:`(y_0/x_0)\,t` up to the kink :math:`x_0` and
    :math:`y_0 + s\,(t - x_0)` beyond. The lattice sets the kink, (x0, y0) = (0.35, 0.45) or (0.22, 0.65); the profile
    sets the slope s = −0.2 or 0.5. Samples scatter about these with standard deviations 0.01, 0.02 and 0.03
    (:data:`LATTICE_CURVES` has the centres by pair of outcomes).

    Laboratory 0 adds noise of standard deviation 0.05 to pixels and 0.02 to curves. Laboratory 1 has 0.10 and 0.04,
    images with 0.75 of the contrast and 0.15 more brightness, and a load cell that reads 0.9 of the stress.

    Factors are the outcomes (lattice, profile) and the true parameters of each curve (x0, y0, slope).

    Cost: rows · pixels.

    Args:
        rows: Number of samples.
        size: Height and width of an image in pixels.
        points: Length of a curve.
        labs: 1, or 2: then the laboratory is the domain, half of the rows each.
        missing: Fraction of rows that lack one of the two modalities; a fair coin says which.
        do: Nodes set to an outcome, e.g. ``{"lattice": 1}``.
        seed: Of everything.

    Returns:
        A dataset with the modalities "image" and "curve".

    Raises:
        DataError: If a parameter cannot be used.

    >>> data = lattices(rows=10, missing=0.4, seed=0)
    >>> data["image"].shape, data["curve"].shape, list(data.factors)
    ((10, 32, 32), (10, 100), ['lattice', 'profile', 'x0', 'y0', 'slope'])
    >>> int(sum((~seen).sum() for seen in data.observed.values()))
    4
    """
    check_counts(rows=rows, size=size, labs=labs)
    check_counts(2, points=points)
    check_seed(seed)
    _check(labs, missing)
    lattice, profile = sample(lattices_graph(), rows, seed, do=do).T
    rng = np.random.default_rng((seed, 1))
    lab = rng.permutation(np.arange(rows) % labs)
    pixel_noise, brightness, contrast, curve_noise, gain = np.array(_LABS)[lab].T[..., None]
    parameters = _parameters(lattice, profile, rng)
    curve = gain * two_pieces(np.linspace(0, 1, points), **parameters)
    curve = curve + curve_noise * rng.standard_normal(curve.shape)
    image = brightness[..., None] + contrast[..., None] * _slices(lattice, size, rng)
    image = image + pixel_noise[..., None] * rng.standard_normal(image.shape)
    return Dataset(
        {"image": image.astype(np.float32), "curve": curve},
        lab if labs > 1 else None,
        observed=_seen(rows, missing, rng),
        factors={"lattice": lattice, "profile": profile, **parameters},
    )


def two_pieces(t: np.ndarray, x0: np.ndarray, y0: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """Return curves through (0, 0) and the kink (x0, y0), then on with the second slope: a row per set of parameters."""
    x0, y0, slope = (np.asarray(part)[..., None] for part in (x0, y0, slope))
    return np.asarray(np.where(t < x0, y0 / x0 * t, y0 + slope * (t - x0)))


def _check(labs: int, missing: float) -> None:
    if labs > len(_LABS):
        raise DataError(f"labs={labs}: there are only {len(_LABS)} laboratories. Give at most {len(_LABS)}.")
    check_positive("missing", missing, zero=True)
    if missing > 1:
        raise DataError(f"missing={missing!r}: it is no fraction. Give a fraction of the rows, from 0 to 1.")


def _parameters(lattice: np.ndarray, profile: np.ndarray, rng: np.random.Generator) -> dict[str, np.ndarray]:
    pairs = list(zip(lattice.tolist(), profile.tolist(), strict=True))
    centres = {name: np.array([LATTICE_CURVES[pair][name] for pair in pairs]) for name in _SCATTER}
    return {name: centres[name] + _SCATTER[name] * rng.standard_normal(len(pairs)) for name in _SCATTER}


def _seen(rows: int, missing: float, rng: np.random.Generator) -> dict[str, np.ndarray]:
    lacking = np.isin(np.arange(rows), rng.permutation(rows)[: round(missing * rows)])
    first = rng.random(rows) < 0.5
    return {"image": ~(lacking & first), "curve": ~(lacking & ~first)}


def _slices(lattice: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw material (1) and air (0) on a plane through each sample, two cells wide, with an edge about a pixel soft."""
    offset = np.array([0.1, 0.15, 0.12]) + 0.03 * rng.standard_normal((len(lattice), 3))
    thickness = 1 + 0.1 * np.clip(rng.standard_normal(len(lattice)), -2.5, 2.5)
    grid = 2 * (np.arange(size) + 0.5) / size
    image = np.empty((len(lattice), size, size))
    for row, (kind, (x, y, z), thick) in enumerate(zip(lattice, offset, thickness, strict=True)):
        across, down = np.meshgrid(grid + x, grid + y)
        inside = (octet if kind else _gyroid)(across, down, z, thick)
        image[row] = 1 / (1 + np.exp(np.clip(-inside * 2 * size, -50, 50)))
    return image


def _gyroid(x: np.ndarray, y: np.ndarray, z: float, thick: float) -> np.ndarray:
    """Return a distance in cells, above 0 in the sheet: the level set's value over the typical size of its gradient."""
    x, y, z = 2 * np.pi * x, 2 * np.pi * y, 2 * np.pi * z
    level = np.sin(x) * np.cos(y) + np.sin(y) * np.cos(z) + np.sin(z) * np.cos(x)
    return np.asarray((0.55 * thick - np.abs(level)) / (2 * np.pi * 1.2))


_DIRECTIONS = np.array([[1, 1, 0], [1, -1, 0], [1, 0, 1], [1, 0, -1], [0, 1, 1], [0, 1, -1]]) / np.sqrt(2)
_CORNERS = np.array([[i, j, k] for i in (0, 1) for j in (0, 1) for k in (0, 1)], dtype=float)
_FACES = np.array([[0.5, 0.5, 0], [0.5, 0.5, 1], [0.5, 0, 0.5], [0.5, 1, 0.5], [0, 0.5, 0.5], [1, 0.5, 0.5]])
_STRUTS = np.concatenate([_CORNERS, _FACES])


def octet(x: np.ndarray, y: np.ndarray, z: float, thick: float) -> np.ndarray:
    """Return radius minus the distance to the nearest strut, in cells; struts that cross a cell meet one of its nodes."""
    points = np.stack([x, y, np.full_like(x, z)], axis=-1) % 1.0
    apart = points[..., None, :] - _STRUTS
    along = apart @ _DIRECTIONS.T
    squared = (apart**2).sum(axis=-1)[..., None] - along**2
    return np.asarray(0.09 * thick - np.sqrt(np.maximum(squared.min(axis=(-2, -1)), 0)))
