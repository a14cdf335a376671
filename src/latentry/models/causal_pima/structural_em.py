r"""Structural EM: the mixture, the map to its axes, and the graph of its nodes, from encoded rows (Friedman 1998).

The table A of the clusters factorises over a graph. Graphs are compared by the bound that each reaches after its own
updates, less ½ ln n for every free number of its tables: posterior probabilities of overlapping clusters are not
labels, and counting them as labels creates dependences that the nodes do not have.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from latentry.graphs import CPDAG, Counts, Graph, Knowledge, cpdag, find_cycle, search
from latentry.models.causal_pima.mixture_updates import Encoded, Gaussians, Shape, e_step, log_prior, m_step, moments

__all__ = ["Climbed", "Experiments", "Latent", "best_graph", "by_experiment", "climb", "complete_graph", "table_terms"]

Array = NDArray[np.float64]

TABLE_ROWS = 0.5  # pseudo-count of every cell of every conditional table
_GAIN = 1e-3  # nats by which a graph must be better to replace another


@dataclass(frozen=True, eq=False)
class Experiments:
    """What was set where; the last experiment is mere observation.

    Args:
        names: of the nodes.
        outcomes: of each node.
        free: (experiments, nodes), 0 where a node was set.
        blocked: (experiments, clusters), a very low log-probability where a cluster is excluded.
    """

    names: tuple[str, ...]
    outcomes: tuple[int, ...]
    free: Array
    blocked: Array

    def log_table(self, terms: Array) -> Array:
        """Return log-probabilities of the clusters in each experiment.

        Args:
            terms: Log P(node | parents), (nodes, clusters).

        Returns:
            (experiments, clusters).
        """
        table: Array = self.free @ terms + self.blocked
        return table

    @property
    def targets(self) -> list[tuple[str, ...]]:
        """Return the nodes that were set, for each experiment that set any."""
        held = [tuple(n for n, free in zip(self.names, row, strict=True) if not free) for row in self.free]
        return [names for names in held if names]

    def counts(self, per_experiment: Array) -> Counts:
        """Return expected counts for a search, with the nodes that were set.

        Args:
            per_experiment: (experiments, clusters).

        Returns:
            Counts by the nodes that were set.
        """
        tables = per_experiment.reshape(-1, *self.outcomes)
        observed = np.zeros(self.outcomes)
        others: dict[str | Sequence[str], Array] = {}
        for free, table in zip(self.free, tables, strict=True):
            held = tuple(name for name, is_free in zip(self.names, free, strict=True) if not is_free)
            if held:
                others[held] = others.get(held, np.zeros(self.outcomes)) + table
            else:
                observed = observed + table
        return Counts.from_table(observed, self.names, interventional=others)


@dataclass(frozen=True, eq=False)
class Latent:
    """All that the updates change: latents w = U(z − b), their Gaussians, the graph and its log-tables."""

    unmixing: Array
    centre: Array
    gaussians: Gaussians
    graph: Graph
    terms: Array  # (nodes, clusters)

    def encoded(self, rows: Encoded) -> Encoded:
        """Return rows in the latents, from rows in the networks' coordinates.

        Args:
            rows: As the encoder sees them.

        Returns:
            The same rows in the latents.
        """
        mean = (rows.mean - self.centre) @ self.unmixing.T
        return replace(rows, mean=mean, variance=rows.variance @ (self.unmixing**2).T)


@dataclass(frozen=True, eq=False)
class Climbed:
    """Where the updates led: the parameters, expected counts by experiment, and the bound's mixture part over all rows."""

    latent: Latent
    counts: Array  # (experiments, clusters)
    gamma: Array
    bound: float

    def score(self) -> float:
        """Return the bound less Schwarz's penalty for the tables."""
        return self.bound - 0.5 * math.log(len(self.gamma)) * free_numbers(self.latent.graph)


def complete_graph(names: tuple[str, ...], outcomes: tuple[int, ...], knowledge: Knowledge | None = None) -> Graph:
    """Return the graph with every edge that an order of the nodes allows: no independence is assumed.

    Args:
        names: of the nodes.
        outcomes: of each node.
        knowledge: what is known of the graph, if anything.

    Returns:
        The graph.
    """
    if knowledge is None:
        return Graph(names, tuple((a, b) for i, a in enumerate(names) for b in names[i + 1 :]), outcomes)
    edges = list(knowledge.required)
    order = Graph(names, knowledge.required, outcomes).order
    for i, a in enumerate(order):
        for b in order[i + 1 :]:
            joined = (a, b) in edges or (b, a) in edges
            options = [
                edge for edge in ((a, b), (b, a)) if knowledge.allowed[names.index(edge[0]), names.index(edge[1])]
            ]
            edges += [edge for edge in options if not joined and _acyclic({*edges, edge})][:1]
    return Graph(names, tuple(edges), outcomes)


