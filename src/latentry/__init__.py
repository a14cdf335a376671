"""latentry: find the hidden variables in your data, and know how far to trust them."""

from latentry import data, evidence, generators, information, models, natural, nets, training
from latentry.data import CategoricalChannel, Dataset, GaussianChannel, read
from latentry.errors import CheckpointError, DataError, DataWarning, LatentryError, TrainingDiverged
from latentry.information import entropy, independence_test, mutual_information, pairwise, total_correlation
from latentry.models import VAE
from latentry.models import load_model as load

__version__ = "0.1.0"

__all__ = [
    "VAE",
    "CategoricalChannel",
    "CheckpointError",
    "DataError",
    "DataWarning",
    "Dataset",
    "GaussianChannel",
    "LatentryError",
    "TrainingDiverged",
    "data",
    "entropy",
    "evidence",
    "generators",
    "independence_test",
    "information",
    "load",
    "models",
    "mutual_information",
    "natural",
    "nets",
    "pairwise",
    "read",
    "total_correlation",
    "training",
]
