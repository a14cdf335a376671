"""Rows of one subject in graphs."""

import warnings

import numpy as np
import pytest

from latentry.errors import DataError, DataWarning
from latentry.graphs import Counts, search


def test_subjects_with_many_rows_feign_edges_unless_groups_say_so():
    """Two independent nodes, each a trait of the subject, 40 rows per subject: 200 runs with BIC at 30 subjects.

    Each subject counts once, so that a false edge needs a likelihood ratio above log 30; its probability is near 0.065, and more
    than 30 of 200 have probability under 1e-4.
    """
    rows, false, aware = np.repeat(np.arange(30), 40), 0, 0
    for seed in range(200):
        traits = np.random.default_rng(seed).integers(0, 2, size=(30, 2))[rows]
        with pytest.warns(DataWarning, match="name subjects in groups="):
            counted = Counts.from_rows(traits)
        false += bool(search(counted).graph.edges)
        aware += bool(search(Counts.from_rows(traits, groups=rows)).graph.edges)
    assert false > 100
    assert aware <= 30


def test_subjects_who_take_turns_are_noticed_and_independent_rows_are_not():
    """The level is 0.001: of 200 tables more than 3 warn with probability under 1e-4."""
    rng = np.random.default_rng(1)
    with pytest.warns(DataWarning, match="a fixed distance apart"):
        Counts.from_rows(rng.integers(0, 3, size=(12, 2))[np.arange(480) % 12])
    warned = 0
    for _ in range(200):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            Counts.from_rows(rng.integers(0, 3, size=(300, 3)))
        warned += len(said)
    assert warned <= 3


def test_groups_of_another_length_are_refused():
    with pytest.raises(DataError, match="groups"):
        Counts.from_rows([[0, 1], [1, 0]], groups=["a"])
