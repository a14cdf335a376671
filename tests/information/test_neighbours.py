import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latentry.information import neighbours as nb
from latentry.information.brute import brute_neighbourhoods


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
    tree = nb._tree_neighbourhoods(parts, spaces, 3, rule)
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
        nb._tree_neighbourhoods(parts, ((0,), (1,)), 4, rule),
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


def test_the_engine_is_chosen_by_shape(monkeypatch):
    called = []
    monkeypatch.setattr(nb, "_tree_neighbourhoods", lambda *a: called.append("tree"))
    rng = np.random.default_rng(0)
    nb.neighbourhoods((rng.standard_normal((1000, 2)),) * 2, ((0,), (1,)), 3)
    assert called == ["tree"]
    wide = nb.neighbourhoods((rng.standard_normal((1000, 8)),) * 2, ((0,), (1,)), 3)
    assert called == ["tree"]
    assert wide.radius.shape == (1000,)


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


def test_tiles_never_hold_all_pairs():
    # in a process of its own: compiled code allocates outside of Python's sight; all pairs of 8,000 rows are 512 MB
    program = """
import resource, numpy as np
from latentry.information.ksg import ksg_local
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
x = np.random.default_rng(0).standard_normal((8_000, 6))
ksg_local(x[:1000], x[:1000] ** 2)
start = peak()
ksg_local(x, x**2)
print(peak() - start)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 200
