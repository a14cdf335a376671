"""Directions within a class: against every member of it."""

import itertools

import numpy as np
import pytest

import latentry as lt
from latentry import graphs

NAMES = ("A", "B", "C", "D")


@pytest.mark.parametrize("seed", range(30))
def test_directions_are_those_of_the_members_that_have_them(seed):
    """Against enumeration: a direction is refused exactly where no member has it, and leaves what all the others share."""
    rng = np.random.default_rng(seed)
    dags = graphs.all_dags(NAMES)
    dag = next(itertools.islice(dags, int(rng.integers(0, 543)), None))
    pattern = graphs.cpdag(dag)
    members = list(graphs.members(pattern))
    pairs = [tuple(pair) if rng.random() < 0.5 else tuple(pair[::-1]) for pair in dag.edges]
    chosen = [pairs[i] for i in rng.permutation(len(pairs))[: rng.integers(1, 4)]] if pairs else []
    having = [member for member in members if set(chosen) <= set(member.edges)]
    if not having:
        with pytest.raises(lt.DataError, match="direction"):
            graphs.orient(pattern, chosen)
        return
    found = graphs.orient(pattern, chosen)
    shared = set.intersection(*(set(member.edges) for member in having))
    assert set(found.compelled) == shared
    assert {member.edges for member in graphs.members(found)} == {member.edges for member in having}


@pytest.mark.parametrize(
    ("directions", "words"),
    [
        ([("A", "D")], r"direction 'A' → 'D': the class CPDAG\(.*\) does not join the two"),
        (
            [("C", "A")],
            r"all graphs of the class have A → C. Only reversible edges can be given a direction: C — D|none",
        ),
        ([("A", "Z")], "node 'Z' is not in the class of graphs"),
        (["AB"], "'AB' is not a pair"),
        (3, "3 is no list of pairs"),
        ([("A", "A")], "leads from a node to itself"),
    ],
)
def test_what_the_class_does_not_allow_is_refused(directions, words):
    collider = graphs.Graph(NAMES, [("A", "C"), ("B", "C"), ("C", "D")])
    with pytest.raises(lt.DataError, match=words):
        graphs.orient(graphs.cpdag(collider), directions)


def test_directions_that_exclude_each_other_are_named():
    chain = graphs.cpdag(graphs.Graph(["A", "B", "C"], [("A", "B"), ("B", "C")]))
    with pytest.raises(lt.DataError, match="'C' → 'B': with the other directions B → C follows"):
        graphs.orient(chain, [("A", "B"), ("C", "B")])
