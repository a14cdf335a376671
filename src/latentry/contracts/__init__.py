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
    NamesLatents,
    PenalisesMixing,
    PhysicalParameter,
    Reconstructs,
    Samples,
    SamplesByDomain,
    ShowsGraph,
    names_of,
)
from latentry.contracts.fit_record import FitRecord, ModelFacts, record_form
from latentry.contracts.fitting_again import FitsVariants, Variant, Where, fit_variants
from latentry.contracts.frontier import FrontierPoint
from latentry.contracts.imputing import Imputes
from latentry.contracts.known_targets import KnownTargets, KnowsTargets
from latentry.contracts.latent_distributions import LatentDistributions
from latentry.contracts.latent_mixture import LatentMixture
from latentry.contracts.mixing_support import MixingSupport
from latentry.contracts.module import GenerativeModule, LatentModule, decode_rows, encode_rows, score_evidence
from latentry.contracts.orienting import CanBeOriented

__all__ = [
    "CanBeIntervenedOn",
    "CanBeOriented",
    "DecodesLatents",
    "FitRecord",
    "FitsVariants",
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
    "Imputes",
    "KeepsFitRecord",
    "KnownTargets",
    "KnowsTargets",
    "LatentDistributions",
    "LatentMixture",
    "LatentModule",
    "MixingSupport",
    "ModalityArrays",
    "ModelFacts",
    "NamesLatents",
    "PenalisesMixing",
    "PhysicalParameter",
    "Reconstructs",
    "Samples",
    "SamplesByDomain",
    "ShowsGraph",
    "Variant",
    "Where",
    "decode_rows",
    "encode_rows",
    "fit_variants",
    "names_of",
    "score_evidence",
    "record_form",
]
