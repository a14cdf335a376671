"""Tables as they come, at the command line: the same numbers as in Python, and what to type for another reading."""

import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

import latentry as lt


@pytest.fixture
def table(rng):
    return pd.DataFrame(
        {
            "mouse": [f"m{i:02}" for i in range(60)],
            "lab": ["Graz", "Bonn"] * 30,
            "mass": rng.normal(size=60),
            "sex": ["f", "f", "m"] * 20,
            "length": rng.normal(size=60),
        }
    )


@pytest.mark.usefixtures("no_optimiser_steps")
def test_one_question_four_ways(call, table, tmp_path):
    """What a model says of rows, from NumPy, pandas, polars and a file: the same numbers."""
    by_hand = np.column_stack([table["mass"], table["sex"] == "f", table["sex"] == "m", table["length"]]).astype(float)
    frame = table.drop(columns="lab")
    given = (
        lt.Dataset(by_hand, table["lab"].to_numpy()),
        lt.Dataset(frame.set_index("mouse"), table.set_index("mouse")["lab"].sample(frac=1, random_state=0)),
        lt.Dataset(pl.from_pandas(table), "lab", ids="mouse"),
    )
    models = [lt.VAE(latent_dim=2, hidden=(4,), epochs=1, progress=False).fit(data) for data in given]
    latents = [model.transform(data) for model, data in zip(models, given, strict=True)]
    assert np.array_equal(latents[0], latents[1])
    assert np.array_equal(latents[0], latents[2])
    assert np.allclose(
        models[1].transform(frame.set_index("mouse").iloc[[5]]), latents[0][[5]]
    )  # one row, one category
    with pytest.raises(lt.DataError, match="'x' at row 0, which is none of its 2 categories"):
        models[2].transform(pl.from_pandas(frame.drop(columns="mouse").assign(sex="x")))

    table.to_csv(tmp_path / "t.csv", index=False)
    words = ["--domain", "lab", "--ids", "mouse"]
    options = ["--latents", "2", "--epochs", "1", "--set", "hidden=[4]", "--quiet", "--out", tmp_path / "run"]
    assert call("fit", tmp_path / "t.csv", *words, *options)[0] == 0
    assert np.array_equal(lt.load(tmp_path / "run").transform(given[0]), latents[0])
    table.iloc[::-1].to_csv(tmp_path / "t.csv", index=False)
    assert (
        call("transform", tmp_path / "run", tmp_path / "t.csv", "--ids", "mouse", "--out", tmp_path / "z.csv")[0] == 0
    )
    written = lt.read(tmp_path / "z.csv")
    assert np.allclose(written["mean"][::-1], latents[0], rtol=1e-6)
    assert written.rows == tuple(table["mouse"])[::-1]


def test_information_four_ways(call, table, tmp_path):
    table.to_csv(tmp_path / "t.csv", index=False)
    x, y = table[["mass"]], table[["length"]]
    found = [
        float(lt.mutual_information(a, b, estimator="gaussian", seed=0))
        for a, b in (
            (x.to_numpy(), y.to_numpy()),
            (x, y.sample(frac=1, random_state=1)),
            (pl.from_pandas(x), pl.from_pandas(y)),
        )
    ]
    code, text, _ = call("mi", tmp_path / "t.csv", "--x", "mass", "--y", "length", "--estimator", "gaussian", "--json")
    assert code == 0
    assert found[0] == found[1] == found[2] == json.loads(text)["value"]


def test_information_of_numbers_beside_labels_four_ways(call, table, tmp_path):
    table = table.assign(length=table["mass"] + (table["sex"] == "f"))
    table.to_csv(tmp_path / "t.csv", index=False)
    x, y = table[["mass", "sex"]], table[["length"]]
    found = [
        float(lt.mutual_information(a, b, seed=0))
        for a, b in (
            (x.to_numpy(), y.to_numpy()),
            (x, y.sample(frac=1, random_state=1)),
            (pl.from_pandas(x), pl.from_pandas(y)),
        )
    ]
    code, text, _ = call("mi", tmp_path / "t.csv", "--x", "mass,sex", "--y", "length", "--json")
    assert code == 0
    assert found[0] == found[1] == found[2] == json.loads(text)["value"]


