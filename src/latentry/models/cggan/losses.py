"""What the players of a CGGAN minimise, term by term. Images are on −1 to 1."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int, PRNGKeyArray

from latentry.data import Batch
from latentry.models.cggan.module import Adversaries, Generator, Makers, Noise
from latentry.nets import DomainEmbedding, DomainFlow, SparsityTerm, Synthesis, augment, normal_log_density

__all__ = ["PATH_DECAY", "Fakes", "Rebuilding", "Terms", "Weights", "draw_fakes", "mismatch"]

Values = dict[str, Float[Array, ""]]
Weight = Float[Array, ""] | float  # a number between steps, an array within a compiled one
PATH_DECAY = 0.01  # of the running mean of path lengths
_RISE = 200_000  # rows over which matching reaches its weight: at once, it would keep codes from saying anything


@runtime_checkable
class Mixing(Protocol):
    """What the sparsity of a generator is computed from."""

    @property
    def domains(self) -> DomainFlow | DomainEmbedding:
        """Return what the domain does to codes."""

    @property
    def synthesis(self) -> Synthesis:
        """Return the network that makes images."""

    def image(self, latents: Float[Array, "rows inputs"], pixels: Noise | None = None) -> Float[Array, "rows h w c"]:
        """Return images of latents."""


class Weights(NamedTuple):
    """Of the terms; they may change without compiling again.

    Args:
        r1: Of the squared gradient of the discriminator at real images.
        path: Of the spread of path lengths.
        sparsity: Of the size of derivatives of pixels by style latents.
        mask: Of the size of the mask; its gradient is taken beside Adam's, see ``updates.py``.
        regression: Of minus the log density of codes given the image made from them.
        reconstruction: Of the mean squared difference between real images and what draws from their encodings give.
        divergence: Of each encoding from N(0, I), per latent.
        matching: Of the encodings of each domain, taken together, from that distribution.
    """

    r1: Weight
    path: Weight
    sparsity: Weight
    mask: Weight
    regression: Weight
    reconstruction: Weight
    divergence: Weight
    matching: Weight


@dataclass(frozen=True)
class Terms:
    """The terms that are computed, and their weights in one phase.

    Args:
        weights: Of the terms in this phase.
        sparse: Whether sparsity is computed (in all phases alike, so that they use the same programs).
        encodes: Whether the encoder is trained.
        translation: Fraction of the generated rows that are real rows encoded, and generated in another domain.
        term: How derivatives are estimated.
    """

    weights: Weights
    sparse: bool
    encodes: bool
    translation: float
    term: SparsityTerm = field(default=SparsityTerm(derivative="random", directions=1))

    def __call__(self, module: Adversaries, batch: Batch, key: PRNGKeyArray) -> tuple[Float[Array, ""], Values]:
        """Return everything at once; training takes the parts in turn, see ``updates.py``."""
        judge_key, makers_key, lazy_key = jax.random.split(key, 3)
        against, parts = self.discriminator(module, batch, judge_key)
        for_makers, more = self.makers(module.makers, module, batch, makers_key, self.weights)
        lazy, rest = self.lazy(module.makers, module, batch, lazy_key, self.weights)
        parts |= more | rest | {"r1": self.gradient_penalty(module, batch)}
        return against + for_makers + lazy + self.weights.r1 / 2 * parts["r1"], parts

    def discriminator(self, module: Adversaries, batch: Batch, key: PRNGKeyArray) -> tuple[Float[Array, ""], Values]:
        r"""Return :math:`\operatorname{softplus}(D(\text{generated})) + \operatorname{softplus}(-D(\text{real}))`.

        Args:
            module: All players.
            batch: Standardised rows.
            key: Of random numbers.

        Returns:
            The loss, and its parts by name.
        """
        fakes_key, fake_key, real_key = jax.random.split(key, 3)
        real = module.inward(batch.values[module.modality])
        codes = module.makers.encoder(real[-self._moved(batch) :])[0] if self._moved(batch) else None
        fakes = draw_fakes(module.makers, module, batch, codes, fakes_key)
        made = module.makers.generator(fakes.codes, fakes.domain, fakes.pixels)
        fake = module.discriminator(augment(made, module.augmentation, module.kinds, fake_key), fakes.domain)
        true = module.discriminator(augment(real, module.augmentation, module.kinds, real_key), batch.domain)
        loss = jax.nn.softplus(fake).mean() + _mean(jax.nn.softplus(-true), batch.weight)
        sure = _mean(jnp.sign(true), batch.weight)
        return loss, {"discriminator": loss, "sure_of_real": sure, "augmentation": module.augmentation}

    def gradient_penalty(self, module: Adversaries, batch: Batch) -> Float[Array, ""]:
        """Return the squared norm of the gradient at real images (Mescheder et al., 2018), mean over rows.

        Args:
            module: All players.
            batch: Standardised rows.

        Returns:
            A scalar.
        """
        real = module.inward(batch.values[module.modality])
        gradient = jax.grad(lambda x: module.discriminator(x, batch.domain).sum())(real)
        return _mean((gradient**2).sum((1, 2, 3)), batch.weight)

    def makers(
        self, makers: Makers, module: Adversaries, batch: Batch, key: PRNGKeyArray, weights: Weights
    ) -> tuple[Float[Array, ""], Values]:
        """Return the loss of fooling the discriminator, recovering the codes, and rebuilding real images.

        Args:
            makers: Generator and encoder.
            module: All players.
            batch: Standardised rows.
            key: Of random numbers.
            weights: Of the terms.

        Returns:
            The loss, and its parts by name.
        """
        fakes_key, augment_key, encoding_key = jax.random.split(key, 3)
        rows = len(batch.weight)
        real = module.inward(batch.values[module.modality])
        parts: Values = {}
        if self.encodes:
            mean, codes, parts = encode_real(makers, real, batch, module.domains, encoding_key)
            moved = self._moved(batch)
            fakes = draw_fakes(makers, module, batch, mean[-moved:] if moved else None, fakes_key)
            fakes = fakes.with_quiet(codes, batch.domain, rows // 2)
        else:
            fakes = draw_fakes(makers, module, batch, None, fakes_key)
        images = makers.generator(fakes.codes, fakes.domain, fakes.pixels)  # one pass for both: half to compile
        made, rebuilt = images[:rows], images[rows:]
        verdict = module.discriminator(
            augment(made, module.augmentation, module.kinds, augment_key), fakes.domain[:rows]
        )
        fooling = jax.nn.softplus(-verdict).mean()
        penalty = makers.generator.domains.penalty()
        parts |= {"generator": fooling, "mask": penalty}
        loss = fooling
        if not self.encodes:
            return loss, parts
        weight = batch.weight[: rows // 2]
        parts["codes_lost"] = _lost(makers, made, fakes.codes[:rows])
        parts["reconstruction"] = _mean(((rebuilt - real[: rows // 2]) ** 2).mean((1, 2, 3)), weight)
        loss += weights.regression * parts["codes_lost"] + _rebuilding(parts, weights, module.rows)
        return loss, parts

    def _moved(self, batch: Batch) -> int:
        return round(self.translation * len(batch.weight)) if self.encodes else 0

    def lazy(
        self, makers: Makers, module: Adversaries, batch: Batch, key: PRNGKeyArray, weights: Weights
    ) -> tuple[Float[Array, ""], Values]:
        """Return the loss of path lengths and sparsity, on half the rows.

        Args:
            makers: Generator and encoder.
            module: All players.
            batch: Standardised rows.
            key: Of random numbers.
            weights: Of the terms.

        Returns:
            The loss, and its parts by name.
        """
        code_key, path_key, sparsity_key = jax.random.split(key, 3)
        rows = max(1, len(batch.weight) // 2)
        latents = makers.generator.domains(_drawn_codes(makers, rows, code_key), batch.domain[:rows])
        lengths = _path_lengths(makers.generator, latents, path_key)
        target = module.path + PATH_DECAY * (lengths.mean() - module.path)
        loss = weights.path * ((lengths - jax.lax.stop_gradient(target)) ** 2).mean()
        parts = {"path": lengths.mean()}
        if self.sparse:
            parts["sparsity"] = self._sparsity(makers.generator, latents, sparsity_key)
            loss += weights.sparsity * parts["sparsity"]
        return loss, parts

    def _sparsity(
        self, generator: Mixing, latents: Float[Array, "rows latents"], key: PRNGKeyArray
    ) -> Float[Array, ""]:
        r"""Mean over pixels of :math:`\sum_j |\partial x_i/\partial z_j|\,\sigma(z_j)`, over the style latents j."""
        assert isinstance(generator.domains, DomainFlow)  # an embedding is refused with sparsity
        style = generator.domains.style
        rest = latents[:, style:]

        def decode(part: Array) -> Array:
            return generator.image(jnp.concatenate([part, rest], 1)).reshape(len(part), -1)

        points = latents[:, :style]
        scale = jax.lax.stop_gradient(points.std(0))
        pixels = math.prod((generator.synthesis.sizes[-1],) * 2) * len(generator.synthesis.levels[-1].picture_bias)
        return self.term(decode, points, scale, jnp.ones(pixels), key) / pixels


@dataclass(frozen=True)
class Rebuilding:
    """A variational autoencoder's loss, and that of the distribution of its codes, before the players meet.

    Both makers then know what images look like.
    """

    weights: Weights

    def __call__(self, module: Adversaries, batch: Batch, key: PRNGKeyArray) -> tuple[Float[Array, ""], Values]:
        """Return the loss, as a phase measures it."""
        return self.of(module.makers, module, batch, key, self.weights)

    def of(
        self, makers: Makers, module: Adversaries, batch: Batch, key: PRNGKeyArray, weights: Weights
    ) -> tuple[Float[Array, ""], Values]:
        """Return squared differences of images and what draws from their encodings give, and the divergence of these.

        Args:
            makers: Generator and encoder.
            module: All players.
            batch: Standardised rows.
            key: Of random numbers.
            weights: Of the terms.

        Returns:
            The loss, and its parts by name.
        """
        real = module.inward(batch.values[module.modality])
        _, codes, parts = encode_real(makers, real, batch, module.domains, key)
        apart = ((makers.generator(codes, batch.domain) - real) ** 2).mean((1, 2, 3))
        parts |= {"reconstruction": _mean(apart, batch.weight), "mask": makers.generator.domains.penalty()}
        return _rebuilding(parts, weights, module.rows), parts


@dataclass(frozen=True)
class Fakes:
    """What images are generated from."""

    codes: Float[Array, "rows latents"]
    domain: Int[Array, " rows"]
    pixels: Noise

    def with_quiet(self, codes: Float[Array, "more latents"], domain: Int[Array, " more"], rows: int) -> Fakes:
        """Return the same and the first rows of further ones, without noise in their pixels.

        Args:
            codes: Further ones, (rows, latents).
            domain: Of each.
            rows: How many of them.

        Returns:
            Rows of both.
        """
        pixels = tuple(jnp.concatenate([part, jnp.zeros_like(part[:rows])]) for part in self.pixels)
        return Fakes(jnp.concatenate([self.codes, codes[:rows]]), jnp.concatenate([self.domain, domain[:rows]]), pixels)


def draw_fakes(
    makers: Makers, module: Adversaries, batch: Batch, codes: Float[Array, "last latents"] | None, key: PRNGKeyArray
) -> Fakes:
    """Draw codes from their distribution, in the domains of the batch.

    In the last rows they are its own ``codes``, if given, in another domain.

    Such translated rows get no noise in their pixels: what is kept of a image must be in the latents.

    Args:
        makers: Generator and encoder, as they are now.
        module: The other players.
        batch: Rows whose domains are taken.
        codes: Of its last rows.
        key: Of the draws.

    Returns:
        What images are generated from.
    """
    code_key, pixel_key = jax.random.split(key)
    rows, domains = len(batch.weight), module.domains
    drawn = _drawn_codes(makers, rows, code_key)
    pixels = makers.generator.synthesis.noise(rows, pixel_key)
    if codes is None:
        return Fakes(drawn, batch.domain, pixels)
    count = len(codes)
    real = batch.weight[-count:, None] > 0
    drawn = jnp.concatenate([drawn[:-count], jnp.where(real, codes, drawn[-count:])])
    away = 1 + jnp.arange(count) % max(1, domains - 1)  # rows come in random order: any pairing of them will do
    domain = jnp.concatenate([batch.domain[:-count], (batch.domain[-count:] + away) % domains])
    quiet = (jnp.arange(rows) >= rows - count)[:, None, None, None]
    return Fakes(drawn, domain, tuple(jnp.where(quiet, 0.0, part) for part in pixels))


def _drawn_codes(makers: Makers, rows: int, key: PRNGKeyArray) -> Float[Array, "rows latents"]:
    """Content as real images have it: its distribution learns from encodings alone, not from verdicts."""
    noise = jax.random.normal(key, (rows, makers.generator.domains.latents))
    codes: Array = jax.lax.stop_gradient(makers.generator.codes(noise))
    return codes


def encode_real(
    makers: Makers, real: Float[Array, "rows h w c"], batch: Batch, domains: int, key: PRNGKeyArray
) -> tuple[Float[Array, "rows latents"], Float[Array, "rows latents"], Values]:
    """Encode real images: return means, a draw from each, and how these are spread."""
    mean, scale = makers.encoder(real)
    codes = mean + scale * jax.random.normal(key, mean.shape)
    members = jax.nn.one_hot(batch.domain, domains) * batch.weight[:, None]
    fixed = jax.lax.stop_gradient(codes)  # their distribution follows the codes, not they it
    surprise = -makers.generator.code_density(fixed) / codes.shape[1]
    parts = {
        "divergence": weighted_divergence(mean, scale, batch.weight),
        "matching": mismatch(codes, members),
        "law": _mean(surprise, batch.weight),
    }
    return mean, codes, parts


def _rebuilding(parts: Values, weights: Weights, rows: Float[Array, ""]) -> Float[Array, ""]:
    near = (
        weights.divergence * parts["divergence"] + jnp.minimum(1.0, rows / _RISE) * weights.matching * parts["matching"]
    )
    return weights.reconstruction * parts["reconstruction"] + near + parts["law"]


def mismatch(codes: Float[Array, "rows latents"], members: Float[Array, "rows domains"]) -> Float[Array, ""]:
    r"""Measure how far the codes of each domain are from N(0, I), mean over domains.

    It has no bias: its expectation is 0 if they follow N(0, I).

    :math:`\operatorname{E}k(c,c') - 2\operatorname{E}k(c,\epsilon) + \operatorname{E}k(\epsilon,\epsilon')` with
    :math:`k(a,b) = e^{-|a-b|^2/2n}` in n dimensions, c and c' different rows of one domain; expectations over noise are exact
    (Baringhaus & Henze, *A consistent test for multivariate normality based on the empirical characteristic function*, 1988).
    A code that depends on the domain is far from N(0, I) in each of them, so that the domain must come from the flows.

    Args:
        codes: (rows, n).
        members: (rows, domains), how much each row counts in each domain.

    Returns:
        A scalar.
    """
    size = codes.shape[1]
    squares = (codes**2).sum(1)
    pairs = jnp.exp(-jnp.maximum(squares[:, None] + squares - 2 * codes @ codes.T, 0.0) / (2 * size))
    count = members.sum(0)
    among = ((members.T @ (pairs * (1 - jnp.eye(len(codes))))) * members.T).sum(1) / jnp.maximum(
        count * (count - 1), 1.0
    )
    beside = (
        (size / (size + 1)) ** (size / 2) * jnp.exp(-squares / (2 * (size + 1))) @ members / jnp.maximum(count, 1.0)
    )
    apart = among - 2 * beside + (size / (size + 2)) ** (size / 2)
    mean: Array = (apart * (count > 1)).sum() / jnp.maximum((count > 1).sum(), 1)
    return mean


def weighted_divergence(
    mean: Float[Array, "rows latents"], scale: Float[Array, "rows latents"], weight: Float[Array, " rows"]
) -> Float[Array, ""]:
    """Return the divergence of normal distributions from the standard one, per latent."""
    return _mean((0.5 * (mean**2 + scale**2 - 1) - jnp.log(scale)).mean(1), weight)


def _lost(makers: Makers, made: Float[Array, "rows h w c"], codes: Float[Array, "rows latents"]) -> Float[Array, ""]:
    """Minus the log density of the codes given the image, per latent."""
    mean, scale = makers.encoder(made)
    density = jax.vmap(normal_log_density)(jax.lax.stop_gradient(codes), mean, jnp.log(scale))
    return -density.mean() / mean.shape[1]


def _path_lengths(
    generator: Generator, latents: Float[Array, "rows inputs"], key: PRNGKeyArray
) -> Float[Array, " rows"]:
    """How far images move with the style, along a random direction of pixels."""
    style = generator.mapping(latents)
    made, back = jax.vjp(generator.synthesis, style)
    direction = jax.random.normal(key, made.shape) / made.shape[1]
    return jnp.sqrt((back(direction)[0] ** 2).sum(1) + 1e-12)


def _mean(values: Float[Array, " rows"], weight: Float[Array, " rows"]) -> Float[Array, ""]:
    return (values * weight).sum() / jnp.maximum(weight.sum(), 1.0)
