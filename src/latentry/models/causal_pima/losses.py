"""The loss of causalPIMA: the bound of the whole model."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from latentry.data import Batch
from latentry.models.causal_pima.mixture import HodgeTable
from latentry.models.causal_pima.module import Pima
from latentry.models.networks import seen_in_part

__all__ = ["JointBound"]

_UNREAD = 1e-3  # weight of the prior before rows have been read
Metrics = tuple[Float[Array, ""], dict[str, Float[Array, ""]]]


@dataclass(frozen=True)
class JointBound:
    """The loss: minus the bound of the whole model, the part of prior and clusters weighted by beta.

    Args:
        beta: 1 is the bound itself.
        hide: Fraction of rows in which a modality is hidden from the encoder, though it must still be explained.
        penalty: For each expected edge, where gradients move the graph.
        guided: Whether rows count as what they were first read as.
    """

    beta: float = 1.0
    hide: float = 0.0
    penalty: float = 0.0
    guided: bool = False

    def __call__(self, module: Pima, batch: Batch, key: PRNGKeyArray) -> Metrics:
        """Return the mean over the rows of a batch."""
        seen = seen_in_part(batch, self.hide, jax.random.fold_in(key, 1))
        fit, rest = module.bound(batch, key, seen, jax.random.fold_in(key, 2), guided=self.guided)
        fraction = batch.weight / batch.weight.sum()
        parts = {"reconstruction": -(fraction * fit).sum(), "mixture": -(fraction * rest).sum()}
        loss = parts["reconstruction"] + self._weight(module) * parts["mixture"]
        if isinstance(module.table, HodgeTable):
            loss = loss + self.penalty * module.table.edges().sum()
        return loss, parts

    def _weight(self, module: Pima) -> Float[Array, ""] | float:
        """Before rows have been read there are no clusters to draw them to, and one point would do as well as any."""
        if not self.guided:
            return self.beta
        return jnp.where(module.labels.max() >= 0, self.beta, jnp.minimum(self.beta, _UNREAD))
