"""Frames in, frames out: names of columns and rows stay through all that a model gives, in pandas and in polars."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import latentry as lt

pytestmark = pytest.mark.usefixtures("no_optimiser_steps")
QUICK = {"latent_dim": 2, "epochs": 1, "hidden": (4,), "progress": False}


@pytest.fixture
def birds(rng):
    """Rows in no order, with holes, of every kind of column."""
    frame = pd.DataFrame(
        {
            "length": rng.normal(size=60),
            "sex": pd.Categorical(["f", "m", "f"] * 20),
            "ringed": [True, False] * 30,
            "seen": pd.date_range("2024-03-01", periods=60, tz="Europe/Berlin"),
            "island": ["Biscoe", "Dream"] * 30,
            "nest": np.arange(60) // 3,
        },
        index=np.arange(60) * 7 + 3,
    ).sample(frac=1, random_state=0)
    frame.loc[10, "length"] = np.nan
    frame.loc[17, "sex"] = None
    frame.loc[24, "seen"] = pd.NaT
    return frame


def test_columns_are_named_where_the_model_is_fitted(birds):
    """Domain and groups are columns of the frame, and no features; transform and score take frames with and without them."""
    model = lt.VAE(**QUICK).fit(birds, domain="island", groups="nest")
    features = birds.drop(columns=["island", "nest"])
    assert list(model.feature_names_in_) == list(features)
    assert model.record_.layout.domain_labels == ("Biscoe", "Dream")
    held = set(birds["nest"].to_numpy()[model.record_.held_out])
    assert held.isdisjoint(birds["nest"].drop(birds.index[model.record_.held_out]))
    by_value = lt.VAE(**QUICK).fit(features, birds["island"].sample(frac=1), groups=birds["nest"].sample(frac=1))
    assert (by_value.transform(features) == model.transform(features)).all()
    ivae = lt.IVAE(estimation="elbo", **QUICK).fit(birds.drop(columns="nest"), "island")
    assert ivae.score(birds.drop(columns="nest"), domain="island") == ivae.score(features, birds["island"])
    with pytest.raises(lt.DataError, match="domain='island': names a column of a frame, and the rows are a Dataset"):
        lt.VAE(**QUICK).fit(lt.Dataset(features), domain="island")
    with pytest.raises(lt.DataError, match="groups='nst': there is no such column; did you mean 'nest'"):
        lt.VAE(**QUICK).fit(birds, groups="nst")


def test_what_a_model_gives_becomes_a_frame_of_the_rows(birds):
    features = birds.drop(columns=["island", "nest"])
    model = lt.VAE(**QUICK).fit(features)
    filled = model.frame(model.impute(features), features)
    assert filled.index.equals(features.index)
    assert list(filled) == list(features)
    assert not filled.isna().any(axis=None)
    for column in features:
        known = features[column].notna()
        assert (filled[column][known].astype(str) == features[column][known].astype(str)).all()
    one = features.loc[[17]]  # one row, whose category is missing: read by the rule of the fit
    assert model.frame(model.reconstruct(one), one).loc[17, "sex"] in ("f", "m")
    drawn = model.frame(model.sample(3), library="polars")
    assert isinstance(drawn, pl.DataFrame)
    assert drawn.columns == list(features)
    other = pl.from_pandas(features)
    assert model.frame(model.impute(other), other)["length"].to_list() == filled["length"].tolist()
    with pytest.raises(lt.DataError, match=r"values of shape \(60, 2\): not rows of 'x'"):
        model.frame(model.transform(features), features)


def test_several_modalities_become_several_frames(birds, rng):
    rows = {
        "body": birds[["length"]],
        "sight": birds[["ringed", "sex"]].sample(frac=1),
        "song": rng.normal(size=(60, 9, 2)),
    }
    model = lt.VAE(**QUICK).fit(rows)
    found = model.frame(model.reconstruct(rows), rows)
    assert list(found["sight"]) == ["ringed", "sex"]
    assert found["body"].index.tolist() == [str(name) for name in birds.index]  # a Dataset calls its rows by text
    assert found["song"].shape == (60, 9, 2)
    with pytest.raises(lt.DataError, match="values: 'songs' is no modality of the fit"):
        model.frame({"songs": found["song"]})


def test_latents_of_a_dataset_keep_the_names_of_its_rows(birds):
    """scikit-learn knows the index of a frame alone; names of a Dataset and of several frames come with the latents too."""
    features = birds[["length"]].fillna(0.0).assign(nest=birds["nest"] % 7)
    data = lt.Dataset(features)
    model = lt.VAE(**QUICK).fit(data).set_output(transform="pandas")
    for rows in (data, {"x": features}):
        assert model.transform(rows).index.tolist() == [str(name) for name in birds.index]
        assert list(model.transform(rows)) == ["z1", "z2"]
    assert model.transform(lt.Dataset(features.to_numpy())).index.tolist() == list(range(60))
    assert model.set_output(transform="polars").transform(data).columns == ["z1", "z2"]
    assert isinstance(model.set_output(transform="default").transform(data), np.ndarray)
    shared = {"left": features, "right": features.sample(frac=1) ** 2 + 1.0}
    natural = lt.NaturalLatents(values=2, epochs=1, restarts=1, hidden=(4,), progress=False).fit(shared)
    assert natural.set_output(transform="pandas").transform(shared).index.tolist() == [str(n) for n in birds.index]


def test_a_new_row_may_lack_a_cell(birds, tmp_path):
    """Alone, it has a column that is missing in every row: no reason not to read it."""
    features = birds.drop(columns=["island", "nest"])
    model = lt.VAE(**QUICK).fit(features)
    for name, column in ((10, "length"), (17, "sex"), (24, "seen")):
        alone = features.loc[[name]]
        assert alone[column].isna().all()
        assert np.allclose(model.transform(alone), model.transform(features)[features.index.get_loc(name)])
    features.loc[[10], ["length", "ringed"]].to_csv(tmp_path / "t.csv")
    with pytest.raises(lt.DataError, match="column 'length' is missing in every row.*to a fitted model"):
        lt.read(tmp_path / "t.csv")
    assert lt.read(tmp_path / "t.csv", coding=dict(model.record_.layout.coding)).partial == ("x",)


def test_annotated_tables_keep_the_names_of_their_rows(rng):
    anndata, xarray = pytest.importorskip("anndata"), pytest.importorskip("xarray")
    cells = anndata.AnnData(rng.normal(size=(40, 3)).astype(np.float32))
    cells.obs_names, cells.var_names = [f"c{i}" for i in range(40)], ["u", "v", "w"]
    cells.obs["donor"] = np.arange(40) % 3
    curves = xarray.DataArray(
        rng.normal(size=(40, 3)), dims=("mouse", "t"), coords={"mouse": list(cells.obs_names), "t": ["u", "v", "w"]}
    )
    for rows in (cells, curves):
        model = lt.VAE(**QUICK).fit(rows).set_output(transform="pandas")
        assert model.transform(rows).index.tolist() == list(cells.obs_names)
        assert model.frame(model.reconstruct(rows), rows).index.tolist() == list(cells.obs_names)
    with pytest.raises(
        lt.DataError, match="validation=0.1: of 3 groups .* none is held out. Give validation=0.33 or more, or 0"
    ):
        lt.VAE(**QUICK).fit(cells, groups="donor")
    held = lt.VAE(validation=0.34, **QUICK).fit(cells, groups="donor").record_.held_out
    assert len(set(cells.obs["donor"].to_numpy()[list(held)])) == 1


@pytest.mark.parametrize("what", ["transform", "impute", "score"])
def test_rows_that_still_have_the_column_of_the_domain_are_told(rng, what):
    frame = pd.DataFrame(rng.normal(size=(60, 3)), columns=list("abc")).assign(lab=["x", "y"] * 30)
    model = lt.VAE(latent_dim=1, epochs=1, hidden=(4,), progress=False).fit(frame, domain="lab")
    with pytest.raises(lt.DataError, match=r"Column 'lab' was not among them: .* as in transform\(frame, 'lab'\)"):
        getattr(model, what)(frame)
    getattr(model, what)(frame, "lab")
    with pytest.raises(lt.DataError, match=r"Give the columns of the fit\.(?! Column)"):
        getattr(model, what)(frame.drop(columns=["lab", "a"]))
