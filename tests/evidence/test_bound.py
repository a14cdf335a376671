"""Bounds: the arithmetic must stay true for every quantity that the bounds allow."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from latentry.errors import DataError
from latentry.evidence import Bound, DirectionError, Interval, maximum, minimum, total

numbers = st.floats(-100, 100)
slacks = st.floats(0, 10)
sides = st.sampled_from(["exact", "upper", "lower"])


def bound_around(truth, side, slack):
    """A bound of the given side that is true of `truth`."""
    if side == "exact":
        return Bound(truth, tolerance=slack)
    return Bound(truth + (slack if side == "upper" else -slack), side)


def holds(bound, truth):
    return bound.low - 1e-9 <= truth <= bound.high + 1e-9


@given(numbers, numbers, sides, sides, slacks, slacks, st.floats(-3, 3))
def test_arithmetic_stays_true(x, y, side_x, side_y, slack_x, slack_y, factor):
    a, b = bound_around(x, side_x, slack_x), bound_around(y, side_y, slack_y)
    assert holds(-a, -x)
    assert holds(factor * a, factor * x)
    for operation, truth in [(total, x + y), (maximum, max(x, y)), (minimum, min(x, y))]:
        if {side_x, side_y} == {"upper", "lower"}:
            with pytest.raises(DirectionError):
                operation([a, b])
        else:
            result = operation([a, b])
            assert holds(result, truth)
            assert result.direction == (side_x if side_y == "exact" else side_y)


@given(numbers, numbers, sides, sides, slacks, slacks)
def test_comparisons_are_true_or_refused(x, y, side_x, side_y, slack_x, slack_y):
    a, b = bound_around(x, side_x, slack_x), bound_around(y, side_y, slack_y)
    try:
        answer = a < b
    except DirectionError:
        assert a.high >= b.low
        assert a.low < b.high
    else:
        assert answer == (x < y)


def test_an_upper_bound_is_never_an_estimate():
    upper, lower, estimate = Bound(0.1, "upper"), Bound(0.1, "lower"), Bound(0.1, "estimate")
    assert float(estimate) == float(Bound(0.1)) == 0.1
    for bound in (upper, lower):
        with pytest.raises(DirectionError, match="is not an estimate"):
            float(bound)
        with pytest.raises(DirectionError, match="neither a bound nor an estimate"):
            bound + estimate
    with pytest.raises(DirectionError, match="an estimate is not an upper bound"):
        estimate.as_upper()
    with pytest.raises(DirectionError, match="a lower bound is not an upper bound"):
        lower.as_upper()
    with pytest.raises(DirectionError, match="do not decide"):
        bool(estimate < 5)
    assert not estimate.below(5)
    assert not estimate.above(-5)


def test_an_upper_bound_decides_only_below():
    upper = Bound(0.1, "upper")
    assert upper < 0.2
    assert upper <= 0.1
    with pytest.raises(DirectionError):
        bool(upper < 0.05)
    with pytest.raises(DirectionError):
        bool(upper > 0.05)
    assert (Bound(0.1, "lower") < 0.05) is False


def test_confidences_combine_by_the_union_bound():
    parts = [Bound(1.0, "upper", confidence=c) for c in (0.9, 0.95, 0.3)]
    assert total(parts[:2]).confidence == pytest.approx(0.85)
    assert maximum(parts).confidence == pytest.approx(0.15)
    assert total([Bound(1.0, "upper", confidence=0.1)] * 2).confidence == 0.0


def test_scaling_by_zero_keeps_an_infinite_bound_finite():
    assert (Bound(math.inf, "upper") * 0).value == 0.0


def test_products_and_bad_fields_are_refused():
    a = Bound(1.0)
    with pytest.raises(DirectionError, match="product of bounds"):
        a * a
    with pytest.raises(DirectionError, match="ratio of bounds"):
        a / a
    with pytest.raises(DataError, match="cannot be multiplied by inf"):
        a * math.inf
    with pytest.raises(DataError, match="did you mean 'upper'"):
        Bound(1.0, "uper")
    with pytest.raises(DataError, match="not a number"):
        Bound(math.nan)
    with pytest.raises(DataError, match="confidence=1.5: is not a probability"):
        Bound(1.0, "upper", confidence=1.5)
    with pytest.raises(DataError, match="an exact value has confidence 1"):
        Bound(1.0, confidence=0.9)
    with pytest.raises(DataError, match="tolerance=-1"):
        Bound(1.0, tolerance=-1)
    with pytest.raises(DataError, match="no bounds to combine"):
        total([])


def test_method_assumptions_and_rows_survive():
    a = Bound(1, "upper", method="m", assumptions=("i",), n=5, seed=3)
    b = Bound(2, "upper", method="m", assumptions=("i", "j"), n=4)
    joined = a + b
    assert (joined.method, joined.assumptions, joined.n, joined.seed) == ("m", ("i", "j"), 4, 3)


@given(st.floats(allow_nan=False), sides)
def test_json_round_trip(value, side):
    bound = Bound(value, side, method="m", assumptions=("a",))
    text = json.dumps(bound.to_json(), allow_nan=False)
    assert Bound.from_json(json.loads(text)).to_json() == bound.to_json()


def test_interval_orders_its_sides():
    interval = Interval(Bound(1.0), Bound(2.0, "upper"))
    assert interval.lower.direction == "lower"
    assert interval.gap == 1.0
    with pytest.raises(DirectionError):
        Interval(Bound(2.0, "upper"), Bound(1.0, "lower"))
