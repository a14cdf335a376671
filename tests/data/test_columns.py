"""Columns of every kind: encoded by a stated rule that can be undone, or refused by name."""

import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

import latentry as lt
from latentry.certificate.splitting import rows_to_audit

SPECIES = ["Adelie", "Gentoo", None, "Adelie", "Gentoo", "Adelie"]
DAYS = pd.to_datetime(
    ["2024-03-01", "2024-03-02", "2024-03-01 12:00", None, "2024-03-31", "2024-03-05"], format="ISO8601"
)
EXPECTED = np.column_stack(
    [
        [1, 2, 3, 4, 5, 6],
        [1, 0, np.nan, 1, 0, 1],
        [0, 1, np.nan, 0, 1, 0],
        [1, 0, 1, 1, 0, np.nan],
        [0, 1, 0.5, np.nan, 30, 4],
        [1, 2, 0.5, 1, 1, 2],
    ]
)
FEATURES = ("mass", "species=Adelie", "species=Gentoo", "wild", "day", "span")


def frame(library="pandas", **changes):
    columns = {
        "mass": [1, 2, 3, 4, 5, 6],
        "species": SPECIES,
        "wild": [True, False, True, True, False, None],
        "day": DAYS,
        "span": pd.to_timedelta([1, 2, 0.5, 1, 1, 2], unit="D"),
    } | changes
    if library == "polars":
        return pl.DataFrame({n: c.to_numpy() if isinstance(c, pd.Index) else c for n, c in columns.items()})
    return pd.DataFrame(columns)


@pytest.mark.parametrize(
    "table",
    [
        frame(),
        frame("polars"),
        frame().convert_dtypes(),
        frame().astype(object),
        frame(species=pd.Categorical(SPECIES, categories=["Adelie", "Dodo", "Gentoo"])),  # a category without rows
        frame(day=DAYS.tz_localize("UTC").tz_convert("Asia/Tokyo")),
        frame("polars").with_columns(pl.col("species").cast(pl.Categorical)),
        frame("polars").with_columns(pl.col("day").dt.replace_time_zone("UTC").dt.convert_time_zone("Asia/Tokyo")),
    ],
    ids=["pandas", "polars", "nullable", "objects", "categories", "zones", "polars categories", "polars zones"],
)
def test_every_kind_becomes_the_same_numbers(table):
    data = lt.Dataset(table)
    assert data.columns["x"] == FEATURES
    assert np.allclose(data["x"], EXPECTED, equal_nan=True)
    words = data.describe()
    assert "species: 2 categories (Adelie, Gentoo), a column of 0 and 1 for each" in words
    assert "day: dates, as days since 2024-03-01" in words
    assert "wild: true is 1, false is 0" in words


def test_what_was_encoded_comes_back_as_it_was():
    data = lt.Dataset(frame(), rows=list("abcdef"))
    back = data.frame()
    assert list(back.columns) == ["mass", "species", "wild", "day", "span"]
    assert list(back.index) == list("abcdef")
    assert [None if s is None else str(s) for s in back["species"].where(back["species"].notna(), None)] == SPECIES
    assert back["day"].tolist()[:3] == DAYS.tolist()[:3]
    assert back["wild"].tolist()[:5] == [True, False, True, True, False]
    assert lt.Dataset(back)["x"].tolist()[:2] == data["x"].tolist()[:2]
    near = data.frame(np.nan_to_num(np.asarray(data["x"])) + 0.2)  # as a model gives them back: near, not equal
    assert near["species"].tolist()[:2] == ["Adelie", "Gentoo"]
    assert near["wild"].tolist()[:3] == [True, False, True]
    assert data.frame(library="polars").columns[:2] == ["row", "mass"]
    with pytest.raises(lt.DataError, match="library='excel': is not installed, or makes no data frames"):
        data.frame(library="excel")
    there = frame(day=DAYS.tz_localize("UTC").tz_convert("Asia/Tokyo"))
    for library in ("pandas", "polars"):
        assert list(lt.Dataset(there).frame(library=library)["day"])[:3] == there["day"].tolist()[:3]


@pytest.mark.parametrize("ending", ["npz", "zarr"])
def test_files_keep_the_rule(tmp_path, ending):
    data = lt.Dataset(frame())
    data.write(tmp_path / f"t.{ending}")
    assert lt.read(tmp_path / f"t.{ending}").coding == data.coding


