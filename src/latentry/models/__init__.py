"""Latent-variable models, one file each."""

from latentry.models.base import LatentModel
from latentry.models.causal_pima import CausalPIMA
from latentry.models.cggan import CGGAN
from latentry.models.cgvae import CGVAE
from latentry.models.choosing import Choice, choose
from latentry.models.iflow import IFlow
from latentry.models.ivae import IVAE
from latentry.models.picture_grid import picture_grid, write_png
from latentry.models.registry import MODELS, PICTURE_MODELS, model_class
from latentry.models.saving import load_model
from latentry.models.sparsity_path import SparsityPath, choose_sparsity
from latentry.models.vae import VAE

__all__ = [
    "CGGAN",
    "CGVAE",
    "Choice",
    "IVAE",
    "MODELS",
    "PICTURE_MODELS",
    "VAE",
    "CausalPIMA",
    "IFlow",
    "LatentModel",
    "SparsityPath",
    "choose",
    "choose_sparsity",
    "load_model",
    "model_class",
    "picture_grid",
    "write_png",
]
