"""Linear unmixings: against generalised eigenvectors, a known sparse mixing, and columns bent by themselves."""

import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.special import ndtri
from scipy.stats import rankdata

import latentry as lt
from latentry.data import Domain
from latentry.models.cgvae.linear_start import groups_of, linear_unmixings, tries_for

pytestmark = pytest.mark.long

ROWS = 3000
SCALES = np.array([[1.0, 1.0, 1.0], [0.4, 1.0, 2.5]])


@pytest.fixture(scope="module")
def groups():
    return np.repeat([0, 1], ROWS)


def mixed(rng, groups, weights, scales=SCALES):
    latents = rng.normal(size=(len(groups), len(weights))) * scales[groups]
    return latents @ np.asarray(weights).T


def same_rows(one, two, least):
    """One is the other with rows scaled and reordered: their quotient has one large entry in each row."""
    quotient = np.abs(one @ np.linalg.inv(two))
    return (quotient / np.linalg.norm(quotient, axis=1, keepdims=True)).max(axis=1).min() > least


def test_without_a_weight_two_groups_give_generalised_eigenvectors(rng, groups):
    values = rng.normal(size=(len(groups), 3)) @ rng.normal(size=(3, 3))
    values[groups == 1] *= [0.5, 1.0, 2.0]
    normal = linear_unmixings(values, groups, weight=0.0, most=1, seed=0)[0]
    made = ndtri((rankdata(values, axis=0) - 0.5) / len(values))
    covariances = [np.cov(made[groups == g], rowvar=False) for g in (0, 1)]
    expected = eigh(covariances[0], covariances[1])[1].T
    assert same_rows(normal, expected, 0.999)


@pytest.mark.parametrize(
    "bend", [lambda x: x, np.sinh, lambda x: 5 - 1e3 * np.tanh(x / 4)], ids=["plain", "steep", "flat"]
)
def test_a_sparse_mixing_is_found_whatever_bends_the_columns(bend, groups):
    weights = np.array([[1.0, 0.7, 0], [0, 1, -0.7], [0.7, 0, 1]])
    plain = mixed(np.random.default_rng(1), groups, weights)
    found = linear_unmixings(bend(plain), groups, weight=0.02, most=1, seed=0)[0]
    straight = linear_unmixings(plain, groups, weight=0.02, most=1, seed=0)[0]
    assert same_rows(found, straight, 0.9999)  # ranks are all it sees, so this is exact up to the order of sums
    assert same_rows(found / plain.std(axis=0), np.linalg.inv(weights), 0.98)


def test_a_weight_finds_what_groups_alone_cannot(groups):
    """Two latents with the same change: their plane is a matter of taste to the likelihood, not to a count of edges."""
    weights = np.array([[1.0, 0.7, 0], [0, 1, -0.7], [0.7, 0, 1]])
    values = mixed(np.random.default_rng(2), groups, weights, np.array([[1.0, 1, 1], [2, 2, 0.5]]))
    truth = np.linalg.inv(weights) * values.std(axis=0)
    assert same_rows(linear_unmixings(values, groups, weight=0.02, most=1, seed=0)[0], truth, 0.98)
    assert not same_rows(linear_unmixings(values, groups, weight=0.0, most=1, seed=3)[0], truth, 0.98)


def test_several_are_different_and_sorted(rng, groups):
    values = rng.normal(size=(len(groups), 3))  # nothing changes: any rotation does
    found = linear_unmixings(values, groups, weight=0.0, most=3, seed=0)
    assert found.shape == (3, 3, 3)
    for a in range(3):
        for b in range(a):
            assert not same_rows(found[a], found[b], 0.96)


def test_groups():
    assert groups_of(Domain.of(["b", "a", "b"])).tolist() == [1, 0, 1]
    u = np.linspace(0, 1, 80)[:, None] * [1.0, -3.0]
    found = groups_of(Domain(u, None))
    assert np.bincount(found).tolist() == [10] * 8
    assert (
        len(np.unique(np.diff(found[np.argsort(u[:, 0])]).clip(-1, 1))) == 2
    )  # in order along u, one way or the other


def test_restarts_begin_at_each_in_turn_and_then_by_chance():
    data = lt.generators.sparse_mixing(latents=3, rows_per_domain=300, seed=0)
    model = (
        lt.CGVAE()
        .set_params(epochs=1, flow__blocks=1, flow__components=2, flow__optimiser="adam", restarts=1, progress=False)
        .fit(data)
    )
    starts = model.priors.facts.starts
    module = model.module_
    begun = [np.asarray(model.begun(module, restart).inner.flow.last.weight) for restart in range(len(starts) + 1)]
    for start, found in zip(starts, begun, strict=False):
        assert np.allclose(found, start, atol=1e-6)
    assert np.array_equal(begun[-1], np.asarray(module.inner.flow.last.weight))
    assert np.array_equal(model.begun(module, 0).inner.flow.blocks.linear.weight, jnp.eye(3)[None])
    other = lt.CGVAE(seed=1)
    other.record_ = model.record_
    assert np.array_equal(other.begun(module, 0).inner.flow.last.weight, model.begun(module, 1).inner.flow.last.weight)


def test_a_heavy_penalty_begins_where_a_light_one_does():
    """A linear map bears less of it than a bent one."""
    data = lt.generators.sparse_mixing(rows_per_domain=300, seed=3)
    light, heavy = (lt.CGVAE(sparsity=weight)._starts(data, exact=True) for weight in (0.02, 5.0))
    assert np.array_equal(light, heavy)
    for lighter in (0.0, 0.01):
        assert not np.array_equal(light, lt.CGVAE(sparsity=lighter)._starts(data, exact=True))


def test_fewer_tries_for_more_latents_and_groups():
    assert [tries_for(latents, 2) for latents in (1, 8, 16, 50)] == [512, 512, 128, 64]
    assert [tries_for(4, groups) for groups in (2, 64, 128, 5000)] == [512, 512, 256, 64]
