"""Weights of the errors that a natural latent makes, and how they are descended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from latentry.models.estimator import Real, Rule, Settings

__all__ = ["Naturality"]


@dataclass(frozen=True)
class Naturality(Settings):
    """What counts as natural, and how it is approached.

    Args:
        mediation: Weight of the mediation error, the total correlation of the modalities given the latent.
        redundancy: Weight of each redundancy error, what the latent tells beyond one modality.
        mixtures: Weight of I(J; X | Λ), what the rows tell of their domain beyond the latent. 0 asks for mediation in each domain;
            above 0, the latent may hold the domain itself, as mixtures of domains need it.
        worst: Temperature, in nats, of the maximum over domains of the redundancy errors: towards 0 the worst domain counts alone.
        start: Factor of the redundancy errors at the beginning, so that values spread before they are held to each modality.
            Further restarts begin with its square root, with 1, and so on in turn.
        noise: Standard deviation of noise on standardised numbers during training: small fits remember fewer rows.
    """

    mediation: float = 1.0
    redundancy: float = 1.0
    mixtures: float = 0.0
    worst: float = 0.1
    start: float = 0.3
    noise: float = 0.3

    constraints: ClassVar[Mapping[str, Rule]] = {
        "mediation": Real(above=0),
        "redundancy": Real(least=0),
        "mixtures": Real(least=0),
        "worst": Real(above=0),
        "start": Real(above=0, most=1),
        "noise": Real(least=0),
    }
