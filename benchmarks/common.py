"""What the benchmark scripts share: environments of peers, tables with their provenance."""

from __future__ import annotations

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
