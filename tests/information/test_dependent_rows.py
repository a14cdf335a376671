"""Rows that depend on each other: groups, time, copies; declared and found."""

import numpy as np
import pytest
from scipy.signal import lfilter

from latentry.errors import DataError
from latentry.information import (
    entropy,
    independence_test,
    information_plane,
    mutual_information,
    pairwise,
    total_correlation,
)
from latentry.information.autocorrelation import memory_in_row_order
from latentry.information.blocks import as_blocks
from latentry.information.copies import copy_groups
from latentry.information.questions import Question
from latentry.information.row_structure import Groups, Series

HALF = 0.5 * np.log(2)


def slow(rng, n, memory=0.95):
    noise = rng.standard_normal(n + 300)
    return lfilter([1.0], [1.0, -memory], noise)[300:]


def subjects(rng, groups=50, size=12):
    who = np.repeat(np.arange(groups), size)
    x, y = (rng.standard_normal(groups)[who] + 0.3 * rng.standard_normal(len(who)) for _ in range(2))
    return x, y, who


# --- estimates --------------------------------------------------------------------------------------


def test_copies_are_found_and_counted_once(rng):
    x, y = (np.tile(rng.standard_normal(300), 3) for _ in range(2))
    found = mutual_information(x, y, estimator="ksg")
    assert found.low < 0 < found.high
    assert abs(found) < 0.15  # 3.5 standard errors; read as 900 rows it is 0.9
    assert "900 rows are 300 rows and copies" in found.warnings[0]


@pytest.mark.parametrize("digits", [3, 4, 6])
def test_copies_that_were_rounded_are_found(rng, digits):
    rows = rng.standard_normal((400, 2))
    x, y = np.concatenate([rows, rows.round(digits)]).T
    assert any("copies" in words for words in mutual_information(x, y, estimator="gaussian").warnings)


@pytest.mark.parametrize(
    "spoil",
    [lambda x: x, lambda x: x.round(1), lambda x: x.round(2), lambda x: np.maximum(x, 0), lambda x: np.exp(4 * x)],
)
def test_rounded_censored_and_skewed_rows_are_no_copies(rng, spoil):
    x, y = spoil(rng.standard_normal((2, 800)))
    assert copy_groups(Question(*as_blocks(x, y))) is None


def test_rows_in_no_order_have_no_memory():
    # level 0.001 a variable: two of forty with probability 1e-3
    found = [
        memory_in_row_order(Question(*as_blocks(*np.random.default_rng(s).standard_normal((2, 300)))))
        for s in range(40)
    ]
    assert sum(memory.length > 1 for memory in found) <= 1


def test_memory_in_the_order_of_rows_is_found_and_widens(rng):
    x, y = slow(rng, 1000), slow(rng, 1000)
    found, blind = mutual_information(x, y), mutual_information(x, y, time=False)
    assert found.high - found.low > 3 * (blind.high - blind.low) or blind.low > 0
    assert found.low <= 0
    assert "resemble those before them" in found.warnings[0]
    assert not any("resemble" in words for words in mutual_information(x, y, time=True).warnings)


def test_memory_of_one_variable_alone_matters_not(rng):
    assert memory_in_row_order(Question(*as_blocks(slow(rng, 600), rng.standard_normal(600)))).length == 1


def test_rows_sorted_by_a_label_are_compared_within_it(rng):
    label = np.repeat([0, 1, 2], 200)
    who = np.repeat(np.arange(30), 20)
    free = rng.standard_normal(600) + label
    subject = rng.standard_normal(30)[who] + 0.3 * rng.standard_normal(600) + label
    assert memory_in_row_order(Question(*as_blocks(free, label))).length == 1
    assert memory_in_row_order(Question(*as_blocks(subject, label))).length > 5


def test_rows_sorted_by_numbers_are_said_to_be_so(rng):
    x = np.sort(rng.standard_normal(300))
    found = mutual_information(x, x + rng.standard_normal(300))
    assert any("sorted by a column of x" in words for words in found.warnings)
    assert abs(found - HALF) < 0.2
    quiet = mutual_information(x, x + rng.standard_normal(300), time=False)
    assert not any("sorted" in words for words in quiet.warnings)


