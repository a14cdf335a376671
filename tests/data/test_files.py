import sys

import numpy as np
import pytest

import latentry as lt
from latentry.data.columns import Coding

TABLES = (".csv", ".parquet", ".h5mu", ".npz", ".zarr")


def same(a, b):
    assert a.names == b.names
    for name in a.names:
        assert (a.observed[name] == b.observed[name]).all()
        seen = a.observed[name]
        assert (np.asarray(a[name])[seen] == np.asarray(b[name])[seen]).all()
    assert (a.domain is None) == (b.domain is None)
    if a.domain is not None and not a.domain.is_continuous:
        assert a.domain.as_labels().tolist() == b.domain.as_labels().tolist()
    elif a.domain is not None:
        assert (a.domain.values == b.domain.values).all()
    assert {k: v.tolist() for k, v in a.factors.items()} == {k: v.tolist() for k, v in b.factors.items()}
    assert dict(a.columns) == dict(b.columns)
    assert a.rows == b.rows
    for mine, other in ((a.groups, b.groups), (a.time, b.time)):
        assert (mine is None) == (other is None)
        assert mine is None or mine.tolist() == other.tolist()


@pytest.fixture
def table(rng):
    blood = rng.normal(size=(20, 3))
    blood[4] = np.nan
    return lt.Dataset(
        {"blood": blood, "urine": rng.normal(size=(20, 2))},
        domain=[f"lab {i % 3}" for i in range(20)],
        groups=[f"subject {i // 4}" for i in range(20)],
        time=np.arange(20) / 7,
        factors={"age": rng.normal(size=20), "sex": np.array(["f", "m"] * 10)},
        rows=[f"p{i}" for i in range(20)],
        columns={"blood": ["Na", "K", "Cl"], "urine": ["pH", "Na"]},
    )


@pytest.mark.parametrize("ending", TABLES)
def test_tables_round_trip(table, tmp_path, ending):
    table.write(tmp_path / f"t{ending}")
    same(table, lt.read(tmp_path / f"t{ending}"))


@pytest.mark.parametrize("ending", [".npz", ".zarr"])
def test_any_rank_round_trips(tmp_path, rng, ending):
    data = lt.Dataset(
        {"image": rng.integers(0, 255, (6, 5, 4, 3)).astype(np.uint8), "curve": rng.normal(size=(6, 9))},
        domain=rng.normal(size=(6, 2)),
        factors={"pose": rng.normal(size=(6, 2))},
    )
    data.write(tmp_path / f"t{ending}")
    back = lt.read(tmp_path / f"t{ending}")
    same(data, back)
    assert back["image"].dtype == np.uint8


def test_h5ad_round_trips(tmp_path, rng):
    data = lt.Dataset(
        rng.normal(size=(8, 3)), domain=[1, 2] * 4, rows=[f"c{i}" for i in range(8)], columns={"x": ["g1", "g2", "g3"]}
    )
    data.write(tmp_path / "t.h5ad")
    same(data, lt.read(tmp_path / "t.h5ad"))


def test_h5ad_by_others(tmp_path, rng):
    anndata = pytest.importorskip("anndata")
    import scipy.sparse

    table = anndata.AnnData(scipy.sparse.csr_matrix(np.eye(4, dtype=np.float32)))
    table.obs["batch"] = ["x", "y", "x", "y"]
    table.write_h5ad(tmp_path / "cells.h5ad")
    data = lt.read(tmp_path / "cells.h5ad", domain="batch")
    assert data.domain.size == 2
    assert (data["x"] == np.eye(4)).all()
    with pytest.raises(lt.DataError, match="'bach': there is no such obs column; did you mean 'batch'"):
        lt.read(tmp_path / "cells.h5ad", domain="bach")


def test_plain_npz_takes_roles_from_the_call(tmp_path):
    np.savez(tmp_path / "d.npz", x=np.ones((3, 2)), y=np.zeros((3, 4)), u=np.array([0, 1, 0]), s=np.arange(3.0))
    data = lt.read(tmp_path / "d.npz", domain="u", factors=["s"])
    assert (data.names, data.domain.size, list(data.factors)) == (("x", "y"), 2, ["s"])
    assert lt.read(tmp_path / "d.npz", modalities=["y"]).names == ("y",)


