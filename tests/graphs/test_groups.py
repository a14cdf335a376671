"""Rows of one subject in graphs."""

import numpy as np
import pytest

from latentry.errors import DataError
from latentry.graphs import Counts, search


def test_subjects_with_many_rows_feign_edges_unless_groups_say_so():
    """Two independent nodes, each a trait of the subject, 40 rows per subject: 200 runs with BIC at 30 subjects.

    Each subject counts once, so that a false edge needs a likelihood ratio above log 30; its probability is near 0.065, and more
    than 30 of 200 have probability under 1e-4.
    """
    rows, false, aware = np.repeat(np.arange(30), 40), 0, 0
    for seed in range(200):
        traits = np.random.default_rng(seed).integers(0, 2, size=(30, 2))[rows]
        false += bool(search(Counts.from_rows(traits)).graph.edges)
        aware += bool(search(Counts.from_rows(traits, groups=rows)).graph.edges)
    assert false > 100
    assert aware <= 30


def test_groups_of_another_length_are_refused():
    with pytest.raises(DataError, match="groups"):
        Counts.from_rows([[0, 1], [1, 0]], groups=["a"])