def test_a_csv_is_read_by_the_same_rule(tmp_path):
    text = frame(span=[1, 2, 0.5, 1, 1, 2])
    text.to_csv(tmp_path / "t.csv", index=False)
    data = lt.read(tmp_path / "t.csv")
    assert data.columns["x"] == FEATURES
    assert np.allclose(data["x"], EXPECTED, equal_nan=True)
    text.to_parquet(tmp_path / "t.parquet", index=False)
    assert np.allclose(lt.read(tmp_path / "t.parquet")["x"], EXPECTED, equal_nan=True)


def test_other_rows_are_read_as_those_of_a_fit():
    data = lt.Dataset(frame())
    new = frame().iloc[[1]]
    with pytest.raises(lt.DataError, match="1 different texts in 1 row "):
        lt.Dataset(new)
    alike = lt.Dataset(new, coding=data.coding)
    assert np.allclose(alike["x"], EXPECTED[[1]])
    later = lt.Dataset(frame(species=["Gentoo"] * 6, day=DAYS + pd.Timedelta(days=1)))
    assert later.columns != data.columns
    again = later.recoded(data.coding)
    assert again.columns == data.columns
    assert np.allclose(again["x"][:, 4], EXPECTED[:, 4] + 1, equal_nan=True)
    assert again["x"][:, 2].tolist() == [1.0] * 6
    with pytest.raises(lt.DataError, match="column 'species' is 'Dodo' at row 0, which is none of its 2 categories"):
        lt.Dataset(frame(species=["Dodo"] * 6)).recoded(data.coding)
    with pytest.raises(lt.DataError, match="column 'day' holds numbers here and held dates in the fit"):
        lt.Dataset(frame(day=range(6)), coding=data.coding)


@pytest.mark.parametrize(
    ("column", "sentence"),
    [
        (
            [f"mouse {i}" for i in range(30)],
            r"column 'c' holds 30 different texts in 30 rows \('mouse 0' at row 0\).*ids='c'",
        ),
        ([f"note {i // 2}" for i in range(50)], r"25 different texts in 50 rows.*too many.*astype\('category'\)"),
        (["a", 1] * 20, "column 'c' mixes int and str"),
        ([[1, 2]] * 40, "column 'c' holds (list|List.*) values"),
        ([b"a"] * 40, "column 'c' holds (bytes|Binary) values"),
    ],
)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_what_is_no_measurement_is_refused_by_name(library, column, sentence):
    if library == "polars" and 1 in column[:2]:
        pytest.skip("polars has no such column")
    make = pd.DataFrame if library == "pandas" else pl.DataFrame
    with pytest.raises(lt.DataError, match=sentence):
        lt.Dataset(make({"c": column, "a": np.arange(float(len(column)))}))


def test_numbers_of_rows_are_refused_where_they_are_called_so():
    table = pd.DataFrame({"mouse_id": range(100, 120), "mass": np.arange(20.0)})
    with pytest.raises(lt.DataError, match=r"column 'mouse_id' holds a number of its own for each row.*ids='mouse_id'"):
        lt.Dataset(table)
    data = lt.Dataset(table, ids="mouse_id")
    assert (data.rows[0], data.columns["x"]) == ("100", ("mass",))
    assert lt.Dataset(table.rename(columns={"mouse_id": "dose"})).shape == (20, 2)


def test_numbers_may_be_declared_to_be_labels():
    table = pl.DataFrame({"site": [3, 1, 2, 1] * 5, "mass": np.arange(20.0)})
    data = lt.read(table, categories="site")
    assert data.columns["x"] == ("site=1", "site=2", "site=3", "mass")
    assert data.frame()["site"].tolist() == [3, 1, 2, 1] * 5


def test_columns_may_have_any_name():
    table = pd.DataFrame(np.arange(12.0).reshape(4, 3), columns=[0, ("a", 1), None])
    assert lt.Dataset(table).columns["x"] == ("0", "('a', 1)", "None")
    assert lt.Dataset(table, domain=pd.Series(list("uvuv"))).domain.size == 2