def test_info_says_how_each_column_is_read_and_what_to_type(call, table, tmp_path):
    table.assign(note=[f"text {i}" for i in range(60)]).to_csv(tmp_path / "t.csv", index=False)
    code, text, error = call("info", tmp_path / "t.csv")
    assert (code, error) == (0, "")
    assert "2 categories (f, m), a column of 0 and 1 for each, in x    (to change: --domain sex, " in text
    assert "cannot be read: modality 'x': column 'note' holds 60 different texts" in text
    assert "These cannot be read together as they are" in text
    words = ["--domain", "lab", "--ids", "mouse", "--modality", "body=mass,length", "--modality", "sex=sex"]
    code, text, error = call("info", tmp_path / "t.csv", *words, "--json")
    shown = json.loads(text)
    assert (code, error, shown["rows"], list(shown["shapes"])) == (0, "", 60, ["body", "sex"])
    assert shown["parts"]["mouse"]["reads"] == "names the rows"
    assert shown["parts"]["note"]["reads"] == "left out: no --modality names it"


def test_a_toml_file_beside_the_data_speaks_for_every_command(call, table, tmp_path):
    table.to_csv(tmp_path / "t.csv", index=False)
    said = 'files = ["t.csv"]\ndomain = "lab"\nids = "mouse"\n[modalities]\nbody = ["mass", "length"]\n'
    (tmp_path / "data.toml").write_text(said)
    code, text, _ = call("info", tmp_path / "t.csv", "--json")
    assert (code, list(json.loads(text)["shapes"])) == (0, ["body"])
    (tmp_path / "data.toml").write_text(said.replace("lab", "labb"))
    code, _, error = call("fit", tmp_path / "t.csv", "--out", tmp_path / "run")
    assert code == 2
    assert "--domain 'labb': there is no such column; did you mean 'lab'" in error


def test_a_marker_of_missing_cells_is_shown_and_numbers_stay_numbers(call, tmp_path):
    """NA is what R writes; the column was six categories."""
    (tmp_path / "t.csv").write_text("n,m\n" + "0,1\n1,3\n2,2\n3,4\nNA,6\n4,5\n" * 5)
    code, text, error = call("info", tmp_path / "t.csv")
    assert (code, error) == (0, "")
    assert "0 to 4, 5 empty (NA)" in text
    assert "numbers in x" in text
    assert "categories" not in text
    code, _, error = call("mi", tmp_path / "t.csv", "--x", "n", "--y", "m")
    assert code == 2
    assert "x: it is nan at row 4" in error
    (tmp_path / "t.csv").write_text("n,m\n" + "".join(f"{i / 7},{i * i}\n" for i in range(50)) + "lost,3\n")
    for words in (("info", "--json"), ("mi", "--x", "n", "--y", "m")):
        code, text, error = call(words[0], tmp_path / "t.csv", *words[1:])
        assert "'lost' at row 50" in text + error


@pytest.mark.usefixtures("no_optimiser_steps")
def test_a_run_that_knows_a_level_na_reads_it_from_a_csv(call, table, tmp_path):
    """As runs of before do, and those that were fitted to frames."""
    table["lab"] = ["NA", "EU", "?"] * 20
    model = lt.VAE(latent_dim=2, hidden=(4,), epochs=1, progress=False)
    origin = {"file": str(tmp_path / "t.csv"), "ids": "mouse"}
    model.fit(lt.Dataset(table, ids="mouse"), run=tmp_path / "run", origin=origin)
    table.to_csv(tmp_path / "t.csv", index=False)
    code, _, error = call(
        "transform", tmp_path / "run", tmp_path / "t.csv", "--out", tmp_path / "z.npz", "--ids", "mouse"
    )
    assert (code, error) == (0, "")
    with np.load(tmp_path / "z.npz") as found:
        assert np.array_equal(found["mean"], model.transform(table.drop(columns="mouse")))
    code, _, error = call("fit", "--resume", tmp_path / "run", "--epochs", 2, "--quiet")
    assert (code, error) == (0, "")


@pytest.mark.parametrize(
    ("index", "said"), [(None, "counts the rows, and is not read"), ([f"m{i}" for i in range(60)], "names the rows")]
)
def test_an_index_that_pandas_wrote_is_no_problem(call, table, tmp_path, index, said):
    frame = table.drop(columns="mouse") if index is None else table.drop(columns="mouse").set_axis(index)
    frame.to_csv(tmp_path / "t.csv")
    code, text, error = call("info", tmp_path / "t.csv")
    assert (code, error) == (0, "")
    assert text.split("\n")[1].strip() == f"→ {said}"
    assert "(no header)" in text
    assert "cannot be read" not in text
    assert lt.read(tmp_path / "t.csv").rows == (None if index is None else tuple(index))


