"""What a first user met: verdicts that must not mislead."""

import numpy as np
import pytest

import latentry as lt


def test_bits_that_arrive_as_floats_are_labels(rng):
    """One empty cell turns a column of 0 and 1 into floats; the verdict must not change."""
    bit = rng.integers(0, 2, 500)
    copies = {name: np.where(rng.random(500) < 0.02, 1 - bit, bit) for name in "ABC"}
    majority = (sum(copies.values()) > 1).astype(int)
    whole = lt.natural.audit(copies, majority, epsilon=0.2, drift=False)
    floats = {name: column.astype(float) for name, column in copies.items()}
    loose = lt.natural.audit(floats, majority.astype(float), epsilon=0.2, drift=False)
    assert loose.verdict.status == whole.verdict.status
    assert [c.upper.value for c in loose.claims] == [c.upper.value for c in whole.claims]
    assert any("taken as labels" in note for note in loose.notes)


def test_one_table_says_how_to_make_blocks(rng):
    with pytest.raises(lt.DataError, match="blocks="):
        lt.natural.audit(lt.Dataset(rng.normal(size=(100, 3))), rng.integers(0, 2, 100), epsilon=0.1)
