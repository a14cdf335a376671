from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import latentry as lt
from latentry.data import Batch
from latentry.models.networks import ModalityNets
from latentry.nets import Dense, head_for

pytestmark = pytest.mark.long


def batch(x):
    ones = jnp.ones(len(x))
    return Batch({"x": jnp.asarray(x, jnp.float32)}, {"x": ones}, None, ones)


def linear_networks(loadings, scale, mean_map, log_scale):
    """x = A z + noise, encoded by its exact posterior: everything is known in closed form."""
    latents, columns = loadings.shape[1], loadings.shape[0]
    key = jax.random.key(0)

    class Affine(eqx.Module):
        matrix: jax.Array
        rest: jax.Array

        def __call__(self, value):
            return jnp.concatenate([self.matrix @ value, self.rest])

    class Linear(eqx.Module):
        matrix: jax.Array

        def __call__(self, value):
            return (self.matrix @ value)[:, None]

    encoder = Affine(jnp.asarray(mean_map, jnp.float32), jnp.asarray(log_scale, jnp.float32))
    assert Dense(latents, columns, (), key=key)(jnp.ones(latents)).shape == (columns,)
    return ModalityNets(
        {"x": encoder},
        {"x": Linear(jnp.asarray(loadings, jnp.float32))},
        {"x": head_for("gaussian", (columns,), scale=scale)},
        latents,
    )


def test_the_bound_is_tight_at_the_exact_posterior():
    """With orthogonal loadings the true posterior is factorised, and the bound equals the log likelihood.

    The mean over 2,000 rows and one draw each misses by six standard errors less than once in 10^8 runs.
    """
    rng = np.random.default_rng(0)
    loadings = np.array([[2.0, 0], [0, 1.5], [0, 0]])
    scale = 0.5
    gain = np.diag(loadings.T @ loadings) / scale**2  # precision that x adds to the prior's
    mean_map = (loadings.T / scale**2) / gain[:, None]  # each expert's mean; the product with the prior shrinks it
    networks = linear_networks(loadings, scale, mean_map, -0.5 * np.log(gain))
    x = rng.normal(size=(2000, 2)) @ loadings.T + scale * rng.normal(size=(2000, 3))
    truth = stats.multivariate_normal(cov=loadings @ loadings.T + scale**2 * np.eye(3)).logpdf(x)
    fit, divergence = networks.elbo(batch(x), jax.random.key(1))
    gap = truth - np.asarray(fit - divergence)
    assert abs(gap.mean()) < 6 * gap.std() / np.sqrt(2000)
    # and any other encoder does worse
    worse = linear_networks(loadings, scale, 0.5 * mean_map, -0.5 * np.log(gain))
    fit, divergence = worse.elbo(batch(x), jax.random.key(1))
    assert (truth - np.asarray(fit - divergence)).mean() > 0.1


def test_divergence_is_the_closed_form():
    networks = linear_networks(np.eye(2), 1.0, np.zeros((2, 2)), np.zeros(2))
    mean, scale = networks.encode(batch(np.ones((1, 2))))
    _, divergence = networks.elbo(batch(np.ones((1, 2))), jax.random.key(0))
    want = sum(
        np.log(1 / s) + (s**2 + m**2) / 2 - 0.5 for m, s in zip(mean[0].tolist(), scale[0].tolist(), strict=True)
    )
    assert np.isclose(divergence[0], want, atol=1e-6)


def test_it_finds_the_likelihood_of_a_linear_gaussian(rng):
    """On factor-analysis data the held-out bound comes close to the true log density, and never above it.

    Truth is known; 400 fresh rows, one draw each.
    """
    loadings = rng.normal(size=(8, 2))
    covariance = loadings @ loadings.T + 0.3**2 * np.eye(8)
    rows = rng.multivariate_normal(np.zeros(8), covariance, size=2400)
    model = lt.VAE(latent_dim=2, epochs=60, hidden=(32,), learning_rate=5e-3, progress=False).fit(rows[:2000])
    truth = stats.multivariate_normal(cov=covariance).logpdf(rows[2000:]).mean()
    assert truth - 0.5 < model.score(rows[2000:]) < truth + 0.1


