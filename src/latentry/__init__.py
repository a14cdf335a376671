"""latentry: find the hidden variables in your data, and know how far to trust them."""

from latentry import (
    certificate,
    data,
    datasets,
    evidence,
    generators,
    graphs,
    identifiability,
    information,
    models,
    natural,
    nets,
    training,
)
from latentry.certificate import Certificate, certify
from latentry.data import CategoricalChannel, Dataset, GaussianChannel, read
from latentry.errors import CheckpointError, DataError, DataWarning, LatentryError, TrainingDiverged
from latentry.identifiability import mcc
from latentry.information import entropy, independence_test, mutual_information, pairwise, total_correlation
from latentry.models import CGGAN, CGVAE, IVAE, VAE, CausalPIMA, IFlow
from latentry.models import load_model as load

__version__ = "0.1.0"

__all__ = [
    "CGGAN",
    "CGVAE",
    "IVAE",
    "VAE",
    "CategoricalChannel",
    "CausalPIMA",
    "Certificate",
    "CheckpointError",
    "DataError",
    "DataWarning",
    "Dataset",
    "GaussianChannel",
    "IFlow",
    "LatentryError",
    "TrainingDiverged",
    "certificate",
    "certify",
    "data",
    "datasets",
    "entropy",
    "evidence",
    "generators",
    "graphs",
    "identifiability",
    "independence_test",
    "information",
    "load",
    "mcc",
    "models",
    "mutual_information",
    "natural",
    "nets",
    "pairwise",
    "read",
    "total_correlation",
    "training",
]
