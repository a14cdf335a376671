"""CGVAE: its likelihood, its mixing against differences, its penalties, its choice of a weight."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import latentry as lt
from latentry.data import Batch
from latentry.models import choose_sparsity
from latentry.models.cgvae.losses import AnchoredManifold, Penalties, changes, mixing_strengths
from latentry.models.cgvae.module import all_but_given
from latentry.models.networks import NegativeElbo
from latentry.nets import SparsityTerm

pytestmark = pytest.mark.long

SMALL = {
    "flow__blocks": 2,
    "flow__components": 4,
    "epochs": 30,
    "batch_size": 64,
    "restarts": 1,
    "progress": False,
    "flow__optimiser": "adam",
}


@pytest.fixture(scope="module")
def data():
    return lt.generators.sparse_mixing(latents=3, rows_per_domain=400, change=1.0, seed=0)


@pytest.fixture(scope="module")
def wide():
    return lt.generators.sparse_mixing(latents=2, observed=5, rows_per_domain=200, noise=0.05, change=1.0, seed=1)


@pytest.fixture(scope="module")
def exact(data):
    return lt.CGVAE().set_params(**SMALL).fit(data)


@pytest.fixture(scope="module")
def staged(wide):
    return lt.CGVAE().set_params(latent_dim=2, hidden=(8,), **SMALL).fit(wide)


def test_without_a_penalty_it_is_the_identifiable_flow(data):
    few = SMALL | {"epochs": 3}
    plain, mine = (
        lt.IFlow().set_params(domain_prior__shrink=0, **few).fit(data),
        lt.CGVAE().set_params(sparsity=0.0, mixing_penalty__start="random", **few).fit(data),
    )
    assert np.allclose(mine.transform(data), plain.transform(data), atol=1e-2)  # sums in another order
    assert mine.score(data) == pytest.approx(plain.score(data), abs=1e-3)
    assert mine.score_name == "log likelihood"


def differences(model, module, data, latents):
    """Mean absolute slope of data in each latent around the rows, by central differences through the inverse map."""
    found = np.zeros((data.layout.size, latents.shape[1]))
    for j in range(latents.shape[1]):
        step = 1e-2 * latents.std(axis=0)[j] * np.eye(latents.shape[1], dtype=np.float32)[j]
        ends = []
        for sign in (1, -1):
            moved = jax.vmap(module.inner.flow.inverse)(jnp.asarray(latents + sign * step))
            ends.append(np.asarray(moved if model.priors.facts.exact else module.inner.networks.means(moved)["x"]))
        found[:, j] = (np.abs(ends[0] - ends[1]) / 2e-2).mean(axis=0)
    return found


@pytest.mark.parametrize("kind", ["exact", "staged"])
def test_the_mixing_is_that_of_the_inverse_map(kind, request, data, wide):
    model, rows = (request.getfixturevalue(kind), data if kind == "exact" else wide)
    some = rows.take(np.arange(250) * (len(rows) // 250))
    latents = model.transform(some).astype(np.float32)
    scale = model.record_.statistics.apply("x", some["x"]).std(axis=0)
    expected = differences(model, model.module_, some, latents) / scale[:, None]
    assert np.allclose(model.mixing(some), expected, atol=0.05)
    assert model.support(some, edge=0.3).present.tolist() == (model.mixing(some) > 0.3).tolist()


def test_the_mixing_does_not_depend_on_units(data, exact):
    other = lt.Dataset(data["x"] * [1e3, 1, 1e-3] + 5, data.domain)
    again = lt.CGVAE().set_params(**SMALL).fit(other)
    assert np.allclose(again.mixing(other), exact.mixing(data), atol=0.05)


def test_a_weight_buys_sparsity_with_likelihood(data, exact):
    tight = lt.CGVAE().set_params(**SMALL | {"sparsity": 2.0}).fit(data)
    assert tight.mixing(data).sum() < exact.mixing(data).sum() - 0.3
    assert tight.score(data) < exact.score(data)


def batch_of(model, data, rows=64):
    values = jnp.asarray(model.record_.statistics.apply("x", data["x"][:rows]), jnp.float32)
    return Batch({"x": values}, {"x": jnp.ones(rows)}, jnp.asarray(data.domain.values[:rows]), jnp.ones(rows))


@pytest.mark.parametrize("derivative", ["random", "differences"])
def test_estimates_of_a_decoder_behind_a_flow_agree_with_the_exact_term(staged, wide, derivative):
    """All axes drawn: the estimate sees what the exact term sees, through the inverse of the flow's Jacobian."""
    batch, key = batch_of(staged, wide), jax.random.key(0)
    found = {
        term.derivative: float(
            Penalties(True, term=term).added(staged.module_, batch, key, jnp.zeros(()), {})[1]["sparsity"]
        )
        for term in (SparsityTerm(), SparsityTerm(derivative=derivative, directions=2, step=1e-3))
    }
    assert found[derivative] == pytest.approx(found["exact"], rel=0.02)
    assert found["exact"] == pytest.approx(
        float(mixing_strengths(staged.module_, batch).sum(axis=(1, 2)).mean()), rel=1e-4
    )


