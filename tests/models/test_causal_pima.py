"""CausalPIMA on small data of known make: a table and a curve that two binary causes shape."""

import math
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import latentry as lt
from latentry import graphs
from latentry.data import assemble
from latentry.models.causal_pima.mixture import HodgeTable, Mixture, standard_mixture
from latentry.models.estimator import ready
from latentry.nets import Parameter, expert, two_piece_linear

pytestmark = pytest.mark.long

GRID = np.linspace(0, 1, 20)
SMALL = {"nodes": {"kind": 2, "profile": 2}, "latent_dim": 2, "epochs": 80, "hidden": (16,), "batch_size": 32}
SMALL |= {"progress": False, "seed": 0, "training__patience": None, "learning_rate": 5e-3}
KINKS, SLOPES = np.array([0.3, 0.6]), np.array([-0.3, 0.6])


def made(rows=400, seed=0, do=None):
    """kind → profile; the table shows both, the curve's kink is the kind's, its slope the profile's."""
    truth = graphs.Graph(
        ["kind", "profile"], [("kind", "profile")], cpts={"kind": [0.5, 0.5], "profile": [[0.8, 0.2], [0.3, 0.7]]}
    )
    labels = graphs.sample(truth, rows, seed, do=do)
    rng = np.random.default_rng(seed + 1)
    table = (2.0 * labels - 1) @ np.array([[1.5, 0.5, 0.0, -1.0], [0.3, -1.2, 1.4, 0.2]])
    table = table + 0.25 * rng.normal(size=table.shape)
    kink, slope = KINKS[labels[:, 0]][:, None], SLOPES[labels[:, 1]][:, None]
    curve = np.where(kink > GRID, 0.5 * GRID / kink, 0.5 + slope * (GRID - kink)) + 0.03 * rng.normal(size=(rows, 20))
    factors = {"kind": labels[:, 0], "profile": labels[:, 1]}
    return lt.Dataset({"table": table, "curve": curve}, factors=factors)


def agreement(labels, truth):
    """Share of rows that agree, whichever value is called 0."""
    return max((labels == truth).mean(), (labels != truth).mean())


@pytest.fixture(scope="module")
def data():
    return made()


@pytest.fixture(scope="module")
def test_rows():
    return made(rows=300, seed=100)


@pytest.fixture(scope="module")
def model(data):
    return lt.CausalPIMA().set_params(**SMALL, experts={"curve": two_piece_linear(GRID)}).fit(data)


@pytest.fixture(scope="module")
def columns(model, test_rows):
    """Which node stands for which cause, and whether its values are swapped."""
    labels = model.node_values(test_rows)
    found = {}
    for cause in ("kind", "profile"):
        truth = test_rows.factors[cause]
        node = int(np.argmax([agreement(labels[:, i], truth) for i in range(2)]))
        found[cause] = (node, (labels[:, node] == truth).mean() < 0.5)
    return found


@pytest.mark.parametrize("seen", [("table", "curve"), ("table",), ("curve",)])
def test_nodes_from_any_subset_of_modalities(model, test_rows, columns, seen):
    labels = model.node_values(test_rows.select(*seen))
    for cause, (node, _) in columns.items():
        assert agreement(labels[:, node], test_rows.factors[cause]) > 0.95


def test_probabilities_and_labels_agree(model, test_rows):
    clusters = model.cluster_probabilities(test_rows)
    nodes = model.node_probabilities(test_rows)
    assert clusters.shape == (300, 4)
    assert np.allclose(clusters.sum(axis=1), 1, atol=1e-5)
    assert list(nodes) == ["kind", "profile"]
    assert np.allclose(nodes["kind"][:, 1], clusters[:, 2:].sum(axis=1))
    assert (model.clusters(test_rows) == clusters.argmax(axis=1)).all()
    assert list(model.nodes) == ["kind", "profile"]  # without data, the outcomes that were asked for


