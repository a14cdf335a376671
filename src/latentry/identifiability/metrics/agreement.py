"""Agreement between restarts: evidence when no truth exists."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from sklearn.base import BaseEstimator

from latentry.data import paired_rows
from latentry.errors import DataError
from latentry.evidence import Bound, Verdict
from latentry.identifiability.metrics.matching import Columns, as_columns, match, mcc
from latentry.streams import stream

__all__ = ["Agreement", "agreement"]


@dataclass(frozen=True, eq=False)
class Agreement:
    """How far restarts agree on the latents.

    Args:
        table: Mean correlation coefficient of every pair of restarts, (restarts, restarts), ones on the diagonal.
        weak: The same after a linear map fitted on half of the rows and scored on the other half.
        per_latent: For each latent of the first restart, its lowest correlation with its partner in another restart.
        verdict: Refuted when some pair disagrees; agreement itself proves nothing.
    """

    table: np.ndarray
    weak: np.ndarray
    per_latent: np.ndarray
    verdict: Verdict

    @property
    def lowest(self) -> float:
        """Return the mean correlation coefficient of the worst pair."""
        return float(self.table.min())


def agreement(latents: Sequence[Columns], *, method: str = "spearman", threshold: float = 0.9) -> Agreement:
    """Compute mean correlation coefficients between the latents that restarts give for the same held-out rows.

    A model that is identified reaches the same latents from every start, up to order, scale and sign. Agreement does not prove
    that they are the true ones: all restarts may share a bias. Disagreement of fits of equal likelihood does show that the
    data leave the latents open.

    Cost: fits² · rows · latents², and fits² · latents³ for the pairings.

    Args:
        latents: One array (rows, latents) per restart, for the same rows.
        method: "spearman" or "pearson".
        threshold: The least score that counts as agreement, declared beforehand.

    Returns:
        Tables of scores, and a verdict.

    Raises:
        DataError: If there are fewer than 2 restarts, or their rows differ.

    >>> s = np.random.default_rng(0).normal(size=(400, 2))
    >>> print(agreement([s, -s[:, ::-1], 2 * s]).verdict)
    cannot say: the 3 restarts agree (mcc at least 1.00), as they would if the latents were identified, or shared one bias.
    >>> print(agreement([s, s @ [[1, 1], [-1, 1]]]).verdict)
    refuted: the 2 restarts do not agree (lowest mcc 0.70, declared 0.9), but do up to a linear map (1.00): the latents stay mixed.
    """
    if len(latents) < 2:
        raise DataError(f"latents: has {len(latents)} restart, too few to agree. Give at least 2.")
    model = next((i for i, z in enumerate(latents) if isinstance(z, BaseEstimator)), None)
    if model is not None:
        raise DataError(f"latents[{model}] is a model. Give its latents: [model.transform(held_out) for each model].")
    tables = _checked(latents)
    if not 0 < threshold <= 1:
        raise DataError(f"threshold={threshold!r}: is no correlation. Give a number between 0 and 1.")
    table, weak = np.ones((len(tables),) * 2), np.full((len(tables),) * 2, np.nan)
    half = len(tables[0]) // 2
    order = stream("identifiability/agreement", 0).permutation(len(tables[0]))  # rows may come sorted by domain
    tables = [z[order] for z in tables]
    for i, j in combinations(range(len(tables)), 2):
        table[i, j] = table[j, i] = mcc(tables[i], tables[j], method)
        if half >= 3:
            other = (tables[i][:half], tables[j][:half])
            weak[i, j] = weak[j, i] = mcc(tables[i][half:], tables[j][half:], method, weak_on=other)
    per_latent = np.min([match(z, tables[0], method).correlation for z in tables[1:]], axis=0)
    return Agreement(table, weak, per_latent, _verdict(table, weak, threshold))


def _checked(latents: Sequence[Columns]) -> list[np.ndarray]:
    ordered = paired_rows({f"latents[{i}]": z for i, z in enumerate(latents)})
    tables = [as_columns(name, z) for name, z in ordered.items()]
    for i, z in enumerate(tables):
        if z.shape != tables[0].shape:
            raise DataError(
                f"latents[{i}] has shape {z.shape} and latents[0] has {tables[0].shape}. Give the same rows of both."
            )
    return tables


def _verdict(table: np.ndarray, weak: np.ndarray, threshold: float) -> Verdict:
    lowest, restarts = float(table.min()), len(table)
    if lowest >= threshold:
        sentence = (
            f"the {restarts} restarts agree (mcc at least {lowest:.2f}), as they would if the latents were identified, "
            "or shared one bias."
        )
        return Verdict(
            "cannot say", sentence, {}, "an audit of the changes between domains, which says whether they suffice"
        )
    linear = float(weak[np.triu_indices(restarts, 1)].min())  # NaN when there are too few rows
    up_to = f", but do up to a linear map ({linear:.2f}): the latents stay mixed" if linear >= threshold else ""
    sentence = f"the {restarts} restarts do not agree (lowest mcc {lowest:.2f}, declared {threshold:g}){up_to}."
    change = "longer training, if their likelihoods differ; otherwise domains in which variances change"
    return Verdict("refuted", sentence, {"lowest mcc": Bound(lowest, method="on the rows given")}, change)
