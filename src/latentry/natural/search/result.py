"""The best known latent, how good it is, and how much better any other could be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from latentry.evidence import Bound

__all__ = ["FoundLatent"]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FoundLatent:
    """The result of a search.

    Args:
        channel: K(λ|x), (|X_1|, ..., |X_n|, |Λ|).
        score: What the latent reaches; exact, or an upper bound when it is itself a supremum.
        lower: What no latent of the kind can go below.
        latent_entropy: H(Λ).
        baselines: The score of latents that cost nothing to think of.
        method: In words.
    """

    channel: Array
    score: Bound
    lower: Bound
    latent_entropy: Bound
    baselines: Mapping[str, float]
    method: str

    @property
    def gap(self) -> float:
        """Return how much better another latent could be, at most, in nats."""
        return max(0.0, self.score.high - self.lower.low)

    def __str__(self) -> str:
        others = ", ".join(f"{name} {value:.4f}" for name, value in self.baselines.items())
        return (
            f"score {self.score.value:.6f} nats with {self.channel.shape[-1]} values, "
            f"H(Λ) = {self.latent_entropy.value:.4f}; no latent scores below {self.lower.value:.6f} "
            f"(gap {self.gap:.1e}; {self.method})" + (f"; baselines: {others}" if others else "")
        )
