"""Graphs that gradients can move: edges as the weighted gradient of a potential on the nodes.

Equations 6 to 8 of causalPIMA (Walker et al. 2023, arXiv 2310.18471): with node potentials ξ, edge weights
B_ij = B_ji ≥ 0 and a temperature β > 0,

    E_ij = ReLU(tanh(B_ij (ξ_j − ξ_i) / β)),      i → j in the limit β → 0  ⟺  B_ij ≠ 0 and ξ_i < ξ_j.

E_ij > 0 needs ξ_i < ξ_j, so that the support of E is acyclic at every temperature, ties included; every graph is
reached by a topological order in ξ and zeros in B. E_ij is a bound on how much j can depend on i; it is not the
probability of an edge.

softplus keeps B above zero, and then β → 0 always ends in a complete graph. The gates here are hard-concrete
(Louizos, Welling and Kingma 2018, arXiv 1712.01312): exactly zero or one with positive probability, with a gradient.

Everything below is a pure function of pytrees, fit for jit, grad and vmap.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from latentry.errors import DataError
from latentry.graphs.graph import Graph
from latentry.graphs.knowledge import Knowledge
from latentry.graphs.names import as_names

__all__ = [
    "Hodge",
    "annealed",
    "edge_matrix",
    "edge_weights",
    "expected_edges",
    "hodge_graph",
    "hodge_init",
    "hodge_of",
]

_LOW, _HIGH, _GATE_TEMPERATURE = -0.1, 1.1, 2.0 / 3.0  # the stretch and temperature of the hard-concrete paper
_SHUT, _OPEN = -6.0, 6.0  # gate logits that round to exactly 0 and 1


class Hodge(NamedTuple):
    """Trainable parameters of a graph over L nodes: a pytree.

    Args:
        potentials: ξ, (L,).
        weights: One number per pair of nodes (i < j, row by row), (L(L−1)/2,); B = gate · softplus(weight).
        gates: Logits of the hard-concrete gates, one per pair; None leaves all gates open (the paper's B > 0).
    """

    potentials: jax.Array
    weights: jax.Array
    gates: jax.Array | None = None


def hodge_init(nodes: int, key: jax.Array, *, sparse: bool = True, spread: float = 0.5) -> Hodge:
    """Draw potentials of the given spread, weights near one, and gates (if sparse) as likely open as shut.

    Cost: quadratic in the nodes.

    >>> hodge_init(3, jax.random.key(0)).weights.shape
    (3,)

    Args:
        nodes: Their number L.
        key: Of the random numbers.
        sparse: Whether there are gates.
        spread: Standard deviation of the potentials.

    Returns:
        The parameters.
    """
    pairs = nodes * (nodes - 1) // 2
    potential_key, weight_key = jax.random.split(key)
    weights = 0.5413 + 0.01 * jax.random.normal(weight_key, (pairs,))  # softplus(0.5413) = 1
    return Hodge(spread * jax.random.normal(potential_key, (nodes,)), weights, jnp.zeros(pairs) if sparse else None)


def edge_weights(hodge: Hodge, key: jax.Array | None = None) -> jax.Array:
    """Compute B, symmetric with a zero diagonal; with a key the gates are sampled, without it they take their mode.

    Cost: quadratic in the nodes.

    >>> B = edge_weights(Hodge(jnp.zeros(2), jnp.ones(1), jnp.array([-6.0])))
    >>> B.tolist()
    [[0.0, 0.0], [0.0, 0.0]]

    Args:
        hodge: The parameters.
        key: Of the gates.

    Returns:
        B, (L, L) ≥ 0.
    """
    strength = jax.nn.softplus(hodge.weights)
    if hodge.gates is not None:
        strength = strength * _gate(hodge.gates, key)
    nodes = hodge.potentials.shape[0]
    upper = jnp.zeros((nodes, nodes), strength.dtype).at[np.triu_indices(nodes, 1)].set(strength)
    return upper + upper.T


def _gate(logits: jax.Array, key: jax.Array | None) -> jax.Array:
    noise: jax.Array | float = 0.0
    sharpness = 1.0
    if key is not None:
        noise = jax.random.logistic(key, logits.shape, logits.dtype)
        sharpness = _GATE_TEMPERATURE
    soft = jax.nn.sigmoid((logits + noise) / sharpness)
    return jnp.clip(_LOW + (_HIGH - _LOW) * soft, 0.0, 1.0)


def expected_edges(hodge: Hodge) -> jax.Array:
    """Compute the expected number of open gates, Σ P(gate ≠ 0): a differentiable penalty for sparsity.

    Cost: quadratic in the nodes.

    >>> float(expected_edges(Hodge(jnp.zeros(3), jnp.ones(3))))  # without gates, all pairs
    3.0

    Args:
        hodge: The parameters.

    Returns:
        A scalar between 0 and L(L−1)/2.
    """
    if hodge.gates is None:
        return jnp.asarray(float(hodge.weights.shape[0]))
    return jax.nn.sigmoid(hodge.gates - _GATE_TEMPERATURE * jnp.log(-_LOW / _HIGH)).sum()


def edge_matrix(
    hodge: Hodge,
    temperature: jax.Array | float,
    *,
    key: jax.Array | None = None,
    noise: jax.Array | float = 0.0,
    knowledge: Knowledge | None = None,
) -> jax.Array:
    """Compute the relaxed edges E_ij = ReLU(tanh(B_ij (ξ_j − ξ_i) / β)).

    Its support is acyclic whatever the parameters. Cost O(L²).

    >>> E = edge_matrix(Hodge(jnp.array([0.0, 1.0]), jnp.array([2.0])), temperature=0.1)
    >>> E.round(3).tolist()
    [[0.0, 1.0], [0.0, 0.0]]

    Args:
        hodge: The parameters.
        temperature: β; see `annealed`.
        key: Randomness of the gates and of the noise; None for neither.
        noise: Standard deviation of Gaussian noise added to ξ, to leave local minima and to try orientations.
        knowledge: Forbidden directions become exact zeros; the potential of a required child is lifted above
            its required parents by at least β, and the gate of a required edge stays open.

    Returns:
        E, (L, L) in [0, 1).
    """
    gate_key, noise_key = (None, None) if key is None else jax.random.split(key)
    potentials = hodge.potentials
    if noise_key is not None:
        potentials = potentials + noise * jax.random.normal(noise_key, potentials.shape, potentials.dtype)
    weights = edge_weights(hodge, gate_key)
    if knowledge is not None and knowledge.required:
        potentials = _lifted(potentials, knowledge, temperature)
        weights = jnp.where(_required(knowledge), edge_weights(hodge._replace(gates=None)), weights)
    gradient = potentials[None, :] - potentials[:, None]
    edges = jax.nn.relu(jnp.tanh(weights * gradient / temperature))
    return edges if knowledge is None else edges * knowledge.allowed


def _lifted(potentials: jax.Array, knowledge: Knowledge, gap: jax.Array | float) -> jax.Array:
    """Potentials in which every required edge points upwards."""
    order = Graph(knowledge.names, knowledge.required)
    for child in order.order:
        for parent in order.axes(order.parents(child)):
            at = knowledge.names.index(child)
            potentials = potentials.at[at].set(jnp.maximum(potentials[at], potentials[parent] + gap))
    return potentials


def _required(knowledge: Knowledge) -> np.ndarray:
    matrix = Graph(knowledge.names, knowledge.required).adjacency
    return matrix | matrix.T


def annealed(step: jax.Array | float, steps: int, start: float = 1.0, stop: float = 0.1, every: int = 1) -> jax.Array:
    """Evaluate a geometric schedule from start to stop.

    It is constant within each stretch of `every` steps, and after the end.
    For the temperature β, and for the noise on ξ.

    Cost: constant.

    >>> [round(float(annealed(s, 100)), 3) for s in (0, 50, 100, 200)]
    [1.0, 0.316, 0.1, 0.1]

    Args:
        step: Where in the schedule, from 0.
        steps: Its length.
        start: Value at the start, above zero.
        stop: Value at the end, above zero.
        every: Length of a stretch.

    Returns:
        A scalar.

    Raises:
        DataError: If a number is not above zero.
    """
    if steps < 1 or every < 1 or not (start > 0 and stop > 0):
        raise DataError(f"steps={steps}, start={start}, stop={stop}, every={every}: must all be above zero.")
    fraction = jnp.clip(jnp.floor(jnp.asarray(step) / every) * every / steps, 0.0, 1.0)
    return start * (stop / start) ** fraction


def hodge_of(graph: Graph) -> Hodge:
    """Choose parameters that stand for a graph: its topological order in ξ, open gates on its edges and no others.

    Cost: quadratic in the nodes.

    >>> hodge_graph(hodge_of(Graph(3, [("N3", "N1")])))
    Graph(N3 → N1, N2)

    Args:
        graph: Any graph.

    Returns:
        The parameters.
    """
    place = {name: float(i) for i, name in enumerate(graph.order)}
    joined = graph.adjacency | graph.adjacency.T
    pairs = joined[np.triu_indices(len(graph.names), 1)]
    parts = ([place[n] for n in graph.names], np.full(len(pairs), 0.5413), np.where(pairs, _OPEN, _SHUT))
    return Hodge(*(jnp.asarray(part, float) for part in parts))


def hodge_graph(
    hodge: Hodge,
    names: Sequence[str] | None = None,
    outcomes: int | Sequence[int] = 2,
    *,
    temperature: float | None = None,
    threshold: float = 0.5,
    knowledge: Knowledge | None = None,
) -> Graph:
    """Read off the graph that the parameters stand for.

    Without a temperature, the limit β → 0: an edge wherever the gate is not shut. With one, an edge wherever
    E_ij > threshold at that temperature, which is how the paper's dense B is read.

    Cost: quadratic in the nodes.

    Args:
        hodge: The parameters.
        names: Of the nodes; N1, N2, ... by default.
        outcomes: Number of outcomes of each node, or one number for all.
        temperature: β, or None for its limit 0.
        threshold: Smallest E_ij of an edge, with a temperature.
        knowledge: As in `edge_matrix`.

    Returns:
        The graph, without tables.
    """
    known = as_names(names, hodge.potentials.shape[0])
    relaxed = edge_matrix(hodge, 1.0 if temperature is None else temperature, knowledge=knowledge)
    matrix = np.asarray(relaxed) > (0.0 if temperature is None else threshold)
    return Graph.from_adjacency(matrix, known, outcomes)
