"""The packages that latentry needs at run time, with their licences, as a table: what docs/licences.md holds.

python tools/licences.py > docs/licences.md     # after a change of dependencies
"""

from __future__ import annotations

import re
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

__all__ = ["closure", "licence", "page"]

_HEAD = """# Licences of dependencies

latentry is under Apache-2.0. It copies no code of others; it needs these packages, with what they need themselves. A test compares
this list with the packages that are installed, and refuses a licence that is not permissive. Packages for tests and file formats
are not shipped and not listed.
"""


def closure(name: str, extras: tuple[str, ...] = ()) -> dict[str, Distribution]:
    """Return a package's dependencies, with theirs, that are installed here.

    Args:
        name: Of the package.
        extras: Whose dependencies count too.

    Returns:
        By canonical name, in order; without the package itself.
    """
    result: dict[str, Distribution] = {}
    todo = [(name, extras)]
    seen: set[tuple[str, tuple[str, ...]]] = set()
    while todo:
        one, wanted = todo.pop()
        if (one, wanted) in seen:
            continue
        seen.add((one, wanted))
        try:
            found = distribution(one)
        except PackageNotFoundError:
            continue
        if one != name:
            result[canonicalize_name(one)] = found
        for line in found.requires or ():
            needed = Requirement(line)
            if needed.marker is None or any(needed.marker.evaluate({"extra": extra}) for extra in ("", *wanted)):
                todo.append((canonicalize_name(needed.name), tuple(sorted(needed.extras))))
    return dict(sorted(result.items()))


def licence(package: Distribution) -> str:
    """Return a package's licence: an SPDX expression where there is one, else the words of its classifiers or its field.

    Args:
        package: Installed.

    Returns:
        A few words.
    """
    about = package.metadata
    if about.get("License-Expression"):
        return str(about.get("License-Expression"))
    classes = [
        line.rsplit("::", 1)[1].strip() for line in about.get_all("Classifier") or () if line.startswith("License ::")
    ]
    classes = [one for one in classes if one != "OSI Approved"]
    if classes:
        return "; ".join(classes)
    return re.split(r"[\n.]", str(about.get("License") or "not said").strip())[0][:60]


def page() -> str:
    """Return the page: a row for each package."""
    rows = [f"| {package.metadata['Name']} | {licence(package)} |" for package in closure("latentry").values()]
    return "\n".join([_HEAD, "| package | licence |", "|---|---|", *rows, ""])


if __name__ == "__main__":
    print(page(), end="")
