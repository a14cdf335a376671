"""Single missing cells in every model that takes them: what stands there has no influence, and is filled in."""

import copy
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import latentry as lt
from latentry.contracts import HasLikelihood, Imputes
from latentry.data import assemble
from latentry.models import MODELS
from latentry.models.estimator import ready
from latentry.models.networks import visible
from latentry.nets import HEADS, head_for

QUICK = {"latent_dim": 2, "epochs": 2, "batch_size": 32, "progress": False}
SMALL = {"vae": {"hidden": (4,)}, "natural": {"hidden": (4,), "restarts": 1}, "causal-pima": {"hidden": (4,)}}
SMALL |= {name: {"hidden": (4,), "estimation": "elbo", "domain_prior__hidden": (4,)} for name in ("ivae", "cgvae")}
SMALL["cgvae"]["restarts"] = 1
TAKING = sorted(name for name, kind in MODELS.items() if kind.takes_missing_cells)


def holed(rows=120, columns=5, fraction=0.25, seed=0):
    """A table with missing cells in most rows, a whole row, a row with a single cell, and one without the first three."""
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(rows, 2)) @ rng.normal(size=(2, columns)) + 0.3 * rng.normal(size=(rows, columns))
    gone = rng.random(table.shape) < fraction
    gone[0], gone[1, 1:], gone[1, 0], gone[2, :3], gone[2, 3:] = False, True, False, True, False
    gone[gone.all(axis=1), 0] = False
    return np.where(gone, np.nan, table), table


def rows_for(name, table):
    lab = np.where(np.arange(len(table)) % 2, "north", "south")
    if MODELS[name].least_modalities > 1:
        return lt.Dataset({"left": table[:, :3], "right": table[:, 3:]}, domain=lab)
    part = np.where(np.arange(len(table))[:, None] == 2, np.nan, table)  # a row that is missing whole
    return lt.Dataset({"table": part, "other": np.nan_to_num(table[:, :2])}, domain=lab)


def quick(name, **changes):
    return MODELS[name]().set_params(**{**QUICK, **SMALL[name], **changes})


@pytest.fixture(scope="module")
def fitted(no_optimiser_steps_in_module):
    table = holed()[0]
    return {name: quick(name).fit(rows_for(name, table)) for name in TAKING}


def test_which_models_take_them():
    assert TAKING == ["causal-pima", "cgvae", "ivae", "natural", "vae"]
    assert all(issubclass(MODELS[name], Imputes) for name in TAKING)


@pytest.mark.parametrize("name", TAKING)
def test_what_stands_in_a_missing_cell_has_no_influence(name, fitted):
    """A structural zero: other numbers in the missing cells of a batch change no answer, to the last bit."""
    model = fitted[name]
    data = ready(model, rows_for(name, holed()[0]), None, what="score" if model.least_domains else model.domain_for)
    batch = jax.device_put(assemble(data, np.arange(len(data))))
    assert set(batch.cells) == set(data.partial)
    other = {n: jnp.where(batch.cells[n] > 0, v, 7.0) if n in batch.cells else v for n, v in batch.values.items()}
    changed = batch._replace(values=other)
    asks = [lambda module, rows: module.encode(rows, jax.random.key(0))]
    if isinstance(model, HasLikelihood):
        asks.append(lambda module, rows: module.log_evidence(rows, jax.random.key(0)))
    for ask in asks:
        for one, two in zip(
            jax.tree.leaves(ask(model.module_, batch)), jax.tree.leaves(ask(model.module_, changed)), strict=True
        ):
            assert (np.asarray(one) == np.asarray(two)).all()
            assert np.isfinite(np.asarray(one)).all()


@pytest.mark.parametrize("name", TAKING)
def test_measured_cells_are_kept_and_the_others_filled(name, fitted, tmp_path):
    model, table = fitted[name], holed()[0]
    data = rows_for(name, table)
    filled = model.impute(data)
    for one in data.names:
        known = ~np.isnan(data[one]) & data.observed[one].reshape(-1, 1)
        assert (filled[one][known] == data[one][known]).all()
        assert np.isfinite(filled[one]).all()
    model.save(tmp_path / "run")
    back = lt.load(tmp_path / "run")
    assert (back.transform(data) == model.transform(data)).all()
    assert back.record_.facts.to_json() == model.record_.facts.to_json()


