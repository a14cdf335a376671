import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import cKDTree
from sklearn.neighbors import KDTree

from latentry.information import neighbours as nb
from latentry.information.brute_force_neighbours import brute_neighbourhoods


def by_definition(parts, spaces, k, rule):
    """Loops over all pairs: the definition, slowly."""
    distance = [np.max(np.abs(p[:, None] - p[None]), axis=2) for p in parts]
    joint = np.max(distance, axis=0)
    n, tiny = len(joint), 1e-12
    radius = np.array([np.sort(np.delete(joint[i], i))[k - 1] for i in range(n)])
    counts = []
    for space in spaces:
        d = np.max([distance[i] for i in space], axis=0)
        if rule == "rectangle":
            order = [[j for j in np.argsort(joint[i], kind="stable") if j != i][:k] for i in range(n)]
            reach = np.array([d[i, order[i]].max() for i in range(n)]) + tiny
        else:
            reach = radius + (tiny if rule == "within" else -tiny)
        counts.append(np.array([np.sum(np.delete(d[i], i) <= reach[i]) for i in range(n)]))
    return radius, counts


@pytest.mark.parametrize("rule", ["strict", "within", "rectangle"])
@pytest.mark.parametrize("dims", [(1, 1), (1, 3), (4, 5)])
@pytest.mark.parametrize("conditional", [False, True])
def test_trees_and_tiles_count_what_the_definition_counts(rule, dims, conditional):
    rng = np.random.default_rng(sum(dims))
    parts = tuple(rng.standard_normal((150, d)) for d in (*dims, *([2] if conditional else [])))
    spaces = ((0, 2), (1, 2), (2,)) if conditional else ((0,), (1,))
    radius, counts = by_definition(parts, spaces, 3, rule)
    tree = nb.tree_neighbourhoods(parts, spaces, 3, rule)
    tile = nb.Neighbourhood(*brute_neighbourhoods(parts, spaces, 3, rule))
    for found in (tree, tile):
        np.testing.assert_array_equal(found.radius, radius)
        for mine, theirs in zip(found.counts, counts, strict=True):
            np.testing.assert_array_equal(mine, theirs)
        assert np.all(found.ties == 3)  # no ties among continuous rows


@pytest.mark.parametrize("rule", ["strict", "within"])
def test_grids_full_of_ties(rule):
    rng = np.random.default_rng(0)
    parts = tuple(rng.integers(0, 6, (200, d)) * 0.1 for d in (1, 2))  # multiples of 0.1: rounding would decide naively
    radius, counts = by_definition(parts, ((0,), (1,)), 4, rule)
    for found in (
        nb.tree_neighbourhoods(parts, ((0,), (1,)), 4, rule),
        nb.Neighbourhood(*brute_neighbourhoods(parts, ((0,), (1,)), 4, rule)),
    ):
        np.testing.assert_allclose(found.radius, radius, atol=1e-12)
        for mine, theirs in zip(found.counts, counts, strict=True):
            np.testing.assert_array_equal(mine, theirs)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.floats(1e-12, 1e12), st.sampled_from([(1, 1), (2, 3)]))
def test_counts_do_not_notice_a_common_scale(seed, factor, dims):
    rng = np.random.default_rng(seed)
    parts = tuple(rng.standard_normal((60, d)) for d in dims)
    one = nb.neighbourhoods(parts, ((0,), (1,)), 3)
    two = nb.neighbourhoods(tuple(factor * p for p in parts), ((0,), (1,)), 3)
    for a, b in zip(one.counts, two.counts, strict=True):
        np.testing.assert_array_equal(a, b)


