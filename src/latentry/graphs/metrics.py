"""How far two graphs are apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from latentry.errors import DataError
from latentry.graphs.equivalence import CPDAG, v_structures
from latentry.graphs.graph import Graph

__all__ = ["Agreement", "Comparison", "compare", "shd"]


@dataclass(frozen=True)
class Agreement:
    """Precision, recall and F1 of a set against the true one.

    A set that claims nothing has precision 1, nothing to find means recall 1, and two empty sets agree fully.
    """

    right: int
    claimed: int
    true: int

    @property
    def precision(self) -> float:
        """Return the fraction of the claims that are right."""
        return self.right / self.claimed if self.claimed else 1.0

    @property
    def recall(self) -> float:
        """Return the fraction of the truth that was claimed."""
        return self.right / self.true if self.true else 1.0

    @property
    def f1(self) -> float:
        """Return the harmonic mean of the two, 2·right / (claimed + true)."""
        return 2 * self.right / (self.claimed + self.true) if self.claimed + self.true else 1.0


@dataclass(frozen=True)
class Comparison:
    """An estimate against the truth: SHD, edges whatever their direction, arrowheads, and v-structures."""

    shd: int
    skeleton: Agreement
    arrowheads: Agreement
    v_structures: Agreement

    def __str__(self) -> str:
        parts = [f"SHD {self.shd}"]
        for what in ("skeleton", "arrowheads", "v_structures"):
            each: Agreement = getattr(self, what)
            parts.append(f"{what} precision {each.precision:.2f} recall {each.recall:.2f} F1 {each.f1:.2f}")
        return "; ".join(parts).replace("_", "-")


def shd(first: Graph | CPDAG, second: Graph | CPDAG) -> int:
    """Count the pairs of nodes whose edge (→, ←, — or none) differs: the structural Hamming distance.

    A reversed edge counts once (Tsamardinos, Brown and Aliferis 2006). Two DAGs of one class can be far apart; for
    what data can tell, compare their CPDAGs.

    Cost: quadratic in the nodes.

    >>> shd(Graph(3, [("N1", "N2")]), Graph(3, [("N2", "N1"), ("N2", "N3")]))
    2

    Args:
        first: A graph or a class.
        second: Another of the same kind over the same nodes.

    Returns:
        Number of pairs.

    Raises:
        DataError: If one is a graph and the other a class, or their nodes differ.
    """
    _check_alike(first, second)
    mine, theirs = _marks(first), _marks(second)
    return sum(mine.get(pair) != theirs.get(pair) for pair in {*mine, *theirs})


def compare(estimate: Graph | CPDAG, truth: Graph | CPDAG) -> Comparison:
    """Compare two graphs by SHD, and by precision, recall and F1 of skeleton, arrowheads and v-structures.

    Arrowheads are the directed edges; a reversible edge claims none.

    Cost: nodes³ for the v-structures.

    >>> print(compare(Graph(3, [("N1", "N3")]), Graph(3, [("N1", "N3"), ("N2", "N3")])))
    SHD 1; skeleton precision 1.00 recall 0.50 F1 0.67; arrowheads precision 1.00 recall 0.50 F1 0.67;
    v-structures precision 1.00 recall 0.00 F1 0.00

    Args:
        estimate: A graph or a class.
        truth: Another of the same kind over the same nodes.

    Returns:
        All four comparisons.

    Raises:
        DataError: If one is a graph and the other a class, or their nodes differ.
    """
    return Comparison(
        shd(estimate, truth),
        _agreement(_marks(estimate), _marks(truth)),
        _agreement(estimate.directed, truth.directed),
        _agreement(_colliders(estimate), _colliders(truth)),
    )


def _marks(graph: Graph | CPDAG) -> Mapping[frozenset[str], object]:
    """For every joined pair its arrow, or None of one for a reversible edge."""
    arrows: dict[frozenset[str], object] = {frozenset(e): e for e in graph.directed}
    return arrows | {frozenset(e): "reversible" for e in graph.undirected}


def _colliders(graph: Graph | CPDAG) -> set[tuple[frozenset[str], str]]:
    return {(frozenset((a, b)), middle) for a, middle, b in v_structures(graph)}


def _agreement(claimed: Iterable[object], true: Iterable[object]) -> Agreement:
    mine, theirs = set(claimed), set(true)
    return Agreement(len(mine & theirs), len(mine), len(theirs))


def _check_alike(first: Graph | CPDAG, second: Graph | CPDAG) -> None:
    if type(first) is not type(second):
        raise DataError(
            "graphs: one is a Graph and one a CPDAG. Compare two of a kind: cpdag(graph) gives the class of a graph."
        )
    if set(first.names) != set(second.names):
        raise DataError(
            f"graphs: have different nodes, {first.names} and {second.names}. Compare graphs over the same nodes."
        )
