"""The information plane: how much each layer of a network knows of its input and of its target, epoch by epoch.

Tishby and Zaslavsky (2015) draw I(X; T) against I(T; Y) for the activations T of a layer. What the drawing shows depends on the
estimator and, without a normaliser, on the size of the activations: both are stated with it. For a deterministic network with
continuous activations I(X; T) is infinite; estimates then speak of T as seen through bins or neighbours.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from latentry.data import aligned
from latentry.errors import DataError
from latentry.evidence import Estimate
from latentry.html_text import escaped
from latentry.information.blocks import declared_roles
from latentry.information.estimators import TAKES_LABELS
from latentry.information.measure import mutual_information

__all__ = ["InformationPlane", "PlanePoint", "information_plane"]

Array = np.ndarray
SIZE, MARGIN = 480, 56


@dataclass(frozen=True)
class PlanePoint:
    """A layer at an epoch."""

    epoch: int
    layer: str
    input_information: Estimate
    target_information: Estimate


@dataclass(frozen=True)
class InformationPlane:
    """The points of a run, epoch by epoch, layer by layer."""

    points: tuple[PlanePoint, ...]
    method: str
    units: str

    @property
    def layers(self) -> tuple[str, ...]:
        """Return names in the order in which they were given."""
        return tuple(dict.fromkeys(p.layer for p in self.points))

    def table(self) -> Array:
        """Return epochs × layers × (I(X; T), I(T; Y))."""
        epochs = sorted({p.epoch for p in self.points})
        result = np.full((len(epochs), len(self.layers), 2), np.nan)
        for p in self.points:
            result[epochs.index(p.epoch), self.layers.index(p.layer)] = p.input_information, p.target_information
        return result

    def to_svg(self, path: str | Path | None = None) -> str:
        """Draw an image that any browser shows: a path per epoch through the layers, pale early, dark late.

        Args:
            path: Where to write it, if anywhere.

        Returns:
            The SVG text.
        """
        text = _svg(self)
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        return text


def information_plane(
    activations: Mapping[int, Mapping[str, ArrayLike] | Sequence[ArrayLike]],
    x: ArrayLike,
    y: ArrayLike,
    *,
    estimator: str = "ksg",
    normalize: str | None = "default",
    units: str = "bits",
    bins: int | None = None,
    correction: str = "miller_madow",
    k: int | None = None,
    seed: int = 0,
    discrete: Iterable[str] | None = None,
    confidence: float | None = None,
    groups: ArrayLike | None = None,
    time: ArrayLike | bool | None = None,
) -> InformationPlane:
    """Estimate I(X; T) and I(T; Y) of every recorded layer.

    Cost: that of two estimates for each layer and each recorded epoch.

    Args:
        activations: epoch → layers, each n × units; layers by name, or in order.
        x: n rows of input.
        y: n rows of target; integers are labels where the estimator takes labels.
        estimator: any of :func:`mutual_information`; "ksg" with labels is answered by "mixed", its form for labels.
        normalize: as there.
        units: "bits" or "nats".
        bins: as there.
        correction: as there; "plugin" when the rows are all inputs that exist, not a sample of them.
        k: as there.
        seed: as there.
        discrete: which of "x", "y" are labels; None reads it off the dtype.
        confidence: of the intervals; None skips them.
        groups: as there: one label for each row, where rows of a group depend on each other.
        time: as there.

    Returns:
        A point for each layer and epoch.

    Raises:
        DataError: If there are no activations, or a layer cannot be measured; it names layer and epoch.

    Example:
        >>> rng = np.random.default_rng(0)
        >>> x = rng.standard_normal((400, 3))
        >>> y = (x[:, 0] > 0).astype(int)
        >>> plane = information_plane({0: [x @ rng.standard_normal((3, 2))], 9: [x[:, :1]]}, x, y)
        >>> plane.table().shape, bool(plane.table()[1, 0, 1] > 0.8)
        ((2, 1, 2), True)
    """
    if not activations:
        raise DataError("activations={}: nothing was recorded. Give a mapping from epoch to the layers recorded then.")
    common = {"normalize": normalize, "units": units, "bins": bins, "correction": correction, "k": k, "seed": seed}
    parts, _ = aligned(
        {"x": x, "y": y, "groups": groups, "time": time}
    )  # layers have no index: they are in the order of x
    x, y, groups, time = parts["x"], parts["y"], parts["groups"], parts["time"]
    labels = _labels(x, y, discrete)

    def inform(left: ArrayLike, right: ArrayLike, roles: tuple[str, ...]) -> Estimate:
        name = "mixed" if roles and estimator in ("ksg", "ksg1") else estimator
        chosen = roles if name in TAKES_LABELS else None
        options = {**common, "discrete": chosen, "confidence": confidence}
        return mutual_information(left, right, estimator=name, groups=groups, time=time, **options)  # type: ignore[arg-type]

    points = []
    for epoch in sorted(activations):
        for layer, values in _named(activations[epoch]).items():
            rows = np.asarray(values)
            try:
                seen = inform(x, rows, ("x",) if "x" in labels else ())
                of_target = inform(rows, y, ("y",) if "y" in labels else ())
            except DataError as problem:
                raise DataError(f"{layer} at epoch {epoch}: {problem}") from None
            points.append(PlanePoint(epoch, layer, seen, of_target))
    return InformationPlane(tuple(points), estimator, units)


def _labels(x: ArrayLike, y: ArrayLike, discrete: Iterable[str] | None) -> frozenset[str]:
    if discrete is not None:
        return declared_roles(discrete, ("x", "y"))
    return frozenset(name for name, v in (("x", x), ("y", y)) if np.asarray(v).dtype.kind in "biu")


def _named(layers: Mapping[str, ArrayLike] | Sequence[ArrayLike]) -> dict[str, ArrayLike]:
    if isinstance(layers, Mapping):
        return dict(layers)
    return {f"layer {i + 1}": values for i, values in enumerate(layers)}


# --- the image ----------------------------------------------------------------------------------------


def _svg(plane: InformationPlane) -> str:
    table = plane.table()
    top = np.nanmax(table, axis=(0, 1)) * 1.05
    top = np.where(top > 0, top, 1.0)
    epochs = sorted({p.epoch for p in plane.points})
    paths = [_path(row, top, i / max(1, len(epochs) - 1)) for i, row in enumerate(table)]
    legend = f"{plane.method}; epochs {epochs[0]} (pale) to {epochs[-1]} (dark); {len(plane.layers)} layers"
    body = [_axes(top, plane.units), *paths, _text(SIZE / 2, 18, legend)]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SIZE} {SIZE}" font-family="sans-serif" font-size="12">'
    )
    return "\n".join([head, f'<rect width="{SIZE}" height="{SIZE}" fill="white"/>', *body, "</svg>"])


def _place(point: Array, top: Array) -> tuple[float, float]:
    span = SIZE - 2 * MARGIN
    return MARGIN + span * float(point[0] / top[0]), SIZE - MARGIN - span * float(point[1] / top[1])


def _path(row: Array, top: Array, age: float) -> str:
    colour = f"hsl({260 - 200 * age:.0f}, 70%, {80 - 45 * age:.0f}%)"
    places = [_place(point, top) for point in row if not np.any(np.isnan(point))]
    line = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
    dots = "".join(f'<circle cx="{a:.1f}" cy="{b:.1f}" r="3" fill="{colour}"/>' for a, b in places)
    return f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-opacity="0.5"/>{dots}'


def _ticks(top: float) -> list[float]:
    """Round numbers from 0 to the top, three to six of them.

    >>> _ticks(12.6), [round(t, 1) for t in _ticks(1.04)]
    ([0.0, 5.0, 10.0], [0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    """
    size = 10.0 ** np.floor(np.log10(top))
    step = next(s * size for s in (0.2, 0.5, 1.0) if top / (s * size) < 6)
    return [float(t) for t in np.arange(0, top, step)]


def _axes(top: Array, units: str) -> str:
    low, high = MARGIN, SIZE - MARGIN
    frame = f'<path d="M{low},{low} V{high} H{high}" fill="none" stroke="black"/>'
    across = [(_place(np.array([t, 0.0]), top)[0], f"{t:.3g}") for t in _ticks(top[0])]
    up = [(_place(np.array([0.0, t]), top)[1], f"{t:.3g}") for t in _ticks(top[1])]
    lines = "".join([f"M{a:.1f},{high} v5 " for a, _ in across] + [f"M{low},{b:.1f} h-5 " for b, _ in up])
    marks = [_text(a, high + 18, words) for a, words in across] + [_text(low - 18, b + 4, words) for b, words in up]
    names = [
        _text(SIZE / 2, SIZE - 16, f"I(X; T), {units}"),
        _text(16, SIZE / 2, f"I(T; Y), {units}", turn=f' transform="rotate(-90 16 {SIZE / 2:.0f})"'),
    ]
    return frame + f'<path d="{lines}" stroke="black"/>' + "".join(marks + names)


def _text(x: float, y: float, words: str, turn: str = "") -> str:
    return f'<text x="{x:.0f}" y="{y:.0f}" text-anchor="middle"{turn}>{escaped(words)}</text>'
