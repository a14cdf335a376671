"""What the benchmark scripts share: environments of peers, tables with their provenance."""

from __future__ import annotations

import math
import os
import platform
import shlex
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE / "results"


def peer_environment(name: str, packages: list[str]) -> str:
    """The Python of a virtual environment of its own, made on first use."""
    folder = HERE / f".venv-{name}"
    python = folder / "bin" / "python"
    ready = folder / ".ready"
    if not ready.exists() or ready.read_text() != "\n".join(packages):
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *packages], check=True)
        ready.write_text("\n".join(packages))
    return str(python)


def provenance(packages: tuple[str, ...] = ("latentry", "jax", "numpy")) -> str:
    """Command, versions and machine, for the foot of a table."""
    versions = ", ".join(f"{name} {version(name)}" for name in packages)
    command = f"python {Path(sys.argv[0]).parent.name}/{Path(sys.argv[0]).name} {shlex.join(sys.argv[1:])}".strip()
    return f"`{command}`; {versions}; Python {platform.python_version()}, {os.cpu_count()} cores."


def table(header: list[str], rows: list[list[object]]) -> str:
    """A markdown table."""
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(map(str, row)) + " |" for row in rows])


def publish(name: str, text: str) -> None:
    """Print a result and keep it."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(text.rstrip() + "\n")
    print(text)


_STYLE = (
    "text{font:15px sans-serif;fill:#7a7a7a}.before{stroke:#b85c38;fill:#b85c38}.now{stroke:#2a6f97;fill:#2a6f97}"
    "path{fill:none!important;stroke-width:2}.axis{stroke:#999;stroke-width:1}"
)


def growth_panels(panels: dict, title: str, states: tuple[str, ...] = ("before", "now")) -> str:
    """Seconds against sizes on logarithmic axes, a panel each, as SVG.

    A panel maps sizes to seconds, or to seconds by state.
    """
    every = [s for panel in panels.values() for s in panel.values()]
    flat = [value for s in every for value in (s.values() if isinstance(s, dict) else [s])]
    low, high = math.floor(math.log10(min(flat))), math.ceil(math.log10(max(flat)))
    body = "".join(
        _panel(20 + 300 * i, name, panel, (low, max(high, low + 1)), states)
        for i, (name, panel) in enumerate(panels.items())
    )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {20 + 300 * len(panels)} 240" role="img">'
    named = f'<text x="20" y="13">{title}</text>'
    return f"{head}<title>{title}</title><style>{_STYLE}</style>{named}{body}</svg>\n"


def _panel(left: float, name: str, panel: dict, decades: tuple[int, int], states: tuple[str, ...]) -> str:
    sizes = list(panel)
    span = max(math.log(sizes[-1] / sizes[0]), 1e-9)

    def at(size: float, seconds: float) -> tuple[float, float]:
        up = (math.log10(seconds) - decades[0]) / (decades[1] - decades[0])
        return left + 40 + 220 * math.log(size / sizes[0]) / span, 200 - 170 * up

    parts = [f'<text x="{left + 150}" y="234" text-anchor="middle">{name}</text>']
    for decade in range(decades[0], decades[1] + 1):
        y = at(sizes[0], 10.0**decade)[1]
        parts.append(f'<line class="axis" x1="{left + 36}" x2="{left + 264}" y1="{y:.1f}" y2="{y:.1f}" opacity="0.4"/>')
        parts.append(f'<text x="{left + 30}" y="{y + 4:.1f}" text-anchor="end">{10.0**decade:g} s</text>')
    for size in (sizes[0], sizes[-1]):
        parts.append(f'<text x="{at(size, 1)[0]:.1f}" y="216" text-anchor="middle">{size:,}</text>')
    for state in states:
        points = [at(size, s[state] if isinstance(s, dict) else s) for size, s in panel.items()]
        line = " L".join(f"{x:.1f} {y:.1f}" for x, y in points)
        parts.append(f'<path class="{state}" d="M{line}"/>')
        parts += [f'<circle class="{state}" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in points]
        if len(states) > 1:
            x, y = points[-1]
            parts.append(
                f'<text class="{state}" stroke="none" x="{x:.1f}" y="{y - 8:.1f}" text-anchor="end">{state}</text>'
            )
    return "".join(parts)
