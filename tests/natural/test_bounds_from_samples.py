"""Confidence bounds: coverage at the stated level, tightness, and the pieces they are made of."""

import numpy as np
import pytest
from scipy.stats import binom

from latentry.errors import DataError
from latentry.generators import near_miss, planted_natural
from latentry.natural import Claim, as_rows, gaussian_total_correlation, mean_upper, mediation_error
from latentry.natural.from_samples.divergence_ball import largest_divergence, radius
from latentry.natural.from_samples.error_verdicts import holm
from latentry.natural.from_samples.fresh_counts import Fresh
from latentry.natural.from_samples.likelihood_ratio import Ratio, discrete_ratio, gaussian_ratio, joint_codes
from latentry.natural.from_samples.mediation_bounds import Table, mediation_upper, tabulate


def allowed(runs, level, failure=1e-6):
    """Most misses that an honest bound makes in so many runs, except with the given failure rate."""
    return int(binom.isf(failure, runs, level))


LAWS = {
    "rare large values": lambda rng, n: (rng.random(n) < 0.02).astype(float),
    "small values": lambda rng, n: rng.beta(0.5, 20, n),
    "even": lambda rng, n: rng.random(n),
}
MEANS = {"rare large values": 0.02, "small values": 0.5 / 20.5, "even": 0.5}


@pytest.mark.parametrize("method", ["betting", "bernstein"])
@pytest.mark.parametrize("law", LAWS)
def test_finite_sample_bounds_cover(method, law):
    """300 runs at level 0.1; an honest bound fails this test once in a million."""
    rng = np.random.default_rng(1)
    missed = sum(mean_upper(LAWS[law](rng, 60), 1.0, 0.1, method) < MEANS[law] for _ in range(300))
    assert missed <= allowed(300, 0.1)


@pytest.mark.parametrize("method", ["bootstrap", "t"])
def test_large_sample_bounds_cover_when_rows_are_many(method):
    """200 runs of 400 even rows at level 0.1, allowed 1.3 times the level for their asymptotics."""
    rng = np.random.default_rng(2)
    runs = 200 if method == "t" else 60
    missed = sum(mean_upper(rng.random(400), 1.0, 0.1, method) < 0.5 for _ in range(runs))
    assert missed <= allowed(runs, 0.13)


def test_bounds_tighten_with_rows_and_scale():
    rng = np.random.default_rng(0)
    rows = rng.beta(1, 30, 2000)
    for method in ("betting", "bernstein", "bootstrap", "t"):
        few, many = mean_upper(rows[:200], 1.0, 0.05, method), mean_upper(rows, 1.0, 0.05, method)
        assert rows.mean() < many < few + 0.02
        assert mean_upper(rows, 1.0, 0.2, method) < many
    assert mean_upper(3 * rows, 3.0, 0.05) == pytest.approx(3 * mean_upper(rows, 1.0, 0.05), rel=1e-6)
    assert mean_upper(rows, 1.0, 0.05) < mean_upper(rows, 1.0, 0.05, "bernstein")
    assert mean_upper(rows, 1.0, 1e-5, "bootstrap") == np.inf
    assert mean_upper(np.ones(50), 1.0, 0.05) == 1.0


def test_bad_means():
    with pytest.raises(DataError, match=r"needs values in \[0, 1\]; they reach 2"):
        mean_upper(np.array([0.0, 2.0]), 1.0, 0.05)
    with pytest.raises(DataError, match="at least 2 rows"):
        mean_upper(np.array([0.0]), 1.0, 0.05)
    with pytest.raises(DataError, match="did you mean 'betting'"):
        mean_upper(np.zeros(5), 1.0, 0.05, "beting")


def test_the_radius_solves_its_equation_and_covers():
    """1000 draws at level 0.1: the ball is conservative, so fewer misses than the level are certain enough."""
    n, cells, delta = 200, 5, 0.1
    t = radius(n, cells, delta)
    tail = np.exp(-n * t) * (np.e * n * t / (cells - 1)) ** (cells - 1)
    assert tail == pytest.approx(delta)
    rng = np.random.default_rng(0)
    law = rng.dirichlet(np.ones(cells))
    counts = rng.multinomial(n, law, size=1000) / n
    ratio = np.divide(counts, law, out=np.ones_like(counts), where=counts > 0)
    assert np.mean((counts * np.log(ratio)).sum(axis=1) > t) <= delta
    assert radius(10, 1, 0.1) == 0.0


