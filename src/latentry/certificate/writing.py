"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from latentry.errors import DataError

__all__ = ["write_whole"]


def write_whole(path: str | Path, text: str) -> None:
    """Write a file, or leave what was there."""
    path = Path(path)
    draft = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(text, encoding="utf-8")
        os.replace(draft, path)
    except OSError as problem:
        raise DataError(f"{path} could not be written: {problem}.") from problem
