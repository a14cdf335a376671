"""Assumptions of identifiability: found when they are broken, left alone when they hold."""

import numpy as np
import pytest

import latentry as lt
from latentry.contracts import (
    HasChannel,
    HasLatentMixture,
    LatentDistributions,
    LatentMixture,
    Samples,
    SamplesByDomain,
)
from latentry.data import GaussianChannel
from latentry.evidence import Assumption
from latentry.identifiability import mixture_components, sufficient_changes
from latentry.identifiability.assumptions import independent_latents, latent_family, samples_look_like_rows

DOMAINS, ROWS = 8, 400
U = np.repeat(np.arange(DOMAINS), ROWS)
COUNTS = np.full(DOMAINS, float(ROWS))


def by_domain(z):
    return [z[d == U] for d in range(DOMAINS)]


def drawn(seed):
    rng = np.random.default_rng([5, seed])
    return rng, rng.uniform(0.5, 3, size=(DOMAINS, 2))[U] * rng.normal(size=(len(U), 2))


def alternating(rng, z):
    rho = np.where(U % 2, 0.4, -0.4)
    return np.column_stack([z[:, 0], rho * z[:, 0] + z[:, 1]])


BROKEN = {
    "correlations of alternating sign": alternating,
    "a curve": lambda rng, z: np.column_stack([z[:, 0], z[:, 1] + 0.4 * z[:, 0] ** 2]),
    "spreads that go together": lambda rng, z: z * np.exp(0.4 * rng.normal(size=(len(z), 1))),
    "one domain only": lambda rng, z: np.where(U[:, None] == 3, z @ [[1, 1], [0, 1]], z),
}


def test_independent_latents_are_rarely_refuted():
    """The level is 0.05 against a tolerance above zero: of 60 runs fewer than 3 are expected, more than 9 under 1e-3."""
    outcomes = [independent_latents(by_domain(drawn(seed)[1]), COUNTS, 0.05).refuted for seed in range(60)]
    outcomes += [latent_family(by_domain(drawn(seed)[1]), COUNTS, "gaussian", 0.05).refuted for seed in range(60)]
    assert sum(outcomes) <= 9


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_dependence_within_domains_is_found(broken):
    found = [independent_latents(by_domain(broken(*drawn(seed))), COUNTS, 0.05) for seed in range(5)]
    assert all(one.refuted for one in found)
    assert all(one.power > 0.9 for one in found)


@pytest.mark.parametrize("base", ["gamma", "two modes", "laplace"])
def test_a_wrong_family_is_found(base):
    rng, _ = drawn(0)
    draws = {
        "gamma": rng.gamma(2.0, size=(len(U), 2)),
        "two modes": 0.4 * rng.normal(size=(len(U), 2)) + np.sign(rng.normal(size=(len(U), 2))),
        "laplace": rng.laplace(size=(len(U), 2)),
    }[base]
    assert latent_family(by_domain(draws), COUNTS, "gaussian", 0.05).refuted
    assert latent_family(by_domain(draws), COUNTS, "laplace", 0.05).refuted is (base != "laplace")


def test_a_family_of_any_shape_is_named_as_untested():
    assert latent_family(by_domain(drawn(0)[1]), COUNTS, "natural", 0.05).outcome == "untested"


def audit(z, u=U, **more):
    table = LatentDistributions(np.zeros((2, 2)), np.ones((2, 2)), "gaussian", rows=[100, 100])
    return sufficient_changes(table, (z, u), bootstrap=0, **more)


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_a_refuted_assumption_is_named_first_and_leaves_the_answer_open(broken):
    assert audit(drawn(1)[1]).verdict.status == "supported"
    found = audit(broken(*drawn(1)))
    assert (found.verdict.status, found.identifiable) == ("cannot say", None)
    assert found.verdict.sentence.startswith("rows contradict an assumption of the theorem, that ")