@pytest.mark.usefixtures("no_optimiser_steps")
def test_rows_of_a_fit_are_known_where_their_dates_begin_on_another_day(rng):
    days = pd.date_range("2024-01-01", periods=200, freq="D")
    table = pd.DataFrame({"day": days, "mass": rng.normal(size=200), "sex": ["f", "m"] * 100})
    model = lt.VAE(latent_dim=1, hidden=(4,), epochs=1, validation=0.5, progress=False).fit(table)
    assert model.transform(table.iloc[[7]]).shape == (1, 1)
    later = lt.Dataset(table.iloc[50:].reset_index(drop=True))
    audited = rows_to_audit(model, later).rows + 50
    assert set(audited) <= set(model.record_.held_out)
    frame = later.frame(model.reconstruct(later))
    assert list(frame.columns) == ["day", "mass", "sex"]
    assert set(frame["sex"]) <= {"f", "m"}


def test_numbers_as_text_are_no_categories_unless_somebody_says_so():
    text = ["1.5", "2.5"] * 10
    for frame in (pd.DataFrame({"a": text}), pl.DataFrame({"a": text}), pd.DataFrame({"a": [None, *text[1:]]})):
        with pytest.raises(lt.DataError, match=r"column 'a' holds numbers as text \('.\.5' at row [01]\).*astype"):
            lt.Dataset(frame)
    assert lt.read(pd.DataFrame({"a": text}), categories="a").columns["x"] == ("a=1.5", "a=2.5")
    declared = pd.DataFrame({"a": pd.Categorical(text)})
    data = lt.Dataset(declared)
    assert data.columns["x"] == ("a=1.5", "a=2.5")
    again = lt.Dataset(pd.DataFrame({"a": ["2.5"]}), coding=data.coding)  # a rule of a fit knows them
    assert again["x"].tolist() == [[0.0, 1.0]]
    codes = pd.DataFrame({"a": ["007", "010"] * 10})  # which are no numbers
    assert lt.Dataset(codes).columns["x"] == ("a=007", "a=010")


def typed(**changes):
    """A column of every type that a frame may have, beside one of categories."""
    days = pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-03", "2024-02-01"])
    columns = {
        "size": pd.Categorical(["lo", "hi", "lo", "mid"], categories=["lo", "mid", "hi"], ordered=True),
        "kind": pd.Categorical(["b", "a", "b", "a"], categories=["a", "b"]),
        "site": pd.Categorical([3, 1, 3, 2]),
        "word": ["x", "y", "x", "y"],
        "count": np.array([1, 2, 3, 4]),
        "small": np.array([1, 2, 3, 4], dtype=np.uint16),
        "holes": pd.array([1, 2, None, 4], dtype="Int8"),
        "single": np.array([0.5, 1.5, np.nan, 2.5], dtype=np.float32),
        "double": [0.1, 0.2, 0.3, 0.4],
        "yes": [True, False, True, True],
        "on": days.astype("datetime64[ns]"),
        "second": days.astype("datetime64[s]"),
        "zoned": days.astype("datetime64[ns]").tz_localize("Europe/Berlin"),
        "span": pd.to_timedelta([1, 2, 3, 4], unit="D").astype("timedelta64[ns]"),
    }
    return pd.DataFrame(columns | changes)


def test_a_frame_comes_back_with_the_types_that_it_had():
    given = typed()
    back = lt.Dataset(given).frame()
    pd.testing.assert_frame_equal(back, given)
    polars = pl.DataFrame(
        {
            "size": pl.Series(["lo", "hi", "lo"], dtype=pl.Enum(["lo", "hi"])),
            "kind": pl.Series(["b", "a", "b"], dtype=pl.Categorical),
            "small": pl.Series([1, None, 3], dtype=pl.Int8),
            "single": pl.Series([0.5, 1.5, 2.5], dtype=pl.Float32),
            "on": pl.Series([1, 2, 3], dtype=pl.Datetime("ns")),
            "span": pl.Series([1, 2, 3], dtype=pl.Duration("ms")),
        }
    )
    back = lt.Dataset(polars).frame(library="polars")
    assert back.schema == polars.schema
    assert back["small"].to_list() == [1, None, 3]
    other = lt.Dataset(given).frame(library="polars")
    assert (other["small"].dtype, other["kind"].dtype) == (pl.UInt16, pl.Categorical)
    assert lt.Dataset(polars).frame()["small"].dtype == "Int8"


