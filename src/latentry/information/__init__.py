"""Mutual information that does not depend on units."""

from latentry.information.discrete import information_of_table
from latentry.information.independence import independence_test
from latentry.information.measure import mutual_information
from latentry.information.normalisers import NORMALISERS
from latentry.information.plane import InformationPlane, information_plane
from latentry.information.quantities import entropy, pairwise, total_correlation

__all__ = [
    "NORMALISERS",
    "InformationPlane",
    "entropy",
    "independence_test",
    "information_of_table",
    "information_plane",
    "mutual_information",
    "pairwise",
    "total_correlation",
]
