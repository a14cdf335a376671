from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

import latentry as lt
from latentry.data import Batch
from latentry.models.domain_prior import Shrunk
from latentry.nets import prior_for

pytestmark = pytest.mark.long

SMALL = {"flow__blocks": 2, "flow__components": 4, "flow__optimiser": "adam", "epochs": 30, "progress": False}


def test_it_finds_the_sources_from_the_domains_and_not_without_them():
    data = lt.generators.segments(domains=10, rows_per_domain=300, latents=2, layers=2, seed=0)
    training, held_out = data.split(0.8, 0.2)
    settings = SMALL | {
        "flow__blocks": 4,
        "flow__components": 6,
        "flow__optimiser": "soap",
        "batch_size": 64,
        "epochs": 60,
    }
    flow = lt.IFlow().set_params(**settings).fit(training)
    found = lt.mcc(flow.transform(held_out), held_out.factors)
    assert found > 0.95
    shuffled = training.with_domain(np.random.default_rng(0).permutation(training.domain.values))
    lost = lt.IFlow().set_params(**settings).fit(shuffled)
    assert lt.mcc(lost.transform(held_out), held_out.factors) < found - 0.1


def test_the_likelihood_is_that_of_a_gaussian(rng):
    """One linear law: the exact density is known. 500 fresh rows; the fit has many spare parameters, so a margin is left."""
    mixing = rng.normal(size=(3, 3))
    rows = rng.normal(size=(2500, 3)) @ mixing + 5
    u = rng.integers(0, 2, size=2500)
    model = lt.IFlow().set_params(**SMALL).fit(rows[:2000], u[:2000])
    truth = stats.multivariate_normal(mean=np.full(3, 5), cov=mixing.T @ mixing).logpdf(rows[2000:]).mean()
    assert abs(model.score(rows[2000:], u[2000:]) - truth) < 0.1
    drawn = model.sample(4000)
    assert np.allclose(drawn.mean(axis=0), 5, atol=0.3)
    assert np.allclose(np.cov(drawn.T), mixing.T @ mixing, atol=0.4 * np.abs(mixing.T @ mixing).max())


def test_a_continuous_domain(rng):
    u = rng.uniform(-1, 1, size=1500)
    sources = rng.normal(size=(1500, 2)) * np.exp(np.column_stack([u, -2 * u]))
    rows = np.tanh(sources @ np.array([[1.0, 0.4], [-0.5, 1.0]])) + 0.1 * sources
    model = lt.IFlow().set_params(**SMALL, domain_prior__hidden=(8,)).fit(rows[:1200], u[:1200])
    assert lt.mcc(model.transform(rows[1200:]), sources[1200:], "spearman") > 0.9
    assert model.sample(5).shape == (5, 2)


def test_the_units_of_a_continuous_domain_do_not_matter(rng):
    u = rng.uniform(-1, 1, size=300)
    rows = rng.normal(size=(300, 2)) * np.exp(np.column_stack([u, -u]))
    settings = SMALL | {"epochs": 2}
    plain, years = (lt.IFlow().set_params(**settings).fit(rows, of) for of in (u, 2005 + 15 * u))
    assert np.allclose(plain.transform(rows), years.transform(rows), atol=1e-2)
    grid = np.linspace(-1, 1, 5)
    assert np.allclose(
        plain.latent_distributions(u=grid).scale, years.latent_distributions(u=2005 + 15 * grid).scale, rtol=1e-2
    )
    assert len(plain.latent_distributions().rows) == 6  # each stands for 50 rows


def test_a_domain_whose_rows_were_taken_away_is_forgotten(rng):
    data = lt.Dataset(rng.normal(size=(90, 2)), domain=["a", "b", "c"] * 30)
    left = data.take(np.flatnonzero(data.domain.values != 1))
    model = lt.IFlow().set_params(**SMALL | {"epochs": 1}).fit(left)
    assert model.latent_distributions().labels == ("a", "c")
    assert model.transform(left).shape == (60, 2)
    assert model.n_features_out == 2


def test_rows_of_a_domain_never_seen_have_no_score(rng):
    rows = rng.normal(size=(60, 2))
    model = lt.IFlow().set_params(**SMALL | {"epochs": 1}).fit(rows, ["a", "b"] * 30)
    with pytest.raises(lt.DataError, match="domain='c': not among the 2 domains"):
        model.score(rows, ["a", "c"] * 30)
    assert np.isfinite(model.score(rows[:4], ["b", "b", "b", "b"]))
    with pytest.warns(lt.DataWarning, match=r"domain 'c' \(30 rows\): not among the 2 domains"):
        assert (model.transform(rows, ["a", "c"] * 30) == model.transform(rows)).all()  # the encoder does not need it


