import numpy as np
import pytest

import latentry as lt
from latentry.generators import segments


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
    from latentry.generators.segments import _BASES

    drawn = _BASES[base](np.random.default_rng(0), (100_000,))
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


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"observed": 1}, "cannot hold 5 latents"),
        ({"means": "zeros"}, "did you mean 'zero'"),
        ({"domains": 0}, "at least 1"),
    ],
)
def test_bad_parameters(changes, sentence):
    with pytest.raises(lt.DataError, match=sentence):
        segments(**changes)
