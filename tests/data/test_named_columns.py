"""Which column plays which part: the same words for frames, files, AnnData and xarray, in the call and in a toml file."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import latentry as lt


@pytest.fixture
def table(rng):
    return pd.DataFrame(
        {
            "mouse": [f"m{i:02}" for i in range(24)],
            "lab": ["Graz", "Bonn"] * 12,
            "litter": np.repeat(range(6), 4),
            "mass": rng.normal(size=24),
            "sex": ["f", "f", "m"] * 8,
            "length": rng.normal(size=24),
            "note": [f"free text {i}" for i in range(24)],
            "age": rng.normal(size=24),
        }
    )


ROLES = {"domain": "lab", "groups": "litter", "ids": "mouse", "factors": ["age"], "drop": "note"}


def check(data, table):
    assert data.columns["x"] == ("mass", "sex=f", "sex=m", "length")
    assert data.rows == tuple(table["mouse"])
    assert data.domain.as_labels().tolist() == table["lab"].tolist()
    assert data.groups.tolist() == table["litter"].tolist()
    assert np.allclose(data.factors["age"], table["age"])
    assert np.allclose(np.asarray(data["x"])[:, [0, 3]], table[["mass", "length"]])


def test_the_same_words_for_every_kind_of_table(table, tmp_path):
    table.to_csv(tmp_path / "t.csv", index=False)
    table.to_parquet(tmp_path / "t.parquet", index=False)
    for given in (table, pl.from_pandas(table), tmp_path / "t.csv", tmp_path / "t.parquet"):
        check(lt.read(given, **ROLES), table)
        blocks = lt.read(given, **ROLES, modalities={"body": ["length", "mass"], "sex": "sex"})
        assert dict(blocks.columns) == {"body": ("length", "mass"), "sex": ("sex=f", "sex=m")}
    called = {key: value for key, value in ROLES.items() if key != "drop"}
    check(lt.Dataset(table.drop(columns="note"), **called), table)
    check(lt.Dataset(pl.from_pandas(table.drop(columns="note")), **called), table)


def test_a_toml_file_says_it_once(table, tmp_path):
    table.to_csv(tmp_path / "t.csv", index=False)
    table.to_csv(tmp_path / "other.csv", index=False)
    said = 'files = ["t.*"]\ndomain = "lab"\ngroups = "litter"\nids = "mouse"\nfactors = ["age"]\ndrop = "note"\n'
    (tmp_path / "data.toml").write_text(said)
    check(lt.read(tmp_path / "t.csv"), table)
    check(lt.read(tmp_path / "other.csv", roles=tmp_path / "data.toml"), table)
    check(lt.read(table, roles=tmp_path / "data.toml"), table)
    assert lt.read(tmp_path / "t.csv", domain="sex").domain.labels == ("f", "m")  # the call counts more
    with pytest.raises(lt.DataError, match="column 'mouse' holds 24 different texts"):
        lt.read(tmp_path / "other.csv")
    for words, sentence in (
        ("domian = 'lab'", "'domian' means nothing here; did you mean 'domain'"),
        ("domain = 3", "domain=3: is no name"),
        ("domain = ", "cannot be read as toml"),
        ("domain = 'lab'", "names no files"),
    ):
        (tmp_path / "data.toml").write_text(words)
        with pytest.raises(lt.DataError, match=sentence):
            lt.read(tmp_path / "t.csv")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frames_are_paired_by_their_ids(table, rng, library):
    shuffled = table.sample(frac=1, random_state=1)
    body, rest = table[["mouse", "lab", "mass"]], shuffled[["length", "mouse"]]
    if library == "polars":
        body, rest = pl.from_pandas(body), pl.from_pandas(rest)
    data = lt.Dataset({"body": body, "rest": rest}, domain="lab", ids="mouse")
    assert np.allclose(data["rest"][:, 0], table["length"])
    assert data.domain.as_labels().tolist() == table["lab"].tolist()
    assert data.rows == tuple(table["mouse"])
    if library == "pandas":  # a series with the index of one of the frames goes with its rows
        by_index = lt.Dataset({"body": body, "rest": rest}, domain=shuffled["lab"], ids="mouse")
        assert by_index.domain.as_labels().tolist() == table["lab"].tolist()


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda t: lt.Dataset(t, domain="labb"), "domain='labb': there is no such column; did you mean 'lab'"),
        (
            lambda t: lt.Dataset(t[["mass"]].to_numpy(), ids="mouse"),
            "ids='mouse': names a column, but the data are arrays",
        ),
        (
            lambda t: lt.Dataset({"a": t[["lab", "mass"]], "b": t[["lab", "age"]]}, "lab"),
            "in the frames of 'a' and 'b'",
        ),
        (lambda t: lt.Dataset(t[["mass", "mouse"]].replace("m03", None), ids="mouse"), "ids: missing at row 3"),
        (
            lambda t: lt.Dataset(
                {"a": t[["mouse", "mass"]], "b": t[["mouse", "age"]].replace("m03", "m04")}, ids="mouse"
            ),
            "two rows are called 'm04'",
        ),
        (
            lambda t: lt.read(t, modalities={"body": ["masss"]}),
            r"modalities\['body'\]: there is no column 'masss'; did you",
        ),
        (lambda t: lt.read(3.5), "neither a file nor a table"),
    ],
)
def test_what_is_not_there_is_named(table, make, sentence):
    with pytest.raises(lt.DataError, match=sentence):
        make(table)


def test_an_index_that_pandas_wrote_names_the_rows(table, tmp_path):
    named = table[["mass", "length"]].set_axis(table["mouse"])
    named.rename_axis(None).to_csv(tmp_path / "t.csv")
    named.rename_axis(None).to_parquet(tmp_path / "t.parquet")
    table[["mass", "length"]].to_csv(tmp_path / "counted.csv")
    for path in ("t.csv", "t.parquet"):
        data = lt.read(tmp_path / path)
        assert (data.rows, data.columns["x"]) == (tuple(table["mouse"]), ("mass", "length"))
    counted = lt.read(tmp_path / "counted.csv")
    assert (counted.rows, counted.columns["x"]) == (None, ("mass", "length"))


def test_hostile_labels_are_read_or_named(table):
    x = table[["mass", "length"]]
    for labels in (
        table["lab"].astype("category").cat.set_categories(["Bonn", "Graz", "Wien"]),
        table["lab"].astype("string"),
        table["litter"].astype("Int64"),
        (table["lab"] == "Graz").astype("boolean"),
    ):
        assert lt.Dataset(x, labels).domain.as_labels().astype(str).tolist() == [str(v) for v in labels]
    gap = table["lab"].astype("string")
    gap.iloc[5] = pd.NA
    with pytest.raises(lt.DataError, match="domain: missing at row 5"):
        lt.Dataset(x, gap)
    with pytest.raises(lt.DataError, match="groups: missing at row 5"):
        lt.Dataset(x, groups=gap)
    with pytest.raises(lt.DataError, match="factor 'f': missing at row 5"):
        lt.Dataset(x, factors={"f": gap})
    zone = pd.Series(pd.date_range("2024-03-31", periods=24, freq="h", tz="Europe/Vienna"))
    assert np.allclose(np.diff(lt.Dataset(x, time=zone).time), 3.6e12)  # also over the change to summer time


def test_duplicate_index_labels_pair_only_with_themselves(table):
    twice = table.set_axis([0, 0] * 12)
    data = lt.Dataset(twice[["mass"]], domain=twice["lab"])
    assert data.domain.as_labels().tolist() == table["lab"].tolist()
    with pytest.raises(lt.DataError, match="two rows are called 0"):
        lt.Dataset(twice[["mass"]], domain=table["lab"])


def test_columns_move_between_modalities(table):
    data = lt.read(table, **ROLES)
    blocks = data.regrouped({"body": ["length", "mass"], "sex": ["sex"]})
    assert np.allclose(blocks["body"], table[["length", "mass"]])
    assert blocks.coding["sex"][0].levels == ("f", "m")
    assert blocks.rows == data.rows
    with pytest.raises(lt.DataError, match="there is no column 'lenght'; did you mean 'length'"):
        data.regrouped({"body": ["lenght"]})


def test_columns_of_our_own_files_are_dropped_too(table, tmp_path):
    lt.read(table, **ROLES).write(tmp_path / "t.npz")
    data = lt.read(tmp_path / "t.npz", drop=["length", "sex"])
    assert (data.columns["x"], dict(data.coding)) == (("mass",), {})
    with pytest.raises(lt.DataError, match="drop='masss': there is no such modality or column; did you mean 'mass'"):
        lt.read(tmp_path / "t.npz", drop="masss")


def test_images_with_channels_first_are_noticed():
    with pytest.raises(lt.DataError, match=r"\(3, 28, 28\): images with channels first.*moveaxis\(image, 1, -1\)"):
        lt.Dataset({"image": np.zeros((5, 3, 28, 28))})
    assert lt.Dataset({"image": np.zeros((5, 28, 28, 3))}).shape == (5, 28 * 28 * 3)


class TestAnnotated:
    @pytest.fixture
    def cells(self, rng):
        anndata = pytest.importorskip("anndata")
        import scipy.sparse

        counts = rng.poisson(3, size=(20, 4)).astype(np.float32)
        made = anndata.AnnData(
            scipy.sparse.csr_matrix(np.log1p(counts)),
            obs=pd.DataFrame(
                {"donor": pd.Categorical(["a", "b"] * 10), "batch": np.repeat(["u", "v"], 10), "age": np.arange(20.0)},
                index=[f"c{i}" for i in range(20)],
            ),
            var=pd.DataFrame(index=["CD3", "CD4", "CD8", "CD19"]),
            layers={"counts": counts},
            obsm={"X_pca": rng.normal(size=(20, 2))},
        )
        return made, counts

    def test_anndata_as_it_is_used(self, cells, tmp_path):
        made, counts = cells
        made.write_h5ad(tmp_path / "cells.h5ad")
        for given in (made, tmp_path / "cells.h5ad"):
            data = lt.read(given, "batch", groups="donor", factors="age")
            assert np.allclose(data["x"], np.log1p(counts))
            assert (data.columns["x"], data.rows[3]) == (("CD3", "CD4", "CD8", "CD19"), "c3")
            assert data.groups.tolist() == ["a", "b"] * 10
            parts = {"rna": "layers/counts", "pca": "obsm/X_pca", "t": ["CD8", "CD3"], "who": ["obs/donor", "obs/age"]}
            several = lt.read(given, modalities=parts)
            assert (several["rna"] == counts).all()
            assert np.allclose(several["pca"], made.obsm["X_pca"])
            assert np.allclose(several["t"], np.log1p(counts)[:, [2, 0]])
            assert several.columns["who"] == ("donor=a", "donor=b", "age")
            with pytest.raises(lt.DataError, match="there is no layers/count; did you mean 'counts'"):
                lt.read(given, modalities={"rna": "layers/count"})
            with pytest.raises(lt.DataError, match="no variable, layer, obsm or obs column 'CD33'; did you mean"):
                lt.read(given, modalities={"rna": ["CD33"]})
        assert lt.Dataset(made, "batch").fingerprint == lt.read(made, "batch").fingerprint
        labels = np.array(["p", "q"] * 10)
        assert lt.Dataset(made, labels, groups=np.arange(20)).domain.as_labels().tolist() == labels.tolist()

    def test_mudata_as_it_is_used(self, cells):
        mudata = pytest.importorskip("mudata")
        made, counts = cells
        with mudata.set_options(pull_on_update=False):
            proteins = made[:12, :2].copy()
            proteins.var_names = ["p1", "p2"]
            several = mudata.MuData({"rna": made, "adt": proteins})
        several.obs["lab"] = ["l", "m"] * 10
        data = lt.read(several, "lab", modalities={"adt": "adt/layers/counts", "rna": ()})
        assert (data.names, data.observed["adt"].sum()) == (("adt", "rna"), 12)
        seen = data.observed["adt"]
        place = [int(name[1:]) for name in np.array(data.rows)[seen]]
        assert (data["adt"][seen] == counts[place][:, :2]).all()

    def test_xarray(self, rng):
        xarray = pytest.importorskip("xarray")
        curves = rng.normal(size=(6, 30))
        array = xarray.DataArray(
            curves.T,
            dims=("point", "shot"),
            coords={"shot": [f"s{i}" for i in range(6)], "lab": ("shot", ["a", "b"] * 3)},
            name="curve",
        )
        data = lt.Dataset(array.T, domain="lab")
        assert (data.names, data.rows[0], data.domain.size) == (("curve",), "s0", 2)
        both = xarray.Dataset({"curve": array, "mass": ("shot", np.arange(6.0)), "age": ("shot", np.arange(6))})
        data = lt.read(both, "lab", factors="age")
        assert np.allclose(data["curve"], curves)
        assert (data.columns["x"], data.factors["age"].tolist()) == (("mass",), list(range(6)))
        with pytest.raises(lt.DataError, match="domain='labb': there is no such variable"):
            lt.read(both, "labb")


@pytest.mark.parametrize(
    ("shape", "meant"),
    [((5, 64, 64), "images of 5 channels"), ((2, 64), "curves of 2 channels"), ((1, 64), "curves of 1 channel,")],
)
def test_rows_that_may_have_their_channels_first_are_noticed(shape, meant):
    with pytest.warns(lt.errors.DataWarning, match=rf"modality 'm': .*{meant}.*numpy\.moveaxis\(m, 1, -1\)"):
        data = lt.Dataset({"m": np.zeros((5, *shape))})
    assert data["m"].shape == (5, *shape)  # they may be meant


@pytest.mark.parametrize("shape", [(64, 64, 5), (64, 2), (28, 28), (4, 5), (8, 8, 32), (5, 5, 200)])
def test_usual_rows_are_taken_without_a_warning(shape):
    assert lt.Dataset({"m": np.zeros((5, *shape))})["m"].shape == (5, *shape)


@pytest.mark.parametrize("labels", [["a", "b"] * 10, np.arange(20) % 2, np.array(["a", "b"] * 10)])
def test_labels_in_the_place_of_rows_are_noticed(labels, rng):
    rows = rng.normal(size=(20, 3))
    for given in (rows, pd.DataFrame(rows)):
        with pytest.raises(lt.DataError, match="the two are swapped. Give the rows first"):
            lt.Dataset(labels, given)
    assert lt.Dataset(rows, labels).domain.size == 2


def test_a_series_of_numbers_is_rows_and_one_of_text_is_labels(rng):
    xarray = pytest.importorskip("xarray")
    values, beside = rng.normal(size=30), rng.normal(size=(30, 2))
    for domain in (beside, pd.DataFrame(beside), pd.DataFrame({"u": beside[:, 0]})):
        for rows in (pd.Series(values, name="v"), pl.Series("v", values), xarray.DataArray(values, dims="r")):
            data = lt.Dataset(rows, domain)
            assert (data["x"][:, 0] == values).all()
            assert data.domain.size == domain.shape[1]
    labels = ["a", "b"] * 15
    for rows in (pd.Series(labels), pd.Series(labels, dtype="category"), pl.Series(labels), xarray.DataArray(labels)):
        with pytest.raises(lt.DataError, match="the two are swapped. Give the rows first"):
            lt.Dataset(rows, beside)


@pytest.mark.usefixtures("no_optimiser_steps")
def test_columns_in_another_order_have_one_sentence(tmp_path, rng):
    """In a frame and in a Dataset, in this process and after loading; scikit-learn's words follow, where it would raise."""
    table = pd.DataFrame(rng.normal(size=(60, 3)), columns=["h", "w", "d"])
    model = lt.VAE(latent_dim=1, hidden=(4,), epochs=1, progress=False).fit(table)
    model.save(tmp_path / "run")
    other, unknown = table[["d", "h", "w"]], table.rename(columns={"d": "q"})
    for fitted in (model, lt.load(tmp_path / "run")):
        for given in (other, lt.Dataset(other), pl.from_pandas(other)):
            with pytest.raises(lt.DataError, match=r"another order. Reorder them to \['h', 'w', 'd'\]"):
                fitted.transform(given)
        for given in (unknown, lt.Dataset(unknown)):
            with pytest.raises(lt.DataError, match=r"column 'q' was not seen at fit. Give \['h', 'w', 'd'\]"):
                fitted.transform(given)


