"""Natural latents against closed forms, exact tables and planted truth."""

import copy
import re
from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm, spearmanr
from sklearn.metrics import normalized_mutual_info_score

import latentry as lt
from latentry.contracts import DecodesLatents
from latentry.data import Batch
from latentry.models.natural_latents.conclude import concluded_module, measured_frontier
from latentry.models.natural_latents.drawing import Drawing, fitted_drawing
from latentry.models.natural_latents.frontier import (
    Answers,
    Weights,
    bend,
    dropping_columns,
    merging_values,
    principal_axes,
    scored,
)
from latentry.models.natural_latents.latent_kinds import CategoricalLatent, GaussianLatent
from latentry.models.natural_latents.losses import NaturalityScore
from latentry.models.natural_latents.networks import Plan, Straightened
from latentry.nets import head_for

pytestmark = pytest.mark.long

EQUAL = Weights(1.0, 1.0)
SCORE = {"mediation": 1.0, "errors": 2.0, "mixtures": 0.0, "worst": 0.1, "noise": 0.0, "domains": 1, "numbers": ()}


@dataclass(frozen=True)
class Told:
    """A module whose channel and students are given tables."""

    kind: object
    channel: object
    students: object
    factor: float = 1.0

    def latents(self, batch):
        return self.channel, self.students


def exact(law, channel):
    """Every cell as a row with its probability as weight, the channel, and the best students, as logarithms."""
    joint = law[..., None] * channel
    axes = tuple(range(law.ndim))
    students = {}
    for i in axes:
        table = joint.sum(axis=tuple(a for a in axes if a != i))
        table = table / table.sum(axis=1, keepdims=True)
        shape = [1] * law.ndim
        shape[i] = law.shape[i]
        spread = np.broadcast_to(table.reshape(*shape, -1), channel.shape)
        students[f"x{i}"] = jnp.asarray(np.log(spread.reshape(law.size, -1)))
    weight = jnp.asarray(1000 * law.ravel())
    ones = {name: jnp.ones(law.size) for name in students}
    rows = Batch({}, ones, None, weight)
    return rows, jnp.asarray(np.log(channel.reshape(law.size, -1))), students


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 2)])
def test_the_loss_is_the_sum_of_both_errors_less_the_total_correlation(shape):
    """An independent implementation computes the errors from entropies of the whole table."""
    rng = np.random.default_rng(0)
    law = rng.dirichlet(np.ones(np.prod(shape))).reshape(shape)
    channel = rng.dirichlet(np.ones(3), size=shape)
    rows, latent, students = exact(law, channel)
    loss, metrics = NaturalityScore(**SCORE)(Told(CategoricalLatent(3), latent, students), rows, jax.random.key(0))
    wanted = lt.natural.weighted_score(law, channel) - lt.natural.total_correlation(law)
    assert float(loss) == pytest.approx(float(wanted), abs=1e-5)
    joint = np.moveaxis(law[..., None] * channel, -1, 0).reshape(3, -1)
    assert float(metrics["information"]) == pytest.approx(lt.natural.mutual_information(joint, [0], [1]), abs=1e-5)


def test_the_worst_domain_counts_and_the_mixture_is_paid_for():
    """Two domains with different distributions: redundancy is their smooth maximum, information their mean."""
    rng = np.random.default_rng(1)
    laws = rng.dirichlet(0.5 * np.ones(9), size=2).reshape(2, 3, 3)
    channel = rng.dirichlet(np.ones(2), size=(3, 3))
    rows, latent, students = exact(laws.mean(axis=0), channel)
    both = {name: jnp.tile(q, (2, 1)) for name, q in students.items()}
    batch = Batch(
        {}, {name: jnp.ones(18) for name in both}, jnp.repeat(jnp.arange(2), 9), jnp.asarray(1000 * laws.reshape(-1))
    )
    told = Told(CategoricalLatent(2), jnp.tile(latent, (2, 1)), both)
    rule = SCORE | {"domains": 2, "worst": 0.01}
    loss = float(NaturalityScore(**rule)(told, batch, jax.random.key(0))[0])
    K = np.exp(np.asarray(latent)).reshape(9, 2)
    kl = sum((K * (np.log(K) - np.asarray(q))).sum(axis=1) for q in students.values())
    p = laws.reshape(2, 9)
    means = p @ K
    kept = [(p[j] * (K * np.log(K / means[j])).sum(axis=1)).sum() for j in range(2)]
    smooth = 0.01 * np.log(np.mean(np.exp(2 * (p @ kl) / 0.01)))
    assert loss == pytest.approx(smooth - np.mean(kept), abs=1e-4)
    paid = float(NaturalityScore(**rule | {"mixtures": 0.7})(told, batch, jax.random.key(0))[0])
    pooled = means.mean(axis=0)
    domain_in_latent = np.mean([(m * np.log(m / pooled)).sum() for m in means])
    assert loss - paid == pytest.approx(0.7 * domain_in_latent, abs=1e-4)


