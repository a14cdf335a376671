"""The picture of benchmarks/sparse_mixing.py: how well latents are found, against the number of domains."""

from __future__ import annotations

from dataclasses import dataclass
from xml.sax.saxutils import escape

WIDTH, HEIGHT, LEFT, TOP, GAP = 300, 260, 56, 44, 40  # of a panel, and what is around it
LOWEST = 0.4
COLOURS = {
    "CGVAE, λ chosen": "#b3361b",
    "CGVAE, λ = 0": "#e69f00",
    "IFlow": "#0072b2",
    "IVAE": "#009e73",
    "VAE": "#777777",
}


@dataclass(frozen=True)
class Line:
    """One method in one panel: for each number of domains, what each data seed gave."""

    name: str
    found: dict[int, list[float]]


def picture(panels: dict[str, list[Line]]) -> str:
    """Panels side by side; a dot is the mean of the seeds, a bar their range."""
    domains = sorted({count for lines in panels.values() for line in lines for count in line.found})
    drawn = [_panel(title, lines, domains, at) for at, (title, lines) in enumerate(panels.items())]
    wide = LEFT + len(panels) * (WIDTH + GAP) + 130
    tall = TOP + HEIGHT + 60
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {tall}" font-family="sans-serif" font-size="13">'
    )
    back = f'<rect width="{wide}" height="{tall}" fill="white"/>'
    return "\n".join([head, back, *drawn, _legend(LEFT + len(panels) * (WIDTH + GAP) - 10), "</svg>"]) + "\n"


def _height(value: float) -> float:
    return TOP + HEIGHT * (1 - (max(value, LOWEST) - LOWEST) / (1 - LOWEST))


def _panel(title: str, lines: list[Line], domains: list[int], at: int) -> str:
    left = LEFT + at * (WIDTH + GAP)
    apart = max(1, domains[-1] - domains[0])
    place = {count: left + 20 + (WIDTH - 40) * (count - domains[0]) / apart for count in domains}
    parts = [
        f'<text x="{left + WIDTH / 2}" y="{TOP - 16}" text-anchor="middle" font-weight="bold">{escape(title)}</text>'
    ]
    for tick in (0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0):
        y = _height(tick)
        parts.append(f'<path d="M{left},{y:.1f} H{left + WIDTH}" stroke="#dddddd"/>')
        if at == 0:
            parts.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{tick:.1f}</text>')
    for count, x in place.items():
        parts.append(f'<text x="{x:.1f}" y="{TOP + HEIGHT + 20}" text-anchor="middle">{count}</text>')
    parts.append(f'<text x="{left + WIDTH / 2}" y="{TOP + HEIGHT + 42}" text-anchor="middle">domains</text>')
    if at == 0:
        middle = TOP + HEIGHT / 2
        parts.append(
            f'<text x="16" y="{middle}" text-anchor="middle" transform="rotate(-90 16 {middle})">mean correlation</text>'
        )
    return "\n".join([*parts, *(_line(line, place, k) for k, line in enumerate(lines))])


def _line(line: Line, place: dict[int, float], turn: int) -> str:
    colour, parts = COLOURS[line.name], []
    points = [
        (place[count] + 3 * (turn - 2), found) for count, found in sorted(line.found.items())
    ]  # beside each other, so that bars do not hide
    path = " ".join(f"{x:.1f},{_height(sum(found) / len(found)):.1f}" for x, found in points)
    parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
    for x, found in points:
        top, foot = _height(max(found)), _height(min(found))
        parts.append(f'<path d="M{x:.1f},{top:.1f} V{foot:.1f}" stroke="{colour}" stroke-opacity="0.6"/>')
        parts.append(f'<circle cx="{x:.1f}" cy="{_height(sum(found) / len(found)):.1f}" r="3.5" fill="{colour}"/>')
    return "".join(parts)


def _legend(left: float) -> str:
    parts = []
    for k, (name, colour) in enumerate(COLOURS.items()):
        y = TOP + 20 + 24 * k
        parts.append(f'<path d="M{left},{y} h22" stroke="{colour}" stroke-width="2"/>')
        parts.append(
            f'<circle cx="{left + 11}" cy="{y}" r="3.5" fill="{colour}"/><text x="{left + 28}" y="{y + 4}">{name}</text>'
        )
    return "\n".join(parts)
