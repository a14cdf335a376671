"""The public functions: invariance, truths, intervals, warnings, refusals."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latentry.errors import DataError
from latentry.evidence import Estimate
from latentry.generators import information_tasks as it
from latentry.information import (
    NORMALISERS,
    entropy,
    independence_test,
    mutual_information,
    pairwise,
    total_correlation,
)
from latentry.information.normalisers import normalise
from latentry.information.uncertainty import local_permutation, permutation_p_value, subsampling_error

FAST = ["ksg", "ksg2", "gaussian", "student", "binned", "mixed", "single_radius"]
FACTORS = st.floats(1e-12, 1e12)


def rows(seed, n=120, dims=(2, 3)):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, dims[0])) @ np.array([[1.0, 0.4], [0.0, 1.0]])[: dims[0], : dims[0]]
    y = rng.standard_normal((n, dims[1]))
    y[:, 0] += x[:, 0]
    return x, y


# --- units ------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 10**6), FACTORS, FACTORS, st.sampled_from(FAST), st.sampled_from(sorted(set(NORMALISERS) - {"none"}))
)
def test_no_normalised_estimate_depends_on_units(seed, a, b, estimator, normalize):
    x, y = rows(seed)
    one = mutual_information(x, y, estimator=estimator, normalize=normalize, confidence=None)
    two = mutual_information(a * x, b * y, estimator=estimator, normalize=normalize, confidence=None)
    assert two == pytest.approx(one, rel=1e-9, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(-300, 300), st.integers(-300, 300), st.sampled_from(FAST))
def test_powers_of_two_change_no_bit(seed, p, q, estimator):
    x, y = rows(seed)
    one = mutual_information(x, y, estimator=estimator, confidence=None)
    assert mutual_information(np.ldexp(x, p), np.ldexp(y, q), estimator=estimator, confidence=None) == one


@pytest.mark.parametrize(("a", "b"), [(1e-12, 1e12), (1e12, 1e-12), (3e-7, 5.0)])
def test_auto_does_not_depend_on_units(a, b, monkeypatch):
    monkeypatch.setattr("latentry.information.canonical_variates.FEATURES", 60)
    x, y = it.task("spiral of two-pair normal 3x3").sample(600, seed=0)
    one, two = mutual_information(x, y), mutual_information(a * x, b * y)
    assert two == pytest.approx(one, rel=1e-9)
    assert (two.low, two.high, two.method) == (pytest.approx(one.low), pytest.approx(one.high), one.method)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), FACTORS, FACTORS, FACTORS, st.sampled_from(["ksg", "gaussian", "binned", "mixed"]))
def test_conditional_estimates_do_not_depend_on_units(seed, a, b, c, estimator):
    x, y = rows(seed)
    z = x[:, :1] + np.random.default_rng(seed).standard_normal((len(x), 1))
    one = mutual_information(x, y, z, estimator=estimator, confidence=None)
    assert mutual_information(a * x, b * y, c * z, estimator=estimator, confidence=None) == pytest.approx(
        one, rel=1e-9, abs=1e-12
    )


def test_without_a_normaliser_units_matter():
    x, y = it.task("two-pair normal 3x3").sample(600, seed=0)
    assert mutual_information(x, y, estimator="ksg", normalize=None, confidence=None) > 0.5
    assert mutual_information(x, 1e-6 * y, estimator="ksg", normalize=None, confidence=None) == pytest.approx(
        0, abs=1e-9
    )


def test_every_normaliser_is_scale_equivariant_and_centred():
    x = np.random.default_rng(0).standard_normal((50, 3)) * [1, 10, 0.1] + 5
    for name in set(NORMALISERS) - {"none"}:
        np.testing.assert_allclose(normalise(7e5 * x, name), normalise(x, name), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(normalise(x, name).mean(axis=0), 0, atol=1e-12)


def test_normalisers_set_the_size_they_promise():
    x = np.random.default_rng(0).standard_normal((50, 3)) * [1, 10, 0.1] + 5
    assert np.mean(np.sum(normalise(x, "l2") ** 2, axis=1)) == pytest.approx(1)
    assert np.mean(normalise(x, "rms") ** 2) == pytest.approx(1)
    assert np.mean(np.max(np.abs(normalise(x, "linf")), axis=1)) == pytest.approx(1)
    np.testing.assert_allclose(normalise(x, "std").std(axis=0), 1)
    np.testing.assert_allclose(np.cov(normalise(x, "whiten").T, bias=True), np.eye(3), atol=1e-9)
    np.testing.assert_array_equal(np.argsort(normalise(x, "copula"), axis=0), np.argsort(x, axis=0))


def test_whitening_drops_what_other_columns_determine():
    x = np.random.default_rng(0).standard_normal((50, 2))
    assert normalise(np.hstack([x, x.sum(axis=1, keepdims=True)]), "whiten").shape == (50, 2)


# --- values -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "picked"),
    [("half-cube of two-pair normal 3x3", "gaussian"), ("Student 3x3 df=2", "student"), ("additive uniform 0.1", "ksg1"),
     ("spiral of two-pair normal 3x3", "canonical"), ("dense normal 25x25", "gaussian")],
)  # fmt: skip
def test_auto_picks_by_evidence_and_says_so(name, picked):
    task = it.task(name)
    x, y = task.sample(2000, seed=0)
    found = mutual_information(x, y)
    assert found.method.startswith(f"auto: {picked}")
    assert found.reason
    assert abs(found - task.truth) < (0.4 if picked == "canonical" else 0.09)
    expected = {"canonical": "learned functions", "ksg1": "still grows"}.get(
        picked, "cannot refute" if task.dim_x > 3 else ""
    )
    assert (expected in found.warnings[0]) if expected else found.warnings == ()


def test_auto_learns_from_some_of_many_rows(monkeypatch):
    for module in ("automatic_choice", "drawn_rows"):
        monkeypatch.setattr(f"latentry.information.{module}.MOST_ROWS", 1200)
    x, y = it.task("spiral of two-pair normal 3x3").sample(1800, seed=0)
    found = mutual_information(x, y)
    assert "canonical" in found.method
    assert found.n == 1800


def test_auto_reads_nothing_where_there_is_nothing():
    for name in ("normal 1x1", "Student 2x2 df=2", "dense normal 5x5", "spiral of two-pair normal 3x3"):
        x, y = it.independent(it.task(name)).sample(1500, seed=0)
        assert abs(mutual_information(x, y, confidence=None)) < 0.04, name


@pytest.mark.parametrize("task", it.conditional_tasks(), ids=lambda t: t.name)
def test_auto_conditional(task):
    found = mutual_information(*task.sample(2000, seed=0))
    assert abs(found - task.truth) < 0.06
    assert found.method == "auto: gaussian"


def test_auto_conditional_beyond_correlation():
    rng = np.random.default_rng(0)
    z, x = rng.standard_normal((2, 2000))
    y = x**2 + z + 0.3 * rng.standard_normal(2000)
    found = mutual_information(x, y, z, confidence=None)
    assert found > 0.7
    assert found.method.startswith("auto: ksg1")


def test_types_choose_the_estimator():
    x, y = it.mixed_tasks()[0].sample(1500, seed=0)
    found = mutual_information(x, y, confidence=None)
    assert found.method.startswith("mixed (Ross")
    assert abs(found - it.mixed_tasks()[0].truth) < 0.1
    assert mutual_information(y, x, confidence=None) == found
    assert mutual_information(x, x, confidence=None).method == "discrete"
    as_floats = mutual_information(x * 1.0, y, confidence=None)  # floats full of ties
    assert as_floats.method.startswith("auto: repeated values, counted apart")
    assert abs(as_floats - found) < 0.02
    words = np.array(["a", "b", "c"])[x[:, 0]]
    assert mutual_information(words, y, discrete=("x",), confidence=None) == found
    assert mutual_information(x, y, given=x, confidence=None) == pytest.approx(0, abs=1e-9)


def test_small_columns_noise_or_signal_is_said():
    rng = np.random.default_rng(0)
    s = rng.standard_normal((1000, 2))
    x = np.hstack([s, 0.05 * rng.standard_normal((1000, 6))])
    y = np.hstack([s + rng.standard_normal((1000, 2)), 0.05 * rng.standard_normal((1000, 6))])
    found = mutual_information(x, y, estimator="ksg")
    assert any("normalize='std'" in sentence for sentence in found.warnings)
    even = mutual_information(s, s + rng.standard_normal((1000, 2)), estimator="ksg")
    assert even.warnings == ()


def test_the_scale_scan_does_not_invent_information():
    x, y = it.independent(it.task("dense normal 3x3")).sample(400, seed=0)
    plain = mutual_information(x, y, estimator="ksg", confidence=None)
    scanned = mutual_information(x, y, estimator="ksg", scan_scale=True, confidence=None)
    assert scanned - plain < 0.02
    x, y = it.task("two-pair normal 3x3").sample(400, seed=0)
    assert mutual_information(x, y, estimator="ksg", scan_scale=True, confidence=None) > 0.5


def test_bits():
    x, y = it.task("normal 1x1").sample(300, seed=0)
    nats, bits = (mutual_information(x, y, units=u) for u in ("nats", "bits"))
    assert bits == pytest.approx(nats / np.log(2))
    assert bits.high == pytest.approx(nats.high / np.log(2))
    assert "bits" in str(bits)


def test_the_same_seed_gives_the_same_answer():
    x, y = it.task("spiral of two-pair normal 3x3").sample(400, seed=0)
    one, two = (mutual_information(x, y, seed=5) for _ in range(2))
    assert one == two
    assert one.as_dict() == two.as_dict()


# --- uncertainty ------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", ["auto", "ksg"])
def test_intervals_cover(estimator):
    # 40 intervals of 95 %: fewer than 32 cover with probability 3e-4 for a correct method
    task = it.task("normal 1x1")
    found = [mutual_information(*task.sample(600, seed), estimator=estimator, k=5) for seed in range(40)]
    assert sum(e.low < task.truth < e.high for e in found) >= 32
    assert np.mean([e.high - e.low for e in found]) < 0.25


def test_subsampling_knows_the_error_of_a_mean():
    data = np.random.default_rng(0).standard_normal(5000)
    error, freedom = subsampling_error(lambda part: float(data[part].mean()), 5000)
    assert 0.4 / np.sqrt(5000) < error < 2.0 / np.sqrt(5000)
    assert freedom == 9
    assert np.isnan(subsampling_error(lambda part: 0.0, 40)[0])


def test_permutation_p_values_are_uniform_under_independence():
    # 100 p-values on the grid {0.05, ..., 1}: a Kolmogorov distance above 0.195 has probability 1e-3
    rng = np.random.default_rng(0)
    p = [independence_test(*rng.standard_normal((2, 60)), permutations=19, seed=i).p_value for i in range(100)]
    grid = np.arange(1, 21) / 20
    assert max(abs(np.mean(np.array(p) <= g + 1e-9) - g) for g in grid) < 0.195


def test_permutation_test_sees_dependence_and_conditional_independence():
    x, y, z = it.conditional_tasks()[0].sample(300, seed=0)
    assert independence_test(x, y, permutations=39).p_value == 1 / 40
    assert independence_test(x, y, given=z, permutations=39).p_value > 0.05
    x, y, z = it.conditional_tasks()[1].sample(300, seed=0)
    assert independence_test(x, y, given=z, permutations=39).p_value == 1 / 40
    assert "local shuffles" in str(independence_test(x, y, given=z, permutations=3))


def test_p_values_are_never_zero():
    assert permutation_p_value(9.0, np.zeros(99)) == 0.01


def test_local_shuffles_stay_near():
    z = np.random.default_rng(0).uniform(size=(200, 1))
    who = local_permutation(z, np.random.default_rng(1))
    assert np.max(np.abs(z[who] - z)) < 0.15
    assert len(np.unique(who)) > 150


# --- other quantities ---------------------------------------------------------------------------------


def test_entropies():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((4000, 2))
    truth = np.log(2 * np.pi * np.e)
    for estimator in ("knn", "gaussian"):
        found = entropy(x, estimator=estimator)
        assert abs(found - truth) < 0.1
        assert found.low < found < found.high
    assert entropy(rng.integers(0, 8, 5000), units="bits") == pytest.approx(3, abs=0.01)
    with pytest.raises(DataError, match="did you mean 'knn'"):
        entropy(x, estimator="kn")


def test_total_correlation_of_equicorrelated_normals():
    x, y = it.task("dense normal 2x2").sample(5000, seed=0)
    four = np.full((4, 4), 0.5) + 0.5 * np.eye(4)
    truth = -0.5 * np.linalg.slogdet(four)[1]
    for estimator in ("gaussian", "ksg"):
        assert abs(total_correlation(np.hstack([x, y]), estimator=estimator) - truth) < 0.08
    with pytest.raises(DataError, match="x: it has 1 column"):
        total_correlation(x[:, :1])
    with pytest.raises(DataError, match="Known: gaussian, ksg"):
        total_correlation(x, estimator="none")


def test_pairwise_is_symmetric_and_agrees():
    x, _ = it.task("dense normal 3x3").sample(300, seed=0)
    table = pairwise(x)
    np.testing.assert_array_equal(table, table.T)
    assert table[0, 2] == mutual_information(x[:, 0], x[:, 2], estimator="ksg", confidence=None)
    assert pairwise(x, x[:, :2]).shape == (3, 2)


# --- what cannot be answered, and what can with a word of caution --------------------------------------

X = np.arange(12.0)[:, None] ** 1.5
BAD = [
    ({"x": X, "y": X[:5]}, "y: it has 5 rows and x has 12"),
    ({"x": X, "y": np.where(X > 9, np.nan, X)}, "y: it is nan at row 5, column 0"),
    ({"x": X, "y": np.full((12, 2), np.inf)}, r"24 such values"),
    ({"x": X, "y": X * 1j}, "complex"),
    ({"x": X, "y": np.array(["1", "b"] * 6)}, r"discrete=\('y',\)"),
    ({"x": X, "y": X, "given": np.empty((12, 0))}, "given: it has no columns. Leave given out"),
    ({"x": np.empty((0, 1)), "y": np.empty((0, 1))}, "x: it has no rows"),
    ({"x": np.zeros((3, 3, 3)), "y": X}, "x: it has 3 dimensions"),
    ({"x": X[:3], "y": X[:3] ** 2, "estimator": "ksg"}, "k=3: 3 rows are too few"),
    ({"x": X, "y": X, "estimator": "kgs"}, "did you mean 'ksg'"),
    ({"x": X, "y": X, "normalize": "lnf"}, "did you mean 'linf'"),
    ({"x": X, "y": X, "discrete": ("z",)}, "names no variable"),
    ({"x": X, "y": X, "discrete": ("x",), "estimator": "ksg"}, "measures numbers, not labels"),
    ({"x": X, "y": X, "units": "bit"}, "did you mean 'bits'"),
    ({"x": X, "y": X**2, "estimator": "discrete", "correction": "bays"}, "did you mean 'bayes'"),
    ({"x": X, "y": X**2, "confidence": 95.0}, "between 0 and 1"),
    ({"x": X, "y": X, "given": X, "estimator": "single_radius"}, "no conditional form"),
    ({"x": X, "y": X, "given": X, "estimator": "student"}, "no conditional form"),
    ({"x": X, "y": X, "given": X**2, "estimator": "ksg", "scan_scale": True}, "Leave given out"),
    ({"x": X, "y": np.array([object()] * 12)}, "not numbers"),
    ({"x": X, "y": np.array([{"a": 1}] * 12)}, "not numbers"),
    ({"x": X, "y": np.array([[1], [2, 3]] * 6, dtype=object)}, "not numbers"),
    ({"x": X, "y": np.array(["a", [1]] * 6, dtype=object)}, "text.*'a' at row 0"),
    ({"x": X, "y": np.array(["1.5"] * 12)}, r"text \('1.5' at row 0, column 0\)"),
    ({"x": X, "y": np.ma.masked_array(X, X > 3)}, "masked"),
    ({"x": X, "y": [[1.0], [2.0, 3.0]]}, "rows of different lengths"),
    ({"x": X, "y": np.where(X > 9, np.nan, 1.0), "discrete": ("y",)}, "is no label"),
    ({"x": X, "y": np.array([None, "a"] * 6), "discrete": ("y",)}, "y: it is None at row 0"),
    ({"x": X, "y": X, "k": 0}, "k=0: .* at least 1"),
    ({"x": X, "y": X, "estimator": "binned", "bins": -1}, "bins=-1: .* at least 1"),
    ({"x": X, "y": X, "estimator": "mine", "steps": 2.5}, "steps=2.5: .* whole number"),
    ({"x": X, "y": np.arange(12).astype("datetime64[D]")}, "Convert them to numbers"),
]


@pytest.mark.parametrize(("arguments", "words"), BAD, ids=[w for _, w in BAD])
def test_refusals_name_the_place_and_the_remedy(arguments, words):
    with pytest.raises(DataError, match=words):
        mutual_information(**arguments)


@pytest.mark.parametrize("estimator", ["auto", *FAST])
def test_constants_carry_nothing(estimator):
    found = mutual_information(X, np.ones((12, 2)), estimator=estimator)
    assert isinstance(found, Estimate)
    assert found == 0
    assert found.warnings == ("y is constant: it carries no information, so the answer is 0",)


def test_constant_columns_are_ignored_with_a_word():
    x, y = it.task("dense normal 2x2").sample(200, seed=0)
    wide = np.hstack([x, np.full((200, 1), 3.0)])
    for estimator in ("auto", "ksg", "gaussian"):
        found = mutual_information(wide, y, estimator=estimator, normalize="std", confidence=None)
        assert found == mutual_information(x, y, estimator=estimator, normalize="std", confidence=None)
        assert any("column 2 of x is constant" in sentence for sentence in found.warnings)


@pytest.mark.parametrize("n", [2, 6, 25, 90])
@pytest.mark.parametrize("d", [1, 4, 30])
def test_auto_answers_however_few_the_rows(n, d):
    rng = np.random.default_rng(0)
    found = mutual_information(rng.standard_normal((n, d)), rng.standard_normal((n, d)))
    assert np.isfinite(found)
    assert any("too few to" in s for s in found.warnings) == (n <= 4 * d)
    assert any("too few rows for an interval" in s for s in found.warnings) == np.isnan(found.low) == (n < 10)


def test_auto_of_a_variable_with_a_function_of_itself_is_large_and_finite():
    x = np.random.default_rng(0).standard_normal((300, 1))
    found = mutual_information(x, np.exp(x))
    assert 2 < found < 30


def test_columns_that_others_determine_do_not_break_determinants():
    x, y = it.task("dense normal 2x2").sample(200, seed=0)
    wide = np.hstack([x, x.sum(axis=1, keepdims=True)])
    found = mutual_information(wide, y, estimator="gaussian", confidence=None)
    assert found == pytest.approx(mutual_information(x, y, estimator="gaussian", confidence=None), abs=0.02)


def test_cautions():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((300, 1))
    same = mutual_information(x, x, estimator="ksg", confidence=None)
    assert any("infinite" in s for s in same.warnings)
    rounded = mutual_information(np.round(x, 1), x**2, estimator="ksg", confidence=None)
    assert any("rows of x repeat" in s for s in rounded.warnings)
    wide = rng.standard_normal((300, 10))
    assert any(
        "10 dimensions" not in s and "dimensions" in s
        for s in mutual_information(wide, wide[:, :1] + 1 * x, estimator="ksg", confidence=None).warnings
    )
    assert any("one row" in s for s in mutual_information(wide, x, estimator="binned", confidence=None).warnings)
    assert any(
        "correlations" in s
        for s in mutual_information(wide[:80], x[:80], estimator="gaussian", confidence=None).warnings
    )
