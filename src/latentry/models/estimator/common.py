"""Constraints of the parameters that every model has, and of those that every model with networks has."""

from __future__ import annotations

from collections.abc import Mapping

from latentry.models.estimator.constraints import Flag, Group, NameOrFunction, Real, Rule, Whole, Widths
from latentry.models.estimator.settings import Training

__all__ = ["COMMON", "HIDDEN_LAYERS"]

COMMON: Mapping[str, Rule] = {
    "latent_dim": Whole(1),
    "epochs": Whole(1),
    "batch_size": Whole(1),
    "learning_rate": Real(above=0),
    "validation": Real(least=0, below=1),
    "restarts": Whole(1),
    "seed": Whole(0, most=2**32 - 1),  # what every generator of random numbers takes
    "progress": Flag(word="auto"),
    "training": Group(Training),
}
HIDDEN_LAYERS: Mapping[str, Rule] = {
    "hidden": Widths(),
    "encoder": NameOrFunction("an encoder", "a function that builds a network"),
    "decoder": NameOrFunction("a decoder", "a function that builds a network"),
}
