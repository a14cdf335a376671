r"""Likelihood heads: :math:`\log p(x \mid \text{decoder output})`, entry by entry; one distribution a file."""

from latentry.nets.heads.bernoulli import Bernoulli
from latentry.nets.heads.categorical import Categorical
from latentry.nets.heads.choice import DISCRETE, HEADS, head_for
from latentry.nets.heads.concrete import Concrete
from latentry.nets.heads.counts import NegativeBinomial, Poisson
from latentry.nets.heads.gaussian import Gaussian
from latentry.nets.heads.head import Head

__all__ = [
    "DISCRETE",
    "HEADS",
    "Bernoulli",
    "Categorical",
    "Concrete",
    "Gaussian",
    "Head",
    "NegativeBinomial",
    "Poisson",
    "head_for",
]
