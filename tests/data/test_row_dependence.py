"""Rows that depend on each other, and rows that are copies of each other."""

import numpy as np
import pytest

import latentry as lt
from latentry.data import (
    copy_groups,
    near_rows,
    numbers_of_rows,
    order_dependence,
    repeated_rows,
    sketches,
    time_blocks,
)


def walk(rng, rows, keep):
    steps, series = rng.normal(size=(rows, 2)), np.zeros((rows, 2))
    for t in range(1, rows):
        series[t] = keep * series[t - 1] + steps[t]
    return series


def test_rows_in_random_order_are_rarely_called_dependent():
    """The level is 0.05: of 400 runs 20 are expected, and more than 40 with probability under 1e-5."""
    called = sum(
        order_dependence([rng.normal(size=(200, 2)), rng.integers(0, 3, 200)], rng.integers(0, 4, 200)).p_value <= 0.05
        for rng in map(np.random.default_rng, range(400))
    )
    assert called <= 40


def test_rare_labels_in_random_order_are_no_dependence():
    """Zipf labels: of 300 runs at level 0.01, 3 are expected, and more than 12 have probability under 1e-4."""
    draws = (np.random.default_rng(seed).zipf(1.5, size=400).clip(max=200) for seed in range(300))
    assert sum(order_dependence([labels]).p_value <= 0.01 for labels in draws) <= 12


def test_dependence_of_neighbours_is_found_in_numbers_and_labels(rng):
    series = walk(rng, 600, 0.9)
    found = order_dependence([rng.normal(size=600), series])
    assert found.p_value < 1e-9
    assert found.column in (1, 2)
    assert 600 / 40 < found.effective_rows < 600 / 9  # the true one is n(1 − 0.9)/(1 + 0.9)
    assert order_dependence([np.repeat(["a", "b", "c"], 50)]).p_value < 1e-9
    assert order_dependence([rng.permutation(series)]).p_value > 1e-3


def taking_turns(seed, subjects=12, rows=100, spread=0.8):
    """Rows of subjects who take turns: only rows a multiple of their number apart are alike."""
    rng, subject = np.random.default_rng([8, seed]), np.arange(subjects * rows) % subjects
    labels = rng.permutation(np.arange(subjects) % 3)[subject]
    return spread * rng.normal(size=(subjects, 3))[subject] + rng.normal(size=(len(subject), 3)), labels


@pytest.mark.parametrize("seed", range(5))
def test_subjects_who_take_turns_are_noticed(seed):
    numbers, labels = taking_turns(seed)
    found = order_dependence([numbers])
    assert found.p_value < 1e-6
    assert found.lag in (1, 12, 24)  # neighbouring subjects may be alike by chance
    assert found.effective_rows < 600  # of 1,200
    assert order_dependence([labels]).p_value < 1e-6
    mixed = np.random.default_rng(seed).permutation(len(labels))
    assert order_dependence([numbers[mixed], labels[mixed]]).p_value > 1e-3


def test_rows_in_random_order_are_rarely_called_dependent_at_any_distance():
    """The level is 0.05 over all lags: of 300 tables and 300 columns of labels 15 are expected, more than 30 under 1e-3."""
    draws = [np.random.default_rng([6, seed]) for seed in range(300)]
    tables = sum(order_dependence([rng.normal(size=(400, 3))]).p_value <= 0.05 for rng in draws)
    labels = sum(order_dependence([rng.integers(0, 10, 800)]).p_value <= 0.05 for rng in draws)
    images = sum(order_dependence([rng.normal(size=(150, 6, 6))]).p_value <= 0.05 for rng in draws)
    assert max(tables, labels, images) <= 30


def test_only_neighbours_of_one_stratum_are_compared(rng):
    labels = np.arange(600) % 2
    shifted = rng.normal(size=600) + 5 * np.repeat([0, 1, 2], 200)
    assert order_dependence([shifted], np.repeat([0, 1, 2], 200)).p_value > 1e-3  # each around its own mean
    assert order_dependence([shifted]).p_value < 1e-9
    alternating = np.repeat(rng.normal(size=300), 2)
    assert order_dependence([alternating], labels).p_value > 1e-3


