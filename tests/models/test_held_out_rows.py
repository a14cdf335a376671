"""The rows that a fit says it held out are those that it did not train on, whatever the model and the domain."""

import numpy as np
import pytest

import latentry as lt
from latentry.certificate.splitting import rows_to_audit
from latentry.models import MODELS, model_class
from latentry.training import Feed

pytestmark = pytest.mark.usefixtures("no_optimiser_steps")  # which rows are fed is tested, not what is learned

ROWS = 500
SMALL = {
    "latent_dim": 2,
    "epochs": 1,
    "batch_size": 64,
    "progress": False,
    "validation": 0.2,
    "hidden": (4,),
    "flow__blocks": 1,
}
SMALL |= {
    "flow__components": 2,
    "restarts": 1,
    "flow__optimiser": "adam",
    "estimation": "elbo",
    "mixing_penalty__start": "random",
    "sparsity": 0.0,
}
DOMAINS = {
    "no domain": lambda rng: None,
    "labels": lambda rng: np.arange(ROWS) % 2,
    "words in blocks": lambda rng: np.repeat(["b", "a", "c", "d"], ROWS // 4),
    "continuous": lambda rng: rng.normal(size=(ROWS, 1)),
}


def numbered(domain):
    """The first column is the row's number, so that rows are known wherever they turn up."""
    rng = np.random.default_rng(0)
    return lt.Dataset(np.column_stack([np.arange(ROWS), rng.normal(size=(ROWS, 3))]), domain=DOMAINS[domain](rng))


def small(name, **more):
    kind = model_class(name)
    known = {key: value for key, value in (SMALL | more).items() if key in kind().get_params()}
    return kind().set_params(**known | ({"latent_dim": None} if kind.takes_latents_from_data else {}))


@pytest.fixture
def fed(monkeypatch):
    """The datasets that training was given: the rows trained on first, then those held out."""
    given, make = [], Feed.__init__

    def noted(self, data, *rest, **more):
        given.append(data)
        make(self, data, *rest, **more)

    monkeypatch.setattr(Feed, "__init__", noted)
    return given


def numbers(model, data):
    return sorted(np.round(model.record_.statistics.undo("x", np.asarray(data["x"], float))[:, 0]).astype(int).tolist())


DEPENDENT = {
    "groups": {"groups": np.random.default_rng(5).integers(0, 60, size=ROWS)},
    "words": {"groups": [f"subject {i // 9}" for i in range(ROWS)]},
    "time": {"time": np.random.default_rng(6).permutation(ROWS) / 7},
}
TABLES = sorted(name for name, kind in MODELS.items() if kind.takes_tables and kind.least_modalities == 1)
CASES = [(n, d) for n in TABLES for d in DOMAINS if not (d == "no domain" and MODELS[n].least_domains)]


@pytest.mark.parametrize(("name", "domain"), CASES)
def test_rows_called_held_out_did_not_train(name, domain, fed, tmp_path):
    data = numbered(domain)
    model = small(name).fit(data)
    trained, held = numbers(model, fed[0]), numbers(model, fed[1])
    assert sorted([*trained, *held]) == list(range(ROWS))
    model.save(tmp_path / "run")
    for each in (model, lt.load(tmp_path / "run")):
        assert each.record_.held_out.tolist() == held
        split = rows_to_audit(each, data)
        assert (split.origin, split.rows.tolist()) == ("validation", held)
        assert split.trained.tolist() == trained
        elsewhere = rows_to_audit(each, data.take(np.arange(ROWS)[::-1]).with_domain(None))
        assert sorted((ROWS - 1 - elsewhere.rows).tolist()) == held
    if data.domain is not None and not data.domain.is_continuous:
        counts = np.bincount(data.domain.values[held])
        assert np.ptp(counts) <= 1, "held-out rows are a fifth of each domain"


@pytest.mark.parametrize("dependent", DEPENDENT)
@pytest.mark.parametrize("name", TABLES)
def test_rows_that_depend_on_each_other_are_held_out_together(name, dependent, fed):
    order = np.argsort(DEPENDENT[dependent].get("time", np.zeros(ROWS)), kind="stable")
    noise, table = np.random.default_rng(7).normal(size=(ROWS, 4)), np.empty((ROWS, 4))
    table[order] = noise + np.roll(noise, 1, axis=0)  # neighbours in time depend on each other

    data = lt.Dataset(table, domain=np.arange(ROWS) % 2, **DEPENDENT[dependent])
    model = small(name).fit(data)
    held = model.record_.held_out
    trained = np.setdiff1d(np.arange(ROWS), held)
    assert (len(fed[0]), len(fed[1])) == (len(trained), len(held))
    assert 0.1 * ROWS < len(held) < 0.4 * ROWS
    assert not set(data.units[trained]) & set(data.units[held])
    split = rows_to_audit(model, data.with_domain(None))
    assert not set(data.units[split.rows]) & set(data.units[trained])


def test_a_run_of_an_earlier_version_is_refused_by_name(tmp_path):
    from latentry.training import RunFiles, read_run, write_run

    small("vae").fit(numbered("labels"), run=tmp_path / "run")
    files = read_run(tmp_path / "run")
    dropped = ("format", "checksums", "written_by", "record")
    manifest = {key: value for key, value in files.manifest.items() if key not in dropped}
    write_run(tmp_path / "run", RunFiles(manifest, files.weights, files.optimiser, files.history))
    with pytest.raises(lt.CheckpointError, match=r"run holds a run in a form .*latentry 0\.1\.0.*fit the model again"):
        lt.load(tmp_path / "run")


@pytest.mark.parametrize("name", TABLES)
def test_audited_rows_did_not_train(name, fed):
    whole = numbered("labels")
    training, _ = whole.split(0.7, 0.3, seed=5)
    model = small(name).fit(training)
    trained = numbers(model, fed[0])
    found = lt.certify(model, whole, only=["controls"])
    assert found.split["origin"] == "set aside"
    audited = {int(row) for row in np.asarray(found._shown.data["x"])[:, 0]}
    assert not audited & set(trained)
    assert not audited & set(numbers(model, fed[1]))
    assert len(audited) == 150


def test_rows_that_repeat_are_counted():
    """Coins: equal rows stand on both sides of a split, and as many are left out as trained."""
    coins = lt.Dataset(np.random.default_rng(0).integers(0, 2, size=(400, 3)).astype(float))
    training, fresh = coins.split(0.7, 0.3)
    model = lt.VAE(epochs=1, hidden=(4,), progress=False).fit(training)
    split = rows_to_audit(model, coins)
    assert (split.origin, len(split.rows)) == ("set aside", 120)
    found, wanted = (sorted(map(tuple, np.asarray(part["x"]))) for part in (coins.take(split.rows), fresh))
    assert found == wanted


@pytest.mark.parametrize("change", [{"seed": 1}, {"validation": 0.3}], ids=str)
def test_a_run_does_not_go_on_with_other_held_out_rows(change, tmp_path):
    """Parameters that were set after a fit are compared with those of the fit, in memory and through a folder."""
    data = numbered("no domain")
    settings = {"latent_dim": 2, "epochs": 1, "hidden": (4,), "validation": 0.2, "progress": False}
    model = lt.VAE(**settings).fit(data)
    trained = np.setdiff1d(np.arange(ROWS), model.record_.held_out)
    model.set_params(**change)
    with pytest.raises(lt.errors.CheckpointError, match=next(iter(change))):
        model.fit(data, resume=True)
    model.save(tmp_path / "run")
    with pytest.raises(lt.errors.CheckpointError, match=next(iter(change))):
        lt.VAE(**(settings | change)).fit(data, run=tmp_path / "run", resume=True)
    assert not np.isin(rows_to_audit(lt.load(tmp_path / "run"), data).rows, trained).any()
