"""KSG against the definition, scikit-learn, known truths, and the limits that units impose (Propositions 2 and 3)."""

import numpy as np
import pytest
from scipy import special
from sklearn.feature_selection import mutual_info_classif, mutual_info_regression

from latentry.errors import DataError
from latentry.generators import information_tasks as it
from latentry.information.ksg import ksg_local, ksg_total_correlation, neighbour_entropy, single_radius_local
from latentry.information.mixed_variables import category_columns, mesner_shalizi_local, ross_local
from latentry.information.normalisers import std


def definition(x, y, k, variant):
    n = len(x)
    dx, dy = (np.max(np.abs(v[:, None] - v[None]), axis=2) for v in (x, y))
    total = 0.0
    for i in range(n):
        others = np.delete(np.arange(n), i)
        near = others[np.argsort(np.maximum(dx, dy)[i, others])[:k]]
        if variant == 1:
            r = np.maximum(dx, dy)[i, near[-1]]
            total += special.digamma(np.sum(dx[i, others] < r) + 1) + special.digamma(np.sum(dy[i, others] < r) + 1)
        else:
            total += special.digamma(np.sum(dx[i, others] <= dx[i, near].max()))
            total += special.digamma(np.sum(dy[i, others] <= dy[i, near].max()))
    head = special.digamma(k) + special.digamma(n) - (1 / k if variant == 2 else 0)
    return head - total / n


@pytest.mark.parametrize("variant", [1, 2])
@pytest.mark.parametrize("dims", [(1, 1), (2, 3)])
def test_the_definition_written_as_loops(variant, dims):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((120, dims[0]))
    y = x[:, :1] + rng.standard_normal((120, dims[1]))
    assert ksg_local(x, y, k=4, variant=variant).mean() == pytest.approx(definition(x, y, 4, variant), abs=1e-12)


def test_scikit_learn_agrees_in_one_dimension():
    x, y = it.task("normal 1x1").sample(800, seed=2)
    theirs = mutual_info_regression(x, y[:, 0], n_neighbors=3, random_state=0)[0]
    assert ksg_local(std(x), std(y), k=3).mean() == pytest.approx(
        theirs, abs=2e-3
    )  # they add noise and count themselves


@pytest.mark.parametrize("variant", [1, 2])
@pytest.mark.parametrize(
    ("name", "tolerance"), [("normal 1x1", 0.08), ("two-pair normal 2x2", 0.12), ("swiss roll 2x1", 0.09)]
)
def test_known_truths_in_few_dimensions(name, tolerance, variant):
    task = it.task(name)
    x, y = task.sample(3000, seed=0)
    assert abs(ksg_local(std(x), std(y), k=4, variant=variant).mean() - task.truth) < tolerance


@pytest.mark.parametrize("task", it.conditional_tasks(), ids=lambda t: t.name)
def test_conditional_truths(task):
    x, y, z = (std(part) for part in task.sample(4000, seed=0))
    assert abs(ksg_local(x, y, z, k=4).mean() - task.truth) < 0.1


@pytest.mark.parametrize("variant", [1, 2])
@pytest.mark.parametrize("power", [-40, -3, 5, 40])
def test_proposition_2_a_common_scale_never_matters(variant, power):
    x, y = it.task("two-pair normal 2x2").sample(300, seed=0)
    a = 2.0**power
    np.testing.assert_array_equal(ksg_local(a * x, a * y, variant=variant), ksg_local(x, y, variant=variant))


@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("alpha", [1e-9, 1e9])
def test_proposition_3_with_the_limits_that_hold(d, alpha):
    rng = np.random.default_rng(0)
    n, k = 400, 3
    x = rng.uniform(size=(n, d))
    t = x + rng.uniform(-0.3, 0.3, (n, d))
    full = ksg_local(x, t, k=k).mean()
    assert full > 0.4
    assert ksg_local(x, alpha * t, k=k).mean() == pytest.approx(0, abs=1e-12)  # KSG1 forgets everything
    assert single_radius_local(x, alpha * t, k=k).mean() == pytest.approx(-1 / k + 1 / (n - 1), abs=1e-12)
    assert ksg_local(x, alpha * t, k=k, variant=2).mean() > 0.4 * full  # KSG2 does not
    assert full - single_radius_local(x, t, k=k).mean() == pytest.approx(
        1 / k, abs=0.15
    )  # the hybrid reads low at any scale


def test_exact_copies_are_not_infinite_information():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, (600, 1)) * 1.0
    y = rng.integers(0, 3, (600, 1)) * 1.0
    assert abs(ksg_local(x, y, k=3).mean()) < 0.05  # independent labels passed off as numbers
    assert ksg_local(x, x, k=3).mean() == pytest.approx(np.log(3), abs=0.02)