def test_rows_that_depend_on_their_neighbours_leave_the_answer_open():
    rng, _ = drawn(2)
    scale = rng.uniform(0.5, 3, size=(DOMAINS, 2))[U]
    slow = np.repeat(rng.normal(size=(len(U) // 10, 2)), 10, axis=0) + 0.1 * rng.normal(size=(len(U), 2))
    found = audit(scale * slow)
    assert found.verdict.status == "cannot say"
    assert "rows in their order do not depend on each other" in found.verdict.sentence
    copied = audit(np.repeat(drawn(3)[1][::2], 2, axis=0))
    assert "none is a copy" in copied.verdict.sentence


def test_subjects_in_random_order_are_named_as_untested():
    """No test can see them, so that the sentence must say it; with groups named it is about groups."""
    found = audit(drawn(1)[1])
    assert found.verdict.status == "supported"
    assert "rows are independent" in found.verdict.sentence.split("Untested: ")[1]


def test_groups_widen_the_limits_of_a_change():
    rng, _ = drawn(4)
    groups = np.arange(len(U)) // 4
    scale = rng.uniform(0.5, 3, size=(DOMAINS, 2))[U]
    z = scale * (np.repeat(rng.normal(size=(len(U) // 4, 2)), 4, axis=0) + 0.1 * rng.normal(size=(len(U), 2)))
    alone = audit(z)
    for dependent in ({"groups": groups}, {"time": np.arange(len(z))}):
        aware = audit(z, **dependent)
        for one, other in zip(aware.variance_changes, alone.variance_changes, strict=True):
            assert one.high - one.low > 1.5 * (other.high - other.low)
    with (
        pytest.warns(lt.DataWarning, match="2 independent"),
        pytest.raises(lt.DataError, match="0 domains with at least"),
    ):
        audit(z, groups=np.arange(len(U)) // (ROWS // 2))  # a domain that is two subjects
    grouped = audit(z, groups=groups)
    names = {one.name: one.outcome for one in grouped.verdict.assumptions}
    assert names["rows of different groups are independent"] == "untested"


class Noise(SamplesByDomain):
    """Draws normal rows, in some domains with another spread than they have."""

    def __init__(self, wrong):
        self.wrong = wrong

    def sample(self, n=1, domain=None, *, seed=0):
        rng = np.random.default_rng([9, seed])
        return np.where(np.isin(domain, self.wrong), 3.0, 1.0)[:, None] * rng.normal(size=(n, 3))


def test_samples_are_compared_with_rows_in_each_domain():
    rng = np.random.default_rng(0)
    data = lt.Dataset(rng.normal(size=(len(U), 3)), domain=U)
    assert samples_look_like_rows(Noise([]), data, 0.05, 0).outcome == "not refuted"
    assert samples_look_like_rows(Noise([2]), data, 0.05, 0).refuted
    assert samples_look_like_rows(Noise([]), data.with_domain(rng.normal(size=len(U))), 0.05, 0).outcome == "untested"


class Clusters(HasLatentMixture, HasChannel, Samples):
    """Latents that are what they are, in a mixture that is right or wrong."""

    def __init__(self, mixture):
        self.mixture = mixture

    def latent_mixture(self):
        return self.mixture

    def cluster_probabilities(self, X, y=None):
        raise NotImplementedError

    def channel(self, X, y=None):
        return GaussianChannel(np.asarray(X["x"]), np.zeros_like(X["x"]))

    def sample(self, n=1, *, seed=0):
        rng = np.random.default_rng([8, seed])
        which = rng.choice(2, size=n, p=self.mixture.weights)
        return self.mixture.means[which] + np.einsum(
            "nij,nj->ni", np.linalg.cholesky(self.mixture.covariances)[which], rng.normal(size=(n, 2))
        )


def clusters(covariances, affine=True):
    return Clusters(
        LatentMixture(np.array([0.4, 0.6]), np.array([[-2.0, 0.0], [2.0, 1.0]]), np.array(covariances), affine)
    )


DISTINCT = [np.diag([1.0, 0.3]), np.diag([0.5, 1.0])]
COMMON = [np.diag([1.0, 0.5]), np.diag([2.0, 1.0])]


def test_a_mixture_identifies_each_latent_where_variance_ratios_differ():
    model = clusters(DISTINCT)
    data = lt.Dataset(model.sample(3000, seed=1))
    found = mixture_components(model, data)
    assert (found.verdict.status, found.up_to, found.present) == ("supported", "order, scale and shift", 2)
    assert "piecewise affine" in found.verdict.sentence
    common = mixture_components(clusters(COMMON), lt.Dataset(clusters(COMMON).sample(3000, seed=1)))
    assert (common.verdict.status, common.up_to) == ("supported", "an invertible affine map")


def test_a_mixture_is_left_open_for_smooth_maps_and_where_rows_contradict_it():
    model = clusters(DISTINCT, "decoders are smooth")
    found = mixture_components(model, lt.Dataset(model.sample(3000, seed=2)))
    assert found.verdict.status == "cannot say"
    assert "decoders are smooth" in found.verdict.sentence
    skewed = np.exp(0.7 * model.sample(3000, seed=2))
    found = mixture_components(clusters(DISTINCT), lt.Dataset(skewed))
    assert found.verdict.status == "cannot say"
    assert "rows contradict its assumption" in found.verdict.sentence


def test_the_decoders_of_causal_pima_say_whether_they_are_piecewise_affine(rng):
    rows = rng.normal(size=(80, 3))
    small = lt.CausalPIMA(nodes=(2,), latent_dim=1, epochs=1, hidden=(4,), progress=False, restarts=1)
    assert "gelu" in small.fit(rows).latent_mixture().piecewise_affine
    leaky = small.set_params(networks__activation="leaky relu").fit(rows).latent_mixture()
    assert leaky.piecewise_affine is True
    assert leaky.weights.sum() == pytest.approx(1)
    assert (np.linalg.eigvalsh(leaky.covariances) > 0).all()


def test_assumptions_are_hashable_and_joined_once():
    one = Assumption("rows are independent", "untested")
    assert len({one, Assumption("rows are independent", "untested")}) == 1


def test_one_row_of_each_group_is_compared_with_samples_and_components():
    """The right marginal distribution, 40 groups of 50 alike rows: nothing is refuted."""
    rng = np.random.default_rng(6)
    whose = np.repeat(np.arange(400), 10)
    alike = rng.normal(size=(400, 3))[whose] + 1e-3 * rng.normal(size=(4000, 3))
    data = lt.Dataset(alike, domain=whose % 2, groups=whose)
    assert samples_look_like_rows(Noise([]), data, 0.05, 0).outcome == "not refuted"
    few = lt.Dataset(alike, domain=whose % 2, groups=whose // 20)
    assert samples_look_like_rows(Noise([]), few, 0.05, 0).outcome == "untested"
    model = clusters(DISTINCT)
    rows = model.sample(600, seed=3)[np.repeat(np.arange(600), 10)]
    found = mixture_components(model, lt.Dataset(rows, groups=np.repeat(np.arange(600), 10)))
    assert found.verdict.status == "supported"


def test_latents_with_groups_are_not_compared_with_samples_of_rows():
    rng, z = drawn(5)

    class Wide(Noise):
        def latent_distributions(self, u=None):
            return LatentDistributions(np.zeros((2, 2)), np.ones((2, 2)), "gaussian", rows=[100, 100])

    from latentry.contracts import HasLatentDistributions

    model = type("Model", (Wide, HasLatentDistributions), {})([])
    found = sufficient_changes(model, (z, U), groups=np.arange(len(z)), bootstrap=0)
    assert found.verdict.status == "supported"


def test_one_domain_that_dominates_denies_nothing():
    rng = np.random.default_rng([98, 0])
    u = np.repeat(np.arange(12), [20000] + [25] * 11)
    scale = rng.uniform(0.5, 3, size=(12, 2))
    found = audit(scale[u] * rng.standard_normal((len(u), 2)), u)
    assert found.verdict.status == "cannot say"
    assert "weighed by rows" in found.verdict.sentence


def test_moments_near_zero_of_many_rows_have_a_p_value():
    from latentry.identifiability.assumptions.cross_moments import excess

    assert excess(np.full((3, 2), 1e-9), np.full(3, 1e5), 0.06, 0.2).p_value == 1.0


def test_groups_that_are_the_domains_are_named():
    _, z = drawn(0)
    known = LatentDistributions(np.zeros((DOMAINS, 2)), np.ones((DOMAINS, 2)), "gaussian")
    with pytest.raises(lt.DataError, match=f"each of the {DOMAINS} domains is a single group"):
        sufficient_changes(known, (z, U), groups=U)
