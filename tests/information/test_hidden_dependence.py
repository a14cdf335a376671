"""What `auto` used to miss in silence: repeated values, pairs of columns, dependence behind an answer near zero."""

import numpy as np
import pytest

from latentry.information import mutual_information
from latentry.information.atoms import has_atoms
from latentry.information.blocks import as_blocks
from latentry.information.column_pairs import dependent_pairs
from latentry.information.hidden_dependence import hidden_dependence
from latentry.information.questions import Question

PAIR = -0.5 * np.log1p(-(0.8**2))


def normal_pair(rng, n, rho=0.8):
    x = rng.standard_normal(n)
    return x, rho * x + np.sqrt(1 - rho**2) * rng.standard_normal(n)


# --- repeated values --------------------------------------------------------------------------------


@pytest.mark.parametrize("shared", [True, False])
def test_zeros_among_numbers_are_counted_apart(shared):
    # 95 % of 30: fewer than 24 once in a thousand runs; neighbour counts of all rows together read 0.80 where zeros are shared
    truth = (0.6 * PAIR - 0.4 * np.log(0.4) - 0.6 * np.log(0.6)) if shared else 0.36 * PAIR
    held = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        x, y = normal_pair(rng, 600)
        zero = rng.random(600) < 0.4
        x, y = np.where(zero, 0, x), np.where(zero if shared else rng.random(600) < 0.4, 0, y)
        found = mutual_information(x, y)
        assert "repeated values, counted apart" in found.method
        held += found.low <= truth <= found.high
    assert held >= 24


def test_what_counts_as_repeated_values(rng):
    x, y = normal_pair(rng, 400)
    assert not has_atoms(Question(*as_blocks(x, y)))
    assert not has_atoms(Question(*as_blocks(x.round(1), y)))  # rounded: no value of its own
    assert has_atoms(Question(*as_blocks(np.maximum(x, -0.5), y)))


def test_several_columns_with_several_atoms(rng):
    x, y = normal_pair(rng, 1500)
    noise = np.maximum(rng.standard_normal(1500), 0)
    found = mutual_information(np.stack([np.clip(x, -1, 1), noise], axis=1), np.maximum(y, -1))
    fewer = mutual_information(np.clip(x, -1, 1), np.maximum(y, -1))
    assert abs(found - fewer) < 0.1
    assert 0.25 < fewer < PAIR


# --- pairs of columns -------------------------------------------------------------------------------


def test_waves_in_each_of_three_columns_are_read(rng):
    x = rng.uniform(-1, 1, (1000, 3))
    y = np.sin(6 * x) + 0.3 * rng.standard_normal((1000, 3))
    found = mutual_information(x, y)
    assert found.method.startswith("auto: ksg1 on 3 pairs of columns")
    assert abs(found / 2.590 - 1) < 0.1
    assert found.low < 2.590 < found.high


def test_columns_that_repeat_each_other_are_not_summed(rng):
    x = rng.uniform(-1, 1, (800, 1))
    y = np.sin(6 * x) + 0.3 * rng.standard_normal((800, 1))
    twice = dependent_pairs(np.hstack([x, x + 0.01 * rng.standard_normal((800, 1))]), np.hstack([y, y]))
    assert len(twice.columns) == 2
    assert not twice.adds_up
    assert len(twice.measured) == 1


def test_independent_columns_have_no_pairs():
    # level 0.001 each: one of forty with probability 0.04, two with 0.001
    found = [dependent_pairs(*np.random.default_rng(s).standard_normal((2, 400, 5))) for s in range(40)]
    assert sum(bool(pairs.columns) for pairs in found) <= 1


# --- answers near zero ------------------------------------------------------------------------------


def test_tests_of_dependence_find_what_they_should_and_keep_their_level():
    # three tests at 0.005 and pairs at 0.001: four of twenty with probability 3e-4
    wrong = 0
    for seed in range(20):
        x, y = np.random.default_rng(seed).standard_normal((2, 300, 3))
        wrong += hidden_dependence(x, y, seed) is not None
    assert wrong <= 3
    rng = np.random.default_rng(0)
    x = rng.standard_normal((300, 2))
    length = np.linalg.norm(x, axis=1)[:, None] + 0.1 * rng.standard_normal((300, 2))
    assert hidden_dependence(x, length, 0) is not None


def test_an_answer_near_zero_beside_found_dependence_has_no_upper_end(rng, monkeypatch):
    monkeypatch.setattr("latentry.information.automatic_choice.hidden_dependence", lambda *_: "HSIC, p = 0.005")
    found = mutual_information(*rng.standard_normal((2, 400, 3)))
    assert found.high == np.inf
    assert any("depend on each other (HSIC, p = 0.005)" in words for words in found.warnings)
