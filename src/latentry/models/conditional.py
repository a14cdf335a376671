r"""Networks whose latents have a law in each domain: :math:`p(x, z \mid u) = p(x \mid z)\,p(z \mid u)`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp

from latentry.data import Batch
from latentry.models.networks import NegativeElbo, Networks, hidden_in_part
from latentry.nets import ConditionalPrior, Flow, normal_log_density

__all__ = ["SIGHTS", "Conditional", "Identify", "Manifold", "NegativeBound", "Shrunk", "WeightedSplit", "all_but_seen"]

SIGHTS = ("product", "joint", "data")
_POINTS = 500  # of a continuous u, where each is a pass through a network
_FLAT = 10.0  # log-scale of a prior that says nothing
Metrics = tuple[jax.Array, dict[str, jax.Array]]


class Conditional(eqx.Module):
    r"""Networks, the latents' law in each domain, and perhaps a flow between the two.

    The networks' own coordinates c are the latents, or an invertible image of them: :math:`z = g(c)`, so that
    :math:`p(c \mid u) = p(g(c) \mid u)\,|\det J_g(c)|` and the decoder of z is that of :math:`g^{-1}(z)`.

    What the posterior sees (``sight``): "data" is :math:`q(c \mid x)`; "product" is proportional to
    :math:`q(c \mid x)\,p(c \mid u)`; "joint" is an encoder of x and u.
    """

    networks: Networks
    flow: Flow | None
    prior: ConditionalPrior
    seen: jax.Array  # u of some training rows, from which new rows take theirs; never trained
    draws: int = eqx.field(static=True)  # of the bound that scores rows
    sight: str = eqx.field(static=True)
    labels: int = eqx.field(static=True)  # number of domains, 0 for a continuous u

    def coordinates(self, batch: Batch) -> tuple[jax.Array, jax.Array]:
        """Posterior mean and standard deviation of each coordinate; without a domain, from the data alone."""
        if self.sight == "joint":
            return self.networks.encode(batch, self._flat(batch), (self._indicators(batch.domain),))
        if self.sight == "data":
            return self.networks.encode(batch)
        known = batch.domain is not None
        return self.networks.encode(batch, jax.vmap(self.prior.at)(batch.domain) if known else self._flat(batch))

    def _flat(self, batch: Batch) -> tuple[jax.Array, jax.Array]:
        shape = (len(batch.weight), self.networks.latents)
        return jnp.zeros(shape), jnp.full(shape, _FLAT)

    def _indicators(self, u: jax.Array) -> jax.Array:
        return jax.nn.one_hot(u, self.labels) if self.labels else u

    def log_prior(self, coordinates: jax.Array, u: jax.Array) -> jax.Array:
        """Log p(c | u) of each row."""
        if self.flow is None:
            return jax.vmap(self.prior.log_density)(coordinates, u)
        latents, log_det = self.flow.forward_rows(coordinates)
        return jax.vmap(self.prior.log_density)(latents, u) + log_det

    def posterior(self, batch: Batch, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        r"""Mean and standard deviation of each latent; through a flow, to first order: :math:`J\,\Sigma J^\top`."""
        mean, scale = self.coordinates(batch)
        if self.flow is None:
            return mean, scale
        image = lambda c: self.flow.forward(c)[0]  # noqa: E731
        slopes = jax.vmap(jax.jacfwd(image))(mean)
        return self.flow.forward_rows(mean)[0], jnp.sqrt(jnp.einsum("rij,rj->ri", slopes**2, scale**2))

    def elbo(self, batch: Batch, key: jax.Array, seen: Any = None) -> tuple[jax.Array, jax.Array]:
        r"""Per row, the two parts of :math:`\mathbb E_q \log p(x \mid c) - D(q(c \mid x, u) \,\|\, p(c \mid u))`."""
        mean, scale = self.coordinates(batch if seen is None else batch._replace(observed=seen))
        drawn = mean + scale * jax.random.normal(key, mean.shape)
        if self.flow is None:
            divergence = jax.vmap(self.prior.divergence)(mean, scale, drawn, batch.domain)
        else:
            log_q = jax.vmap(normal_log_density)(drawn, mean, jnp.log(scale))
            divergence = log_q - self.log_prior(drawn, batch.domain)
        return self.networks.fit_of(drawn, batch), divergence

    def bound(self, batch: Batch, key: jax.Array, draws: int, seen: Any = None) -> jax.Array:
        r"""Per row :math:`\log \frac1K \sum_k p(x, c_k \mid u) / q(c_k \mid x, u)`: tighter with every draw.

        (Burda, Grosse and Salakhutdinov, *Importance weighted autoencoders*, 2016.)
        """
        mean, scale = self.coordinates(batch if seen is None else batch._replace(observed=seen))

        def ratio(key: jax.Array) -> jax.Array:
            drawn = mean + scale * jax.random.normal(key, mean.shape)
            log_q = jax.vmap(normal_log_density)(drawn, mean, jnp.log(scale))
            return self.networks.fit_of(drawn, batch) + self.log_prior(drawn, batch.domain) - log_q

        ratios = jax.lax.map(ratio, jax.random.split(key, draws))
        return jax.nn.logsumexp(ratios, axis=0) - math.log(draws)

    def evidence(self, batch: Batch, key: jax.Array) -> jax.Array:
        """The bound that scores rows."""
        if self.draws > 1:
            return self.bound(batch, key, self.draws)
        fit, divergence = self.elbo(batch, key)
        return fit - divergence

    def generate_at(self, u: jax.Array, key: jax.Array) -> dict[str, jax.Array]:
        """For each domain, latents from its prior, decoded, with observation noise."""
        two, three = jax.random.split(key)
        latents = jax.vmap(self.prior.draw)(u, jax.random.split(two, len(u)))
        return self.networks.draw(self._own(latents), three)

    def expected(self, latents: jax.Array) -> dict[str, jax.Array]:
        """Every modality given the latents."""
        return self.networks.means(self._own(latents))

    def _own(self, latents: jax.Array) -> jax.Array:
        """The networks' own coordinates of latents."""
        return latents if self.flow is None else jax.vmap(self.flow.inverse)(latents)

    def reconstruction(self, batch: Batch) -> dict[str, jax.Array]:
        """Expected values of every modality."""
        return self.networks.means(self.coordinates(batch)[0])


