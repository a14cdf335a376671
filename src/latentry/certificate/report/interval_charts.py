"""Bars with intervals, and spans against a declared limit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from latentry.html_text import escaped, shortened

__all__ = ["Bar", "Span", "bars", "spans"]

_WIDTH, _RIGHT, _LINE, _FOOT, _LETTER = 560, 64, 24, 34, 6.4
_LONGEST = 38  # letters of a name


@dataclass(frozen=True)
class Bar:
    """A value with its interval."""

    name: str
    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Span:
    """Where a quantity can be: from low to high, either of which may be unknown."""

    name: str
    low: float | None
    high: float | None
    status: str


@dataclass(frozen=True)
class _Scale:
    """From values to pixels: names on the left, as wide as they need, then zero to the top."""

    left: float
    top: float

    @classmethod
    def of(cls, names: Sequence[str], top: float) -> _Scale:
        return cls(18 + _LETTER * min(max(map(len, names), default=0), _LONGEST), 1.04 * top)

    def at(self, value: float) -> float:
        return self.left + min(max(value, 0.0), self.top) / self.top * (_WIDTH - _RIGHT - self.left)

    def name(self, name: str, y: float) -> str:
        shown = escaped(shortened(name, _LONGEST))
        return f'<text class="label" x="{self.left - 8:.1f}" y="{y + 11}" text-anchor="end">{shown}</text>'


def bars(rows: Sequence[Bar], unit: str) -> str:
    """Draw horizontal bars from zero, with whiskers.

    Args:
        rows: One for each bar.
        unit: Of the values.

    Returns:
        SVG.
    """
    known = [v for row in rows for v in (row.value, row.high) if math.isfinite(v)]
    scale = _Scale.of([row.name for row in rows], max([0.05, *known]))
    marks = []
    for i, row in enumerate(rows):
        y = 10 + i * _LINE
        wide = max(scale.at(row.value) - scale.left, 0.5)
        marks.append(scale.name(row.name, y))
        marks.append(f'<rect class="bar" x="{scale.left:.1f}" y="{y}" width="{wide:.1f}" height="14" rx="3"/>')
        marks += _whisker(row, y, scale)
    return _framed(marks, len(rows), scale, unit)


def _whisker(row: Bar, y: float, scale: _Scale) -> list[str]:
    if math.isnan(row.low):
        return [f'<text class="tick" x="{scale.at(row.value) + 6:.1f}" y="{y + 11}">{row.value:.2f}</text>']
    low, high = scale.at(row.low), scale.at(row.high)
    right = max(high, scale.at(row.value)) + 6
    end = "" if math.isfinite(row.high) else "→"
    ticks = "".join(f"M{x:.1f} {y + 3}v8" for x in (low, high))
    return [
        f'<path class="whisker" fill="none" d="M{low:.1f} {y + 7}H{high:.1f}{ticks}"/>',
        f'<text class="tick" x="{right:.1f}" y="{y + 11}">{end}{row.value:.2f}</text>',
    ]


def spans(rows: Sequence[Span], limit: float, unit: str) -> str:
    """Draw spans of what is still possible, beside the limit that was declared.

    Args:
        rows: One for each span.
        limit: As declared.
        unit: Of the values.

    Returns:
        SVG.
    """
    known = [v for row in rows for v in (row.low, row.high) if v is not None]
    scale = _Scale.of([row.name for row in rows], max([2.0 * limit, *known]))
    x, bottom = scale.at(limit), 10 + len(rows) * _LINE
    marks = [f'<line class="limit" x1="{x:.1f}" x2="{x:.1f}" y1="2" y2="{bottom}"/>']
    marks += [mark for i, row in enumerate(rows) for mark in _span(row, 17 + i * _LINE, scale)]
    return _framed(marks, len(rows), scale, f"{unit}; the dashed line is the declared {limit:g}")


def _span(row: Span, y: float, scale: _Scale) -> list[str]:
    """Draw a bar from the lower to the upper bound; dots where nothing bounds it from above."""
    low = scale.at(row.low or 0.0)
    high = max(_WIDTH - _RIGHT if row.high is None else scale.at(row.high), low + 0.5)
    dash = ' stroke-dasharray="1 13"' if row.high is None else ""
    words = "no upper bound" if row.high is None else f"≤ {row.high:.2g}"
    words = f"≥ {row.low:.2g}" if row.status == "refuted" and row.low is not None else words
    title = escaped(f"{row.name}: {row.status}, {words} nats")
    kind = escaped(row.status.replace(" ", "-"))
    beside = words if row.high is not None or row.status == "refuted" else "?"
    return [
        scale.name(row.name, y - 7),
        f'<path class="span {kind}"{dash} d="M{low:.1f} {y}H{high:.1f}"><title>{title}</title></path>',
        f'<text class="tick" x="{high + 9:.1f}" y="{y + 4}">{beside}</text>',
    ]


def _framed(marks: list[str], rows: int, scale: _Scale, unit: str) -> str:
    bottom = 10 + rows * _LINE
    grid = []
    for value in _ticks(scale.top):
        x = scale.at(value)
        grid.append(f'<line class="grid-line" x1="{x:.1f}" x2="{x:.1f}" y1="4" y2="{bottom}"/>')
        grid.append(f'<text class="tick" x="{x:.1f}" y="{bottom + 14}" text-anchor="middle">{value:.3g}</text>')
    middle = (scale.left + _WIDTH - _RIGHT) / 2
    words = f'<text class="tick" x="{middle:.1f}" y="{bottom + 30}" text-anchor="middle">{escaped(unit)}</text>'
    body = "".join([*grid, *marks, words])
    return f'<svg class="chart" viewBox="0 0 {_WIDTH} {bottom + _FOOT}" role="img">{body}</svg>'


def _ticks(top: float) -> list[float]:
    step = 10.0 ** math.floor(math.log10(top / 4))
    step *= next(f for f in (1, 2, 5, 10) if top / (step * f) <= 5)
    ticks: list[float] = (np.arange(0, math.floor(top / step) + 1) * step).tolist()
    return ticks
