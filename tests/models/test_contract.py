"""What every registered model must do. A new model is tested here the day it is registered."""

import copy
import json

import jax
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import latentry as lt
from latentry.data import GaussianChannel
from latentry.models import MODELS

pytestmark = pytest.mark.usefixtures("few_tries_in_module")

QUICK = {"latent_dim": 2, "epochs": 2, "batch_size": 32, "progress": False}
SMALL = {  # what makes a model small enough for a test; what is fixed there cannot be changed
    "vae": {"hidden": (4,)},
    "ivae": {"hidden": (4,), "blocks": 1, "components": 2, "prior_hidden": (4,)},
    "iflow": {"blocks": 1, "components": 2, "prior_hidden": (4,)},
    "cgvae": {"blocks": 1, "components": 2, "prior_hidden": (4,), "restarts": 1},
}


def quick(name, **changes):
    settings = {**QUICK, **SMALL.get(name, {}), **changes}
    if (
        MODELS[name].takes_latents_from_data
        and isinstance(settings["latent_dim"], int)
        and settings["latent_dim"] in (1, 2)
    ):
        settings["latent_dim"] = None
    return MODELS[name](**settings)


# A program is compiled for each shape of scikit-learn's data: one phase instead of three, and the lighter optimiser. Batches
# of two rows and windows of 2^k of them fit tables of any length, so that only the columns make a new shape.
LIGHT = {"ivae": {"estimation": "elbo"}, "iflow": {"optimiser": "adam"}, "cgvae": {"optimiser": "adam", "sparsity": 0.0}}


@pytest.mark.filterwarnings("ignore:domain .* has only")  # scikit-learn's rows are few
@parametrize_with_checks([quick(name, latent_dim=1, batch_size=2, **LIGHT.get(name, {})) for name in MODELS])
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(params=sorted(MODELS))
def name(request):
    return request.param


class Fitted(dict):
    """Models by name, fitted when they are first asked for."""

    def __init__(self, data):
        self.data = data

    def __missing__(self, name):
        self[name] = quick(name).fit(self.data)
        return self[name]


@pytest.fixture(scope="module")
def fitted(curved):
    return Fitted(curved)


def test_fit_twice_is_fit_once(name, curved, fitted):
    model = fitted[name]
    assert (quick(name).fit(curved).transform(curved) == model.transform(curved)).all()
    assert (clone(model).fit(curved).transform(curved) == model.transform(curved)).all()


def test_another_seed_is_another_fit(name, curved, fitted):
    assert (quick(name, seed=1).fit(curved).transform(curved) != fitted[name].transform(curved)).any()


def test_outputs_are_numpy_of_the_right_shape(name, curved, fitted):
    model = fitted[name]
    z = model.transform(curved)
    assert type(z) is np.ndarray
    assert z.shape == (300, model.latent_dim or 6)
    assert type(model.sample(5)) is np.ndarray
    assert model.sample(5).shape == (5, 6)
    assert isinstance(model.score(curved), float)
    assert np.isclose(model.score_rows(curved).mean(), model.score(curved))


def test_channel_is_the_posterior(name, curved, fitted):
    channel = fitted[name].channel(curved)
    assert len(channel) == 300
    if isinstance(channel, GaussianChannel):
        assert np.allclose(channel.mean, fitted[name].transform(curved), atol=1e-6)


def test_samples_are_in_the_data_units(name, curved):
    stretched = lt.Dataset(1000 + 50 * curved["x"], domain=curved.domain)
    drawn = quick(name).fit(stretched).sample(500)
    assert 800 < np.median(drawn) < 1200
    assert drawn.std() > 5


def test_decoded_latents_are_the_reconstruction(name, curved, fitted):
    model = fitted[name]
    if not hasattr(model.module_, "expected"):
        with pytest.raises(lt.DataError, match="no one expectation given latents alone"):
            model.decode(model.transform(curved))
        return
    decoded = model.decode(model.transform(curved))
    # A flow of as many latents as columns gives the rows back.
    wanted = model.reconstruct(curved) if hasattr(model, "reconstruct") else curved["x"]
    assert np.allclose(decoded, wanted, atol=2e-3 * np.ptp(curved["x"]))
    with pytest.raises(lt.DataError, match=r"latents has shape \(2,\)"):
        model.decode(np.zeros(2))
    with pytest.raises(lt.DataError, match="latents is NaN or infinite at row 1"):
        model.decode(np.where(np.arange(4)[:, None] == 1, np.nan, decoded_from := model.transform(curved)[:4]))
    with pytest.raises(lt.DataError, match="something other than numbers"):
        model.decode([["a"] * decoded_from.shape[1]])


def test_score_follows_the_units(name, curved, fitted):
    """A density in millimetres is the density in metres less log 1000 a column."""
    milli = lt.Dataset(1024 * curved["x"], domain=curved.domain)
    model = quick(name).fit(milli)
    assert np.isclose(model.score(milli), fitted[name].score(curved) - 6 * np.log(1024), atol=1e-3)


