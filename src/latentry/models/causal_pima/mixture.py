r"""A mixture of Gaussians whose clusters are the configurations of a graph's nodes.

:math:`p(z) = \sum_c A_c\,N(U(z - b);\, m_c, P_c^{-1})\,|\det U|`, where A is the joint table of the nodes. U unmixes the
networks' own coordinates: in the latents :math:`w = U(z - b)` one node moves one axis, if the means say so.
"""

from __future__ import annotations

import math
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from latentry.graphs import Hodge, Knowledge, downselect, edge_matrix, normalised_tensors

__all__ = ["BLOCKED", "HodgeTable", "Mixture", "Table", "solve_rows", "standard_mixture"]

BLOCKED = -1e4  # log-probability of a configuration that an intervention excludes: finite, so that gradients are
_FLOOR = 1e-8


class Table(eqx.Module):
    r"""Log-probabilities of every configuration of the nodes in every experiment.

    ``terms`` holds :math:`\log P(N_\ell \mid \text{parents})` for each node and configuration. In an experiment that
    set a node its term is left out, and configurations with another value of it are blocked (Pearl's truncated
    product).
    """

    terms: jax.Array  # (nodes, clusters)
    adjacency: jax.Array  # (nodes, nodes), 1 where the row is a parent of the column
    free: jax.Array  # (experiments, nodes), 0 where the node was set
    blocked: jax.Array  # (experiments, clusters), 0 or BLOCKED

    def log_table(self, key: jax.Array | None = None) -> jax.Array:
        """(experiments, clusters)."""
        return self.free @ self.terms + self.blocked


class HodgeTable(eqx.Module):
    """The same from parameters that gradients move (Equations 6 to 13 of causalPIMA)."""

    hodge: Hodge
    logits: tuple[jax.Array, ...]  # one (C_1, ..., C_L) tensor per node
    temperature: jax.Array
    noise: jax.Array  # on the potentials, while training
    free: jax.Array
    blocked: jax.Array
    knowledge: Knowledge | None = eqx.field(static=True, default=None)

    def edges(self, key: jax.Array | None = None) -> jax.Array:
        """Relaxed edges, (nodes, nodes)."""
        return edge_matrix(self.hodge, self.temperature, key=key, noise=self.noise, knowledge=self.knowledge)

    def terms(self, key: jax.Array | None = None) -> jax.Array:
        """(nodes, clusters); with a key, of noisy potentials and sampled gates."""
        edges, terms = self.edges(key), []
        for node, tensor in enumerate(normalised_tensors(self.logits)):
            chosen = downselect(tensor, node, edges[:, node])
            terms.append(jnp.log((1 - _FLOOR) * chosen + _FLOOR / tensor.shape[node]).reshape(-1))
        return jnp.stack(terms)

    def log_table(self, key: jax.Array | None = None) -> jax.Array:
        """(experiments, clusters)."""
        return self.free @ self.terms(key) + self.blocked


class Mixture(eqx.Module):
    """Gaussians in the latents, one per configuration of the nodes."""

    means: jax.Array  # (clusters, latents)
    factors: jax.Array  # (clusters, latents, latents): F with precision F'F, diagonal or upper triangular
    unmixing: jax.Array  # (latents, latents): U
    centre: jax.Array  # (latents,): b

    def latents(self, mean: jax.Array, scale: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Mean and standard deviation of each latent, from those of the coordinates."""
        return (mean - self.centre) @ self.unmixing.T, jnp.sqrt(scale**2 @ (self.unmixing**2).T)

    def coordinates(self, latents: jax.Array) -> jax.Array:
        """The inverse, without noise."""
        return jnp.linalg.solve(self.unmixing, latents.T).T + self.centre

    def expected_log_density(self, mean: jax.Array, scale: jax.Array) -> jax.Array:
        r""":math:`E_q \log p(z \mid c)` for :math:`q = N(\text{mean}, \text{scale}^2)`, (rows, clusters).

        Lemma E.2 of causalPIMA: minus half of :math:`J\log 2\pi - \log\det P + \|F(\mu - m)\|^2 + \mathrm{tr}(P S)`.
        """
        shifted = (mean - self.centre) @ self.unmixing.T
        away = jnp.einsum("kij,rkj->rki", self.factors, shifted[:, None] - self.means)
        spread = scale**2 @ ((self.factors @ self.unmixing) ** 2).sum(axis=1).T
        log_det = jnp.log(jnp.diagonal(self.factors, axis1=1, axis2=2)).sum(axis=1)
        volume = jnp.linalg.slogdet(self.unmixing)[1] - 0.5 * mean.shape[1] * math.log(2 * math.pi)
        return volume + log_det - 0.5 * ((away**2).sum(axis=2) + spread)

    def draw(self, clusters: jax.Array, key: jax.Array) -> jax.Array:
        """Latents of rows with these clusters."""
        noise = jax.random.normal(key, (len(clusters), self.means.shape[1]))
        return self.means[clusters] + solve_rows(self.factors[clusters], noise)


def solve_rows(factors: jax.Array, vectors: jax.Array) -> jax.Array:
    """Row by row, F⁻¹ v."""
    return jnp.linalg.solve(factors, vectors[..., None])[..., 0]


def standard_mixture(clusters: int, latents: int) -> Mixture:
    """All clusters standard normal: the prior of a plain variational autoencoder.

    >>> mixture = standard_mixture(4, 2)
    >>> found = mixture.expected_log_density(jnp.zeros((1, 2)), jnp.ones((1, 2)))  # -log 2 pi - 1
    >>> found.round(3).tolist()
    [[-2.838..., -2.838..., -2.838..., -2.838...]]
    """
    eye: Any = np.eye(latents, dtype=np.float32)
    return Mixture(
        jnp.zeros((clusters, latents)),
        jnp.asarray(np.tile(eye, (clusters, 1, 1))),
        jnp.asarray(eye),
        jnp.zeros(latents),
    )
