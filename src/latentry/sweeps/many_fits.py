"""The table of many fits, and the models behind its lines."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from latentry.data import write_columns
from latentry.errors import DataError, nearest
from latentry.models import AnyModel, load_model
from latentry.whole_files import write_whole

__all__ = ["FitRow", "ManyFits"]


@final
@dataclass(frozen=True)
class FitRow:
    """One line of the table.

    Args:
        name: Of the job.
        model: Its kind.
        data: File or checksum of its rows.
        parameters: Of the model.
        status: "done" or "failed".
        reason: Why it failed.
        numbers: What was measured, by name: the same on every engine.
        seconds: That the fit took; what was read from an earlier run keeps its own.
        warnings: Sentences.
        folder: Of the run.
    """

    name: str
    model: str
    data: str
    parameters: Mapping[str, Any]
    status: str
    reason: str
    numbers: Mapping[str, Any]
    seconds: float
    warnings: tuple[str, ...]
    folder: str

    @property
    def score(self) -> float | None:
        """Return the mean log evidence of the rows aside, if there is one."""
        score: float | None = self.numbers.get("score")
        return score


@final
@dataclass(frozen=True)
class ManyFits(Sequence[FitRow]):
    """What came of many fits: a sequence of lines.

    Args:
        rows: A line for each job, in their order.
        folder: That holds every run.
    """

    rows: tuple[FitRow, ...]
    folder: Path

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, place: Any) -> Any:
        return self.rows[place]

    def __iter__(self) -> Iterator[FitRow]:
        return iter(self.rows)

    @property
    def failed(self) -> tuple[FitRow, ...]:
        """Return the lines of fits that failed."""
        return tuple(row for row in self.rows if row.status != "done")

    @property
    def best(self) -> FitRow:
        """Return the line with the best score on rows aside.

        Raises:
            DataError: If scores are missing, or are not of one kind.
        """
        scored = [row for row in self.rows if row.score is not None]
        if not scored:
            raise DataError("best: no fit has a score. Set rows aside (aside=0.2), and look at .failed.")
        kinds = sorted({str(row.numbers["score_name"]) for row in scored})
        if len(kinds) > 1:
            raise DataError(f"best: scores are not of one kind ({'; '.join(kinds)}). Compare like with like.")
        return max(scored, key=lambda row: row.score if row.score is not None else float("-inf"))

    def load(self, name: str) -> AnyModel:
        """Return the model of a line.

        Args:
            name: Of the job.

        Returns:
            The fitted model.

        Raises:
            DataError: If there is no such job, or its fit failed.
        """
        row = next((row for row in self.rows if row.name == name), None)
        if row is None:
            raise DataError(f"there is no job {name!r}{nearest(name, [row.name for row in self.rows])}")
        if row.status != "done":
            raise DataError(f"job {name!r} failed: {row.reason}")
        return load_model(row.folder)

    def columns(self) -> dict[str, list[Any]]:
        """Return the table by columns: what decides a fit, what was measured, and last what depends on the machine."""
        measured = sorted({name for row in self.rows for name in row.numbers})
        return {
            "name": [row.name for row in self.rows],
            "model": [row.model for row in self.rows],
            "data": [row.data for row in self.rows],
            "parameters": [json.dumps(dict(row.parameters), sort_keys=True) for row in self.rows],
            "status": [row.status for row in self.rows],
            "reason": [row.reason for row in self.rows],
            **{name: [row.numbers.get(name) for row in self.rows] for name in measured},
            "warnings": ["; ".join(row.warnings) for row in self.rows],
            "seconds": [row.seconds for row in self.rows],
            "folder": [row.folder for row in self.rows],
        }

    def write(self, path: str | Path) -> Path:
        """Write the table.

        Args:
            path: A file that ends in parquet or csv.

        Returns:
            The path.

        Raises:
            DataError: If the ending is another.
        """
        place = Path(path)
        if place.suffix == ".parquet":
            write_columns(self.columns(), place)
        elif place.suffix == ".csv":
            write_whole({place: _csv(self.columns())})
        else:
            raise DataError(f"{place}: a table ends in .parquet or .csv. Choose one.")
        return place

    def __str__(self) -> str:
        head = f"{len(self.rows)} fits, {len(self.failed)} failed; in {self.folder}"
        return "\n".join([head, *(_line(row) for row in self.rows)])


def _line(row: FitRow) -> str:
    if row.status != "done":
        return f"  {row.name}: failed: {row.reason}"
    score = "" if row.score is None else f", score {row.score:.4f} nats a row"
    return f"  {row.name}: {row.numbers.get('epochs')} epochs{score}"


def _csv(columns: Mapping[str, Sequence[Any]]) -> str:
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(columns)
    lines.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()
