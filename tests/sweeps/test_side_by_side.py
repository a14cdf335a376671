"""Restarts, refits, weights and permutations on an engine: the numbers of the same work in turn, bit for bit."""

from concurrent.futures import ThreadPoolExecutor

import equinox as eqx
import jax
import numpy as np
import pytest
from sklearn.base import clone

import latentry as lt
from latentry.contracts import HasChannel, Variant, Where, fit_variants
from latentry.errors import DataError, TrainingDiverged
from latentry.models import choose_sparsity
from latentry.training.engines import Engine, Futures, LocalProcesses

DATA = lt.generators.segments(domains=5, rows_per_domain=60, latents=2)


@pytest.fixture(scope="module")
def two():
    """Two processes that live as long as this module's tests: starting them is most of the time."""
    processes = LocalProcesses(2)
    yield Futures(processes, restarts=True, close=None)
    processes.shutdown(cancel_futures=True)


def arrays(model):
    """Every array of a run's state, and what counts it."""
    leaves = [np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(model.state_.arrays())]
    return leaves, model.state_.counters(), [sorted(row.items()) for row in model.history_]


def quick(**params):
    return lt.VAE(latent_dim=1, hidden=(8,), epochs=3, validation=0.2, progress=False).set_params(**params)


def test_restarts_of_a_fit(two, tmp_path):
    in_turn = quick(restarts=3).fit(DATA, run=tmp_path / "a")
    at_once = quick(restarts=3).fit(DATA, run=tmp_path / "b", executor=two)
    assert arrays(at_once) == arrays(in_turn)
    assert in_turn.state_.champion_restart == at_once.state_.champion_restart
    assert arrays(lt.load(tmp_path / "b")) == arrays(in_turn)
    assert not (tmp_path / "b" / "restarts").exists()
    longer = [
        quick(restarts=3, epochs=5).fit(DATA, run=tmp_path / name, resume=True, **engine)
        for name, engine in (("a", {}), ("b", {"executor": two}))
    ]
    assert arrays(longer[0]) == arrays(longer[1])


def test_the_module_of_every_restart_is_kept_where_the_model_compares_them(two):
    x = np.asarray(DATA["x"])
    rows = lt.Dataset({"first": x[:, :1], "second": x[:, 1:]})
    model = lt.NaturalLatents(latent_dim=2, epochs=2, restarts=2, progress=False)
    assert arrays(model.fit(rows)) == arrays(clone(model).fit(rows, executor=two))


class Stops(Engine):
    """An engine that ends after the first piece of work, as if the process had been killed."""

    restarts = False

    def stream(self, task, texts):
        yield 0, task(texts[0])
        raise KeyboardInterrupt


def test_restarts_that_were_killed_go_on_from_what_was_done(two, tmp_path):
    with pytest.raises(KeyboardInterrupt):
        quick(restarts=2).fit(DATA, run=tmp_path / "a", executor=Stops())
    written = (tmp_path / "a" / "restarts" / "0" / "manifest.json").stat().st_mtime_ns
    seen = []

    class Watched(Engine):
        restarts = False

        def stream(self, task, texts):
            for place, text in enumerate(texts):
                yield place, task(text)
                if place == 0:
                    seen.append((tmp_path / "a" / "restarts" / "0" / "weights.safetensors").exists())

    again = quick(restarts=2).fit(DATA, run=tmp_path / "a", resume=True, executor=Watched())
    assert seen
    assert written
    assert arrays(again) == arrays(quick(restarts=2).fit(DATA))


def test_a_restart_that_diverges_is_an_error_with_the_last_good_state(two):
    model = quick(restarts=2, learning_rate=1e30)
    model.set_params(training__clip=None)
    with pytest.raises(TrainingDiverged, match="is not finite"):
        model.fit(DATA, executor=two)
    assert not model.state_.finished


def own_encoder(shape, outputs, key):
    return eqx.nn.Linear(shape[0], outputs, key=key)


def test_a_model_with_a_function_of_ones_own_cannot_be_sent():
    with pytest.raises(DataError, match="encoder: is a function .* cannot be sent to another process"):
        quick(restarts=2, encoder=own_encoder).fit(DATA, executor="local")


