"""Settings of the penalty on a mixing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from latentry.models.estimator import Choice, Flag, Real, Rule, Settings, Whole
from latentry.nets import PENALTIES, SparsityTerm

__all__ = ["MixingPenalty"]


@dataclass(frozen=True)
class MixingPenalty(Settings):
    """Which penalty on the mixing, where it is computed, and how the mixing begins.

    Args:
        kind: "l1"; "l2" (no sparsity, for comparison); "capped" (counts strengths above ``threshold``).
        relax: Fraction of the epochs, at the end, in which an "l1" penalty becomes a "capped" one: how many edges there are,
            no longer how strong they are. Of a staged fit, of the stage that identifies; its joint stage counts throughout.
        release: Epochs without the penalty after all others, slower, as a fraction of ``epochs``: edges that nothing but the
            penalty held down come back, and the likelihood is that of the best map near the sparse one.
        threshold: Strength from which an edge counts whole under "capped".
        derivative: "exact", "random" (a few axes a row, for images) or "differences"; see ``nets.SparsityTerm``.
        directions: Axes drawn for each row under the latter two, or worked on at once under "exact".
        penalty_rows: Rows of each batch on which the penalty is computed.
        start: "linear" (restarts begin at sparse linear unmixings of a table), or "random": rotations, as IFlow begins.
        noisy: Whether a square table holds observation noise besides the latents; then the fit is staged.
    """

    kind: str = "l1"
    relax: float = 0.5
    release: float = 0.0
    threshold: float = 0.1
    derivative: str = "exact"
    directions: int | None = None
    penalty_rows: int = 64
    start: str = "linear"
    noisy: bool = False

    constraints: ClassVar[Mapping[str, Rule]] = {
        "kind": Choice(PENALTIES),
        "relax": Real(least=0, most=1),
        "release": Real(least=0, most=1),
        "threshold": Real(above=0),
        "derivative": Choice(("exact", "random", "differences")),
        "directions": Whole(1, none=True),
        "penalty_rows": Whole(1),
        "start": Choice(("linear", "random")),
        "noisy": Flag(),
    }

    @property
    def term(self) -> SparsityTerm:
        """Return the penalty of a module on a batch."""
        return SparsityTerm(self.kind, self.threshold, self.derivative, self.directions)
