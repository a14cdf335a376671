"""Sparse mixings: patterns, their condition, invertibility, laws."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import latentry as lt
from latentry.contracts import MixingSupport
from latentry.generators import sparse_law, sparse_mixing
from latentry.generators.supports import PATTERNS


def brute_force(present):
    """The definition itself: some set of variables whose parent sets meet in the latent alone."""
    rows = [set(np.flatnonzero(row)) for row in present]
    sets = [c for size in range(1, len(rows) + 1) for c in combinations(rows, size)]
    return [any(set.intersection(*chosen) == {k} for chosen in sets) for k in range(present.shape[1])]


@given(st.integers(1, 5), st.integers(1, 5), st.integers(0, 2**25 - 1))
def test_one_intersection_decides_the_condition(observed, latents, bits):
    present = np.array([bits >> k & 1 for k in range(observed * latents)], dtype=bool).reshape(observed, latents)
    assert MixingSupport(present).pinned.tolist() == brute_force(present)


@pytest.mark.parametrize("observed", [4, 8])
def test_patterns_keep_their_promise(observed):
    found = {m: sparse_law(mixing=m, observed=observed, seed=1).support for m in PATTERNS}
    assert found["cyclic"].present[:4].tolist() == [[1, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1], [1, 0, 0, 1]]
    assert found["cyclic"].pinned.all()
    assert found["chain"].pinned.tolist() == [False, True, True, True]
    assert found["chain"].companions(0) == (1,)
    assert found["structured"].pinned.all()
    assert not found["unstructured"].pinned.all()
    assert not found["dense"].pinned.any()
    assert found["dense"].companions(2) == (0, 1, 3)


def jacobian(law, point):
    steps = np.concatenate([point + h * np.eye(len(point)) for h in (1e-6, -1e-6)])
    out = law.mix(steps)
    return ((out[: len(point)] - out[len(point) :]) / 2e-6).T


@pytest.mark.parametrize("mixing", PATTERNS)
@pytest.mark.parametrize("observed", [4, 7])
def test_the_jacobian_has_the_true_support_and_full_rank(mixing, observed):
    law = sparse_law(mixing=mixing, observed=observed, seed=2)
    rng = np.random.default_rng(0)
    for point in rng.normal(size=(20, 4)):
        found = jacobian(law, point)
        assert ((np.abs(found) > 1e-6) == law.support.present).all()  # structural zeros are zeros
        assert np.linalg.svd(found, compute_uv=False)[-1] > 1e-3


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000), st.sampled_from(PATTERNS))
def test_no_average_of_jacobians_is_singular(seed, mixing):
    """The argument for invertibility: slopes anywhere in [1, 1 + δ], entry by entry, never make W singular."""
    law = sparse_law(mixing=mixing, seed=seed)
    slopes = np.random.default_rng(seed).uniform(1, 1 + law.bend, size=(200, *law.weights.shape))
    assert np.linalg.svd(law.weights * slopes, compute_uv=False)[:, -1].min() > 0.01
    assert law.bend > 0.1


def test_laws_of_changing_and_invariant_latents():
    law = sparse_law(latents=4, invariant=2, domains=5, seed=0)
    assert (law.means[:, :2] == 0).all()
    assert (law.deviations[:, :2] == 1).all()
    assert np.ptp(law.means[:, 2:], axis=0).min() > 0
    data = sparse_mixing(latents=4, invariant=2, domains=5, rows_per_domain=20_000, seed=0)
    sources = np.column_stack(list(data.factors.values()))
    for k in range(5):
        rows = sources[data.domain.values == k]
        # standard errors below 0.015 and 0.01: 20 numbers pass 5 of them once in 80,000 runs
        assert np.abs(rows.mean(axis=0) - law.means[k]).max() < 0.075
        assert np.abs(rows.std(axis=0) - law.deviations[k]).max() < 0.055


def test_rows_are_the_mixing_of_their_factors():
    settings = {"mixing": "structured", "latents": 3, "observed": 5, "seed": 4}
    data, law = sparse_mixing(rows_per_domain=50, **settings), sparse_law(**settings)
    assert np.allclose(law.mix(np.column_stack(list(data.factors.values()))), data["x"])
    noisy = sparse_mixing(rows_per_domain=5000, noise=0.1, **settings)
    rest = noisy["x"] - law.mix(np.column_stack(list(noisy.factors.values())))
    assert rest.std() == pytest.approx(0.1, rel=0.02)  # 50,000 numbers: 6 standard errors


@pytest.mark.parametrize("extra", [0.1, 0.3, 0.5])
def test_extra_edges(extra):
    law = sparse_law(latents=6, extra=extra, seed=0)
    assert law.support.edges == 12 + round(extra * 24)
    assert (law.support.present | ~sparse_law(latents=6, seed=0).support.present).all()


@given(st.permutations(range(4)), st.integers(0, 2**16 - 1))
def test_matching_undoes_an_order(order, bits):
    one = MixingSupport(np.array([bits >> k & 1 for k in range(16)], dtype=bool).reshape(4, 4))
    two = MixingSupport(one.present[:, list(order)])
    f1, found = one.matched(two)
    assert f1 == 1
    assert (two.present[:, list(found)] == one.present).all()


def test_seeds():
    assert sparse_mixing(rows_per_domain=9, seed=1).fingerprint == sparse_mixing(rows_per_domain=9, seed=1).fingerprint
    assert sparse_mixing(rows_per_domain=9, seed=1).fingerprint != sparse_mixing(rows_per_domain=9, seed=2).fingerprint


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: sparse_mixing(mixing="ciclic"), "mixing='ciclic' is not known; did you mean 'cyclic'"),
        (lambda: sparse_mixing(latents=1), "latents=1: .* whole number of at least 2"),
        (lambda: sparse_mixing(observed=3), "observed=3: .* 4 latents"),
        (lambda: sparse_mixing(invariant=5), "invariant=5: .* 4 latents"),
        (lambda: sparse_mixing(extra=2), "extra=2: .* fraction"),
        (lambda: sparse_mixing(domains=0), "domains=0"),
        (lambda: MixingSupport([1, 0]), "present of shape \\(2,\\).*\\(observed, latents\\)"),
    ],
)
def test_bad_parameters(call, sentence):
    with pytest.raises(lt.DataError, match=sentence):
        call()