@pytest.mark.parametrize("name", TAKING)
def test_whole_rows_are_read_too_and_a_row_does_not_depend_on_its_company(name, fitted):
    model, (table, whole) = fitted[name], holed()
    some = rows_for(name, table)
    assert np.isfinite(model.transform(rows_for(name, whole))).all()
    together = model.transform(some)
    alone = [model.transform(some.take([i])) for i in (0, 1, 5)]
    assert np.allclose(np.concatenate(alone), together[[0, 1, 5]], atol=1e-6)


@pytest.mark.parametrize("name", sorted(set(TAKING) - {"natural"}))
def test_a_score_in_other_units_differs_by_the_cells_that_were_measured(name, fitted):
    model = fitted[name]
    data = rows_for(name, holed()[0])
    other = copy.copy(model)
    statistics = model.record_.statistics
    scale = {n: 1024 * np.asarray(s) for n, s in statistics.scale.items()}
    shift = {n: 1024 * np.asarray(s) for n, s in statistics.shift.items()}
    other.record_ = replace(model.record_, statistics=type(statistics)(shift, scale))
    milli = lt.Dataset({n: 1024 * np.asarray(data[n]) for n in data.names}, domain=data.domain)
    cells = sum((~np.isnan(data[n]) & data.observed[n].reshape(-1, 1)).sum(axis=1) for n in data.names)
    apart = model.score_rows(data) - other.score_rows(milli)
    assert np.allclose(apart, cells * np.log(1024), atol=2e-3)


def test_the_density_of_a_row_is_that_of_its_cells(fitted):
    """Against the sum over the cells that are there, one by one."""
    model = fitted["vae"]
    data = ready(model, rows_for("vae", holed()[0]), None)
    batch, net = jax.device_put(assemble(data, np.arange(20))), model.module_.networks
    z = jnp.zeros((20, 2))
    outputs = net.decode(z)
    expected = np.zeros(20)
    for name in data.names:
        for row in range(20):
            density = np.asarray(net.heads[name].log_density(outputs[name][row], batch.values[name][row]))
            known = batch.cells[name][row] > 0 if name in batch.cells else np.ones(density.shape, bool)
            expected[row] += batch.observed[name][row] * density[known].sum()
    assert np.allclose(np.asarray(net.fit_of(z, batch)), expected, rtol=1e-5)


def test_a_fit_without_missing_cells_is_as_it_was(no_optimiser_steps):
    whole = np.nan_to_num(holed()[1])
    model = quick("vae").fit(whole)
    assert model.module_.networks.masked == ()
    assert model.module_.networks.encoders["x"].net.layers[0].in_features == 5
    assert "partial" not in model.record_.facts.to_json()
    assert np.isfinite(model.transform(holed()[0])).all(), "new rows may have missing cells all the same"
    assert quick("vae").fit(holed()[0]).module_.networks.encoders["x"].net.layers[0].in_features == 10


@pytest.mark.parametrize("kind", sorted(HEADS))
@pytest.mark.parametrize("shape", [(4,), (6, 2)])
def test_encoders_see_which_entries_are_missing(kind, shape):
    head = head_for(kind, shape, levels=3)
    rng = np.random.default_rng(0)
    rows = np.clip(rng.integers(0, 2, size=(3, *shape)), 0.25, 0.75).astype(np.float32)
    rows = rows if kind in ("gaussian", "concrete", "bernoulli") else np.round(rows)
    known = (rng.random((3, *shape)) < 0.5).astype(np.float32)
    data = lt.Dataset({"x": rows.astype(float)})
    whole = assemble(data, np.arange(3))
    partly = whole._replace(cells={"x": known}, values={"x": rows * known})
    seen, plain = visible(head, "x", partly, masked=True), visible(head, "x", partly, masked=False)
    complete = visible(head, "x", whole, masked=True)
    assert seen.shape == complete.shape
    assert seen.size == plain.size + known.size
    features = jax.vmap(head.features)(rows)
    width = features.size // known.size
    shown = np.repeat(known.reshape(3, -1), width, axis=1).reshape(features.shape) > 0
    assert np.allclose(np.where(shown, plain, 0), plain), "nothing is seen of a missing entry"
    assert np.allclose(np.where(shown, features, 0), plain), "and all of the others"