@pytest.mark.parametrize("kind", ["bernoulli", "poisson", "negative_binomial", "categorical"])
def test_other_likelihoods_learn(kind, rng):
    z = rng.integers(0, 2, size=400)
    table = {
        "bernoulli": np.where(z[:, None] == 1, 0.9, 0.1) > rng.random((400, 6)),
        "poisson": rng.poisson(np.where(z[:, None] == 1, 20, 2), size=(400, 6)),
        "negative_binomial": rng.poisson(np.where(z[:, None] == 1, 20, 2) * rng.gamma(10, 0.1, size=(400, 6))),
        "categorical": np.where(rng.random((400, 6)) < 0.9, 2 * z[:, None], rng.integers(0, 4, (400, 6))),
    }[kind].astype(float)
    model = lt.VAE(
        latent_dim=1, likelihood=kind, hidden=(16,), epochs=30, batch_size=32, learning_rate=1e-2, progress=False
    )
    code = model.fit(table[:300]).transform(table[300:])[:, 0]
    agree = ((code > code.mean()) == (z[300:] == 1)).mean()
    assert max(agree, 1 - agree) > 0.9
    drawn = model.sample(50)
    assert drawn.shape == (50, 6)
    assert (drawn == np.round(drawn)).all()


def test_images_curves_and_tables_with_holes(rng):
    angle = rng.uniform(0, 1, size=120)
    grid = np.linspace(0, 1, 8)
    image = np.exp(-((grid[None, :, None] - angle[:, None, None]) ** 2 + (grid[None, None, :] - 0.5) ** 2) / 0.02)
    curve = np.sin(6 * grid[None] + 3 * angle[:, None])[..., None]
    table = np.column_stack([angle, -angle]) + 0.05 * rng.normal(size=(120, 2))
    table[::3] = np.nan
    data = lt.Dataset({"image": image, "curve": curve, "table": table})
    model = lt.VAE(latent_dim=2, hidden=(16,), epochs=60, batch_size=16, learning_rate=1e-2, progress=False).fit(data)
    design = np.column_stack([model.transform(data), np.ones(120)])
    missed = angle - design @ np.linalg.lstsq(design, angle)[0]
    assert missed.var() < 0.2 * angle.var()
    filled = model.reconstruct(data)["table"][::3, 0]
    assert np.abs(filled - angle[::3]).mean() < 0.5 * np.abs(angle - angle.mean()).mean()
    alone = lt.Dataset({"curve": curve})
    assert np.abs(model.reconstruct(alone)["table"][:, 0] - angle).mean() < 0.5 * np.abs(angle - angle.mean()).mean()
    with pytest.raises(lt.DataError, match="but the data have curves"):
        model.transform(lt.Dataset({"curves": curve}))
    assert set(model.sample(3)) == {"image", "curve", "table"}
    assert model.sample(3)["image"].shape == (3, 8, 8)


def test_hidden_modalities_leave_every_row_something():
    from latentry.models.networks import hidden_in_part

    observed = {"a": jnp.ones(4000), "b": jnp.concatenate([jnp.zeros(1000), jnp.ones(3000)])}
    seen = hidden_in_part(observed, 0.3, jax.random.key(0))
    assert ((seen["a"] + seen["b"]) > 0).all()
    assert (seen["b"][:1000] == 0).all()  # what was missing stays missing
    # where both were observed: hidden with probability 0.3, given back when both were: 0.7 + 0.09; six standard errors
    assert abs(float(seen["a"][1000:].mean()) - 0.79) < 6 * 0.41 / np.sqrt(3000)


def test_beta_trades_fit_for_divergence(curved):
    last = {}
    for beta in (0.1, 4.0):
        model = (
            lt.VAE()
            .set_params(training__beta=beta, epochs=15, hidden=(16,), learning_rate=1e-2, progress=False)
            .fit(curved)
        )
        last[beta] = model.history_[-1]
    assert last[0.1]["divergence"] > last[4.0]["divergence"]
    assert last[0.1]["reconstruction"] < last[4.0]["reconstruction"]


def test_divergence_keeps_the_last_good_state(curved, tmp_path):
    model = lt.VAE().set_params(learning_rate=1e30, training__clip=None, hidden=(4,), epochs=3, progress=False)
    with pytest.raises(lt.TrainingDiverged, match=r"phase 'fit', epoch 1, step \d+: .* not finite. Try learning_rate"):
        model.fit(curved, run=tmp_path / "run")
    kept = lt.load(tmp_path / "run")
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(kept.module_))
    assert (kept.transform(curved) == model.transform(curved)).all()


@dataclass(eq=False, repr=False)
class NeedsThree(lt.VAE):
    least_domains = 3


def test_models_that_need_domains_say_so(curved):
    small = {"latent_dim": 1, "epochs": 1, "hidden": (4,), "progress": False}
    with pytest.raises(lt.DataError, match="NeedsThree needs at least 3 domains, the data have 2"):
        NeedsThree(**small).fit(curved)
    with pytest.raises(lt.DataError, match="needs a domain for each row, as fit"):
        NeedsThree(**small).fit(curved["x"])


