"""Where estimators meet their edges: ties, copies, units in sentences, intervals that cannot be had."""

import numpy as np
import pytest
from scipy.signal import lfilter

from latentry.errors import DataError
from latentry.generators import information_tasks as it
from latentry.information import entropy, independence_test, mutual_information, total_correlation
from latentry.information.critic_bounds import report_terms
from latentry.information.mixed_variables import category_columns
from latentry.information.normalisers import normalise
from latentry.information.ranks import uniforms
from latentry.information.student_copula import fit_gaussian_copula
from latentry.information.uncertainty import local_permutation, stratified_permutation

# --- ties and copies --------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", ["auto", "mixed"])
def test_a_tied_column_beside_a_label(estimator):
    # 3 x 2 cells, 2000 rows: the estimate of a zero has a spread near .001
    rng = np.random.default_rng(0)
    values, label = rng.integers(0, 3, 2000), rng.integers(0, 2, 2000)
    assert abs(mutual_information(values * 1.0, label, estimator=estimator, confidence=None)) < 0.01
    own = mutual_information(values * 1.0, values, estimator=estimator, confidence=None)
    assert own == pytest.approx(np.log(3), abs=0.01)


def test_ksg2_and_total_correlation_count_copies():
    labels = np.random.default_rng(0).integers(0, 3, (600, 3)) * 1.0
    same = mutual_information(labels[:, 0], labels[:, 0], estimator="ksg2", confidence=None)
    assert same == pytest.approx(np.log(3), abs=0.02)
    assert abs(total_correlation(labels, confidence=None)) < 0.06
    assert any("repeat another row" in s for s in total_correlation(labels, confidence=None).warnings)


def test_labels_as_columns_are_at_distance_one():
    codes = np.random.default_rng(0).integers(0, 300, 500)
    columns = category_columns(codes)
    assert columns.shape == (500, 9)  # not one column a label
    distance = np.max(np.abs(columns[:, None] - columns[None]), axis=2)
    np.testing.assert_array_equal(distance, codes[:, None] != codes[None])


# --- infinite information ---------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", ["auto", "ksg", "gaussian"])
@pytest.mark.parametrize(
    ("function", "words"),
    [(lambda x: 3 * x[:, :1], "increasing functions"), (lambda x: -np.exp(x[:, 1:]), "decreasing functions"),
     (lambda x: x @ [[1.0], [2.0]], "linear combination"), (lambda x: x[:, :1], "the same numbers")],
)  # fmt: skip
def test_functions_of_each_other_have_no_upper_limit(estimator, function, words):
    x = np.random.default_rng(0).standard_normal((300, 2))
    found = mutual_information(x, function(x), estimator=estimator)
    assert any(words in s and "infinite" in s for s in found.warnings)
    assert found.high == np.inf


def test_a_noisy_function_is_no_function():
    x = np.random.default_rng(0).standard_normal((300, 2))
    noisy = x + 1e-3 * np.random.default_rng(1).standard_normal((300, 2))
    assert np.isfinite(mutual_information(x, noisy, estimator="ksg").high)
    coin = np.random.default_rng(0).integers(0, 2, 300) * 1.0
    assert np.isfinite(mutual_information(coin, coin, estimator="ksg").high)  # one bit, not infinite


# --- conditions -------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", ["auto", "gaussian"])
def test_what_the_condition_determines_tells_nothing(estimator):
    x, y = it.task("dense normal 2x2").sample(300, seed=0)
    assert mutual_information(x, y, given=x, estimator=estimator, confidence=None) == 0


@pytest.mark.parametrize("n", [6, 12, 100])
def test_auto_conditional_however_few_the_rows(n):
    found = mutual_information(*np.random.default_rng(0).standard_normal((3, n, 4)))
    assert np.isfinite(found)
    assert any("too few" in s for s in found.warnings) == (n <= 24)


# --- sentences --------------------------------------------------------------------------------------


def test_sentences_speak_the_units_of_the_answer():
    rng = np.random.default_rng(0)
    s = rng.standard_normal((600, 2))
    x, y = (np.hstack([v, 0.05 * rng.standard_normal((600, 6))]) for v in (s, s + rng.standard_normal((600, 2))))
    for units in ("nats", "bits"):
        found = mutual_information(x, y, estimator="ksg", units=units)
        assert any(f"instead of {found:.3f} {units}" in words for words in found.warnings)
        assert units in mutual_information(s, s**3 + rng.standard_normal((600, 2)), units=units).reason


def test_settings_that_are_not_used_are_said():
    x, y = it.task("normal 1x1").sample(100, seed=0)
    how = {"estimator": "gaussian", "k": 7, "scan_scale": True, "confidence": None}
    assert mutual_information(x, y, **how).warnings == (
        "k=7 is not used by estimator='gaussian'",
        "scan_scale=True is not used by estimator='gaussian'",
    )
    assert any("normalize=None was not used" in s for s in mutual_information(x, y, normalize=None).warnings)


