"""Whether new rows agree with the graph of a model, how strong its edges are, and how stable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol, cast

import numpy as np
from scipy.special import xlogy
from scipy.stats import chi2, ncx2

from latentry import graphs
from latentry.certificate.question import Number, Part
from latentry.certificate.subject import Subject
from latentry.contracts import CanBeOriented, HasGraph
from latentry.evidence import Bound, Verdict
from latentry.identifiability import independent_rows
from latentry.information import noncentrality

__all__ = ["causal", "graph_of", "misfit"]

_DRAWS = 100
_SEARCH = "bootstrap of the graph search"
_CELLS = 4096
_NOTHING = 0.02  # nats in a node that is as good as constant


def causal(subject: Subject) -> Part | None:
    """Test the class of the graph and weigh its edges on rows that did not train it.

    Args:
        subject: Rows and their latents.

    Returns:
        The part; None where there are no two nodes that could be joined.
    """
    if len(subject.nodes) < 2 or not isinstance(subject.model, HasGraph):
        return None
    graph, pattern = graph_of(subject.model)
    codes = {name: subject.nodes[name].most_likely for name in graph.names}
    counts = graphs.Counts.from_rows(codes, outcomes=graph.outcomes, groups=subject.data.units)
    table = _table(counts, graph)
    strengths = graphs.edge_strengths(graph.with_cpts(None), counts)
    stability = graphs.bootstrap(counts, _DRAWS, subject.settings.seed)
    numbers: dict[str, Number] = {
        f"strength of {a} → {b}": Bound(
            value, "estimate", method="I(child; parent | other parents), plug-in", n=len(subject.data)
        )
        for (a, b), value in strengths.items()
    }
    numbers |= {
        f"share of draws that join {a} and {b}": Bound(stability.of((a, b)), "estimate", method=_SEARCH, n=_DRAWS)
        for a, b in graph.edges
    }
    return Part(
        "causal",
        _of_independent_rows(_verdict(graph, table, subject), codes, subject),
        {},
        numbers,
        (*_given(subject.model), *_notes(pattern, stability, graph)),
        ("equivalence class of a graph", _SEARCH),
        {
            "cpdag": pattern.to_json(),
            "edges": [list(e) for e in graph.edges],
            "strengths": [[a, b, value] for (a, b), value in strengths.items()],
            "outcomes": list(graph.outcomes),
            "given": list(_given(subject.model)),
        },
    )


def graph_of(model: HasGraph) -> tuple[graphs.Graph, graphs.CPDAG]:
    """Return a model's graph and its class, whether it keeps the class or not.

    Args:
        model: That has a graph.

    Returns:
        The graph, and its equivalence class.
    """
    graph = model.graph_
    if isinstance(graph, graphs.Graph):
        return graph, graphs.cpdag(graph)
    both = cast(_GraphAndClass, graph)  # the other kind that a model may show
    return both.graph, both.cpdag


def _given(model: HasGraph) -> tuple[str, ...]:
    """Return what a user said of the graph after the fit: these arrows are not evidence."""
    if not isinstance(model, CanBeOriented):
        return ()
    given: object = model.graph_.to_json().get("given")
    return tuple(str(sentence) for sentence in given) if isinstance(given, list) else ()


class _GraphAndClass(Protocol):
    graph: graphs.Graph
    cpdag: graphs.CPDAG


def _table(counts: graphs.Counts, graph: graphs.Graph) -> np.ndarray | None:
    """Count all configurations of the nodes, if there are few; groups of rows weigh as one row each."""
    return None if np.prod(graph.outcomes, dtype=float) > _CELLS else counts.marginal(graph.names)


def _verdict(graph: graphs.Graph, table: np.ndarray | None, subject: Subject) -> Verdict:
    r"""Test the graph's factors against the saturated table: :math:`2N\,D(\hat P \| \hat P_G) \sim \chi^2`."""
    epsilon, level = subject.settings.epsilon, subject.settings.level
    if table is None:
        return Verdict(
            "cannot say", "the nodes have too many configurations for a test of the whole graph.", {}, "fewer nodes"
        )
    rows, missing = table.sum(), _freedom(graph)
    silent = [name for name in graph.names if _entropy(_marginal(table / rows, graph, (name,))) < _NOTHING]
    if silent:
        sentence = (
            f"node {silent[0]} has one value in nearly all rows: dependences that the graph denies could not show."
        )
        return Verdict("cannot say", sentence, {}, "a longer fit, or fewer nodes")
    if missing == 0:
        sentence = "the graph joins every pair of nodes: it makes no prediction that new rows could contradict."
        return Verdict("cannot say", sentence, {}, "rows in which a node was set by the experimenter, or more nodes")
    if rows < 5 * table.size:
        sentence = f"{rows:.0f} rows over {table.size} configurations of the nodes are too few for a test."
        return Verdict("cannot say", sentence, {}, "more rows")
    size = misfit(graph, table)
    p_value = float(chi2.sf(2 * rows * size, missing))
    power = float(ncx2.sf(chi2.isf(level, missing), missing, 2 * rows * epsilon))
    lower = Bound(
        noncentrality(2 * rows * size, missing, 1 - level) / (2 * rows), "lower", 1 - level, "likelihood ratio inverted",
        ("independent rows that did not train the latent", "many rows per cell"), n=int(rows),
    )  # fmt: skip
    if lower.value > epsilon:
        sentence = (
            f"new rows have at least {lower.value:.3g} nats of dependence that the graph denies (p = {p_value:.2g})."
        )
        return Verdict("refuted", sentence, {"dependence beyond the graph": lower}, "more edges, or better nodes")
    if p_value <= level:
        sentence = f"new rows have dependences that the graph denies (p = {p_value:.2g}), perhaps by less than {epsilon:g} nats."
        return Verdict("cannot say", sentence, {"dependence beyond the graph": lower}, "more rows")
    sentence = (
        f"new rows show none of the dependences that the graph denies (p = {p_value:.2g}; {epsilon:g} nats of them would show "
        f"with probability {power:.2f}); other graphs may agree as well."
    )
    change = "rows in which a node was set by the experimenter: only they can direct reversible edges"
    return Verdict("not refuted", sentence, {"dependence beyond the graph": lower}, change, power)


