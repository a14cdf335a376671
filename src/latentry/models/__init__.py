"""Latent-variable models, one folder each."""

from latentry.models.causal_pima import CausalPIMA, GraphSearch, NodeMixture
from latentry.models.cggan import CGGAN, Adversarial, ImageNetworks, picture_grid, write_png
from latentry.models.cgvae import CGVAE, MixingPenalty
from latentry.models.domain_prior import DomainPrior, FlowMap
from latentry.models.estimator import AnyModel, LatentModel, Settings, Training, check_table, clone
from latentry.models.estimator.saving import load_model, read_model_files
from latentry.models.iflow import IFlow
from latentry.models.ivae import IVAE, Bound
from latentry.models.many import Instructions, Outcome, carry_out, finished, fit_all, rows_of, stored_rows, written
from latentry.models.natural_latents import Naturality, NaturalLatents
from latentry.models.networks import Networks
from latentry.models.planning import Plan, plan_fit
from latentry.models.registry import MODELS, model_class
from latentry.models.selection import Choice, SparsityPath, choose, choose_sparsity, score_kind
from latentry.models.vae import VAE

__all__ = [
    "CGGAN",
    "CGVAE",
    "IVAE",
    "Instructions",
    "MODELS",
    "VAE",
    "Adversarial",
    "AnyModel",
    "Bound",
    "CausalPIMA",
    "Choice",
    "DomainPrior",
    "FlowMap",
    "GraphSearch",
    "IFlow",
    "ImageNetworks",
    "LatentModel",
    "MixingPenalty",
    "NaturalLatents",
    "Naturality",
    "Networks",
    "NodeMixture",
    "Outcome",
    "Plan",
    "Settings",
    "SparsityPath",
    "Training",
    "carry_out",
    "check_table",
    "choose",
    "choose_sparsity",
    "clone",
    "finished",
    "fit_all",
    "load_model",
    "model_class",
    "picture_grid",
    "plan_fit",
    "read_model_files",
    "rows_of",
    "score_kind",
    "stored_rows",
    "write_png",
    "written",
]