def test_total_correlation_of_two_columns_is_their_information():
    x, y = it.task("normal 1x1").sample(500, seed=0)
    assert ksg_total_correlation((x, y)) == pytest.approx(ksg_local(x, y).mean(), abs=1e-12)


def test_entropy_of_a_normal_and_its_units():
    x = np.random.default_rng(0).standard_normal((5000, 2))
    truth = np.log(2 * np.pi * np.e)
    assert abs(neighbour_entropy(x) - truth) < 0.1
    assert neighbour_entropy(4 * x) == pytest.approx(neighbour_entropy(x) + 2 * np.log(4), abs=1e-9)
    with pytest.raises(DataError, match="exact copies"):
        neighbour_entropy(np.zeros((10, 1)))


@pytest.mark.parametrize(("n", "k", "words"), [(3, 3, "k=3: 3 rows are too few"), (10, 0, "k=0: ")])
def test_rows_and_neighbours(n, k, words):
    with pytest.raises(DataError, match=words):
        ksg_local(np.zeros((n, 1)), np.zeros((n, 1)), k=k)


def test_variants_that_do_not_exist():
    x = np.random.default_rng(0).standard_normal((20, 1))
    with pytest.raises(DataError, match="variant=3: .* 1 or 2"):
        ksg_local(x, x, variant=3)
    with pytest.raises(DataError, match="KSG1 only"):
        ksg_local(x, x, x, variant=2)


# --- labels beside numbers ----------------------------------------------------------------------------


@pytest.mark.parametrize("task", it.mixed_tasks()[:2], ids=lambda t: t.name)
def test_ross_against_truth_and_scikit_learn(task):
    x, y = task.sample(3000, seed=0)
    mine = ross_local(std(y), x[:, 0]).mean()
    assert abs(mine - task.truth) < 0.06
    assert mine == pytest.approx(mutual_info_classif(y, x[:, 0], n_neighbors=3, random_state=0)[0], abs=5e-3)


@pytest.mark.parametrize("task", it.mixed_tasks(), ids=lambda t: t.name)
def test_mesner_shalizi_against_truth(task):
    x, y = task.sample(3000, seed=0)
    if x.dtype.kind == "i":
        x = category_columns(x[:, 0])
    assert abs(mesner_shalizi_local(np.asarray(x, float), np.asarray(y, float), k=5).mean() - task.truth) < 0.08


def test_mesner_shalizi_given_a_label_that_explains_everything():
    rng = np.random.default_rng(0)
    z = rng.integers(0, 2, 2000)
    x, y = (z[:, None] * 3 + rng.uniform(size=(2000, 1)) for _ in range(2))
    marginal = mesner_shalizi_local(x, y, k=5).mean()
    conditional = mesner_shalizi_local(x, y, category_columns(z) * 10, k=5).mean()
    assert marginal == pytest.approx(np.log(2), abs=0.1)
    assert abs(conditional) < 0.05


def test_labels_that_never_repeat():
    with pytest.raises(DataError, match="must repeat"):
        ross_local(np.zeros((4, 1)), np.arange(4))


# --- some rows, asked about among all -----------------------------------------------------------------


@pytest.mark.parametrize("kind", ["ksg1", "ksg2", "conditional", "copies"])
def test_asked_rows_contribute_what_they_contribute_among_all(kind):
    rng = np.random.default_rng(0)
    x, y, z = rng.standard_normal((3, 500, 2))
    if kind == "copies":
        x, y = np.repeat(x[:50], 10, axis=0), np.repeat(y[:50], 10, axis=0)
    given, variant, asked = z if kind == "conditional" else None, 2 if kind == "ksg2" else 1, rng.permutation(500)[:90]
    some = ksg_local(x, y, given, variant=variant, asked=asked)
    np.testing.assert_array_equal(some, ksg_local(x, y, given, variant=variant)[asked])


def test_asked_rows_beside_labels():
    rng = np.random.default_rng(0)
    label = rng.integers(0, 4, 600)
    x, asked = rng.standard_normal((600, 2)) + label[:, None], rng.permutation(600)[:150]
    x[:40] = x[0]  # copies
    label[5] = 9  # a label of its own, whose row has no neighbours
    kept = np.flatnonzero(np.arange(600) != 5)
    every = ross_local(x, label)
    np.testing.assert_array_equal(ross_local(x, label, asked=asked), every[np.isin(kept, asked)])
    digits = category_columns(label)
    np.testing.assert_array_equal(mesner_shalizi_local(x, digits, asked=asked), mesner_shalizi_local(x, digits)[asked])
