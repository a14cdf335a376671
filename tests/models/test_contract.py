"""What every registered model must do. A new model is tested here the day it is registered."""

import copy
import json

import jax
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import latentry as lt
from latentry.contracts import DecodesLatents, FitRecord, HasLikelihood, Reconstructs, Samples, SamplesByDomain
from latentry.data import GaussianChannel
from latentry.models import MODELS

pytestmark = pytest.mark.usefixtures("few_tries_in_module")

QUICK = {"latent_dim": 2, "epochs": 2, "batch_size": 32, "progress": False}
# The lighter optimiser: the other one, which has tests of its own, takes two to three times as long to compile.
FLOW = {"flow__blocks": 1, "flow__components": 2, "flow__optimiser": "adam", "domain_prior__hidden": (4,)}
SMALL = {  # what makes a model small enough for a test; what is fixed there cannot be changed
    "vae": {"hidden": (4,)},
    "ivae": {"hidden": (4,), **FLOW},
    "iflow": FLOW,
    "cgvae": {**FLOW, "restarts": 1},
    "natural": {"hidden": (4,), "restarts": 1},
    "cggan": {"style_dim": 1, "networks__channels": 2, "networks__most_channels": 4, "networks__style_width": 4},
}
TABLES = sorted(name for name, kind in MODELS.items() if kind.takes_tables and kind.least_modalities == 1)
SCORED = sorted(name for name, kind in MODELS.items() if issubclass(kind, HasLikelihood))
DECODED = sorted(name for name, kind in MODELS.items() if issubclass(kind, DecodesLatents))


def quick(name, **changes):
    settings = {**QUICK, **SMALL.get(name, {}), **changes}
    if (
        MODELS[name].takes_latents_from_data
        and isinstance(settings["latent_dim"], int)
        and settings["latent_dim"] in (1, 2)
    ):
        settings["latent_dim"] = None
    return MODELS[name]().set_params(**settings)


# scikit-learn asks how a model takes arguments and arrays, in thirteen shapes, and not how it learns: VAE is fitted for it in
# truth, and the others, whose fits are tested below, with steps that need not be compiled for each shape.
LIGHT = {"ivae": {"estimation": "elbo"}, "cgvae": {"sparsity": 0.0}}


@pytest.fixture
def compile_little(estimator, request):
    if type(estimator) is not MODELS["vae"]:
        request.getfixturevalue("no_optimiser_steps")


@pytest.mark.filterwarnings("ignore:domain .* has only")  # scikit-learn's rows are few
@pytest.mark.usefixtures("compile_little")
@parametrize_with_checks([quick(name, latent_dim=1, batch_size=2, **LIGHT.get(name, {})) for name in TABLES])
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(params=sorted(MODELS))
def name(request):
    return request.param


class Fitted(dict):
    """Models by name, fitted when they are first asked for, and the names of the programs that were traced for it."""

    def __init__(self, rows_for):
        self.rows_for, self.traced = rows_for, {}

    def __missing__(self, name):
        traced = self.traced[name] = []

        def listen(event, duration, **about):
            if event == "/jax/core/compile/jaxpr_trace_duration":
                traced.append(about.get("fun_name"))

        jax.monitoring.register_event_duration_secs_listener(listen)
        try:
            self[name] = quick(name).fit(self.rows_for[name])
        finally:
            jax.monitoring.unregister_event_duration_listener(listen)
        return self[name]


@pytest.fixture(scope="module")
def images():
    return lt.generators.domain_images(rows_per_domain=150, size=8)


@pytest.fixture(scope="module")
def rows_for(curved, images):
    """Rows that each model can be fitted to: a table where it takes one, two where it needs them, images where it takes none."""
    halves = lt.Dataset({"left": curved["x"][:, :3], "right": curved["x"][:, 3:]}, domain=curved.domain)
    tables = {1: curved, 2: halves}
    return {name: tables[kind.least_modalities] if kind.takes_tables else images for name, kind in MODELS.items()}