def all_but_seen(module: Any) -> Any:
    """Everything is trained but the domains as they occurred."""
    return eqx.tree_at(lambda tree: tree.seen, jax.tree.map(eqx.is_inexact_array, module), replace=False)


def only(*parts: str) -> Any:
    """Some parts of the module are trained; the rest is frozen."""
    return _Only(parts)


@dataclass(frozen=True)
class _Only:
    parts: tuple[str, ...]

    def __call__(self, module: Any) -> Any:
        frozen = jax.tree.map(lambda leaf: False, module)
        for name in self.parts:
            chosen = jax.tree.map(eqx.is_inexact_array, getattr(module, name))
            frozen = eqx.tree_at(lambda tree, name=name: getattr(tree, name), frozen, replace=chosen)
        return frozen


def _mean(values: jax.Array, batch: Batch) -> jax.Array:
    return (batch.weight * values).sum() / batch.weight.sum()


@dataclass(frozen=True)
class Manifold:
    """First stage: the networks alone, with a standard normal prior and no domains, find coordinates."""

    beta: float = 1.0
    hide: float = 0.0

    def __call__(self, module: Conditional, batch: Batch, key: jax.Array) -> Metrics:
        """The negative evidence lower bound of a plain variational autoencoder."""
        return NegativeElbo(self.beta, self.hide)(module.networks, batch, key)


