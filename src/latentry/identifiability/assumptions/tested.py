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

__all__ = ["BEST_FIT", "PART_OF_LEVEL", "UNTESTABLE", "tested_assumptions", "too_weakly_tested"]

_LEAST_POWER = 0.5  # of a test that says something where it does not refute
PART_OF_LEVEL = 0.25  # four tests share the level
_ONE_MAP = Assumption(
    "the rows were made by one smooth one-to-one map of such latents",
    "untested",
    note="other processes can make the same rows: latents that cause each other, or a sensor that differs between domains",
)
BEST_FIT = Assumption("the fit reached the best likelihood", "untested", note="compare restarts")
UNTESTABLE = (_ONE_MAP, BEST_FIT, NUMBER_OF_LATENTS)


def too_weakly_tested(assumptions: Sequence[Assumption]) -> Assumption | None:
    """Return the assumption that was tested with the least power, where that is below a half: then nothing was learned of it.

    Args:
        assumptions: Tested or named.

    Returns:
        One of them, or None.

    >>> too_weakly_tested([Assumption("a", "not refuted", "a test", 0.4, 0.2), Assumption("b", "untested")]).name
    'a'
    """
    weak = [
        one
        for one in assumptions
        if one.outcome == "not refuted" and one.power is not None and one.power < _LEAST_POWER
    ]
    return min(weak, key=lambda one: one.power or 0.0, default=None)


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
