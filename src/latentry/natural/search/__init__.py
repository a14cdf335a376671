"""The best latent of a finite distribution: an upper bound of its score by construction, a lower bound by duality."""

from latentry.natural.search.common_information import (
    functional_common_information,
    gacs_korner,
    resampling,
    wyner,
)
from latentry.natural.search.one_distribution import search
from latentry.natural.search.result import FoundLatent
from latentry.natural.search.several_domains import search_shared
from latentry.natural.search.two_by_two import two_by_two

__all__ = [
    "FoundLatent",
    "functional_common_information",
    "gacs_korner",
    "resampling",
    "search",
    "search_shared",
    "two_by_two",
    "wyner",
]