def test_no_interval_is_said_and_invents_no_disagreement():
    x, y = it.task("normal 1x1").sample(40, seed=0)
    found = mutual_information(x, y, estimator="ksg")
    assert np.isnan(found.low)
    assert found.warnings == ("too few rows for an interval: give more, or read the value alone",)
    rare = np.random.default_rng(0).integers(0, 150, 300)  # parts of the rows hold each label once
    assert np.isnan(mutual_information(rare, np.random.default_rng(1).standard_normal(300)).low)


# --- entropies --------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", ["knn", "gaussian"])
@pytest.mark.parametrize("exponent", [-900, -10, 700])
def test_entropy_moves_by_the_logarithm_of_the_scale(estimator, exponent):
    x = np.random.default_rng(0).standard_normal((200, 2))
    moved = entropy(np.ldexp(x, exponent), estimator=estimator, confidence=None)
    assert moved == pytest.approx(entropy(x, estimator=estimator, confidence=None) + 2 * exponent * np.log(2), abs=1e-9)


def test_whole_numbers_measured_by_a_continuous_entropy_are_numbers():
    whole = np.random.default_rng(0).integers(0, 10**6, 500) * 1000
    assert entropy(whole, estimator="gaussian") == pytest.approx(entropy(whole * 1.0, estimator="gaussian"))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: entropy(x, confidence=95), "between 0 and 1"),
        (lambda x: entropy(np.ones((50, 1)), estimator="gaussian"), "−∞"),
        (lambda x: total_correlation(x, confidence=95), "between 0 and 1"),
        (lambda x: total_correlation(x, normalize="whiten"), "removes the very dependence"),
        (lambda x: independence_test(x[:, 0], x[:, 1], permutations=0), "nothing to compare with"),
    ],
)
def test_more_refusals(call, words):
    with pytest.raises(DataError, match=words):
        call(np.random.default_rng(0).standard_normal((100, 2)))


def test_total_correlation_with_a_constant_column():
    x = np.random.default_rng(0).standard_normal((300, 2)) @ np.array([[1.0, 0.7], [0.0, 0.7]])
    for estimator in ("ksg", "gaussian"):
        wide = total_correlation(np.hstack([x, np.ones((300, 1))]), estimator=estimator, confidence=None)
        assert wide == total_correlation(x, estimator=estimator, confidence=None)
        assert "constant" in wide.warnings[0]
    assert total_correlation(np.ones((30, 2))) == 0
    assert entropy(x, k=35).low < entropy(x, k=35)  # parts of the rows hold more than k


# --- errors -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("bound", ["mine", "nwj", "infonce", "smile"])
def test_the_error_of_a_critic_is_its_spread_over_samples(bound):
    # 150 replications: the standard deviation itself is known to 6 %, the bar is five times that
    rng, rho, n = np.random.default_rng(0), 0.75, 150
    values, errors = [], []
    for _ in range(150):
        x = rng.standard_normal((n, 1))
        y = rho * x + np.sqrt(1 - rho**2) * rng.standard_normal((n, 1))
        ratio = -0.5 * np.log1p(-(rho**2)) - (rho**2 * (x**2 + y.T**2) - 2 * rho * x @ y.T) / (2 * (1 - rho**2))
        terms = report_terms(1.3 * ratio + 0.3 * np.sin(x) + 0.3 * y.T + (bound == "nwj"), bound)
        values.append(terms.mean())
        errors.append(terms.std(ddof=1) / np.sqrt(n))
    assert np.std(values) == pytest.approx(np.mean(errors), rel=0.3)


def test_the_error_at_independence_does_not_vanish():
    # one row in five has a correlation so small that the log-ratio alone would promise certainty; 200 draws, 95 % expected
    rng = np.random.default_rng(0)
    held = 0
    for _ in range(200):
        ranks = uniforms(rng.standard_normal((200, 2)))
        copula = fit_gaussian_copula(ranks, 1)
        held += abs(copula.information) < 1.96 * copula.error(copula.log_ratio(copula.scores(ranks)))
    assert held >= 180


def _slow(rng, n, memory=0.95):
    """A normal row that forgets only a twentieth a step; the first is drawn from the law of all."""
    noise = rng.standard_normal(n) * np.sqrt(1 - memory**2)
    noise[0] = rng.standard_normal()
    return lfilter([1.0], [1.0, -memory], noise)


def test_intervals_of_rows_in_time():
    # rho^2 = 1/2 with errors of memory .95: some 75 independent stretches in 3000 rows; 40 intervals of 95 %
    rng, truth = np.random.default_rng(0), 0.5 * np.log(2)
    held = np.zeros(2)
    for _ in range(40):
        x = _slow(rng, 3000)
        y = x + _slow(rng, 3000)
        for i, time in enumerate((False, True)):
            found = mutual_information(x, y, estimator="gaussian", time=time)
            held[i] += found.low < truth < found.high
    assert held[0] < 28  # rows taken for independent: far too sure
    assert held[1] >= 32  # fails with probability 1e-3 if 95 % hold


# --- shuffles ---------------------------------------------------------------------------------------