def normal_quantiles(rows):
    """A column as normal as can be: its own sampling adds nothing to the error."""
    return norm.ppf((np.arange(rows) + 0.5) / rows)[:, None]


def test_gaussian_information_and_divergence_have_their_closed_forms():
    """I(X; X + N) = ½ ln(1 + 1/s²). The mean of 20 draws of 800 rows misses by six standard errors less than once in 10^8 runs."""
    rows = 800
    mean = normal_quantiles(rows)
    latent = jnp.asarray(np.hstack([mean, np.full((rows, 1), np.log(0.5))]))
    ones = jnp.ones((rows, 1))
    measure = jax.jit(lambda key: GaussianLatent(1).information(latent, ones, ones[:, 0], key))
    parts = np.concatenate([np.asarray(measure(jax.random.key(i))) for i in range(20)])
    error = 6 * parts.std() / np.sqrt(len(parts))
    assert error < 0.05
    assert abs(parts.mean() - 0.5 * np.log(5)) < error
    answers = Answers(mean, (mean + 0.3,), np.ones((rows, 1)), np.zeros(rows, int), 0.5 + 0 * mean, (0.7 + 0 * mean,))
    assert answers.divergences()[0, 0] == pytest.approx(np.log(0.7 / 0.5) + (0.25 + 0.09) / 0.98 - 0.5)
    p, q = jnp.array([[0.3, -1.0, 0.2, 0.1]]), jnp.array([[0.0, 0.5, 0.4, -0.3]])
    m, s, n, t = np.array([0.3, -1]), np.exp([0.2, 0.1]), np.array([0, 0.5]), np.exp([0.4, -0.3])
    wanted = (np.log(t / s) + (s**2 + (m - n) ** 2) / (2 * t**2) - 0.5).sum()
    assert float(GaussianLatent(2).divergence(p, q)[0]) == pytest.approx(wanted, abs=1e-5)


def test_gaussian_information_compares_densities_of_rows():
    """Every density by SciPy: rows with noise of their own, in two groups, with weights."""
    rng = np.random.default_rng(0)
    mean, scale, weight = 3 + rng.normal(size=(30, 2)), rng.uniform(0.2, 2, size=(30, 2)), rng.uniform(0.5, 1, size=30)
    groups, key = np.eye(2)[np.arange(30) % 2], jax.random.key(3)
    latent, parts = jnp.asarray(np.hstack([mean, np.log(scale)])), (jnp.asarray(groups), jnp.asarray(weight))
    found = GaussianLatent(2).information(latent, *parts, key)
    drawn = mean + scale * np.asarray(jax.random.normal(key, (30, 2)))
    density = norm.pdf(drawn[:, None], mean[None], scale[None]).prod(axis=2)
    near = (groups @ groups.T) * weight
    mixture = (density * near).sum(axis=1) / near.sum(axis=1)
    assert np.allclose(found, np.log(np.diagonal(density) / mixture), atol=1e-3)


def test_networks_of_columns_have_a_linear_path_and_those_of_values_none():
    """Without its layers, what a student says of columns is an affine map of the row, and of values it is constant."""
    rows = [jnp.asarray(row) for row in np.random.default_rng(0).normal(size=(2, 2))]
    rows.append((rows[0] + rows[1]) / 2)
    for kind, varies in ((GaussianLatent(3), True), (CategoricalLatent(3), False)):
        student = Plan(kind, {"a": (2,), "b": (2,)}, (4,), "dense").built(jax.random.key(0))[1]["a"]
        assert isinstance(student, Straightened) == varies
        layers = student.net if varies else student
        still = jax.tree.map(lambda leaf: jnp.zeros_like(leaf) if eqx.is_array(leaf) else leaf, layers)
        student = Straightened(still, student.line) if varies else still
        first, second, between = (np.asarray(student(row)) for row in rows)
        assert (np.abs(first - second)[:3].min() > 1e-3) == varies
        assert (first[3:] == second[3:]).all(), "noise has no linear path"
        assert np.allclose(between, (first + second) / 2, atol=1e-5)