def test_blocks_of_time_are_longer_where_dependence_lasts(rng):
    moments = rng.permutation(600)
    short, long = (time_blocks(moments.astype(float), [walk(rng, 600, keep)[moments]]) for keep in (0.2, 0.9))
    assert len(np.unique(short)) > 3 * len(np.unique(long)) > 9
    for block in np.unique(long):
        inside = np.sort(moments[long == block])
        assert (np.diff(inside) == 1).all()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"groups": [1, 2]}, "groups of shape"),
        ({"groups": ["a", None, "a", "a"]}, "groups: missing at row 1"),
        ({"groups": [0.5, 1, 2, 3]}, "not labels"),
        ({"time": [[1.0]] * 4}, "time of shape"),
        ({"time": [1, np.nan, 2, 3]}, "time: missing or infinite at row 1"),
        ({"time": ["x"] * 4}, "neither numbers nor dates"),
    ],
)
def test_wrong_groups_and_times_are_named(given, words):
    with pytest.raises(lt.DataError, match=words):
        lt.Dataset(np.zeros((4, 1)), **given)


def test_groups_and_time_go_with_their_rows():
    dates = np.array(["2024-01-03", "2024-01-01", "2024-01-02"], dtype="datetime64[D]")
    data = lt.Dataset({"a": np.eye(3), "b": np.eye(3)}, groups=["x", "y", "x"], time=dates)
    part = data.take([2, 0]).select("b")
    assert part.groups.tolist() == ["x", "x"]
    assert np.diff(part.time)[0] > 0
    assert "2 groups" in data.describe()
    assert data.fingerprint != data.with_groups(groups=["x", "y", "z"]).fingerprint


def test_copies_are_found_and_rounding_is_no_copy(rng):
    table = rng.normal(size=(400, 3))
    assert not repeated_rows(table).telling
    assert not repeated_rows(table.round(1)).telling
    assert not repeated_rows(rng.integers(0, 4, size=(400, 2))).telling
    assert repeated_rows(np.tile(table, (2, 1))).telling
    assert repeated_rows(np.tile(table, (2, 1)) + 1e-5 * rng.normal(size=(800, 3))).telling
    assert repeated_rows(np.tile(table, (2, 1)) + 0.02 * rng.normal(size=(800, 3))).telling  # measured twice


ROUNDED = {
    "one decimal": lambda rng, n: rng.normal(size=(n, 4)).round(1),
    "counts": lambda rng, n: rng.poisson(5, size=(n, 5)).astype(float),
    "zeros in all columns at once": lambda rng, n: (rng.random((n, 1)) < 0.5) * rng.normal(size=(n, 4)).round(1),
    "columns of one number": lambda rng, n: rng.normal(size=(n, 1)).round(2) * [1, 2, 5, 10],
    "classes that hardly err": lambda rng, n: (
        rng.integers(0, 3, (12, 8))[rng.integers(0, 12, n)] + 1.0 * (rng.random((n, 8)) < 0.01)
    ),
    "coins": lambda rng, n: rng.integers(0, 2, size=(n, 8)).astype(float),
}


@pytest.mark.parametrize("draw", ROUNDED.values(), ids=ROUNDED)
def test_rows_that_are_equal_because_they_were_rounded_are_no_copies(draw, rng):
    for rows in (200, 1000):
        assert not repeated_rows(draw(rng, rows)).telling


@pytest.mark.parametrize("name", ["one decimal", "zeros in all columns at once"])
def test_copies_of_rounded_rows_are_found(name, rng):
    table = ROUNDED[name](rng, 200)
    assert repeated_rows(np.tile(table, (4, 1))).telling


@pytest.mark.parametrize("columns", [6, 30])
def test_rows_that_were_measured_again_are_known(columns, rng):
    """Chance flags one row in a hundred of its own; a tenth of them are needed."""
    rows = rng.normal(size=(800, columns))
    again = rows[:400] + 0.02 * rng.normal(size=(400, columns))
    known = sketches(lt.Dataset({"x": rows}))
    found = near_rows(sketches(lt.Dataset({"x": again})), known)
    assert (found == np.arange(400)).mean() > 0.8
    for fresh in (rng.normal(size=(400, columns)), rng.normal(size=(400, columns)).round(1)):
        assert (near_rows(sketches(lt.Dataset({"x": fresh})), known) < 0).all()


def test_numbers_of_rows_leave_labels_out(rng):
    image, label = rng.integers(0, 9, size=(5, 3, 3)), np.arange(5)[:, None]
    values = rng.normal(size=(5, 2))
    values[2] = np.nan
    assert numbers_of_rows(lt.Dataset({"image": image, "label": label, "x": values})).shape == (5, 11)
    assert numbers_of_rows(lt.Dataset({"label": label})) is None