def own_encoder(shape, outputs, key):
    return eqx.nn.Linear(shape[0], outputs, key=key)


def test_a_module_of_ones_own_is_asked_for_at_load(curved, tmp_path):
    model = lt.VAE(encoder=own_encoder, epochs=1, hidden=(4,), progress=False).fit(curved)
    model.save(tmp_path / "run")
    with pytest.raises(lt.CheckpointError, match=r"your own encoder 'own_encoder'.*encoder=own_encoder"):
        lt.load(tmp_path / "run")
    back = lt.load(tmp_path / "run", encoder=own_encoder)
    assert (back.transform(curved) == model.transform(curved)).all()


BAD = {
    "bernoulli": (np.array([[0.5], [1.5]]), "row 1: 1.5 is not between 0 and 1"),
    "poisson": (np.array([[2.0], [0.5]]), "row 1: 0.5 is not a count"),
    "categorical": (np.array([[2.0], [-1]]), "row 1: -1.0 is not one of the codes 0 to 2"),
    "gausian": (np.ones((2, 1)), "did you mean 'gaussian'"),
}


@pytest.mark.parametrize("kind", BAD)
def test_values_must_be_possible(kind):
    rows, sentence = BAD[kind]
    with pytest.raises(lt.DataError, match=sentence):
        lt.VAE(latent_dim=1, likelihood=kind, progress=False).fit(rows)


def test_categories_with_holes():
    codes = np.array([[0.0], [2], [99], [1], [0], [2]])
    other = np.zeros((6, 1)) + np.arange(6)[:, None]
    data = lt.Dataset({"c": codes, "o": other}, observed={"c": codes[:, 0] < 99})
    model = lt.VAE(latent_dim=1, likelihood={"c": "categorical"}, hidden=(4,), epochs=1, progress=False).fit(data)
    assert model.observations.levels == {"c": 3}
    holes = lt.Dataset({"c": np.where(codes == 99, np.nan, codes), "o": other})
    assert model.transform(holes).shape == (6, 1)


def test_a_level_never_seen_at_fit_is_refused(rng):
    model = lt.VAE(latent_dim=1, likelihood="categorical", hidden=(4,), epochs=1, progress=False)
    model.fit(rng.integers(0, 3, size=(40, 2)))
    with pytest.raises(lt.DataError, match="7 is not one of the codes 0 to 2"):
        model.transform(np.array([[0, 7]]))


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("training__beta", -1),
        ("training__beta", "a"),
        ("networks__modality_dropout", 1.0),
        ("networks__observation_scale", 0),
        ("likelihood", 3),
        ("encoder", "cnn"),
        ("encoder", 3),
        ("progress", "maybe"),
        ("progress", None),
    ],
)
def test_own_parameters_are_checked(parameter, value, curved):
    with pytest.raises(lt.DataError, match="architecture='cnn'" if value == "cnn" else parameter):
        lt.VAE().set_params(**{"progress": False, parameter: value}).fit(curved)


def test_streaming_from_disk_gives_the_same_bits(tmp_path, rng, monkeypatch):
    from latentry.data import batches

    monkeypatch.setattr(batches, "WINDOW_BYTES", 24 * 64)  # five windows an epoch
    rows = rng.normal(size=(300, 6))
    lt.Dataset(rows, domain=[0, 1] * 150).write(tmp_path / "rows.zarr")
    lazy = lt.read(tmp_path / "rows.zarr")
    assert lazy.is_lazy
    model = lt.VAE(latent_dim=2, epochs=3, hidden=(4,), batch_size=16, progress=False)
    in_memory = model.fit(rows, [0, 1] * 150)
    weights = jax.tree.leaves(in_memory.module_)
    on_disk = lt.VAE().set_params(**model.get_params()).fit(lazy)
    assert all((a == b).all() for a, b in zip(weights, jax.tree.leaves(on_disk.module_), strict=True))
    assert on_disk.history_ == in_memory.history_


def test_a_second_import_starts_from_the_cache(tmp_path):
    import os
    import subprocess
    import sys

    def compiled():
        return {
            path.name: path.stat().st_mtime_ns
            for path in (tmp_path / "latentry" / "compiled").glob("*_many_steps*-cache")
        }

    code = (
        "import numpy as np, latentry as lt; rows = np.random.default_rng(0).normal(size=(40, 2));"
        "lt.VAE(latent_dim=1, epochs=1, hidden=(4,), progress=False).fit(rows)"
    )
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    first = compiled()
    assert len(first) == 1
    subprocess.run([sys.executable, "-c", code], env=environment, check=True)
    assert compiled() == first  # nothing was compiled, and so written, again
