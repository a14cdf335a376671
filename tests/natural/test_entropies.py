"""Information measures against their definitions, cell by cell."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latentry.errors import DataError
from latentry.natural import (
    conditional_entropy,
    divergence,
    dual_total_correlation,
    entropy,
    marginal,
    mutual_information,
    total_correlation,
)


@st.composite
def laws(draw, min_axes=2, max_axes=4):
    shape = draw(st.lists(st.integers(1, 3), min_size=min_axes, max_size=max_axes))
    seed = draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    law = rng.dirichlet(np.full(math.prod(shape), 0.6)).reshape(shape)
    law[rng.random(shape) < 0.2] = 0.0
    return law / law.sum() if law.sum() > 0 else np.full(shape, 1 / law.size)


def slow_entropy(law, axes):
    """Straight from the definition with dictionaries."""
    masses = {}
    for cell in product(*map(range, law.shape)):
        key = tuple(cell[a] for a in axes)
        masses[key] = masses.get(key, 0.0) + float(law[cell])
    return -sum(p * math.log(p) for p in masses.values() if p > 0)


@settings(deadline=None)  # a loaded machine is not a fault
@given(laws())
def test_against_the_definition(law):
    axes = list(range(law.ndim))
    assert entropy(law) == pytest.approx(slow_entropy(law, axes), abs=1e-12)
    assert conditional_entropy(law, [0], [1]) == pytest.approx(
        slow_entropy(law, [0, 1]) - slow_entropy(law, [1]), abs=1e-12
    )
    tc = sum(slow_entropy(law, [a]) for a in axes) - slow_entropy(law, axes)
    assert total_correlation(law) == pytest.approx(tc, abs=1e-12)
    whole = slow_entropy(law, axes)
    dtc = whole - sum(whole - slow_entropy(law, [b for b in axes if b != a]) for a in axes)
    assert dual_total_correlation(law) == pytest.approx(dtc, abs=1e-12)


@settings(deadline=None)  # a loaded machine is not a fault
@given(laws(min_axes=3))
def test_conditional_information_with_the_last_axis_given(law):
    last = law.ndim - 1
    expected = (
        slow_entropy(law, [0, last])
        + slow_entropy(law, [1, last])
        - slow_entropy(law, [0, 1, last])
        - slow_entropy(law, [last])
    )
    assert mutual_information(law, [0], [1], [last]) == pytest.approx(expected, abs=1e-12)


@settings(deadline=None)  # a loaded machine is not a fault
@given(laws(min_axes=3))
def test_chain_rule_and_signs(law):
    rest = list(range(1, law.ndim))
    chain = sum(mutual_information(law, [i], list(range(i))) for i in rest)
    assert total_correlation(law) == pytest.approx(chain, abs=1e-12)
    assert total_correlation(law) >= -1e-12
    assert -1e-12 <= dual_total_correlation(law) <= (law.ndim - 1) * total_correlation(law) + 1e-12


def test_marginal_of_scattered_axes():
    law = np.random.default_rng(0).random((2, 3, 4, 5))
    np.testing.assert_allclose(marginal(law, [2, 0]), law.sum(axis=(1, 3)))
    np.testing.assert_allclose(marginal(law, []), law.sum())


@pytest.mark.parametrize("kind", ["kl", "js", "tv"])
def test_divergences_vanish_only_at_equality(kind):
    p, q = np.array([0.2, 0.8]), np.array([0.3, 0.7])
    assert divergence(p, p, kind) == pytest.approx(0.0, abs=1e-15)
    assert divergence(p, q, kind) > 1e-3
    disjoint = divergence(np.array([1.0, 0.0]), np.array([0.0, 1.0]), kind)
    assert disjoint == pytest.approx({"kl": np.inf, "js": np.log(2), "tv": 1.0}[kind])


def test_refused():
    law = np.full((2, 2), 0.25)
    with pytest.raises(DataError, match="axis 0 is named twice"):
        mutual_information(law, [0], [1], [0])
    with pytest.raises(DataError, match="did you mean 'kl'"):
        divergence(law, law, "kll")


@pytest.mark.parametrize("axis", [2, -1])
def test_an_axis_that_does_not_exist(axis):
    with pytest.raises(DataError, match=f"axis {axis} does not exist.* 0 to 1"):
        entropy(np.full((2, 2), 0.25), [axis])
