"""Labels in many columns: held-out classifiers beside neighbour counts."""

import numpy as np
import pytest

from latentry.errors import DataError
from latentry.information import mutual_information
from latentry.information.classifiers import held_out_bound
from latentry.information.ranks import folds


def xor(rng, columns, bits, n=1500):
    x = rng.standard_normal((n, columns))
    return x, (np.prod(x[:, :bits], axis=1) > 0).astype(int)


@pytest.mark.parametrize("columns", [2, 5, 20])
def test_the_exclusive_or_of_two_columns_is_read(rng, columns):
    found = mutual_information(*xor(rng, columns, 2))
    assert abs(found / np.log(2) - 1) < 0.12
    assert found.high < 0.75


def test_classifiers_outdo_neighbours_in_many_columns_and_say_so(rng):
    label = rng.integers(0, 3, 1500)
    x = rng.standard_normal((1500, 60)) + rng.standard_normal((3, 60))[label] / 4
    found, neighbours = mutual_information(x, label), mutual_information(x, label, estimator="mixed", confidence=None)
    assert found.method.endswith("held out")
    assert found.low > neighbours
    assert "more than neighbour counts" in found.reason
    assert "lower bound" in found.warnings[0]


def test_what_needs_every_column_is_not_found_and_that_is_said(rng):
    found = mutual_information(*xor(rng, 12, 12))
    assert abs(found) < 0.1
    assert any("needs many columns together" in words for words in found.warnings)


def test_classifiers_read_nothing_where_there_is_nothing():
    # the lower end of 95 % intervals lies above zero in more than 4 of 20 once in 400 runs
    above = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        above += mutual_information(rng.standard_normal((400, 6)), rng.integers(0, 2, 400)).low > 0
    assert above <= 4


def test_few_rows_or_many_labels_are_left_to_neighbours(rng):
    x = rng.standard_normal((300, 5))
    assert held_out_bound(x[:100], np.arange(100) % 2, 0, -1.0) is None
    assert held_out_bound(x, np.arange(300) % 30, 0, -1.0) is None
    assert held_out_bound(x, (np.arange(300) < 5).astype(int), 0, -1.0) is None


def test_labels_too_rare_to_stop_early_are_learned_all_the_same():
    rng = np.random.default_rng(0)
    x, label = rng.standard_normal((200, 4)), np.arange(200) % 20
    assert mutual_information(x, label) < 0.3
    found = held_out_bound(x + 9 * rng.standard_normal((20, 4))[label], label, 0, 0.5)
    assert 1.0 < found.value < np.log(20)


@pytest.mark.parametrize("reported", [1, 10])
def test_a_label_with_one_row_or_none_to_learn_from_is_no_error(reported):
    """Ten rows of a label: classifiers are chosen after one of them, or the chosen one is reported after none."""
    choose, report, _ = folds(200, 3, 0)
    label = np.zeros(200, dtype=int)
    label[report[:reported]] = label[choose[: 10 - reported]] = 1
    found = held_out_bound(np.random.default_rng(0).standard_normal((200, 4)), label, 0, -9.0)
    assert np.isfinite(found.terms).all()


def test_outliers_do_not_spoil_the_bound(rng):
    x = np.random.default_rng(1).standard_cauchy((1200, 6))
    found = held_out_bound(x, (x[:, 0] > 0).astype(int), 0, 0.0)
    assert found.value > 0.6


@pytest.mark.parametrize(("labels", "said"), [("fractions", True), ("integers", False), ("declared", False)])
def test_labels_stored_as_fractions_are_named(labels, said):
    rng = np.random.default_rng(30)
    classes = rng.integers(1, 4, 400)
    x = np.array([0.0, 2.0, -2.0])[classes - 1][:, None] + rng.standard_normal((400, 1))
    y = classes if labels == "integers" else classes.astype(float)
    found = mutual_information(x, y, discrete=("y",) if labels == "declared" else None)
    assert any('discrete=("y",)' in words for words in found.warnings) == said
    assert not any("stored as fractions" in words for words in mutual_information(x, y, discrete=()).warnings)
    assert not any("stored as fractions" in words for words in mutual_information(x, x + y[:, None]).warnings)


def test_a_hole_among_labels_and_a_text_among_numbers_are_named_by_row(rng):
    y = rng.normal(size=60)
    for hole in (None, np.nan):
        with pytest.raises(DataError, match=f"x: it is {hole} at row 2, column 0 .20 such values"):
            mutual_information(np.array(["a", "b", hole] * 20, dtype=object), y)
    text = np.array([f"{value:.3f}" for value in y])
    text[17] = "broken"
    with pytest.raises(DataError, match="x: it holds text .'broken' at row 17, column 0, among numbers"):
        mutual_information(text, y)
    with pytest.raises(DataError, match=r"x: it holds text \('-?\d\.\d+' at row 0, column 0\)"):
        mutual_information(np.delete(text, 17), np.delete(y, 17))


def test_labels_as_bytes_are_labels(rng):
    words = np.array(["a", "b"] * 30)
    y = rng.normal(size=60)
    found = [float(mutual_information(one, y, confidence=None)) for one in (words, words.astype("S"))]
    assert found[0] == found[1]


@pytest.mark.parametrize("estimator", ["auto", "mixed"])
def test_units_of_single_columns_do_not_matter_beside_a_label(estimator):
    rng = np.random.default_rng(11)
    rows = rng.normal(size=(600, 3))
    label = (rows[:, 0] + 0.3 * rng.normal(size=600) > 0).astype(int)
    plain, scaled = (
        mutual_information(rows * size, label, estimator=estimator) for size in ([1, 1, 1], [1, 1024, 2.0**-20])
    )
    assert float(plain) == pytest.approx(float(scaled), abs=1e-9)
    assert float(plain) > 0.35  # of about .49; read as .01 when the large column decided who is near


def test_classifiers_are_spoken_of_only_where_they_were_asked():
    rng = np.random.default_rng(12)
    few, many = rng.normal(size=(120, 5)), rng.normal(size=(400, 5))
    assert "too few rows to ask classifiers" in mutual_information(few, np.arange(120) % 2, discrete=("y",)).reason
    assert "no classifier says more" in mutual_information(many, rng.integers(0, 2, 400), discrete=("y",)).reason
