"""Directions that somebody knows, given to the reversible edges of a class."""

from __future__ import annotations

from collections.abc import Iterable

from latentry.errors import DataError
from latentry.graphs.equivalence import CPDAG, meek
from latentry.graphs.names import Edge, as_edges

__all__ = ["orient"]


def orient(pattern: CPDAG, directions: Iterable[Edge]) -> CPDAG:
    """Give directions to reversible edges of a class, and to those that follow by the four rules of Meek (1995).

    Cost: polynomial in the nodes.

    >>> chain = CPDAG(["A", "B", "C"], reversible=[("A", "B"), ("B", "C")])
    >>> orient(chain, [("A", "B")])  # C → B would make a v-structure, which the class does not have
    CPDAG(A → B, B → C)
    >>> orient(chain, [("A", "C")])
    Traceback (most recent call last):
    latentry.errors.DataError: direction 'A' → 'C': the class CPDAG(A — B, B — C) does not join the two. Leave it out.

    Args:
        pattern: The class.
        directions: Edges as (cause, effect), each between two joined nodes.

    Returns:
        The members of the class that have them.

    Raises:
        DataError: If two nodes are not joined, the class has the opposite direction, or directions exclude each other.
    """
    settled = pattern
    for cause, effect in as_edges(directions, pattern.names, "the class of graphs"):
        if (cause, effect) in settled.compelled:
            continue
        if (effect, cause) in settled.compelled:
            raise DataError(f"direction {cause!r} → {effect!r}: {_why_not(pattern, settled, cause, effect)}")
        if not {(cause, effect), (effect, cause)} & set(settled.reversible):
            raise DataError(
                f"direction {cause!r} → {effect!r}: the class {pattern!r} does not join the two. Leave it out."
            )
        loose = [edge for edge in settled.reversible if set(edge) != {cause, effect}]
        arrows, left = meek({*settled.compelled, (cause, effect)}, loose)
        settled = CPDAG(pattern.names, tuple(arrows), tuple(left))
    return settled


def _why_not(pattern: CPDAG, settled: CPDAG, cause: str, effect: str) -> str:
    if (effect, cause) in pattern.compelled:
        loose = ", ".join(f"{a} — {b}" for a, b in pattern.reversible) or "none"
        return (
            f"all graphs of the class have {effect} → {cause}. Only reversible edges can be given a direction: {loose}."
        )
    return f"with the other directions {effect} → {cause} follows, in every graph of the class {pattern!r}. Drop one of them."
