"""What a folder of many fits holds, so that the same jobs go on there and others are refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import final

from latentry.errors import DataError
from latentry.whole_files import write_whole

__all__ = ["Ledger"]

_FILE, _FORMAT = "sweep.json", "latentry many fits"


@final
class Ledger:
    """The marks of all jobs that a folder has seen.

    Args:
        folder: Of the fits; it is made.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / _FILE

    def keep(self, marks: Mapping[str, str]) -> None:
        """Note jobs, unless a job of the same name was another.

        Args:
            marks: Of what decides each job's result, by name.

        Raises:
            DataError: If a job of the same name was another, or the folder cannot be used.
        """
        known = self._read()
        other = next((name for name, mark in marks.items() if known.get(name, mark) != mark), None)
        if other is not None:
            raise DataError(
                f"folder={str(self._path.parent)!r}: holds a job {other!r} with other parameters, data or seeds. Choose "
                "another folder, or another name."
            )
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            write_whole({self._path: json.dumps({"format": _FORMAT, "jobs": {**known, **marks}}, indent=1) + "\n"})
        except OSError as problem:
            raise DataError(
                f"folder={str(self._path.parent)!r}: cannot be written ({problem}). Choose another."
            ) from None

    def _read(self) -> dict[str, str]:
        if not self._path.exists():
            return {}
        try:
            kept = json.loads(self._path.read_text(encoding="utf-8"))
            jobs = kept["jobs"] if kept["format"] == _FORMAT else None
        except (OSError, ValueError, KeyError, TypeError, RecursionError) as problem:
            raise DataError(f"{self._path}: cannot be read ({problem}). Choose another folder.") from None
        if not isinstance(jobs, dict) or not all(isinstance(mark, str) for mark in jobs.values()):
            raise DataError(f"{self._path}: holds no list of jobs. Choose another folder.")
        return jobs
