"""Synthetic data with known truth."""

from collections.abc import Callable

from latentry.data import Dataset
from latentry.generators.content_style import content_style
from latentry.generators.gin import gin
from latentry.generators.imca import imca
from latentry.generators.poisson_curve import poisson_curve
from latentry.generators.segments import SEGMENTS, segments

__all__ = ["GENERATORS", "SEGMENTS", "content_style", "gin", "imca", "poisson_curve", "segments"]

# by the name that the command line uses
GENERATORS: dict[str, Callable[..., Dataset]] = {
    "segments": segments,
    "imca": imca,
    "gin": gin,
    "poisson_curve": poisson_curve,
    "content_style": content_style,
}