def test_rows_have_noise_of_their_own_in_every_other_restart():
    raw, width = jnp.asarray([[1.0, 2.0, 0.5, -0.5], [3.0, 4.0, 0.1, 9.0]]), jnp.asarray([-1.0, 0.2])
    for apart, wanted in ((0.0, [[-1.0, 0.2], [-1.0, 0.2]]), (1.0, [[-0.5, -0.3], [-0.9, 4.0]])):
        found = np.asarray(GaussianLatent(2).of_channel(raw, width, jnp.asarray(apart)))
        assert np.allclose(found[:, :2], raw[:, :2])
        assert np.allclose(found[:, 2:], wanted, atol=1e-6)  # 9.2 is beyond the bound
    model = lt.NaturalLatents(latent_dim=2, **SMALL)
    table = np.random.default_rng(0).normal(size=(30, 4))
    model.record_ = model.study(lt.Dataset({"a": table[:, :2], "b": table[:, 2:]}))
    blank = model.build(jax.random.key(0))
    assert [float(model.begun(blank, restart).apart) for restart in range(4)] == [0, 1, 0, 1]


def test_before_training_columns_are_what_students_say_on_average():
    """The network of all modalities answers 0 at first; that of values does not."""
    table = np.random.default_rng(0).normal(size=(30, 4))
    data = lt.Dataset({"a": table[:, :2], "b": table[:, 2:]})
    rows = Batch({name: jnp.asarray(data[name]) for name in "ab"}, {n: jnp.ones(30) for n in "ab"}, None, jnp.ones(30))
    for settings in ({"values": 3}, {"latent_dim": 2}):
        model = lt.NaturalLatents(**settings, **SMALL)
        model.record_ = model.study(data)
        module = model.build(jax.random.key(0))
        whole, network = np.asarray(module.latents(rows)[0]), np.asarray(jax.vmap(module.channel)(rows.values))
        if "values" in settings:
            wanted = np.asarray(jax.nn.log_softmax(network, axis=1))
            assert np.ptp(network) > 1e-3
        else:
            said = np.stack([np.asarray(jax.vmap(module.students[name])(rows.values[name])) for name in "ab"])
            wanted = np.hstack([said[:, :, :2].mean(axis=0), np.full((30, 2), -1.0)])
            assert (network == 0).all()
        assert np.allclose(whole, wanted, atol=1e-5)


def noisy_answers(seed=0, rows=400, values=5):
    rng = np.random.default_rng(seed)
    latent = rng.dirichlet(0.3 * np.ones(values), size=rows)
    students = tuple(0.7 * latent + 0.3 * rng.dirichlet(np.ones(values), size=rows) for _ in range(2))
    return Answers(latent, students, np.ones((rows, 2)), np.arange(rows) % 2)


def test_merging_takes_the_cheapest_pair():
    """Every pair is tried by hand."""
    answers = noisy_answers()
    path = merging_values(answers, EQUAL)
    assert [int(group.max()) + 1 for group in path] == [1, 2, 3, 4, 5]

    def score(group):
        return scored(answers.merged(np.asarray(group)), EQUAL)[0].mean()

    by_hand = []
    for a in range(4):
        for b in range(a + 1, 5):
            group = np.array([a if v == b else v - (v > b) for v in range(5)])
            by_hand.append(score(group))
    assert score(path[3]) == pytest.approx(min(by_hand), abs=1e-12)


def test_two_names_for_one_value_are_merged():
    answers = noisy_answers(values=3)
    half = np.repeat(np.eye(3), [1, 1, 2], axis=0)  # the third value has two names
    split = (half / half.sum(axis=0)).T
    doubled = Answers(
        answers.latent @ split, tuple(q @ split for q in answers.students), answers.observed, answers.domain
    )
    group = merging_values(doubled, EQUAL)[2]
    assert group[2] == group[3]
    assert len({group[0], group[1], group[2]}) == 3