@pytest.mark.parametrize("seed", range(6))
def test_the_largest_divergence_against_brute_force(seed):
    """Three cells: no distribution of a dense grid inside the ball beats the dual bound, and the bound is nearly reached."""
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(150, rng.dirichlet(np.ones(3))).astype(float)
    reference = np.log(rng.dirichlet(np.full(3, 4.0)))
    bound = largest_divergence(counts, reference, 0.05)
    a, b = np.meshgrid(np.linspace(1e-9, 1, 700), np.linspace(1e-9, 1, 700))
    grid = np.stack([a, b, 1 - a - b], axis=-1).reshape(-1, 3)
    grid = grid[grid[:, 2] > 1e-9]
    p_hat = counts / counts.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = np.where(p_hat > 0, p_hat * np.log(p_hat / grid), 0.0).sum(axis=1)
    inside = grid[distance <= radius(150, 3, 0.05)]
    best = (inside * (np.log(inside) - reference)).sum(axis=1).max()
    assert best <= bound + 1e-9
    assert bound <= best * 1.15 + 0.03


def rows_of(family, n, seed):
    sample = family.sample(n, seed)
    named = {"a": sample.observables[:, 0], "b": sample.observables[:, 1]}
    return as_rows(
        named,
        sample.latent,
        blocks=None,
        domain=sample.domain,
        noise=None,
        quantiser=None,
        fit=0.5,
        seed=seed,
    )


@pytest.mark.parametrize(("error", "n"), [(0.02, 4000), (0.1, 1000)])
def test_mediation_bounds_cover_in_domains_and_mixtures(error, n):
    """15 runs with two bounds at level 0.05; more misses of either would happen once in a million.

    Rows are so many that the bounds are below three times the error: bounds cut to 0.3 of their size would miss."""
    family = near_miss(error)
    missed = np.zeros(2)
    for seed in range(15):
        rows = rows_of(family, n, seed)
        tables = [tabulate(rows, rows.inside(rows.untouched, j), 0) for j in range(len(rows.domains))]
        missed += [mediation_upper(some, 0.05) < error for some in (tables[:1], tables)]
    assert missed.max() <= allowed(15, 0.05)


def test_mediation_bounds_tighten():
    family = planted_natural()
    uppers = [
        mediation_upper([tabulate(rows, rows.inside(rows.untouched, 0), 0)], 0.05)
        for rows in (rows_of(family, n, 0) for n in (500, 5000, 50_000))
    ]
    assert uppers[0] > 5 * uppers[1] > 25 * uppers[2]
    assert uppers[2] < 0.005


def test_the_worst_table_has_the_whole_level_and_does_not_depend_on_the_fresh_rows(monkeypatch):
    asked = []

    def spy(self, reference, delta):
        asked.append((reference.tolist(), delta))
        return float(len(asked))

    monkeypatch.setattr(Fresh, "largest_divergence", spy)
    few, many = np.full(9, 20.0), np.arange(9) + 20.0
    tables = [
        Table((3, 3), 10.0 + fresh, np.eye(3)[np.arange(9) % 3], False, fresh, 180.0)  # the same rows besides
        for fresh in (few, many)
    ]
    assert mediation_upper(tables, 0.1) == 2.0
    assert asked[0] == asked[1]
    assert asked[0][1] == 0.1