def test_the_bound_alone_on_an_image_and_a_table(rng):
    rows = lt.Dataset(
        {"image": rng.normal(size=(40, 4, 5)), "table": rng.normal(size=(40, 3))}, domain=np.arange(40) % 2
    )
    settings = SMALL | {
        "epochs": 2,
        "estimation": "elbo",
        "mixing_penalty__derivative": "random",
        "encoder": "dense",
        "decoder": "dense",
    }
    model = lt.CGVAE().set_params(latent_dim=2, hidden=(8,), **settings).fit(rows)
    assert model.mixing(rows).shape == (23, 2)
    assert model.reconstruct(rows)["image"].shape == (40, 4, 5)
    assert "lower bound" in model.score_name


def test_the_penalty_is_the_sum_of_strengths(exact, data):
    batch = batch_of(exact, data)
    _, parts = Penalties(True, 0.5).added(exact.module_, batch, jax.random.key(0), jnp.zeros(()), {})
    assert parts["sparsity"] == pytest.approx(
        float(mixing_strengths(exact.module_, batch).sum(axis=(1, 2)).mean()), rel=1e-4
    )
    assert parts["change"] == pytest.approx(
        float(changes(exact.module_.inner.prior, exact.module_.inner.seen[:200]).sum()), rel=1e-4
    )


def test_the_weight_is_given_and_not_trained(exact):
    assert float(exact.module_.weight) == pytest.approx(lt.CGVAE().sparsity)


def test_a_mask_holds_latents_still(rng):
    rows = rng.normal(size=(2000, 3)) * np.where(np.arange(2000)[:, None] % 2, [1, 1, 3.0], 1)
    data = lt.Dataset(rows, domain=np.arange(2000) % 2)
    settings = SMALL | {"epochs": 40, "flow__blocks": 1, "sparsity": 0.1}
    model = lt.CGVAE().set_params(domain_prior__mask=0.05, **settings).fit(data)
    assert model.changing_.sum() == 1
    law = model.latent_distributions()
    still = ~model.changing_
    assert np.abs(np.log(law.scale[0] / law.scale[1]))[still].max() < 0.15


def test_changes_are_free_of_units():
    class Law:
        latents = 2

        def __init__(self, scale):
            self.scale = jnp.asarray(scale)

        def at(self, u):
            return self.scale * jnp.where(u == 0, 0.0, 1.0), jnp.log(self.scale * jnp.where(u == 0, 1.0, 2.0))

    points = jnp.array([0, 1])
    one, two = (changes(Law(scale), points) for scale in ([1.0, 1.0], [0.01, 50.0]))
    assert np.allclose(one, two, rtol=1e-4)
    assert float(one[0]) == pytest.approx(np.sqrt((0.5 / np.sqrt(2)) ** 2 + (np.log(2) / 2) ** 2), rel=1e-4)


def test_laws_of_free_form():
    """A flow on the prior: two-humped latents get a better likelihood than the best Gaussian of each domain."""
    rng = np.random.default_rng(0)
    u = np.arange(2000) % 2
    humps = rng.choice([-1.5, 1.5], size=(2000, 2)) + 0.3 * rng.normal(size=(2000, 2))
    rows = humps * np.where(u[:, None], [1, 2.0], 1.0)
    settings = SMALL | {"epochs": 60, "flow__blocks": 1, "flow__components": 1, "sparsity": 0.0, "learning_rate": 0.03}
    model = lt.CGVAE().set_params(domain_prior__free_form=True, **settings).fit(rows, u)
    spread = np.array([rows[u == k].std(axis=0) for k in (0, 1)])
    gaussian = -(np.log(spread) + 0.5 * np.log(2 * np.pi * np.e)).sum(axis=1).mean()
    assert model.score(rows, u) > gaussian + 0.2
    assert model.sample(5).shape == (5, 2)
    assert model.latent_distributions().scale.shape == (2, 2)
    assert "free form" in model.latent_distributions().promise


@pytest.mark.usefixtures("few_tries")
def test_a_path_of_weights(data):
    settings = SMALL | {"epochs": 2}  # weights, starts and support: that all of it fits together
    path = choose_sparsity(lt.CGVAE().set_params(**settings), data, path=(0.1, 0.0), starts=2, fraction=0.2)
    assert path.weights == (0.0, 0.1)
    assert path.weight in path.weights
    assert path.model.sparsity == path.weight
    assert path.restarts[0] is path.model
    assert len(path.restarts) == 2
    assert path.rows == 160
    assert path.free[0] is path.best[0]
    assert path.losses[0] == 0
    assert path.refusals[0] == ""
    assert (path.weight == 0.1) == (path.refusals[1] == "")
    assert "chosen by 160 rows set aside" in repr(path)
    for fit in (path.fits[0][0], path.fits[1][0]):  # all end without the penalty: what the weights are compared by
        last = fit.phases()[-1]
        assert (last.name, last.epochs, last.loss.penalties.sparse) == ("released", 1, False)


