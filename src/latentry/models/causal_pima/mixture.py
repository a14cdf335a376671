r"""A mixture of Gaussians whose clusters are the configurations of a graph's nodes.

:math:`p(z) = \sum_c A_c\,N(U(z - b);\, m_c, P_c^{-1})\,|\det U|`, where A is the joint table of the nodes. U unmixes the
networks' own coordinates: in the latents :math:`w = U(z - b)` one node moves one axis, if the means say so.
"""

from __future__ import annotations

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

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

    terms: Float[Array, "nodes clusters"]
    adjacency: Float[Array, "nodes nodes"]  # 1 where the row is a parent of the column
    free: Float[Array, "experiments nodes"]  # 0 where the node was set
    blocked: Float[Array, "experiments clusters"]  # 0 or BLOCKED

    def log_table(self, key: PRNGKeyArray | None = None) -> Float[Array, "experiments clusters"]:
        """Return the log-probabilities of the clusters in each experiment.

        Args:
            key: Not used.

        Returns:
            (experiments, clusters).
        """
        table: Array = self.free @ self.terms + self.blocked
        return table


class HodgeTable(eqx.Module):
    """The same from parameters that gradients move (Equations 6 to 13 of causalPIMA)."""

    hodge: Hodge
    logits: tuple[Float[Array, "..."], ...]  # one (C_1, ..., C_L) tensor per node
    temperature: Float[Array, ""]
    noise: Float[Array, ""]  # on the potentials, while training
    free: Float[Array, "experiments nodes"]
    blocked: Float[Array, "experiments clusters"]
    knowledge: Knowledge | None = eqx.field(static=True, default=None)

    def edges(self, key: PRNGKeyArray | None = None) -> Float[Array, "nodes nodes"]:
        """Return relaxed edges, (nodes, nodes).

        Args:
            key: Of noise on the potentials; None for none.

        Returns:
            Between 0 and 1.
        """
        return edge_matrix(self.hodge, self.temperature, key=key, noise=self.noise, knowledge=self.knowledge)

    def terms(self, key: PRNGKeyArray | None = None) -> Float[Array, "nodes clusters"]:
        """Return log P(node | parents) for each node and configuration; with a key, of noisy potentials and sampled gates.

        Args:
            key: Of that noise; None for none.

        Returns:
            (nodes, clusters).
        """
        edges, terms = self.edges(key), []
        for node, tensor in enumerate(normalised_tensors(self.logits)):
            chosen = downselect(tensor, node, edges[:, node])
            terms.append(jnp.log((1 - _FLOOR) * chosen + _FLOOR / tensor.shape[node]).reshape(-1))
        return jnp.stack(terms)

    def log_table(self, key: PRNGKeyArray | None = None) -> Float[Array, "experiments clusters"]:
        """Return the log-probabilities of the clusters in each experiment.

        Args:
            key: Of noise on the potentials; None for none.

        Returns:
            (experiments, clusters).
        """
        table: Array = self.free @ self.terms(key) + self.blocked
        return table


class Mixture(eqx.Module):
    """Gaussians in the latents, one per configuration of the nodes."""

    means: Float[Array, "clusters latents"]
    factors: Float[Array, "clusters latents latents"]  # F with precision F'F, diagonal or upper triangular
    unmixing: Float[Array, "latents latents"]  # U
    centre: Float[Array, " latents"]  # b

    def latents(
        self, mean: Float[Array, "rows latents"], scale: Float[Array, "rows latents"]
    ) -> tuple[Float[Array, "rows latents"], Float[Array, "rows latents"]]:
        """Return mean and standard deviation of each latent, from those of the coordinates.

        Args:
            mean: Of each coordinate, (rows, latents).
            scale: Its standard deviation, (rows, latents).

        Returns:
            The same of the latents.
        """
        return (mean - self.centre) @ self.unmixing.T, jnp.sqrt(scale**2 @ (self.unmixing**2).T)

    def coordinates(self, latents: Float[Array, "rows latents"]) -> Float[Array, "rows latents"]:
        """Return the coordinates of latents, without noise.

        Args:
            latents: (rows, latents).

        Returns:
            Of the networks, (rows, latents).
        """
        solved: Array = jnp.linalg.solve(self.unmixing, latents.T).T
        return solved + self.centre

    def expected_log_density(
        self, mean: Float[Array, "rows latents"], scale: Float[Array, "rows latents"]
    ) -> Float[Array, "rows clusters"]:
        r"""Return :math:`E_q \log p(z \mid c)` for :math:`q = N(\text{mean}, \text{scale}^2)`, (rows, clusters).

        Lemma E.2 of causalPIMA: minus half of :math:`J\log 2\pi - \log\det P + \|F(\mu - m)\|^2 + \mathrm{tr}(P S)`.

        Args:
            mean: Of each coordinate, (rows, latents).
            scale: Its standard deviation, (rows, latents).

        Returns:
            (rows, clusters).
        """
        shifted = (mean - self.centre) @ self.unmixing.T
        away = jnp.einsum("kij,rkj->rki", self.factors, shifted[:, None] - self.means)
        spread = scale**2 @ ((self.factors @ self.unmixing) ** 2).sum(axis=1).T
        log_det = jnp.log(jnp.diagonal(self.factors, axis1=1, axis2=2)).sum(axis=1)
        volume = jnp.linalg.slogdet(self.unmixing)[1] - 0.5 * mean.shape[1] * math.log(2 * math.pi)
        density: Array = volume + log_det - 0.5 * ((away**2).sum(axis=2) + spread)
        return density

    def draw(self, clusters: Int[Array, " rows"], key: PRNGKeyArray) -> Float[Array, "rows latents"]:
        """Draw latents of rows with these clusters.

        Args:
            clusters: One a row.
            key: Of random numbers.

        Returns:
            (rows, latents).
        """
        noise = jax.random.normal(key, (len(clusters), self.means.shape[1]))
        return self.means[clusters] + solve_rows(self.factors[clusters], noise)


def solve_rows(factors: Float[Array, "rows n n"], vectors: Float[Array, "rows n"]) -> Float[Array, "rows n"]:
    """Return F⁻¹ v, row by row.

    Args:
        factors: F of each row.
        vectors: v of each row.

    Returns:
        One vector a row.
    """
    solved: Array = jnp.linalg.solve(factors, vectors[..., None])
    return solved[..., 0]


def standard_mixture(clusters: int, latents: int) -> Mixture:
    """Return a mixture whose clusters are all standard normal: the prior of a plain variational autoencoder.

    Args:
        clusters: How many.
        latents: How many.

    Returns:
        The mixture.

    >>> mixture = standard_mixture(4, 2)
    >>> density = mixture.expected_log_density(jnp.zeros((1, 2)), jnp.ones((1, 2)))  # -log 2 pi - 1
    >>> density.round(3).tolist()
    [[-2.838..., -2.838..., -2.838..., -2.838...]]
    """
    eye = np.eye(latents, dtype=np.float32)
    return Mixture(
        jnp.zeros((clusters, latents)),
        jnp.asarray(np.tile(eye, (clusters, 1, 1))),
        jnp.asarray(eye),
        jnp.zeros(latents),
    )
