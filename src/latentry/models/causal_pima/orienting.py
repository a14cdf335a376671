"""A fitted graph with what a user says of it: found again from the expected counts that the fit kept, without a refit."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from latentry.errors import DataError
from latentry.graphs import CPDAG, Graph, Knowledge, graph_score, members, orient, search
from latentry.models.causal_pima.latent_graph import LatentGraph, latent_graph
from latentry.models.causal_pima.mixture import HodgeTable, Table
from latentry.models.causal_pima.module import Pima
from latentry.models.causal_pima.node_updates import Nodes
from latentry.models.causal_pima.orientation import Orientation
from latentry.models.causal_pima.queries import learned_graph
from latentry.models.causal_pima.structural_em import table_terms

__all__ = ["checked_orientation", "oriented_graph", "oriented_module"]

Edge = tuple[str, str]


@dataclass(frozen=True, eq=False)
class _Choice:
    """A graph under what was said, and whether it is of the class that the fit found."""

    graph: Graph
    knowledge: Knowledge
    within: bool


def checked_orientation(
    found: LatentGraph, directions: Iterable[Edge], required: Iterable[Edge], forbidden: Iterable[Edge]
) -> Orientation:
    """Check what a user says of a graph against the class that the fit found.

    Args:
        found: By the fit.
        directions: Of reversible edges, as (cause, effect).
        required: Edges that must be there.
        forbidden: Edges that must not be there.

    Returns:
        The same, checked.

    Raises:
        DataError: If a direction is not of the class, or what is said contradicts itself or what the fit was told.
    """
    said = Knowledge(found.names, (), required, forbidden)  # type: ignore[arg-type]  # which checks what they are
    listed = [*directions] if isinstance(directions, Iterable) else directions
    try:
        orient(found.cpdag, listed)
    except DataError as why:
        if not str(why).startswith("direction "):  # no edge of these nodes: there is nothing to overrule
            raise
        remedy = (
            "To overrule the rows, give the edge as required=: the graph is then sought anew, and says what that costs."
        )
        raise DataError(f"{why} {remedy}") from None
    named = Knowledge(found.names, (), tuple(listed)).required
    orientation = Orientation(named, said.required, said.forbidden)
    orientation.beside(found.knowledge)  # which refuses contradictions
    return orientation


def oriented_module(module: Pima, nodes: Nodes, orientation: Orientation) -> Pima:
    """Return a module whose table is that of the graph as it was oriented; networks and clusters stay.

    Within the class that the fit found the table is the same, in other factors. Beyond it, it is estimated from the
    expected counts.

    Args:
        module: As the fit left it.
        nodes: What they are.
        orientation: What is said of the graph.

    Returns:
        The module to ask.
    """
    if not orientation:
        return module
    choice = _chosen(learned_graph(module, nodes), orientation)
    table = module.table
    if choice.within:
        joint = np.exp(_terms(table).sum(axis=0))[None]
        terms = table_terms(choice.graph, joint / joint.sum(), np.ones((1, len(nodes.names))), 0.0)
    else:
        terms = table_terms(choice.graph, np.asarray(module.counts, np.float64), nodes.experiments.free)
    other = Table(
        jnp.asarray(terms, jnp.float32), jnp.asarray(choice.graph.adjacency, jnp.float32), table.free, table.blocked
    )
    asked: Pima = eqx.tree_at(lambda m: m.table, module, other)
    return asked


def _terms(table: Table | HodgeTable) -> NDArray[np.float64]:
    return np.asarray(table.terms() if isinstance(table, HodgeTable) else table.terms, np.float64)


def oriented_graph(module: Pima, nodes: Nodes, orientation: Orientation) -> LatentGraph:
    """Return the graph of a fit, as it was oriented.

    Args:
        module: As the fit left it.
        nodes: What they are.
        orientation: What is said of the graph.

    Returns:
        Class, tables and numbers for the edges; what came from the user is named.
    """
    found = learned_graph(module, nodes)
    if not orientation:
        return found
    choice = _chosen(found, orientation)
    other = latent_graph(choice.graph, found.counts, choice.knowledge, nodes.experiments.targets)
    return replace(other, given=_sentences(found, choice, orientation))


def _chosen(found: LatentGraph, orientation: Orientation) -> _Choice:
    """The class of the fit as far as it allows what was said; otherwise the best graph of all that do."""
    knowledge = orientation.beside(found.knowledge)
    within = _within(found, knowledge)
    if within is not None:
        graph = next(members(within, found.graph.outcomes))
        return _Choice(graph, knowledge, within=True)
    known = search(found.counts, tiers=knowledge.tiers, required=knowledge.required, forbidden=knowledge.forbidden)
    return _Choice(known.graph, knowledge, within=False)


def _within(found: LatentGraph, knowledge: Knowledge) -> CPDAG | None:
    """The part of the found class that agrees with what is known, if any does."""
    joined = {frozenset(edge) for edge in found.graph.edges}
    turned = [(child, parent) for parent, child in knowledge.forbidden if {parent, child} in joined]
    try:
        return orient(found.cpdag, (*knowledge.required, *turned))
    except DataError:
        return None


def _sentences(found: LatentGraph, choice: _Choice, orientation: Orientation) -> tuple[str, ...]:
    said = [f"{a} → {b} was given" for a, b in orientation.directions]
    said += [f"{a} → {b} was required" for a, b in orientation.required]
    said += [f"{a} → {b} was forbidden" for a, b in orientation.forbidden]
    words = "; ".join(said) + ", after the fit"
    if choice.within:
        return (f"{words}: the rows do not decide it.",)
    cost = graph_score(found.graph, found.counts) - graph_score(choice.graph, found.counts)
    if cost <= 0:
        return (f"{words}: by expected counts alone the graph is as good as {found.cpdag!r}, which the fit found.",)
    return (f"{words}: against {found.cpdag!r}, which the fit found, it costs {cost:.3g} nats of score (BIC).",)
