"""Names of latents: what is refused, data frames, and what a new fit does to them."""

import numpy as np
import pytest

import latentry as lt


@pytest.fixture(scope="module")
def rows():
    return np.random.default_rng(0).normal(size=(60, 3))


@pytest.fixture(scope="module")
def model(rows):
    return lt.VAE(latent_dim=2, epochs=1, hidden=(2,), progress=False).fit(rows)


@pytest.mark.parametrize(
    ("names", "words"),
    [
        ({"z3": "size"}, "no latent 'z3'. Known: z1, z2"),
        ({"z1": "z2"}, "'z2' would be the name of 2 latents. Names must differ"),
        ({"z1": ""}, "'' is no name of a latent"),
        ({"z1": "  "}, "is no name of a latent"),
        ({"z1": "a\nb"}, "is no name of a latent"),
        ({"z1": 3}, "3 is no name of a latent"),
        (["size"], "1 names for 2 latents"),
        ("size", "names='size': is no mapping"),
    ],
)
def test_bad_names_are_refused(model, names, words):
    before = model.latents_
    with pytest.raises(lt.DataError, match=words):
        model.rename(names)
    assert model.latents_ == before


def test_names_are_swapped_and_given_in_order(rows, model):
    model.rename(["size", "tilt"])
    assert model.rename({"size": "tilt", "tilt": "size"}).latents_ == ("tilt", "size")
    assert model.rename(["z1", "z2"]).latents_ == ("z1", "z2")


def test_a_new_fit_has_new_latents(rows):
    model = lt.VAE(latent_dim=2, epochs=1, hidden=(2,), progress=False).fit(rows).rename({"z1": "size"})
    assert model.fit(rows).latents_ == ("z1", "z2")


def test_data_frames_have_the_names(rows, model):
    named = model.rename(["size", "tilt"]).set_output(transform="pandas")
    frame = named.transform(rows)
    assert list(frame.columns) == ["size", "tilt"]
    assert np.allclose(frame.to_numpy(), named.channel(rows).mean, atol=1e-6)
    assert list(named.transform(lt.Dataset(rows)).columns) == ["size", "tilt"]
    model.set_output(transform="default").rename(["z1", "z2"])


def test_values_of_one_latent_have_its_name(rows):
    views = {"left": rows[:, :2], "right": rows[:, 1:]}
    model = lt.NaturalLatents(values=2, epochs=1, hidden=(2,), restarts=1, progress=False).fit(views)
    assert model.latents_ == ("z1",)
    assert list(model.get_feature_names_out()) == ["z1=0", "z1=1"]
    frame = model.rename({"z1": "kind"}).set_output(transform="pandas").transform(views)
    assert list(frame.columns) == ["kind=0", "kind=1"]
    assert np.allclose(model.channel(views).probabilities, frame.to_numpy(), atol=1e-6)
