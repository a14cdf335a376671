import numpy as np
import pytest
from scipy import stats

import latentry as lt

SMALL = {"blocks": 2, "components": 4, "epochs": 30, "progress": False}


def test_it_finds_the_sources_from_the_domains_and_not_without_them():
    data = lt.generators.segments(domains=10, rows_per_domain=300, latents=2, layers=2, seed=0)
    training, held_out = data.split(0.8, 0.2)
    settings = SMALL | {"blocks": 4, "components": 6, "batch_size": 64, "epochs": 60}
    flow = lt.IFlow(**settings).fit(training)
    found = lt.mcc(flow.transform(held_out), held_out.factors)
    assert found > 0.95
    shuffled = training.with_domain(np.random.default_rng(0).permutation(training.domain.values))
    lost = lt.IFlow(**settings).fit(shuffled)
    assert lt.mcc(lost.transform(held_out), held_out.factors) < found - 0.1


def test_the_likelihood_is_that_of_a_gaussian(rng):
    """One linear law: the exact density is known. 500 fresh rows; the fit has many spare parameters, so a margin is left."""
    mixing = rng.normal(size=(3, 3))
    rows = rng.normal(size=(2500, 3)) @ mixing + 5
    u = rng.integers(0, 2, size=2500)
    model = lt.IFlow(**SMALL).fit(rows[:2000], u[:2000])
    truth = stats.multivariate_normal(mean=np.full(3, 5), cov=mixing.T @ mixing).logpdf(rows[2000:]).mean()
    assert abs(model.score(rows[2000:], u[2000:]) - truth) < 0.1
    drawn = model.sample(4000)
    assert np.allclose(drawn.mean(axis=0), 5, atol=0.3)
    assert np.allclose(np.cov(drawn.T), mixing.T @ mixing, atol=0.4 * np.abs(mixing.T @ mixing).max())


def test_a_continuous_domain(rng):
    u = rng.uniform(-1, 1, size=1500)
    sources = rng.normal(size=(1500, 2)) * np.exp(np.column_stack([u, -2 * u]))
    rows = np.tanh(sources @ np.array([[1.0, 0.4], [-0.5, 1.0]])) + 0.1 * sources
    model = lt.IFlow(**SMALL, prior_hidden=(8,)).fit(rows[:1200], u[:1200])
    assert lt.mcc(model.transform(rows[1200:]), sources[1200:], "spearman") > 0.9
    assert model.sample(5).shape == (5, 2)


def test_the_units_of_a_continuous_domain_do_not_matter(rng):
    u = rng.uniform(-1, 1, size=300)
    rows = rng.normal(size=(300, 2)) * np.exp(np.column_stack([u, -u]))
    settings = SMALL | {"epochs": 2}
    plain, years = (lt.IFlow(**settings).fit(rows, of) for of in (u, 2005 + 15 * u))
    assert np.allclose(plain.transform(rows), years.transform(rows), atol=1e-2)
    grid = np.linspace(-1, 1, 5)
    assert np.allclose(plain.latent_laws(u=grid).scale, years.latent_laws(u=2005 + 15 * grid).scale, rtol=1e-2)
    assert len(plain.latent_laws().rows) == 6  # each stands for 50 rows


def test_a_domain_whose_rows_were_taken_away_is_forgotten(rng):
    data = lt.Dataset(rng.normal(size=(90, 2)), domain=["a", "b", "c"] * 30)
    left = data.take(np.flatnonzero(data.domain.values != 1))
    model = lt.IFlow(**SMALL | {"epochs": 1}).fit(left)
    assert model.latent_laws().labels == ("a", "c")
    assert model.transform(left).shape == (60, 2)
    assert model.n_features_out == 2


def test_rows_of_a_domain_never_seen_have_no_score(rng):
    rows = rng.normal(size=(60, 2))
    model = lt.IFlow(**SMALL | {"epochs": 1}).fit(rows, ["a", "b"] * 30)
    with pytest.raises(lt.DataError, match="domain 'c' was not among the 2 domains"):
        model.score(rows, ["a", "c"] * 30)
    assert np.isfinite(model.score(rows[:4], ["b", "b", "b", "b"]))
    assert (model.transform(rows, ["a", "c"] * 30) == model.transform(rows)).all()  # the encoder does not need it


BAD = {
    "two modalities": (lambda r: lt.Dataset({"a": r, "b": r}, domain=[0, 1] * 10), {}, "takes one table"),
    "no domain": (lambda r: lt.Dataset(r), {}, "needs a domain for each row"),
    "one domain": (lambda r: lt.Dataset(r, domain=[0] * 20), {}, "at least 2 domains, the data have 1"),
    "more latents": (
        lambda r: lt.Dataset(r, domain=[0, 1] * 10),
        {"latent_dim": 4},
        "more latents than the data can hold",
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
    "optimiser": (lambda r: lt.Dataset(r, domain=[0, 1] * 10), {"optimiser": "soup"}, "did you mean 'soap'"),
    "table": (lambda r: lt.Dataset(r, domain=r[:, 0]), {"prior_table": True}, "u is continuous: a table has one row"),
    "no blocks": (lambda r: lt.Dataset(r, domain=[0, 1] * 10), {"blocks": 0}, "blocks = 0"),
    "prior": (lambda r: lt.Dataset(r, domain=[0, 1] * 10), {"prior": "gausian"}, "did you mean 'gaussian'"),
}


@pytest.mark.parametrize("case", BAD, ids=str)
def test_bad_input(case, rng):
    make, changes, sentence = BAD[case]
    with pytest.raises(lt.DataError, match=sentence):
        lt.IFlow(**SMALL | changes).fit(make(rng.normal(size=(20, 3))))
