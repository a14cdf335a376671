"""Checksums of what a file of ours holds, so that changed data are never read as if they were the data."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from latentry.errors import DataError
from latentry.json_forms import canonical_json

__all__ = ["digest", "require_same", "require_seal", "seal"]

_CHANGED = "it was changed or damaged after it was written. Restore it from a copy, or write it again."


def digest(arrays: Mapping[str, np.ndarray]) -> str:
    """Return SHA-256 over names, types, shapes and values, whatever the order of the names.

    Args:
        arrays: By name; text is taken by its letters, however it is stored.

    Returns:
        64 hexadecimal digits.

    >>> digest({"a": np.array(["x", "yz"])}) == digest({"a": np.array(["x", "yz"], dtype=object)})
    True
    """
    total = hashlib.sha256()
    for name in sorted(arrays):
        array = np.asarray(arrays[name])
        numbers = array.dtype.kind in "biufc"
        kind = array.dtype.newbyteorder("=").str[1:] if numbers else "text"
        total.update(canonical_json([name, kind, list(array.shape)]))
        if numbers:
            total.update(np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<"), copy=False)).data)
        else:
            total.update(canonical_json([None if value is None else str(value) for value in array.ravel().tolist()]))
    return total.hexdigest()


def require_same(found: str, stored: object, place: str) -> None:
    """Refuse content whose checksum is another than the one that was stored with it.

    Args:
        found: Of what was read.
        stored: In the file.
        place: What is checked, for errors.

    Raises:
        DataError: If they differ.
    """
    if found != stored:
        raise DataError(f"{place}: its checksum is wrong, {_CHANGED}")


def seal(about: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a file says of itself, with a checksum of it.

    Args:
        about: Plain data.

    Returns:
        The same, and "checksum".
    """
    return {**about, "checksum": hashlib.sha256(canonical_json(dict(about))).hexdigest()}


def require_seal(about: Mapping[str, Any]) -> None:
    """Refuse what a file says of itself if it was changed; files of before have no checksum of it.

    Args:
        about: As it was read.

    Raises:
        DataError: If the checksum is another.
    """
    if "checksum" in about:
        rest = {name: value for name, value in about.items() if name != "checksum"}
        require_same(str(seal(rest)["checksum"]), about["checksum"], "its header")