def free_numbers(graph: Graph) -> int:
    """Count the free numbers in the tables of a graph."""
    sizes = dict(zip(graph.names, graph.outcomes, strict=True))
    return sum((sizes[n] - 1) * math.prod(sizes[p] for p in graph.parents(n)) for n in graph.names)


def table_terms(graph: Graph, counts: Array, free: Array, pseudo: float = TABLE_ROWS) -> Array:
    """Return log P(node | parents) for each node and configuration, from counts.

    Args:
        graph: over the nodes.
        counts: expected, (experiments, clusters).
        free: (experiments, nodes), 0 where a node was set.
        pseudo: pseudo-count of every cell of every conditional table.

    Returns:
        (nodes, clusters).
    """
    terms = []
    for node, name in enumerate(graph.names):
        table = (free[:, node] @ counts).reshape(graph.outcomes)
        kept = {node, *graph.axes(graph.parents(name))}
        away = tuple(axis for axis in range(table.ndim) if axis not in kept)
        heaps = table.sum(axis=away, keepdims=True) + pseudo
        conditional = heaps / heaps.sum(axis=node, keepdims=True)
        terms.append(np.log(np.maximum(np.broadcast_to(conditional, graph.outcomes), 1e-12)).reshape(-1))
    return np.stack(terms)


def climb(
    rows: Encoded,
    start: Latent,
    shape: Shape,
    experiments: Experiments,
    *,
    steps: int,
    unmix: bool = False,
    tables: bool = True,
    pseudo: float = 1.0,
) -> Climbed:
    """Take ``steps`` rounds of E-step and M-steps; with ``unmix`` the map U is updated too. No round lowers bound plus prior.

    Args:
        rows: in the networks' coordinates.
        start: where to begin.
        shape: of the mixture.
        experiments: which nodes were set where.
        steps: rounds.
        unmix: whether the map to the axes moves.
        tables: whether the tables move.
        pseudo: multiplies the pseudo-counts; 0 is maximum likelihood.

    Returns:
        Where the updates led.
    """
    latent = start
    for _ in range(steps):
        seen = latent.encoded(rows)
        gamma, _ = e_step(seen, latent.gaussians, experiments.log_table(latent.terms))
        terms = latent.terms
        if tables:
            counts = by_experiment(rows, gamma, experiments)
            terms = table_terms(latent.graph, counts, experiments.free, pseudo * TABLE_ROWS)
        if unmix:
            latent = _unmixed(rows, latent, gamma)
            seen = latent.encoded(rows)
        latent = replace(
            latent, gaussians=m_step(moments(seen, gamma), shape, latent.gaussians, pseudo=pseudo), terms=terms
        )
    seen = latent.encoded(rows)
    gamma, total = e_step(seen, latent.gaussians, experiments.log_table(latent.terms))
    volume = len(gamma) * float(np.linalg.slogdet(latent.unmixing)[1])
    return Climbed(latent, by_experiment(rows, gamma, experiments), gamma, float(total.sum()) + volume)


def prior_of(latent: Latent, shape: Shape, experiments: Experiments, *, pseudo: float = 1.0) -> float:
    """Return the log-prior of the parameters, up to a constant."""
    tables = 0.0
    for node, name in enumerate(latent.graph.names):
        kept = {node, *latent.graph.axes(latent.graph.parents(name))}
        cells = math.prod(experiments.outcomes[axis] for axis in kept)
        copies = latent.terms.shape[1] / cells
        tables += pseudo * TABLE_ROWS * float(latent.terms[node].sum()) / copies
    return log_prior(latent.gaussians, shape, pseudo=pseudo) + tables


def by_experiment(rows: Encoded, gamma: Array, experiments: Experiments) -> Array:
    """Return expected counts of the clusters in each experiment.

    Args:
        rows: as the encoder sees them.
        gamma: probabilities of the clusters, (rows, clusters).
        experiments: which nodes were set where.

    Returns:
        (experiments, clusters).
    """
    if rows.experiment is not None:
        return np.eye(len(experiments.free))[rows.experiment].T @ gamma
    counts = np.zeros((len(experiments.free), gamma.shape[1]))
    counts[-1] = gamma.sum(axis=0)
    return counts


