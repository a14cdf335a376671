"""Tests of mediation: all columns, dependence without correlation, rounded numbers, constants, and streams of their own."""

import numpy as np
import pytest

from latentry.natural import audit
from latentry.natural.from_samples.independence_tests import (
    directed_test,
    neighbour_test,
    projection_test,
    residual_power,
    residual_test,
)
from latentry.natural.from_samples.observables import Block, set_apart
from latentry.natural.from_samples.residual_regression import Smoother


def views(rng, rows, width, shared):
    """Columns with a private part, and a direction that both have in common."""
    z, secret = rng.standard_normal((2, rows, 1))
    sides = []
    for _ in range(2):
        direction = rng.standard_normal((1, width))
        noise = rng.standard_normal((rows, width))
        sides.append(z + noise + shared * secret @ direction / np.linalg.norm(direction))
    return (*sides, z)


def test_a_direction_that_no_column_shows_is_seen_in_the_sum():
    """A correlation of a third in one direction of twelve columns: a thirty-sixth in a pair of columns."""
    x, y, z = views(np.random.default_rng(0), 600, 12, 0.7)
    smoother = Smoother.of(z)
    left, right = smoother.left_of(x), smoother.left_of(y)
    assert smoother.summed_p_value(left, right) < 1e-4
    assert residual_test(x, y, z).p_value < 1e-3


def test_the_sum_rejects_at_most_as_often_as_it_says():
    """100 runs at level 0.1: more than 19 rejections have probability 0.002."""
    p = []
    for seed in range(100):
        rng = np.random.default_rng([1, seed])
        x, y, z = views(rng, 150, 6, 0.0)
        smoother = Smoother.of(z)
        p.append(smoother.summed_p_value(smoother.left_of(np.abs(z) * x), smoother.left_of(y**3)))
    assert sum(value <= 0.1 for value in p) <= 19


def test_sought_directions_bound_what_leading_components_miss():
    rng = np.random.default_rng(2)
    x, y, z = views(rng, 800, 20, 3.0)
    found = directed_test(x, y, z, draws=39)
    assert found.p_value <= 0.05
    assert 0.3 < found.lower(0.05) < 0.9  # ρ = 0.9: 0.83 nats


def test_the_power_is_that_of_all_directions():
    assert residual_power(500, 0.02, 0.05) > residual_power(500, 0.02, 0.05, 400) > 0.05
    assert residual_power(5000, 0.1, 0.01, 400) > 0.99


def test_dependence_without_correlation_is_seen():
    """The quadratic case, in which residuals reject no more often than their level."""
    seen = 0
    for seed in range(10):
        z, shared, a, b = np.random.default_rng([3, seed]).standard_normal((4, 400, 1))
        x, y = z + 0.7 * a + 0.7 * shared, z + 0.7 * b + 0.7 * shared**2
        seen += projection_test(x, y, z, seed=seed).p_value <= 0.05
    assert seen >= 8


def test_projections_reject_at_most_as_often_as_they_say():
    """40 runs at level 0.1: more than 10 rejections have probability 0.001."""
    p = []
    for seed in range(40):
        z, a, b = np.random.default_rng([4, seed]).standard_normal((3, 200, 1))
        p.append(projection_test(np.sin(3 * z) + 0.5 * a, z**2 + (0.3 + np.abs(z)) * b, z, seed=seed).p_value)
    assert sum(value <= 0.1 for value in p) <= 10


@pytest.mark.parametrize(
    "spoil", [lambda x: np.round(4 * x) / 4, lambda x: np.maximum(x, 0.0)], ids=["rounded", "zeros"]
)
def test_rounding_is_no_dependence(spoil):
    """Given Λ, what rounding leaves shows Λ to the last digit; set apart, it does not."""
    rng = np.random.default_rng(5)
    z = rng.standard_normal((500, 1))
    x, y = (spoil(z + 0.5 * rng.standard_normal((500, 1))) for _ in range(2))
    apart = [set_apart(side, rng) for side in (x, y)]
    assert neighbour_test(*apart, z, draws=39).lower(0.05) < 0.1
    assert neighbour_test(*apart, z, draws=39).p_value > 0.03
    same = [np.unique(side, return_inverse=True)[1].ravel() for side in (x,)][0]
    ends = [(apart[0][same == value].min(), apart[0][same == value].max()) for value in range(same.max() + 1)]
    assert all(low[1] < high[0] for low, high in zip(ends, ends[1:], strict=False))  # what was rounded can be read back


def test_columns_without_ties_stay_as_they_are():
    values = np.random.default_rng(6).standard_normal((50, 2))
    assert np.array_equal(set_apart(values, np.random.default_rng(0)), values)


@pytest.mark.usefixtures("quick_students")
@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e30])
def test_constants_are_known_by_their_range(value):
    rng = np.random.default_rng(7)
    label = rng.integers(0, 2, 120)
    real = {name: label + 0.3 * rng.standard_normal(120) for name in "ab"}

    def judged(constant):
        tables = {name: np.column_stack([column, np.full(120, constant)]) for name, column in real.items()}
        return str(audit(tables, label, epsilon=0.1, drift=False))

    assert judged(value) == judged(1.0)
    still, moving = np.full((300, 1), value), rng.standard_normal((300, 1))
    assert residual_test(still, still, moving).p_value == 1.0
    assert projection_test(still, moving, moving).p_value == 1.0
    assert not Block.of_numbers("a", np.full((40, 7), value), np.arange(20), 0).looked.any()


def test_data_drawn_with_the_seed_of_the_audit_are_not_its_draws():
    """The noise of the data comes first out of default_rng(0), as the noise of the latent once did."""
    noise = np.random.default_rng(0).standard_normal((600, 1))
    rng = np.random.default_rng(8)
    z = rng.standard_normal((600, 1))
    claim = audit(
        {"a": z + noise, "b": z + rng.standard_normal((600, 1))}, z, noise=0.3, epsilon=0.1, drift=False
    ).claims[0]
    assert claim.verdict.status in ("not refuted", "supported")
