"""The identifiable flow: exact maximum likelihood of latents whose law changes with the domain."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import equinox as eqx
import jax

from latentry.data import Batch, Dataset
from latentry.errors import DataError
from latentry.models.checks import check_hidden
from latentry.models.conditional import Conditional, all_but_seen
from latentry.models.domain_model import OPTIMISERS, DomainModel
from latentry.models.domains import check_columns
from latentry.models.networks import Design
from latentry.nets import ConditionalPrior, Flow
from latentry.training import Phase

__all__ = ["IFlow"]


class IdentifiableFlow(eqx.Module):
    """An invertible map to latents, their prior in each domain, and some domains as they occurred."""

    flow: Flow
    prior: ConditionalPrior
    seen: jax.Array  # u of some training rows, from which new rows take theirs; never trained

    def evidence(self, batch: Batch, key: jax.Array) -> jax.Array:
        r"""Per row, :math:`\log p(g(x) \mid u) + \log|\det J_g(x)|`."""
        latents, log_det = self.flow.forward_rows(batch.values["x"])
        return jax.vmap(self.prior.log_density)(latents, batch.domain) + log_det

    def posterior(self, batch: Batch, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        """The latents themselves, without noise."""
        latents, _ = self.flow.forward_rows(batch.values["x"])
        return latents, jax.numpy.zeros_like(latents)

    def generate_at(self, u: jax.Array, key: jax.Array) -> dict[str, jax.Array]:
        """For each domain, latents from its prior, mapped back to data."""
        return self.expected(jax.vmap(self.prior.draw)(u, jax.random.split(key, len(u))))

    def expected(self, latents: jax.Array) -> dict[str, jax.Array]:
        """The data that have these latents."""
        return {"x": jax.vmap(self.flow.inverse)(latents)}


def negative_log_likelihood(module: IdentifiableFlow, batch: Batch, key: jax.Array) -> tuple[jax.Array, dict[str, Any]]:
    """Mean over the rows of a batch."""
    found = module.evidence(batch, key)
    return -(batch.weight * found).sum() / batch.weight.sum(), {}


@dataclass(eq=False, repr=False)
class IFlow(DomainModel):
    r"""Identifiable latents by exact maximum likelihood: :math:`z = g(x)`, :math:`z_i \mid u` in the exponential family.

    The noiseless limit of the identifiable VAE (Khemakhem et al., *Variational autoencoders and nonlinear ICA*, 2020),
    fitted without a bound. It needs domains in which the latents' laws differ: with Gaussian latents whose means and
    variances change, 2n + 1 domains identify n latents up to order, scale and sign.

    With fewer latents than columns, or ``noisy=True``, an exact density of x does not exist or is the wrong one: then
    the fit is staged as in :class:`IVAE`, and the score is a bound.

    What it cannot do: when only means change between domains, the latents stay mixed, however good the fit.

    Args:
        noisy: Whether the columns hold observation noise besides the latents.
        blocks: Linear and monotone layers in turn.
        components: Bends per coordinate and block.
        optimiser: Of the flow: "soap", or "adam", which is faster to compile and ends lower on hard mixings.
        prior: What changes with the domain: "gaussian" (mean and variance), "variance", "mean", "laplace", or
            "exponential" (mean, variance and further statistics).
        statistics: Sufficient statistics of each latent under "exponential", of which location and scale are two.
        moving: Number of latents whose location may move with u, all by default. Where few do, a smaller number keeps
            functions of the moving latents out of the others; choose it by held-out rows (``models.choose``).
        shrink: Weight on how far the latents' log-scales differ between domains, in nats a row; it decides between models that
            fit alike. Afterwards the laws alone are fitted without it.
        prior_table: Free parameters for each label (True), a network in u (False); by default a table for labels.
        prior_hidden: Widths of the prior's network, where there is one.
        hidden: Widths of encoder and decoder, in a staged fit.

    For the other arguments see :class:`LatentModel`; ``latent_dim=None`` takes as many latents as columns.
    """

    latent_dim: Any = None
    epochs: int = 100
    batch_size: int = 256
    learning_rate: float = 5e-3
    noisy: bool = False
    shrink: float = 0.1
    hidden: Sequence[int] = field(default=(128, 128))

    name: ClassVar[str] = "iflow"
    takes_latents_from_data: ClassVar[bool] = True

    @property
    def score_name(self) -> str:
        """What the score is."""
        exact = isinstance(self.module_, IdentifiableFlow) if hasattr(self, "module_") else not self.noisy
        return "log likelihood" if exact else "evidence lower bound (one draw per row)"

    def learn_facts(self, data: Dataset) -> dict[str, Any]:
        """One table; whether the fit is exact; how often each domain occurs."""
        if data.names != ("x",) or len(data.layout.shape("x")) != 1:
            raise DataError("IFlow takes one table of numbers: pass an array (rows, columns) as the only modality.")
        check_hidden(self.hidden)
        size = data.layout.size
        staged = self.noisy or (self.latent_dim is not None and self.latent_dim < size)
        facts = {"staged": staged, "likelihoods": {"x": "gaussian"}, "levels": {}} | self.domain_facts(data)
        if not staged:
            check_columns(data, "x")
        return facts

    def standardised(self) -> tuple[str, ...]:
        """The table."""
        return ("x",)

    def build(self, key: jax.Array) -> IdentifiableFlow | Conditional:
        """A flow that starts as a rotation, behind networks if the fit is staged."""
        latents = self.layout_.size if self.latent_dim is None else self.latent_dim
        if self.facts_["staged"]:
            design = Design(tuple(self.hidden))
            return self.build_conditional(design, latents, flow=True, sight="data", draws=1, key=key)
        one, two = jax.random.split(key)
        flow = Flow(latents, blocks=self.blocks, components=self.components, key=one)
        return IdentifiableFlow(flow, self.build_prior(latents, two), self.seen())

    def phases(self) -> tuple[Phase, ...]:
        """One, or three when staged."""
        if self.facts_["staged"]:
            return self.staged_phases()
        rates = {
            "schedule": self.schedule,
            "clip": self.clip,
            "patience": self.patience,
            "direction": OPTIMISERS[self.optimiser],
        }
        loss = negative_log_likelihood
        fit = Phase("fit", self.shrunk(loss), self.epochs, self.learning_rate, trainable=all_but_seen, **rates)
        return (fit, *self.laws_phase(loss, **rates))
