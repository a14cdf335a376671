"""The fits of one discovery: named, counted, timed, and kept in a folder from which they can go on."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import final

from latentry.certificate import write_whole
from latentry.data import Dataset
from latentry.discovery.budget import Budget
from latentry.errors import DataError
from latentry.json_forms import JsonForm
from latentry.models import AnyModel, load_model
from latentry.training import holds_run

__all__ = ["Fits"]

_LEDGER = "discovery.json"
_FORM = JsonForm(
    {
        "type": "object",
        "required": ["format", "about", "fits"],
        "properties": {
            "format": {"type": "string", "enum": ["latentry discovery"]},
            "about": {"type": "object"},
            "fits": {"type": "object", "additionalProperties": {"type": "number", "minimum": 0}},
        },
    },
    "Choose another folder.",
    most_bytes=1 << 20,
)


@final
class Fits:
    """Fit models one after the other, within a budget.

    A fit that the folder holds is read from there, so that a discovery that was stopped goes on where it was.

    Args:
        budget: Of the whole discovery.
        about: What the fits depend on besides their names: data, seed. A folder of other data is refused.
        folder: Where every fit is kept; None for none.
        say: Called with a phrase before each fit.
        clock: Seconds that pass; a test may give its own.
    """

    def __init__(
        self,
        budget: Budget,
        about: dict[str, object],
        folder: Path | None,
        say: Callable[[str], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.budget, self.about, self.folder, self.say, self.clock = budget, about, folder, say, clock
        self.seconds: dict[str, float] = {}  # of each fit, by name
        self._models: dict[str, AnyModel] = {}
        self._earlier = _read(folder, about)
        self._began = clock()
        self._saved = 0.0  # seconds that earlier runs spent on what this one read

    def fit(self, name: str, model: AnyModel, rows: Dataset) -> AnyModel:
        """Fit a model, or read it where it was fitted before.

        Args:
            name: Of the fit, unlike all others.
            model: With its parameters.
            rows: To be fitted.

        Returns:
            The fitted model.

        Raises:
            KeyboardInterrupt: If it was interrupted; what the folder holds stays there.
        """
        if name in self._models:
            return self._models[name]
        self.say(f"fit {len(self.seconds) + 1}{self._of()}: {name}{self._left()}")
        place = None if self.folder is None else self.folder / "fits" / _file_name(name)
        if name in self._earlier and place is not None and holds_run(place):
            self.seconds[name] = self._earlier[name]
            self._saved += self._earlier[name]
            self._models[name] = load_model(place)
            return self._models[name]
        start = self.clock()
        fitted = model.fit(rows) if place is None else model.fit(rows, run=place, resume=holds_run(place))
        if fitted.state_.stopped == "interrupted":
            raise KeyboardInterrupt
        self.seconds[name], self._models[name] = self.clock() - start, fitted
        self._write()
        return fitted

    @property
    def left(self) -> float:
        """Return how many fits, or seconds, are left."""
        if self.budget.fits is not None:
            return self.budget.fits - len(self.seconds)
        assert self.budget.seconds is not None
        return self.budget.seconds - (self.clock() - self._began) - self._saved

    def cost(self, like: str, unknown: float = 0.0) -> float:
        """Return what one more fit costs: 1 where fits are counted, else the seconds of the last fit of that kind.

        Args:
            like: How the names of that kind begin.
            unknown: Seconds where there was none.

        Returns:
            Fits, or seconds.
        """
        if self.budget.fits is not None:
            return 1.0
        alike = [seconds for name, seconds in self.seconds.items() if name.startswith(like)]
        return alike[-1] if alike else unknown

    def first(self, like: str) -> float:
        """Return what the first fit of a kind cost, compilation included: 1 where fits are counted.

        Args:
            like: How the names of that kind begin.

        Returns:
            Fits, or seconds; 0 where there was none.
        """
        if self.budget.fits is not None:
            return 1.0
        return next((seconds for name, seconds in self.seconds.items() if name.startswith(like)), 0.0)

    def rounds(self, cost: float, most: int, reserve: float = 0.0) -> int:
        """Return how often something can still be afforded.

        Args:
            cost: Of one round, in the units of :attr:`left`.
            most: Rounds that are wanted.
            reserve: What must be left afterwards.

        Returns:
            Between 0 and ``most``.
        """
        if cost <= 0:
            return most
        return max(0, min(most, math.floor((self.left - reserve) / cost)))

    def _of(self) -> str:
        return f" of at most {self.budget.fits}" if self.budget.fits is not None else ""

    def _left(self) -> str:
        return "" if self.budget.fits is not None else f"; {max(self.left, 0):.0f} s of the budget left"

    def _write(self) -> None:
        if self.folder is not None:
            kept = {"format": "latentry discovery", "about": self.about, "fits": self.seconds | self._unread()}
            write_whole({self.folder / _LEDGER: json.dumps(kept, indent=1) + "\n"})

    def _unread(self) -> dict[str, float]:
        return {name: seconds for name, seconds in self._earlier.items() if name not in self.seconds}


def _file_name(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def _read(folder: Path | None, about: dict[str, object]) -> dict[str, float]:
    """Return the fits that a folder holds, by name."""
    if folder is None or not (folder / _LEDGER).exists():
        return {}
    kept = _FORM.read(folder / _LEDGER)
    known, fits = kept["about"], dict(kept["fits"])
    other = [name for name in about if known.get(name) != about[name]]
    if other:
        raise DataError(
            f"folder={str(folder)!r}: holds a discovery with another {other[0]} ({known.get(other[0])}, not "
            f"{about[other[0]]}). Choose another folder, or give the same."
        )
    return fits