def test_what_to_type_can_be_typed(call, tmp_path):
    import shlex

    name = 'it\'s a "name" (cm)'
    pd.DataFrame({name: np.arange(8.0), "u": np.arange(8) / 3}).to_csv(tmp_path / "t.csv", index=False)
    _, text, _ = call("info", tmp_path / "t.csv")
    offered = text.split("(to change: ")[1].split("--drop ")[1].split("\n")[0].removesuffix(")")
    assert shlex.split(offered) == [name]
    assert call("info", tmp_path / "t.csv", "--drop", name)[0] == 0


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [
        (np.array(["a", "b"] * 10, dtype=object), "array 'species': it holds Python objects.*array.astype"),
        (np.array(["a", "b"] * 10), "Say what it is: --domain species, --groups species or --ids species; or encode"),
        (np.arange(20).astype("M8[D]"), "modality 'species': dates .*--time species"),
        (np.zeros(20, dtype=[("a", "f8"), ("b", "i4")]), "modality 'species': records with the fields a, b"),
    ],
    ids=["objects", "text", "dates", "records"],
)
def test_arrays_that_are_no_numbers_say_what_to_do(call, tmp_path, rng, labels, sentence):
    np.savez(tmp_path / "t.npz", x=rng.normal(size=(20, 3)), species=labels)
    np.save(tmp_path / "t.npy", labels)
    _, text, error = call("info", tmp_path / "t.npz")
    assert re.search(sentence, text + error)
    code, text, error = call("info", tmp_path / "t.npy")
    assert code == 2
    assert re.search("Python objects|one modality of numbers|records with the fields", error)
    assert "--domain ." not in text + error


@pytest.mark.parametrize("written", [True, False], ids=["by us", "by others"])
def test_info_of_a_zarr_store(call, tmp_path, rng, written):
    zarr = pytest.importorskip("zarr")
    path = tmp_path / "x.zarr"
    if written:
        lt.Dataset({"a": rng.normal(size=(20, 3))}, domain=["p", "q"] * 10).write(path)
    else:
        store = zarr.open_group(path, mode="w")
        store.create_array("a", data=rng.normal(size=(20, 3)))
        store.create_array("lab", data=np.repeat([1, 2], 10))
    code, text, error = call("info", path, *([] if written else ["--domain", "lab"]))
    assert (code, error) == (0, "")
    assert "20 rows of 3 float64" in text
    assert "2 labels" in text
    assert ("20 whole numbers, 1 to 2" in text) is not written


def test_info_has_a_ceiling_that_may_be_raised(call, tmp_path):
    np.savez_compressed(tmp_path / "x.npz", x=np.tile([[0.0, 1.0], [1.0, 0.0]], (50_000, 1)))
    code, _, error = call("info", tmp_path / "x.npz", "--max-gb", "0.001")
    assert code == 2
    assert "would expand to 0.0016 GB, more than 0.001 GB" in error
    assert call("info", tmp_path / "x.npz", "--max-gb", "0.01")[0] == 0


def test_info_shows_what_arrays_and_annotated_tables_hold(call, tmp_path, rng):
    anndata = pytest.importorskip("anndata")
    np.savez(tmp_path / "d.npz", x=rng.normal(size=(9, 2)), label=np.array(["a", "b", "c"] * 3))
    code, text, error = call("info", tmp_path / "d.npz")
    assert (code, error) == (0, "")
    assert "9 texts, 3 different: a, b, c" in text
    assert "--domain label" in text
    assert call("info", tmp_path / "d.npz", "--domain", "label", "--json")[0] == 0
    cells = anndata.AnnData(rng.normal(size=(9, 3)).astype(np.float32), obsm={"X_pca": rng.normal(size=(9, 2))})
    cells.obs["donor"] = ["a", "b", "c"] * 3
    cells.write_h5ad(tmp_path / "c.h5ad")
    code, text, error = call("info", tmp_path / "c.h5ad")
    assert (code, error) == (0, "")
    assert "obs/donor" in text
    assert "--modality pca=obsm/X_pca" in text


@pytest.mark.usefixtures("no_optimiser_steps")
def test_model_and_data_in_each_others_place_are_noticed(call, table, tmp_path):
    x = table[["mass", "length"]].to_numpy()
    model = lt.VAE(latent_dim=1, hidden=(4,), epochs=1, progress=False).fit(x)
    model.save(tmp_path / "run")
    np.save(tmp_path / "x.npy", x)
    for words in (["transform"], ["certify"]):
        code, _, error = call(*words, tmp_path / "x.npy", tmp_path / "run")
        assert (code, "swapped, it seems" in error) == (2, True)
    with pytest.raises(lt.DataError, match="latents and data: swapped"):
        lt.certify(lt.Dataset(x), model)
    with pytest.raises(lt.DataError, match="the two are swapped"):
        lt.IFlow().fit(np.arange(60) % 2, x)