def test_a_file_of_ours_may_be_read_in_another_role(tmp_path):
    data = lt.Dataset(
        {"a": np.ones((4, 2)), "domain": np.ones((4, 1))}, domain=[0, 1, 0, 1], factors={"kind": [1, 1, 2, 2]}
    )
    data.write(tmp_path / "d.npz")
    same(data, lt.read(tmp_path / "d.npz", domain="domain"))
    assert lt.read(tmp_path / "d.npz", domain="kind", modalities=["a"]).domain.as_labels().tolist() == [1, 1, 2, 2]
    with pytest.raises(lt.DataError, match="domain='knd': there is no such domain or factor; did you mean 'kind'"):
        lt.read(tmp_path / "d.npz", domain="knd")


def test_plain_csv_takes_roles_from_the_call(tmp_path):
    (tmp_path / "d.csv").write_text("bill,mass,island\n39.1,3750,Torgersen\n,,Biscoe\n40.3,3250,Dream\n")
    with pytest.raises(
        lt.DataError, match=r"d\.csv: modality 'x': column 'island' holds 3 .* \('Torgersen' at row 0\)"
    ):
        lt.read(tmp_path / "d.csv")
    with pytest.raises(lt.DataError, match="row 1"):
        lt.read(tmp_path / "d.csv", domain="island")
    (tmp_path / "e.csv").write_text("bill,mass,island\n39.1,3750,Torgersen\n40.3,3250,Dream\n")
    data = lt.read(tmp_path / "e.csv", domain="island", modalities={"b": ["bill"], "m": ["mass"]})
    assert data.names == ("b", "m")
    assert data.columns["b"] == ("bill",)


def test_npy_stays_on_disk(tmp_path):
    np.save(tmp_path / "x.npy", np.ones((3, 2)))
    assert lt.read(tmp_path / "x.npy").is_lazy


def test_zarr_stays_on_disk(tmp_path):
    lt.Dataset(np.ones((30, 2)), domain=[0, 1] * 15).write(tmp_path / "x.zarr")
    data = lt.read(tmp_path / "x.zarr")
    assert data.is_lazy
    assert not isinstance(data["x"], np.ndarray)
    data.take([3, 1]).write(tmp_path / "y.zarr")
    assert len(lt.read(tmp_path / "y.zarr")) == 2


@pytest.mark.parametrize("ending", [".npz", ".parquet", ".h5ad", ".h5mu", ".npy"])
@pytest.mark.parametrize("kept", [0, 10, 100])
def test_half_written_files_get_a_sentence(tmp_path, ending, kept):
    path = tmp_path / f"x{ending}"
    lt.Dataset(np.random.default_rng(0).normal(size=(50, 3))).write(path)
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(lt.DataError, match=f"x{ending}"):
        lt.read(path)


BAD_CSV = {
    "empty": ("", "has no row"),
    "header only": ("a,b\n", "has no row"),
    "short line": ("a,b\n1,2\n3\n", "line 3: 1 cells for 2 columns"),
    "twin columns": ("a,a\n1,2\n", "two columns are called 'a'"),
}


@pytest.mark.parametrize("case", BAD_CSV)
def test_bad_csv(tmp_path, case):
    text, sentence = BAD_CSV[case]
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(lt.DataError, match=sentence):
        lt.read(tmp_path / "x.csv")


def test_a_failed_write_leaves_the_earlier_file(tmp_path, rng):
    path = tmp_path / "x.csv"
    lt.Dataset(rng.normal(size=(3, 2))).write(path)
    before = path.read_bytes()
    with pytest.raises(lt.DataError, match="a table cannot hold it"):
        lt.Dataset({"image": rng.normal(size=(3, 6, 6))}).write(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["x.csv"]


def test_unknown_endings_and_missing_files(tmp_path):
    with pytest.raises(lt.DataError, match="does not exist"):
        lt.read(tmp_path / "no.csv")
    (tmp_path / "x.cvs").write_text("a\n1\n")
    with pytest.raises(lt.DataError, match="did you mean '.csv'"):
        lt.read(tmp_path / "x.cvs")


@pytest.mark.parametrize(
    ("ending", "package", "extra"), [(".parquet", "pyarrow", "parquet"), (".zarr", "zarr", "zarr")]
)
def test_a_missing_extra_says_what_to_install(tmp_path, monkeypatch, ending, package, extra):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"pip install 'latentry\[{extra}\]'"):
        lt.Dataset(np.ones((2, 2))).write(tmp_path / f"x{ending}")


