"""latentry: find the hidden variables in your data, and know how far to trust them.

Its parts are loaded when they are first used: ``import latentry`` takes a moment, not seconds.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from latentry import (
        certificate,
        data,
        datasets,
        discovery,
        evidence,
        generators,
        graphs,
        identifiability,
        information,
        models,
        natural,
        nets,
        sweeps,
        training,
    )
    from latentry.certificate import Certificate, Matching, certify  # type: ignore[no-redef]
    from latentry.certificate import match_latents as match
    from latentry.data import CategoricalChannel, Dataset, GaussianChannel, read
    from latentry.discovery import Discovery, discover  # type: ignore[no-redef]
    from latentry.errors import CheckpointError, DataError, DataWarning, LatentryError, TrainingDiverged
    from latentry.identifiability import mcc
    from latentry.information import entropy, independence_test, mutual_information, pairwise, total_correlation
    from latentry.models import CGGAN, CGVAE, IVAE, VAE, CausalPIMA, IFlow, NaturalLatents
    from latentry.models import load_model as load
    from latentry.sweeps import Job, ManyFits, fit_many  # type: ignore[no-redef]

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
    "Discovery",
    "GaussianChannel",
    "IFlow",
    "Job",
    "LatentryError",
    "ManyFits",
    "Matching",
    "NaturalLatents",
    "TrainingDiverged",
    "certificate",
    "certify",
    "data",
    "datasets",
    "discover",
    "discovery",
    "entropy",
    "evidence",
    "fit_many",
    "generators",
    "graphs",
    "identifiability",
    "independence_test",
    "information",
    "load",
    "match",
    "mcc",
    "models",
    "mutual_information",
    "natural",
    "nets",
    "pairwise",
    "read",
    "sweeps",
    "total_correlation",
    "training",
]

_ROOMS = (
    "certificate",
    "contracts",
    "data",
    "datasets",
    "discovery",
    "errors",
    "evidence",
    "generators",
    "graphs",
    "identifiability",
    "information",
    "models",
    "natural",
    "nets",
    "streams",
    "sweeps",
    "threads",
    "training",
)
_NAMES = {
    "certificate": ("Certificate", "Matching", "certify"),
    "data": ("CategoricalChannel", "Dataset", "GaussianChannel", "read"),
    "discovery": ("Discovery", "discover"),
    "errors": ("CheckpointError", "DataError", "DataWarning", "LatentryError", "TrainingDiverged"),
    "identifiability": ("mcc",),
    "information": ("entropy", "independence_test", "mutual_information", "pairwise", "total_correlation"),
    "models": ("CGGAN", "CGVAE", "IVAE", "VAE", "CausalPIMA", "IFlow", "NaturalLatents"),
    "sweeps": ("Job", "ManyFits", "fit_many"),
}
_HOME = {name: (room, name) for room, names in _NAMES.items() for name in names} | {
    "load": ("models", "load_model"),
    "match": ("certificate", "match_latents"),
}


def __getattr__(name: str) -> Any:
    """Load a part of the library or a public name on first use."""
    if name in _ROOMS:
        return import_module(f"latentry.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'latentry' has no attribute {name!r}")
    room, there = _HOME[name]
    value = getattr(import_module(f"latentry.{room}"), there)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
