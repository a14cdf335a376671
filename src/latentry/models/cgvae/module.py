"""The module of CGVAE: a flow or networks, with the weight of the penalty on their mixing."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray, Shaped

from latentry.contracts import GenerativeModule
from latentry.data import Batch
from latentry.models.domain_prior import Conditional, IdentifiableFlow
from latentry.training import Module

__all__ = ["SparseModule", "all_but_given", "weighted"]


class SparseModule(GenerativeModule):
    """A flow or networks; they carry the weight of the penalty, so that fits with other weights share compiled code."""

    inner: IdentifiableFlow | Conditional
    weight: Float[Array, ""]
    anchor: Float[Array, "latents columns"] | None = (
        None  # linear map (latents, columns) at which the coordinates of a table begin, where there is one
    )

    def encode(
        self, batch: Batch, key: PRNGKeyArray
    ) -> tuple[Float[Array, "rows latents"], Float[Array, "rows latents"]]:
        """Return mean and standard deviation of each latent.

        Args:
            batch: Standardised rows.
            key: Of random numbers.

        Returns:
            Two arrays (rows, latents).
        """
        return self.inner.encode(batch, key)

    def log_evidence(self, batch: Batch, key: PRNGKeyArray) -> Float[Array, " rows"]:
        """Return the log likelihood of each row given its domain, or a bound.

        Args:
            batch: Standardised rows.
            key: Of random numbers.

        Returns:
            One number a row.
        """
        return self.inner.log_evidence(batch, key)

    def generate(self, key: PRNGKeyArray, count: int) -> dict[str, Float[Array, "rows ..."]]:
        """Draw rows of domains that occur as often as they did in the data.

        Args:
            key: Of random numbers.
            count: How many.

        Returns:
            By modality.
        """
        return self.inner.generate(key, count)

    def generate_at(self, u: Shaped[Array, "rows ..."], key: PRNGKeyArray) -> dict[str, Float[Array, "rows ..."]]:
        """Draw rows of these domains.

        Args:
            u: The domain of each row: codes, or columns of a continuous u.
            key: Of random numbers.

        Returns:
            By modality.
        """
        return self.inner.generate_at(u, key)

    def decode(self, latents: Float[Array, "rows latents"]) -> dict[str, Float[Array, "rows ..."]]:
        """Return the expected values of every modality given the latents.

        Args:
            latents: (rows, latents).

        Returns:
            By modality.
        """
        return self.inner.decode(latents)

    def reconstruct(self, batch: Batch) -> dict[str, Float[Array, "rows ..."]]:
        """Return the expected values of every modality at the posterior means.

        Args:
            batch: Standardised rows.

        Returns:
            By modality.
        """
        return self.inner.reconstruct(batch)


def weighted(inner: IdentifiableFlow | Conditional, weight: float, anchor: np.ndarray | None = None) -> SparseModule:
    """Return the module with the weight λ of the sparsity term, and what its coordinates begin at.

    Args:
        inner: A flow, or networks.
        weight: λ.
        anchor: Linear map (latents, columns), if there is one.

    Returns:
        The module of CGVAE.
    """
    given = None if anchor is None else jnp.asarray(anchor, jnp.float32)
    return SparseModule(inner, jnp.asarray(weight, jnp.float32), given)


def all_but_given(module: SparseModule) -> Module:
    """Train everything but the domains as they occurred, the weight of the penalty, and the anchor.

    Args:
        module: Of CGVAE.

    Returns:
        The same tree of booleans.
    """
    every = jax.tree.map(eqx.is_inexact_array, module)
    if module.anchor is not None:
        every = eqx.tree_at(lambda tree: tree.anchor, every, replace=False)
    return eqx.tree_at(lambda tree: (tree.inner.seen, tree.weight), every, replace=(False, False))