def test_save_and_load(name, curved, fitted, tmp_path):
    fitted[name].save(tmp_path / "run")
    back = lt.load(tmp_path / "run")
    assert back.get_params() == fitted[name].get_params()
    assert (back.transform(curved) == fitted[name].transform(curved)).all()
    assert (back.sample(4) == fitted[name].sample(4)).all()
    assert back.score(curved) == fitted[name].score(curved)
    assert back.history_ == fitted[name].history_
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["data"]["fingerprint"] == curved.fingerprint
    assert manifest["versions"]["jax"] == jax.__version__


def test_a_loaded_model_refuses_other_features(name, curved, fitted, tmp_path):
    fitted[name].save(tmp_path / "run")
    back = lt.load(tmp_path / "run")
    with pytest.raises(lt.DataError, match="expecting 6 features"):
        back.transform(lt.Dataset(curved["x"][:, :5], domain=curved.domain))
    with pytest.raises(lt.DataError, match="fitted on modalities x, but the data have image"):
        back.transform(lt.Dataset({"image": curved["x"]}, domain=curved.domain))


def test_columns_are_known_by_name(name, curved, tmp_path):
    named = lt.Dataset(curved["x"], domain=curved.domain, columns={"x": list("abcdef")})
    quick(name).fit(named).save(tmp_path / "run")
    back = lt.load(tmp_path / "run")
    swapped = lt.Dataset(curved["x"], domain=curved.domain, columns={"x": list("bacdef")})
    with pytest.raises(lt.DataError, match="in another order"):
        back.transform(swapped)
    other = lt.Dataset(curved["x"], domain=curved.domain, columns={"x": list("abcdeg")})
    with pytest.raises(lt.DataError, match="column 'g' was not seen at fit"):
        back.transform(other)


def test_wrong_weights_are_named(name, curved, fitted, tmp_path):
    from latentry.training import RunFiles, read_run, write_run

    fitted[name].save(tmp_path / "run")
    files = read_run(tmp_path / "run")
    weights = dict(files.weights)
    leaf = next(key for key in weights if key.startswith("module/"))
    weights[leaf] = np.zeros((1, 2, 3), np.float32)
    manifest = {k: v for k, v in files.manifest.items() if k not in ("format", "checksums")}
    write_run(tmp_path / "run", RunFiles(manifest, weights, files.optimiser, files.history))
    with pytest.raises(lt.CheckpointError, match=leaf):
        lt.load(tmp_path / "run")


def test_one_fit_compiles_each_program_once(name, curved):
    compiled = []

    def listen(event, duration, **about):
        if event == "/jax/core/compile/jaxpr_trace_duration":
            compiled.append(about.get("fun_name"))

    rows = curved.take(np.arange(290))  # shapes that no other test has: nothing is compiled yet
    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        model = quick(name, batch_size=23).fit(rows)
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)
    phases = len(model.phases())
    assert {program: compiled.count(program) for program in ("_many_steps", "_evaluate_many")} == {
        "_many_steps": phases,
        "_evaluate_many": phases,
    }


def test_a_failed_fit_leaves_the_model_as_it_was(name, curved, fitted):
    model = copy.copy(fitted[name])
    before = model.transform(curved)
    with pytest.raises(lt.DataError):
        model.set_params(schedule="cosin").fit(lt.Dataset(curved["x"][:, :3], domain=curved.domain))
    assert (model.transform(curved) == before).all()


def test_a_bad_place_is_noticed_before_training(name, curved, tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("years of work")

    class Never:
        def log(self, row):
            raise AssertionError("it trained")

    with pytest.raises(lt.CheckpointError, match="is no run folder"):
        quick(name).fit(curved, run=tmp_path / "thesis", logger=Never())


@pytest.mark.filterwarnings("ignore:domain .* has only 3 rows")
def test_many_small_domains(name, curved):
    data = lt.Dataset(curved["x"], domain=np.arange(300) // 3)
    assert quick(name).fit(data).transform(data).shape[0] == 300


BAD = {
    "latent_dim": [0, 1.5, "2"],
    "epochs": [0, -1],
    "batch_size": [0],
    "seed": [-1, 0.5],
    "restarts": [0],
    "patience": [0],
    "learning_rate": [0, -1.0, float("nan")],
    "validation": [1.0, -0.1, "a"],
    "clip": [0.0],
    "schedule": [3],
    "hidden": [4, (0,), "wide"],
}


@pytest.mark.parametrize(("parameter", "value"), [(p, v) for p, values in BAD.items() for v in values])
def test_bad_parameters_get_a_sentence(name, parameter, value, curved):
    with pytest.raises(lt.DataError, match=parameter):
        quick(name, **{parameter: value}).fit(curved)


def test_more_latents_than_numbers(name, curved):
    with pytest.raises(lt.DataError, match="latent_dim = 7, but"):
        quick(name, latent_dim=7).fit(curved)


def test_unknown_models_are_suggested():
    with pytest.raises(lt.DataError, match="did you mean 'vae'"):
        lt.models.model_class("vea")
