"""Neighbour statistics from all pairs, permutations, and p-values of tests that stop early."""

import numpy as np
import pytest
from scipy.stats import norm

from latentry.information.ksg import ksg_local
from latentry.natural.from_samples import independence_tests
from latentry.natural.from_samples.pairwise_information import neighbour_orders, pairs_of, strata_orders


def scores(rows):
    return norm.ppf((rows.argsort(axis=0).argsort(axis=0) + 1) / (len(rows) + 1))


@pytest.fixture
def blocks():
    rng = np.random.default_rng(0)
    z = rng.standard_normal((400, 2))
    x = np.hstack([z, rng.standard_normal((400, 1))]) + rng.standard_normal((400, 3))
    return scores(x), scores(z[:, :1] + x[:, 2:] + rng.standard_normal((400, 1))), scores(z)


def test_all_pairs_give_what_trees_give(blocks):
    x, y, z = blocks
    order = np.random.default_rng(1).permutation(400)
    (pairs,) = pairs_of(x, y, z, None, 5)
    assert pairs.local() == pytest.approx(ksg_local(x, y, z, k=5), abs=1e-9)
    assert pairs.local(order) == pytest.approx(ksg_local(x[order], y, z, k=5), abs=1e-9)


def test_all_pairs_inside_strata(blocks):
    x, y, z = blocks
    strata = np.repeat([0, 1, 2], [200, 192, 8])
    first, second = pairs_of(x, y, z, strata, 5)  # the third has too few rows
    assert first.local() == pytest.approx(ksg_local(x[:200], y[:200], k=5), abs=1e-9)
    assert second.local() == pytest.approx(ksg_local(x[200:392], y[200:392], k=5), abs=1e-9)


def test_orders_keep_to_neighbours_and_strata():
    rng = np.random.default_rng(0)
    near = np.array([[i, (i + 1) % 50, (i - 1) % 50] for i in range(50)])
    orders = neighbour_orders(near, 200, rng)
    assert all((near == order[:, None]).any(axis=1).all() for order in orders)
    # A row is used twice only where all neighbours are taken; drawn at will, a third of them would be.
    assert np.mean([len(np.unique(order)) for order in orders]) > 45
    moved = np.bincount((orders - np.arange(50)).ravel() % 50, minlength=50) / orders.size
    assert moved[[0, 1, 49]] == pytest.approx([1 / 3] * 3, abs=0.03)  # ten standard errors
    strata = rng.integers(0, 3, 60)
    within = strata_orders(strata, 20, rng)
    assert (strata[within] == strata).all()
    assert all((np.sort(order) == np.arange(60)).all() for order in within)


def test_p_values_of_tests_that_stop_early_are_p_values():
    """Under the null the data rank uniformly among the draws. P(p ≤ a) ≤ a up to four standard errors of 20,000 runs."""
    rng, runs = np.random.default_rng(0), 20_000
    draws = rng.random((runs, 100))
    found = np.array([independence_tests.permuted(row[0], 99, _given(row[1:])).p_value for row in draws])
    for level in (0.01, 0.02, 0.05, 0.1, 0.3, 0.7):
        assert np.mean(found <= level) <= level + 4 * np.sqrt(level * (1 - level) / runs)
    assert np.mean(found <= 0.05) > 0.04  # and not needlessly large
    assert found.min() == 1 / 100  # never zero: the data are one of the draws


def test_a_test_stops_when_nothing_can_be_refuted_any_more():
    made = []

    def values(count):
        for _ in range(count):
            made.append(1)
            yield 1.0

    assert independence_tests.permuted(0.5, 999, values).p_value == 1.0
    assert len(made) == independence_tests._ENOUGH


def _given(row):
    rest = iter(row)
    return lambda count: (next(rest) for _ in range(count))
