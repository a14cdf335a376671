"""The module of CGVAE: a flow or networks, with the weight of the penalty on their mixing."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from latentry.contracts import GenerativeModule
from latentry.data import Batch
from latentry.models.domain_prior import Conditional, IdentifiableFlow

__all__ = ["SparseModule", "all_but_given", "weighted"]


class SparseModule(GenerativeModule):
    """A flow or networks; they carry the weight of the penalty, so that fits with other weights share compiled code."""

    inner: IdentifiableFlow | Conditional
    weight: jax.Array
    anchor: Any = None  # linear map (latents, columns) at which the coordinates of a table begin, where there is one

    def encode(self, batch: Batch, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return mean and standard deviation of each latent."""
        return self.inner.encode(batch, key)

    def log_evidence(self, batch: Batch, key: jax.Array) -> jax.Array:
        """Return the log likelihood of each row given its domain, or a bound."""
        return self.inner.log_evidence(batch, key)

    def generate(self, key: jax.Array, count: int) -> dict[str, jax.Array]:
        """Draw rows of domains that occur as often as they did in the data."""
        return self.inner.generate(key, count)

    def generate_at(self, u: jax.Array, key: jax.Array) -> dict[str, jax.Array]:
        """Draw rows of these domains."""
        return self.inner.generate_at(u, key)

    def decode(self, latents: jax.Array) -> dict[str, jax.Array]:
        """Return the expected values of every modality given the latents."""
        return self.inner.decode(latents)

    def reconstruct(self, batch: Batch) -> dict[str, jax.Array]:
        """Return the expected values of every modality at the posterior means."""
        return self.inner.reconstruct(batch)


def weighted(inner: IdentifiableFlow | Conditional, weight: float, anchor: Any = None) -> SparseModule:
    """Return the module with the weight λ of the sparsity term, and what its coordinates begin at."""
    given = None if anchor is None else jnp.asarray(anchor, jnp.float32)
    return SparseModule(inner, jnp.asarray(weight, jnp.float32), given)


def all_but_given(module: SparseModule) -> Any:
    """Everything is trained but the domains as they occurred, the weight of the penalty, and the anchor."""
    every = jax.tree.map(eqx.is_inexact_array, module)
    if module.anchor is not None:
        every = eqx.tree_at(lambda tree: tree.anchor, every, replace=False)
    return eqx.tree_at(lambda tree: (tree.inner.seen, tree.weight), every, replace=(False, False))
