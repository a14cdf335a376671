"""IMCA, GIN, Poisson curves, content and style: what their parameters promise."""

import inspect

import numpy as np
import pytest

import latentry as lt
from latentry.generators import GENERATORS, content_style, gin, imca, poisson_curve
from latentry.generators.mixings import couplings, leaky_relu, rotation, turned_layers

SMALL = {
    "segments": {"domains": 3, "rows_per_domain": 20},
    "imca": {"domains": 3, "rows_per_domain": 20},
    "gin": {"domains": 3, "rows": 60},
    "poisson_curve": {"rows": 60},
    "content_style": {"domains": 3, "rows_per_domain": 20},
}
CONTRACTED = sorted(set(GENERATORS) & set(SMALL))


def factors(data):
    return np.column_stack(list(data.factors.values()))


@pytest.mark.parametrize("name", CONTRACTED)
def test_every_generator_keeps_the_contract(name):
    make = GENERATORS[name]
    a, b, c = (make(**SMALL[name], seed=seed) for seed in (1, 1, 2))
    assert a.fingerprint == b.fingerprint
    assert a.fingerprint != c.fingerprint
    assert len(a) == 60
    assert np.isfinite(a["x"]).all()
    assert a.domain is not None
    assert len(factors(a)) == 60
    assert all(p.kind is p.KEYWORD_ONLY for p in inspect.signature(make).parameters.values())


@pytest.mark.parametrize("name", CONTRACTED)
def test_every_generator_can_fix_its_scales(name):
    data = GENERATORS[name](**SMALL[name] | {"scales": "fixed"}, seed=0)
    assert len(data) == 60
    with pytest.raises(lt.DataError, match="scales='fixd' is not known; did you mean 'fixed'"):
        GENERATORS[name](scales="fixd")
    with pytest.raises(lt.DataError, match="seed=-1: .* whole number of at least 0"):
        GENERATORS[name](seed=-1)


def test_two_layers_of_imca_are_one_leaky_relu_and_one_rotation():
    data = imca(domains=4, rows_per_domain=100, layers=2, seed=3)
    bent = leaky_relu(factors(data), 0.2)
    turn = np.linalg.lstsq(bent, data["x"])[0]
    assert np.allclose(bent @ turn, data["x"])
    assert np.allclose(turn.T @ turn, np.eye(5))


def test_one_layer_of_imca_is_no_mixing_at_all():
    data = imca(domains=2, rows_per_domain=10, layers=1)
    assert (data["x"] == factors(data)).all()


def test_precisions_of_imca_differ_between_segments_only_on_the_diagonal():
    # with 200,000 rows an entry of a precision near 1 has a standard error below 0.01
    data = imca(domains=2, rows_per_domain=200_000, latents=3, seed=1)
    s, u = factors(data), data.domain.values
    one, two = (np.linalg.inv(np.cov(s[u == k].T)) for k in (0, 1))
    off = ~np.eye(3, dtype=bool)
    assert np.allclose(one[off], two[off], atol=0.05)
    assert np.abs(one[off]).max() > 0.1
    assert np.abs(np.diag(one - two)).max() > 0.3


def test_without_dependence_imca_is_nonlinear_ica():
    data = imca(domains=1, rows_per_domain=50_000, latents=3, dependence=0.0, seed=0)
    assert np.abs(np.corrcoef(factors(data).T)[~np.eye(3, dtype=bool)]).max() < 0.03  # 6 standard errors


def test_gin_has_informative_and_silent_latents():
    data = gin(rows=20_000, seed=0)
    s, u = factors(data), data.domain.values
    centres = np.array([s[u == k].mean(axis=0) for k in range(5)])
    assert np.ptp(centres[:, :2], axis=0).min() > 1
    assert np.ptp(centres[:, 2:], axis=0).max() < 0.005
    assert np.allclose(s[:, 2:].std(axis=0), 0.01, rtol=0.05)
    assert np.linalg.matrix_rank(np.cov(data["x"].T)) == 10


def test_couplings_are_invertible_and_bend():
    """The Jacobian by differences is far from singular everywhere, and not constant."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(20, 4))

    def jacobian(x):
        steps = np.concatenate([x + h * np.eye(4) for h in (1e-6, -1e-6)])
        out = couplings(steps, 3, 6, np.random.default_rng(1), clamp=2.0)
        return (out[:4] - out[4:]) / 2e-6

    tables = np.array([jacobian(x) for x in points])
    assert (np.abs(np.linalg.det(tables)) > 1e-4).all()
    assert np.ptp(tables, axis=0).max() > 0.01


def test_moments_along_the_poisson_curve():
    data = poisson_curve(rows=40_000, seed=0)
    u, s = data.domain.values[:, 0], factors(data)
    near = np.abs(u - np.pi / 2) < 0.1  # about 1270 rows; means (1.57, 2), variances (0.3, 0.3)
    assert np.allclose(s[near].mean(axis=0), [np.pi / 2, 2], atol=0.1)
    assert np.allclose(s[near].var(axis=0), [0.3, 0.3], atol=0.06)
    assert (data["x"] >= 0).all()
    assert (data["x"] == data["x"].round()).all()


def test_rates_of_the_poisson_curve_are_those_of_its_signal():
    counts, signal = poisson_curve(rows=20_000, seed=1), poisson_curve(rows=20_000, counts=False, seed=1)
    rate = np.exp(2.2 * np.tanh(signal["x"]))
    surplus = (counts["x"] - rate).sum(axis=0) / np.sqrt(rate.sum(axis=0))
    assert np.abs(surplus).max() < 5  # 100 standard normals: above 5 once in 17,000 runs


def test_labels_of_the_poisson_curve_have_variances_not_deviations():
    data = poisson_curve(rows=100_000, domains=5, seed=0)
    variances = np.array([factors(data)[data.domain.values == k].var(axis=0) for k in range(5)])
    assert (variances > 0.45).all()
    assert (variances < 3.2).all()


def test_only_style_changes_with_the_domain():
    data = content_style(rows_per_domain=4000, seed=0)
    s, u = factors(data), data.domain.values
    centres = np.array([s[u == k].mean(axis=0) for k in range(9)])
    assert np.abs(centres[:, :2]).max() < 0.1  # 6 standard errors
    assert np.ptp(centres[:, 2:], axis=0).min() > 2
    flat = content_style(rows_per_domain=10, layers=1, seed=0)
    turn = np.linalg.lstsq(factors(flat), flat["x"])[0]
    assert np.allclose(turn.T @ turn, np.eye(4))


def test_rotations_are_orthogonal_and_layers_of_none_change_nothing():
    rng = np.random.default_rng(0)
    turn = rotation(6, rng)
    assert np.allclose(turn @ turn.T, np.eye(6))
    x = rng.normal(size=(5, 3))
    assert (turned_layers(x, 0, 0.2, rng) == x).all()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: imca(slope=0), "slope=0: .* finite number above 0"),
        (lambda: imca(dependence=-1), "dependence=-1: .* finite number of at least 0"),
        (lambda: imca(layers=0), "layers=0"),
        (lambda: gin(informative=1, uninformative=0), "a coupling needs two halves"),
        (lambda: gin(spread=0), "spread=0"),
        (lambda: poisson_curve(neurons=3), "neurons=3: .* whole number of at least 4"),
        (lambda: poisson_curve(rows=3, domains=5), "rows=3: .* 5 domains"),
        (lambda: content_style(changing=0), "changing=0"),
        (lambda: content_style(domains=True), "domains=True"),
    ],
)
def test_bad_parameters(call, sentence):
    with pytest.raises(lt.DataError, match=sentence):
        call()
