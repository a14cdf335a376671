import numpy as np
import pytest

import latentry as lt
from latentry.generators import SEGMENTS, segments


def test_moments_of_the_sources_are_those_of_the_segments():
    data = segments(domains=6, rows_per_domain=4000, latents=3, means="uniform", seed=2)
    s = np.column_stack([data.factors[f"s{i + 1}"] for i in range(3)])
    spread = np.array([s[data.domain.values == u].std(axis=0) for u in range(6)])
    assert (spread > 0.45).all()
    assert (spread < 3.2).all()
    assert np.ptp(spread) > 1


@pytest.mark.parametrize("base", ["gaussian", "laplace", "secant"])
def test_bases_have_variance_one(base):
    # standard error of a variance over 100,000 draws of these laws is below 0.008: six of them
    from latentry.generators.segments import BASES

    drawn = BASES[base](np.random.default_rng(0), (100_000,))
    assert abs(drawn.var() - 1) < 0.05
    assert abs(drawn.mean()) < 0.03


def test_mixing_is_invertible_and_nonlinear():
    data = segments(domains=5, rows_per_domain=400, latents=2, seed=0)
    s = np.column_stack([data.factors["s1"], data.factors["s2"], np.ones(len(data))])
    missed = data["x"] - s @ np.linalg.lstsq(s, data["x"])[0]
    assert missed.var() > 1e-3 * data["x"].var()
    assert len(np.unique(data["x"].round(9), axis=0)) == len(data)


def test_noise_and_width():
    wide = segments(domains=3, rows_per_domain=50, latents=2, observed=7, noise=0.1, seed=0)
    clean = segments(domains=3, rows_per_domain=50, latents=2, observed=7, noise=0.0, seed=0)
    assert wide["x"].shape == (150, 7)
    assert np.isclose((wide["x"] - clean["x"]).std(), 0.1, atol=0.01)


def test_seeds_are_explicit():
    a, b, c = (segments(domains=2, rows_per_domain=5, latents=2, seed=s)["x"] for s in (1, 1, 2))
    assert (a == b).all()
    assert (a != c).any()


def deviations(data):
    s = np.column_stack(list(data.factors.values()))
    return np.array([s[data.domain.values == u].std(axis=0) for u in range(data.domain.size)])


@pytest.mark.parametrize("name", SEGMENTS)
def test_every_named_variant_can_be_made(name):
    data = segments(**SEGMENTS[name] | {"rows_per_domain": 3}, seed=0)
    assert data.domain.size == SEGMENTS[name].get("domains", 40)
    assert data["x"].shape[1] == SEGMENTS[name].get("observed", len(data.factors))


def test_scales_are_deviations_or_variances_or_fixed_or_common():
    # 20,000 rows: a deviation has a relative standard error of 0.005
    made = {
        kind: deviations(segments(domains=3, rows_per_domain=20_000, latents=2, scales=kind, seed=4))
        for kind in ("deviations", "variances", "fixed", "common")
    }
    assert np.allclose(made["variances"] ** 2, made["deviations"], rtol=0.06)
    assert np.allclose(made["fixed"], 1.75, atol=0.06)
    assert np.allclose(made["common"][:, 0], made["common"][:, 1], rtol=0.04)


def test_matrices_are_repeated_or_fresh():
    """Through tiny sources the network is linear, with 1.1 for each bend: the map shows its matrices."""

    def slope(**changes):
        from latentry.generators.mixings import bent_layers

        return bent_layers(1e-6 * np.eye(3), changes.pop("width", 3), 2, np.random.default_rng(0), **changes) / 1.1e-6

    from latentry.generators.mixings import random_matrix

    first = random_matrix(3, 3, np.random.default_rng(0))
    assert np.allclose(slope(repeat=True), first @ first)
    assert not np.allclose(slope(repeat=False), first @ first)


def test_bernoulli_rows_have_the_log_odds_of_the_network():
    many = {"domains": 2, "rows_per_domain": 20_000, "latents": 2, "observed": 3, "layers": 1, "seed": 0}
    log_odds, drawn = segments(**many)["x"], segments(**many, observations="bernoulli")["x"]
    chance = 1 / (1 + np.exp(-log_odds))
    surplus = (drawn - chance).sum(axis=0) / np.sqrt((chance * (1 - chance)).sum(axis=0))
    assert np.abs(surplus).max() < 5  # standard normals
    assert set(np.unique(drawn)) == {0, 1}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"observed": 1}, "cannot hold 5 latents"),
        ({"means": "zeros"}, "did you mean 'zero'"),
        ({"domains": 0}, "at least 1"),
        ({"scales": "deviation"}, "did you mean 'deviations'"),
        ({"matrices": "fresch"}, "did you mean 'fresh'"),
        ({"observations": "bernouli"}, "did you mean 'bernoulli'"),
        ({"noise": float("nan")}, "noise=nan"),
        ({"seed": 0.5}, "seed=0.5"),
    ],
)
def test_bad_parameters(changes, sentence):
    with pytest.raises(lt.DataError, match=sentence):
        segments(**changes)
