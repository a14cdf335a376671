import copy

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import latentry as lt


def two_modalities(**changes):
    parts = {"image": np.arange(4 * 8 * 8.0).reshape(4, 8, 8), "table": np.arange(8.0).reshape(4, 2)}
    return lt.Dataset(parts | changes.pop("parts", {}), **changes)


def test_missing_rows_are_marked_however_they_are_given():
    table = np.array([[1.0, 2], [np.nan, np.nan], [3, 4]])
    other = np.ones((3, 1))
    by_nan = lt.Dataset({"t": table, "o": other})
    by_none = lt.Dataset({"t": [[1, 2], None, [3, 4]], "o": other})
    by_mask = lt.Dataset({"t": np.nan_to_num(table), "o": other}, observed={"t": np.array([True, False, True])})
    by_masked = lt.Dataset({"t": np.ma.masked_invalid(table), "o": other})
    for data in (by_nan, by_none, by_mask, by_masked):
        assert data.observed["t"].tolist() == [True, False, True]


def test_a_frame_keeps_its_columns():
    data = lt.Dataset(pd.DataFrame({"a": [1, 2], "b": [3.5, 4]}))
    assert data.columns["x"] == ("a", "b")
    assert data["x"].tolist() == [[1, 3.5], [2, 4]]


def test_nothing_can_be_changed():
    data = two_modalities()
    with pytest.raises(AttributeError, match="does not change"):
        data.domain = None
    with pytest.raises(ValueError, match="read-only"):
        data["table"][0, 0] = 5
    with pytest.raises(TypeError):
        data.values["new"] = 1
    for part in (data.take([0, 1]), data.standardise()):
        with pytest.raises(ValueError, match="read-only"):
            part["table"][0, 0] = 5
        with pytest.raises(ValueError, match="read-only"):
            part.observed["table"][0] = False
    with pytest.raises(ValueError, match="read-only"):
        two_modalities(domain=[0, 1, 0, 1]).domain.values[0] = 1


def test_a_copy_is_the_same_dataset():
    data = two_modalities(domain=["a", "b", "a", "b"])
    assert copy.deepcopy(data).fingerprint == data.fingerprint


def test_take_and_split_keep_everything_together():
    data = two_modalities(domain=["a", "b", "a", "b"], factors={"f": [1, 2, 3, 4]}, rows=["r0", "r1", "r2", "r3"])
    part = data.take([2, 1])
    assert part["table"][:, 0].tolist() == [4, 2]
    assert part.domain.as_labels().tolist() == ["a", "b"]
    assert (part.factors["f"].tolist(), part.rows) == ([3, 2], ("r2", "r1"))


@given(st.integers(40, 200), st.floats(0.2, 0.8), st.integers(0, 99), st.integers(1, 4))
def test_split_is_a_partition_stratified_by_domain(count, fraction, seed, domains):
    data = lt.Dataset(np.arange(count, dtype=float)[:, None], domain=np.arange(count) % domains)
    first, second = data.split(fraction, 1 - fraction, seed=seed)
    assert sorted([*first["x"][:, 0], *second["x"][:, 0]]) == list(range(count))
    assert abs(len(first) - fraction * count) < 1
    for domain in range(domains):
        want = fraction * (data.domain.values == domain).sum()
        assert abs((first.domain.values == domain).sum() - want) < 2