def shaped(kind, rng, n, d):
    """Rows of a kind that has broken neighbour searches before."""
    rows = rng.standard_normal((n, d))
    if kind == "rounded":
        return np.round(rows, 1)
    if kind == "copies":
        return rows[rng.integers(0, max(2, n // 3), n)]
    if kind == "heavy tails":
        return rng.standard_cauchy((n, d)) ** 3
    if kind == "constant column":
        rows[:, 0] = 3.7
    return rows * 1e-12 + 1.0 if kind == "far from zero" else rows


KINDS = ["normal", "rounded", "copies", "heavy tails", "constant column", "far from zero"]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(KINDS), st.integers(2, 400), st.integers(1, 7), st.integers(1, 6))
def test_the_tree_agrees_with_scipy_and_scikit_learn(seed, kind, n, d, k):
    rng = np.random.default_rng(seed)
    rows, k = shaped(kind, rng, n, d), min(k, n - 1)
    radius = nb.kth_distance(rows, k)
    np.testing.assert_array_equal(radius, cKDTree(rows).query(rows, k=[k + 1], p=np.inf)[0][:, 0])
    reach = rng.permutation(radius) * rng.uniform(0, 3, n)  # radii of other rows: some reach nothing, some all
    theirs = KDTree(rows, metric="chebyshev").query_radius(rows, reach, count_only=True)
    np.testing.assert_array_equal(nb.plant_tree(rows).counts(reach, nb.plant_tree(rows)), theirs - 1)
    np.testing.assert_array_equal(nb.plant_tree(rows).counts(np.full(n, -1e-300), nb.plant_tree(rows)), np.zeros(n))


@pytest.mark.parametrize("kind", ["normal", "heavy tails", "copies"])
@pytest.mark.parametrize("d", [1, 2, 6])
def test_many_leaves(kind, d):
    # few rows have few leaves, and nothing to leave out
    rng = np.random.default_rng(d)
    rows = shaped(kind, rng, 6000, d)
    radius, asked = cKDTree(rows).query(rows, k=[5], p=np.inf)[0][:, 0], rng.permutation(6000)[:700]
    np.testing.assert_array_equal(nb.kth_distance(rows, 4), radius)
    np.testing.assert_array_equal(nb.kth_distance(rows, 4, asked), radius[asked])
    reach = 1.7 * radius
    counts = KDTree(rows, metric="chebyshev").query_radius(rows, reach, count_only=True) - 1
    np.testing.assert_array_equal(nb.plant_tree(rows).counts(reach, nb.plant_tree(rows)), counts)
    np.testing.assert_array_equal(nb.plant_tree(rows).counts(reach[asked], nb.plant_tree(rows[asked])), counts[asked])


@pytest.mark.parametrize("n", [2, 63, 64, 65, 128, 129, 1000])
def test_leaves_that_are_full_and_leaves_that_are_not(n):
    rows = np.random.default_rng(n).standard_normal((n, 3))
    distance = np.max(np.abs(rows[:, None] - rows[None]), axis=2)
    np.testing.assert_array_equal(nb.kth_distance(rows, n - 1), distance.max(axis=1))  # every other row is a neighbour
    np.testing.assert_array_equal(nb.count_within(rows, np.full(n, np.inf)), np.full(n, n - 1))
    np.testing.assert_array_equal(nb.count_within(rows, distance.max(axis=1)), np.full(n, n - 1))


@pytest.mark.parametrize("rule", ["strict", "within", "rectangle"])
@pytest.mark.parametrize("dims", [(1, 1), (2, 3)])
@pytest.mark.parametrize("kind", ["normal", "rounded"])
def test_asked_rows_get_the_answers_that_all_rows_get(rule, dims, kind):
    rng = np.random.default_rng(0)
    parts, spaces = tuple(shaped(kind, rng, 700, d) for d in dims), ((0,), (1,))
    asked = rng.permutation(700)[:150]
    every = nb.neighbourhoods(parts, spaces, 3, rule)
    tile = nb.Neighbourhood(*brute_neighbourhoods(parts, spaces, 3, rule, asked))
    for some in (nb.neighbourhoods(parts, spaces, 3, rule, asked), tile):
        np.testing.assert_array_equal(some.radius, every.radius[asked])
        np.testing.assert_array_equal(some.ties, every.ties[asked])
        for mine, theirs in zip(some.counts, every.counts, strict=True):
            np.testing.assert_array_equal(mine, theirs[asked])


def test_pieces_for_threads_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    parts, spaces = tuple(rng.standard_normal((1500, d)) for d in (2, 3)), ((0,), (1,))
    found = [nb.neighbourhoods(parts, spaces, 3, rule) for rule in ("within", "rectangle")]
    monkeypatch.setattr(nb, "MANY", 0)
    monkeypatch.setattr(nb, "cores", lambda: 3)
    for one, rule in zip(found, ("within", "rectangle"), strict=True):
        two = nb.neighbourhoods(parts, spaces, 3, rule)
        np.testing.assert_array_equal(one.radius, two.radius)
        np.testing.assert_array_equal(np.array(one.counts), np.array(two.counts))


def test_rectangles_of_ties_do_not_hang_on_the_order_of_rows():
    rng = np.random.default_rng(0)
    parts, order = tuple(rng.integers(0, 6, (300, 2)) * 0.1 for _ in range(2)), rng.permutation(300)
    one = nb.tree_neighbourhoods(parts, ((0,), (1,)), 4, "rectangle")
    two = nb.tree_neighbourhoods(tuple(p[order] for p in parts), ((0,), (1,)), 4, "rectangle")
    tile = brute_neighbourhoods(parts, ((0,), (1,)), 4, "rectangle")
    for a, b, c in zip(one.counts, two.counts, tile[1], strict=True):
        np.testing.assert_array_equal(a[order], b)
        np.testing.assert_array_equal(a, c)


def test_an_accelerator_takes_wide_blocks(monkeypatch):
    called = []
    monkeypatch.setattr(nb, "tree_neighbourhoods", lambda *a: called.append("tree"))
    narrow, wide = (np.random.default_rng(0).standard_normal((1000, d)) for d in (2, 8))
    nb.neighbourhoods((wide, wide), ((0,), (1,)), 3)
    assert called == ["tree"]  # here JAX runs on the processor
    monkeypatch.setattr("jax.default_backend", lambda: "gpu")
    nb.neighbourhoods((narrow, narrow), ((0,), (1,)), 3)
    assert called == ["tree", "tree"]
    assert nb.neighbourhoods((wide, wide), ((0,), (1,)), 3).radius.shape == (1000,)
    assert called == ["tree", "tree"]


def run(program, **variables):
    environment = {**os.environ, **variables}
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=environment
    ).stdout


def test_numba_is_loaded_by_the_first_search_only():
    program = """
import sys, numpy as np, latentry as lt
before = "numba" in sys.modules
lt.mutual_information(np.arange(50.0), np.arange(50.0) % 7.3, estimator="ksg", confidence=None)
print(before, "numba" in sys.modules)
"""
    assert run(program).split() == ["False", "True"]


def test_a_cache_that_cannot_be_written_is_done_without():
    # numba then finds no folder for its machine code and refuses; the search must not
    program = """
import numpy as np
from numba.core import caching
def refuse(*a): raise OSError("read-only")
caching._CacheLocator.ensure_cache_path = refuse
from latentry.information.neighbours import kth_distance
print(kth_distance(np.array([[0.0], [1.0], [3.0]]), 1).tolist())
"""
    assert run(program, NUMBA_OPT="0").strip() == "[1.0, 1.0, 2.0]"  # nothing cached: compiled in a hurry


def _peak(n, d):
    """Bytes that a KSG estimate of n rows holds at its peak, beyond its input."""
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, n, d))
    nb.neighbourhoods((x[:50], y[:50]), ((0,), (1,)), 3)  # imports are not the estimate's
    tracemalloc.start()
    nb.neighbourhoods((x, y), ((0,), (1,)), 3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.parametrize("d", [1, 2])
def test_memory_grows_no_faster_than_the_rows(d):
    small, large = _peak(20_000, d), _peak(80_000, d)
    assert large / small < 8  # four times the rows, and threads that may or may not meet; all pairs would be sixteen
    assert large < 80_000 * 8 * 60  # sixty numbers a row


def test_wide_searches_never_hold_all_pairs():
    # in a process of its own: compiled code allocates outside of Python's sight; all pairs of 8,000 rows are 512 MB
    program = """
import resource, numpy as np
from latentry.information import neighbours as nb
from latentry.information.brute_force_neighbours import brute_neighbourhoods
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
x = np.random.default_rng(0).standard_normal((8_000, 6))
for search in (nb.tree_neighbourhoods, brute_neighbourhoods):
    search((x[:1000], x[:1000] ** 2), ((0,), (1,)), 3, "strict")
    start = peak()
    search((x, x**2), ((0,), (1,)), 3, "strict")
    print(peak() - start)
"""
    assert max(map(float, run(program, XLA_FLAGS="").split())) < 200  # optimised: 64 million pairs
