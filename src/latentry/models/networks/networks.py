"""An encoder, a decoder and a likelihood head for each modality: the part that variational models share."""

from __future__ import annotations

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from latentry.data import Batch
from latentry.nets import Head, Network, product_of_experts

__all__ = ["Encoder", "ModalityNets", "visible", "visible_shape"]

_shape: Callable[..., jax.ShapeDtypeStruct] = jax.ShapeDtypeStruct  # JAX has no types for it
Encoder = Callable[..., Float[Array, " outputs"]]  # of a row, and of what stands beside it
MeanAndScale = tuple[Float[Array, "rows latents"], Float[Array, "rows latents"]]


def visible(head: Head, name: str, batch: Batch, *, masked: bool) -> Float[Array, "rows ..."]:
    """Return what an encoder sees of a modality: its features, and which of its entries are there, if it was built for that.

    Args:
        head: Of the modality.
        name: Of the modality.
        batch: Standardised rows.
        masked: Whether the encoder sees which entries are missing.

    Returns:
        (rows, ...).
    """
    rows, known = batch.values[name], batch.cells.get(name)
    if known is None:
        features = jax.vmap(head.features)(rows)
        return jax.vmap(_beside)(features, jnp.ones_like(rows)) if masked else features
    features = jax.vmap(head.known_features)(rows, known)
    return jax.vmap(_beside)(features, known) if masked else features


def visible_shape(head: Head, shape: tuple[int, ...], *, masked: bool) -> tuple[int, ...]:
    """Return the shape of what an encoder sees of a row.

    Args:
        head: Of the modality.
        shape: Of a row.
        masked: Whether the encoder sees which entries are missing.

    Returns:
        The shape.
    """
    features = jax.eval_shape(head.features, _shape(shape, jnp.float32))
    seen = jax.eval_shape(_beside, features, _shape(shape, jnp.float32)) if masked else features
    wide: tuple[int, ...] = seen.shape
    return wide


def _beside(features: Float[Array, "..."], known: Float[Array, "..."]) -> Float[Array, "..."]:
    """Put the mask beside the features: as further channels of curves and images, as further numbers of a table."""
    if features.ndim > 1 and features.ndim == known.ndim:
        return jnp.concatenate([features, known], axis=-1)
    return jnp.concatenate([features.reshape(-1), known.reshape(-1)])


class ModalityNets(eqx.Module):
    """An encoder, a decoder and a likelihood head for each modality."""

    encoders: dict[str, Encoder]
    decoders: dict[str, Network]
    heads: dict[str, Head]
    latents: int = eqx.field(static=True)
    masked: tuple[str, ...] = eqx.field(
        static=True, default=()
    )  # modalities whose encoders see which entries are missing

    def encode(
        self, batch: Batch, prior: MeanAndScale | None = None, beside: tuple[Float[Array, "rows columns"], ...] = ()
    ) -> MeanAndScale:
        """Return the posterior mean and standard deviation of each latent, from whatever was observed.

        ``prior`` gives mean and log-scale for each row, standard normal when it is None; what is ``beside`` the data
        goes to the encoders too.

        Args:
            batch: Standardised rows.
            prior: Mean and log-scale for each row.
            beside: (rows, columns) each.

        Returns:
            Two arrays (rows, latents).
        """
        outputs = {
            name: jax.vmap(encoder)(visible(self.heads[name], name, batch, masked=name in self.masked), *beside)
            for name, encoder in self.encoders.items()
        }
        means = {name: output[:, : self.latents] for name, output in outputs.items()}
        log_scales = {name: jnp.clip(output[:, self.latents :], -7, 7) for name, output in outputs.items()}
        return product_of_experts(means, log_scales, batch.observed, prior)

    def decode(self, latents: Float[Array, "rows latents"]) -> dict[str, Float[Array, "rows ..."]]:
        """Return the parameters of each modality's likelihood.

        Args:
            latents: (rows, latents).

        Returns:
            By modality.
        """
        return {name: jax.vmap(decoder)(latents) for name, decoder in self.decoders.items()}

    def fit_of(self, latents: Float[Array, "rows latents"], batch: Batch) -> Float[Array, " rows"]:
        """Return the log density of each row's observed modalities given its latents.

        Args:
            latents: (rows, latents).
            batch: Standardised rows.

        Returns:
            One number a row.
        """
        total = jnp.zeros(latents.shape[0])
        for name, outputs in self.decode(latents).items():
            density = jax.vmap(self.heads[name].log_density)(outputs, batch.values[name])
            if name in batch.cells:
                density = density * batch.cells[name]
            total = total + batch.observed[name] * density.reshape(len(density), -1).sum(axis=1)
        return total

    def elbo(
        self, batch: Batch, key: PRNGKeyArray, seen: Batch | None = None
    ) -> tuple[Float[Array, " rows"], Float[Array, " rows"]]:
        r"""Return, per row, the two parts of :math:`\mathbb E_q \log p(x \mid z) - D(q(z \mid x) \,\|\, p(z))`.

        The divergence from the standard normal is in closed form; the expectation is one reparametrised draw
        (Kingma and Welling, *Auto-encoding variational Bayes*, 2014). ``seen`` may hide observed modalities and cells from
        the encoder: a posterior that knows less still bounds the evidence of all that was observed.

        Args:
            batch: Standardised rows.
            key: Of random numbers.
            seen: What the encoder sees of the batch; by default all of it.

        Returns:
            Fit and divergence, one number a row each.
        """
        mean, scale = self.encode(batch if seen is None else seen)
        latents = mean + scale * jax.random.normal(key, mean.shape)
        divergence = 0.5 * (mean**2 + scale**2 - 1) - jnp.log(scale)
        return self.fit_of(latents, batch), divergence.sum(axis=1)

    def means(self, latents: Float[Array, "rows latents"]) -> dict[str, Float[Array, "rows ..."]]:
        """Return expected values of every modality.

        Args:
            latents: (rows, latents).

        Returns:
            By modality.
        """
        return {name: jax.vmap(self.heads[name].mean)(out) for name, out in self.decode(latents).items()}

    def draw(self, latents: Float[Array, "rows latents"], key: PRNGKeyArray) -> dict[str, Float[Array, "rows ..."]]:
        """Draw every modality, with observation noise.

        Args:
            latents: (rows, latents).
            key: Of random numbers.

        Returns:
            By modality.
        """
        outputs, drawn = self.decode(latents), {}
        for name, noise in zip(outputs, jax.random.split(key, len(outputs)), strict=True):
            drawn[name] = jax.vmap(self.heads[name].draw)(outputs[name], jax.random.split(noise, len(latents)))
        return drawn
