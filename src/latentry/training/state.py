"""The whole of a run at one moment: with the data, it determines everything that follows."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import PyTree

from latentry.json_forms import Schema
from latentry.training.history import Row, from_plain, to_plain
from latentry.training.phase import Metrics, Module

__all__ = ["COUNTERS", "RunState"]

_COUNT = {"type": "integer", "minimum": 0, "maximum": 2**53}
_FLAG = {"type": "boolean"}
_SCORE = {"anyOf": [{"type": ["number", "null"]}, {"type": "string", "enum": ["inf", "-inf"]}]}
_FIELDS: Schema = {
    **dict.fromkeys(("restart", "phase", "epoch", "step", "waited", "champion_restart"), _COUNT),
    **dict.fromkeys(("best_score", "champion_score"), _SCORE),
    **dict.fromkeys(("last_phase", "finished", "has_best", "has_champion"), _FLAG),
    "stopped": {"type": "string", "enum": ["running", "epochs", "patience", "interrupted"]},
    "metrics": {"type": "array", "items": {"type": "string"}, "maxItems": 1000},
}
_LATER: Schema = {"lengthened": _COUNT, "ended": {**_COUNT, "maximum": 10_000}}  # older folders have none of these
COUNTERS: Schema = {
    "type": "object",
    "required": list(_FIELDS),
    "properties": {**_FIELDS, **_LATER},
    "additionalProperties": False,
}  # what RunState.counters returns


@dataclass(frozen=True)
class RunState:
    """Module, optimiser, sums and counters of a run; immutable, each step makes a new state."""

    module: Module
    optimiser: PyTree
    sums: Metrics  # metrics of the epoch so far
    rows: jax.Array
    restart: int = 0
    phase: int = 0
    epoch: int = 0
    step: int = 0  # within the epoch
    best: Module | None = None  # of this restart's current phase, by held-out loss
    best_score: float = math.nan
    waited: int = 0  # epochs since the best
    champion: Module | None = None  # of all finished restarts
    champion_score: float = math.nan
    champion_restart: int = 0
    ended: tuple[Module, ...] = ()  # the best of each finished restart, where the task keeps them
    history: tuple[Row, ...] = field(default=())
    lengthened: int = 0  # epochs of the last phase after a finished run was lengthened; 0 for its own number
    last_phase: bool = True  # whether scores of this phase compare with those of other restarts
    finished: bool = False
    stopped: str = "running"  # why it ended: "epochs", "patience", "interrupted"

    @property
    def result(self) -> Module:
        """Return the module to use: the best so far."""
        if self.champion is not None and not (self.last_phase and self.best_score < self.champion_score):
            return self.champion
        return self.module if self.best is None else self.best

    def counters(self) -> dict[str, Any]:
        """Return all that is not an array, as plain JSON."""
        return {
            "restart": self.restart,
            "phase": self.phase,
            "epoch": self.epoch,
            "step": self.step,
            "best_score": to_plain(self.best_score),
            "waited": self.waited,
            "champion_score": to_plain(self.champion_score),
            "champion_restart": self.champion_restart,
            "lengthened": self.lengthened,
            "last_phase": self.last_phase,
            "finished": self.finished,
            "stopped": self.stopped,
            "has_best": self.best is not None,
            "has_champion": self.champion is not None,
            "ended": len(self.ended),
            "metrics": sorted(self.sums),
        }

    def arrays(self) -> dict[str, PyTree]:
        """Return the trees of arrays by name; those that do not exist yet are left out."""
        trees = {"module": self.module, "optimiser": self.optimiser, "sums": self.sums, "rows": self.rows}
        trees |= {"best": self.best, "champion": self.champion}
        trees |= {f"ended{number}": module for number, module in enumerate(self.ended)}
        return {name: tree for name, tree in trees.items() if tree is not None}

    @classmethod
    def restore(cls, counters: dict[str, Any], trees: dict[str, PyTree], history: Iterable[Row]) -> RunState:
        """Build a state from what :meth:`counters` and :meth:`arrays` returned.

        Args:
            counters: Plain JSON.
            trees: Trees of arrays by name.
            history: Rows, an epoch each.

        Returns:
            The same state.
        """
        plain = {k: v for k, v in counters.items() if k not in ("has_best", "has_champion", "metrics", "ended")}
        ended = tuple(trees[f"ended{number}"] for number in range(counters.get("ended", 0)))
        trees = {name: tree for name, tree in trees.items() if not name.startswith("ended")}
        for score in ("best_score", "champion_score"):
            plain[score] = from_plain(plain[score])
        return cls(**trees, **plain, ended=ended, history=tuple(history))

    def fresh_epoch(self, **changes: Any) -> RunState:
        """Return the same state with the epoch's sums at zero.

        Args:
            changes: Other fields to replace.

        Returns:
            A new state.
        """
        zeros = {name: jnp.zeros(()) for name in self.sums}
        return replace(self, sums=zeros, rows=jnp.zeros(()), step=0, **changes)
