"""CausalPIMA's other choices: decoders per cluster, free means, full covariances, sampled probabilities, restarts."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import latentry as lt
from latentry.data import assemble
from latentry.models.estimator import ready

pytestmark = pytest.mark.long

QUICK = {"nodes": (2, 2), "latent_dim": 3, "epochs": 50, "hidden": (16,), "batch_size": 32, "progress": False}
QUICK |= {"training__patience": None, "learning_rate": 5e-3}


def made(rows=256, seed=0):
    """Two independent coins shape a table; the first turns a line up or down, and it is more or less steep."""
    rng = np.random.default_rng(seed)
    coins = rng.integers(0, 2, size=(rows, 2))
    steep = 1 + 0.3 * rng.normal(size=rows)
    table = (2.0 * coins - 1) @ np.array([[1.5, 0.5, 0.0], [0.3, -1.2, 1.4]]) + 0.2 * rng.normal(size=(rows, 3))
    line = (np.where(coins[:, 0], 1.0, -1.0) * steep)[:, None] * np.linspace(0, 1, 6) + 0.05 * rng.normal(
        size=(rows, 6)
    )
    return lt.Dataset({"table": table, "line": line}, factors={"cell": 2 * coins[:, 0] + coins[:, 1]})


@pytest.fixture(scope="module")
def data():
    return made()


@pytest.fixture(scope="module")
def test_rows():
    return made(rows=300, seed=9)


@pytest.fixture(scope="module")
def apart(data):
    return lt.CausalPIMA().set_params(**QUICK, mixture__per_cluster=("line",)).fit(data)


def rand(model, rows):
    return adjusted_rand_score(rows.factors["cell"], model.clusters(rows))


@pytest.mark.parametrize(
    "choice",
    [
        {"mixture__means": "free", "mixture__covariance": "full", "mixture__gamma": "sample"},
        {"mixture__means": "additive", "mixture__pretraining": "reconstruction"},
    ],
    ids=lambda choice: "-".join(map(str, choice.values())),
)
def test_every_choice_finds_the_clusters(data, test_rows, choice):
    model = lt.CausalPIMA().set_params(**QUICK, **choice).fit(data)
    assert rand(model, test_rows) > 0.8
    assert np.isfinite(model.score(test_rows))


def test_decoders_of_the_clusters_own(apart, test_rows):
    assert rand(apart, test_rows) > 0.8
    stacked = jax.tree.leaves(apart.module_.own["line"])
    assert {leaf.shape[0] for leaf in stacked if hasattr(leaf, "shape")} == {4}
    assert not np.allclose(stacked[0][0], stacked[0][1])
    guess = apart.reconstruct(test_rows)["line"]
    truth = test_rows["line"]
    assert ((guess - truth) ** 2).mean() < 0.1 * ((truth - truth.mean(axis=0)) ** 2).mean()
    assert apart.sample(20, seed=1)["line"].shape == (20, 6)


def test_the_bound_weighs_decoders_by_the_clusters(apart, test_rows):
    """Written out cluster by cluster and row by row: sum of gamma (log density - log gamma + log prior)."""
    module, seen = apart.module_, ready(apart, test_rows, None)
    batch = jax.tree.map(jnp.asarray, assemble(seen, np.arange(8)))
    key = jax.random.key(3)

    @eqx.filter_jit  # one program rather than one for each operation
    def parts(module, batch):
        mean, scale = module.networks.encode(batch)
        drawn = mean + scale * jax.random.normal(key, mean.shape)
        entropy = (jnp.log(scale) + 0.5 * np.log(2 * np.pi * np.e)).sum(axis=1)
        gamma, prior = module.probabilities(batch), module.prior_logits(batch, mean, scale)
        return drawn, gamma, prior, module.fit_of(drawn, batch), entropy, *module.bound(batch, key)

    drawn, *found = parts(module, batch)
    gamma, prior, table, entropy, fit, rest = (np.asarray(part, np.float64) for part in found)
    head, total = module.networks.heads["line"], np.zeros(8)
    densities = eqx.filter_jit(lambda to, z, x: jax.vmap(lambda a, b: head.log_density(to(a), b).sum())(z, x))
    for cluster in range(4):
        decoder = jax.tree.map(
            lambda leaf, at=cluster: leaf[at] if hasattr(leaf, "shape") else leaf, module.own["line"]
        )
        for row, density in enumerate(np.asarray(densities(decoder, drawn, batch.values["line"]), np.float64)):
            weight = gamma[row, cluster]
            total[row] += weight * (density + prior[row, cluster] - np.log(max(weight, 1e-300)))
    assert np.allclose(fit + rest, total + table + entropy, rtol=1e-4, atol=1e-3)


def test_decoders_of_their_own_are_saved(apart, test_rows, tmp_path):
    apart.save(tmp_path / "run")
    back = lt.load(tmp_path / "run")
    assert (back.reconstruct(test_rows)["line"] == apart.reconstruct(test_rows)["line"]).all()


def test_samples_without_noise_lie_on_the_decoders(apart):
    """The same draws of nodes and latents: noise is what differs, and it has no mean (4 standard errors)."""
    quiet, noisy = (apart.sample(2000, noise=noise, seed=5)["table"] for noise in (False, True))
    away = noisy - quiet
    assert (np.abs(away.mean(axis=0)) < 4 * away.std(axis=0) / np.sqrt(2000) + 1e-9).all()
    assert (quiet.std(axis=0) < noisy.std(axis=0)).all()


def test_latents_decode(apart, test_rows):
    latents = apart.transform(test_rows)
    decoded = apart.decode(latents)
    whole = apart.reconstruct(test_rows)
    assert decoded["table"].shape == (300, 3)
    assert np.abs(decoded["table"] - whole["table"]).max() < 1e-3  # the table's decoder asks for the latents alone


def test_edges_over_restarts(data, apart):
    found = apart.restart_frequencies(data, restarts=1)
    assert found.runs == 2
    assert (
        found.of(("N1", "N2")) == 0
    )  # the coins are independent; a wrong edge has odds of 1 in 50 by Schwarz's penalty
    with pytest.raises(lt.DataError, match="restarts=0"):
        apart.restart_frequencies(data, restarts=0)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"mixture__per_cluster": "line"}, "not a tuple of names"),
        (
            {"mixture__per_cluster": ("lien",)},
            r"mixture__per_cluster=\('lien',\): 'lien' is no modality; did you mean 'line'",
        ),
        (
            {"mixture__per_cluster": ("line",), "experts": {"line": lt.nets.expert(lambda a: a * jnp.ones(6), a=1.0)}},
            r"mixture__per_cluster=\('line',\): 'line' is in experts too",
        ),
    ],
)
def test_bad_choices_get_a_sentence(data, changes, sentence):
    with pytest.raises(lt.DataError, match=sentence):
        lt.CausalPIMA().set_params(**QUICK, **changes).fit(data)
