"""The joint table of all nodes from relaxed edges, without sorting the nodes: in JAX, with gradients.

For every node ℓ a tensor W^ℓ of shape (C_1, ..., C_L) holds P(N_ℓ | all others), summing to one over axis ℓ. A node
k that is no parent is averaged out, a relaxed one in part (Equations 9 to 13 of causalPIMA, arXiv 2310.18471, read
as nested sums of a product over k ≠ ℓ):

    W^ℓ ← E_kℓ W^ℓ + (1 − E_kℓ) mean_k W^ℓ   for every k ≠ ℓ,        A = ∏_ℓ W^ℓ.

Algorithm 1 of the paper does this after sorting the nodes by ξ (and prints E_ℓk for E_kℓ). No sort is needed: the
averages commute, and E_kℓ = 0 for every k that does not come before ℓ. Hence A sums to one whenever the support of E
is acyclic, as it always is for `edge_matrix`.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np

from latentry.errors import DataError
from latentry.graphs.graph import Graph, need_cpts
from latentry.graphs.names import table_cells

__all__ = ["cpt_tensors", "downselect", "log_joint", "normalised_tensors"]


def normalised_tensors(logits: Sequence[jax.Array]) -> list[jax.Array]:
    """Compute W^ℓ, the softmax of the ℓ-th logits over axis ℓ.

    Cost: linear in the cells of all nodes together, the product of their outcomes.

    >>> [W.sum(axis=l).tolist() for l, W in enumerate(normalised_tensors([jnp.zeros((2, 3))] * 2))]
    [[1.0, 1.0, 1.0], [1.0, 1.0]]

    Args:
        logits: L arrays (C_1, ..., C_L).

    Returns:
        L arrays of the same shape.
    """
    return [jax.nn.softmax(each, axis=node) for node, each in enumerate(logits)]


def downselect(tensor: jax.Array, node: int, incoming: jax.Array) -> jax.Array:
    """Compute P(N_node | relaxed parents): average over axis k to the degree 1 − incoming[k], for every k ≠ node.

    Cost: linear in the cells of all nodes together, the product of their outcomes.

    Args:
        tensor: P(N_node | all others), (C_1, ..., C_L).
        node: Its axis.
        incoming: (L,) relaxed edges into the node, in [0, 1].

    Returns:
        An array of the same shape.
    """
    for k in range(tensor.ndim):
        if k != node:
            mean = tensor.mean(axis=k, keepdims=True)
            tensor = mean + incoming[k] * (tensor - mean)
    return tensor


def log_joint(tensors: Sequence[jax.Array], edges: jax.Array, floor: float = 1e-8) -> jax.Array:
    """Compute the log-probabilities log A of all configurations.

    exp(log A) sums to one for every E whose support is acyclic. Cost O(L² ∏ C) time and O(L ∏ C) memory: 729 cells
    for six nodes of three outcomes, but a million for twenty nodes of two.

    >>> W = [jnp.array([[0.3, 0.3], [0.7, 0.7]]), jnp.array([[0.9, 0.1], [0.2, 0.8]])]
    >>> jnp.exp(log_joint(W, jnp.array([[0.0, 1.0], [0.0, 0.0]]))).round(3).tolist()
    [[0.27..., 0.03...], [0.14..., 0.56...]]
    >>> jnp.exp(log_joint(W, jnp.zeros((2, 2)))).round(3).tolist()  # no edge: N2 is averaged over N1
    [[0.165..., 0.135...], [0.385..., 0.315...]]

    Args:
        tensors: W^1, ..., W^L, each of the full shape and summing to one over its own axis.
        edges: E, (L, L) in [0, 1].
        floor: Fraction of the uniform distribution mixed into every conditional, so that no logarithm is infinite; the
            sum stays one.

    Returns:
        log A, (C_1, ..., C_L).

    Raises:
        DataError: If shapes do not fit.
    """
    _check_shapes(tensors, edges)
    total = jnp.zeros(())
    for node, tensor in enumerate(tensors):
        chosen = downselect(tensor, node, edges[:, node])
        total = total + jnp.log((1.0 - floor) * chosen + floor / tensor.shape[node])
    return total


def _check_shapes(tensors: Sequence[jax.Array], edges: jax.Array) -> None:
    count = len(tensors)
    if edges.shape != (count, count):
        raise DataError(f"edges: has shape {edges.shape}; {count} tensors need edges of shape {(count, count)}.")
    for node, tensor in enumerate(tensors):
        if tensor.shape != tensors[0].shape or tensor.ndim != count:
            raise DataError(
                f"tensors[{node}]: has shape {tensor.shape}. {count} nodes need {count} axes, the same in all tensors."
            )


def cpt_tensors(graph: Graph) -> list[np.ndarray]:
    """Expand the graph's own tables to tensors W^1, ..., W^L, constant along the axes of nodes that are no parents.

    Cost: linear in the cells of all nodes together, the product of their outcomes.

    >>> g = Graph(2, [("N1", "N2")], cpts={"N1": [0.3, 0.7], "N2": [[0.9, 0.1], [0.2, 0.8]]})
    >>> [W.tolist() for W in cpt_tensors(g)]
    [[[0.3, 0.3], [0.7, 0.7]], [[0.9, 0.1], [0.2, 0.8]]]

    Args:
        graph: With tables.

    Returns:
        L arrays (C_1, ..., C_L).

    Raises:
        DataError: If there are no tables, or they would be too large.
    """
    table_cells(graph.outcomes, "cpt_tensors")
    return [spread(graph, name) for name in graph.names]


def spread(graph: Graph, name: str) -> np.ndarray:
    """Broadcast the table of one node over all nodes' axes, without copying."""
    axes = graph.axes((*graph.parents(name), name))
    ordered = np.transpose(need_cpts(graph)[name], np.argsort(axes))
    shape = [count if axis in axes else 1 for axis, count in enumerate(graph.outcomes)]
    return np.broadcast_to(ordered.reshape(shape), graph.outcomes)