def test_groups_count_once(rng):
    x, y, who = subjects(rng)
    found = mutual_information(x, y, groups=who)
    assert found.low < 0 < found.high
    assert "600 rows in 50 groups: mean over 12 draws of 50 rows" in found.reason
    assert mutual_information(x, y, groups=who.astype(str)) == pytest.approx(found, abs=0.01)
    assert mutual_information(x, y, groups=range(600), estimator="ksg") == mutual_information(
        x, y, time=False, estimator="ksg"
    )


def test_intervals_of_groups_hold_the_truth_of_rows_of_different_groups():
    # 95 % of 60, at least 50 but for one run in a thousand; taken for independent rows, fewer than 45
    held = np.zeros(2)
    for seed in range(60):
        rng = np.random.default_rng(seed)
        x, noise, who = subjects(rng, 100, 6)
        y = x + noise
        for i, given in enumerate(({"groups": who}, {"time": False})):
            found = mutual_information(x, y, estimator="gaussian", **given)
            held[i] += found.low < HALF < found.high
    assert held[0] >= 50
    assert held[1] < 45


def test_harmless_groups_cost_little(rng):
    x = rng.standard_normal(1000)
    y, who = x + rng.standard_normal(1000), np.repeat(np.arange(100), 10)
    one, all_rows = mutual_information(x, y, groups=who), mutual_information(x, y)
    assert one.high - one.low < 3 * (all_rows.high - all_rows.low)


def test_too_few_groups_have_no_interval(rng):
    x, y, who = subjects(rng, groups=6, size=50)
    found = mutual_information(x, y, groups=who)
    assert np.isnan(found.low)
    assert any("6 independent rows are too few" in words for words in found.warnings)


# --- tests ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["groups", "time", "copies", "memory"])
def test_permutations_keep_their_level_on_dependent_rows(kind):
    # 40 tests at level 1/10 of independent variables: more than 11 once in 2000 runs; rows shuffled singly, over 25
    rejected = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        x, y, who = subjects(rng, 40, 5)
        given = {"groups": who}
        if kind == "copies":
            x, y, given = *(np.tile(rng.standard_normal(70), 3) for _ in range(2)), {}
        if kind in ("time", "memory"):
            x, y, given = slow(rng, 300, 0.9), slow(rng, 300, 0.9), {"time": True} if kind == "time" else {}
        rejected += independence_test(x, y, estimator="gaussian", permutations=9, seed=seed, **given).p_value <= 0.1
    assert rejected <= 11


def test_whole_groups_change_places(rng):
    x, y, who = subjects(rng)
    found = independence_test(x, x + y, permutations=99, groups=who)
    assert found.p_value == 0.01
    assert found.kind == "50 groups of 12 rows exchanged as wholes"
    assert "shifted in a circle" in independence_test(slow(rng, 300), slow(rng, 300), time=True, permutations=9).kind
    assert "copies" in independence_test(np.tile(x, 2), np.tile(y, 2), permutations=9).kind
    assert "independent rows" in independence_test(slow(rng, 900), slow(rng, 900), permutations=9).kind


def test_conditional_tests_take_one_row_of_each_group(rng):
    x, y, who = subjects(rng)
    z = rng.integers(0, 2, 600)
    found = independence_test(x, y, z, permutations=9, groups=who, estimator="mixed", discrete=("given",))
    assert found.kind == "shuffles within labels among 50 independent rows"


def test_a_series_too_short_for_a_test_is_not_tested(rng):
    found = independence_test(np.cumsum(rng.standard_normal(60)), np.cumsum(rng.standard_normal(60)), permutations=9)
    assert found.p_value == 1
    assert "too few rows to shuffle" in found.kind


def test_groups_of_unequal_size_are_cut_to_one_size(rng):
    who = np.repeat(np.arange(30), [10] * 15 + [9] * 7 + [2] * 4 + [1] * 4)
    structure = Groups(who)
    rows = structure.arranged(rng)
    assert structure.exchange == "22 groups of 9 rows exchanged as wholes"
    np.testing.assert_array_equal(np.bincount(who[rows]), [9] * 22)
    moved = who[rows][structure.shuffled(rng)].reshape(22, 9)
    assert np.all(moved == moved[:, :1])


def test_one_large_group_does_not_drop_the_others(rng):
    who = np.repeat(np.arange(101), [500] + [3] * 100)
    assert Groups(who).exchange == "101 groups of 3 rows exchanged as wholes"
    assert Groups(np.repeat(np.arange(4), [50, 5, 5, 4])).exchange == "4 groups of 4 rows exchanged as wholes"
    x = rng.standard_normal(800)
    assert independence_test(x, x + 0.1 * rng.standard_normal(800), groups=who, permutations=99).p_value == 0.01