def test_the_bend_is_the_smallest_that_is_as_good():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=200)
    rows = [noise, noise - 0.5 + 0.01 * rng.normal(size=200), noise - 0.505, noise - 0.506]
    assert bend(rows)[0] == 1


def test_a_column_of_noise_is_dropped_first():
    """Of two columns one is shared by both students and one is private."""
    rng = np.random.default_rng(0)
    shared, private = rng.normal(size=(2, 300, 1))
    latent, scale = np.hstack([private, shared]), np.full((300, 2), 0.2)
    student, wide = np.hstack([0 * private, shared]), np.hstack([np.ones((300, 1)), np.full((300, 1), 0.25)])
    answers = Answers(latent, (student, student), np.ones((300, 2)), np.zeros(300, dtype=int), scale, (wide, wide))
    assert dropping_columns(answers, EQUAL)[0].tolist() == [1]
    _, order, kept = measured_frontier(answers, answers, EQUAL, choose=True)
    assert (order.tolist(), kept) == ([1, 0], 1), "those kept come first"
    assert measured_frontier(answers, answers, EQUAL, choose=False)[1:] == (pytest.approx([0, 1]), 2)


def readings(rows=600):
    """Two numbers, which four columns tell with noise of their own, and a student that knows them."""
    rng = np.random.default_rng(0)
    shared = rng.normal(size=(rows, 2)) * [3.0, 1.5]
    mean = np.hstack([shared, shared @ [[0.6, 0.8], [-0.8, 0.6]]])
    scale, wide = np.full((rows, 4), 0.5), np.full((rows, 4), 0.6)
    draws = rng.standard_normal((rows, 4))
    ones, domain = np.ones((rows, 2)), np.zeros(rows, dtype=int)
    return Answers(mean, (mean, mean), ones, domain, scale, (wide, wide), draws), shared


def test_columns_that_tell_the_same_become_one():
    """Four readings with noise .5 are two with noise .5 / √2, in units of the noise; their information stays what it was."""
    answers, shared = readings()
    axes = principal_axes(answers)
    turned = answers.turned(axes)
    assert np.allclose(turned.scale, 1, atol=1e-12)
    centred = shared - shared.mean(axis=0)
    widest = np.sqrt(np.linalg.eigvalsh(centred.T @ centred / len(centred)))[::-1]
    assert np.allclose(turned.latent.std(axis=0), [*(np.sqrt(8) * widest), 0, 0], atol=1e-9)
    # Half of ln det(1 + covariance / noise²), by another draw: six standard errors of 600 rows are about 0.3.
    exact = 0.5 * np.log1p(8 * widest**2).sum()
    assert answers.information().mean() == pytest.approx(exact, abs=0.3)
    assert turned.information().mean() == pytest.approx(exact, abs=0.3)


def test_a_column_without_information_changes_no_score():
    """By the same draws, a column that tells nothing gains exactly nothing."""
    answers, _ = readings()
    turned = answers.turned(principal_axes(answers))
    assert np.ptp(turned.latent[:, 2:], axis=0).max() < 1e-9
    few, more = (turned.columns(np.arange(n)).information() for n in (2, 3))
    assert np.allclose(few, more, atol=1e-9)
    _, order, kept = measured_frontier(turned, turned, EQUAL, choose=True)
    assert (sorted(order[:2].tolist()), kept) == ([0, 1], 2)


# Fits ---------------------------------------------------------------------------------------


def planted(rows=500, modalities=2, domains=1, seed=0):
    """Three values behind bent views with private noise in each."""
    rng = np.random.default_rng(seed)
    z = rng.integers(0, 3, size=rows)
    views = {}
    for i in range(modalities):
        centres = 3 * rng.normal(size=(3, 2))
        inner = np.hstack([centres[z] + 0.1 * rng.normal(size=(rows, 2)), rng.normal(size=(rows, 2))])
        views[f"m{i}"] = np.tanh(0.4 * inner @ rng.normal(size=(4, 4))) + 0.02 * rng.normal(size=(rows, 4))
    return views, z, np.arange(rows) % domains if domains > 1 else None


