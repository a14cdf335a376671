"""On which modalities each node of a fitted causalPIMA acts."""

from __future__ import annotations

from collections.abc import Sequence

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from latentry.models.causal_pima.module import Pima

__all__ = ["modalities_by_effect", "node_effects"]

_OTHER_SIZE = 1e6  # cost of a node with another number of outcomes


def node_effects(module: Pima, outcomes: Sequence[int]) -> dict[str, NDArray[np.float64]]:
    """Return for each modality which fraction of the variance between clusters each node explains by itself.

    Rows are decoded at the means of the clusters, and every cluster counts the same.

    Args:
        module: Trained.
        outcomes: Of each node.

    Returns:
        By modality, a fraction for each node.
    """
    return {name: _main_effects(np.asarray(rows, np.float64), outcomes) for name, rows in _typical(module).items()}


@eqx.filter_jit
def _typical(module: Pima) -> dict[str, Float[Array, "clusters ..."]]:
    """Decoded rows at the means of the clusters."""
    means = module.mixture.means
    decoded: dict[str, Float[Array, "clusters ..."]] = module.decoded(
        module.mixture.coordinates(means), jnp.eye(len(means))
    )
    return decoded


def _main_effects(rows: NDArray[np.float64], outcomes: Sequence[int]) -> NDArray[np.float64]:
    table = rows.reshape(*outcomes, -1)
    nodes = range(len(outcomes))
    table = table - table.mean(axis=tuple(nodes))
    own = [(table.mean(axis=tuple(j for j in nodes if j != i)) ** 2).sum(axis=-1).mean() for i in nodes]
    return np.array(own) / max(float((table**2).sum(axis=-1).mean()), 1e-300)


def modalities_by_effect(
    effects: dict[str, NDArray[np.float64]], outcomes: Sequence[int], counted: Sequence[tuple[str, ...]]
) -> list[int]:
    """Match the nodes of a fit with counted ones: nodes with as many outcomes are in any order after a fit.

    Args:
        effects: As :func:`node_effects` gives them.
        outcomes: Of each node.
        counted: For each counted node, the modalities on which it acts.

    Returns:
        For each node of the fit, the number of the counted one.

    >>> effects = {"image": np.array([0.05, 0.9]), "curve": np.array([0.6, 0.3])}
    >>> modalities_by_effect(effects, (2, 2), [("image", "curve"), ("curve",)])
    [1, 0]
    """
    cost = np.full((len(outcomes),) * 2, _OTHER_SIZE)
    for i, size in enumerate(outcomes):
        for j, acted in enumerate(counted):
            if outcomes[j] == size:
                cost[i, j] = -sum(part[i] if name in acted else -part[i] for name, part in effects.items())
    matched: list[int] = linear_sum_assignment(cost)[1].tolist()
    return matched
