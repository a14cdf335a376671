"""Mutated files of every kind, a few of each; make fuzz reads a hundred thousand."""

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hostile_files import KINDS, outcome, wrong

TRIES = {"h5ad": 2, "run folder": 6, "zarr": 6}  # 20 of the others


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.filterwarnings("ignore")  # of libraries, about what they read
def test_mutated_files_are_sentences(tmp_path, name):
    kind = KINDS[name](tmp_path)
    expected = kind.whole()
    assert outcome(kind, expected) == "read, same content"

    @given(st.integers(0, 2**32))
    @settings(max_examples=TRIES.get(name, 20), deadline=None, suppress_health_check=list(HealthCheck))
    def read(seed):
        kind.mutate(random.Random(seed))
        assert outcome(kind, expected) not in wrong(name)

    read()
