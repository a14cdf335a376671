"""Frames and series: rows are paired by their index, columns of any library are read."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import latentry as lt
from latentry.certificate.given import as_dataset, in_order_of


@pytest.fixture
def tables(rng):
    a = pd.DataFrame(rng.normal(size=(300, 2)), columns=["u", "v"])
    return a, (a + 0.1 * rng.normal(size=(300, 2))).set_axis(["p", "q"], axis=1)


@pytest.mark.parametrize("names", [None, [f"mouse {i}" for i in range(300)]], ids=["counted", "named"])
def test_shuffled_rows_are_paired_by_their_index(tables, names):
    a, b = (table if names is None else table.set_axis(names) for table in tables)
    lab = pd.Series(np.repeat(["A", "B"], 150), index=a.index)
    shuffled = {"random_state": 0, "frac": 1}
    data = lt.Dataset(
        {"a": a, "b": b.sample(**shuffled)},
        lab.sample(**shuffled),
        groups=pd.Series(range(300), index=a.index).sample(**shuffled),
        factors={"first": a["u"].sample(**shuffled)},
    )
    assert (data["b"] == b.to_numpy()).all()
    assert data.domain.as_labels().tolist() == lab.tolist()
    assert data.groups.tolist() == list(range(300))
    assert (data.factors["first"] == a["u"]).all()
    assert data.rows == (None if names is None else tuple(names))
    if names is not None:
        assert data.with_domain(lab.sample(**shuffled)).domain.as_labels().tolist() == lab.tolist()
        assert data.take([5, 3]).with_domain(lab.iloc[[3, 5]].set_axis(names[i] for i in (3, 5))).rows == (
            "mouse 5",
            "mouse 3",
        )


def test_information_does_not_depend_on_the_order_of_frames_nor_on_their_library(tables):
    a, b = tables
    plain = float(lt.mutual_information(a.to_numpy(), b.to_numpy(), confidence=None))
    assert plain > 1
    assert float(lt.mutual_information(a, b.sample(frac=1, random_state=1), confidence=None)) == plain
    assert float(lt.mutual_information(pl.from_pandas(a), pl.from_pandas(b), confidence=None)) == plain
    p = lt.independence_test(a["u"], b["p"].sample(frac=1, random_state=1), permutations=49).p_value
    assert p == lt.independence_test(a["u"].to_numpy(), b["p"].to_numpy(), permutations=49).p_value


def test_columns_of_a_certificate_are_paired_by_their_index(tables):
    a, b = tables
    columns = {"a": a["u"], "b": b["p"].sample(frac=1, random_state=2)}
    rows = as_dataset(columns, pd.Series(["l", "m"] * 150).sample(frac=1, random_state=3))
    assert (rows["b"][:, 0] == b["p"]).all()
    assert rows.domain.as_labels().tolist() == ["l", "m"] * 150


def test_text_of_any_library_is_a_label_in_a_certificate(rng):
    """Thirty labels: too many for columns of 0 and 1, and the same codes from lists, pandas and polars."""
    text = pd.Series([f"l{i:02}" for i in rng.integers(0, 30, 200)], index=[f"r{i}" for i in range(200)])
    codes = np.unique(text, return_inverse=True)[1][:, None]
    shuffled = text.sample(frac=1, random_state=0)
    for given in (
        list(text), text.to_numpy(), text, text.astype("string"), text.astype("category"), text.to_frame(), pl.Series(list(text)),
    ):  # fmt: skip
        assert (as_dataset({"a": given})["a"] == codes).all()
        assert as_dataset({"a": given})["a"].dtype.kind == "i"
    assert (as_dataset({"a": text, "b": shuffled})["b"] == codes).all()
    assert as_dataset({"a": text, "b": text.where(text.index != "r3")}).observed["b"].sum() == 199


def test_latents_that_are_compared_are_paired_by_their_index(rng):
    label = pd.Series(rng.integers(0, 3, 200), index=[f"r{i}" for i in range(200)])
    noisy = label.where(rng.random(200) < 0.8, 0)
    rows = {"left": label, "right": noisy}
    options = {"only": ["natural"], "seen": [], "epsilon": 0.3}
    plain = lt.certify([label.to_numpy(), noisy.to_numpy()], rows, **options)
    shuffled = [one.sample(frac=1, random_state=seed) for seed, one in enumerate((label, noisy))]
    mine = pd.Series(np.arange(200) < 90, index=label.index)
    some = options | {"seen": mine.to_numpy()}
    assert (
        lt.certify(label.to_numpy(), rows, **some)["natural"].verdict.sentence
        == lt.certify(shuffled[0], rows, **options | {"seen": mine.sample(frac=1, random_state=7)})[
            "natural"
        ].verdict.sentence
    )
    for given in (shuffled, tuple(shuffled), dict(zip("ab", shuffled, strict=True))):
        found = lt.certify(given, rows, **options)
        for one, other in zip(plain.certificates.values(), found.certificates.values(), strict=True):
            assert one["natural"].verdict.sentence == other["natural"].verdict.sentence


def test_text_is_a_label(rng):
    x = rng.normal(size=400)
    labels = np.where(x > 0, "high", "low")
    found = [float(lt.mutual_information(x, y, confidence=None)) for y in (labels, labels.astype(object), x > 0)]
    assert found[0] == found[1] == found[2]
    with pytest.raises(lt.DataError, match=r"y: it holds text \('.*' at row 0, column 0\)"):
        lt.mutual_information(x, labels, estimator="ksg")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda b: b.iloc[:200], r"modality 'b': has no row 200, which is in the index of modality 'a'"),
        (lambda b: pd.concat([b, b.set_axis(b.index + 300)]), "modality 'a': has no row 300"),
        (lambda b: b.set_axis(["s"] * 300), "modality 'b': two rows are called 's' in its index"),
        (lambda b: b.set_axis([f"s{i}" for i in range(300)]), r"has no row 0.*reset_index\(drop=True\) on both"),
    ],
)
def test_rows_that_cannot_be_paired_are_refused_by_name(tables, change, sentence):
    a, b = tables
    with pytest.raises(lt.DataError, match=sentence):
        lt.Dataset({"a": a, "b": change(b)})


def test_columns_of_any_library(tables):
    a, _ = tables
    for frame in (a, pl.from_pandas(a)):
        data = lt.Dataset({"a": frame})
        assert data.columns["a"] == ("u", "v")
        assert (data["a"] == a.to_numpy()).all()
    series = lt.Dataset({"u": pl.from_pandas(a)["u"]})
    assert (series["u"].shape, series.columns["u"]) == ((300, 1), ("u",))
    holes = pd.DataFrame(
        {"n": pd.array([1, None, 3], dtype="Int64"), "yes": pd.array([True, None, False], dtype="boolean")}
    )
    assert lt.Dataset({"a": holes, "b": np.ones((3, 1))}).observed["a"].tolist() == [True, False, True]


@pytest.mark.parametrize(
    ("frame", "sentence"),
    [
        (pl.DataFrame({"a": [1.0], "sex": ["f"]}), "column 'sex' holds 1 different texts in 1 row"),
        (pl.DataFrame({"a": [1.0], "at": [None]}).cast({"at": pl.Time}), "column 'at' holds Time values"),
        (pl.DataFrame({"a": [1.0]}).lazy(), "lazy frame, which has no rows yet. Call its collect"),
        (pd.DataFrame(np.ones((2, 2)), columns=["a", "a"]), "two columns called 'a'"),
    ],
)
def test_columns_that_are_no_numbers_are_named(frame, sentence):
    with pytest.raises(lt.DataError, match=sentence):
        lt.Dataset(frame)


def test_what_comes_later_is_paired_by_index_too(rng):
    table, order = pd.DataFrame(rng.normal(size=(60, 2))), rng.permutation(60)
    labels = pd.Series([f"g{i // 10}" for i in range(60)])
    for data in (lt.Dataset(table.iloc[order]), lt.Dataset(table.iloc[order]).with_groups(labels)):
        assert data.with_domain(labels).domain.as_labels().tolist() == labels.iloc[order].tolist()
    assert lt.Dataset(table).with_domain(labels.iloc[order]).domain.as_labels().tolist() == labels.tolist()
    assert data.groups.tolist() == labels.iloc[order].tolist()
    first, second = lt.Dataset(table.iloc[order]).split_rows(0.5, 0.5, group=labels)
    assert not set(labels.iloc[order[first]]) & set(labels.iloc[order[second]])
    named = labels.set_axis([f"row {i}" for i in range(60)])
    assert (
        lt.Dataset(table.to_numpy()).with_domain(named).domain.as_labels().tolist() == labels.tolist()
    )  # nothing to pair by
    assert in_order_of(lt.Dataset(table.iloc[order]), labels).tolist() == labels.iloc[order].tolist()


def test_masks_go_with_their_rows():
    frame = pd.DataFrame(np.arange(12.0).reshape(6, 2), index=list("abcdef"))
    mask = np.array([False, True, True, True, True, True])
    for given in (mask, pd.Series(mask, index=list("fedcba"))):
        data = lt.Dataset({"m": frame, "n": frame.iloc[::-1]}, observed={"n": given})
        assert data.observed["n"].tolist() == [True] * 5 + [False]
    hidden = frame.to_numpy().copy()
    hidden[2] = -1.797e308  # what stands where nothing was measured
    assert lt.Dataset({"m": frame.to_numpy(), "n": hidden}, observed={"n": np.arange(6) != 2}).observed["n"].sum() == 5


def test_an_index_with_gaps_names_its_gaps(rng):
    table = pd.DataFrame(rng.normal(size=(3, 2)), index=pd.Index(["a", "b", pd.NA], dtype="string"))
    assert lt.Dataset(table, domain=pd.Series([0, 1, 0], index=table.index)).rows[2] == "<no label>"


@pytest.mark.parametrize("dtype", ["bool", "boolean"])
def test_truth_values_choose_the_rows_that_their_index_names(rng, dtype):
    frame = pd.DataFrame(rng.normal(size=(40, 1)), columns=["u"], index=[f"m{i}" for i in range(40)])
    data, wanted = lt.Dataset(frame), (frame["u"] > 0).astype(dtype).sample(frac=1, random_state=0)
    for part in (data.take(wanted), data[wanted]):
        assert (part["x"] > 0).all()
        assert len(part) == (frame["u"] > 0).sum()
    assert len(data.take(wanted.to_numpy())) == len(part)  # an array has no index: it means places
    with pytest.raises(lt.DataError, match="take: has no row 'm0'"):
        data.take(wanted.drop("m0"))


def test_latents_and_truth_are_paired_by_their_index(rng):
    """Scores of a frame with a shuffled truth are those of arrays in one order, in every score that compares two tables."""
    metrics = lt.identifiability
    rows = [f"r{i}" for i in range(200)]
    truth = pd.DataFrame(rng.normal(size=(200, 2)), columns=["p", "q"], index=rows)
    found = truth[["q", "p"]] + 0.1 * rng.normal(size=(200, 2))
    other = truth.sample(frac=1, random_state=0)
    named = {"p": other["p"], "q": truth["q"].sample(frac=1, random_state=1)}
    again = (found, other)
    plain = found.to_numpy(), truth.to_numpy()
    for ask in (
        lambda z, s, fit_on: lt.mcc(z, s),
        lambda z, s, fit_on: lt.mcc(z, s, weak_on=fit_on),
        lambda z, s, fit_on: metrics.r_squared(z, s, fit_on=fit_on).tolist(),
        lambda z, s, fit_on: metrics.mig(z, s),
        lambda z, s, fit_on: metrics.sap(z, s, fit_on=fit_on),
        lambda z, s, fit_on: metrics.agreement([z, s]).lowest,
    ):
        assert ask(found, other, again) == ask(*plain, plain)
    assert lt.mcc(found, named) == lt.mcc(*plain) > 0.9
    assert lt.mcc(found["p"], other["p"]) == lt.mcc(plain[0][:, 1], plain[1][:, 0]) > 0.9
    with pytest.raises(lt.DataError, match="s: has no row 'r0', which is in the index of z"):
        lt.mcc(found, truth.drop("r0"))


@pytest.mark.parametrize("with_data", [False, True])
def test_latents_that_are_matched_are_paired_by_their_index(rng, with_data):
    z = pd.DataFrame(rng.normal(size=(120, 2)), columns=["a", "b"])
    columns = {name: (-z[name]).sample(frac=1, random_state=2) for name in "ba"}
    found = lt.match({"first": z, "second": columns, "third": z.sample(frac=1)}, lt.Dataset(z) if with_data else None)
    assert found.reappearing == ("a", "b")
    alone = lt.match([z["a"], (2 * z["a"]).sample(frac=1, random_state=4)])
    assert len(alone.reappearing) == 1


def test_latents_that_are_audited_are_paired_by_their_index(rng):
    natural = lt.natural
    label = pd.Series(rng.integers(0, 2, 300), index=[f"r{i}" for i in range(300)])
    rows = {"left": label * 2 + rng.integers(0, 2, 300), "right": (label + 2 * rng.integers(0, 2, 300)).sample(frac=1)}
    plain = {"left": rows["left"].to_numpy(), "right": rows["right"].loc[label.index].to_numpy()}
    lab = pd.Series(["l", "m"] * 150, index=label.index)
    worse = label.where(rng.random(300) < 0.7, 1 - label)
    for ask in (
        lambda data, z, lab, other: str(natural.audit(data, z, domain=lab, epsilon=0.5)),
        lambda data, z, lab, other: str(natural.audit(data, z, groups=range(300), epsilon=0.5)),
        lambda data, z, lab, other: str(natural.compare(data, z, other)),
    ):
        expected = ask(plain, label.to_numpy(), lab.to_numpy(), worse.to_numpy())
        shuffled = [one.sample(frac=1, random_state=seed) for seed, one in enumerate((label, lab, worse))]
        assert ask(rows, *shuffled) == expected
        assert ask(lt.Dataset({name: part.to_frame() for name, part in rows.items()}), *shuffled) == expected


LETTERS = list("abcdef")
TRUTH = [False, True, True, False, True, True]


@pytest.mark.parametrize("index", [LETTERS, list(range(6))], ids=["named", "counted"])
@pytest.mark.parametrize("other", ["frame", "shuffled frame", "array"])
def test_a_mask_belongs_to_the_rows_that_its_index_names(index, other):
    """The mask is of the first part, whose order is that of the dataset: nothing but the mask stands elsewhere."""
    frame = pd.DataFrame(np.arange(12.0).reshape(6, 2), index=index)
    mask = pd.Series(TRUTH, index=index)
    beside = {"frame": frame, "shuffled frame": frame.sample(frac=1, random_state=3), "array": frame.to_numpy()}[other]
    for seed in range(3):
        shuffled = mask.sample(frac=1, random_state=seed)
        assert lt.Dataset({"a": frame, "b": beside}, observed={"a": shuffled}).observed["a"].tolist() == TRUTH
        assert lt.Dataset({"a": frame, "b": beside}, observed={"b": shuffled}).observed["b"].tolist() == TRUTH
        assert lt.Dataset(
            {"b": beside, "a": frame}, pd.Series(LETTERS, index=index), observed={"a": shuffled}
        ).observed["a"].tolist() == [
            TRUTH[index.index(i)] for i in (beside.index if other == "shuffled frame" else index)
        ]


def test_a_mask_of_an_array_is_paired_with_what_names_the_rows():
    values, index = np.arange(12.0).reshape(6, 2), pd.Index(LETTERS)
    mask = pd.Series(TRUTH, index=index).iloc[::-1]
    named = lt.Dataset({"a": values, "b": pd.DataFrame(values, index=index)}, observed={"a": mask})
    assert named.observed["a"].tolist() == TRUTH
    counted = pd.Series(TRUTH).iloc[::-1]
    assert lt.Dataset({"a": values, "b": values}, observed={"a": counted}).observed["a"].tolist() == TRUTH


def test_a_mask_of_cells_is_paired_by_row_and_column():
    frame = pd.DataFrame(np.arange(12.0).reshape(6, 2), index=LETTERS, columns=["u", "v"])
    mask = pd.DataFrame({"u": TRUTH, "v": [True] * 6}, index=LETTERS)
    data = lt.Dataset({"a": frame, "b": frame}, observed={"a": mask.iloc[::-1, ::-1]})
    assert data.cells_observed("a").tolist() == mask.to_numpy().tolist()
    with pytest.raises(lt.DataError, match=r"observed\['a'\]: has no column 'v'"):
        lt.Dataset({"a": frame, "b": frame}, observed={"a": mask.rename(columns={"v": "w"})})


def _tables(values):
    """The same six rows of three columns by every library that names columns, and what the call says beside them."""
    anndata, xarray = pytest.importorskip("anndata"), pytest.importorskip("xarray")
    named = anndata.AnnData(values.copy())
    named.obs_names, named.var_names = LETTERS, list("uvw")
    coords = {"row": LETTERS, "column": list("uvw")}
    return {
        "pandas": (pd.DataFrame(values, index=LETTERS, columns=list("uvw")), {}),
        "polars": (pl.DataFrame(dict(zip("uvw", values.T, strict=True))), {"rows": LETTERS}),
        "xarray": (xarray.DataArray(values, dims=("row", "column"), coords=coords), {}),
        "anndata": (named, {}),
        "columns": (values, {"columns": {"a": list("uvw")}, "rows": LETTERS}),
    }


@pytest.mark.parametrize("table", ["pandas", "polars", "xarray", "anndata", "columns"])
@pytest.mark.parametrize("mask", ["pandas", "xarray"])
def test_a_mask_of_cells_is_paired_by_names_whatever_the_library(rng, table, mask):
    xarray = pytest.importorskip("xarray")
    known = rng.random((6, 3)) < 0.6
    known[:, 0] |= ~known.any(axis=1)  # a row without any cell would be another matter
    rows, said = _tables(rng.normal(size=(6, 3)))[table]
    shuffled = pd.DataFrame(known, index=LETTERS, columns=list("uvw")).iloc[[3, 0, 5, 1, 2, 4], [2, 0, 1]]
    given = shuffled
    if mask == "xarray":
        coords = {"r": shuffled.index, "c": shuffled.columns}
        given = xarray.DataArray(shuffled.to_numpy(), dims=("r", "c"), coords=coords)
    data = lt.Dataset({"a": rows, "b": rng.normal(size=(6, 2))}, observed={"a": given}, **said)
    assert data.cells_observed("a").tolist() == known.tolist()
    assert data.rows == tuple(LETTERS)
    lost = shuffled.rename(columns={"w": "other"})
    with pytest.raises(lt.DataError, match=r"observed\['a'\]: has no column 'w'"):
        lt.Dataset({"a": rows, "b": rng.normal(size=(6, 2))}, observed={"a": lost}, **said)


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("masked", ["a", "b"])
def test_the_index_of_a_mask_may_name_the_ids(library, masked):
    names = ["d", "a", "f", "b", "c", "e"]
    first = pd.DataFrame({"id": names, "u": np.arange(6.0)})
    second = pd.DataFrame({"id": LETTERS, "v": np.arange(6.0)})
    frames = [one if library == "pandas" else pl.from_pandas(one) for one in (first, second)]
    by_name = pd.Series(TRUTH, index=LETTERS)
    data = lt.Dataset(dict(zip("ab", frames, strict=True)), ids="id", observed={masked: by_name})
    assert data.rows == tuple(names)
    assert data.observed[masked].tolist() == by_name[names].tolist()
    parts = {"a": frames[0], "c": np.ones((6, 1)), "d": np.ones((6, 1))}
    alone = lt.Dataset(parts, ids="id", observed={"a": by_name, "c": by_name})
    assert alone.observed["a"].tolist() == alone.observed["c"].tolist() == by_name[names].tolist()


def test_the_index_of_a_mask_may_name_the_rows_of_the_call():
    names, values = ["d", "a", "f", "b", "c", "e"], np.ones((6, 2))
    by_name = pd.Series(TRUTH, index=LETTERS)
    data = lt.Dataset({"a": values, "b": values}, rows=iter(names), observed={"a": by_name})
    assert data.rows == tuple(names)
    assert data.observed["a"].tolist() == by_name[names].tolist()
    counted = lt.Dataset({"a": values, "b": values}, rows=list("201543"), observed={"a": pd.Series(TRUTH)})
    assert counted.observed["a"].tolist() == TRUTH  # an index that nobody chose says nothing


@pytest.mark.parametrize("rows", [None, list("uvwxyz")])
def test_an_index_of_a_mask_that_names_no_row_is_refused(rows):
    values, mask = np.ones((6, 2)), pd.Series(TRUTH, index=LETTERS)
    sentence = f"observed.'a'.: has no row '{'0' if rows is None else 'u'}', which is in the index of the dataset"
    with pytest.raises(lt.DataError, match=sentence):
        lt.Dataset({"a": values, "b": values}, rows=rows, observed={"a": mask})


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_mask_goes_with_a_frame_that_is_paired_by_its_ids(library):
    first = pd.DataFrame({"id": LETTERS, "u": np.arange(6.0)})
    second = pd.DataFrame({"id": LETTERS[::-1], "v": np.arange(6.0)[::-1]})
    frames = [one if library == "pandas" else pl.from_pandas(one) for one in (first, second)]
    mask = np.array(TRUTH[::-1])  # by place, as the second frame was given
    for given in (mask, pd.Series(mask), pd.Series(mask).sample(frac=1, random_state=0)):
        data = lt.Dataset(dict(zip("ab", frames, strict=True)), ids="id", observed={"b": given})
        assert data.observed["b"].tolist() == TRUTH
        assert data["b"][data.observed["b"], 0].tolist() == [1.0, 2.0, 4.0, 5.0]


@pytest.mark.parametrize(
    ("index", "sentence"),
    [(list("abcdeg"), "observed.'a'.: has no row 'f'"), (["a"] * 6, "observed.'a'.: two rows are called 'a'")],
)
def test_a_mask_of_other_rows_is_refused(index, sentence):
    frame = pd.DataFrame(np.arange(12.0).reshape(6, 2), index=LETTERS)
    with pytest.raises(lt.DataError, match=sentence):
        lt.Dataset({"a": frame, "b": frame}, observed={"a": pd.Series(TRUTH, index=index)})


def test_rows_of_xarray_are_paired_by_their_coordinate(rng):
    xarray = pytest.importorskip("xarray")
    values = rng.normal(size=(6, 2))
    a = xarray.DataArray(values, dims=("cell", "g"), coords={"cell": LETTERS, "g": ["g1", "g2"]})
    frame = pd.DataFrame(values, index=LETTERS, columns=["u", "v"])
    lab = pd.Series(["p", "q"] * 3, index=LETTERS)
    image = xarray.DataArray(rng.normal(size=(6, 5, 5)), dims=("cell", "y", "x"), coords={"cell": LETTERS})
    backwards = {"cell": slice(None, None, -1)}
    for other in (a.isel(backwards), frame.iloc[::-1]):
        data = lt.Dataset({"a": a, "b": other, "c": image.isel(backwards)}, lab.iloc[[3, 1, 2, 0, 5, 4]])
        assert (data["b"] == values).all()
        assert (data["c"] == image.values).all()
        assert data.domain.as_labels().tolist() == lab.tolist()
        assert (data.rows, data.columns["a"]) == (tuple(LETTERS), ("g1", "g2"))
    domain = xarray.DataArray(lab.to_numpy(), dims="cell", coords={"cell": LETTERS}).isel(backwards)
    assert lt.Dataset({"a": a, "b": frame}, domain).domain.as_labels().tolist() == lab.tolist()
    plain = lt.Dataset({"a": xarray.DataArray(values), "b": xarray.DataArray(values[::-1])})  # nothing names the rows
    assert (plain["b"] == values[::-1]).all()
    assert plain.rows is None
    assert lt.Dataset({"a": a.isel(g=0), "b": frame})["a"].shape == (6, 1)
    with pytest.raises(lt.DataError, match="modality 'b': has no row 'a', which is in the index of modality 'a'"):
        lt.Dataset({"a": a, "b": a.isel(cell=slice(1, None))})
    with pytest.raises(lt.DataError, match=r"modality 'a': xarray\.Dataset holds several tables"):
        lt.Dataset({"a": xarray.Dataset({"u": a})})
    with pytest.raises(lt.DataError, match="observed: the table says this itself"):
        lt.Dataset(a, observed={"x": TRUTH})


def test_information_of_xarray_is_that_of_rows_paired_by_their_coordinate(rng):
    xarray = pytest.importorskip("xarray")
    values = rng.normal(size=(200, 1)) + 0.1 * rng.normal(size=(200, 2))
    a = xarray.DataArray(values, dims=("cell", "g"), coords={"cell": [f"c{i}" for i in range(200)]})
    found = [
        float(lt.mutual_information(x, y, estimator="gaussian", confidence=None))
        for x, y in ((values[:, :1], values[:, 1:]), (a[:, :1], a[::-1, 1:]))
    ]
    assert found[0] == found[1] > 1


def test_rows_of_anndata_are_paired_by_their_names(rng):
    anndata = pytest.importorskip("anndata")
    values = rng.normal(size=(6, 2)).astype(np.float32)
    table = anndata.AnnData(values.copy())
    table.obs_names, table.var_names = LETTERS, ["g1", "g2"]
    frame = pd.DataFrame(values, index=LETTERS)
    for other in (table[::-1], frame.iloc[::-1]):
        data = lt.Dataset({"a": table, "b": other}, observed={"a": pd.Series(TRUTH, index=LETTERS).iloc[::-1]})
        assert (data["b"] == values).all()
        assert data.observed["a"].tolist() == TRUTH
        assert (data.rows, data.columns["a"]) == (tuple(LETTERS), ("g1", "g2"))
    counted = anndata.AnnData(values.copy())  # obs_names "0", "1", ...: what AnnData makes of an index that counts
    data = lt.Dataset({"a": counted, "b": frame.reset_index(drop=True).iloc[::-1]})
    assert (data["b"] == values).all()
    assert data.rows is None
    digits = anndata.AnnData(values.copy())
    for names in (["101", "102", "103", "104", "105", "106"], ["1", "2", "3", "4", "5", "T6"], ["9" * 5000, *"12345"]):
        digits.obs_names = names
        numbers = names if not all(len(name) == 3 for name in names) else list(map(int, names))
        for index in (names, numbers):  # text, as AnnData has it, or the numbers that it was made of
            labelled = pd.DataFrame(values, index=pd.Index(index, dtype=object))
            for other in (digits[::-1], labelled.iloc[::-1]):
                data = lt.Dataset({"a": digits, "b": other}, observed={"a": pd.Series(TRUTH, index=index).iloc[::-1]})
                assert (data["b"] == values).all()
                assert (data.rows, data.observed["a"].tolist()) == (tuple(names), TRUTH)
    later = digits[:5].copy()
    later.obs_names = ["1", "2", "3", "4", "5"]
    digits.obs_names = ["1", "2", "3", "4", "T6", "5"]
    assert lt.Dataset({"a": digits[[0, 1, 2, 3, 5]], "b": later}).rows == ("1", "2", "3", "4", "5")
    with pytest.raises(
        lt.DataError, match=r"has no row 'T6'.*drop_vars of the coordinate in xarray, the array X of AnnData"
    ):
        lt.Dataset({"a": digits[:5], "b": later})
    with pytest.raises(lt.DataError, match="modality 'a': X of the AnnData is empty"):
        lt.Dataset({"a": anndata.AnnData(obs=pd.DataFrame(index=LETTERS))})