def test_only_the_first_means_move(rng):
    data = lt.Dataset(rng.normal(size=(90, 3)), domain=["a", "b", "c"] * 30)
    laws = lt.IFlow().set_params(**SMALL | {"epochs": 2}, domain_prior__moving=1).fit(data).latent_distributions()
    varies = np.ptp(laws.location, axis=0)
    assert varies[0] > 0
    assert (varies[1:] == 0).all()
    assert (np.ptp(laws.scale, axis=0) > 0).all()


@pytest.mark.parametrize(
    "u", [np.array([0, 0, 1, 2]), np.array([[0.1], [0.1], [0.5], [0.7]])], ids=["labels", "columns"]
)
def test_a_shrunk_loss_adds_the_variance_of_the_scales(u):
    """Against NumPy, over the domains as they occurred: what the batch holds does not matter."""
    continuous = u.ndim == 2
    law = prior_for(
        "gaussian", 2, domains=1 if continuous else 3, continuous=continuous, hidden=(4,), key=jax.random.key(0)
    )
    u = jnp.asarray(u)
    batch = Batch({}, {}, u[:1], jnp.ones(1))
    module = SimpleNamespace(prior=law, seen=u)
    value, parts = Shrunk(lambda *_: (jnp.array(3.0), {"part": jnp.array(1.0)}), 0.5)(module, batch, jax.random.key(0))
    scales = np.array([law.at(one)[1] for one in u])
    assert np.isclose(value, 3 + 0.5 * scales.var(axis=0).sum(), rtol=1e-5)
    assert parts["part"] == 1


def test_shrinking_draws_the_scales_together(rng):
    rows, u = rng.normal(size=(300, 2)) * rng.uniform(0.5, 2, size=(10, 2)).repeat(30, axis=0), np.arange(10).repeat(30)
    slower = SMALL | {"epochs": 60, "flow__optimiser": "soap"}
    model = lt.IFlow().set_params(**slower, batch_size=16, domain_prior__shrink=10.0).fit(rows, u)
    uneven = [row["uneven"] for row in model.history_ if row["phase"] == "fit"]
    assert [*dict.fromkeys(model.history_["phase"])] == ["fit", "laws"]
    assert max(uneven[5:]) < 0.01  # of the log-scales, whose spread in the data is .35 ** 2 a latent
    spread = np.log(model.latent_distributions().scale).std(axis=0)
    own = np.log([model.transform(rows[u == k]).std(axis=0) for k in range(10)]).std(axis=0)
    assert (spread > 0.4 * own).all()  # 30 rows a domain; the laws are those of the latents found, not the shrunk ones


def test_rows_of_a_chosen_domain(rng):
    scale = np.array([[1.0, 1.0], [5.0, 1.0]])
    u = np.arange(600) % 2
    model = (
        lt.IFlow()
        .set_params(**SMALL, batch_size=16)
        .fit(rng.normal(size=(600, 2)) * scale[u], np.array(["calm", "wild"])[u])
    )
    calm, wild = model.sample(400, "calm"), model.sample(400, domain="wild", seed=1)
    assert wild[:, 0].std() > 2 * calm[:, 0].std()
    each = model.sample(400, domain=np.array(["calm", "wild"])[np.arange(400) % 2])
    assert each[1::2, 0].std() > 2 * each[::2, 0].std()
    with pytest.raises(lt.DataError, match="domain='mild': not among the 2 domains"):
        model.sample(3, "mild")
    with pytest.raises(lt.DataError, match="domain has 2 entries, but n = 3"):
        model.sample(3, ["calm", "wild"])
    assert (model.sample(3, ["calm"]) == model.sample(3, "calm")).all()


def test_rows_at_a_value_of_a_continuous_domain(rng):
    v = rng.uniform(-1, 1, size=600)
    u = 2000 + 10 * v
    settings = SMALL | {"batch_size": 16, "domain_prior__hidden": (8,)}
    model = lt.IFlow().set_params(**settings).fit(rng.normal(size=(600, 2)) * np.exp(np.column_stack([2 * v, v])), u)
    assert model.sample(300, 2009)[:, 0].std() > 2 * model.sample(300, [1991.0])[:, 0].std()
    for wrong, sentence in {
        "lab": "fitted with a continuous u. Give numbers",
        np.nan: "domain is NaN or infinite at row 0",
        (1991.0, 2009.0): r"domain has shape \(2, 1\): .* give one point for all rows, or \(3, 1\) numbers",
    }.items():
        with pytest.raises(lt.DataError, match=sentence):
            model.sample(3, wrong)