def test_one_edge_that_cannot_be_oriented(model):
    found = model.graph_
    assert found.reversible == (("kind", "profile"),)
    assert found.compelled == ()
    assert "kind" in found.to_text()
    assert found.to_svg().startswith("<svg")
    assert 3 < found.clusters <= 4
    truth = 0.5 * sum(p * math.log(p / q) for p, q in ((0.8, 0.55), (0.2, 0.45), (0.3, 0.55), (0.7, 0.45)))
    assert abs(next(iter(found.strengths.values())) - truth) < 0.05


def test_edges_come_back_in_resampled_rows(model, test_rows):
    shares = model.graph_frequencies(test_rows, replicates=20, seed=0)
    assert shares.of(("kind", "profile")) == 1.0
    assert shares.arrow.sum() == 0  # never with an arrow


def test_experts_have_parameters_with_errors(model, columns):
    """Each of 12 numbers lies within four of its standard errors (and 2 %): fails by chance in 1 of 1000 fits."""
    found = model.experts_["curve"]
    kind, swapped = columns["kind"]
    profile, turned = columns["profile"]
    values = np.stack(np.unravel_index(np.arange(4), (2, 2)))
    kinks = KINKS[values[kind] ^ swapped]
    slopes = SLOPES[values[profile] ^ turned]
    for name, truth in (("x0", kinks), ("y0", np.full(4, 0.5)), ("slope", slopes)):
        assert (np.abs(found[name] - truth) < 4 * found[f"{name}_error"] + 0.02 * np.abs(truth)).all()
    assert np.allclose(found["noise"], 0.03, rtol=0.2)


def test_what_was_measured_is_kept_and_the_rest_is_filled(model, test_rows, data):
    half = lt.Dataset(dict(test_rows.values), observed={"table": np.arange(300) % 2 == 0, "curve": np.ones(300, bool)})
    filled = model.impute(half)
    assert (filled["table"][::2] == test_rows["table"][::2]).all()
    guess, truth = filled["table"][1::2], test_rows["table"][1::2]
    plain = data["table"].mean(axis=0)
    assert ((guess - truth) ** 2).mean() < 0.2 * ((plain - truth) ** 2).mean()
    alone = model.impute(test_rows.select("table"))
    assert ((alone["curve"] - test_rows["curve"]) ** 2).mean() < 0.01


def test_interventions_set_their_node(model, columns):
    node, swapped = columns["kind"]
    name = ("kind", "profile")[node]
    with pytest.warns(lt.DataWarning, match="may point in either direction"):
        drawn = model.sample(400, do={name: 1}, seed=3)
    labels = model.node_values(drawn)
    assert (labels[:, node] == 1).mean() > 0.97
    assert drawn["curve"].shape == (400, 20)


def test_counterfactuals_change_what_follows_and_nothing_else(model, test_rows):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lt.DataWarning)
        imagined = model.counterfactual(test_rows, do={"kind": 1}, seed=0)
    labels = model.node_values(test_rows)
    after = model.node_values(imagined)
    assert (after[:, 0] == 1).mean() > 0.97
    same = labels[:, 0] == 1
    plain = model.reconstruct(test_rows)
    assert np.allclose(imagined["table"][same], plain["table"][same], atol=0.05)  # nothing was changed there


def test_files_hold_built_in_experts(model, test_rows, tmp_path):
    model.save(tmp_path / "run")
    back = lt.load(tmp_path / "run")
    assert back.get_params() == model.get_params()
    assert (back.cluster_probabilities(test_rows) == model.cluster_probabilities(test_rows)).all()
    assert repr(back.graph_) == repr(model.graph_)
    assert (back.experts_["curve"]["x0"] == model.experts_["curve"]["x0"]).all()


def test_sampled_probabilities_never_exceed_the_exact_bound(model, test_rows):
    """With the draw's own noise held fixed, the exact optimum is above any other choice of probabilities."""
    seen = ready(model, test_rows, None)
    batch = jax.tree.map(jnp.asarray, assemble(seen, np.arange(64)))
    import equinox as eqx

    sampled = eqx.tree_at(lambda m: m.age, model.module_, model.module_.age)
    sampled = type(sampled)(**{**{f: getattr(sampled, f) for f in sampled.__dataclass_fields__}, "sampled": True})
    bound = eqx.filter_jit(type(sampled).bound)  # one program rather than one for each operation
    exact, other = (bound(module, batch, jax.random.key(0))[1] for module in (model.module_, sampled))
    assert (np.asarray(other) <= np.asarray(exact) + 1e-3).all()


