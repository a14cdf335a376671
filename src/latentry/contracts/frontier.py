"""One size of a latent, and how natural it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["FrontierPoint"]


@dataclass(frozen=True)
class FrontierPoint:
    """How natural the latent is with so many values or columns, on rows that were held out.

    Args:
        size: Number of values or columns.
        errors: Redundancy error of each modality, an estimate from above, in nats.
        information: I(X; Λ) within domains, in nats.
        score: Weighted errors up to a constant that no latent changes; lower is better.
        gap: Standard error of the distance between this score and the best one.
        chosen: Whether the model has this size.
    """

    size: int
    errors: Mapping[str, float]
    information: float
    score: float
    gap: float
    chosen: bool
