"""Encoders, decoders and likelihood heads, held by every variational model."""

from latentry.models.networks.design import Design
from latentry.models.networks.losses import NegativeElbo, hidden_in_part, seen_in_part
from latentry.models.networks.networks import ModalityNets, visible, visible_shape
from latentry.models.networks.observations import Observations, observe
from latentry.models.networks.settings import Networks

__all__ = [
    "Design",
    "ModalityNets",
    "NegativeElbo",
    "Networks",
    "Observations",
    "hidden_in_part",
    "observe",
    "seen_in_part",
    "visible",
    "visible_shape",
]