@pytest.fixture
def rows(name, rows_for):
    return rows_for[name]


@pytest.fixture(scope="module")
def fitted(rows_for):
    jax.clear_caches()  # programs are counted below: those of fits in other files would not be traced again
    return Fitted(rows_for)


def test_fit_twice_is_fit_once(name, rows, fitted):
    model = fitted[name]
    assert (quick(name).fit(rows).transform(rows) == model.transform(rows)).all()
    assert (clone(model).fit(rows).transform(rows) == model.transform(rows)).all()


def test_an_unknown_parameter_gets_the_nearest(name):
    for raised in (lt.DataError, TypeError):
        with pytest.raises(
            raised, match=rf"latents: {MODELS[name].__name__} has no such parameter; did you mean 'latent_dim'"
        ):
            MODELS[name](latents=3)


def test_another_seed_is_another_fit(name, rows, fitted):
    model = fitted[name]
    assert (quick(name, seed=1).fit(rows).transform(rows) != model.transform(rows)).any()


def test_outputs_are_numpy_of_the_right_shape(name, rows, fitted):
    model = fitted[name]
    z = model.transform(rows)
    assert type(z) is np.ndarray
    assert z.shape == (len(rows), model.latent_dim or 6)
    row = rows.layout.shape(rows.names[0])
    if isinstance(model, Samples):
        assert type(model.sample(5)) is np.ndarray
        assert model.sample(5).shape == (5, *row)
    if isinstance(model, Reconstructs):
        assert first_of(model.reconstruct(rows), rows).shape == (len(rows), *row)
    if isinstance(model, HasLikelihood):
        assert isinstance(model.score(rows), float)
        assert np.isclose(model.score_rows(rows).mean(), model.score(rows))
        assert set(model.likelihoods()) == set(rows.names)


def first_of(arrays, rows):
    """The array of the first modality, whether it is the only one or not."""
    return arrays[rows.names[0]] if isinstance(arrays, dict) else arrays


def test_rows_of_a_new_domain_are_read_with_a_warning(name, rows, fitted):
    model = fitted[name]
    some = rows.take(np.arange(6))
    new = some.with_domain(["elsewhere"] * 6)
    if model.reads_domain or model.domain_for is not None:
        with pytest.raises(lt.DataError, match="'elsewhere'"):
            model.transform(new)
        return
    with pytest.warns(lt.DataWarning, match=r"domain 'elsewhere' \(6 rows\): not among the 2 domains of the fit"):
        found = model.transform(new)
    assert (found == model.transform(some.with_domain(None))).all()


def test_rows_of_a_domain_are_asked_for_in_one_way(name, rows, fitted):
    model = fitted[name]
    if not isinstance(model, SamplesByDomain):
        pytest.skip("draws no rows of a chosen domain")
    label = rows.domain.labels[1]
    drawn = model.sample(3, domain=label, seed=4)
    assert (drawn == model.sample(3, domain=[label] * 3, seed=4)).all()
    with pytest.raises(lt.DataError, match="give one"):
        model.sample(3, domain=[label] * 2)


def test_every_model_is_final_and_one_step_from_its_base(name):
    kind = MODELS[name]
    assert kind.__bases__[0] is lt.models.LatentModel
    concrete = [base for base in kind.__mro__[2:] if base.__module__.startswith("latentry.models")]
    assert concrete == [], "the base is the only class of this room that a model inherits"
    assert kind.__final__


def test_no_constructor_has_more_than_twenty_parameters(name):
    assert len(MODELS[name]().get_params(deep=False)) <= 20


def test_settings_are_set_part_by_part(name):
    model = quick(name)
    before = model.training
    model.set_params(training__clip=0.5)
    assert model.training.clip == 0.5
    assert before.clip != 0.5, "settings are replaced, never changed"
    assert model.get_params(deep=True)["training__clip"] == 0.5
    copied = clone(model)
    assert copied.training == model.training
    with pytest.raises(lt.DataError, match="training__clop.*did you mean 'training__clip'"):
        model.set_params(training__clop=1)
    with pytest.raises(lt.DataError, match=r"training=3: .*Give latentry.models.Training"):
        quick(name, training=3).fit(np.zeros((4, 2)))