def test_labels_that_disagree_make_a_table_of_labels():
    """A noisy latent given as labels: the cells are then those of (X, Λ)."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, (3000, 2))
    latent = (rng.random(3000) < 0.3).astype(int)
    rows = as_rows(
        {"a": x[:, 0], "b": x[:, 1]}, latent, blocks=None, domain=None, noise=None, quantiser=None, fit=0.5, seed=0
    )
    table = tabulate(rows, rows.untouched, 0)
    assert table.labelled
    assert len(table.counts) == 8
    assert 0.0 < mediation_upper([table], 0.05) < 0.02
    joint = table.joint() / table.rows
    plug_in = mediation_error(joint.sum(axis=-1), joint / joint.sum(axis=-1, keepdims=True))
    assert plug_in == pytest.approx(discrete_ratio([x[:, 0], x[:, 1]], latent).value, abs=1e-12)


def test_ratio_at_zero_is_chi_square():
    """Mean of 2N·TC over 300 runs: dof ± 5 standard errors, fails once in a million."""
    rng = np.random.default_rng(0)
    stats = []
    for _ in range(300):
        z = rng.integers(0, 2, 500)
        ratio = discrete_ratio([rng.integers(0, 3, 500), rng.integers(0, 3, 500)], z)
        stats.append(ratio.statistic)
    assert ratio.freedom == 8
    assert np.mean(stats) == pytest.approx(8 * 1.01, abs=5 * np.sqrt(16 / 300))


@pytest.mark.parametrize("error", [0.0, 0.01, 0.3])
def test_ratio_intervals_cover(error):
    """80 runs of both sides at level 0.05 with 2 % of room for their asymptotics."""
    rng = np.random.default_rng(3)
    agree = 0.5 if error == 0 else float(near_miss(error).laws[0][0, 0] / near_miss(error).laws[0][:2, :2].sum() * 2)
    truth = float(np.log(2) + agree * np.log(agree) + (1 - agree) * np.log(1 - agree))
    high = low = 0
    for _ in range(80):
        x = rng.integers(0, 2, 800)
        y = np.where(rng.random(800) < agree, x, 1 - x)
        ratio = discrete_ratio([x, y], np.zeros(800, dtype=int))
        high += ratio.upper(0.05) < truth - 1e-12
        low += ratio.lower(0.05) > truth + 1e-12
    assert max(high, low) <= allowed(80, 0.07)


def test_gaussian_ratio_matches_the_closed_form_and_covers():
    rng = np.random.default_rng(0)
    truth = np.array([[1.0, 0.3, 0.5], [0.3, 1.0, 0.4], [0.5, 0.4, 1.0]])
    exact = gaussian_total_correlation(truth, [[0], [1]], [2])
    partial = (0.3 - 0.2) / np.sqrt((1 - 0.25) * (1 - 0.16))
    assert exact == pytest.approx(-0.5 * np.log(1 - partial**2))
    missed = 0
    for _ in range(100):
        rows = rng.multivariate_normal(np.zeros(3), truth, size=400)
        ratio = gaussian_ratio(np.cov(rows, rowvar=False), 400, [[0], [1]], [2])
        missed += not ratio.lower(0.05) <= exact <= ratio.upper(0.05)
    assert missed <= allowed(100, 0.12)


def test_the_bias_is_taken_off():
    assert Ratio(0.01, freedom=8, rows=1000, variance=0.1, crowding=50).corrected == pytest.approx(0.006)
    assert Ratio(0.001, freedom=8, rows=1000, variance=0.1, crowding=50).corrected == 0.0


def test_power_grows_with_rows_and_size():
    rng = np.random.default_rng(0)
    few, many = (discrete_ratio([rng.integers(0, 2, n), rng.integers(0, 2, n)], np.zeros(n, int)) for n in (100, 2000))
    assert few.power(0.01, 0.05) < many.power(0.01, 0.05)
    assert many.power(0.01, 0.05) > 0.99
    assert many.power(1e-9, 0.05) == pytest.approx(0.05, abs=1e-3)


def test_holm_by_hand():
    claims = [
        Claim(str(p), "x", verdict=None, epsilon=0.5, retry=lambda delta, p=p: 0.0 if delta >= p else 1.0)
        for p in (0.04, 0.01, 0.02, 0.3)
    ]
    assert [claim.p_certify for claim in claims] == pytest.approx([0.04, 0.01, 0.02, 0.3], rel=0.01)
    # 0.01 ≤ 0.05/4; 0.02 > 0.05/3 stops it.
    assert holm(claims, 0.05) == ("0.01 in x",)
    assert holm(claims, 0.1) == ("0.01 in x", "0.02 in x", "0.04 in x")


def test_rare_cells_are_not_overlooked():
    """Most dependence sits in rare cells; 40 runs at level 0.05, more than 9 misses: twice in 10⁵."""
    law = np.full((4, 4), 0.001)
    law[0, 0] = 1 - law.sum() + law[0, 0] - 0.03
    law[1, 1] = law[2, 2] = law[3, 3] = 0.011
    truth = mediation_error(law / law.sum(), np.ones((4, 4, 1)))
    missed = 0
    for seed in range(40):
        cells = np.random.default_rng(seed).choice(16, 400, p=(law / law.sum()).ravel())
        columns = {"a": np.append(cells // 4, range(4)), "b": np.append(cells % 4, range(4))}
        rows = as_rows(
            columns, np.zeros(404, int), blocks=None, domain=None, noise=None, quantiser=None, fit=0.5, seed=seed
        )
        table = tabulate(rows, np.arange(400), seed)
        missed += mediation_upper([table], 0.05) < truth
    assert missed <= 9


@pytest.mark.parametrize("seed", range(30))
def test_counts_of_combinations_match_sorting(seed):
    """Against np.unique over rows, with negative, sparse and very large codes."""
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(2, 300))
    columns = [rng.integers(-3, [2, 50, 10**7][seed % 3], rows) for _ in range(int(rng.integers(1, 5)))]
    codes = joint_codes(columns)
    _, slow = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
    np.testing.assert_array_equal(codes, slow.ravel())
    ratio = discrete_ratio(columns, columns[0])
    levels = [[len(np.unique(c[columns[0] == v])) for c in columns] for v in np.unique(columns[0])]
    assert ratio.freedom == sum(int(np.prod(row)) - 1 - sum(n - 1 for n in row) for row in levels)
