"""Settings of networks that few users touch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from latentry.models.estimator import Choice, Real, Rule, Settings
from latentry.nets import ACTIVATIONS

__all__ = ["Networks"]


@dataclass(frozen=True)
class Networks(Settings):
    """What encoders, decoders and likelihoods are like, besides ``hidden``, ``encoder`` and ``decoder``.

    Args:
        observation_scale: Standard deviation of Gaussian modalities after standardisation; None learns it.
        temperature: Of the "concrete" likelihood; towards 0 its observations become zeros and ones.
        modality_dropout: With several modalities, the fraction of rows in which each is hidden from the encoder during
            training, so that any subset of them encodes well.
        activation: Between the layers of decoders: "gelu", or "leaky relu", which makes them piecewise affine, as the
            theorems on mixtures ask.
    """

    observation_scale: float | None = None
    temperature: float = 0.5
    modality_dropout: float = 0.3
    activation: str = "gelu"

    constraints: ClassVar[Mapping[str, Rule]] = {
        "observation_scale": Real(above=0, none=True),
        "temperature": Real(above=0),
        "modality_dropout": Real(least=0, below=1),
        "activation": Choice(tuple(ACTIVATIONS)),
    }

    def hide(self, modalities: int) -> float:
        """Return the fraction of rows in which a modality is hidden: none where there is only one.

        Args:
            modalities: How many there are.

        Returns:
            Between 0 and 1.
        """
        return self.modality_dropout if modalities > 1 else 0.0