def test_types_do_not_say_what_cannot_be_said():
    """What a model expects of whole numbers may be fractions, or too large; far dates are beyond nanoseconds."""
    data = lt.Dataset(typed())
    table = np.array(data["x"])
    place = {name: data.columns["x"].index(name) for name in ("count", "small", "on")}
    table[0, place["count"]], table[1, place["small"]], table[2, place["on"]] = 1.5, 1e6, 3e5
    back = data.frame(table)
    assert (back["count"].dtype, back["small"].dtype, back["on"].dtype) == (float, float, "datetime64[us]")
    assert back["on"][2].year == 2845
    assert back["kind"].dtype == "category"
    table[0, data.columns["x"].index("single")] = 1e39
    for library in ("pandas", "polars"):
        far = data.frame(table, library=library)["single"]
        assert (far[0], far[1]) == (1e39, 1.5)  # beyond float32, where it would be infinite


def test_types_change_neither_rules_nor_fingerprints(tmp_path):
    given = typed()[["kind", "small", "double"]]
    one, other = lt.Dataset(given), lt.Dataset(given.astype({"kind": object, "small": "int64"}))
    assert [rule.form for rule in one.coding["x"]] == ["category", "UInt16", None]
    assert [rule.form for rule in other.coding["x"]] == [None, "Int64", None]
    assert (dict(one.coding), hash(one.layout), one.fingerprint) == (
        dict(other.coding),
        hash(other.layout),
        other.fingerprint,
    )
    one.write(tmp_path / "t.npz")
    again = lt.read(tmp_path / "t.npz")
    assert again.frame().dtypes.tolist() == given.dtypes.tolist()
    assert again.fingerprint == one.fingerprint


@pytest.mark.usefixtures("no_optimiser_steps")
def test_types_come_back_from_a_model(tmp_path):
    given = typed(holes=[1, 2, 3, 4]).iloc[[0, 1, 2, 3] * 10].reset_index(drop=True)
    model = lt.VAE(latent_dim=1, hidden=(4,), epochs=1, progress=False).fit(given)
    model.save(tmp_path / "run")
    for fitted in (model, lt.load(tmp_path / "run")):
        filled = fitted.frame(fitted.impute(given), given)
        same = [name for name in given if name not in ("single", "holes")]
        pd.testing.assert_frame_equal(filled[same], given[same])
        assert filled["single"].dtype == np.float32
        assert fitted.frame(fitted.sample(3))["size"].cat.ordered


@pytest.mark.parametrize("change", [{"kind": "soup"}, {"form": "object"}, {"levels": 3}, {"more": 1}, None], ids=str)
def test_rules_in_a_file_have_a_form(change):
    from latentry.data.layout import LAYOUT
    from latentry.json_forms import JsonForm

    layout = lt.Dataset(typed()).layout.to_json()
    form = JsonForm(LAYOUT, "Write it again.")
    assert form.parse(json.dumps(layout), "x") == layout
    wrong = [{}] if change is None else [layout["coding"]["x"][0] | change]
    for coding in ({"x": wrong}, {"x": 1}, {"x": [1]}, [wrong]):
        with pytest.raises(lt.DataError, match="coding"):
            form.parse(json.dumps({**layout, "coding": coding}), "x")


def test_what_a_sentence_advises_of_a_frame_can_be_done(rng, tmp_path):
    """Frames know no categories= and drop=, which are of read; a file does."""
    frame = pd.DataFrame({"mass": rng.normal(size=40), "bird": [f"b{i}" for i in range(40)]})
    with pytest.raises(lt.DataError, match=r"lt\.Dataset\(frame, ids='bird'\).*leave it out of the frame\.$") as told:
        lt.VAE().fit(frame)
    assert not {"categories=", "drop="} & set(re.findall(r"\w+=", str(told.value)))
    assert lt.Dataset(frame, ids="bird").rows == tuple(frame["bird"])
    frame.to_csv(tmp_path / "birds.csv", index=False)
    with pytest.raises(lt.DataError, match=r"categories='bird'.*drop='bird'"):
        lt.read(tmp_path / "birds.csv")
    assert lt.read(tmp_path / "birds.csv", drop="bird").columns["x"] == ("mass",)