def _of_independent_rows(verdict: Verdict, codes: Mapping[str, np.ndarray], subject: Subject) -> Verdict:
    """Name the independence of rows beside the answer; where neighbours are alike, their dependence feigns edges."""
    columns = np.column_stack([*codes.values()])
    domain = subject.data.domain
    strata = None if domain is None or domain.is_continuous else domain.values
    rows = independent_rows([columns], strata, subject.data.units, subject.settings.level)
    against = next((one for one in rows if one.refuted), None)
    if against is None:
        return replace(verdict, assumptions=(*verdict.assumptions, *rows))
    sentence = f"rows contradict an assumption: {against.name} ({against.note}). As if they were: {verdict.sentence}"
    return Verdict("cannot say", sentence, verdict.evidence, "groups= or time=", verdict.power, rows)


def misfit(graph: graphs.Graph, table: np.ndarray) -> float:
    """Compute D(P̂‖P̂_G): what a table has beyond the product of the graph's conditional distributions.

    Args:
        graph: Over the axes of the table.
        table: Counts or probabilities.

    Returns:
        Nats, at least 0.
    """
    joint = table / table.sum()
    explained = 0.0
    for node in graph.names:
        family = _marginal(joint, graph, (*graph.parents(node), node))
        explained += _entropy(family) - _entropy(_marginal(joint, graph, graph.parents(node)))
    return max(0.0, explained - _entropy(joint))


def _marginal(joint: np.ndarray, graph: graphs.Graph, nodes: tuple[str, ...]) -> np.ndarray:
    kept = set(graph.axes(nodes))
    marginal: np.ndarray = joint.sum(axis=tuple(i for i in range(joint.ndim) if i not in kept))
    return marginal


def _entropy(table: np.ndarray) -> float:
    return float(-xlogy(table, table).sum())


def _freedom(graph: graphs.Graph) -> int:
    size = dict(zip(graph.names, graph.outcomes, strict=True))
    used = sum((size[n] - 1) * int(np.prod([size[p] for p in graph.parents(n)], dtype=int)) for n in graph.names)
    return int(np.prod(graph.outcomes, dtype=int)) - 1 - used


def _notes(pattern: graphs.CPDAG, stability: graphs.EdgeFrequencies, graph: graphs.Graph) -> list[str]:
    notes = []
    if pattern.undirected:
        pairs = ", ".join(f"{a} — {b}" for a, b in pattern.undirected)
        notes.append(
            f"The direction of {pairs} is not determined by observations: these edges are drawn without an arrowhead."
        )
    weak = [f"{a}, {b} ({stability.of((a, b)):.0%})" for a, b in graph.edges if stability.of((a, b)) < 0.8]
    if weak:
        notes.append(f"Searches on resampled rows do not always join: {'; '.join(weak)}.")
    notes.append("An arrow is causal only if no common cause of two nodes was left out.")
    return notes
