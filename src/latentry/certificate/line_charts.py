"""Charts as SVG text: small, printable, and readable without a network or a script."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from latentry.html_text import escaped, shortened

__all__ = ["Series", "line_chart", "scatter_chart"]

_WIDTH, _HEIGHT = 560, 340
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 30, 46


@dataclass(frozen=True)
class Series:
    """One line, or one colour of points."""

    name: str
    x: np.ndarray
    y: np.ndarray


@dataclass(frozen=True)
class _Axis:
    low: float
    high: float
    start: float  # in pixels
    stop: float

    def at(self, values: np.ndarray) -> np.ndarray:
        return self.start + (values - self.low) / (self.high - self.low) * (self.stop - self.start)

    def ticks(self, about: int = 5) -> np.ndarray:
        step = 10 ** math.floor(math.log10((self.high - self.low) / about))
        for factor in (1, 2, 5, 10):
            if (self.high - self.low) / (step * factor) <= about:
                step *= factor
                break
        ticks: np.ndarray = np.arange(math.ceil(self.low / step), math.floor(self.high / step) + 1) * step
        return ticks


def line_chart(series: Sequence[Series], x_label: str, y_label: str) -> str:
    """Draw lines over a common axis, with a legend.

    Args:
        series: One for each line.
        x_label: Of the axis across.
        y_label: Of the axis up.

    Returns:
        SVG.
    """
    across, up = _axes(series)
    marks = [
        f'<polyline class="line c{i % 8}" points="{_points(across.at(s.x), up.at(s.y))}"/>'
        for i, s in enumerate(series)
    ]
    return _frame(series, across, up, marks, x_label, y_label)


def scatter_chart(series: Sequence[Series], x_label: str, y_label: str, *, legend: bool = True) -> str:
    """Draw points, one colour a series.

    Args:
        series: One for each colour.
        x_label: Of the axis across.
        y_label: Of the axis up.
        legend: Whether colours are named.

    Returns:
        SVG.
    """
    across, up = _axes(series)
    marks = [
        f'<path class="dots c{i % 8}" d="'
        + "".join(f"M{x:.1f} {y:.1f}h0" for x, y in zip(across.at(s.x), up.at(s.y), strict=True))
        + f'"><title>{escaped(s.name)}</title></path>'
        for i, s in enumerate(series)
    ]
    return _frame(series if legend else (), across, up, marks, x_label, y_label)


def _axes(series: Sequence[Series]) -> tuple[_Axis, _Axis]:
    x, y = np.concatenate([s.x for s in series]), np.concatenate([s.y for s in series])
    return _axis(x, _LEFT, _WIDTH - _RIGHT), _axis(y, _HEIGHT - _BOTTOM, _TOP)


def _axis(values: np.ndarray, start: float, stop: float) -> _Axis:
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    margin = 0.03 * (high - low) or 0.5
    return _Axis(low - margin, high + margin, start, stop)


def _points(x: np.ndarray, y: np.ndarray) -> str:
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True) if math.isfinite(b))


def _frame(series: Sequence[Series], across: _Axis, up: _Axis, marks: list[str], x_label: str, y_label: str) -> str:
    grid = [_tick_x(across, value) for value in across.ticks()] + [_tick_y(up, value) for value in up.ticks()]
    middle_x, middle_y = (_LEFT + _WIDTH - _RIGHT) / 2, (_TOP + _HEIGHT - _BOTTOM) / 2
    labels = [
        f'<text class="label" x="{middle_x}" y="{_HEIGHT - 8}" text-anchor="middle">{escaped(x_label)}</text>',
        f'<text class="label" transform="translate(14 {middle_y}) rotate(-90)" text-anchor="middle">'
        f"{escaped(y_label)}</text>",
    ]
    body = "".join(grid + marks + labels + _legend(series))
    return (
        f'<svg class="chart" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escaped(y_label)}">{body}</svg>'
    )


def _tick_x(axis: _Axis, value: float) -> str:
    x, bottom = float(axis.at(np.array(value))), _HEIGHT - _BOTTOM
    line = f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{bottom}"/>'
    return line + f'<text class="tick" x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{value:.4g}</text>'


def _tick_y(axis: _Axis, value: float) -> str:
    y = float(axis.at(np.array(value)))
    line = f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
    return line + f'<text class="tick" x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:.4g}</text>'


def _legend(series: Sequence[Series]) -> list[str]:
    """Draw a row of keys above the chart, where no point can hide behind it."""
    if len(series) < 2:
        return []
    parts, x = [], float(_LEFT)
    for i, one in enumerate(series):
        name = shortened(one.name)
        parts.append(f'<path class="key c{i % 8}" d="M{x:.0f} 14h14"/>')
        parts.append(f'<text class="tick" x="{x + 19:.0f}" y="18">{escaped(name)}</text>')
        x += 19 + 6.4 * len(name) + 16
    return parts
