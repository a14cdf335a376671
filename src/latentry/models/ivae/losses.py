"""The loss of the code that was released with the identifiable VAE: its bound cut in four, each part weighted."""

from __future__ import annotations

import math
from dataclasses import dataclass

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from latentry.data import Batch
from latentry.models.domain_prior import Conditional, Metrics, row_mean
from latentry.models.networks import seen_in_part
from latentry.nets import normal_log_density

__all__ = ["WeightedSplit"]


@dataclass(frozen=True)
class WeightedSplit:
    r"""The evidence lower bound cut in four, each part with a weight of its own.

    .. math:: a \log p(x \mid z) - b \log\frac{q(z \mid x, u)}{q(z)} - c \log\frac{q(z)}{\prod_i q(z_i)}
        - d \log\frac{\prod_i q(z_i)}{p(z \mid u)}

    With weights 1 the sum is the bound again. The aggregate q(z) is estimated inside the batch, as if it stood for
    all ``rows`` (Chen et al., *Isolating sources of disentanglement*, 2018). The code released with the identifiable
    VAE minimises this with weights (100, 1, 0, 10), which is no bound on anything.
    """

    weights: tuple[float, float, float, float]
    rows: int
    hide: float = 0.0

    def __call__(self, module: Conditional, batch: Batch, key: PRNGKeyArray) -> Metrics:
        """Return the mean over the rows of a batch."""
        a, b, c, d = self.weights
        seen = seen_in_part(batch, self.hide, jax.random.fold_in(key, 1))
        mean, scale = module.coordinates(batch if seen is None else seen)
        drawn = mean + scale * jax.random.normal(key, mean.shape)
        own = jax.vmap(normal_log_density)(drawn, mean, jnp.log(scale))
        pairs = _pairwise(drawn, mean, jnp.log(scale)) + jnp.log(batch.weight)[None, :, None]
        total_weight = jnp.log(batch.weight.sum()) + math.log(self.rows)
        whole = jax.nn.logsumexp(pairs.sum(axis=2), axis=1) - total_weight
        single = (jax.nn.logsumexp(pairs, axis=1) - total_weight).sum(axis=1)
        fit, prior = module.networks.fit_of(drawn, batch), module.log_prior(drawn, batch.domain)
        total = a * fit - b * (own - whole) - c * (whole - single) - d * (single - prior)
        return -row_mean(total, batch), {
            "reconstruction": -row_mean(fit, batch),
            "divergence": row_mean(own - prior, batch),
        }


def _pairwise(
    drawn: Float[Array, "rows latents"], mean: Float[Array, "rows latents"], log_scale: Float[Array, "rows latents"]
) -> Float[Array, "rows rows latents"]:
    """Return the log density of each draw (rows) under each row's posterior (columns), latent by latent."""
    standard = (drawn[:, None] - mean[None]) * jnp.exp(-log_scale)[None]
    return -0.5 * standard**2 - log_scale[None] - 0.5 * math.log(2 * math.pi)