@pytest.mark.parametrize(
    ("likelihood", "draw"),
    [
        ("bernoulli", lambda rng, shape: rng.integers(0, 2, shape)),
        ("categorical", lambda rng, shape: rng.integers(0, 3, shape)),
        ("poisson", lambda rng, shape: rng.poisson(3, shape)),
        ("negative_binomial", lambda rng, shape: rng.poisson(3, shape)),
        ("concrete", lambda rng, shape: rng.uniform(0.1, 0.9, shape)),
    ],
)
def test_every_likelihood_takes_them(likelihood, draw, no_optimiser_steps):
    rng = np.random.default_rng(0)
    rows = draw(rng, (40, 3)).astype(float)
    rows[:, 1:][rng.random((40, 2)) < 0.4] = np.nan
    model = quick("vae", likelihood=likelihood).fit(rows)
    assert np.isfinite(model.impute(rows)).all()
    assert np.isfinite(model.score_rows(rows)).all()
    rows[3, 1] = -1
    with pytest.raises(lt.DataError, match="row 3: -1.0 is not"):
        model.transform(rows)


def test_curves_have_a_channel_for_what_is_missing(no_optimiser_steps):
    rng = np.random.default_rng(0)
    curves = rng.normal(size=(40, 8, 1))
    curves[rng.random(curves.shape) < 0.2] = np.nan
    model = quick("vae").fit({"curve": curves})
    assert np.isfinite(model.impute({"curve": curves})["curve"]).all()


def test_models_that_cannot_say_so():
    table = holed()[0]
    lab = np.arange(len(table)) % 2
    grid = np.linspace(0, 1, 5)
    expert = {"left": lt.nets.two_piece_linear(grid)}
    for model, rows, words in (
        (lt.IFlow(progress=False), table, "IFlow needs every cell"),
        (lt.CGVAE(progress=False), table, "CGVAE with an exact likelihood .* needs every cell"),
        (
            lt.CausalPIMA(experts=expert),
            {"left": table, "right": np.nan_to_num(table)},
            "the expert of 'left' needs every",
        ),
        (lt.CausalPIMA(nodes="auto"), table, "nodes='auto' needs every cell"),
        (
            lt.CGGAN(),
            np.where(np.arange(16).reshape(1, 4, 4) == 3, np.nan, np.ones((120, 4, 4))),
            "CGGAN needs every cell",
        ),
    ):
        with pytest.raises(lt.DataError, match=words):
            model.fit(rows, lab)


@pytest.mark.long
def test_missing_cells_are_filled_almost_as_well_as_can_be():
    """Columns of one Gaussian: the best guess is the conditional mean, and the model's error is within 15 % of its."""
    rng = np.random.default_rng(0)
    mixing = rng.normal(size=(2, 6))
    covariance = mixing.T @ mixing + 0.1 * np.eye(6)
    whole = rng.multivariate_normal(np.zeros(6), covariance, size=1200)
    gone = rng.random(whole.shape) < 0.2
    gone[gone.all(axis=1)] = False
    model = lt.VAE(latent_dim=2, epochs=150, hidden=(32,), seed=0, progress=False).fit(np.where(gone, np.nan, whole))
    filled = model.impute(np.where(gone, np.nan, whole))
    best = whole.copy()
    for row, missing in enumerate(gone):
        if missing.any():
            seen = ~missing
            best[row, missing] = covariance[np.ix_(missing, seen)] @ np.linalg.solve(
                covariance[np.ix_(seen, seen)], whole[row, seen]
            )
    error, least = (np.sqrt(((guess - whole)[gone] ** 2).mean()) for guess in (filled, best))
    assert error < 1.15 * least