def test_no_objects_are_unpacked(tmp_path):
    np.savez(tmp_path / "evil.npz", x=np.array([[{"a": 1}]], dtype=object))
    with pytest.raises(lt.DataError, match="evil.npz"):
        lt.read(tmp_path / "evil.npz")


@pytest.mark.parametrize("ending", [".npz", ".csv", ".parquet", ".zarr", ".h5ad", ".h5mu"])
def test_rows_taken_from_disk_are_written_as_they_are(tmp_path, rng, ending):
    rows = rng.normal(size=(20, 3))
    np.save(tmp_path / "x.npy", rows)
    part = lt.read(tmp_path / "x.npy").take([3, 1, 7])
    assert part.is_lazy
    part.write(tmp_path / f"part{ending}")
    back = lt.read(tmp_path / f"part{ending}")
    assert (np.asarray(back["x"]) == rows[[3, 1, 7]]).all()
    scaled = part.standardise()
    assert scaled.select("x")["x"].shape == (3, 3)
    assert scaled.select("x").is_lazy
    assert np.asarray(scaled["x"]).shape == (3, 3)
    assert part["x"][1].shape == (3,)


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".h5ad"])
def test_an_empty_domain_cell_is_missing_not_a_domain(tmp_path, ending):
    import pandas as pd

    frame = pd.DataFrame({"a": [1.0, 2.0, 3.0], "lab": ["x", None, "y"]})
    path = tmp_path / f"t{ending}"
    if ending == ".csv":
        frame.to_csv(path, index=False)
    elif ending == ".parquet":
        frame.to_parquet(path)
    else:
        anndata = pytest.importorskip("anndata")
        table = anndata.AnnData(frame[["a"]].to_numpy())
        table.obs["lab"] = pd.Categorical(["x", None, "y"])
        table.write_h5ad(path)
    with pytest.raises(lt.DataError, match="domain: missing at row 1"):
        lt.read(path, domain="lab")


def test_names_that_look_like_numbers_stay_names(tmp_path):
    data = lt.Dataset(np.ones((3, 2), dtype=bool), domain=["01", "1_0", "1"], rows=["001", "1e5", "7"])
    data.write(tmp_path / "t.csv")
    back = lt.read(tmp_path / "t.csv")
    assert back.rows == ("001", "1e5", "7")
    assert back.domain.as_labels().tolist() == ["01", "1_0", "1"]


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_columns_with_signs_of_ours_keep_their_names(tmp_path, ending):
    data = lt.Dataset(np.ones((2, 3)), columns={"x": ["chr1:5", "@domain", "plain"]})
    data.write(tmp_path / f"t{ending}")
    same(data, lt.read(tmp_path / f"t{ending}"))


def test_h5ad_keeps_the_modality_and_repeated_row_names(tmp_path, rng):
    lt.Dataset({"blood": rng.normal(size=(3, 2))}).write(tmp_path / "t.h5ad")
    assert lt.read(tmp_path / "t.h5ad").names == ("blood",)
    twins = lt.Dataset(rng.normal(size=(3, 2)), rows=["a", "a", "b"])
    twins.write(tmp_path / "u.h5ad")
    assert (lt.read(tmp_path / "u.h5ad")["x"] == twins["x"]).all()
    with pytest.raises(lt.DataError, match="two rows are called 'a'"):
        twins.write(tmp_path / "u.h5mu")


def test_a_domain_in_one_modality_of_h5mu_is_found(tmp_path):
    anndata, mudata = pytest.importorskip("anndata"), pytest.importorskip("mudata")
    table = anndata.AnnData(np.eye(3, dtype=np.float32))
    table.obs["lab"] = ["p", "q", "p"]
    with mudata.set_options(pull_on_update=False):
        mudata.MuData({"rna": table}).write(tmp_path / "m.h5mu")
    assert lt.read(tmp_path / "m.h5mu", domain="lab").domain.as_labels().tolist() == ["p", "q", "p"]
    with pytest.raises(lt.DataError, match="'rn': there is no such modality; did you mean 'rna'"):
        lt.read(tmp_path / "m.h5mu", modalities=["rn"])


@pytest.mark.parametrize("name", ["thesis.csv", "thesis.zarr"])
def test_a_folder_of_another_kind_is_never_replaced(tmp_path, name):
    (tmp_path / name).mkdir()
    (tmp_path / name / "chapter.tex").write_text("years of work")
    with pytest.raises(lt.DataError, match="a folder of another kind"):
        lt.Dataset(np.ones((2, 2))).write(tmp_path / name)
    assert (tmp_path / name / "chapter.tex").read_text() == "years of work"


