"""Counts of groups on planted rows: right where groups lie apart, one where nothing does."""

import numpy as np
import pytest

import latentry as lt
from latentry.errors import DataError
from latentry.models.causal_pima.component_counts import Strengths, group_strengths
from latentry.models.causal_pima.node_candidates import candidates, count_components, finer

CENTRES = 7.0 * np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1]])


@pytest.mark.parametrize("count", [2, 4, 5])
def test_groups_seven_standard_deviations_apart_are_counted(count):
    rng = np.random.default_rng(count)
    points = CENTRES[np.arange(150) % count] + rng.normal(size=(150, 3))
    assert group_strengths(points, most=7).count == count


@pytest.mark.parametrize("scale", [(1.0, 1.0, 1.0), (6.0, 1.0, 1.0)])
def test_one_gaussian_is_one_group_even_if_it_is_long(scale):
    rng = np.random.default_rng(0)
    assert group_strengths(rng.normal(size=(150, 3)) * scale, most=5).count == 1


def test_too_few_distinct_rows_are_one_group():
    assert group_strengths(np.ones((30, 2)), most=4).count == 1


def test_a_cost_is_what_strengths_would_have_to_change_by():
    strengths = Strengths((1.0, 0.95, 0.85, 0.6))
    assert strengths.count == 3
    assert strengths.costs == pytest.approx((0.15, 0.05, 0.0, 0.2))


@pytest.fixture(scope="module")
def two_modalities():
    """A node of two outcomes in both modalities, and another in the second alone; some rows lack a modality."""
    rng = np.random.default_rng(0)
    shared, own = rng.integers(0, 2, size=(2, 160))
    first = 8.0 * shared[:, None] * np.array([1.0, 0.5]) + rng.normal(size=(160, 2))
    second = 8.0 * np.stack([shared, own, shared], axis=1) + rng.normal(size=(160, 3))
    observed = {"first": np.arange(160) % 10 != 0, "second": np.arange(160) % 10 != 1}
    return lt.Dataset({"first": first, "second": second}, observed=observed)


def test_nodes_and_the_modalities_they_act_on(two_modalities):
    strengths = count_components(two_modalities, two_modalities.names, seed=0)
    assert {chosen: found.count for chosen, found in strengths.items()} == {
        ("first",): 2,
        ("second",): 4,
        ("first", "second"): 4,
    }
    best = candidates(strengths)[0]
    assert str(best) == "2 outcomes in first and second, 2 outcomes in second"
    assert [one.outcomes for one in finer(best)] == [(2, 2)]


def test_no_groups_no_candidates():
    assert candidates({("x",): Strengths((1.0, 0.4, 0.3))}) == []


def test_more_modalities_than_can_be_counted():
    data = lt.Dataset({f"m{i}": np.zeros((50, 2)) + np.arange(50)[:, None] for i in range(5)})
    with pytest.raises(DataError, match=r"at most 4 .*have 5.*Give the nodes"):
        count_components(data, data.names, seed=0)