def test_many_small_domains_still_give_to_a_small_part():
    data = lt.Dataset(np.arange(400.0)[:, None], domain=np.arange(400) // 4)
    train, held_out = data.split(0.9, 0.1)
    assert (len(train), len(held_out)) == (360, 40)
    assert len(np.unique(held_out.domain.values)) > 25


def test_split_keeps_groups_whole():
    group = np.repeat(np.arange(20), 5)
    data = lt.Dataset(group[:, None].astype(float))
    first, second = data.split(0.5, 0.5, group=group)
    assert not set(first["x"][:, 0]) & set(second["x"][:, 0])


def test_split_parts_that_do_not_sum_to_one_leave_rows_out():
    (half,) = lt.Dataset(np.zeros((10, 1))).split(0.5)
    assert len(half) == 5
    (nearly,) = lt.Dataset(np.zeros((10, 1))).split(0.99)
    assert len(nearly) == 10


def test_standardise_and_undo(rng):
    raw = {"t": rng.normal(5, [1e-6, 1e3], size=(50, 2)), "i": rng.normal(3, 2, size=(50, 6, 6, 3))}
    data = lt.Dataset(raw)
    by = lt.data.Standardiser.of(data)
    scaled = data.standardise(by)
    assert np.allclose(scaled["t"].std(axis=0), 1, atol=1e-5)
    assert by.scale["i"].shape == (3,)
    assert np.allclose(by.undo("t", scaled["t"].astype(float)), raw["t"], rtol=1e-6, atol=1e-3)


def test_standardise_keeps_digits_far_from_zero():
    column = 1e9 + np.arange(10.0)
    scaled = lt.Dataset(column[:, None]).standardise()["x"][:, 0]
    assert np.allclose(scaled, (np.arange(10) - 4.5) / np.arange(10).std(), atol=1e-6)


def test_a_constant_column_is_named_and_harmless():
    frame = pd.DataFrame({"length": [1.0, 2, 3], "lab": [7.1, 7.1, 7.1]})
    with pytest.warns(lt.DataWarning, match="column 'lab' never changes"):
        scaled = lt.Dataset(frame).standardise()
    assert (scaled["x"][:, 1] == 0).all()


def test_fingerprint_sees_every_part():
    base = two_modalities(domain=[0, 1, 0, 1])
    assert base.fingerprint == two_modalities(domain=[0, 1, 0, 1]).fingerprint
    nudged = np.arange(8.0).reshape(4, 2)
    nudged[3, 1] += 1e-12
    others = [
        two_modalities(domain=[0, 1, 1, 1]),
        two_modalities(domain=[0, 1, 0, 1], columns={"table": ["a", "b"]}),
        two_modalities(domain=[0, 1, 0, 1], parts={"table": nudged}),
        two_modalities(domain=[0, 1, 0, 1], observed={"table": np.array([True, True, True, False])}),
    ]
    assert len({base.fingerprint, *(other.fingerprint for other in others)}) == 5


def test_describe_says_what_is_there():
    text = two_modalities(domain=["a", "b", "a", "b"], factors={"f": [0, 1, 0, 1]}).describe()
    assert "4 rows" in text
    assert "8×8" in text
    assert "a (2), b (2)" in text
    assert "factor" in text


BAD = {
    "different row counts": (
        lambda: lt.Dataset({"a": np.ones((3, 2)), "b": np.ones((4, 2))}),
        "modality 'b': has 4 rows but 'a' has 3",
    ),
    "ragged": (lambda: lt.Dataset({"a": [[1, 2], [3]]}), "modality 'a': ragged, as row 1 has shape \\(1,\\)"),
    "all missing": (
        lambda: lt.Dataset({"a": [[1.0], [np.nan], [2.0]], "b": [[1.0], None, [3.0]]}),
        "missing in every modality .*: row 1",
    ),
    "inf in an image": (
        lambda: lt.Dataset({"im": np.where(np.arange(50).reshape(2, 5, 5) == 31, np.inf, 0.0)}),
        "infinity at row 1, entry \\(1, 1\\)",
    ),
    "zero rows": (lambda: lt.Dataset(np.ones((0, 3))), "there is no row"),
    "no columns": (lambda: lt.Dataset(np.ones((3, 0))), "no column"),
    "objects": (lambda: lt.Dataset(np.array([[1, {}], [2, 3]], dtype=object)), "an entry that is no number"),
    "strings": (lambda: lt.Dataset(np.array([["a"], ["b"]])), "not numbers"),
    "twin columns": (lambda: lt.Dataset(pd.DataFrame([[1.0, 2.0]], columns=["a", "a"])), "two columns called 'a'"),
    "text column": (lambda: lt.Dataset(pd.DataFrame({"a": [1.0], "who": ["me"]})), "column 'who' holds"),
    "complex": (lambda: lt.Dataset(np.ones((2, 2)) * 1j), "Complex data not supported"),
    "one dimension": (lambda: lt.Dataset(np.ones(3)), "Reshape your data"),
    "domain length": (lambda: lt.Dataset(np.ones((3, 1)), domain=[1, 2]), "domain: has 2 entries for 3 rows"),
    "domain hole": (
        lambda: lt.Dataset(np.ones((2, 1)), domain=np.array(["a", None], dtype=object)),
        "missing at row 1",
    ),
    "domain nan": (lambda: lt.Dataset(np.ones((2, 1)), domain=[0.5, np.nan]), "NaN or infinite at row 1"),
    "mask": (lambda: lt.Dataset(np.ones((2, 1)), observed={"x": [1, 0]}), "Give 2 booleans"),
    "mask name": (
        lambda: lt.Dataset(np.ones((2, 1)), observed={"y": [True, True]}),
        r"observed\['y'\]: there is no such modality",
    ),
    "column names": (lambda: lt.Dataset(np.ones((2, 2)), columns={"x": ["a"]}), "1 names for rows of shape"),
    "missing everywhere": (lambda: lt.Dataset({"a": np.full((2, 2), np.nan), "b": np.ones((2, 1))}), "Leave it out"),
    "unknown modality": (lambda: two_modalities()["imge"], "did you mean 'image'"),
    "fractions": (lambda: two_modalities().split(0.9, 0.9), "sum to at most 1"),
    "sparse": (lambda: lt.Dataset(__import__("scipy.sparse").sparse.eye(3)), "sparse"),
    "a name with a colon": (lambda: lt.Dataset({"a:b": np.ones((2, 1))}), "without / or :"),
    "a file": (lambda: lt.Dataset("data.csv"), r"^'data.csv': is a text.*latentry.read\('data.csv'\)"),
    "none": (lambda: lt.Dataset({}), "at least one modality"),
}


@pytest.mark.parametrize("case", BAD, ids=str)
def test_bad_input_gets_a_sentence(case):
    make, sentence = BAD[case]
    with pytest.raises(lt.DataError, match=sentence):
        make()


def test_rows_are_chosen_as_of_an_array(rng):
    table = rng.normal(size=(6, 2))
    data = lt.Dataset({"a": table, "b": table[:, :1]}, domain=list("uvuvuv"))
    assert data.shape == (6, 3)
    for rows in (slice(1, 5, 2), [4, 0], np.array([True, False] * 3), -1, (np.array([2, 3]), ...)):
        where = rows[0] if isinstance(rows, tuple) else rows
        chosen = data[rows]
        assert (chosen["a"] == np.atleast_2d(table[where])).all()
        assert chosen.domain.as_labels().tolist() == np.atleast_1d(np.array(list("uvuvuv"))[where]).tolist()
    for rows, by_key, by_take in (
        ([9], "there are 6 rows", r"^take\(\[9\]\): there are 6 rows, numbered from 0"),
        (
            [0.5],
            "neither a modality nor rows",
            r"^take\(\[0.5\]\): no rows. Give numbers of rows, or a boolean for each",
        ),
        ([True], "1 booleans for 6 rows. Give one for each", r"^take\(\[True\]\): 1 booleans for 6 rows"),
        ([[1, 2], [3]], "neither a modality nor rows", r"^take\(\[\[1, 2\], \[3\]\]\): no rows"),
        (["u", "v"], "neither a modality nor rows", r"^take\(\['u', 'v'\]\): no rows"),
        (list(range(500)), r"^data\[\[0, 1, .{,60} …\]: there are 6 rows", "there are 6 rows"),
        ([], "no row was chosen", "no row was chosen"),
    ):
        with pytest.raises(lt.DataError, match=by_key):
            data[rows]
        with pytest.raises(lt.DataError, match=by_take):
            data.take(rows)


def test_datasets_are_searched_over_as_arrays_are(rng):
    """Each fold scores the rows that it left out, whatever the modalities."""
    from sklearn.base import BaseEstimator
    from sklearn.model_selection import GridSearchCV, cross_val_score, learning_curve

    class Mean(BaseEstimator):
        def __init__(self, shift=0.0):
            self.shift = shift

        def fit(self, X, y=None):
            self.mean_ = X["a"].mean() + self.shift
            return self

        def score(self, X, y=None):
            return -float(np.abs(X["a"] - self.mean_).mean() + 0 * X["b"].sum())

    table = rng.normal(size=(12, 2))
    data = lt.Dataset({"a": table, "b": table[:, :1]})
    left_out = [
        np.abs(table[4 * k : 4 * k + 4] - np.delete(table, range(4 * k, 4 * k + 4), 0).mean()).mean() for k in range(3)
    ]
    assert np.allclose(cross_val_score(Mean(), data, cv=3), -np.array(left_out))
    assert GridSearchCV(Mean(), {"shift": [0.0, 5.0]}, cv=3).fit(data).best_params_ == {"shift": 0.0}
    assert learning_curve(Mean(), data, None, cv=3, train_sizes=[0.5, 1.0])[2].shape == (2, 3)


def test_labels_that_are_taken_for_a_modality_are_told_where_they_belong(tmp_path):
    """A column of one number a row in a file of arrays, of which nobody said that it names the laboratories."""
    np.savez(tmp_path / "rows.npz", x=np.eye(3), lab=np.arange(3))
    with pytest.raises(lt.DataError, match="modality 'lab'.*domain='lab' or groups='lab'"):
        lt.read(tmp_path / "rows.npz")


def test_one_modality_is_an_array_and_several_are_none():
    rows = np.arange(6.0).reshape(3, 2)
    data = lt.Dataset(rows)
    assert np.asarray(data).tolist() == rows.tolist()
    assert np.asarray(data, np.float32).dtype == np.float32
    with pytest.raises(lt.DataError, match=r"2 modalities, a, b: is no single array\. Take one of them as data\['a'\]"):
        np.asarray(lt.Dataset({"a": rows, "b": rows}))
