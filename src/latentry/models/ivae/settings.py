"""Settings of the bound of an identifiable VAE."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from latentry.models.domain_prior import SIGHTS
from latentry.models.estimator import Choice, Real, Reals, Rule, Settings, Whole

__all__ = ["Bound"]


@dataclass(frozen=True)
class Bound(Settings):
    """The lower bound on the evidence, in training and scoring.

    Args:
        importance: Draws of the importance-weighted bound; 1 is the evidence lower bound.
        encoder_sees: Under ``estimation="elbo"``, what the posterior knows: "product" (encoder of the data times the prior
            of the domain), "joint" (encoder of data and domain), or "data". A staged posterior sees data.
        split: Four weights of the bound's parts, for ``estimation="elbo"``; (100, 1, 0, 10) is the loss of the code that
            was released with the paper. None is the bound itself.
    """

    importance: int = 1
    encoder_sees: str = "product"
    split: Sequence[float] | None = None

    constraints: ClassVar[Mapping[str, Rule]] = {
        "importance": Whole(1),
        "encoder_sees": Choice(SIGHTS),
        "split": Reals(4, Real(least=0), "(100, 1, 0, 10)", none=True),
    }