def test_channel_is_the_posterior(name, rows, fitted):
    channel = fitted[name].channel(rows)
    assert len(channel) == len(rows)
    if isinstance(channel, GaussianChannel):
        assert np.allclose(channel.mean, fitted[name].transform(rows), atol=1e-6)


@pytest.mark.parametrize("name", TABLES)
def test_samples_are_in_the_data_units(name, curved):
    stretched = lt.Dataset(1000 + 50 * curved["x"], domain=curved.domain)
    drawn = quick(name).fit(stretched).sample(500)
    assert 800 < np.median(drawn) < 1200
    assert drawn.std() > 5


@pytest.mark.parametrize("name", DECODED)
def test_decoded_latents_are_the_reconstruction(name, curved, fitted):
    model = fitted[name]
    if MODELS[name].least_modalities > 1:
        pytest.skip("takes no single table; see its own tests")
    decoded = model.decode(model.transform(curved))
    # A flow of as many latents as columns gives the rows back.
    wanted = model.reconstruct(curved) if isinstance(model, Reconstructs) else curved["x"]
    assert np.allclose(decoded, wanted, atol=2e-3 * np.ptp(curved["x"]))
    with pytest.raises(lt.DataError, match=r"latents has shape \(2,\)"):
        model.decode(np.zeros(2))
    with pytest.raises(lt.DataError, match="latents is NaN or infinite at row 1"):
        model.decode(np.where(np.arange(4)[:, None] == 1, np.nan, decoded_from := model.transform(curved)[:4]))
    with pytest.raises(lt.DataError, match="something other than numbers"):
        model.decode([["a"] * decoded_from.shape[1]])


@pytest.mark.parametrize("name", TABLES)
def test_score_follows_the_units(name, curved, fitted):
    """A density in millimetres is the density in metres less log 1000 a column."""
    milli = lt.Dataset(1024 * curved["x"], domain=curved.domain)
    model = quick(name).fit(milli)
    assert np.isclose(model.score(milli), fitted[name].score(curved) - 6 * np.log(1024), atol=1e-3)


def test_save_and_load(name, rows, fitted, tmp_path):
    fitted[name].save(tmp_path / "run")
    back = lt.load(tmp_path / "run")
    assert back.get_params() == fitted[name].get_params()
    assert (back.transform(rows) == fitted[name].transform(rows)).all()
    if isinstance(back, Samples):
        assert (back.sample(4) == fitted[name].sample(4)).all()
    if isinstance(back, HasLikelihood):
        assert back.score(rows) == fitted[name].score(rows)
    assert back.history_ == fitted[name].history_
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text())
    assert manifest["record"]["fingerprint"] == rows.fingerprint
    assert manifest["versions"]["jax"] == jax.__version__


def test_the_64_bit_mode_changes_nothing(name, rows, fitted, tmp_path):
    with jax.enable_x64(True):
        model = quick(name).fit(rows)
        model.save(tmp_path / "run")
        latents = lt.load(tmp_path / "run").transform(rows)
        drawn = lt.load(tmp_path / "run").sample(4) if isinstance(model, Samples) else None
    assert (latents == fitted[name].transform(rows)).all()
    assert drawn is None or (drawn == fitted[name].sample(4)).all()