def test_a_zarr_store_is_replaced_whole(tmp_path):
    lt.Dataset(np.ones((4, 2))).write(tmp_path / "x.zarr")
    lt.Dataset(np.zeros((3, 2))).write(tmp_path / "x.zarr")
    assert len(lt.read(tmp_path / "x.zarr")) == 3
    assert [p.name for p in tmp_path.iterdir()] == ["x.zarr"]


def test_bit_flips_are_sentences(tmp_path, rng):
    path = tmp_path / "x.npz"
    lt.Dataset({"file": rng.normal(size=(30, 3))}).write(path)
    whole = path.read_bytes()
    for place in rng.integers(0, len(whole), 60):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            lt.read(path)
        except lt.DataError as problem:
            assert "x.npz" in str(problem)  # noqa: PT017


def test_a_lost_chunk_is_not_read_as_zeros(tmp_path, rng):
    lt.Dataset(rng.normal(size=(10, 2))).write(tmp_path / "x.zarr")
    for chunk in (tmp_path / "x.zarr" / "x" / "c").rglob("*"):
        if chunk.is_file():
            chunk.unlink()
    with pytest.raises(lt.DataError, match=r"array 'x': 1 of 1 chunks are not stored"):
        lt.read(tmp_path / "x.zarr")


SURELY_MISSING = ("NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "", " ")
PERHAPS_MISSING = ("?", "-", "--", ".", "None", "none")


@pytest.mark.parametrize("mark", SURELY_MISSING + PERHAPS_MISSING)
def test_what_stands_for_nothing_in_a_csv_is_missing(tmp_path, mark):
    """Among numbers, dates and truth values; numbers stay numbers."""
    path = tmp_path / "t.csv"
    rows = [(i / 4, f"2024-01-{i + 1:02}", i % 2 == 0) for i in range(8)]
    rows[5] = (mark, mark, mark)
    path.write_text("a,on,yes,u\n" + "\n".join(",".join(map(str, row)) + ",0.5" for row in rows))
    data = lt.read(path)
    assert data.columns["x"] == ("a", "on", "yes", "u")
    assert data["x"][4].tolist() == [1.0, 4.0, 1.0, 0.5]
    assert np.isnan(data["x"][5]).tolist() == [True, True, True, False]
    from latentry.data import survey

    shown = f", 1 empty ({mark})" if mark.strip() else ", 1 empty"
    assert [part.holds.endswith(shown) for part in survey(path)] == [True, True, True, False]


@pytest.mark.parametrize("mark", SURELY_MISSING + PERHAPS_MISSING)
def test_words_that_may_be_words_stay_words_among_words(tmp_path, mark):
    path = tmp_path / "t.csv"
    path.write_text("drug,u\n" + "".join(f"{word},{i}\n" for i, word in enumerate(["A", "B", mark] * 4)))
    assert lt.read(path).columns["x"] == (
        ("drug=A", "drug=B", "u") if mark in SURELY_MISSING else (*sorted(["drug=A", "drug=B", f"drug={mark}"]), "u")
    )


def test_names_and_what_we_wrote_are_what_they_say(tmp_path):
    data = lt.Dataset(np.ones((4, 1)), domain=["NA", "none", "-", "nan"], rows=["NA", "null", "?", "x"])
    data.write(tmp_path / "t.csv")
    back = lt.read(tmp_path / "t.csv")
    assert back.domain.as_labels().tolist() == ["NA", "none", "-", "nan"]
    assert back.rows == ("NA", "null", "?", "x")
    (tmp_path / "r.csv").write_text(",u\nNA,1\nnull,2\nx,3\n")
    assert lt.read(tmp_path / "r.csv").rows == ("NA", "null", "x")


@pytest.mark.parametrize("part", ["domain", "groups", "factors", "categories"])
def test_a_column_that_is_called_labels_keeps_a_label_na(tmp_path, part):
    path = tmp_path / "t.csv"
    path.write_text("region,u\n" + "".join(f"{'NA' if i % 2 else 'EU'},{i / 4}\n" for i in range(8)))
    data = lt.read(path, **{part: "region"})
    found = {
        "domain": lambda: data.domain.as_labels(),
        "groups": lambda: data.groups,
        "factors": lambda: data.factors["region"],
        "categories": lambda: np.array(["EU", "NA"])[np.asarray(data["x"])[:, 1].astype(int)],
    }
    assert found[part]().tolist() == ["EU", "NA"] * 4
    from latentry.data import survey

    assert survey(path, **{part: "region"})[0].holds == "8 texts, 2 different: EU, NA"
    path.write_text("region,u\n" + "".join(f"{'NA' if i == 3 else i / 2},{i / 4}\n" for i in range(8)))
    assert survey(path, **{part: "region"})[0].holds.endswith("1 empty (NA)")  # among numbers it is none


@pytest.mark.parametrize("names", [("ann", "NA", "?"), ("1", "NA", "3")])
def test_names_of_rows_that_are_called_by_name_are_what_they_say(tmp_path, names):
    (tmp_path / "t.csv").write_text("who,u\n" + "".join(f"{name},{i / 4}\n" for i, name in enumerate(names)))
    assert lt.read(tmp_path / "t.csv", ids="who").rows == names


@pytest.mark.parametrize("mark", ["NA", "?"])
@pytest.mark.parametrize("prefix", ["", "m:"])
def test_what_a_fit_knows_as_a_level_is_no_missing_cell(tmp_path, mark, prefix):
    """Runs of before have such levels; a rule of another modality says nothing of this column."""
    path = tmp_path / "t.csv"
    path.write_text(f"{prefix}region,{prefix}u\n" + "".join(f"{mark if i % 2 else '1'},{i / 4}\n" for i in range(8)))
    known = [Coding("region", "category", levels=("1", mark)), Coding("u", "number")]
    name = "m" if prefix else "x"
    assert lt.read(path, coding={name: known})[name][:, 1].tolist() == [0.0, 1.0] * 4
    other = [Coding("region", "number"), Coding("u", "number")]
    if prefix:
        assert np.isnan(lt.read(path, coding={"m": other, "n": known})["m"][:, 0]).tolist() == [False, True] * 4


@pytest.mark.parametrize("odd", ["+", "e5", "+.", "."])
def test_signs_without_a_digit_are_no_numbers(tmp_path, odd):
    path = tmp_path / "t.csv"
    path.write_text("strand,u\n" + "".join(f"{odd if i % 2 else 'x'},{i / 4}\n" for i in range(8)))
    assert lt.read(path).columns["x"] == (*sorted([f"strand={odd}", "strand=x"]), "u")
    path.write_text("strand,u\n" + "".join(f"{'+' if i % 2 else '-'},{i / 4}\n" for i in range(8)))
    assert lt.read(path).columns["x"] == ("strand=+", "strand=-", "u")


def test_a_name_with_a_semicolon_over_plain_numbers_is_a_name(tmp_path):
    (tmp_path / "t.csv").write_text("conc; nM\n1.5\n2\n")
    assert lt.read(tmp_path / "t.csv").columns["x"] == ("conc; nM",)


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize(("count", "bad"), [(60, "bad"), (6, "1,5"), (6, "007")])
def test_a_text_among_numbers_is_named_with_its_row(tmp_path, ending, count, bad):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"u": np.arange(count) / 7, "b": [str(i / 2) for i in range(count)]})
    frame.loc[4, "b"] = bad
    frame.to_csv(tmp_path / "t.csv", index=False)
    if ending == ".parquet":
        pytest.importorskip("pyarrow")
        frame.to_parquet(tmp_path / "t.parquet", index=False)
    with pytest.raises(
        lt.DataError,
        match=rf"column 'b' is '{bad}' at row 4, and {count - 1} of its {count} cells are numbers.*drop='b'",
    ):
        lt.read(tmp_path / f"t{ending}")
    if count == 6:
        assert f"b={bad}" in lt.read(tmp_path / f"t{ending}", categories="b").columns["x"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("a;b\n1,5;2\n2,5;3\n", "divided by semicolons, it seems.*sep=';'"),
        ("a\tb\n1\t2\n2\t3\n", "divided by tabs, it seems"),
        ("a,b\n1," + "9" * 200_000 + "\n", r"cannot be divided into cells \(field larger than field limit"),
        ('a,b\n1,"' + "2\n" * 99_999, r"cannot be divided into cells .* quotation mark"),
    ],
)
def test_another_separator_or_an_open_quote_is_said(tmp_path, text, sentence):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(lt.DataError, match=sentence) as problem:
        lt.read(tmp_path / "t.csv")
    assert "UTF-8" not in str(problem.value)