def test_columns_of_rare_kinds_are_read_or_named():
    sparse = pd.DataFrame({"a": pd.arrays.SparseArray([0.0, 1.0, 0.0, np.nan]), "b": [1.0, 2.0, 3.0, 4.0]})
    assert np.array_equal(lt.Dataset(sparse)["x"][:, 0], [0.0, 1.0, 0.0, np.nan], equal_nan=True)
    counts = pd.DataFrame({"a": pd.arrays.SparseArray([0, 2, 0])})
    assert lt.Dataset(counts)["x"].ravel().tolist() == [0, 2, 0]
    period = pd.DataFrame({"a": pd.period_range("2024-01", periods=4, freq="M")})
    with pytest.raises(lt.DataError, match=r"column 'a' holds period\[M\] values \('2024-01' at row 0\)"):
        lt.Dataset(period)
    nothing = pl.DataFrame({"a": [None] * 4, "b": [1.0, 2.0, 3.0, 4.0]})
    with pytest.raises(lt.DataError, match="column 'a' is missing in every row"):
        lt.Dataset(nothing)


def test_the_text_0_and_the_number_0_are_told_apart():
    a = pd.DataFrame({"a": [1.0, 2.0, 3.0]})
    with pytest.raises(lt.DataError, match=r"has no row 0, .* \(it has '0': str and int are different labels\)"):
        lt.Dataset({"a": a, "b": a.set_axis(["0", "1", "2"])})
