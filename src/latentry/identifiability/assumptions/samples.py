"""Whether what a model draws in each domain looks like the rows of that domain."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm, rankdata

from latentry.contracts import Samples, SamplesByDomain
from latentry.data import Dataset
from latentry.evidence import Assumption
from latentry.streams import stream, stream_seed

__all__ = ["samples_look_like_rows", "separability"]

Array = NDArray[np.float64]
_NAME = "the model, with one map for all domains, describes rows"
_MOST, _FEWEST = 4000, 40  # rows that are compared
_WIDEST = 20  # columns; beyond, leading components stand for them
_TOLERANCE, _ALONE = 0.06, 0.2  # of the area under the curve beyond a half, over all domains and in one
_PLANTED = 0.12


def samples_look_like_rows(model: Samples, data: Dataset, level: float, seed: int) -> Assumption:
    """Test by boosted trees that know the domain whether samples can be told from new rows, over all domains and in each.

    The area under the curve is that of two halves, each scored by trees fitted to the other (Lopez-Paz and Oquab 2017).

    Args:
        model: Draws rows, of a domain where it can.
        data: Rows that the model was not fitted to, with labels of their domains if it can; one of each group is compared.
        level: Of the test.
        seed: Of the samples, the folds and the trees.

    Returns:
        The assumption, refuted where samples are told from rows by more than a good fit allows.
    """
    whole = np.flatnonzero(np.all([data.observed[name] for name in data.names], axis=0))
    if len(whole) < _FEWEST:
        return Assumption(_NAME, "untested", note=f"{len(whole)} rows have all modalities")
    alone = data.take(whole).one_row_per_unit(seed)
    if len(alone) < _FEWEST:
        return Assumption(_NAME, "untested", note=f"{len(alone)} groups or blocks of time are too few to compare")
    rows = alone.take(np.sort(stream("identifiability/rows", seed).permutation(len(alone))[:_MOST]))
    chosen, codes = stream_seed("identifiability/samples", seed), np.zeros(len(rows), dtype=np.int64)
    if not isinstance(model, SamplesByDomain):
        drawn = model.sample(len(rows), seed=chosen)
    elif rows.domain is None or rows.domain.labels is None:
        return Assumption(_NAME, "untested", note="the domain is continuous: samples were not compared with rows")
    else:
        codes = rows.domain.values.astype(np.int64)
        drawn = model.sample(len(rows), domain=rows.domain.as_labels(), seed=chosen)
    named = dict(drawn) if isinstance(drawn, Mapping) else {rows.names[0]: drawn}
    real, fake = (np.hstack([_flat(part[name]) for name in rows.names]) for part in (rows.values, named))
    if real.shape[1] > _WIDEST:
        real, fake = _leading(real, fake, seed)
    return _judged(separability(real, fake, codes, seed), codes, level)


def _judged(scores: tuple[Array, Array], domain: NDArray[np.int64], level: float) -> Assumption:
    places = np.unique(domain)
    pooled = _area(*scores)
    each = [_area(scores[0][domain == d], scores[1][domain == d]) for d in places]
    counts = np.array([(domain == d).sum() for d in places])
    p_each = min(_tail(area, n, _ALONE) for area, n in zip(each, counts, strict=True)) * len(places)
    p_value = min(1.0, 2 * min(_tail(pooled, len(domain), _TOLERANCE), p_each))
    error = _error(len(domain))
    power = float(norm.sf((_TOLERANCE - _PLANTED) / error + norm.isf(level / 2)))
    test = f"boosted trees that know the domain, samples against new rows, against an area of {0.5 + _TOLERANCE:g}"
    told = f"area under the curve {pooled:.2f}, {max(each):.2f} in the worst domain, where 0.5 is not told apart"
    note = f"a classifier between samples and rows: {told}; power for {0.5 + _PLANTED:g}"
    return Assumption(_NAME, "refuted" if p_value <= level else "not refuted", test, p_value, power, note)


def separability(real: Array, fake: Array, domain: NDArray[np.int64], seed: int) -> tuple[Array, Array]:
    """Score rows and samples by trees fitted to the other half of them.

    Args:
        real: Rows, (n, columns).
        fake: Samples, (n, columns), of the same domains.
        domain: Of each, as a whole number.
        seed: Of folds and trees.

    Returns:
        Log odds of being real, for rows and for samples.
    """
    from sklearn.ensemble import HistGradientBoostingClassifier  # slow to load

    table = np.column_stack([np.vstack([real, fake]), np.tile(domain, 2)])
    labels = np.repeat([1, 0], len(real))
    fold = np.tile(stream("identifiability/folds", seed).permutation(len(real)) % 2, 2)
    scores = np.empty(len(labels))
    for side in (0, 1):
        trees = HistGradientBoostingClassifier(
            max_iter=60, max_leaf_nodes=8, min_samples_leaf=20, random_state=stream_seed("identifiability/trees", seed)
        )
        trees.fit(table[fold != side], labels[fold != side])
        scores[fold == side] = trees.decision_function(table[fold == side])
    return scores[: len(real)], scores[len(real) :]


def _area(real: Array, fake: Array) -> float:
    ranks = rankdata(np.concatenate([real, fake]))[: len(real)]
    return float((ranks.sum() - len(real) * (len(real) + 1) / 2) / (len(real) * len(fake)))


def _error(rows: int) -> float:
    """Standard error of an area near a half, of as many samples as rows."""
    return float(np.sqrt((2 * rows + 1) / (12.0 * rows * rows)))


def _tail(area: float, rows: int, tolerance: float) -> float:
    return float(norm.sf((area - 0.5 - tolerance) / _error(rows)))


def _flat(array: object) -> Array:
    values = np.asarray(array, dtype=np.float64)
    return values.reshape(len(values), -1)


def _leading(real: Array, fake: Array, seed: int) -> tuple[Array, Array]:
    from sklearn.decomposition import PCA

    both = np.vstack([real, fake])
    count = min(_WIDEST, len(both) - 1)
    components = PCA(count, random_state=stream_seed("identifiability/components", seed)).fit_transform(both)
    return components[: len(real)], components[len(real) :]