def test_latents_have_names_that_last(name, rows, fitted, tmp_path):
    model = copy.copy(fitted[name])
    count = len(model.latents_)
    assert model.latents_ == tuple(f"z{i + 1}" for i in range(count))
    assert len(model.get_feature_names_out()) == model.transform(rows).shape[1]
    assert model.rename({"z1": "size"}) is model
    assert model.latents_ == ("size", *(f"z{i + 1}" for i in range(1, count)))
    assert fitted[name].latents_[0] == "z1", "a copy has names of its own"
    assert model.get_feature_names_out()[0].startswith("size")
    model.save(tmp_path / "run")
    assert lt.load(tmp_path / "run").latents_ == model.latents_
    record = model.record_
    older = {key: value for key, value in record.to_json().items() if key != "latents"}  # as earlier versions wrote it
    assert not FitRecord.restore(older, record.arrays(), model.facts_class, record.parameters).latents
    with pytest.raises(AttributeError, match="not fitted"):
        clone(model).get_feature_names_out()


def test_a_finished_run_is_lengthened_under_its_names(name, rows, fitted):
    """Two more epochs of the last phase, whatever the phases of the model are."""
    model = copy.copy(fitted[name]).rename({"z1": "size"})
    before = model.history_
    longer = model.set_params(epochs=model.epochs + 2).fit(rows, resume=True)
    assert longer.history_[: len(before)] == before[:]
    assert [row["epoch"] for row in longer.history_[len(before) :]] == [before[-1]["epoch"] + i for i in (1, 2)]
    assert longer.latents_[0] == "size"
    assert longer.record_.changes == ({"after": len(before), "epochs": [QUICK["epochs"], QUICK["epochs"] + 2]},)
    assert fitted[name].record_.changes == ()


def test_a_certificate_calls_latents_by_their_names(name, rows, fitted):
    model = copy.copy(fitted[name]).rename({"z1": "size"})
    another = np.random.default_rng(0).permutation(len(rows))
    new = lt.Dataset({one: (rows[one] + rows[one][another]) / 2 for one in rows.names}, domain=rows.domain)
    certificate = lt.certify(model, new, only=["variables"])
    text = "\n".join([str(certificate), certificate.to_json()])
    assert "size" in text
    assert "z1" not in text, "the old name is gone"
    assert certificate.subject["names"] == list(model.latents_)


def test_a_model_is_matched_with_itself(name, rows, fitted):
    found = lt.match([fitted[name], fitted[name]], rows, names=["one", "again"])
    kinds = {one.outcome for one in found.partners}
    assert kinds <= {"same", "no partner"}, "a latent that is constant after two epochs has none"
    assert all(one.name == one.latent for one in found.partners if one.name)


@pytest.mark.parametrize("name", TABLES)
def test_a_loaded_model_refuses_other_features(name, curved, fitted, tmp_path):
    fitted[name].save(tmp_path / "run")
    back = lt.load(tmp_path / "run")
    with pytest.raises(lt.DataError, match="expecting 6 features"):
        back.transform(lt.Dataset(curved["x"][:, :5], domain=curved.domain))
    with pytest.raises(lt.DataError, match="fitted on modalities x, but the data have image"):
        back.transform(lt.Dataset({"image": curved["x"]}, domain=curved.domain))


@pytest.mark.parametrize("name", TABLES)
def test_columns_are_known_by_name(name, curved, fitted, tmp_path):
    fitted[name]  # whose programs are counted when it is fitted first
    named = lt.Dataset(curved["x"], domain=curved.domain, columns={"x": list("abcdef")})
    quick(name).fit(named).save(tmp_path / "run")
    back = lt.load(tmp_path / "run")
    swapped = lt.Dataset(curved["x"], domain=curved.domain, columns={"x": list("bacdef")})
    with pytest.raises(lt.DataError, match="in another order"):
        back.transform(swapped)
    other = lt.Dataset(curved["x"], domain=curved.domain, columns={"x": list("abcdeg")})
    with pytest.raises(lt.DataError, match="column 'g' was not seen at fit"):
        back.transform(other)


def test_wrong_weights_are_named(name, rows, fitted, tmp_path):
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


def test_one_fit_compiles_each_program_once(name, fitted):
    phases, traced = fitted[name].phases(), fitted.traced[name]
    if phases[0].update is not None:
        pytest.skip("takes its steps itself")
    counts = {program: traced.count(program) for program in ("_many_steps", "_evaluate_many")}
    different = {phase.recipe for phase in phases}  # phases that differ in length and rate alone share programs
    assert counts == dict.fromkeys(counts, len(different))


