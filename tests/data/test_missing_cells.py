"""Single cells that are missing: marked, counted, carried into batches, and refused by name where they cannot be used."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import latentry as lt
from latentry.data import Standardiser, assemble, row_marks
from latentry.training.feed import Feed

TABLE = np.array([[1.0, 10.0], [np.nan, 20.0], [3.0, np.nan], [np.nan, np.nan], [5.0, 50.0]])
OTHER = np.arange(5.0)[:, None]
KNOWN = [[True, True], [False, True], [True, False], [False, False], [True, True]]


@pytest.mark.parametrize(
    "given",
    [
        TABLE,
        TABLE.astype(np.float32),
        [[1, 10], [None, 20], [3, None], None, [5, 50]],
        np.where(np.isnan(TABLE), None, TABLE),
        np.ma.masked_invalid(TABLE),
        np.ma.MaskedArray(np.nan_to_num(TABLE).astype(int), np.isnan(TABLE)),
        pd.DataFrame(TABLE, columns=["a", "b"]),
        pd.DataFrame(TABLE, columns=["a", "b"]).astype("Int64"),
        pd.DataFrame(TABLE, columns=["a", "b"]).astype(object),
        pl.DataFrame(TABLE, schema=["a", "b"]),
        pl.DataFrame(TABLE, schema=["a", "b"]).fill_nan(None),
    ],
    ids=lambda given: f"{type(given).__module__.split('.')[0]} {getattr(given, 'dtype', '')}",
)
def test_missing_cells_are_marked_however_they_are_given(given):
    data = lt.Dataset({"t": given, "o": OTHER})
    assert data.partial == ("t",)
    assert data.cells_observed("t").tolist() == KNOWN
    assert data.cells_observed("o") is None
    assert data.observed["t"].tolist() == [True, True, True, False, True]
    assert data.whole_rows("t").tolist() == [True, False, False, False, True]


def test_a_mask_of_cells_marks_them_and_changes_nothing_that_was_given():
    numbers = np.nan_to_num(TABLE)
    data = lt.Dataset({"t": numbers, "o": OTHER}, observed={"t": np.array(KNOWN)})
    assert data.cells_observed("t").tolist() == KNOWN
    assert (numbers == np.nan_to_num(TABLE)).all()


def test_statistics_are_of_the_observed_cells():
    data = lt.Dataset({"t": TABLE, "o": OTHER})
    by = Standardiser.of(data, ["t"])
    assert np.allclose(by.shift["t"], np.nanmean(TABLE, axis=0), rtol=1e-14)
    assert np.allclose(by.scale["t"], np.nanstd(TABLE, axis=0), rtol=1e-14)
    scaled = by.apply("t", TABLE)
    assert np.allclose(by.undo("t", scaled), TABLE, rtol=1e-6, equal_nan=True)


def test_batches_hold_zeros_and_say_which_cells_they_are():
    data = lt.Dataset({"t": TABLE, "o": OTHER})
    batch = assemble(data, np.array([[2, -1], [3, 0]]))
    assert batch.cells["t"].tolist() == [[[1, 0], [0, 0]], [[0, 0], [1, 1]]]
    assert batch.values["t"].tolist() == [[[3, 0], [0, 0]], [[0, 0], [1, 10]]]
    assert batch.observed["t"].tolist() == [[1, 0], [0, 1]]
    assert set(batch.cells) == {"t"}  # whole modalities cost nothing


def test_cells_come_from_the_device_as_from_the_host(rng, monkeypatch):
    table = rng.normal(size=(40, 3))
    table[rng.random(table.shape) < 0.3] = np.nan
    table[:, 0] = 1.0
    data = lt.Dataset(table)
    there = Feed(data, 8).window((0, 0), 0)
    monkeypatch.setattr("latentry.training.feed.SMALL_BYTES", 0)
    feed = Feed(data, 8)
    assert feed.resident is not None
    here = feed.window((0, 0), 0)
    steps = here.values["x"].shape[0]
    for a, b in ((here.cells["x"], there.cells["x"]), (here.values["x"], there.values["x"])):
        assert np.array_equal(np.asarray(a), np.asarray(b)[:steps])
    assert float(here.cells["x"].sum()) == np.isfinite(table).sum()


def test_parts_keep_the_structure_and_complete_rows_lose_it():
    data = lt.Dataset({"t": TABLE, "o": OTHER})
    assert data.take([0, 4]).partial == ("t",)
    assert data.standardise().partial == ("t",)
    complete = data.complete_rows()
    assert complete["t"][:, 0].tolist()[::2] == [1, 5]
    assert (len(complete), complete.partial, complete.observed["t"].tolist()) == (3, (), [True, False, True])


def test_marks_and_fingerprints_tell_a_missing_cell_from_a_zero():
    zeros = np.where(np.isnan(TABLE[:3]), 0.0, TABLE[:3])
    marks = [row_marks(lt.Dataset({"t": t}), ["t"]) for t in (TABLE[:3], zeros)]
    assert (marks[0] == marks[1]).tolist() == [True, False, False]
    odd = TABLE[:3].copy()
    odd.view(np.uint64)[1, 0] |= np.uint64(7)  # another NaN than NumPy's own
    assert (row_marks(lt.Dataset({"t": odd}), ["t"]) == marks[0]).all()
    assert lt.Dataset({"t": TABLE[:3]}).fingerprint != lt.Dataset({"t": zeros}).fingerprint


@pytest.mark.parametrize("ending", ["npz", "csv", "parquet", "zarr", "h5mu", "npy"])
def test_files_keep_missing_cells(tmp_path, ending):
    data = lt.Dataset(TABLE[[0, 1, 2, 4]])
    data.write(tmp_path / f"table.{ending}")
    back = lt.read(tmp_path / f"table.{ending}")
    assert back.cells_observed("x").tolist() == data.cells_observed("x").tolist()
    assert np.array_equal(np.asarray(back["x"]), TABLE[[0, 1, 2, 4]], equal_nan=True)


def test_describe_counts_them():
    assert "1 rows missing (20%), 2 cells missing (25%), in 2 rows" in lt.Dataset({"t": TABLE, "o": OTHER}).describe()


@pytest.mark.parametrize(
    "use",
    [
        lambda data: lt.IFlow().fit(data),
        lambda data: lt.certify(np.zeros(len(data)), data),
        lambda data: lt.discover(data),
    ],
)
def test_what_needs_every_cell_names_the_first_that_is_missing(use):
    data = lt.Dataset(pd.DataFrame(TABLE[[0, 1, 2, 4]], columns=["a", "b"], index=list("pqrs")), domain=[0, 1, 0, 1])
    with pytest.raises(lt.DataError, match=r"NaN at row 1 \('q'\), column 'a'; 2 cells are missing in 2 rows\. \w"):
        use(data)


def test_a_column_without_any_number_is_refused():
    with pytest.raises(lt.DataError, match="column 'b' is missing in every row. Leave it out"):
        lt.Dataset(pd.DataFrame({"a": [1.0, 2.0], "b": [np.nan, np.nan]}))
    lt.Dataset({"image": np.where(np.arange(9) == 4, np.nan, 1.0).reshape(1, 3, 3)})  # a dead pixel


def test_natural_audits_use_the_rows_that_are_whole(rng):
    latent = rng.integers(0, 2, 600)
    blocks = {n: np.where(rng.random(600) < 0.1, 1 - latent, latent)[:, None].astype(float) for n in ("a", "b")}
    blocks["a"] = np.hstack([blocks["a"], blocks["a"]])
    blocks["a"][rng.choice(600, 100, replace=False), 1] = np.nan
    data = lt.Dataset(blocks)
    whole = data.complete_rows()
    kept = data.whole_rows("a")
    options = {"epsilon": 0.3, "seed": 0}
    audits = [lt.natural.audit(data, latent, **options), lt.natural.audit(whole, latent[kept], **options)]
    assert audits[0].verdict.status == audits[1].verdict.status
