import copy
import math

import pytest

from latentry.errors import DataError
from latentry.evidence import Estimate


def make(**changes):
    fields = {"low": 0.2, "high": 0.4, "method": "ksg1", "normaliser": "linf", "n": 10, "confidence": 0.95}
    return Estimate(0.3, **{**fields, **changes})


def test_it_is_a_float_wherever_a_float_is_wanted():
    e = make()
    assert isinstance(e, float)
    assert e + 1 == 1.3
    assert type(e + 1) is float
    assert math.sqrt(e) == math.sqrt(0.3)
    assert sorted([make(), 0.1]) == [0.1, e]


def test_it_cannot_be_changed():
    with pytest.raises(AttributeError, match="cannot be changed"):
        make().low = 0.0
    with pytest.raises(AttributeError, match="cannot be changed"):
        make().anything = 0.0


def test_bits_and_back():
    e = make()
    assert e.to("bits") == pytest.approx(0.3 / math.log(2))
    assert e.to("bits").high == pytest.approx(0.4 / math.log(2))
    assert e.to("bits").to("nats").low == pytest.approx(e.low)
    with pytest.raises(DataError, match="did you mean 'nats'"):
        e.to("nat")
    with pytest.raises(DataError, match="units='hartleys'"):
        make(units="hartleys")


def test_one_line_says_it_all():
    assert repr(make()) == "0.3 nats [0.2, 0.4] (95 %, ksg1, linf, n=10)"
    assert str(make(warnings=("a", "b"))).endswith("n=10; 2 warnings)")
    assert repr(Estimate(0.3, n=5)) == "0.3 nats (n=5)"


def test_copies_keep_every_field():
    e = make(warnings=("few rows",), reason="because")
    for other in (copy.deepcopy(e), e.with_(), e.to("nats")):
        assert other == e
        assert other.as_dict() == e.as_dict()
    assert make().with_(reason="other").reason == "other"


def test_unknown_fields_are_refused():
    with pytest.raises(TypeError):
        make(nonsense=1)
    with pytest.raises(AttributeError):
        make().nonsense  # noqa: B018
