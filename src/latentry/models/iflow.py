"""The identifiable flow: exact maximum likelihood of latents whose law changes with the domain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from latentry.data import Batch, Dataset
from latentry.errors import DataError
from latentry.models.base import LatentModel
from latentry.models.checks import check_hidden, whole_number
from latentry.nets import ConditionalPrior, Flow, prior_for
from latentry.training import Phase

__all__ = ["IFlow"]

_SEEN = 2000  # rows whose u is kept for sampling


class IdentifiableFlow(eqx.Module):
    """An invertible map to latents, their prior in each domain, and some domains as they occurred."""

    flow: Flow
    prior: ConditionalPrior
    seen: jax.Array  # u of some training rows, from which new rows take theirs; never trained

    def log_likelihood(self, batch: Batch) -> jax.Array:
        r"""Per row, :math:`\log p(g(x) \mid u) + \log|\det J_g(x)|`."""
        latents, log_det = jax.vmap(self.flow.forward)(batch.values["x"])
        return jax.vmap(self.prior.log_density)(latents, batch.domain) + log_det


def negative_log_likelihood(module: IdentifiableFlow, batch: Batch, key: jax.Array) -> tuple[jax.Array, dict[str, Any]]:
    """Mean over the rows of a batch."""
    found = module.log_likelihood(batch)
    return -(batch.weight * found).sum() / batch.weight.sum(), {}


def _all_but_seen(module: IdentifiableFlow) -> Any:
    chosen = jax.tree.map(eqx.is_inexact_array, module)
    return eqx.tree_at(lambda tree: tree.seen, chosen, replace=False)


@dataclass(eq=False, repr=False)
class IFlow(LatentModel):
    r"""Identifiable latents by exact maximum likelihood: :math:`z = g(x)`, :math:`z_i \mid u` in the exponential family.

    The noiseless limit of the identifiable VAE (Khemakhem et al., *Variational autoencoders and nonlinear ICA*, 2020),
    fitted without a bound. It needs domains in which the latents' laws differ: with Gaussian latents whose means and
    variances change, 2n + 1 domains identify n latents up to order, scale and sign.

    What it cannot do: it needs as many columns as latents and no observation noise; when only means change between
    domains, the latents stay mixed, however good the fit.

    Args:
        blocks: Linear and monotone layers in turn.
        components: Bends per coordinate and block.
        prior: What changes with the domain: "gaussian" (mean and variance), "variance", "mean", or "laplace".
        hidden: Widths of the prior's network, used when u is continuous.

    For the other arguments see :class:`LatentModel`; ``latent_dim=None`` takes as many latents as columns.
    """

    latent_dim: Any = None
    epochs: int = 100
    batch_size: int = 256
    learning_rate: float = 5e-3
    blocks: int = 8
    components: int = 8
    prior: str = "gaussian"
    hidden: Sequence[int] = field(default=(32, 32))

    name: ClassVar[str] = "iflow"
    score_name: ClassVar[str] = "log likelihood"
    least_domains: ClassVar[int] = 2
    takes_latents_from_data: ClassVar[bool] = True

    def learn_facts(self, data: Dataset) -> dict[str, Any]:
        """One table, as many columns as latents; how often each domain occurs."""
        if data.names != ("x",) or len(data.layout.shape("x")) != 1:
            raise DataError("IFlow takes one table of numbers: pass an array (rows, columns) as the only modality.")
        if self.latent_dim is not None and self.latent_dim != data.layout.size:
            raise DataError(
                f"latent_dim = {self.latent_dim}, but the data have {data.layout.size} columns: an exact flow has as many "
                "latents as columns."
            )
        for name in ("blocks", "components"):
            whole_number(name, getattr(self, name), least=1)
        check_hidden(self.hidden)
        if data.domain is None:
            return {"seen": []}
        rows = np.random.default_rng(self.seed).permutation(len(data))[:_SEEN]
        return {"seen": data.domain.values[rows].tolist()}

    def standardised(self) -> tuple[str, ...]:
        """The table."""
        return ("x",)

    def build(self, key: jax.Array) -> IdentifiableFlow:
        """A flow that starts as a rotation."""
        one, two = jax.random.split(key)
        size, continuous = self.layout_.size, self.layout_.domain_labels is None
        flow = Flow(size, blocks=self.blocks, components=self.components, key=one)
        prior = prior_for(
            self.prior,
            size,
            domains=self.layout_.domain_size,
            continuous=continuous,
            hidden=self.hidden,
            key=two,
        )
        seen = np.asarray(self.facts_["seen"], dtype=np.float32 if continuous else np.int32)
        return IdentifiableFlow(flow, prior, jnp.asarray(seen))

    def phases(self) -> tuple[Phase, ...]:
        """One."""
        rates = {"learning_rate": self.learning_rate, "schedule": self.schedule, "clip": self.clip}
        loss = negative_log_likelihood
        return (Phase("fit", loss, self.epochs, patience=self.patience, trainable=_all_but_seen, **rates),)

    @staticmethod
    def posterior(module: IdentifiableFlow, batch: Batch, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        """The latents themselves, without noise."""
        latents, _ = jax.vmap(module.flow.forward)(batch.values["x"])
        return latents, jnp.zeros_like(latents)

    @staticmethod
    def evidence(module: IdentifiableFlow, batch: Batch, key: jax.Array) -> jax.Array:
        """The log likelihood of each row given its domain."""
        return module.log_likelihood(batch)

    @staticmethod
    def generate(module: IdentifiableFlow, key: jax.Array, count: int) -> dict[str, jax.Array]:
        """Domains as often as they were seen, latents from their priors, mapped back to data."""
        one, two = jax.random.split(key)
        u = module.seen[jax.random.randint(one, (count,), 0, len(module.seen))]
        latents = jax.vmap(module.prior.draw)(u, jax.random.split(two, count))
        return {"x": jax.vmap(module.flow.inverse)(latents)}

    def __sklearn_tags__(self) -> Any:
        """Fit needs the auxiliary variable."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