ONES = {name: jnp.ones(500) for name in ("a", "b")}
SMALL = {"epochs": 150, "hidden": (16,), "batch_size": 64, "learning_rate": 1e-2, "progress": False, "restarts": 2}


@pytest.fixture(scope="module")
def learned():
    views, z, domain = planted(domains=2)
    views["m1"] = views["m1"].copy()
    views["m1"][:60] = np.nan
    data = lt.Dataset(views, domain=domain)
    return lt.NaturalLatents(values="auto", **SMALL).fit(data), data, z


def test_planted_values_are_found_and_counted(learned):
    """A wrong number of values, or one value taken for another, fails both."""
    model, data, z = learned
    assert model.n_features_out == 3
    assert normalized_mutual_info_score(z, model.channel(data).most_likely) > 0.98
    assert [point.size for point in model.frontier_ if point.chosen] == [3]
    assert max(model.frontier_[2].errors.values()) < 0.1
    assert model.frontier_[2].information == pytest.approx(np.log(3), abs=0.1)
    assert model.frontier_[0].score == pytest.approx(0, abs=1e-6), "one value says nothing, and errs in nothing"


def test_restarts_are_ranked_and_agree(learned):
    model = learned[0]
    assert model.agreement_.shape == (2, 2)
    assert model.agreement_[0, 1] > 0.9
    assert np.isfinite(model.restart_scores_).all()


def test_each_domain_has_its_errors(learned):
    table = learned[0].domain_errors_
    assert set(table) == {"0", "1"}
    assert all(set(row) == {"information", "m0", "m1"} for row in table.values())
    assert max(row["m0"] for row in table.values()) < 0.15


def test_any_modality_tells_the_latent(learned):
    """What one modality alone says is its student; both are near the channel here."""
    model, data, z = learned
    for name in ("m0", "m1"):
        seen = np.asarray(data.observed[name])
        alone = model.channel(data.take(np.flatnonzero(seen)).select(name)).most_likely
        assert normalized_mutual_info_score(z[seen], alone) > 0.9


def test_prototypes_are_means_of_each_value(learned):
    model, data, _ = learned
    hard = model.channel(data).most_likely
    wanted = np.array([np.asarray(data["m0"])[hard == v].mean(axis=0) for v in range(3)])
    assert np.allclose(model.prototypes(data)["m0"], wanted, atol=0.02)


def test_the_decoder_draws_the_mean_of_each_value(learned):
    """Nearly every row is sure of its value here, so that least squares and averages agree; a row without m1 gets one drawn."""
    model, data, z = learned
    assert isinstance(model, DecodesLatents)
    drawn, means = model.decode(np.eye(3)), model.prototypes(data)
    assert all(np.allclose(drawn[name], means[name], atol=0.05) for name in ("m0", "m1"))
    again = model.reconstruct(data)
    hard = model.channel(data).most_likely
    assert np.abs(again["m1"][:60] - drawn["m1"][hard[:60]]).mean() < 0.05
    within = np.mean([np.asarray(data["m0"])[z == v].var(axis=0).sum() for v in range(3)])
    assert ((again["m0"] - np.asarray(data["m0"])) ** 2).sum(axis=1).mean() < 1.1 * within
    with pytest.raises(lt.DataError, match=r"latents has shape \(2, 4\)"):
        model.decode(np.zeros((2, 4)))


def test_the_decoder_moves_no_latent(learned):
    """Bit for bit: with the decoder set back to nothing, and fitted once more, channel and students say the same."""
    model, data, _ = learned
    module = model.module_
    outputs = {name: table.shape[1] for name, table in module.drawing.maps.items()}
    blank = eqx.tree_at(lambda tree: tree.drawing, module, Drawing.blank(16, outputs, values=True))
    rows = data.standardise(model.record_.statistics)
    again = concluded_module(blank, [blank], rows, rows, EQUAL, choose=True)
    assert not np.allclose(again.drawing.maps["m0"], 0)
    for other in (blank, again):
        before, after = (jax.tree.leaves((m.channel, m.students, m.prior)) for m in (module, other))
        assert all((np.asarray(a) == np.asarray(b)).all() for a, b in zip(before, after, strict=True))


