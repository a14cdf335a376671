"""Synthetic data with known truth."""

from collections.abc import Callable

from latentry.data import Dataset
from latentry.generators.segments import segments

__all__ = ["GENERATORS", "segments"]

# by the name that the command line uses
GENERATORS: dict[str, Callable[..., Dataset]] = {"segments": segments}