def test_fits_to_nearly_as_many_rows_share_programs(name, rows, fitted):
    fitted[name]
    traced = Fitted({name: rows.take(np.arange(295))})
    traced[name]
    assert not {"_many_steps", "_evaluate_many", "_one_step"} & set(traced.traced[name])


@pytest.mark.parametrize("name", TABLES)
def test_a_failed_fit_leaves_the_model_as_it_was(name, curved, fitted):
    model = copy.copy(fitted[name])
    before = model.transform(curved)
    with pytest.raises(lt.DataError):
        model.set_params(training__schedule="cosin").fit(lt.Dataset(curved["x"][:, :3], domain=curved.domain))
    assert (model.transform(curved) == before).all()


def test_a_bad_place_is_noticed_before_training(name, rows, tmp_path):
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("years of work")

    class Never:
        def log(self, row):
            raise AssertionError("it trained")

    with pytest.raises(lt.CheckpointError, match="is no run folder"):
        quick(name).fit(rows, run=tmp_path / "thesis", logger=Never())


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:domain .* has only 3 rows")
@pytest.mark.parametrize("name", TABLES)
def test_many_small_domains(name, curved):
    data = lt.Dataset(curved["x"], domain=np.arange(300) // 3)
    lighter = {key: value for key, value in LIGHT.get(name, {}).items() if key != "sparsity"}
    assert quick(name, **lighter).fit(data).transform(data).shape[0] == 300


BAD = {
    "latent_dim": [0, 1.5, "2"],
    "epochs": [0, -1],
    "batch_size": [0],
    "seed": [-1, 0.5],
    "restarts": [0],
    "training__patience": [0],
    "learning_rate": [0, -1.0, float("nan")],
    "validation": [1.0, -0.1, "a"],
    "training__clip": [0.0],
    "training__schedule": [3],
    "hidden": [4, (0,), "wide"],
}


@pytest.mark.parametrize(("parameter", "value"), [(p, v) for p, values in BAD.items() for v in values])
def test_bad_parameters_get_a_sentence(name, parameter, value, rows):
    if parameter not in MODELS[name]().get_params():
        pytest.skip("has no such parameter")
    with pytest.raises(lt.DataError, match=f"^{parameter}=.*: .*\\. "):
        quick(name, **{parameter: value}).fit(rows)


@pytest.mark.parametrize("name", TABLES)
def test_more_latents_than_numbers(name, curved):
    with pytest.raises(lt.DataError, match="latent_dim=7: more latents than a row holds numbers"):
        quick(name, latent_dim=7).fit(curved)


def test_unknown_models_are_suggested():
    with pytest.raises(lt.DataError, match="did you mean 'vae'"):
        lt.models.model_class("vea")


@pytest.mark.parametrize("name", list(MODELS))
def test_before_a_fit_nothing_is_encoded(name):
    from sklearn.exceptions import NotFittedError

    for ask in ("transform", "channel"):
        with pytest.raises(NotFittedError):
            getattr(quick(name), ask)(np.zeros((5, 3)))


def test_a_mistyped_setting_changes_nothing():
    model = lt.VAE(epochs=7)
    with pytest.raises(lt.DataError, match="training__patience"):
        model.set_params(epochs=3, training__patiance=5)
    assert model.epochs == 7


def test_a_seed_is_one_that_every_generator_takes():
    with pytest.raises(lt.DataError, match="seed=4294967296: .*at most 4294967295"):
        lt.CausalPIMA(seed=2**32).fit(np.zeros((50, 3)))


def test_a_wrong_schedule_is_named_with_its_group():
    with pytest.raises(lt.DataError, match="training__schedule='cosin': .*cosine"):
        lt.VAE().set_params(training__schedule="cosin").fit(np.zeros((50, 3)))