def test_restarts_of_a_certificate(two):
    whole = lt.Dataset(np.asarray(DATA["x"]))
    model = quick().fit(whole.split(0.5, 0.5)[0])
    said = []
    found = [
        lt.certify(model, whole, only=["fit"], restarts=2, progress=say, **engine)
        for say, engine in ((None, {}), (said.append, {"executor": two}))
    ]
    parts = [one["fit"] for one in found]
    evidence = [{name: bound.value for name, bound in part.claims["restarts agree"].evidence.items()} for part in parts]
    assert evidence[0] == evidence[1]
    assert parts[0].claims["restarts agree"].sentence == parts[1].claims["restarts agree"].sentence
    assert said == ["restart 1 of 2", "restart 2 of 2", "fit"]


@pytest.mark.long
def test_refits_of_a_certificate(two, monkeypatch):
    monkeypatch.setattr("latentry.identifiability.refits.MOST_DOMAINS", 2)
    rng = np.random.default_rng(0)
    u = np.repeat(np.arange(7), 120)
    data = lt.Dataset((rng.uniform(0.5, 3, size=(7, 2))[u] * rng.normal(size=(840, 2))) @ rng.normal(size=(2, 2)), u)
    quick_flow = {"epochs": 3, "flow__blocks": 1, "flow__components": 2, "flow__optimiser": "adam", "progress": False}
    model = lt.IFlow().set_params(**quick_flow).fit(data.split(0.5, 0.5)[0])
    found = [
        lt.certify(model, data, only=["identifiable"], refits=True, **engine)["identifiable"].claims[
            "sufficient changes"
        ]
        for engine in ({}, {"executor": two})
    ]
    assert found[0].assumptions == found[1].assumptions


def test_what_cannot_be_fitted_is_a_result_and_comes_back_to_its_place(two):
    variants = [Variant({"latent_dim": n}, DATA, f"with {n}") for n in (1, 99, 2)]
    said = []
    for where in (Where(say=said.append), Where(two, say=said.append)):
        one, wrong, other = fit_variants(quick(epochs=1), variants, where)
        assert "latent_dim=99" in str(wrong)
        assert isinstance(wrong, DataError)
        assert [one.transform(DATA).shape[1], other.transform(DATA).shape[1]] == [1, 2]
    assert said == 2 * ["with 1", "with 99", "with 2"]


def test_a_model_of_ones_own_stays_in_this_process():
    class Own(HasChannel):
        def channel(self, X, y=None): ...

    with pytest.raises(DataError, match="Own is no model of latentry"):
        fit_variants(Own(), [Variant({}, DATA)], Where("local"))


@pytest.mark.long
def test_weights_of_sparsity(two):
    model = lt.CGVAE(latent_dim=2, epochs=2, progress=False)
    found = [choose_sparsity(model, DATA, path=(0.1,), starts=2, **engine) for engine in ({}, {"executor": two})]
    assert found[0].scores == found[1].scores
    assert found[0].weight == found[1].weight
    for one, other in zip(found[0].fits[1], found[1].fits[1], strict=True):
        assert arrays(one) == arrays(other)


@pytest.mark.parametrize("given", [None, "labels", "numbers"])
def test_permutations(two, given):
    rng = np.random.default_rng(3)
    z = {None: None, "labels": rng.integers(0, 3, 120), "numbers": rng.normal(size=120)}[given]
    x = rng.normal(size=(120, 2))
    y = x[:, 0] + rng.normal(size=120)
    labels = {"discrete": ["given"], "estimator": "mixed"} if given == "labels" else {}
    options = {"permutations": 19, **labels}
    here = lt.independence_test(x, y, z, **options)
    there = lt.independence_test(x, y, z, **options, executor=two)
    with ThreadPoolExecutor(2) as threads:
        third = lt.independence_test(x, y, z, **options, executor=threads)
    assert here == there == third


@pytest.mark.parametrize(
    "call",
    [
        lambda: quick(restarts=2).fit(DATA, workers=2),
        lambda: lt.independence_test(np.arange(50.0), np.arange(50.0) ** 2, workers=2),
        lambda: lt.models.choose([quick()], DATA, workers=2),
    ],
)
def test_workers_without_an_engine_that_has_them_are_refused(call):
    with pytest.raises(DataError, match="workers=2: executor='here'"):
        call()