def test_codes_are_drawn_as_codes_and_numbers_within_their_range():
    rng = np.random.default_rng(0)
    z = rng.integers(0, 2, size=120)
    data = lt.Dataset({"code": (2 * z)[:, None], "grey": (0.8 * z + 0.1)[:, None]})
    heads = {"code": head_for("categorical", (1,), levels=3), "grey": head_for("bernoulli", (1,))}
    shapes = {"code": (1,), "grey": (1,)}
    drawing = fitted_drawing(Drawing.blank(2, {"code": 3, "grey": 1}, values=True), np.eye(2)[z], data, heads, 2)
    drawn = drawing(jnp.asarray([[1.0, 0.0], [0.0, 1.0], [-1.0, 3.0]]), heads, shapes)
    assert np.asarray(drawn["code"])[:2, 0].tolist() == [0.0, 2.0]
    assert np.allclose(np.asarray(drawn["grey"])[:, 0], [0.1, 0.9, 1.0], atol=0.01)


def test_a_run_folder_holds_the_frontier(learned, tmp_path):
    model, data, _ = learned
    model.save(tmp_path / "run")
    back = lt.load(tmp_path / "run")
    assert back.frontier_ == model.frontier_
    assert (back.agreement_ == model.agreement_).all()
    assert (back.transform(data) == model.transform(data)).all()
    assert (back.decode(np.eye(3))["m0"] == model.decode(np.eye(3))["m0"]).all()


def test_a_resumed_fit_is_the_same(tmp_path):
    views, _, _ = planted(rows=120)
    settings = SMALL | {
        "epochs": 4,
        "values": 2,
    }
    whole = lt.NaturalLatents(**settings).fit(views)

    class Stop(Exception):
        pass

    class Stopping:
        def log(self, row):
            if (row["restart"], row["phase"]) == (1, "settle"):
                raise Stop

    with pytest.raises(Stop):
        lt.NaturalLatents(**settings).fit(views, run=tmp_path / "run", save_every=1, logger=Stopping())
    again = lt.NaturalLatents(**settings).fit(views, run=tmp_path / "run", resume=True)
    assert again.frontier_ == whole.frontier_
    assert (again.restart_scores_ == whole.restart_scores_).all()
    assert lt.load(tmp_path / "run").frontier_ == whole.frontier_