def test_rows_under_interventions_orient_the_edge(data):
    """Rows in which the effect was set break the symmetry (Hauser and Bühlmann 2012)."""
    set_rows = made(rows=300, seed=7, do={"profile": 1})
    joined = {name: np.concatenate([data[name], set_rows[name]]) for name in data.names}
    both = lt.Dataset(joined, domain=["watched"] * 400 + ["treated"] * 300)
    node = "profile"
    model = lt.CausalPIMA().set_params(**SMALL, interventions={"treated": {node: 1}}).fit(both)
    assert model.graph_.compelled == (("kind", node),) or model.graph_.compelled == ((node, "kind"),)
    labels = model.node_values(both)
    assert (labels[400:, 1] == 1).all()  # what was set is known


def test_the_differentiable_graph(data, test_rows):
    model = lt.CausalPIMA().set_params(**SMALL, graph="hodge").fit(data)
    table = model.module_.table.log_table()
    assert np.isclose(np.exp(np.asarray(table[-1], np.float64)).sum(), 1, atol=1e-4)
    assert np.isfinite(model.score(test_rows))
    truth = test_rows.factors["kind"] * 2 + test_rows.factors["profile"]
    clusters = model.clusters(test_rows)
    pure = sum(np.bincount(truth[clusters == c], minlength=4).max() for c in range(4)) / 300
    assert pure > 0.9
    assert isinstance(repr(model.graph_), str)


def test_relaxed_tables_sum_to_one():
    keys = jax.random.split(jax.random.key(0), 4)
    logits = tuple(jax.random.normal(k, (2, 3, 2)) for k in keys[:3])
    table = HodgeTable(
        graphs.hodge_init(3, keys[3]), logits, jnp.float32(0.7), jnp.float32(0.2), jnp.ones((1, 3)), jnp.zeros((1, 12))
    )
    for key in jax.random.split(jax.random.key(1), 5):
        assert np.isclose(float(jnp.exp(table.log_table(key)).sum()), 1, atol=1e-5)


def test_standard_mixture_is_the_prior_of_a_vae():
    """With all clusters standard normal, prior and entropy are minus the divergence from a standard normal."""
    mean, scale = jnp.array([[0.3, -1.0]]), jnp.array([[0.5, 1.2]])
    found = standard_mixture(3, 2).expected_log_density(mean, scale)[0, 0]
    entropy = (jnp.log(scale) + 0.5 * math.log(2 * math.pi * math.e)).sum()
    divergence = (0.5 * (mean**2 + scale**2 - 1) - jnp.log(scale)).sum()
    assert np.isclose(float(found + entropy), -float(divergence), atol=1e-5)


def test_unmixing_keeps_the_density():
    """log p(z) under z = U^-1 w + b is that of w plus log |det U|, against Monte Carlo over q (standard error 0.01)."""
    rng = np.random.default_rng(0)
    unmixing, centre = rng.normal(size=(2, 2)), rng.normal(size=2)
    mixture = Mixture(
        jnp.asarray(rng.normal(size=(1, 2)), jnp.float32),
        jnp.asarray(np.diag([2.0, 0.7])[None], jnp.float32),
        jnp.asarray(unmixing, jnp.float32),
        jnp.asarray(centre, jnp.float32),
    )
    mean, scale = np.array([[0.2, 0.4]]), np.array([[0.3, 0.6]])
    drawn = mean + scale * rng.normal(size=(200_000, 2))
    away = ((drawn - centre) @ unmixing.T - np.asarray(mixture.means[0])) @ np.diag([2.0, 0.7])
    log_density = -0.5 * (away**2).sum(axis=1) - math.log(2 * math.pi) + math.log(1.4) + np.linalg.slogdet(unmixing)[1]
    found = float(mixture.expected_log_density(jnp.asarray(mean), jnp.asarray(scale))[0, 0])
    assert abs(found - log_density.mean()) < 0.06


