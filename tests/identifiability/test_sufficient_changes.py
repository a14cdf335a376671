"""The audit of changes between domains: against planted laws, exact counts and the levels it states."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import latentry as lt
from latentry.contracts import HasChannel, HasLatentDistributions, KeepsFitRecord, LatentDistributions
from latentry.identifiability import sufficient_changes
from latentry.identifiability.sufficient_changes.measured_moments import from_rows, from_table, natural_parameters
from latentry.identifiability.sufficient_changes.weakest_change import change_statistic, rank_of_changes, weakest_change


def laws(location, scale, family="gaussian", rows=1000, **more):
    scale = np.asarray(scale, dtype=float)
    location = np.broadcast_to(np.asarray(location, dtype=float), scale.shape)
    return LatentDistributions(location, scale, family, rows=np.full(len(scale), rows), **more)


def drawn(location, scale, rows, rng):
    """Latents drawn from planted laws, and their domains."""
    scale = np.asarray(scale, dtype=float)
    u = np.repeat(np.arange(len(scale)), rows)
    centre = np.broadcast_to(np.asarray(location, dtype=float), scale.shape)
    return centre[u] + scale[u] * rng.standard_normal((len(u), scale.shape[1])), u


def audit(location, scale, rows=500, seed=0, family="gaussian", **more):
    z, u = drawn(location, scale, rows, np.random.default_rng(seed))
    table = laws(0, np.ones((2, z.shape[1])), family)
    return sufficient_changes(table, (z, u), bootstrap=0, **more)


def planted(domains, latents, seed=0):
    rng = np.random.default_rng(seed)
    return rng.uniform(-5, 5, size=(domains, latents)), rng.uniform(0.5, 3, size=(domains, latents))


# What it answers ------------------------------------------------------------------------------


def test_enough_domains_with_moving_means_and_variances():
    found = audit(*planted(15, 3))
    assert found.identifiable is True
    assert (found.present, found.needed, found.statistics, found.rank) == (15, 7, 6, 6)
    assert found.verdict.status == "supported"
    assert found.verdict.sentence.startswith(
        "identifiable up to order, scale and shift, as components that are independent in each domain: 15 domains, 7 needed, "
        "and the means and variances change in 6 independent directions."
    )
    tested = {one.name for one in found.verdict.assumptions if one.outcome == "not refuted"}
    untested = {one.name for one in found.verdict.assumptions if one.outcome == "untested"}
    assert len(tested) == 3
    assert "the rows were made by one smooth one-to-one map of such latents" in untested
    assert all(name in found.verdict.sentence for name in tested | untested)
    assert found.verdict.evidence["weakest change"].direction == "lower"
    assert found.verdict.evidence["weakest change"].value > found.tolerance
    assert not found.proved_impossible


def test_variances_alone_need_fewer_domains():
    found = audit(0, planted(6, 3)[1], tolerance=0.1)
    assert found.identifiable is True
    assert (found.needed, found.statistics, found.theorem) == (4, 3, "Theorem 3")
    assert "the variances change in 3 independent directions" in found.verdict.sentence


def test_one_climbing_mean_counts_as_one_more_statistic():
    location = np.zeros((10, 3))
    location[:, 0] = 3 * np.arange(10)
    found = audit(location, planted(10, 3)[1], tolerance=0.1)
    assert (found.identifiable, found.needed, found.theorem) == (True, 5, "Theorems 2 and 3")


@pytest.mark.parametrize(("domains", "missing"), [(4, "3 more domains"), (6, "1 more domain ")])
def test_too_few_domains_say_how_many_more(domains, missing):
    found = audit(*planted(domains, 3))
    assert found.identifiable is False
    assert found.verdict.evidence["domains"].value == domains
    assert found.verdict.evidence["domains"].direction == "exact"
    assert missing in found.verdict.change
    assert "means and variances differ" in found.verdict.change
    assert "does not prove that no method could" in found.verdict.sentence
    assert not found.proved_impossible
    assert found.rank <= domains - 1


def test_the_mean_only_trap_is_proved_for_known_distributions_only():
    location, scale = planted(12, 3)[0], 1.75 * np.ones((12, 3))
    assert sufficient_changes(laws(location, scale)).proved_impossible
    found = audit(location, scale)
    assert found.means_only
    assert not found.proved_impossible
    assert "another may find other latents" in found.verdict.sentence
    assert (found.up_to, found.theorem) == ("an invertible linear map", "Proposition 1")
    assert "only means move" in found.verdict.sentence
    assert "variances change" in found.verdict.change


def test_a_model_of_moving_means_falls_in_the_trap_by_its_family():
    found = sufficient_changes(laws(planted(9, 2)[0], np.ones((9, 2)), "mean"))
    assert found.identifiable is False
    assert found.means_only


def test_a_single_latent_cannot_be_mixed_with_another():
    found = audit(np.arange(4.0)[:, None], np.ones((4, 1)))
    assert (found.identifiable, found.up_to, found.theorem) == (True, "scale and shift", "Theorem 1")
    assert audit(0, np.ones((4, 1))).identifiable is False


def test_proportional_variances_name_the_pair():
    scale = planted(12, 3)[1]
    scale[:, 2] = 2 * scale[:, 0]
    found = audit(0, scale, rows=1000)
    assert found.identifiable is False
    assert found.inseparable == ((0, 2),)
    assert not found.proved_impossible
    assert sufficient_changes(laws(0, scale)).proved_impossible
    assert found.rank == 2
    assert found.verdict.change == "a domain in which the variances of latents z1 and z3 change by different factors"


def test_a_latent_that_does_not_change_is_named():
    location, scale = planted(12, 3)
    location[:, 1], scale[:, 1] = 0, 1
    found = audit(location, scale, rows=1000)
    assert found.identifiable is False
    assert found.unchanged == (1,)
    assert "latent z2 does not change" in found.verdict.sentence


def test_dependent_changes_without_any_pair_to_blame():
    """Precision of latent 2 = sum of those of latents 0 and 1: no pair is proportional, the rank is 2 of 3."""
    scale = planted(12, 3)[1]
    scale[:, 2] = (scale[:, 0] ** -2 + scale[:, 1] ** -2) ** -0.5
    found = audit(0, scale, rows=2000)
    assert found.identifiable is False
    assert (found.rank, found.inseparable, found.proved_impossible) == (2, (), False)


def test_few_rows_leave_it_open():
    location, scale = np.zeros((4, 2)), 1 + 0.1 * np.array([[1, 0], [0, 1], [1, 1], [0, 0]])
    found = audit(location, scale, rows=60, tolerance=0.1)
    assert found.identifiable is None
    assert found.verdict.status == "cannot say"
    assert "more held-out rows" in found.verdict.change


@pytest.mark.parametrize("seed", range(20))
def test_shuffled_domains_never_succeed(seed):
    z, u = drawn(*planted(10, 3), 200, np.random.default_rng(seed))
    shuffled = np.random.default_rng(seed).permutation(u)
    found = sufficient_changes(laws(0, np.ones((2, 3))), (z, shuffled), bootstrap=0)
    assert found.identifiable is not True
    assert found.rank <= 1


def test_discrete_observations_get_no_promise():
    table = laws(*planted(15, 3), promise="no theorem covers counts.")
    found = sufficient_changes(table, bootstrap=0)
    assert found.identifiable is None
    assert found.verdict.sentence == "the changes are sufficient, but nothing is promised: no theorem covers counts."
    few = sufficient_changes(table.take([0, 1, 2]), bootstrap=0)
    assert few.identifiable is False


def test_laplace_latents_need_scales_and_no_moving_locations():
    location, scale = planted(10, 3)
    assert sufficient_changes(laws(0, scale, "laplace"), bootstrap=0).identifiable is True
    moving = sufficient_changes(laws(location, scale, "laplace"), bootstrap=0)
    assert moving.identifiable is None
    assert "no exponential family" in moving.verdict.sentence
    common = sufficient_changes(laws(0, np.repeat(scale[:, :1], 3, axis=1), "laplace"), bootstrap=0)
    assert (common.identifiable, common.proved_impossible) == (False, False)  # not Gaussian: ICA could still do it


def test_a_general_family_counts_its_own_statistics():
    rng = np.random.default_rng(0)
    natural = rng.normal(size=(12, 2, 3))
    fisher = np.broadcast_to(np.eye(3), (12, 2, 3, 3))
    table = laws(rng.normal(size=(12, 2)), rng.uniform(1, 2, (12, 2)), "natural", natural=natural, fisher=fisher)
    found = sufficient_changes(table, bootstrap=0)
    assert (found.identifiable, found.needed, found.up_to) == (True, 7, "order and a one-to-one map of each latent")
    still = np.array(natural)
    still[:, :, 2] = 0.3
    table = laws(table.location, table.scale, "natural", natural=still, fisher=fisher)
    assert sufficient_changes(table, bootstrap=0).identifiable is None
    assert sufficient_changes(table.take(range(5)), bootstrap=0).identifiable is False


# What it rests on -----------------------------------------------------------------------------


def test_natural_parameters_have_their_closed_form():
    measured = from_table(laws([[1.0, 2.0], [3.0, -1.0]], [[1.0, 2.0], [0.5, 1.0]]))
    values, _ = natural_parameters(measured, np.array([0, 1]), power=2.0)
    centre = np.array([[-1.0, 1.5], [1.0, -1.5]])
    assert np.allclose(values, np.column_stack([centre / measured.variance, 1 / measured.variance]))


@pytest.mark.parametrize("source", ["table", "rows"])
def test_noise_is_the_spread_of_repeated_measurements(source):
    """The delta method against 3000 repetitions of 400 rows; a variance is then known to 2.6 %: bars at 6 of those."""
    rng = np.random.default_rng(0)
    location, scale = np.array([1.0, -2.0]), np.array([0.7, 2.0])
    z = location + scale * rng.standard_normal((3000, 400, 2))
    variance = z.var(axis=1, ddof=1)
    repeated = np.column_stack([z.mean(axis=1) / variance, 1 / variance])
    two = laws([location, -location], [scale, scale], rows=400)
    if source == "rows":
        many, u = drawn(two.location, two.scale, 50_000, rng)
        measured = from_rows(many, u)
    else:
        measured = from_table(two)
    moved = measured.__class__(
        measured.mean, *(getattr(measured, n) for n in ("variance", "noise", "rows", "labels")), True
    )
    _, noise = natural_parameters(moved, np.array([0, 1]), power=2.0)
    # means are taken about their average over domains, which is 0 here
    spread = np.cov(repeated.T)
    size = np.sqrt(np.outer(np.diag(spread), np.diag(spread)))
    assert np.allclose(noise[0] / 400 / size, spread / size, atol=0.16)
    assert np.abs(spread / size)[~np.eye(4, dtype=bool)].max() > 0.5  # signs matter


def test_errors_of_heavy_tails_come_from_the_rows():
    rng = np.random.default_rng(1)
    u = np.repeat([0, 1], 100_000)
    z = rng.laplace(scale=1 / np.sqrt(2), size=(200_000, 1))
    assert np.allclose(from_rows(z, u).noise[:, 1, 1], 5, rtol=0.15)  # fourth moment 6 of a Laplace law, less 1


def test_the_gradient_of_the_statistic():
    from scipy.optimize import check_grad

    measured = from_table(laws(*planted(9, 2)))
    values, noise = natural_parameters(measured, np.array([0, 1]), power=2.0)
    for seed in range(5):
        v = np.random.default_rng(seed).normal(size=4)
        error = check_grad(*(lambda v, i=i: change_statistic(v, values, noise, measured.rows)[i] for i in (0, 1)), v)
        assert error < 1e-4 * np.linalg.norm(change_statistic(v, values, noise, measured.rows)[1])


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10_000))
def test_the_weakest_direction_beats_random_ones(seed):
    measured = from_table(laws(*planted(9, 2, seed)))
    values, noise = natural_parameters(measured, np.array([0, 1]), power=2.0)
    weakest = weakest_change(values, noise, measured.rows, 0.05)
    least = change_statistic(weakest.direction, values, noise, measured.rows)[0]
    others = np.random.default_rng(seed).normal(size=(300, 4))
    assert all(change_statistic(v, values, noise, measured.rows)[0] >= least * (1 - 1e-6) for v in others)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10_000))
def test_no_linear_map_of_the_statistics_changes_the_weakest_change(seed):
    """It belongs to the law of the data, not to the model that was found."""
    measured = from_table(laws(*planted(9, 2, seed)))
    values, noise = natural_parameters(measured, np.array([0, 1]), power=2.0)
    a = np.random.default_rng(seed).normal(size=(4, 4)) + 2 * np.eye(4)
    weakest = weakest_change(values, noise, measured.rows, 0.05)
    here = change_statistic(weakest.direction, values, noise, measured.rows)[0]
    there = change_statistic(np.linalg.solve(a, weakest.direction), values @ a, a.T @ noise @ a, measured.rows)[0]
    assert np.isclose(here, there)


@pytest.mark.parametrize("seed", range(5))
def test_the_search_finds_the_same_weakest_change_in_other_coordinates(seed):
    measured = from_table(laws(*planted(16, 3, seed)))
    values, noise = natural_parameters(measured, np.arange(3), power=2.0)
    a = np.random.default_rng(seed).normal(size=(6, 6)) + 2 * np.eye(6)
    one = weakest_change(values, noise, measured.rows, 0.05)
    two = weakest_change(values @ a, a.T @ noise @ a, measured.rows, 0.05)
    assert np.isclose(one.value, two.value, rtol=1e-3)


def test_limits_of_the_weakest_change_hold_as_often_as_they_say():
    """40 samples at level 0.05 each side: the truth falls outside more than 9 times with probability 2e-5 a side."""
    location, scale = planted(8, 2, 3)
    exact = from_table(laws(location, scale, rows=300))
    truth = weakest_change(*natural_parameters(exact, np.array([0, 1]), power=2.0), exact.rows * 1e6, 0.05).value
    below = above = 0
    for seed in range(40):
        measured = from_rows(*drawn(location, scale, 300, np.random.default_rng(seed)))
        values, noise = natural_parameters(measured, np.array([0, 1]), power=2.0)
        found = weakest_change(values, noise, measured.rows, 0.05)
        below, above = below + (found.high < truth), above + (found.low > truth)
    assert below <= 9
    assert above <= 9


@pytest.mark.parametrize("rank", [0, 1, 2, 3])
def test_the_rank_is_overestimated_as_rarely_as_stated(rank):
    """100 samples at level 0.05: more than 15 overestimates have probability 4e-5; and the rank is found."""
    rng = np.random.default_rng(rank)
    truth = rng.normal(size=(12, rank)) @ rng.normal(size=(rank, 3)) if rank else np.zeros((12, 3))
    noise, rows = np.broadcast_to(np.eye(3), (12, 3, 3)) * rng.uniform(0.5, 2, (12, 1, 1)), np.full(12, 200.0)
    errors = rng.standard_normal((100, 12, 3)) * np.sqrt(noise[:, :1, 0] / 200)
    found = np.array([rank_of_changes(truth + error, noise, rows, 0.05) for error in errors])
    assert (found > rank).sum() <= 15
    assert (found < rank).sum() <= 5


def test_the_rank_test_uses_its_level():
    """300 samples of rank 2 at level 0.05: fewer than 3 overestimates have probability 2e-5; a timid test has none."""
    rng = np.random.default_rng(5)
    truth = rng.normal(size=(8, 2)) @ rng.normal(size=(2, 3))
    noise, rows = np.broadcast_to(np.eye(3), (8, 3, 3)), np.full(8, 200.0)
    errors = rng.standard_normal((300, 8, 3)) / np.sqrt(200)
    found = np.array([rank_of_changes(truth + error, noise, rows, 0.05, draws=199) for error in errors])
    assert 3 <= (found == 3).sum() <= 36


def test_squares_that_go_together_sharpen_the_ratio_of_variances():
    """Two latents of equal size up to a factor that changes by a tenth: as common as their noise is, the ratio is sure."""
    rng = np.random.default_rng(0)
    u = np.repeat([0, 1, 2], 5000)
    one = rng.standard_normal(15_000)
    two = one * rng.choice([-1, 1], 15_000) * np.array([1.0, 1.1, 1.2])[u] + 0.01 * rng.standard_normal(15_000)
    found = sufficient_changes(laws(0, np.ones((2, 2))), (np.column_stack([one, two]), u), bootstrap=0)
    assert found.inseparable == ()


# Settings, models, bad input ------------------------------------------------------------------


def test_drawing_the_domains_again_gives_an_interval():
    table = laws(0, planted(30, 2)[1])
    found = sufficient_changes(table, bootstrap=100, seed=1)
    low, high = found.condition_interval
    assert low <= found.condition <= high
    assert found.full_rank_share > 0.9
    assert found.condition_interval == sufficient_changes(table, bootstrap=100, seed=1).condition_interval
    assert np.isnan(sufficient_changes(table, bootstrap=0).full_rank_share)


def test_domains_that_are_all_needed_are_said_to_be():
    found = sufficient_changes(laws(0, [[1, 1], [2, 1], [1, 2]]), bootstrap=0)
    assert found.identifiable is True
    assert found.without_one[0] == 0
    spare = sufficient_changes(laws(0, [[1, 1], [2, 1], [1, 2], [2, 2], [3, 1]]), bootstrap=0)
    assert 0 < spare.without_one[0] <= spare.weakest.value


def test_a_report_reads_as_lines():
    text = str(sufficient_changes(laws(0, planted(8, 2)[1]), bootstrap=20))
    assert text.startswith("certified: distributions such as these identify")
    assert "domains 8, needed 3; rank 2 of 2 at level 0.05; condition number" in text
    assert "what would change it: a larger declared tolerance" in text


def test_a_report_is_plain_json():
    import json

    found = sufficient_changes(laws(*planted(8, 2)), bootstrap=20)
    kept = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert kept["theorem"] == "Theorem 2"
    assert kept["verdict"]["status"] == "certified"
    assert kept["weakest"]["low"] == found.weakest.low
    assert kept["dependence"] is None


class Model(HasChannel, HasLatentDistributions, KeepsFitRecord):
    def __init__(self, noise=0.0, record=None):
        self.noise, self.record = noise, record

    def latent_distributions(self, u=None):
        return laws(*planted(9, 2))

    def fit_record(self):
        return self.record

    def fit_history(self):
        return ()

    def channel(self, data, y=None):
        return lt.GaussianChannel(data["x"], np.full(data["x"].shape, self.noise))


def test_a_model_encodes_held_out_rows():
    z, u = drawn(*planted(9, 2), 300, np.random.default_rng(0))
    model, data = Model(), lt.Dataset(z, domain=u)
    found = sufficient_changes(model, data, bootstrap=0)
    assert found.identifiable is True
    assert found.dependence < 0.1
    model.record = lt.VAE().study(data)
    with pytest.warns(lt.DataWarning, match="fitted on these very rows"):
        sufficient_changes(model, data, bootstrap=0)


def test_what_was_only_learned_is_not_certified():
    found = sufficient_changes(Model(), bootstrap=0)
    assert found.identifiable is None
    assert found.verdict.change == "held-out rows: sufficient_changes(model, held_out)"
    assert np.isnan(found.dependence)
    assert sufficient_changes(Model().latent_distributions(), bootstrap=0).identifiable is True  # laws given as such


def test_latents_that_ignore_the_data_find_nothing():
    """Means that follow u, and little else: the law of a collapsed latent is whatever the prior is."""
    z, u = drawn(*planted(9, 2), 300, np.random.default_rng(0))
    found = sufficient_changes(Model(noise=20.0), lt.Dataset(z, domain=u), bootstrap=0)
    assert found.identifiable is None
    assert "is collapsed" in found.verdict.sentence


def test_dependent_latents_are_no_proof_of_anything():
    z, u = drawn(*planted(9, 2), 300, np.random.default_rng(0))
    found = sufficient_changes(Model(), (z @ np.array([[1, 0.6], [0, 1]]), u), bootstrap=0)
    assert found.dependence > 0.3
    assert found.identifiable is None
    assert "latents are independent of each other in each domain" in found.verdict.sentence


@pytest.mark.parametrize("columns", [1, 2])
def test_a_continuous_u_is_cut_into_groups(columns):
    rng = np.random.default_rng(0)
    u = rng.uniform(-1, 1, size=(6000, columns))
    scale = np.exp(np.column_stack([u[:, 0], np.sin(3 * u[:, -1]) + (u[:, 0] > 0)]))
    found = sufficient_changes(laws(0, np.ones((2, 2))), (scale * rng.standard_normal((6000, 2)), u), bootstrap=0)
    assert found.identifiable is True
    assert found.needed == 3


def test_a_mean_that_follows_a_continuous_u_is_no_change_of_variance():
    rng = np.random.default_rng(0)
    u = rng.uniform(0, 2 * np.pi, size=(20_000, 1))
    z = 3 * np.column_stack([np.cos(u), np.sin(2 * u)]) + rng.standard_normal((20_000, 2))
    found = sufficient_changes(laws(0, np.ones((2, 2))), (z, u), bootstrap=0)
    assert found.means_only
    assert found.identifiable is False


def test_a_domain_with_too_few_rows_is_named_and_left_out():
    z, u = drawn(*planted(9, 2), 300, np.random.default_rng(0))
    keep = (u != 4) | (np.arange(len(u)) % 30 == 0)
    with pytest.warns(lt.DataWarning, match="domain 4 has 10 independent rows, fewer than 20"):
        assert sufficient_changes(Model(), (z[keep], u[keep]), bootstrap=0).present == 8


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda z, u: sufficient_changes(object()), "model=object: has no .* of its latents"),
        (
            lambda z, u: sufficient_changes(LatentDistributions(z[:3], 1 + z[:3] ** 2, "mean")),
            "rows=None:",
        ),
        (lambda z, u: sufficient_changes(Model(), z), "a Dataset with a domain"),
        (lambda z, u: sufficient_changes(Model(), lt.Dataset(z)), "a Dataset with a domain"),
        (
            lambda z, u: sufficient_changes(Model().latent_distributions(), lt.Dataset(z, u)),
            "model=LatentDistributions: cannot encode a Dataset",
        ),
        (lambda z, u: sufficient_changes(Model(), (z[:50], u)), "z has 50 rows and u has 100"),
        (lambda z, u: sufficient_changes(Model(), (z[:, :1], u)), "data has 1 latents and the .* 2"),
        (lambda z, u: sufficient_changes(Model(), (z, 0 * u)), "1 domain with at least 20 rows"),
        (lambda z, u: sufficient_changes(Model(), (z * [1, 0], u)), "latent 1 is constant in domain 0"),
        (lambda z, u: sufficient_changes(Model(), (z[:30], z[:30, :1])), "too few for a continuous u"),
        (lambda z, u: sufficient_changes(Model(), (z, u), tolerance=0), "tolerance=0:"),
        (lambda z, u: sufficient_changes(Model(), (z, u), level=1), "level=1:"),
        (lambda z, u: sufficient_changes(Model(), (z, u), bootstrap=-1), "bootstrap=-1:"),
    ],
)
def test_bad_input(rng, call, sentence):
    with pytest.raises(lt.DataError, match=sentence):
        call(rng.normal(size=(100, 2)), np.repeat([0, 1], 50))


@pytest.mark.filterwarnings("ignore::latentry.DataWarning")
def test_a_unique_u_per_row_is_refused(rng):
    with pytest.raises(lt.DataError, match="changes between domains need 2"):
        sufficient_changes(Model(), (rng.normal(size=(50, 2)), np.arange(50)))