def test_columns_are_counted_and_drawn():
    """One shared number behind two views of three: one column is kept, a function of it, and draws the third that is shared."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=(500, 1))
    views = {n: np.hstack([z + 0.1 * rng.normal(size=(500, 1)), rng.normal(size=(500, 2))]) for n in ("a", "b")}
    settings = SMALL | {"restarts": 1, "naturality__noise": 0.1}
    model = lt.NaturalLatents().set_params(latent_dim="auto", **settings).fit(views)
    assert model.n_features_out == 1
    assert [point.chosen for point in model.frontier_] == [True, False, False]
    channel = model.channel(views)
    assert channel.mean.shape == channel.scale.shape == (500, 1)
    assert (channel.scale == channel.scale[0]).all()  # noise is that of the column
    assert np.ptp(np.asarray(model.module_.width)) > 0.02  # and is learned
    assert abs(spearmanr(channel.mean[:, 0], z[:, 0]).statistic) > 0.95
    noted = (jnp.asarray([2, 0, 1], dtype=jnp.int32), jnp.diag(jnp.asarray([1.0, 2.0, -3.0])))
    turned = eqx.tree_at(lambda tree: (tree.conclusion.group, tree.conclusion.axes), model.module_, noted)
    batch = Batch({n: jnp.asarray(v, dtype=jnp.float32) for n, v in views.items()}, ONES, None, jnp.ones(500))
    mean, scale = (np.asarray(part) for part in turned.kind.moments(turned.latents(batch)[0]))
    found = turned.encode(batch, jax.random.key(0))
    assert np.allclose(found[0], (mean * [1, 2, -3])[:, [2, 0, 1]], rtol=1e-5)
    assert np.allclose(found[1], (scale * [1, 2, 3])[:, [2, 0, 1]], rtol=1e-5)
    drawn = model.decode(model.transform(views))["a"]
    assert np.allclose(drawn, model.reconstruct(views)["a"], atol=1e-4)
    left = ((drawn - views["a"]) ** 2).mean(axis=0) / views["a"].var(axis=0)
    assert left[0] < 0.15
    assert left[1:].min() > 0.9
    with pytest.raises(lt.DataError, match="latent_dim='auto': .*values="):
        model.cluster_probabilities(views)


def test_it_certifies_and_has_a_page(learned, tmp_path):
    model, data, _ = learned
    certificate = lt.certify(model, data, only=["fit", "natural"], epsilon=0.2)
    assert certificate.split["origin"] == "validation"
    page = certificate.to_html(tmp_path / "report.html")
    assert "NaturalLatents" in page
    assert "With fewer values or columns" in page
    points = certificate["natural"].details["frontier"]
    assert [point["size"] for point in points if point["chosen"]] == [3]
    assert points[2]["score"] == pytest.approx(model.frontier_[2].score)
    assert {"wentworth2025", "poole2019"} <= set(re.findall(r"@\w+\{(\w+),", certificate.citations()))


# Bad input ----------------------------------------------------------------------------------


def refused(data, match, **settings):
    model = lt.NaturalLatents(**{"values": 4, "epochs": 1, "progress": False} | settings)
    before = copy.copy(vars(model))
    with pytest.raises(lt.DataError, match=match):
        model.fit(data)
    assert vars(model) == before


def test_data_from_which_nothing_shared_can_be_learned():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 60, 6))
    refused(x, r'only modality. Cut it into blocks: lt.Dataset\(\{"first": x\[:, :3\]')
    refused({"a": x, "b": 3 * x + 1}, "modalities 'a', 'b': copies of each other.*Drop one")
    refused({"a": x, "b": y}, "values=40: 60 rows .* too few. Give 30 values or fewer", values=40)
    few = lt.Dataset({"a": x, "b": y}, domain=np.repeat(["big", "tiny"], [55, 5]))
    refused(few, "domain 'tiny': 5 rows are too few.*join it with another")
    apart = {
        "a": np.where(np.arange(60)[:, None] < 30, x, np.nan),
        "b": np.where(np.arange(60)[:, None] < 30, np.nan, y),
    }
    refused(apart, "no row has two modalities")
    refused(lt.Dataset({"a": x, "b": y}, domain=rng.normal(size=(60, 1))), "domain: it is continuous.*Give labels")


@pytest.mark.parametrize("settings", [{"values": "auto"}, {"latent_dim": 2}], ids=["values", "columns"])
def test_two_modalities_in_few_rows_give_a_frontier(settings):
    """They can all be held out, or all be trained on: either side then takes those of the other."""
    views = dict(zip("ab", np.random.default_rng(0).normal(size=(2, 40, 3)), strict=True))
    views["b"][4:] = np.nan
    for seed in range(3):
        model = lt.NaturalLatents(**SMALL | {"epochs": 1, "restarts": 1, "seed": seed}, **settings).fit(views)
        assert np.isfinite([point.score for point in model.frontier_]).all()
        assert np.isfinite(model.restart_scores_).all()


def test_parameters_that_contradict_each_other():
    x, y = np.random.default_rng(0).normal(size=(2, 60, 6))
    views = {"a": x, "b": y}
    refused(views, "values=4: .*latent_dim=2 asks for columns. Give one of the two", latent_dim=2)
    refused(views, 'values=1: not a whole number of at least 2. Give one, or "auto"', values=1)
    refused(
        views, "values='auto': it is chosen on held-out rows. Set validation above 0", values="auto", validation=0.0
    )
    refused(
        views,
        "latent_dim='auto': it is chosen on held-out rows. Set validation above 0",
        values=None,
        latent_dim="auto",
        validation=0.0,
    )
    refused(views, 'latent_dim=0: not a whole number of at least 1. Give one, or "auto"', values=None, latent_dim=0)
    refused(views, "training__beta=2", training=lt.models.Training(beta=2.0))


def test_latents_that_were_copied_by_noise_are_no_copies():
    x = np.random.default_rng(0).normal(size=(60, 6))
    noisy = x + 0.1 * np.random.default_rng(1).normal(size=x.shape)
    assert lt.NaturalLatents(values=2).study(lt.Dataset({"a": x, "b": noisy})).rows == 60
