"""How long a fit would take and how much memory it would need, from a short one."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

import numpy as np

from latentry.data import Dataset
from latentry.errors import DataError
from latentry.models.estimator import AnyModel, check_table
from latentry.models.many import Instructions, stored_rows
from latentry.models.planning.probe import Measured, probe_text
from latentry.training import engine_for, in_words, run_texts

__all__ = ["Plan", "plan_fit"]

_COPIES = 2  # of the rows in single precision: standardised ones, and those that the compiled steps read


@final
@dataclass(frozen=True)
class Plan:
    """What a fit would take on this machine, as it is now.

    Args:
        rows: Of the data.
        opening: Seconds before and besides the epochs: reading rows, compiling.
        epochs: Seconds of all epochs of each phase, restarts counted; early stopping may save some of them.
        closing: Seconds after the last epoch.
        memory: Largest memory of the process, in bytes.
        probed: Rows of the short fit that was measured.
    """

    rows: int
    opening: float
    epochs: Mapping[str, float]
    closing: float
    memory: int
    probed: int

    @property
    def seconds(self) -> float:
        """Return the seconds of the whole fit."""
        return self.opening + sum(self.epochs.values()) + self.closing

    def to_json(self) -> dict[str, Any]:
        """Return the plan as plain data."""
        return {
            "seconds": self.seconds,
            "memory_bytes": self.memory,
            "opening_seconds": self.opening,
            "epoch_seconds": dict(self.epochs),
            "closing_seconds": self.closing,
            "rows": self.rows,
            "probed_rows": self.probed,
        }

    def __str__(self) -> str:
        """Say it in a few lines."""
        parts = {"reading and compiling": self.opening}
        parts |= {f"epochs of {name!r}": seconds for name, seconds in self.epochs.items()} | {"the end": self.closing}
        named = ", ".join(f"{name} {in_words(seconds)}" for name, seconds in parts.items() if seconds >= 1)
        return (
            f"A fit to {self.rows:,} rows would take at most about {in_words(self.seconds)} and {self.memory / 1e9:.1f} GB here, "
            f"judged by a short fit to {self.probed:,} rows{': ' if named else ''}{named}. Early stopping may save some epochs."
        )


def plan_fit(model: AnyModel, data: Dataset | str | Path, *, roles: Mapping[str, Any] | None = None) -> Plan:
    """Predict time and memory of a fit by two short ones, to some batches of the rows, in a process of its own.

    Seconds of an epoch are a constant and a part in proportion to the rows, s(n) = a + b n, for each phase of the training.
    They hold for this machine with the work that it does now, and count compiling; a fit of these very shapes that was made before
    needs less.

    Cost: a few epochs on sixteen batches, starting a process and compiling: half a minute to some minutes.

    Args:
        model: With its parameters; it is not fitted.
        data: Rows, or a file of them.
        roles: How the file is read: arguments of :func:`latentry.read`.

    Returns:
        The plan.

    Raises:
        DataError: If the fit would be refused.
    """
    check_table(model, model.constraints)
    with tempfile.TemporaryDirectory(prefix="latentry-plan-") as place:
        rows = stored_rows(data, Path(place)) if isinstance(data, Dataset) else str(Path(data).absolute())
        text = Instructions.of(model, rows, str(Path(place) / "run"), roles=roles).text
        with engine_for("local", 1) as engine:
            ((_, found),) = run_texts(engine, probe_text, [text])
    if isinstance(found, Exception):
        raise DataError(f"the short fit that a plan is judged by ended: {found}") from found
    answer = json.loads(found)
    if "error" in answer:
        raise DataError(answer["error"])
    return planned(Measured(**answer))


def planned(found: Measured) -> Plan:
    """Extend what two short fits took to all rows and epochs.

    Args:
        found: What was measured.

    Returns:
        The plan.
    """
    per_epoch = {name: _at(found.whole, found.rows, [one[name] for one in found.phases]) for name in found.epochs}
    left = max(0, found.whole - found.rows[-1])
    further = 0 if found.stays_on_disk else _COPIES * found.bytes_of_row * left
    return Plan(
        rows=found.whole,
        opening=found.reading + found.opening + _at(found.whole, found.rows, found.studying) - found.studying[-1],
        epochs={name: count * per_epoch[name] for name, count in found.epochs.items()},
        closing=_at(found.whole, found.rows, found.closing),
        memory=found.peak[-1] + further,
        probed=found.rows[-1],
    )


def _at(whole: int, rows: tuple[int, ...], seconds: list[float] | tuple[float, ...]) -> float:
    """Return the seconds at all rows: a line through two sizes, never below what was measured.

    >>> _at(1000, (10, 110), [1.0, 2.0])
    10.9
    """
    if len(rows) < 2:
        return seconds[-1]
    slope = max(0.0, (seconds[-1] - seconds[0]) / (rows[-1] - rows[0]))
    return float(np.round(seconds[-1] + slope * (whole - rows[-1]), 9))