BAD = {
    "moving latents": (
        lambda r: lt.Dataset(r, domain=[0, 1] * 10),
        {"domain_prior__moving": 4},
        "moving=4: there are 3 latents",
    ),
    "moving in place": (
        lambda r: lt.Dataset(r, domain=[0, 1] * 10),
        {"domain_prior__moving": 1, "prior": "variance"},
        "under prior='variance' no location moves",
    ),
    "moving and tilted": (
        lambda r: lt.Dataset(r, domain=[0, 1] * 10),
        {"domain_prior__moving": 1, "prior": "exponential"},
        "further statistics move every mean",
    ),
    "nothing changes": (
        lambda r: lt.Dataset(r, domain=[0, 1] * 10),
        {"domain_prior__moving": 0, "prior": "mean"},
        "nothing then changes with u",
    ),
    "shrink": (
        lambda r: lt.Dataset(r, domain=[0, 1] * 10),
        {"domain_prior__shrink": -1.0},
        "shrink=-1.0: not a number of at least 0",
    ),
    "two modalities": (lambda r: lt.Dataset({"a": r, "b": r}, domain=[0, 1] * 10), {}, "takes one table"),
    "no domain": (lambda r: lt.Dataset(r), {}, "needs a domain for each row"),
    "one domain": (lambda r: lt.Dataset(r, domain=[0] * 20), {}, "at least 2 domains, the data have 1"),
    "more latents": (
        lambda r: lt.Dataset(r, domain=[0, 1] * 10),
        {"latent_dim": 4},
        "more latents than a row holds numbers",
    ),
    "a copy": (
        lambda r: lt.Dataset(np.column_stack([r, 2 * r[:, 1]]), domain=[0, 1] * 10),
        {},
        "columns 1, 3 are copies or sums",
    ),
    "a constant": (lambda r: lt.Dataset(r * [1, 0, 1], domain=[0, 1] * 10), {}, "column 1 is constant"),
    "a constant that rounds": (
        lambda r: lt.Dataset(r * [1, 0, 1] + [0, 0.1, 0], domain=[0, 1] * 10),
        {},
        "column 1 is constant",
    ),
    "own domains": (
        lambda r: lt.Dataset(r, domain=np.arange(20)),
        {},
        "every one of the 20 rows has a domain of its own",
    ),
    "one row": (lambda r: lt.Dataset(r, domain=["a"] * 19 + ["b"]), {}, "domain 'b' has 1 row: too few"),
    "constant u": (lambda r: lt.Dataset(r, domain=np.full(20, 0.5)), {}, "u is constant in column 0"),
    "optimiser": (lambda r: lt.Dataset(r, domain=[0, 1] * 10), {"flow__optimiser": "soup"}, "did you mean 'soap'"),
    "table": (
        lambda r: lt.Dataset(r, domain=r[:, 0]),
        {"domain_prior__table": True},
        "u is continuous, and a table has one row",
    ),
    "no blocks": (lambda r: lt.Dataset(r, domain=[0, 1] * 10), {"flow__blocks": 0}, "flow__blocks=0"),
    "prior": (lambda r: lt.Dataset(r, domain=[0, 1] * 10), {"prior": "gausian"}, "did you mean 'gaussian'"),
    "beta": (
        lambda r: lt.Dataset(r, domain=[0, 1] * 10),
        {"training__beta": 2.0},
        "training__beta=2.0: .* an exact likelihood has none",
    ),
}


@pytest.mark.parametrize("case", BAD, ids=str)
def test_bad_input(case, rng):
    make, changes, sentence = BAD[case]
    with pytest.raises(lt.DataError, match=sentence):
        lt.IFlow().set_params(**SMALL | changes).fit(make(rng.normal(size=(20, 3))))


@pytest.mark.parametrize("columns", [3, 5])
def test_one_row_far_away_is_named_and_no_columns_are_called_copies(columns):
    rows = np.random.default_rng(0).normal(size=(200, columns))
    rows[7] = 1e100
    with pytest.raises(lt.DataError, match=r"row 7: 1e\+100 in column \d is so far from all other rows"):
        lt.IFlow(epochs=1, progress=False).fit(lt.Dataset(rows, np.arange(200) % 4))
