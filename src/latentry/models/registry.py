"""Every model, by the name that files and the command line use."""

from __future__ import annotations

from typing import Any

from latentry.errors import DataError, nearest
from latentry.models.causal_pima import CausalPIMA
from latentry.models.cggan import CGGAN
from latentry.models.cgvae import CGVAE
from latentry.models.iflow import IFlow
from latentry.models.ivae import IVAE
from latentry.models.vae import VAE

__all__ = ["MODELS", "PICTURE_MODELS", "model_class"]

MODELS: dict[str, type[Any]] = {model.name: model for model in (VAE, IVAE, IFlow, CGVAE, CausalPIMA)}
PICTURE_MODELS: dict[str, type[Any]] = {CGGAN.name: CGGAN}  # of pictures alone, and without a likelihood


def model_class(name: str) -> type[Any]:
    """The model of that name.

    >>> model_class("vae").__name__
    'VAE'
    """
    known = MODELS | PICTURE_MODELS
    if name not in known:
        raise DataError(f"there is no model {name!r}{nearest(name, known)}")
    return known[name]
