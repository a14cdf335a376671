"""What a small toml file says of data files: which columns play which part.

.. code-block:: toml

    files = ["measurements.csv"]   # of the same folder; patterns such as "*.csv" too
    domain = "lab"
    ids = "mouse"
    drop = ["note"]

    [modalities]
    body = ["height", "weight"]
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from latentry.errors import DataError, nearest

__all__ = ["said_roles"]

_BESIDE = "data.toml"
_ONE = ("groups", "time", "ids")
_MANY = ("domain", "factors", "categories", "drop", "files")
_KEYS = (*_ONE, *_MANY, "modalities")


def said_roles(path: Path | None, given: str | Path | None) -> dict[str, Any]:
    """Return the roles that a toml file says.

    Args:
        path: The data file; None where the data are in memory.
        given: The toml file; by default data.toml beside the data file, where that names it.

    Returns:
        Arguments of :func:`latentry.read` by name; none where nothing is said.

    Raises:
        DataError: For a file that is not there or no toml, and for keys and values that mean nothing, by name.
    """
    beside = None if path is None else path.parent / _BESIDE
    if given is not None:
        said = _checked(Path(given))
        said.pop("files", None)
        return said
    if beside is None or not beside.is_file() or path is None:
        return {}
    said = _checked(beside)
    if "files" not in said:
        raise DataError(f'{beside}: names no files. Begin it with a line such as files = ["{path.name}"].')
    return said if any(fnmatch(path.name, pattern) for pattern in _listed(said.pop("files"))) else {}


def _checked(path: Path) -> dict[str, Any]:
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise DataError(f'{path}: cannot be read as toml ({problem}). Write lines such as domain = "lab".') from None
    for key, value in said.items():
        if key not in _KEYS:
            raise DataError(f"{path}: {key!r} means nothing here{nearest(key, _KEYS)}")
        _check_value(path, key, value)
    return said


def _check_value(path: Path, key: str, value: object) -> None:
    if key == "modalities":
        named = isinstance(value, Mapping) and all(_is_list(columns) for columns in value.values())
        if not named and not _is_list(value):
            raise DataError(
                f'{path}: modalities is no table of columns. Write [modalities], then body = ["height", "mass"].'
            )
    elif not (isinstance(value, str) or (key in _MANY and _is_list(value))):
        several = ', or several as ["a", "b"]' if key in _MANY else ""
        raise DataError(f"{path}: {key}={value!r}: is no name. Give the name of a column in quotes{several}.")


def _is_list(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(name, str) for name in value))


def _listed(value: str | list[str]) -> list[str]:
    return [value] if isinstance(value, str) else value
