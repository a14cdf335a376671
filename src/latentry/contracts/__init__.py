"""What passes between models and audits: modules, capabilities, the record of a fit, distributions of latents, mixings."""

from latentry.contracts.capabilities import (
    CanBeIntervenedOn,
    DecodesLatents,
    ExplainsChoices,
    HasChannel,
    HasClusters,
    HasDoubts,
    HasFrontier,
    HasGraph,
    HasLatentDistributions,
    HasLatentMixture,
    HasLikelihood,
    HasMixing,
    HasPhysics,
    KeepsFitRecord,
    ModalityArrays,
    PenalisesMixing,
    PhysicalParameter,
    Reconstructs,
    Samples,
    SamplesByDomain,
    ShowsGraph,
)
from latentry.contracts.fit_record import FitRecord, ModelFacts
from latentry.contracts.frontier import FrontierPoint
from latentry.contracts.latent_distributions import LatentDistributions
from latentry.contracts.latent_mixture import LatentMixture
from latentry.contracts.mixing_support import MixingSupport
from latentry.contracts.module import GenerativeModule, LatentModule, decode_rows, encode_rows, score_evidence

__all__ = [
    "CanBeIntervenedOn",
    "DecodesLatents",
    "FitRecord",
    "FrontierPoint",
    "GenerativeModule",
    "HasChannel",
    "HasClusters",
    "HasFrontier",
    "ExplainsChoices",
    "HasDoubts",
    "HasGraph",
    "HasLatentDistributions",
    "HasLatentMixture",
    "HasLikelihood",
    "HasMixing",
    "HasPhysics",
    "KeepsFitRecord",
    "LatentDistributions",
    "LatentMixture",
    "LatentModule",
    "MixingSupport",
    "ModalityArrays",
    "ModelFacts",
    "PenalisesMixing",
    "PhysicalParameter",
    "Reconstructs",
    "Samples",
    "SamplesByDomain",
    "ShowsGraph",
    "decode_rows",
    "encode_rows",
    "score_evidence",
]