def _unmixed(rows: Encoded, latent: Latent, gamma: Array) -> Latent:
    r"""The rows of U one by one, each at its exact optimum for fixed probabilities and Gaussians.

    For row u with cofactors a the bound is :math:`\ln|a^\top u| - \tfrac12 u^\top H u + g^\top u` plus a constant, so that
    :math:`u = H^{-1}(g + a/t)` with :math:`t^2 - t\,a^\top H^{-1} g - a^\top H^{-1} a = 0` (iterative projection; Ono 2011).
    """
    x, count = rows.mean - latent.centre, len(rows.mean)
    precision = np.diagonal(latent.gaussians.factors, axis1=1, axis2=2) ** 2  # (clusters, latents)
    pull = gamma @ precision
    target = gamma @ (precision * latent.gaussians.means)
    unmixing = latent.unmixing.copy()
    for j in range(len(unmixing)):
        matrix = (x * pull[:, j : j + 1]).T @ x / count + np.diag(pull[:, j] @ rows.variance) / count
        matrix += 1e-9 * np.trace(matrix) * np.eye(len(matrix))
        cofactor = np.linalg.inv(unmixing)[:, j]
        solved = np.linalg.solve(matrix, np.stack([x.T @ target[:, j] / count, cofactor], axis=1))
        unmixing[j] = _best_row(solved, cofactor, matrix, x.T @ target[:, j] / count)
    return replace(latent, unmixing=unmixing)


def _best_row(solved: np.ndarray, cofactor: np.ndarray, matrix: Array, pull: Array) -> Array:
    along, across = float(cofactor @ solved[:, 0]), float(cofactor @ solved[:, 1])
    root = math.sqrt(along**2 + 4 * across)
    options: list[Array] = [solved[:, 0] + solved[:, 1] / t for t in ((along + root) / 2, (along - root) / 2)]
    values = [math.log(abs(cofactor @ u)) - 0.5 * u @ matrix @ u + pull @ u for u in options]
    return options[int(np.argmax(values))]


def best_graph(
    rows: Encoded,
    present: Climbed,
    shape: Shape,
    experiments: Experiments,
    knowledge: Knowledge,
    *,
    steps: int = 8,
    unmix: bool = False,
) -> Climbed:
    """Go from the present graph to better ones, by the penalised bound, until no neighbour is better.

    Args:
        rows: in the networks' coordinates.
        present: the present parameters.
        shape: of the mixture.
        experiments: which nodes were set where.
        knowledge: what is known of the graph.
        steps: rounds of updates for each graph.
        unmix: whether the map to the axes moves.

    Returns:
        The best graph, with its parameters.
    """
    best = climb(rows, present.latent, shape, experiments, steps=steps, unmix=unmix)
    targets = experiments.targets
    tried = {cpdag(best.latent.graph, knowledge=knowledge, interventions=targets)}
    while True:
        offers: dict[CPDAG, Graph] = {}  # one graph of each class: equivalent ones reach the same bound
        for graph in _candidates(best, experiments, knowledge):
            offers.setdefault(cpdag(graph, knowledge=knowledge, interventions=targets), graph)
        fresh = [graph for kind, graph in offers.items() if kind not in tried]
        tried |= set(offers)
        reached = [_reached(rows, best, graph, shape, experiments, steps, unmix) for graph in fresh]
        best = climb(
            rows, best.latent, shape, experiments, steps=steps, unmix=unmix
        )  # as many rounds as its rivals had
        winner = max(reached, key=Climbed.score, default=best)
        if winner.score() <= best.score() + _GAIN:
            return best
        best = winner


def _reached(
    rows: Encoded, best: Climbed, graph: Graph, shape: Shape, experiments: Experiments, steps: int, unmix: bool
) -> Climbed:
    terms = table_terms(graph, best.counts, experiments.free)
    start = replace(best.latent, graph=graph, terms=terms)
    return climb(rows, start, shape, experiments, steps=steps, unmix=unmix)


def _candidates(best: Climbed, experiments: Experiments, knowledge: Knowledge) -> Iterator[Graph]:
    """The graph that expected counts speak for, and all that differ from the present one in one edge."""
    counts = experiments.counts(best.counts)
    yield search(counts, tiers=knowledge.tiers, required=knowledge.required, forbidden=knowledge.forbidden).graph
    graph = best.latent.graph
    edges = set(graph.edges)
    for a in graph.names:
        for b in graph.names:
            if a == b:
                continue
            changed = edges - {(a, b)} if (a, b) in edges else (edges - {(b, a)}) | {(a, b)}
            if knowledge.allows(tuple(changed)) and _acyclic(changed):
                yield Graph(graph.names, tuple(changed), graph.outcomes)


def _acyclic(edges: set[tuple[str, str]]) -> bool:
    return find_cycle(edges) is None
