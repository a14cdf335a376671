"""Variables that hold numbers and labels, and columns that come one by one: frames of any library, hostile order."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

import latentry as lt
from latentry.information import information_plane


def normals_of_a_coin(rows, seed):
    """y = c + 2 d + noise, with c normal and d a fair coin."""
    rng = np.random.default_rng(seed)
    c, d = rng.normal(size=rows), rng.integers(0, 2, rows)
    frame = pd.DataFrame({"c": c, "d": np.where(d, "u", "v")}, index=[f"r{i}" for i in range(rows)])
    return frame, pd.Series(c + 2 * d + rng.normal(size=rows), index=frame.index, name="y")


def information_of_normals_of_a_coin():
    """I(c, d; y) = h(y) − h(y | c, d), where y is a mixture of two normals, by the trapezoidal rule."""
    grid = np.linspace(-15, 17, 20001)
    density = 0.5 * stats.norm.pdf(grid, 0, np.sqrt(2)) + 0.5 * stats.norm.pdf(grid, 2, np.sqrt(2))
    return -np.trapezoid(density * np.log(density), grid) - 0.5 * np.log(2 * np.pi * np.e)


def test_numbers_beside_labels_against_the_integral():
    """Three seeds: 95 % intervals miss more than one of three by chance in 0.7 % of such tests; seeds are fixed."""
    truth, held, found = information_of_normals_of_a_coin(), 0, []
    for seed in range(3):
        estimate = lt.mutual_information(*normals_of_a_coin(300, seed))
        held += estimate.low <= truth <= estimate.high
        found.append(float(estimate))
    assert held >= 2
    assert np.mean(found) == pytest.approx(truth, abs=0.06)
    numbers_alone = lt.mutual_information(normals_of_a_coin(300, 0)[0][["c"]], normals_of_a_coin(300, 0)[1])
    assert float(numbers_alone) < found[0] - 0.2  # the label says some 0.3 more


def test_labels_too_rare_to_look_within_are_counted_by_neighbours_without_an_upper_end(rng):
    """Neighbour counts are low in many columns, here by more than a tenth of a nat: the answer says so."""
    numbers = rng.normal(size=(300, 4))
    frame = pd.DataFrame(numbers).assign(k=[f"l{i}" for i in np.arange(300) % 30])
    estimate = lt.mutual_information(frame, numbers.sum(axis=1) + rng.normal(size=300))
    truth = 0.5 * np.log(5)
    assert estimate.low < truth < estimate.high == np.inf
    assert any("no upper end" in words for words in estimate.warnings)


def test_mixed_columns_of_any_library_in_any_order_give_the_same_number():
    frame, y = normals_of_a_coin(200, 0)
    given = [
        (frame, y.sample(frac=1, random_state=1)),
        (frame.assign(d=frame["d"].astype("category")), y),
        (frame.assign(d=frame["d"] == "u"), y),
        (pl.from_pandas(frame), pl.Series(y.to_numpy())),
        (frame.to_numpy(), y.to_numpy()),
        ([frame["c"], frame["d"].sample(frac=1, random_state=2)], y),
    ]
    found = [float(lt.mutual_information(x, y, confidence=None)) for x, y in given]
    assert len(set(found)) == 1
    tested = [lt.independence_test(x, y, estimator="mixed", permutations=19).p_value for x, y in given[:2]]
    assert tested == [0.05, 0.05]


def test_labels_are_at_distance_one_whatever_the_units_of_the_numbers():
    frame, y = normals_of_a_coin(200, 0)
    ask = {"estimator": "mixed", "confidence": None}
    found = [float(lt.mutual_information(frame.assign(c=unit * frame["c"]), y, **ask)) for unit in (1.0, 1e6, 1e-6)]
    assert found[0] == pytest.approx(found[1]) == pytest.approx(found[2])


def test_dates_are_numbers_and_labels_of_several_columns_are_one_label(rng):
    days = pd.Series(pd.date_range("2024-01-01", periods=200, tz="Europe/Berlin"))
    y = np.arange(200) + rng.normal(size=200)
    order = rng.permutation(200)
    by_date = lt.mutual_information(days.iloc[order], pd.Series(y).iloc[order], confidence=None)
    hours = (days.dt.tz_convert("UTC") - days.dt.tz_convert("UTC").iloc[0]) / pd.Timedelta("1h")
    assert float(by_date) == float(lt.mutual_information(hours.to_numpy()[order], y[order], confidence=None))
    pair = pd.DataFrame({"ok": order % 2 == 0, "sex": np.where(order % 3, "f", "m")})
    codes = pair["ok"].astype(int) * 2 + (pair["sex"] == "f")
    assert float(lt.mutual_information(pair, y, confidence=None)) == float(
        lt.mutual_information(codes.to_numpy(), y, confidence=None)
    )


@pytest.mark.parametrize(
    ("x", "sentence"),
    [
        (pd.DataFrame({"a": [1.0, np.nan] * 50, "b": ["u", "v"] * 50}), "x: column 'a' is missing at row 1 .50 such"),
        (pd.DataFrame({"a": [1.0, 2.0] * 50, "b": ["u", None] * 50}), "x: column 'b' is missing at row 1"),
        (pd.DataFrame({"a": [1.0, 2.0] * 50, "b": ["u", "1.5"] * 50}), "column 'b' holds text that reads as a number"),
        (pd.DataFrame({"a": [1.0, 2.0] * 50, "b": [[1], [2]] * 50}), "x: column 'b' holds list values"),
        ([pd.Series(np.ones(100)), pl.Series(np.ones(100))], "x: holds frames of different libraries"),
        ([pd.Series(np.ones(100)), pd.Series(np.ones(9))], r"x\[1\]: has no row 9"),
        ([pl.Series(np.ones(100)), pl.Series(np.ones(9))], r"x\[1\]: has 9 rows and x\[0\] has 100"),
    ],
)
def test_what_cannot_be_read_is_named(x, sentence):
    with pytest.raises(lt.DataError, match=sentence):
        lt.mutual_information(x, np.arange(100.0))


def test_an_estimator_in_the_place_of_a_condition_is_named(rng):
    with pytest.raises(lt.DataError, match="given='ksg': is a single text.*say estimator='ksg'"):
        lt.mutual_information(rng.normal(size=(50, 1)), rng.normal(size=(50, 1)), "ksg")


def test_an_entropy_of_numbers_and_labels_is_refused():
    with pytest.raises(lt.DataError, match="x: it holds numbers and labels"):
        lt.entropy(normals_of_a_coin(50, 0)[0])


def test_groups_are_paired_by_index_wherever_they_are_asked_for(rng):
    """Rows of ten subjects: a shuffled Series of subjects tells the same as subjects in order."""
    subject = np.repeat(np.arange(30), 4)
    base = rng.normal(size=(30, 2)) @ [[1, 1], [0, 1]]
    frame = pd.DataFrame(base[subject] + 0.1 * rng.normal(size=(120, 2)), columns=["u", "v"])
    named = pd.Series(subject, index=frame.index)
    shuffled = named.sample(frac=1, random_state=0)
    for ask in (
        lambda groups: lt.total_correlation(frame, groups=groups),
        lambda groups: lt.total_correlation([frame["u"], frame["v"].sample(frac=1, random_state=3)], groups=groups),
        lambda groups: lt.entropy(frame["u"], groups=groups),
        lambda groups: lt.pairwise(frame, groups=groups)[0, 1],
        lambda groups: information_plane({0: [frame.to_numpy()]}, frame, frame["u"], groups=groups).table()[0, 0, 1],
    ):
        assert float(ask(shuffled)) == float(ask(subject))
    assert float(lt.total_correlation(frame, groups=shuffled.to_numpy())) != float(
        lt.total_correlation(frame, groups=subject)
    )
    with pytest.raises(lt.DataError, match="groups: has no row 0"):
        lt.total_correlation(frame, groups=named.drop(0))
