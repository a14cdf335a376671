"""Run a quick selection of the tests with the lowest and with the newest dependencies that pyproject.toml allows.

    python tools/dependency_bounds.py                 # both
    python tools/dependency_bounds.py lowest          # one of them
    python tools/dependency_bounds.py lowest tests/data tests/evidence   # other tests

Each gets a virtual environment of its own (``.venv-lowest``, ``.venv-newest``), made anew every time. The lowest versions are read
from ``pyproject.toml``, where ``name>=1.2`` becomes the constraint ``name==1.2``; the newest are whatever pip chooses.
Where packages come from is left to pip's own configuration. Use the lowest Python that is allowed, for the lowest versions may have
no wheels for newer ones.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = ("test",)
QUICK = (
    "tests/evidence",
    "tests/data",
    "tests/graphs/test_search.py",
    "tests/information/test_closed_forms.py",
    "tests/natural/test_check.py",
    "tests/training/test_loop.py",
    "tests/models/test_vae.py",
    "tests/certificate/test_certify.py",
    "tests/cli/test_cli.py",
)


def project() -> dict:
    """Return the table [project] of pyproject.toml."""
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def requirements(table: dict, extras: tuple[str, ...]) -> Iterator[str]:
    """Yield the requirements of a project and of its extras, those of extras that an extra names among them."""
    yield from table["dependencies"]
    waiting, done = list(extras), set()
    while waiting:
        extra = waiting.pop()
        done.add(extra)
        for line in table["optional-dependencies"][extra]:
            name, own = parsed(line).name, parsed(line).extras
            if name == table["name"]:
                waiting += sorted(own - done)
            else:
                yield line


def parsed(line: str):  # noqa: ANN201 (pip's own copy of packaging: a fresh Python has no other)
    """Return a requirement as its parts."""
    try:
        from packaging.requirements import Requirement
    except ImportError:
        from pip._vendor.packaging.requirements import Requirement
    return Requirement(line)


def lowest(lines: Iterator[str]) -> list[str]:
    """Return a constraint for each requirement: the version after its ``>=``.

    >>> lowest(iter(["jax>=0.10,<0.11", "rich>=13.7"]))
    ['jax==0.10', 'rich==13.7']

    Raises:
        SystemExit: If a requirement has no lower bound.
    """
    found = {}
    for line in lines:
        wanted = parsed(line)
        versions = [part.version for part in wanted.specifier if part.operator == ">="]
        if not versions:
            sys.exit(f"pyproject.toml: {line!r} has no lower bound. Write it as name>=version.")
        found[wanted.name] = versions[0]
    return [f"{name}=={version}" for name, version in sorted(found.items())]


def install(folder: Path, constraints: list[str]) -> Path:
    """Make a virtual environment with the package in it, and return its Python."""
    venv.create(folder, clear=True, with_pip=True)
    python = folder / "bin" / "python"
    wanted = f"{ROOT}[{','.join(EXTRAS)}]"
    with TemporaryDirectory() as place:
        file = Path(place) / "constraints.txt"
        file.write_text("\n".join(constraints) + "\n", encoding="utf-8")
        run(python, "-m", "pip", "install", "--constraint", file, "--editable", wanted)
    return python


def run(*command: object) -> None:
    """Run a command in the project's folder; end with its exit code if it fails."""
    ended = subprocess.run([str(part) for part in command], cwd=ROOT, check=False)
    if ended.returncode:
        sys.exit(ended.returncode)


def main() -> None:
    """Install and test, as the command line asks."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("which", nargs="?", choices=("lowest", "newest", "both"), default="both")
    options.add_argument("tests", nargs="*", default=QUICK)
    chosen = options.parse_args()
    for which in ("lowest", "newest") if chosen.which == "both" else (chosen.which,):
        constraints = lowest(requirements(project(), EXTRAS)) if which == "lowest" else []
        print(f"{which}: {', '.join(constraints) or 'what pip chooses'}", flush=True)
        python = install(ROOT / f".venv-{which}", constraints)
        # old packages warn of each other's changes, which is not ours to mend; warnings of the newest tell what will break
        warnings = ("-W", "default") if which == "lowest" else ()
        run(python, "-m", "pytest", "-q", *warnings, *chosen.tests)


if __name__ == "__main__":
    main()
