"""Gaussian, Student, discrete and binned estimates against formulas and independent implementations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import mutual_info_score

from latentry.errors import DataError
from latentry.generators import information_tasks as it
from latentry.information import information_of_table, mutual_information
from latentry.information.binned import bin_codes
from latentry.information.discrete import CORRECTIONS, discrete_entropy, discrete_information
from latentry.information.gaussian import gaussian_information, wishart_bias
from latentry.information.ranks import folds, ranks_within, uniforms
from latentry.information.student_copula import (
    EllipticalCopula,
    Ranks,
    fit_gaussian_copula,
    fit_student_copula,
    student_entropy,
)


def test_wishart_bias_is_the_mean_of_log_determinants():
    # 4000 draws of log|S| have a standard error near 0.01: six of them fail once in 10^8 runs
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((4000, 12, 3))
    rows -= rows.mean(axis=1, keepdims=True)
    values = np.linalg.slogdet(np.einsum("bni,bnj->bij", rows, rows) / 11)[1]
    assert abs(values.mean() - wishart_bias(3, 12)) < 6 * values.std() / np.sqrt(4000)


@pytest.mark.parametrize(
    ("name", "tolerance"), [("dense normal 5x5", 0.08), ("dense normal 25x25", 0.08), ("two-pair normal 25x25", 0.1)]
)
def test_the_correction_removes_the_bias(name, tolerance):
    task = it.task(name)
    plain, corrected = [], []
    for seed in range(4):
        x, y = task.sample(1000, seed)
        plain.append(gaussian_information(x, y, correct=False))
        corrected.append(gaussian_information(x, y))
    assert abs(np.mean(corrected) - task.truth) < tolerance
    if task.dim_x == 25:
        assert np.mean(plain) - task.truth > 0.25  # what happens without it


def test_conditional_gaussian_matches_the_partial_correlation():
    for task in it.conditional_tasks():
        x, y, z = task.sample(20_000, seed=1)
        # sd of the estimate is at most rho/sqrt(n) < 0.007: six of them
        assert abs(gaussian_information(x, y, z) - task.truth) < 0.042


def test_canonical_correlations_equal_determinants():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((60, 7)) @ rng.standard_normal((7, 7))
    x, y, z = rows[:, :2], rows[:, 2:5], rows[:, 5:]
    logdets = [np.linalg.slogdet(np.cov(np.hstack(p).T))[1] for p in ((x, z), (y, z), (z,), (x, y, z))]
    biases = [wishart_bias(d, 60) for d in (4, 5, 2, 7)]
    sign = np.array([1, 1, -1, -1])
    assert gaussian_information(x, y, z, correct=False) == pytest.approx(0.5 * sign @ logdets, rel=1e-9)
    assert gaussian_information(x, y, z) == pytest.approx(0.5 * sign @ (np.array(logdets) - biases), rel=1e-9)


def test_determinants_that_vanish():
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 100, 2))
    assert gaussian_information(x, y, x) == 0  # x is known already
    assert gaussian_information(x, np.hstack([y, x @ [[1.0], [2.0]]])) == np.inf
    doubled = np.hstack([x, x[:, :1]])
    assert gaussian_information(doubled, y) == pytest.approx(gaussian_information(x, y), rel=1e-9)


def test_too_few_rows_for_a_determinant():
    with pytest.raises(DataError, match="4 rows, 4 columns"):
        gaussian_information(*np.random.default_rng(0).standard_normal((2, 4, 2)))


@pytest.mark.parametrize(("freedom", "d"), [(1, 1), (2, 3), (7.5, 5)])
def test_student_entropy_against_scipy(freedom, d):
    assert student_entropy(freedom, d) == pytest.approx(stats.multivariate_t.entropy(None, np.eye(d), freedom))


def test_student_log_ratio_against_scipy():
    rng = np.random.default_rng(1)
    correlation = np.array([[1, 0.5, 0.2], [0.5, 1, 0.1], [0.2, 0.1, 1]])
    rows = rng.standard_t(3, (30, 3))
    copula = EllipticalCopula(correlation, 3.0, 1, 100)
    laws = [stats.multivariate_t(shape=c, df=3) for c in (correlation, correlation[:1, :1], correlation[1:, 1:])]
    expected = laws[0].logpdf(rows) - laws[1].logpdf(rows[:, :1]) - laws[2].logpdf(rows[:, 1:])
    np.testing.assert_allclose(copula.log_ratio(rows), expected, rtol=1e-9)
    ranks = stats.t.cdf(rows, 3)
    np.testing.assert_allclose(copula.scores(ranks), rows, rtol=1e-9)
    theirs = laws[0].logpdf(rows) - stats.t.logpdf(rows, 3).sum(axis=1)
    np.testing.assert_allclose(copula.log_density(Ranks.of(ranks)), theirs, rtol=1e-9)


def test_gaussian_copula_density_against_scipy():
    rows = np.random.default_rng(1).standard_normal((30, 2))
    correlation = np.array([[1, 0.5], [0.5, 1]])
    copula = EllipticalCopula(correlation, np.inf, 1, 100)
    theirs = stats.multivariate_normal.logpdf(rows, cov=correlation) - stats.norm.logpdf(rows).sum(axis=1)
    np.testing.assert_allclose(copula.log_density(Ranks.of(stats.norm.cdf(rows))), theirs, atol=1e-9)


@pytest.mark.parametrize("name", ["Student 1x1 df=1", "Student 3x3 df=2", "asinh of Student 5x5 df=2"])
def test_student_copula_finds_the_freedom_and_the_information(name):
    task = it.task(name)
    x, y = task.sample(4000, seed=0)
    copula = fit_student_copula(uniforms(np.hstack([x, y])), task.dim_x)
    df = int(name[-1])
    assert 0.8 * df < copula.freedom < 1.25 * df
    assert abs(copula.information - task.truth) < 0.07  # five standard errors of sd(log-ratio)/sqrt(n)
    assert fit_gaussian_copula(uniforms(np.hstack([x, y])), task.dim_x).information < 0.02  # its correlations are zero


def test_normal_data_keep_the_gaussian_copula():
    x, y = it.task("dense normal 3x3").sample(2000, seed=0)
    ranks = uniforms(np.hstack([x, y]))
    heavy = fit_student_copula(ranks, 3)
    assert heavy.information == pytest.approx(fit_gaussian_copula(ranks, 3).information, abs=0.01)


# --- labels -----------------------------------------------------------------------------------------


def test_plug_in_equals_scikit_learn():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 5, 300)
    y = (x + rng.integers(0, 3, 300)) % 7
    assert discrete_information(x, y, correction="plugin") == pytest.approx(mutual_info_score(x, y), abs=1e-12)


def test_conditional_plug_in_is_an_average_over_strata():
    rng = np.random.default_rng(1)
    x, y, z = (rng.integers(0, 3, 500) for _ in range(3))
    strata = sum(np.mean(z == v) * mutual_info_score(x[z == v], y[z == v]) for v in range(3))
    assert discrete_information(x, y, z, correction="plugin") == pytest.approx(strata, abs=1e-12)


def test_jackknife_by_leaving_rows_out():
    labels = np.random.default_rng(0).integers(0, 4, 40)
    full = CORRECTIONS["plugin"](np.bincount(labels))
    left = [CORRECTIONS["plugin"](np.bincount(np.delete(labels, i))) for i in range(40)]
    assert discrete_entropy(labels, "jackknife") == pytest.approx(40 * full - 39 * np.mean(left), abs=1e-10)


def test_bayes_is_the_posterior_mean():
    counts = np.array([7, 2, 1])
    draws = np.random.default_rng(0).dirichlet(counts + 0.5, 200_000)
    entropies = stats.entropy(draws, axis=1)
    assert abs(CORRECTIONS["bayes"](counts) - entropies.mean()) < 6 * entropies.std() / np.sqrt(200_000)


@pytest.mark.parametrize("conditional", [False, True])
def test_bayes_is_the_posterior_mean_of_the_information(conditional):
    # Dirichlet(½) over the whole table; the mean over draws has an error near .0005: six of them fail once in 10^8 runs
    rng = np.random.default_rng(0)
    x, y, z = rng.integers(0, 2, 15), rng.integers(0, 3, 15), rng.integers(0, 2, 15) * conditional
    counts = np.zeros((2, 3, 2 if conditional else 1))
    np.add.at(counts, (x, y, z), 1)
    draws = rng.dirichlet(counts.ravel() + 0.5, 40_000).reshape(-1, *counts.shape)
    h = lambda *gone: stats.entropy(draws.sum(axis=gone).reshape(len(draws), -1), axis=1)  # noqa: E731
    informed = h(2) + h(1) - h(1, 2) - stats.entropy(draws.reshape(len(draws), -1), axis=1)  # H(XZ)+H(YZ)−H(Z)−H(XYZ)
    found = discrete_information(x, y, z if conditional else None, correction="bayes")
    assert abs(found - informed.mean()) < 6 * informed.std() / np.sqrt(len(draws))


@pytest.mark.parametrize("correction", ["miller_madow", "jackknife"])
def test_corrections_lessen_the_bias(correction):
    rng = np.random.default_rng(0)
    draws = [rng.integers(0, 20, 100) for _ in range(300)]
    plain = np.mean([discrete_entropy(d, "plugin") for d in draws]) - np.log(20)
    better = np.mean([discrete_entropy(d, correction) for d in draws]) - np.log(20)
    assert abs(better) < 0.3 * abs(plain)


def test_tables_are_exact():
    p = np.array([[0.3, 0.1], [0.2, 0.4]])
    expected = np.sum(p * np.log(p / np.outer(p.sum(1), p.sum(0))))
    assert information_of_table(p) == pytest.approx(expected, abs=1e-14)
    xor = np.zeros((2, 2, 2))
    for x in (0, 1):
        for y in (0, 1):
            xor[x, y, x ^ y] = 0.25
    assert information_of_table(xor) == pytest.approx(np.log(2), abs=1e-14)
    assert information_of_table(xor.sum(axis=2)) == pytest.approx(0, abs=1e-14)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (np.ones((2, 2)), "sum to 4"),
        (np.array([[-0.5, 1.5]]), ">= 0"),
        (np.ones(3) / 3, "1 axes. Give 2 or 3"),
        ([[np.nan, 1]], ">= 0"),
    ],
)
def test_tables_that_are_none(table, words):
    with pytest.raises(DataError, match=words):
        information_of_table(table)


# --- bins: Proposition 1 of the scale-invariance results ----------------------------------------------


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.floats(1e-12, 1e12), st.floats(1e-12, 1e12))
def test_bins_with_moving_edges_do_not_notice_scale(seed, a, b):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((80, 2))
    y = x[:, :1] + rng.standard_normal((80, 1))
    one, two = (mutual_information(*pair, estimator="binned", confidence=None) for pair in ((x, y), (a * x, b * y)))
    assert two == pytest.approx(one, rel=1e-9, abs=1e-12)


def test_values_on_the_edges_of_bins_do_not_notice_scale():
    rng = np.random.default_rng(0)
    x = np.round(rng.uniform(size=(300, 1)), 1)
    y = np.round(x + 0.3 * rng.standard_normal((300, 1)), 1)
    how = {"estimator": "binned", "bins": 10, "confidence": None}
    found = {float(mutual_information(a * x, b * y, **how)) for a, b in ((1, 1), (3, 7), (0.1, 1e-7), (1 / 3, 1e9))}
    assert len(found) == 1


def test_labels_are_boxes_already():
    t = np.random.default_rng(0).standard_normal((300, 1))
    found = mutual_information(np.arange(300), t, estimator="binned", bins=6, correction="plugin", confidence=None)
    share = np.histogram(t, bins=6)[0] / 300
    assert found == pytest.approx(stats.entropy(share))  # every row its own label: the entropy of the boxes


def test_bins_against_numpy():
    x = np.random.default_rng(0).standard_normal((200, 1))
    counts = np.bincount(bin_codes(x, 7))
    expected = np.histogram(x, bins=7)[0]
    np.testing.assert_array_equal(counts, expected[expected > 0])


# --- ranks ------------------------------------------------------------------------------------------


def test_ranks_of_new_rows_agree_with_a_count():
    rng = np.random.default_rng(0)
    reference, new = rng.integers(0, 9, (50, 2)) * 1.0, rng.integers(0, 9, (20, 2)) * 1.0
    expected = [
        [(np.sum(reference[:, j] < v) + np.sum(reference[:, j] <= v)) / 2 for j, v in enumerate(row)] for row in new
    ]
    np.testing.assert_allclose(ranks_within(reference, new), (np.array(expected) + 0.5) / 51)


def test_folds_are_a_partition():
    parts = folds(11, 3, seed=0)
    assert sorted(np.concatenate(parts)) == list(range(11))
    assert max(map(len, parts)) - min(map(len, parts)) <= 1


def test_counts_do_not_depend_on_how_far_codes_are_apart():
    """A table of all combinations for codes that are close, sorted rows for others: the same to the bit."""
    x, y, z = np.random.default_rng(0).integers(-2, 3, (3, 200))
    for correction in ("plugin", "miller_madow", "jackknife", "bayes"):
        near = discrete_information(x, y + x, z, correction=correction)
        assert discrete_information(10**6 * x, y + x, 10**5 * z - 7, correction=correction) == near
