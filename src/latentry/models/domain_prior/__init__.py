"""Latents whose distribution changes with the domain: what IVAE, IFlow and CGVAE hold in common."""

from latentry.models.domain_prior.answers import drawn_by_domain, own_parts
from latentry.models.domain_prior.checks import domains_of, refuse_sparse_settings
from latentry.models.domain_prior.conditional import SIGHTS, Conditional, Prior
from latentry.models.domain_prior.domains import DomainFacts, check_columns, check_domain, domain_facts
from latentry.models.domain_prior.exact_flow import IdentifiableFlow
from latentry.models.domain_prior.facts import DomainModelFacts
from latentry.models.domain_prior.known_targets import targets_table
from latentry.models.domain_prior.losses import (
    Identify,
    Metrics,
    NegativeBound,
    Shrunk,
    negative_log_likelihood,
    row_mean,
)
from latentry.models.domain_prior.priors import Priors
from latentry.models.domain_prior.settings import PRIOR_RULES, DomainPrior, FlowMap
from latentry.models.domain_prior.stages import STAGES, Stages
from latentry.models.domain_prior.target_start import target_start
from latentry.models.domain_prior.trainable import all_but_seen, only

__all__ = [
    "PRIOR_RULES",
    "SIGHTS",
    "STAGES",
    "Conditional",
    "DomainFacts",
    "DomainModelFacts",
    "DomainPrior",
    "FlowMap",
    "IdentifiableFlow",
    "Identify",
    "Metrics",
    "NegativeBound",
    "Prior",
    "Priors",
    "Shrunk",
    "Stages",
    "all_but_seen",
    "check_columns",
    "check_domain",
    "domain_facts",
    "domains_of",
    "drawn_by_domain",
    "negative_log_likelihood",
    "only",
    "own_parts",
    "refuse_sparse_settings",
    "row_mean",
    "target_start",
    "targets_table",
]
