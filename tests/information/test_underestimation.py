"""Signs that an answer is too low: growth that has not ended, patterns that a Gaussian copula leaves behind."""

import numpy as np
import pytest

from latentry.data import normal_scores
from latentry.generators import information_tasks as it
from latentry.information import mutual_information
from latentry.information.underestimation import extrapolated, residue


@pytest.mark.parametrize("rate", [1.0, 0.5, 1 / 3])
def test_extrapolation_is_exact_for_a_power_law(rate):
    truth, bias = 1.0, lambda size: 0.3 * size**rate
    assert truth - bias(1) + extrapolated(truth - bias(1), truth - bias(2), rate) == pytest.approx(truth)
    assert extrapolated(0.5, 0.6, rate) == 0


def test_a_gaussian_copula_is_seldom_doubted():
    # level .01: more than 5 alarms in 100 draws have probability 5e-4
    rng = np.random.default_rng(0)
    mix = rng.standard_normal((6, 6))
    alarms = 0
    for _ in range(100):
        rows = normal_scores(np.exp(rng.standard_normal((400, 6)) @ mix / 3))
        alarms += residue(rows[:, :3], rows[:, 3:]).refuted
    assert alarms <= 5


@pytest.mark.parametrize(
    ("bend", "where"),
    [(lambda x, e: x**2 + e, "curved"), (lambda x, e: np.abs(x).sum(axis=1, keepdims=True) * e, "spreads"),
     (lambda x, e: x * np.sum(x**2, axis=1, keepdims=True) * 0.3 + x + e, "coefficients")],
)  # fmt: skip
def test_what_a_gaussian_copula_misses_is_named(bend, where):
    rng = np.random.default_rng(0)
    x, e = rng.standard_normal((2, 2000, 3))
    found = residue(x, bend(x, e))  # not on scores, which would hide the third
    assert found.refuted
    assert where in found.where


@pytest.mark.parametrize(
    "name", ["spiral of two-pair normal 25x25", "spiral of two-pair normal 5x5", "additive uniform 0.1"]
)
def test_low_answers_are_said_to_be_low_and_their_upper_ends_are_raised(name):
    task = it.task(name)
    found = mutual_information(*task.sample(2000, seed=11))
    assert found < task.truth
    assert any("may still be too low" in s for s in found.warnings)
    assert found.high - found > 1.5 * (found - found.low)
    assert task.truth < found.high + 0.03


def test_many_columns_without_a_pattern_leave_an_assumption():
    x, y = it.task("dense normal 5x5").sample(1000, seed=0)
    found = mutual_information(x, y)
    assert found.warnings == (
        "1000 rows in 10 columns cannot refute a Gaussian copula: the answer and its interval assume it",
    )


def test_a_condition_that_bends_both_is_noticed():
    rng = np.random.default_rng(0)
    z, e, f = rng.standard_normal((3, 1000, 2))
    bent = mutual_information(z**2 + e, z**2 + f, given=z)  # zero in truth; the copula does not see what z explains
    assert any("too low or too high" in s for s in bent.warnings)
    straight = mutual_information(z + e, z + f, given=z, confidence=None)
    assert straight.warnings == ()
