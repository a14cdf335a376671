"""Bars with intervals, and spans against a declared limit."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Bar", "Span", "bars", "spans"]

_WIDTH, _LABEL, _RIGHT, _LINE, _FOOT = 560, 236, 64, 24, 34


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


def bars(rows: Sequence[Bar], unit: str) -> str:
    """Horizontal bars from zero, with whiskers."""
    known = [v for row in rows for v in (row.value, row.high) if math.isfinite(v)]
    top = max([0.05, *known]) * 1.04
    marks = []
    for i, row in enumerate(rows):
        y = 10 + i * _LINE
        end = _at(row.value, top)
        marks.append(_name(row.name, y))
        marks.append(
            f'<rect class="bar" x="{_LABEL}" y="{y}" width="{max(end - _LABEL, 0.5):.1f}" height="14" rx="3"/>'
        )
        marks += _whisker(row, y, top)
    return _framed(marks, len(rows), top, unit)


def _whisker(row: Bar, y: float, top: float) -> list[str]:
    if math.isnan(row.low):
        return [f'<text class="tick" x="{_at(row.value, top) + 6:.1f}" y="{y + 11}">{row.value:.2f}</text>']
    low, high = _at(max(row.low, 0.0), top), _at(row.high, top)
    right = max(high, _at(row.value, top)) + 6
    end = "" if math.isfinite(row.high) else "→"
    ticks = "".join(f"M{x:.1f} {y + 3}v8" for x in (low, high))
    return [
        f'<path class="whisker" fill="none" d="M{low:.1f} {y + 7}H{high:.1f}{ticks}"/>',
        f'<text class="tick" x="{right:.1f}" y="{y + 11}">{end}{row.value:.2f}</text>',
    ]


def spans(rows: Sequence[Span], limit: float, unit: str) -> str:
    """Spans of what is still possible, beside the limit that was declared."""
    known = [v for row in rows for v in (row.low, row.high) if v is not None]
    top = max([2.0 * limit, *known]) * 1.04
    marks = []
    for i, row in enumerate(rows):
        y = 17 + i * _LINE
        low, high = _at(row.low or 0.0, top), _WIDTH - _RIGHT if row.high is None else _at(row.high, top)
        dash = ' stroke-dasharray="1 13"' if row.high is None else ""
        words = "no upper bound" if row.high is None else f"≤ {row.high:.2g}"
        words = f"≥ {row.low:.2g}" if row.status == "refuted" and row.low is not None else words
        title = f"{row.name}: {row.status}, {words} nats"
        marks.append(_name(row.name, y - 7))
        marks.append(
            f'<path class="span {row.status.replace(" ", "-")}"{dash} d="M{low:.1f} {y}H{max(high, low + 0.5):.1f}">'
            f"<title>{html.escape(title)}</title></path>"
        )
        shift = _WIDTH - _RIGHT if row.high is None else max(high, low)
        marks.append(
            f'<text class="tick" x="{shift + 9:.1f}" y="{y + 4}">{words if row.high is not None else "?"}</text>'
        )
    x = _at(limit, top)
    bottom = 10 + len(rows) * _LINE
    marks.append(f'<line class="limit" x1="{x:.1f}" x2="{x:.1f}" y1="2" y2="{bottom}"/>')
    return _framed(marks, len(rows), top, f"{unit}; the dashed line is the declared {limit:g}")


def _at(value: float, top: float) -> float:
    return _LABEL + min(max(value, 0.0), top) / top * (_WIDTH - _RIGHT - _LABEL)


def _name(name: str, y: float) -> str:
    shown = name if len(name) <= 40 else name[:39] + "…"
    return f'<text class="label" x="{_LABEL - 8}" y="{y + 11}" text-anchor="end">{html.escape(shown)}</text>'


def _framed(marks: list[str], rows: int, top: float, unit: str) -> str:
    bottom = 10 + rows * _LINE
    grid = []
    for value in _ticks(top):
        x = _at(value, top)
        grid.append(f'<line class="grid-line" x1="{x:.1f}" x2="{x:.1f}" y1="4" y2="{bottom}"/>')
        grid.append(f'<text class="tick" x="{x:.1f}" y="{bottom + 14}" text-anchor="middle">{value:.3g}</text>')
    middle = (_LABEL + _WIDTH - _RIGHT) / 2
    words = f'<text class="tick" x="{middle}" y="{bottom + 30}" text-anchor="middle">{html.escape(unit)}</text>'
    return (
        f'<svg class="chart" viewBox="0 0 {_WIDTH} {bottom + _FOOT}" role="img">{"".join([*grid, *marks, words])}</svg>'
    )


def _ticks(top: float) -> Any:
    step = 10.0 ** math.floor(math.log10(top / 4))
    step *= next(f for f in (1, 2, 5, 10) if top / (step * f) <= 5)
    return np.arange(0, math.floor(top / step) + 1) * step
