r"""How the domain enters: flows on some latents, each as far as a learned mask lets it; or an embedding beside them all."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from latentry.nets.images.equalised_layers import drawn
from latentry.nets.sigmoidal import sigmoidal

__all__ = ["DomainEmbedding", "DomainFlow"]

_THRESHOLD = 0.1  # a latent whose mask lies below does not change with the domain
_START = 0.0137  # softplus of it and the least steepness make 1: the flow starts near the identity
_SPREAD = 1.0  # of the shifts at the start: domains must differ before the encodings learn to separate them
_PACE = 5.0  # flows learn this much faster than convolutions


class DomainFlow(eqx.Module):
    r"""The first latents, the style, become :math:`z_j = c_j + m_j\,(T_{uj}(c_j) - c_j)` of codes c.

    T is an increasing sigmoidal flow for each domain u and latent j, and 0 ≤ m ≤ 1 the mask: where it is below 0.1 it counts
    as 0, and the latent has the same distribution in all domains. So z is increasing in c, and what the domain changes is known
    latent by latent. The others pass as they are (after Xie et al., *Multi-domain image generation and translation with
    identifiability guarantees*, 2023, and Li et al., 2025; there the flow is added to c, and c and z are normalised over all
    latents, which lets the domain reach latents that the mask left out).

    >>> flow = DomainFlow(5, style=2, domains=3, key=jax.random.key(0))
    >>> z = flow(jnp.zeros((4, 5)), jnp.array([0, 1, 2, 0]))
    >>> z[:, 2:].tolist() == jnp.zeros((4, 3)).tolist(), bool((z[0] != z[1])[:2].all())
    (True, True)
    """

    table: Float[Array, "domains style layers 3 k"]
    importance: Float[Array, " style"]
    latents: int = eqx.field(static=True)
    masked: bool = eqx.field(static=True)

    def __init__(
        self,
        latents: int,
        *,
        style: int,
        domains: int,
        key: PRNGKeyArray,
        masked: bool = True,
        layers: int = 2,
        width: int = 8,
    ) -> None:
        table_key, shift_key = jax.random.split(key)
        table = 0.1 * drawn(table_key, domains, style, layers, 3, width) / _PACE
        shift = _SPREAD * drawn(shift_key, domains, style, 1, 1) / _PACE
        self.table = jnp.concatenate([table[..., :2, :], table[..., 2:, :] + shift[..., None]], -2)
        self.importance, self.latents, self.masked = jnp.ones(style), latents, masked

    @property
    def style(self) -> int:
        """Count the latents that may change."""
        return len(self.importance)

    @property
    def inputs(self) -> int:
        """Count the numbers that the mapping network gets."""
        return self.latents

    def mask(self) -> Float[Array, " style"]:
        """Return how far each style latent follows its flow, from 0 to 1."""
        if not self.masked:
            return jnp.ones_like(self.importance)
        kept = jnp.where(self.importance > _THRESHOLD, self.importance, 0.0)
        return jnp.minimum(kept, 1.0)

    def marked(self) -> Bool[Array, " style"]:
        """Return which style latents change with the domain."""
        return self.mask() > 0

    def still(self) -> Bool[Array, " n"]:
        """Return which of all latents have a single distribution in all domains."""
        return jnp.concatenate([~self.marked(), jnp.ones(self.latents - self.style, bool)])

    def __call__(self, codes: Float[Array, "rows n"], domain: Int[Array, " rows"]) -> Float[Array, "rows n"]:
        return self.with_derivatives(codes, domain)[0]

    def with_derivatives(
        self, codes: Float[Array, "rows n"], domain: Int[Array, " rows"]
    ) -> tuple[Float[Array, "rows n"], Float[Array, "rows n"]]:
        """Return latents, and their derivatives by the code of the same latent.

        Args:
            codes: Rows.
            domain: Of each row.

        Returns:
            Latents and derivatives.
        """
        style, rest = codes[:, : self.style], codes[:, self.style :]
        parameters = (_PACE * self.table + jnp.array([0.0, _START, 0.0])[:, None])[domain]
        moved, log_derivative = jax.vmap(jax.vmap(sigmoidal))(style, parameters)
        mask = self.mask()
        changed = style + mask * (moved - style)
        derivatives = 1 + mask * (jnp.exp(log_derivative) - 1)
        return jnp.concatenate([changed, rest], 1), jnp.concatenate([derivatives, jnp.ones_like(rest)], 1)

    def penalty(self) -> Float[Array, ""]:
        """Return the mean size of the mask."""
        return self.mask().mean() if self.masked else jnp.zeros(())


class DomainEmbedding(eqx.Module):
    """A learned vector for each domain beside the latents, which stay as they are.

    >>> DomainEmbedding(5, domains=3, key=jax.random.key(0))(jnp.zeros((4, 5)), jnp.array([0, 1, 2, 0])).shape
    (4, 13)
    """

    table: Float[Array, "domains e"]
    latents: int = eqx.field(static=True)

    def __init__(self, latents: int, *, domains: int, key: PRNGKeyArray, width: int = 8) -> None:
        self.table, self.latents = drawn(key, domains, width), latents

    @property
    def inputs(self) -> int:
        """Count the numbers that the mapping network gets."""
        return self.latents + self.table.shape[1]

    def __call__(self, codes: Float[Array, "rows n"], domain: Int[Array, " rows"]) -> Float[Array, "rows m"]:
        return jnp.concatenate([codes, self.table[domain]], 1)

    def with_derivatives(
        self, codes: Float[Array, "rows n"], domain: Int[Array, " rows"]
    ) -> tuple[Float[Array, "rows n"], Float[Array, "rows n"]]:
        """Return latents without the embedding, and derivatives of 1: nothing changes them.

        Args:
            codes: Rows.
            domain: Of each row.

        Returns:
            Latents and derivatives.
        """
        return codes, jnp.ones_like(codes)

    def still(self) -> Bool[Array, " n"]:
        """Return True for every latent."""
        return jnp.ones(self.latents, bool)

    def penalty(self) -> Float[Array, ""]:
        """Return 0: there is no mask."""
        return jnp.zeros(())
