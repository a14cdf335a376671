"""What known targets of domains say of latents, on planted models that know the truth."""

import numpy as np
import pytest

import latentry as lt
from latentry.contracts import KnownTargets, KnowsTargets
from latentry.errors import DataError
from latentry.generators import causal_components_law
from latentry.identifiability import known_targets
from latentry.models.domain_prior.known_targets import parents_table, targets_table


class Planted(KnowsTargets):
    """A model that knows the equations, and says of the targets what it was made with."""

    def __init__(self, law, targets, bend=0.0):
        self.law, self.said, self.bend = law, targets, bend

    def known_targets(self):
        labels = tuple(sorted(self.law.domains))
        return KnownTargets(
            labels,
            targets_table(self.said, labels, self.law.latents),
            parents_table(self.law.parents, self.law.latents),
        )

    def own_parts(self, X, y=None, *, untargeted=False):
        z = np.column_stack([*X.factors.values()])
        z = z + self.bend * z[:, ::-1] ** 2
        caused = z @ self.law.weights.T
        known = self.known_targets()
        cut = known.targets[X.domain.recode(known.labels, 1).values] & (not untargeted)
        return np.where(cut, z - self.law.shift, z - caused)


def audit(law, targets=None, bend=0.0, rows=1500):
    return known_targets(Planted(law, law.targets if targets is None else targets, bend), law.draw(rows, 1))


@pytest.fixture(scope="module")
def law():
    return causal_components_law(latents=3, edges=1.0, seed=4)


def test_latents_that_are_each_changed_alone_are_supported(law):
    found = audit(law)
    assert found.verdict.status == "supported", found.verdict.sentence
    assert found.told_apart == found.alone == (True, True, True)
    assert min(found.changes) > 1.5, "means move by two deviations"
    assert "it was given" in str(found)
    names = {one.name: one.outcome for one in found.verdict.assumptions}
    assert names["each domain changes the latents that it was said to change"] == "untested"
    assert names["domains leave the latents alone that they were not said to change"] == "not refuted"


def test_a_domain_that_changes_another_latent_than_it_was_said_to(law):
    wrong = {**law.targets, "change of z1": ["z2"], "change of z2": ["z1"]}
    found = audit(law, wrong)
    assert found.verdict.status == "cannot say"
    assert "leave the latents alone" in found.verdict.sentence or "rows contradict" in found.verdict.sentence


def test_latents_that_are_mixed_are_not_supported(law):
    found = audit(law, bend=0.15)
    assert found.verdict.status == "cannot say"
    assert "rows contradict" in found.verdict.sentence


def test_a_change_that_hardly_is_one():
    law = causal_components_law(latents=3, edges=0.0, shift=0.05, seed=4)
    found = audit(law)
    assert found.verdict.status == "cannot say"
    assert "by less than 0.15 deviations" in found.verdict.sentence


@pytest.mark.parametrize(
    ("targets", "status", "words"),
    [
        ({"change of z1": ["z1", "z2"], "change of z2": ["z1", "z2"], "change of z3": ["z3"]}, "refuted", "z1, z2"),
        ({"change of z1": ["z1"], "change of z2": ["z2"]}, "refuted", "z3"),
    ],
)
def test_targets_that_do_not_tell_latents_apart(law, targets, status, words):
    verdict = audit(law, targets).verdict
    assert verdict.status == status
    assert f"do not tell {words} apart" in verdict.sentence


def test_common_targets_of_sets_of_domains_tell_latents_apart():
    cyclic = KnownTargets(
        ("a", "b", "c"), np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]], dtype=bool), np.zeros((3, 3), bool)
    )
    assert cyclic.told_apart.all()
    assert not cyclic.alone.any()


def test_sound_data_are_supported():
    """Twenty sound data sets: at level 0.05 more than four refuted would happen once in four hundred times."""
    open_ = [audit(causal_components_law(latents=2, seed=seed), rows=600).verdict for seed in range(20)]
    assert sum(verdict.status != "supported" for verdict in open_) <= 4, [v.sentence for v in open_]


def test_bad_input(law):
    class Untold(Planted):
        def known_targets(self):
            return None

    data = law.draw(100, 0)
    with pytest.raises(DataError, match="was not told which latents"):
        known_targets(Untold(law, {}), data)
    with pytest.raises(DataError, match="has no domain"):
        known_targets(Planted(law, law.targets), lt.Dataset(np.asarray(data["x"])))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"targets": {"chang of z1": ["z1"]}}, "is no domain of the rows; did you mean 'change of z1'"),
        ({"targets": {"observed": ["z9"]}}, "'z9' is no latent"),
        ({"targets": {"observed": "z1"}}, "not a dictionary of lists of names"),
        ({"parents": {"z2": ["z1"]}}, "Give targets too"),
        ({"targets": {}, "parents": {"z2": ["z1"], "z1": ["z2"]}}, "cause each other in a circle, z"),
        ({"targets": {}, "moving": 1}, "leave nothing for domain_prior__moving"),
    ],
)
def test_targets_that_cannot_be(law, settings, words):
    data = law.draw(100, 0)
    with pytest.raises(DataError, match=words):
        lt.IFlow(domain_prior=lt.models.DomainPrior(**settings)).fit(data)


def test_targets_need_labels_a_gaussian_family_and_a_model_that_takes_them(law):
    told, data = lt.models.DomainPrior(targets=law.targets), law.draw(100, 0)
    with pytest.raises(DataError, match="no domain labels"):
        lt.IFlow(domain_prior=told).fit(np.asarray(data["x"]), np.linspace(0, 1, 400))
    with pytest.raises(DataError, match="have the Gaussian family"):
        lt.IFlow(domain_prior=told, prior="laplace").fit(data)
    with pytest.raises(DataError, match="use IFlow or IVAE"):
        lt.CGVAE(domain_prior=told).fit(data)