def fit(rows, **changes):
    return lt.CGVAE().set_params(**SMALL | changes).fit(rows)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda d: fit(d, sparsity=-1), "sparsity=-1: not a number of at least 0"),
        (lambda d: fit(d, sparsity="auto"), "sparsity='auto'"),
        (lambda d: fit(d, domain_prior__mask=float("nan")), "domain_prior__mask=nan"),
        (lambda d: fit(d, mixing_penalty__kind="l0"), "mixing_penalty__kind='l0': not known"),
        (lambda d: fit(d, mixing_penalty__derivative="exat"), "did you mean 'exact'"),
        (lambda d: fit(d, estimation="elbow"), "did you mean 'elbo'"),
        (lambda d: fit(d, training__beta=2.0), "training__beta=2.0: .* an exact likelihood has none"),
        (lambda d: fit(d, mixing_penalty__threshold=0), "threshold=0: not a number above 0"),
        (lambda d: fit(d, mixing_penalty__start="liner"), "did you mean 'linear'"),
        (lambda d: fit(d, mixing_penalty__relax=1.5), "relax=1.5: not a number of at least 0 of at most 1"),
        (lambda d: fit(d, mixing_penalty__release=-1), "release=-1: not a number of at least 0"),
        (lambda d: fit(d, mixing_penalty__penalty_rows=0), "penalty_rows=0"),
        (lambda d: fit(d, mixing_penalty__directions=0), "directions=0"),
        (lambda d: fit(d, latent_dim=4), "more latents than a row holds numbers"),
        (
            lambda d: fit(lt.Dataset({"picture": np.ones((20, 4, 4))}, domain=[0, 1] * 10)),
            "Give a number for these data",
        ),
        (lambda d: fit(d.with_domain(None)), "needs a domain for each row"),
        (lambda d: fit(d.with_domain([0] * len(d))), "at least 2 domains, the data have 1"),
        (lambda d: choose_sparsity(lt.IFlow(), d), "give a CGVAE, not IFlow"),
        (lambda d: choose_sparsity(lt.CGVAE(), d, starts=1), "starts=1"),
        (lambda d: choose_sparsity(lt.CGVAE(), d, path=()), "path: give some weights"),
    ],
)
def test_bad_input(call, sentence, data):
    with pytest.raises(lt.DataError, match=sentence):
        call(data)


def test_rows_of_a_domain_never_seen_have_no_score(exact, data):
    strange = lt.Dataset(data["x"][:4], domain=["elsewhere"] * 4)
    with pytest.raises(lt.DataError, match="'elsewhere'"):
        exact.score(strange)
    with pytest.raises(lt.DataError, match="edge=1"):
        exact.support(data, edge=1)


def test_coordinates_of_a_staged_fit_are_held_near_the_linear_start(staged, wide):
    """The term is half the pull times the squared distance, for an anchor moved by a known step."""
    batch, key = batch_of(staged, wide), jax.random.key(0)
    module = staged.module_
    encoded = np.asarray(module.inner.networks.encode(batch)[0])
    for anchor in (module.anchor, module.anchor + 0.5):
        moved = eqx.tree_at(lambda tree: tree.anchor, module, anchor)
        expected = ((encoded - np.asarray(batch.values["x"] @ anchor.T)) ** 2).sum(axis=1).mean()
        loss, parts = AnchoredManifold(NegativeElbo(), pull=3.0)(moved, batch, key)
        plain, _ = NegativeElbo()(moved.inner, batch, key)
        assert float(parts["apart"]) == pytest.approx(expected, rel=1e-4)
        assert float(loss - plain) == pytest.approx(1.5 * expected, rel=1e-3)
    assert not all_but_given(module).anchor
    assert np.abs(np.asarray(module.anchor)).max() > 0.1  # one of the starts was put there


def test_a_saved_staged_fit_comes_back(staged, wide, tmp_path):
    staged.save(tmp_path / "model")
    again = lt.load(tmp_path / "model")
    assert np.array_equal(again.transform(wide), staged.transform(wide))
    assert np.array_equal(again.module_.anchor, staged.module_.anchor)


def test_no_linear_start_where_there_is_none(wide):
    """A constant column is no reason to fail, nor is a wish for random starts."""
    settings = SMALL | {
        "epochs": 1,
        "latent_dim": 2,
        "hidden": (8,),
        "mixing_penalty__relax": 0.0,
        "sparsity": 0.0,
    }  # few programs
    flat = lt.Dataset(np.column_stack([wide["x"], np.ones(len(wide))]), wide.domain)
    with pytest.warns(lt.DataWarning, match="column 5 never changes"):
        assert lt.CGVAE().set_params(**settings).fit(flat).priors.facts.starts.size == 0
    assert lt.CGVAE().set_params(**settings, mixing_penalty__start="random").fit(wide).priors.facts.starts.size == 0