@dataclass(frozen=True)
class Identify:
    """Second stage: the flow and the priors, by the exact likelihood of coordinates that stay as they are."""

    def __call__(self, module: Conditional, batch: Batch, key: jax.Array) -> Metrics:
        """Minus log p(c | u) at the posterior means."""
        mean, _ = jax.lax.stop_gradient(module.networks.encode(batch))
        return -_mean(module.log_prior(mean, batch.domain), batch), {}


@dataclass(frozen=True)
class NegativeBound:
    """Minus the evidence lower bound, or its importance-weighted form when ``draws`` is above 1."""

    beta: float = 1.0
    draws: int = 1
    hide: float = 0.0

    def __call__(self, module: Conditional, batch: Batch, key: jax.Array) -> Metrics:
        """Mean over the rows of a batch."""
        seen = hidden_in_part(batch.observed, self.hide, jax.random.fold_in(key, 1)) if self.hide else None
        if self.draws > 1:
            return -_mean(module.bound(batch, key, self.draws, seen), batch), {}
        fit, divergence = module.elbo(batch, key, seen)
        parts = {"reconstruction": -_mean(fit, batch), "divergence": _mean(divergence, batch)}
        return parts["reconstruction"] + self.beta * parts["divergence"], parts


@dataclass(frozen=True)
class Shrunk:
    r"""A loss, and ``weight`` times :math:`\sum_i \operatorname{Var}_u \log s_i(u)`: scales differ only where the data ask for it.

    Where one latent tells the domains apart, others may be stretched by any function of it while the scales of the
    domains undo the stretching; within a domain the function hardly varies, so that the likelihood hardly minds. Of the
    models that fit alike, this takes the one whose laws change least. It draws the scales themselves together too, by
    about weight / (1 + weight) of their differences: a last phase without it fits the laws to what was found.
    """

    loss: Any
    weight: float

    def __call__(self, module: Any, batch: Batch, key: jax.Array) -> Metrics:
        """The variance is over domains as they occurred, not those of the batch, which may come sorted."""
        value, parts = self.loss(module, batch, key)
        some = module.seen[:_POINTS] if jnp.issubdtype(module.seen.dtype, jnp.floating) else module.seen
        uneven = jax.vmap(module.prior.at)(some)[1].var(axis=0).sum()
        return value + self.weight * uneven, parts | {"uneven": uneven}


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

    def __call__(self, module: Conditional, batch: Batch, key: jax.Array) -> Metrics:
        """Mean over the rows of a batch."""
        a, b, c, d = self.weights
        seen = hidden_in_part(batch.observed, self.hide, jax.random.fold_in(key, 1)) if self.hide else batch.observed
        mean, scale = module.coordinates(batch._replace(observed=seen))
        drawn = mean + scale * jax.random.normal(key, mean.shape)
        own = jax.vmap(normal_log_density)(drawn, mean, jnp.log(scale))
        pairs = _pairwise(drawn, mean, jnp.log(scale)) + jnp.log(batch.weight)[None, :, None]
        share = jnp.log(batch.weight.sum()) + math.log(self.rows)
        whole = jax.nn.logsumexp(pairs.sum(axis=2), axis=1) - share
        single = (jax.nn.logsumexp(pairs, axis=1) - share).sum(axis=1)
        fit, prior = module.networks.fit_of(drawn, batch), module.log_prior(drawn, batch.domain)
        total = a * fit - b * (own - whole) - c * (whole - single) - d * (single - prior)
        return -_mean(total, batch), {"reconstruction": -_mean(fit, batch), "divergence": _mean(own - prior, batch)}


def _pairwise(drawn: jax.Array, mean: jax.Array, log_scale: jax.Array) -> jax.Array:
    """Log density of each draw (rows) under each row's posterior (columns), latent by latent."""
    standard = (drawn[:, None] - mean[None]) * jnp.exp(-log_scale)[None]
    return -0.5 * standard**2 - log_scale[None] - 0.5 * math.log(2 * math.pi)
