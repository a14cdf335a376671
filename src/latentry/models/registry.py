"""Every model, by the name that files and the command line use."""

from __future__ import annotations

from latentry.errors import DataError, nearest
from latentry.models.causal_pima import CausalPIMA
from latentry.models.cggan import CGGAN
from latentry.models.cgvae import CGVAE
from latentry.models.estimator import AnyModel
from latentry.models.iflow import IFlow
from latentry.models.ivae import IVAE
from latentry.models.natural_latents import NaturalLatents
from latentry.models.vae import VAE

__all__ = ["MODELS", "model_class"]

MODELS: dict[str, type[AnyModel]] = {
    model.name: model for model in (VAE, IVAE, IFlow, CGVAE, CausalPIMA, CGGAN, NaturalLatents)
}


def model_class(name: str) -> type[AnyModel]:
    """Return the model of that name.

    Cost: constant.

    Args:
        name: As files and the command line call it.

    Returns:
        The class.

    Raises:
        DataError: If there is none.

    >>> model_class("vae").__name__
    'VAE'
    """
    if name not in MODELS:
        raise DataError(f"there is no model {name!r}{nearest(name, MODELS)}")
    return MODELS[name]
