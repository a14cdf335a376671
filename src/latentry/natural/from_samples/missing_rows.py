"""Whether rows that were left out for a missing block are like the others, as far as what is left of them can tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student_t
from scipy.stats import ttest_ind

from latentry.data import CategoricalChannel, Channel, missing_entries, normal_scores, varying_columns
from latentry.evidence import Assumption
from latentry.natural.from_samples.assumptions import ASSUMED_LEVEL
from latentry.natural.from_samples.independence_tests import permutation_test
from latentry.natural.from_samples.observables import Codes, Column, one_of_each
from latentry.natural.from_samples.prediction_gain import label_losses
from latentry.streams import stream

__all__ = ["Gaps", "gaps_of"]

Array = NDArray[np.float64]
_FEWEST = 20  # rows on each side of a comparison
_MOST, _COLUMNS, _COMMON = 4000, 30, 12  # rows, columns of a block, and levels of labels that are compared
_CROWDED, _DRAWS = 5, 599  # rows of a cell on average, and permutations of a table of labels
_NAME = "rows with a missing block are like the others"
_UNSEEN = Assumption(
    "no block is missing because of its own value", "untested", note="what is not there cannot be compared"
)


@dataclass(frozen=True, eq=False)
class Gaps:
    """Which blocks are there in which rows (rows, blocks), the blocks as columns of numbers, and domain and unit of rows."""

    there: NDArray[np.bool_]
    columns: tuple[Array, ...]
    strata: Codes
    units: Codes | None

    def assumptions(self, channel: Channel, seed: int) -> tuple[Assumption, Assumption]:
        """Return what is taken for granted of missing blocks: what can be tested, and what cannot.

        Args:
            channel: The latent of every row, incomplete ones included.
            seed: Of the folds.

        Returns:
            Two assumptions.
        """
        return self.assumption(channel, seed), _UNSEEN

    def assumption(self, channel: Channel, seed: int) -> Assumption:
        """Test whether the latent and the other blocks tell where a block is missing, within each domain.

        Domains may miss a block at different rates. Of rows that come in units, one of each is looked at.

        Args:
            channel: The latent of every row, incomplete ones included.
            seed: Of the folds.

        Returns:
            The assumption that rows with a missing block are like the others.
        """
        found = [self._p_value(i, j, channel, seed) for i in range(len(self.columns)) for j in np.unique(self.strata)]
        tried = [p for p in found if p is not None]
        if not tried:
            return Assumption(_NAME, "untested", note="too few of them to compare")
        p = min(1.0, len(tried) * min(tried))
        test = "a classifier of missing blocks from Λ and the other blocks, and ranks"
        if p <= ASSUMED_LEVEL:
            return Assumption(
                _NAME, "refuted", test, p, note="fill in the missing blocks, or audit a channel that does"
            )
        return Assumption(_NAME, "not refuted", test, p)

    def _rows(self, place: int, domain: int, seed: int) -> Codes:
        """Rows of a domain that have all blocks but perhaps one; one of each unit, and not more than are compared."""
        others = np.delete(self.there, place, axis=1).all(axis=1)
        rows = np.flatnonzero(others & (self.strata == domain))
        rows = rows if self.units is None else one_of_each(rows, self.units, seed)
        most = _MOST // len(np.unique(self.strata))
        return np.sort(stream("natural/missing", seed).permutation(rows)[:most])

    def _p_value(self, place: int, domain: int, channel: Channel, seed: int) -> float | None:
        """Of no difference between rows of a domain with and without one block, among rows that have all others."""
        rows = self._rows(place, domain, seed)
        gone = (~self.there[rows, place]).astype(np.int64)
        if min(gone.sum(), len(gone) - gone.sum()) < _FEWEST:
            return None
        table = np.hstack([_latent(channel, rows), *(c[rows] for i, c in enumerate(self.columns) if i != place)])
        table = table[:, varying_columns(table)]
        if not table.shape[1]:
            return None
        gain = label_losses(table[:, :0], gone, seed) - label_losses(table, gone, seed)
        learned = float(student_t.sf(gain.mean() / max(gain.std(ddof=1), 1e-300) * np.sqrt(len(gain)), len(gain) - 1))
        scores = normal_scores(table)
        ranks = ttest_ind(scores[gone == 1], scores[gone == 0], axis=0, equal_var=False).pvalue
        return float(
            min(1.0, 3.0 * min(learned, table.shape[1] * float(np.nanmin(ranks)), _cells_p_value(table, gone, seed)))
        )


def _cells_p_value(table: Array, gone: NDArray[np.int64], seed: int) -> float:
    """Of no difference between the cells of a table of labels, against permutations; 1 where rows hardly share a cell."""
    cells = np.unique(table, axis=0, return_inverse=True)[1].ravel()
    if len(gone) < _CROWDED * (int(cells.max()) + 1):
        return 1.0
    return permutation_test([gone, cells.astype(np.int64)], np.zeros_like(gone), draws=_DRAWS, seed=seed).p_value


def _latent(channel: Channel, rows: NDArray[np.int64]) -> Array:
    table = channel.probabilities if isinstance(channel, CategoricalChannel) else channel.mean
    return np.asarray(table[rows], dtype=np.float64)


def gaps_of(
    named: Mapping[str, Column],
    there: NDArray[np.bool_],
    labels: Mapping[str, bool],
    strata: Codes,
    units: Codes | None,
) -> Gaps | None:
    """Gather what is needed to compare incomplete rows with the others.

    Args:
        named: Blocks by name, for all rows.
        there: Whether each block is complete in each row, (rows, blocks).
        labels: Which blocks hold labels.
        strata: The domain of each row.
        units: A number for each row, the same for rows that depend on each other; None where every row is by itself.

    Returns:
        The gaps; None where nothing is missing.
    """
    if there.all():
        return None
    columns = tuple(_numbers(column, there[:, i], labels[name]) for i, (name, column) in enumerate(named.items()))
    return Gaps(there, columns, strata, units)


def _numbers(column: Column, there: NDArray[np.bool_], label: bool) -> Array:
    """A block as numbers: common labels as columns of 0 and 1; rows in which it is missing are 0 and are never read."""
    flat = np.asarray(column).reshape(len(there), -1)
    if label:
        text = np.where(missing_entries(flat), "", flat.astype(str))
        values, codes = np.unique(text, axis=0, return_inverse=True)
        codes = codes.ravel()
        common = np.argsort(-np.bincount(codes[there], minlength=len(values)))[:_COMMON]
        return np.asarray(codes[:, None] == common, dtype=np.float64)
    numbers = flat[:, :_COLUMNS].astype(np.float64)
    return np.where(there[:, None], numbers, 0.0)
