"""What the players of a CGGAN minimise, term by term. Pictures are on −1 to 1."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

import jax
import jax.numpy as jnp

from latentry.data import Batch
from latentry.models.cggan.module import Adversaries, Generator, Makers
from latentry.nets import SparsityTerm, augment, normal_log_density

__all__ = ["PATH_DECAY", "Fakes", "Rebuilding", "Terms", "Weights", "draw_fakes", "mismatch"]

Values = dict[str, jax.Array]
PATH_DECAY = 0.01  # of the running mean of path lengths
_RISE = 200_000  # rows over which matching reaches its weight: at once, it would keep codes from saying anything


class Weights(NamedTuple):
    """Of the terms; they may change without compiling again.

    Args:
        r1: Of the squared gradient of the discriminator at real pictures.
        path: Of the spread of path lengths.
        sparsity: Of the size of derivatives of pixels by style latents.
        mask: Of the size of the mask; its gradient is taken beside Adam's, see ``adversarial_steps``.
        regression: Of minus the log density of codes given the picture made from them.
        reconstruction: Of the mean squared difference between real pictures and what draws from their encodings give.
        divergence: Of each encoding from N(0, I), per latent.
        matching: Of the encodings of each domain, taken together, from that law.
    """

    r1: float
    path: float
    sparsity: float
    mask: float
    regression: float
    reconstruction: float
    divergence: float
    matching: float


@dataclass(frozen=True)
class Terms:
    """The terms that are computed, and their weights in one phase.

    Args:
        weights: Of the terms in this phase.
        sparse: Whether sparsity is computed (in all phases alike, so that they share their programs).
        encodes: Whether the encoder is trained.
        translation: Share of the generated rows that are real rows encoded, and generated in another domain.
        term: How derivatives are estimated.
    """

    weights: Weights
    sparse: bool
    encodes: bool
    translation: float
    term: SparsityTerm = field(default=SparsityTerm(derivative="random", directions=1))

    def __call__(self, module: Adversaries, batch: Batch, key: jax.Array) -> tuple[jax.Array, Values]:
        """Everything at once; training takes the parts in turn, see ``adversarial_steps``."""
        one, two, three = jax.random.split(key, 3)
        against, found = self.discriminator(module, batch, one)
        for_makers, more = self.makers(module.makers, module, batch, two, self.weights)
        lazy, rest = self.lazy(module.makers, module, batch, three, self.weights)
        found |= more | rest | {"r1": self.gradient_penalty(module, batch)}
        return against + for_makers + lazy + self.weights.r1 / 2 * found["r1"], found

    def discriminator(self, module: Adversaries, batch: Batch, key: jax.Array) -> tuple[jax.Array, Values]:
        r""":math:`\operatorname{softplus}(D(\text{generated})) + \operatorname{softplus}(-D(\text{real}))`."""
        one, two, three = jax.random.split(key, 3)
        real = module.inward(batch.values[module.modality])
        codes = module.makers.encoder(real[-self._moved(batch) :])[0] if self._moved(batch) else None
        fakes = draw_fakes(module.makers, module, batch, codes, one)
        made = module.makers.generator(fakes.codes, fakes.domain, fakes.pixels)
        fake = module.discriminator(augment(made, module.augmentation, module.kinds, two), fakes.domain)
        true = module.discriminator(augment(real, module.augmentation, module.kinds, three), batch.domain)
        loss = jax.nn.softplus(fake).mean() + _mean(jax.nn.softplus(-true), batch.weight)
        sure = _mean(jnp.sign(true), batch.weight)
        return loss, {"discriminator": loss, "sure_of_real": sure, "augmentation": module.augmentation}

    def gradient_penalty(self, module: Adversaries, batch: Batch) -> jax.Array:
        """Squared norm of the gradient at real pictures (Mescheder et al., 2018), mean over rows."""
        real = module.inward(batch.values[module.modality])
        slope = jax.grad(lambda x: module.discriminator(x, batch.domain).sum())(real)
        return _mean((slope**2).sum((1, 2, 3)), batch.weight)

    def makers(
        self, makers: Makers, module: Adversaries, batch: Batch, key: jax.Array, weights: Weights
    ) -> tuple[jax.Array, Values]:
        """Fooling the discriminator, finding the codes again, and rebuilding real pictures."""
        one, two, three = jax.random.split(key, 3)
        rows = len(batch.weight)
        real = module.inward(batch.values[module.modality])
        found: Values = {}
        if self.encodes:
            mean, codes, found = encode_real(makers, real, batch, module.domains, three)
            moved = self._moved(batch)
            fakes = draw_fakes(makers, module, batch, mean[-moved:] if moved else None, one)
            fakes = fakes.with_quiet(codes, batch.domain, rows // 2)
        else:
            fakes = draw_fakes(makers, module, batch, None, one)
        pictures = makers.generator(fakes.codes, fakes.domain, fakes.pixels)  # one pass for both: half to compile
        made, rebuilt = pictures[:rows], pictures[rows:]
        verdict = module.discriminator(augment(made, module.augmentation, module.kinds, two), fakes.domain[:rows])
        fooling = jax.nn.softplus(-verdict).mean()
        penalty = makers.generator.domains.penalty()
        found |= {"generator": fooling, "mask": penalty}
        loss = fooling
        if not self.encodes:
            return loss, found
        weight = batch.weight[: rows // 2]
        found["codes_lost"] = _lost(makers, made, fakes.codes[:rows])
        found["reconstruction"] = _mean(((rebuilt - real[: rows // 2]) ** 2).mean((1, 2, 3)), weight)
        loss += weights.regression * found["codes_lost"] + _rebuilding(found, weights, module.rows)
        return loss, found

    def _moved(self, batch: Batch) -> int:
        return round(self.translation * len(batch.weight)) if self.encodes else 0

    def lazy(
        self, makers: Makers, module: Adversaries, batch: Batch, key: jax.Array, weights: Weights
    ) -> tuple[jax.Array, Values]:
        """Path lengths and sparsity, on half the rows."""
        one, two, three = jax.random.split(key, 3)
        rows = max(1, len(batch.weight) // 2)
        latents = makers.generator.domains(_drawn_codes(makers, rows, one), batch.domain[:rows])
        lengths = _path_lengths(makers.generator, latents, two)
        target = module.path + PATH_DECAY * (lengths.mean() - module.path)
        loss = weights.path * ((lengths - jax.lax.stop_gradient(target)) ** 2).mean()
        found = {"path": lengths.mean()}
        if self.sparse:
            found["sparsity"] = self._sparsity(makers.generator, latents, three)
            loss += weights.sparsity * found["sparsity"]
        return loss, found

    def _sparsity(self, generator: Generator, latents: jax.Array, key: jax.Array) -> jax.Array:
        r"""Mean over pixels of :math:`\sum_j |\partial x_i/\partial z_j|\,\sigma(z_j)`, over the style latents j."""
        style = generator.domains.style
        rest = latents[:, style:]

        def decode(part: jax.Array) -> jax.Array:
            return generator.picture(jnp.concatenate([part, rest], 1)).reshape(len(part), -1)

        points = latents[:, :style]
        scale = jax.lax.stop_gradient(points.std(0))
        pixels = math.prod((generator.synthesis.sizes[-1],) * 2) * len(generator.synthesis.levels[-1].picture_bias)
        return self.term(decode, points, scale, jnp.ones(pixels), key) / pixels


@dataclass(frozen=True)
class Rebuilding:
    """A variational autoencoder's loss, and that of the law of its codes, before the players meet.

    Both makers then know what pictures look like.
    """

    weights: Weights

    def __call__(self, module: Adversaries, batch: Batch, key: jax.Array) -> tuple[jax.Array, Values]:
        """As a phase measures it."""
        return self.of(module.makers, module, batch, key, self.weights)

    def of(
        self, makers: Makers, module: Adversaries, batch: Batch, key: jax.Array, weights: Weights
    ) -> tuple[jax.Array, Values]:
        """Squared differences of pictures and what draws from their encodings give, and the divergence of these."""
        real = module.inward(batch.values[module.modality])
        _, codes, found = encode_real(makers, real, batch, module.domains, key)
        apart = ((makers.generator(codes, batch.domain) - real) ** 2).mean((1, 2, 3))
        found |= {"reconstruction": _mean(apart, batch.weight), "mask": makers.generator.domains.penalty()}
        return _rebuilding(found, weights, module.rows), found


@dataclass(frozen=True)
class Fakes:
    """What pictures are generated from."""

    codes: jax.Array
    domain: jax.Array
    pixels: tuple[jax.Array, ...]

    def with_quiet(self, codes: jax.Array, domain: jax.Array, rows: int) -> Fakes:
        """The same and the first rows of further ones, without noise in their pixels."""
        pixels = tuple(jnp.concatenate([part, jnp.zeros_like(part[:rows])]) for part in self.pixels)
        return Fakes(
            jnp.concatenate([self.codes, codes[:rows]]), jnp.concatenate([self.domain, domain[:rows]]), pixels
        )


def draw_fakes(makers: Makers, module: Adversaries, batch: Batch, codes: jax.Array | None, key: jax.Array) -> Fakes:
    """Codes from their law, in the domains of the batch; in the last rows its own ``codes``, if given, in another domain.

    Such translated rows get no noise in their pixels: what is kept of a picture must be in the latents.
    """
    one, two = jax.random.split(key)
    rows, domains = len(batch.weight), module.domains
    drawn = _drawn_codes(makers, rows, one)
    pixels = makers.generator.synthesis.noise(rows, two)
    if codes is None:
        return Fakes(drawn, batch.domain, pixels)
    count = len(codes)
    real = batch.weight[-count:, None] > 0
    drawn = jnp.concatenate([drawn[:-count], jnp.where(real, codes, drawn[-count:])])
    away = 1 + jnp.arange(count) % max(1, domains - 1)  # rows come in random order: any pairing of them will do
    domain = jnp.concatenate([batch.domain[:-count], (batch.domain[-count:] + away) % domains])
    quiet = (jnp.arange(rows) >= rows - count)[:, None, None, None]
    return Fakes(drawn, domain, tuple(jnp.where(quiet, 0.0, part) for part in pixels))


def _drawn_codes(makers: Makers, rows: int, key: jax.Array) -> jax.Array:
    """Content as real pictures have it: its law learns from encodings alone, not from verdicts."""
    noise = jax.random.normal(key, (rows, makers.generator.domains.latents))
    return jax.lax.stop_gradient(makers.generator.codes(noise))


def encode_real(
    makers: Makers, real: jax.Array, batch: Batch, domains: int, key: jax.Array
) -> tuple[jax.Array, jax.Array, Values]:
    """Encode real images: return means, a draw from each, and how these are spread."""
    mean, scale = makers.encoder(real)
    codes = mean + scale * jax.random.normal(key, mean.shape)
    members = jax.nn.one_hot(batch.domain, domains) * batch.weight[:, None]
    law = -makers.generator.code_density(jax.lax.stop_gradient(codes)) / codes.shape[1]  # it follows the codes, not they it
    found = {
        "divergence": weighted_divergence(mean, scale, batch.weight),
        "matching": mismatch(codes, members),
        "law": _mean(law, batch.weight),
    }
    return mean, codes, found


def _rebuilding(found: Values, weights: Weights, rows: jax.Array) -> jax.Array:
    near = weights.divergence * found["divergence"] + jnp.minimum(1.0, rows / _RISE) * weights.matching * found["matching"]
    return weights.reconstruction * found["reconstruction"] + near + found["law"]


def mismatch(codes: jax.Array, members: jax.Array) -> jax.Array:
    r"""How far the codes of each domain are from N(0, I), mean over domains, without bias: 0 in expectation if they follow it.

    :math:`\operatorname{E}k(c,c') - 2\operatorname{E}k(c,\epsilon) + \operatorname{E}k(\epsilon,\epsilon')` with
    :math:`k(a,b) = e^{-|a-b|^2/2n}` in n dimensions, c and c' different rows of one domain; expectations over noise are exact
    (Baringhaus & Henze, *A consistent test for multivariate normality based on the empirical characteristic function*, 1988).
    A code that tells the domain is far from N(0, I) in each of them, so that the domain must come from the flows.

    Args:
        codes: (rows, n).
        members: (rows, domains), how much each row counts in each domain.
    """
    size = codes.shape[1]
    squares = (codes**2).sum(1)
    pairs = jnp.exp(-jnp.maximum(squares[:, None] + squares - 2 * codes @ codes.T, 0.0) / (2 * size))
    count = members.sum(0)
    among = ((members.T @ (pairs * (1 - jnp.eye(len(codes))))) * members.T).sum(1) / jnp.maximum(count * (count - 1), 1.0)
    beside = (size / (size + 1)) ** (size / 2) * jnp.exp(-squares / (2 * (size + 1))) @ members / jnp.maximum(count, 1.0)
    apart = among - 2 * beside + (size / (size + 2)) ** (size / 2)
    return (apart * (count > 1)).sum() / jnp.maximum((count > 1).sum(), 1)


def weighted_divergence(mean: jax.Array, scale: jax.Array, weight: jax.Array) -> jax.Array:
    """Return the divergence of normal distributions from the standard one, per latent."""
    return _mean((0.5 * (mean**2 + scale**2 - 1) - jnp.log(scale)).mean(1), weight)


def _lost(makers: Makers, made: jax.Array, codes: jax.Array) -> jax.Array:
    """Minus the log density of the codes given the picture, per latent."""
    mean, scale = makers.encoder(made)
    density = jax.vmap(normal_log_density)(jax.lax.stop_gradient(codes), mean, jnp.log(scale))
    return -density.mean() / mean.shape[1]


def _path_lengths(generator: Generator, latents: jax.Array, key: jax.Array) -> jax.Array:
    """How far pictures move with the style, along a random direction of pixels."""
    style = generator.mapping(latents)
    made, back = jax.vjp(generator.synthesis, style)
    direction = jax.random.normal(key, made.shape) / made.shape[1]
    return jnp.sqrt((back(direction)[0] ** 2).sum(1) + 1e-12)


def _mean(values: jax.Array, weight: jax.Array) -> jax.Array:
    return (values * weight).sum() / jnp.maximum(weight.sum(), 1.0)