def test_shuffles_given_labels_stay_within_them_and_use_every_row_once():
    labels = np.random.default_rng(0).integers(0, 4, 300)
    who = stratified_permutation(labels, np.random.default_rng(1))
    np.testing.assert_array_equal(labels[who], labels)
    assert len(np.unique(who)) == 300
    assert not np.array_equal(who, np.arange(300))


def test_local_shuffles_of_tied_rows_use_nearly_all_of_them():
    z = np.random.default_rng(0).integers(0, 2, (400, 1)) * 1.0
    who = local_permutation(z, np.random.default_rng(1))
    np.testing.assert_array_equal(z[who], z)
    assert len(np.unique(who)) > 300


def test_conditional_tests_do_not_depend_on_units():
    rng = np.random.default_rng(0)
    z = rng.standard_normal((150, 2))
    x, y = z[:, 0] + rng.standard_normal(150), z[:, 0] + rng.standard_normal(150)
    p = [
        independence_test(x, y, given=z * [1, size], permutations=19, normalize="std").p_value
        for size in (1.0, 2.0**40)
    ]
    assert p[0] == p[1]


def test_the_test_given_labels_is_exact():
    # y and x both follow the label; 50 p-values, P(p <= .1) = .1: more than 14 of them has probability 1e-4
    rng = np.random.default_rng(0)
    low = 0
    for i in range(50):
        label = rng.integers(0, 3, 60)
        x, y = label + rng.standard_normal((2, 60))
        low += independence_test(x, y, given=label, estimator="mixed", permutations=9, seed=i).p_value <= 0.1
    assert low <= 14


def test_whitening_is_stable_where_eigenvalues_meet():
    x = np.vstack([np.eye(3), -np.eye(3)] * 10) + 1e-13 * np.random.default_rng(0).standard_normal((60, 3))
    np.testing.assert_allclose(normalise(x, "whiten"), normalise(np.round(x, 9), "whiten"), atol=1e-9)


@pytest.mark.parametrize("decimals", [2, 1, 0])
def test_rounding_makes_no_information(decimals):
    """Independent normals of spread 3, 300 rows, 20 draws: the mean strays by about .01; taken as they are, they read .1 to .2."""
    from latentry.information.ksg import ksg_local
    from latentry.information.mixed_variables import ross_local

    rng, numbers, labels = np.random.default_rng(1), [], []
    for _ in range(20):
        x, y = np.round(3 * rng.normal(size=(2, 300, 1)), decimals)
        numbers.append(ksg_local(x, y, k=3).mean())
        labels.append(ross_local(x, rng.integers(0, 3, 300), k=3).mean())
    assert abs(np.mean(numbers)) < 0.04
    assert abs(np.mean(labels)) < 0.04


def test_rounding_loses_no_information():
    """Normals of correlation .9, rounded finely: the answer is the one without rounding."""
    from latentry.information.ksg import ksg_local

    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, 1))
    y = 0.9 * x + np.sqrt(1 - 0.81) * rng.normal(size=(2000, 1))
    assert abs(ksg_local(np.round(x, 2), np.round(y, 2)).mean() - ksg_local(x, y).mean()) < 0.03


@pytest.mark.parametrize(
    ("setting", "words"),
    [({"confidence": "a"}, "confidence='a'"), ({"k": "a"}, "k='a'"), ({"estimator": 5}, "estimator=5"), ({"units": 5}, "units=5"),
     ({"normalize": 5}, "normalize=5"), ({"discrete": 5}, "discrete=5")],
)  # fmt: skip
def test_settings_of_a_wrong_type_are_named(setting, words, rng):
    with pytest.raises(DataError, match=words):
        mutual_information(rng.normal(size=50), rng.normal(size=50), **setting)


def test_permutations_of_a_wrong_type_are_named(rng):
    with pytest.raises(DataError, match="permutations='a'"):
        independence_test(rng.normal(size=50), rng.normal(size=50), permutations="a")


def test_numbers_whose_squares_overflow_are_refused(rng):
    """Columns that pass for constant would read as no information; up to 1e150 the answer is that of other units."""
    x = rng.normal(size=(200, 4))
    y = x + rng.normal(size=(200, 4))
    assert mutual_information(x * 1e150, y) == pytest.approx(mutual_information(x, y), rel=1e-9)
    with pytest.raises(DataError, match="x: .*overflow"):
        mutual_information(x * 1e200, y)


@pytest.mark.parametrize("n", [3, 4, 5, 6, 7])
def test_few_rows_are_answered_alike_where_nobody_names_a_number_of_neighbours(rng, n):
    """Five rows were refused for k=5, which nobody had asked for; three and four were answered."""
    found = mutual_information(rng.normal(size=n), rng.normal(size=n))
    assert "too few rows for an interval: give more, or read the value alone" in found.warnings
    assert np.isfinite(float(found))
    if n == 5:
        with pytest.raises(DataError, match="k=5: 5 rows are too few"):
            mutual_information(rng.normal(size=n), rng.normal(size=n), k=5)
