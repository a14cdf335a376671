"""Posteriors of several modalities, combined."""

from __future__ import annotations

from collections.abc import Mapping

import jax.numpy as jnp
from jaxtyping import Array, Float

__all__ = ["product_of_experts"]


def product_of_experts(
    means: Mapping[str, Float[Array, "rows latents"]],
    log_scales: Mapping[str, Float[Array, "rows latents"]],
    observed: Mapping[str, Float[Array, " rows"]],
    prior: tuple[Float[Array, "rows latents"], Float[Array, "rows latents"]] | None = None,
) -> tuple[Float[Array, "rows latents"], Float[Array, "rows latents"]]:
    r"""Return mean and standard deviation of :math:`N(m, s^2)\prod_m N(\mu_m, \sigma_m^2)^{o_m}`.

    The prior counts as an expert, so that a row with nothing observed has a posterior too (Wu and Goodman,
    *Multimodal generative models for scalable weakly-supervised learning*, 2018).

    Args:
        means: Of each modality.
        log_scales: Logarithms of standard deviations, of each modality.
        observed: 1 where a row has the modality, else 0.
        prior: Mean and log-scale for each row; standard normal by default.

    Returns:
        Mean and standard deviation of each latent of each row.
    """
    like = next(iter(means.values()))
    location, log_scale = (jnp.zeros_like(like), jnp.zeros_like(like)) if prior is None else prior
    precision = jnp.exp(-2 * log_scale)
    weighted = precision * location
    for name, mean in means.items():
        weight = observed[name][:, None] * jnp.exp(-2 * log_scales[name])
        precision, weighted = precision + weight, weighted + weight * mean
    return weighted / precision, 1 / jnp.sqrt(precision)
