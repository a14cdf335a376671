r"""The objective: both errors of a latent, up to a constant that no latent changes.

With R = I(X; Λ) and ε_i = I(Λ; X_{−i} | X_i), the mediation error is M = TC(X) + Σ_i ε_i − (n − 1) R for every channel, hence

    w₀ M + Σ_i w_i ε_i = w₀ TC(X) + Σ_i (w₀ + w_i) ε_i − w₀ (n − 1) R.

Students bound each ε_i from above: ε_i ≤ E D(K(·|X) ‖ q_i(·|X_i)), with equality at the best. Nothing has to be decoded.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import accumulate

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from latentry.data import Batch, Dataset
from latentry.models.natural_latents.module import NaturalModule

__all__ = ["NaturalityScore", "full_weight"]

_TINY = 1e-9


@dataclass(frozen=True)
class NaturalityScore:
    """The loss of a batch: redundancy errors of the worst domains, less the information kept in each.

    Args:
        mediation: Weight w₀ of the mediation error.
        errors: Weight w₀ + w_i of each redundancy error in the sum, before the module's factor.
        mixtures: Weight of I(J; X | Λ) = I(J; X) − I(J; Λ), of which the first part is constant.
        worst: Temperature of the maximum over domains, in nats.
        noise: Standard deviation of noise on standardised numbers.
        domains: Number of domains, at least 1.
        numbers: Modalities that get noise.
    """

    mediation: float
    errors: float
    mixtures: float
    worst: float
    noise: float
    domains: int
    numbers: tuple[str, ...]

    def __call__(
        self, module: NaturalModule, batch: Batch, key: PRNGKeyArray
    ) -> tuple[Float[Array, ""], dict[str, Float[Array, ""]]]:
        """Return the score of the rows of a batch, without TC(X)."""
        noise_key, draw_key = jax.random.split(key)
        latent, students = module.latents(self._noisy(batch, noise_key))
        groups = jnp.ones((len(batch.weight), 1))
        if self.domains > 1:
            groups = jax.nn.one_hot(batch.domain, self.domains)
        mass = groups * batch.weight[:, None]
        rows = mass.sum(axis=0)
        present = (rows > 0) / jnp.maximum((rows > 0).sum(), 1)

        def by_domain(values: Float[Array, " rows"]) -> Float[Array, " domains"]:
            mean: Float[Array, " domains"] = mass.T @ values / jnp.maximum(rows, 1.0)
            return mean

        errors = sum(batch.observed[name] * module.kind.divergence(latent, q) for name, q in students.items())
        total = by_domain(errors)
        # A row without some modalities has that many fewer blocks to be independent given the latent.
        blocks = jnp.maximum(sum(batch.observed.values()) - 1, 0.0)
        kept = module.kind.information(latent, groups, batch.weight * blocks, draw_key)
        within = by_domain(blocks * kept)
        worst = self.worst * jax.scipy.special.logsumexp(self.errors * module.factor * total / self.worst, b=present)
        loss = worst - self.mediation * (present * within).sum()
        metrics = {"errors": (present * total).sum(), "information": (present * by_domain(kept)).sum()}
        if self.mixtures and self.domains > 1:
            fair = batch.weight * (groups @ (present / jnp.maximum(rows, 1.0)))
            pooled = module.kind.information(latent, jnp.ones((len(fair), 1)), fair, draw_key)
            metrics["domain in latent"] = (fair * pooled).sum() - (present * by_domain(kept)).sum()
            loss = loss - self.mixtures * metrics["domain in latent"]
        return loss, metrics

    def _noisy(self, batch: Batch, key: PRNGKeyArray) -> Batch:
        if not self.noise or not self.numbers:
            return batch
        sizes = [math.prod(batch.values[name].shape[1:]) for name in self.numbers]
        # All noise in one draw: each draw of its own takes a second to compile.
        drawn = self.noise * jax.random.normal(key, (len(batch.weight), sum(sizes)))
        parts = jnp.split(drawn, list(accumulate(sizes))[:-1], axis=1)
        noisy = {
            name: batch.values[name] + part.reshape(batch.values[name].shape)
            for name, part in zip(self.numbers, parts, strict=True)
        }
        return batch._replace(values=batch.values | noisy)


def full_weight(module: NaturalModule, data: Dataset, key: jax.Array) -> NaturalModule:
    """Weigh the redundancy errors in full; called after an epoch, so that both phases share their compiled programs.

    Args:
        module: Any.
        data: Not used.
        key: Not used.

    Returns:
        The module with the factor 1.
    """
    weighed: NaturalModule = eqx.tree_at(lambda tree: tree.factor, module, jax.device_put(np.ones((), np.float32)))
    return weighed
