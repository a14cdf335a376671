"""All assumptions of a model of latents in domains, tested together on rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from latentry.contracts import SamplesByDomain, names_of
from latentry.data import Dataset
from latentry.evidence import Assumption
from latentry.identifiability.assumptions.family import latent_family
from latentry.identifiability.assumptions.independence import independent_latents
from latentry.identifiability.assumptions.latent_count import NUMBER_OF_LATENTS
from latentry.identifiability.assumptions.left_out import ONE_MIXING
from latentry.identifiability.assumptions.samples import samples_look_like_rows

__all__ = ["BEST_FIT", "PART_OF_LEVEL", "UNTESTABLE", "tested_assumptions"]

PART_OF_LEVEL = 0.25  # four tests share the level
_ONE_MAP = Assumption(
    "the rows were made by one smooth one-to-one map of such latents",
    "untested",
    note="other processes can make the same rows: latents that cause each other, or a sensor that differs between domains",
)
BEST_FIT = Assumption("the fit reached the best likelihood", "untested", note="compare restarts")
UNTESTABLE = (_ONE_MAP, BEST_FIT, NUMBER_OF_LATENTS)


def tested_assumptions(
    groups: Sequence[np.ndarray], rows: np.ndarray, family: str, model: object, data: object, level: float, seed: int
) -> tuple[Assumption, ...]:
    """Test what a theorem takes for granted, and name what cannot be tested.

    Args:
        groups: Latents of each domain, (rows, latents).
        rows: Independent rows of each domain.
        family: Of the distributions of the latents.
        model: Whose latents have names, and whose samples are compared with rows, where it draws them by domain.
        data: Those rows, where they are a Dataset.
        level: Of all tests together.
        seed: Of samples and folds.

    Returns:
        Each assumption with its outcome.
    """
    part = PART_OF_LEVEL * level
    names = names_of(model, groups[0].shape[1])
    tested = [independent_latents(groups, rows, part, names), latent_family(groups, rows, family, part, names)]
    if isinstance(model, SamplesByDomain) and isinstance(data, Dataset):
        tested.append(samples_look_like_rows(model, data, part, seed))
        tested.append(ONE_MIXING)
    return (*tested, *UNTESTABLE)