@pytest.mark.parametrize("columns", [1, 2, 6])
def test_new_rows_are_not_taken_for_copies(columns):
    """By chance a row is twenty times nearer than usual with probability 0.034 in one column, less in more."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        old, new = (lt.Dataset(rng.normal(size=(300, columns))) for _ in range(2))
        assert (near_rows(sketches(new), sketches(old)) < 0).all()


def test_copies_of_other_rows_are_found_by_number(rng):
    old = rng.normal(size=(300, 3))
    new = np.vstack([old[100:200].round(3), rng.normal(size=(100, 3))])
    found = near_rows(sketches(lt.Dataset(new)), sketches(lt.Dataset(old)))
    assert found[:100].tolist() == list(range(100, 200))
    assert (found[100:] >= 0).sum() <= 2


def test_ties_are_no_copies():
    """New rows that share rounded or zero values with the known ones: independent, and not taken for theirs."""
    for seed in range(8):
        rng = np.random.default_rng([3, seed])

        def drawn(kind, rng=rng):
            zeros = rng.normal(size=(300, 2)) * (rng.random((300, 1)) > 0.3)
            tables = {
                "zeros": zeros,
                "one column": rng.normal(size=(300, 1)).round(2),
                "two": rng.normal(size=(300, 2)).round(1),
            }
            return lt.Dataset({"a": tables[kind], "b": rng.normal(size=(300, 3))} if kind == "zeros" else tables[kind])

        for kind in ("zeros", "one column", "two"):
            assert (near_rows(sketches(drawn(kind)), sketches(drawn(kind))) < 0).all(), (kind, seed)


def test_columns_that_are_constant_in_some_strata_are_no_dependence():
    """A column alive in one of ten strata: of 200 runs at level 0.01 2 are expected, more than 10 under 1e-4."""
    strata = np.repeat(np.arange(10), 60)
    draws = (np.random.default_rng(seed).normal(size=600) * (strata == 4) for seed in range(200))
    assert sum(order_dependence([column], strata).p_value <= 0.01 for column in draws) <= 10


def test_a_long_trend_is_measured_quickly():
    trend = np.arange(20_000.0)[:, None] + np.zeros((1, 8))
    assert len(np.unique(time_blocks(trend[:, 0], [trend]))) < 5


def test_one_row_of_each_unit_is_drawn():
    data = lt.Dataset(np.arange(60.0)[:, None], groups=np.arange(60) // 6)
    one = data.one_row_per_unit()
    assert sorted(one.groups.tolist()) == list(range(10))
    assert len(data.with_groups(groups=np.arange(60)).one_row_per_unit()) == 60


def test_dates_as_text_are_moments():
    data = lt.Dataset(np.zeros((2, 1)), time=["2024-03-31", "2024-04-01"])
    assert np.diff(data.time)[0] == 86400e9


def test_few_rows_are_seldom_taken_for_copies():
    """Fails once in 10,000 such draws: 1 % of heavy-tailed columns of 60 rows are, of 200."""
    draws = (np.random.default_rng([31, seed]).standard_t(3, 60) for seed in range(200))
    assert sum(copy_groups([column]) is not None for column in draws) <= 8


def test_a_few_values_of_more_digits_make_no_copies_of_rounded_ones():
    rng = np.random.default_rng(5)
    hue = rng.normal(1.0, 0.23, size=180).round(2)
    assert copy_groups([hue]) is None
    hue[0] += 0.003  # one of them was typed in with a digit more
    assert copy_groups([hue]) is None
    assert len(np.unique(copy_groups([np.tile(rng.normal(size=90), 2)]))) <= 90  # copies of unrounded rows are found


@pytest.mark.parametrize("unit", [1.0, 1e-7, 1e-12, 1e9])
def test_copies_are_the_same_in_every_unit(unit):
    rng = np.random.default_rng(6)
    hue = rng.normal(1.0, 0.23, size=180).round(2)
    hue[0] += 0.003
    assert copy_groups([unit * hue]) is None
    concentration = rng.lognormal(sigma=1.5, size=300)
    assert len(np.unique(copy_groups([unit * np.tile(concentration, 2)]))) <= 300


def test_copies_are_found_beside_a_column_that_is_mostly_zeros():
    rng = np.random.default_rng(7)
    rows, dose = rng.normal(size=4000), np.where(rng.random(4000) < 0.96, 0.0, rng.uniform(0.01, 0.4, 4000))
    assert copy_groups([np.tile(rows, 2), np.tile(dose, 2)]) is not None


def test_rows_of_wine_are_no_copies_of_each_other():
    """A column has one value of six digits among values of two: 178 wines were called 128 and copies."""
    from sklearn.datasets import load_wine

    rows = load_wine().data[np.random.default_rng(0).permutation(178)]
    assert len(np.unique(rows, axis=0)) == 178
    assert copy_groups(list(rows.T)) is None
    assert all(copy_groups([column]) is None for column in rows.T)  # some of them prefer halves, or fives