@pytest.mark.usefixtures("no_optimiser_steps")
@pytest.mark.parametrize("kind", [lt.IFlow, lt.CGVAE])
def test_one_table_may_have_any_name(kind, table):
    x = table[["mass", "length"]].to_numpy()
    usual, other = (
        kind(epochs=1, progress=False).fit(lt.Dataset({name: x}, table["lab"].to_numpy())) for name in ("x", "worst")
    )
    assert np.array_equal(usual.transform(lt.Dataset({"x": x})), other.transform(lt.Dataset({"worst": x})))
    assert np.array_equal(usual.sample(3), other.sample(3)["worst"])


@pytest.mark.usefixtures("no_optimiser_steps")
def test_what_was_said_for_the_fit_is_recalled(call, table, tmp_path):
    """Names of rows, domain and groups are those of the fit, where the file has such columns and the options say nothing."""
    from latentry.cli.transform import read_for

    table = table.assign(plate=np.arange(60) // 6, cage=np.arange(60) % 7)
    table.to_csv(tmp_path / "t.csv", index=False)
    words = ["--domain", "lab", "--ids", "mouse", "--groups", "plate", "--drop", "cage"]
    options = ["--latents", "1", "--epochs", "1", "--set", "hidden=[4]", "--quiet", "--out", tmp_path / "run"]
    assert call("fit", tmp_path / "t.csv", *words, *options)[0] == 0
    table.to_csv(tmp_path / "u.csv", index=False)
    z = tmp_path / "z.csv"
    code, _, error = call("transform", tmp_path / "run", tmp_path / "t.csv", "--out", z)
    assert (code, "note: read as in the fit: --ids mouse. Options" in error) == (0, True)
    assert lt.read(z).rows == tuple(table["mouse"])
    table.rename(columns={"mouse": "rat"}).to_csv(tmp_path / "t.csv", index=False)
    assert call("transform", tmp_path / "run", tmp_path / "t.csv", "--out", z)[::2] == (
        0,
        "",
    )  # there is no such column
    assert lt.read(z).rows is None
    assert call("transform", tmp_path / "run", tmp_path / "t.csv", "--ids", "rat", "--out", z)[::2] == (0, "")
    assert lt.read(z).rows == tuple(table["mouse"])
    nothing = {"domain": None, "modalities": None, "groups": None, "ids": None, "roles": None}
    rows = read_for(lt.load(tmp_path / "run"), tmp_path / "u.csv", nothing)  # as certify reads them
    assert rows.domain.as_labels().tolist() == table["lab"].tolist()
    assert rows.groups.tolist() == table["plate"].tolist()


def test_info_speaks_the_words_of_the_command_line(call, table, tmp_path):
    """What it says to type is an option, and takes the column from where it is."""
    table.assign(plate=np.arange(60) // 6).to_csv(tmp_path / "t.csv", index=False)
    _, text, _ = call("info", tmp_path / "t.csv")
    assert "ids='mouse'" not in text
    assert text.count("--ids 'mouse'") == 2
    assert "--category plate, --ids plate, --domain plate, --groups plate" in text
    for option in ("--groups", "--domain", "--factor", "--drop", "--time"):
        code, text, _ = call("info", tmp_path / "t.csv", "--ids", "mouse", option, "plate", "--json")
        assert code == 0
        assert "plate" not in json.loads(text)["columns"]["x"]


@pytest.mark.usefixtures("no_optimiser_steps")
def test_a_column_of_the_fit_cannot_be_dropped_afterwards(call, tmp_path):
    rng = np.random.default_rng(0)
    pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc")).to_csv(tmp_path / "t.csv", index=False)
    call("fit", tmp_path / "t.csv", "--latents", "1", "--out", tmp_path / "run", "--quiet")
    for words in (("transform", "--out", tmp_path / "z.csv"), ("certify", "--out", tmp_path / "report")):
        code, _, error = call(words[0], tmp_path / "run", tmp_path / "t.csv", "--drop", "b", *words[1:])
        assert code == 2
        assert "'b': the model was fitted with this column" in error
    assert not (tmp_path / "z.csv").exists()
