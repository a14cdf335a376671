"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from latentry.errors import DataError

__all__ = ["write_whole"]


def write_whole(files: Mapping[str | Path, str]) -> None:
    """Write all of the files, or leave what was there: each is first written beside its place, then moved into it.

    Args:
        files: The text of each, by path.

    Raises:
        DataError: If one of them could not be written.
    """
    drafts = {Path(path): Path(path).with_name(f".{Path(path).name}.new") for path in files}
    path = Path()
    try:
        for (path, draft), text in zip(drafts.items(), files.values(), strict=True):
            path.parent.mkdir(parents=True, exist_ok=True)
            draft.write_text(text, encoding="utf-8")
        for path, draft in drafts.items():
            os.replace(draft, path)
    except OSError as problem:
        raise DataError(f"{path} could not be written: {problem}. Choose another place, or make room.") from problem
    finally:
        for draft in drafts.values():
            with suppress(OSError):  # a file in the place of the folder: there is no draft either
                draft.unlink(missing_ok=True)