LINE = expert(lambda slope: slope * jnp.asarray(GRID), slope=1.0)
BAD = [
    ({"nodes": 3}, "nodes=3: no outcomes of nodes"),
    ({"nodes": (2, 1)}, "outcomes=1 of node 'N2'"),
    ({"nodes": (2,) * 13}, "makes 8,192 clusters"),
    ({"nodes": (9, 9, 9)}, "more clusters than rows"),
    ({"graph": "hodg"}, "did you mean 'hodge'"),
    ({"mixture__means": "axis"}, "did you mean 'axes'"),
    ({"mixture__means": "axes", "nodes": (2, 2, 2)}, "it needs a latent for each of the 3 nodes"),
    ({"mixture__means": "axes", "mixture__covariance": "full"}, "Take mixture__covariance"),
    ({"mixture__balance": 0}, "balance=0"),
    ({"graph_search__cooling": (1.0,)}, "cooling="),
    ({"graph_search__required": [("kind", "profile"), ("profile", "kind")]}, "form a cycle"),
    ({"graph_search__required": [("kind", "profil")]}, "did you mean 'profile'"),
    ({"interventions": {"treated": {"kind": 1}}}, "give each row its label"),
    ({"experts": {"curv": LINE}}, "did you mean 'curve'"),
    ({"experts": {"curve": 3}}, "make it with latentry.nets.expert"),
    (
        {"experts": {"curve": expert(lambda a: a * jnp.ones(7), a=1.0)}},
        r"returns shape \(7,\)\. Return a row of 'curve'",
    ),
    ({"experts": {"curve": expert(lambda a: np.asarray(float(a) * GRID), a=1.0)}}, "is not differentiable"),
    ({"experts": {"curve": expert(lambda a: jnp.sqrt(a) * jnp.asarray(GRID), a=0.0)}}, "gradient is not finite"),
    ({"experts": {"curve": expert(lambda b: b * jnp.asarray(GRID), a=1.0)}}, "must take the parameters a by name"),
    ({"experts": {"curve": two_piece_linear(GRID, x0=Parameter(2.0, 0.0, 1.0))}}, "is not inside its bounds"),
    ({"experts": {"curve": two_piece_linear(GRID, x0=Parameter(0.5, 0.0, 1.0, per="sort"))}}, "per 'sort'"),
    ({"experts": {"curve": LINE, "table": LINE}}, "returns shape"),
]


@pytest.mark.parametrize(("changes", "sentence"), BAD)
def test_bad_parameters_get_a_sentence(data, changes, sentence):
    with pytest.raises(lt.DataError, match=sentence):
        lt.CausalPIMA().set_params(**{**SMALL, **changes}).fit(data)


def test_interventions_on_unknown_nodes_and_labels(data):
    labelled = data.with_domain(["a", "b"] * 200)
    for given, sentence in (
        ({"c": {"kind": 1}}, "is no label of the domain"),
        ({"a": {"king": 1}}, "did you mean 'kind'"),
    ):
        with pytest.raises(lt.DataError, match=sentence):
            lt.CausalPIMA().set_params(**SMALL, interventions=given).fit(labelled)


def test_do_on_unknown_nodes(model):
    with pytest.raises(lt.DataError, match="'knd'"):
        model.sample(3, do={"knd": 1})


def test_few_rows_are_read_as_well_as_many():
    """Clusters far apart are right on 60 rows with default settings; a fit of twelve may end elsewhere, another on each machine."""
    right = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        bits = rng.integers(0, 2, size=(60, 2))
        rows = 4 * bits @ rng.normal(size=(2, 4)) + 0.3 * rng.normal(size=(60, 4))
        found = lt.CausalPIMA(nodes=(2, 2), progress=False).fit(rows).clusters(rows)
        right += adjusted_rand_score(bits @ [2, 1], found) == 1.0
    assert right >= 4
