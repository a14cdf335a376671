"""Mutual information that does not depend on units."""

from typing import TYPE_CHECKING, Any

from latentry.information.discrete import information_of_table
from latentry.information.independence import independence_test
from latentry.information.measure import mutual_information
from latentry.information.normalisers import NORMALISERS
from latentry.information.plane import InformationPlane, information_plane
from latentry.information.quantities import entropy, pairwise, total_correlation
from latentry.information.uncertainty import noncentrality

if TYPE_CHECKING:
    from latentry.information.image_features import PictureClassifier, torchscript_features, train_classifier
    from latentry.information.plane_example import TwelveBitRun, twelve_bit_run, twelve_bit_task

__all__ = [
    "NORMALISERS",
    "InformationPlane",
    "PictureClassifier",
    "TwelveBitRun",
    "entropy",
    "independence_test",
    "information_of_table",
    "information_plane",
    "mutual_information",
    "noncentrality",
    "pairwise",
    "torchscript_features",
    "total_correlation",
    "train_classifier",
    "twelve_bit_run",
    "twelve_bit_task",
]


def __getattr__(name: str) -> Any:
    """Load what trains networks on first use: it brings JAX, which the other measures do without."""
    if name in __all__:
        from latentry.information import image_features, plane_example

        home = image_features if name in image_features.__all__ else plane_example
        return getattr(home, name)
    raise AttributeError(f"module 'latentry.information' has no attribute {name!r}")