def test_draws_take_each_group_once_and_rows_far_apart(rng):
    who = np.array([0, 0, 0, 1, 1, 2])
    for rows in Groups(who).draws(rng):
        np.testing.assert_array_equal(who[rows], [0, 1, 2])
    drawn = Series(np.arange(20), 4).draws(rng)
    assert [np.unique(np.diff(rows)).tolist() for rows in drawn] == [[4]] * 4


def test_time_is_sorted_first(rng):
    x, y = slow(rng, 500), slow(rng, 500)
    order = rng.permutation(500)
    assert mutual_information(x[order], y[order], time=np.arange(500.0)[order], estimator="ksg") == pytest.approx(
        mutual_information(x, y, time=True, estimator="ksg")
    )


@pytest.mark.parametrize(
    ("given", "words"),
    [({"groups": [1, 2]}, "one label for each row"), ({"groups": np.zeros(60)}, "all rows are in one group"),
     ({"groups": [None] * 60}, "labels are missing"), ({"groups": [np.nan] * 60}, "labels are missing"),
     ({"time": np.arange(5)}, "5 numbers and there are 60 rows"), ({"time": ["a"] * 60}, "not numbers"),
     ({"time": [np.nan] * 60}, "moments are missing")],
)  # fmt: skip
def test_what_does_not_fit_the_rows_is_refused(rng, given, words):
    x, y = rng.standard_normal((2, 60))
    with pytest.raises(DataError, match=words):
        mutual_information(x, y, **given)


def test_draws_of_the_user_s_seed_do_not_meet_those_of_the_tests():
    # data made with the same seed as the test; a shared stream would line rows up with shuffles
    for seed in range(3):
        rng = np.random.default_rng(seed)
        x = rng.permutation(200).astype(float)
        y = rng.permutation(200).astype(float)
        assert independence_test(x, y, permutations=99, seed=seed).p_value > 0.01


def test_entropy_counts_groups():
    """Labels of 60 subjects, 20 rows each: of 60 intervals at 95 % fewer than 48 hold the truth with probability under 1e-6."""
    held = {"groups": 0, "rows": 0}
    for seed in range(60):
        rng = np.random.default_rng([21, seed])
        subject = np.repeat(np.arange(60), 20)
        labels = rng.choice(3, p=[0.6, 0.3, 0.1], size=60)[subject]
        truth = -np.dot([0.6, 0.3, 0.1], np.log([0.6, 0.3, 0.1]))
        for name, said in (("groups", {"groups": subject}), ("rows", {"time": False})):
            found = entropy(labels, seed=seed, **said)
            held[name] += found.low <= truth <= found.high
    assert held["groups"] >= 48
    assert held["rows"] < 40


def test_total_correlation_knows_copies_and_groups():
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((300, 3))
    assert total_correlation(rows) < 0.1
    tripled = np.tile(rows, (3, 1))
    assert total_correlation(tripled, time=False, groups=np.arange(900)) > 0.5  # copies as rows of their own
    assert total_correlation(tripled, groups=np.tile(np.arange(300), 3)) < 0.1
    found = total_correlation(tripled)
    assert found < 0.1
    assert any("copies" in words for words in found.warnings)


def test_a_series_in_order_has_fewer_independent_rows():
    walk = slow(np.random.default_rng(4), 2000)
    wide, narrow = (entropy(walk, time=time) for time in (True, False))
    assert wide.high - wide.low > 2 * (narrow.high - narrow.low)
    assert any("series" in words for words in entropy(walk).warnings)


def test_every_measure_takes_groups():
    rng = np.random.default_rng(5)
    x, groups = rng.standard_normal((300, 2)), np.repeat(np.arange(60), 5)
    assert "60 groups" in entropy(x, groups=groups).reason
    assert "60 groups" in total_correlation(x, groups=groups).reason
    assert np.isfinite(pairwise(x, groups=groups)[0, 1])
    point = information_plane({0: [x]}, x, x[:, 0] > 0, groups=groups).points[0]
    assert "60 groups" in point.target_information.reason
    few = entropy(x, groups=np.repeat(np.arange(10), 30))
    assert np.isnan(few.low)
    assert any("too few" in words for words in few.warnings)
