"""causalPIMA."""

from latentry.models.causal_pima.estimator import CausalPIMA
from latentry.models.causal_pima.settings import GraphSearch, NodeMixture

__all__ = ["CausalPIMA", "GraphSearch", "NodeMixture"]
