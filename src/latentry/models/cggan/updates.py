"""How the players of a CGGAN are trained: each its own optimiser, costly terms now and then."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypedDict, Unpack

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, PRNGKeyArray, PyTree

from latentry.data import Batch
from latentry.models.cggan.losses import PATH_DECAY, Rebuilding, Terms, Weights
from latentry.models.cggan.module import Adversaries, Makers
from latentry.nets import Discriminator, DomainFlow

__all__ = ["Alternation", "Autoencoding"]

Optimisers = dict[str, optax.OptState]  # of each player
Values = dict[str, Float[Array, ""]]
Scalar = Float[Array, ""]


class _Parts(TypedDict, total=False):
    makers: Makers
    average: Makers
    discriminator: Discriminator
    augmentation: Scalar
    path: Scalar
    rows: Scalar


_WARM = 0.05  # fraction of the rows seen over which the average reaches back, while they are few

_ENCODER_PACE = 2.0
_KNEE = 0.25  # of the mask, below which the pull towards zero rises little more


@dataclass(frozen=True)
class Alternation:
    """A step: the discriminator, then the makers, then, when they are due, the costly terms of each.

    Args:
        terms: What is minimised.
        r1_every: Steps between two penalties on the discriminator, each of which counts that many times.
        path_every: The same, for path lengths and sparsity.
        half_life: Rows after which a state counts half in the average.
        adapt: Rows over which the probability of augmentation may rise from 0 to 1; 0 leaves it as it is.
        target: Mean sign of the verdicts on real images above which it rises.
    """

    terms: Terms
    r1_every: int
    path_every: int
    half_life: float
    adapt: float
    target: float

    def start(self, module: Adversaries) -> Optimisers:
        """Return the state of Adam for each player.

        Args:
            module: Untrained.

        Returns:
            By player.
        """
        parts = {"makers": module.makers, "discriminator": module.discriminator}
        return {name: _adam(name).init(eqx.filter(part, eqx.is_inexact_array)) for name, part in parts.items()}

    def __call__(
        self, module: Adversaries, optimiser: Optimisers, batch: Batch, key: PRNGKeyArray, step: int, rate: Scalar
    ) -> tuple[Adversaries, Optimisers, Values]:
        """Take a step, as the loop asks for it."""
        keys = jax.random.split(key, 3)
        how, weights = _Programs(self), Weights(*(jnp.float32(weight) for weight in self.terms.weights))
        module, optimiser, values = _discriminator_step(how, module, optimiser, batch, keys[0], rate)
        values |= {name: jnp.zeros(()) for name in ("r1", "path", *(["sparsity"] if self.terms.sparse else []))}
        if self.terms.weights.r1 and step % self.r1_every == 0:
            module, optimiser, values["r1"] = _penalty_step(how, module, optimiser, batch, weights, rate)
        module, optimiser, more = _makers_step(how, module, optimiser, batch, keys[1], weights, rate)
        values |= more
        if (self.terms.weights.path or self.terms.weights.sparsity) and step % self.path_every == 0:
            module, optimiser, rest = _makers_step(how, module, optimiser, batch, keys[2], weights, rate, lazy=True)
            values |= rest
        values["loss"] = values["discriminator"] + values["generator"]
        return averaged_module(module, batch, self.half_life), optimiser, values


@dataclass(frozen=True)
class Autoencoding:
    """A step of the makers alone, by :class:`Rebuilding`."""

    terms: Rebuilding
    half_life: float

    def start(self, module: Adversaries) -> optax.OptState:
        """Return the state of Adam for the makers.

        Args:
            module: Untrained.

        Returns:
            A tree of arrays.
        """
        return _adam("makers").init(eqx.filter(module.makers, eqx.is_inexact_array))

    def __call__(
        self, module: Adversaries, optimiser: optax.OptState, batch: Batch, key: PRNGKeyArray, step: int, rate: Scalar
    ) -> tuple[Adversaries, optax.OptState, Values]:
        """Take a step, as the loop asks for it."""
        weights = Weights(*(jnp.float32(weight) for weight in self.terms.weights))
        module, optimiser, values = _rebuilding_step(module, optimiser, batch, key, weights, rate)
        return averaged_module(module, batch, self.half_life), optimiser, values


class _Programs:
    """An alternation as compiled programs know it: phases that differ in weights alone use the same."""

    def __init__(self, how: Alternation) -> None:
        unweighted = replace(how.terms, weights=Weights(*[0.0] * len(Weights._fields)))
        self.terms, self.adapt, self.target = unweighted, how.adapt, how.target
        self.r1_every, self.path_every = how.r1_every, how.path_every

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Programs) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(tuple(vars(self).values()))


def _adam(player: str) -> optax.GradientTransformation:
    """Rebuilding images wants some momentum, the discriminator none."""
    return optax.scale_by_adam(b1=0.5 if player == "makers" else 0.0, b2=0.99, eps=1e-8)


def _judge_moved(
    judge: Discriminator, gradient: PyTree, optimiser: optax.OptState, rate: Scalar
) -> tuple[Discriminator, optax.OptState]:
    direction, optimiser = _adam("discriminator").update(gradient, optimiser)
    return eqx.apply_updates(judge, jax.tree.map(lambda d: -rate * d, direction)), optimiser


def _makers_moved(
    makers: Makers, gradient: PyTree, optimiser: optax.OptState, rate: Scalar
) -> tuple[Makers, optax.OptState]:
    """The encoder follows a generator that moves: it learns faster."""
    direction, optimiser = _adam("makers").update(gradient, optimiser)
    steps = Makers(
        jax.tree.map(lambda d: -rate * d, direction.generator),
        jax.tree.map(lambda d: -_ENCODER_PACE * rate * d, direction.encoder),
    )
    return eqx.apply_updates(makers, steps), optimiser


def _shrunk(makers: Makers, weight: Scalar) -> Makers:
    """The mask a step nearer to zero, beside Adam, which would make a small gradient large or drown it.

    The pull is that of the sum of logarithms, stronger where the mask is smaller: one latent that changes much is cheaper than
    many that change a little (Candès, Wakin & Boyd, *Enhancing sparsity by reweighted l1 minimization*, 2008). The largest is
    not drawn: a mask and the flow behind it can trade size, so only ratios of masks mean something.
    """
    domains = makers.generator.domains
    if not isinstance(domains, DomainFlow) or not domains.masked:
        return makers
    old = jnp.minimum(domains.importance, 1.0)
    pull = jnp.where(jnp.arange(len(old)) == old.argmax(), 0.0, weight * (1 + _KNEE) / (old + _KNEE))
    shrunk: Makers = eqx.tree_at(lambda m: m.generator.domains.importance, makers, jnp.maximum(old - pull, 0.0))
    return shrunk


@eqx.filter_jit
def _rebuilding_step(
    module: Adversaries, optimiser: optax.OptState, batch: Batch, key: PRNGKeyArray, weights: Weights, rate: Scalar
) -> tuple[Adversaries, optax.OptState, Values]:
    def loss(part: Makers) -> tuple[Array, Values]:
        return Rebuilding(weights).of(part, module, batch, key, weights)

    (value, values), gradient = eqx.filter_value_and_grad(loss, has_aux=True)(module.makers)
    part, optimiser = _makers_moved(module.makers, gradient, optimiser, rate)
    return _with(module, makers=_shrunk(part, rate * weights.mask)), optimiser, {"loss": value, **values}


@eqx.filter_jit
def _discriminator_step(
    how: _Programs, module: Adversaries, optimiser: Optimisers, batch: Batch, key: PRNGKeyArray, rate: Scalar
) -> tuple[Adversaries, Optimisers, Values]:
    def loss(part: Discriminator) -> tuple[Array, Values]:
        return how.terms.discriminator(_with(module, discriminator=part), batch, key)

    (_, values), gradient = eqx.filter_value_and_grad(loss, has_aux=True)(module.discriminator)
    part, state = _judge_moved(module.discriminator, gradient, optimiser["discriminator"], rate)
    rise = batch.weight.sum() / how.adapt if how.adapt else 0.0
    chance = jnp.clip(module.augmentation + rise * jnp.sign(values["sure_of_real"] - how.target), 0.0, 0.9)
    kept = chance if how.adapt else module.augmentation
    return _with(module, discriminator=part, augmentation=kept), {**optimiser, "discriminator": state}, values


@eqx.filter_jit
def _penalty_step(
    how: _Programs, module: Adversaries, optimiser: Optimisers, batch: Batch, weights: Weights, rate: Scalar
) -> tuple[Adversaries, Optimisers, Scalar]:
    def loss(part: Discriminator) -> tuple[Array, Array]:
        size = how.terms.gradient_penalty(_with(module, discriminator=part), batch)
        return how.r1_every * weights.r1 / 2 * size, size

    (_, size), gradient = eqx.filter_value_and_grad(loss, has_aux=True)(module.discriminator)
    part, state = _judge_moved(module.discriminator, gradient, optimiser["discriminator"], rate)
    return _with(module, discriminator=part), {**optimiser, "discriminator": state}, how.r1_every * size


@eqx.filter_jit
def _makers_step(
    how: _Programs,
    module: Adversaries,
    optimiser: Optimisers,
    batch: Batch,
    key: PRNGKeyArray,
    weights: Weights,
    rate: Scalar,
    *,
    lazy: bool = False,
) -> tuple[Adversaries, Optimisers, Values]:
    terms, times = (how.terms.lazy, how.path_every) if lazy else (how.terms.makers, 1)

    def loss(part: Makers) -> tuple[Array, Values]:
        value, values = terms(part, module, batch, key, weights)
        return times * value, values

    (_, values), gradient = eqx.filter_value_and_grad(loss, has_aux=True)(module.makers)
    part, state = _makers_moved(module.makers, gradient, optimiser["makers"], rate)
    if lazy:
        path = module.path + PATH_DECAY * (values["path"] - module.path)
        values = {name: times * value for name, value in values.items()}
    else:
        path, part = module.path, _shrunk(part, rate * weights.mask)
    return _with(module, makers=part, path=path), {**optimiser, "makers": state}, values


@eqx.filter_jit
def averaged_module(module: Adversaries, batch: Batch, half_life: float) -> Adversaries:
    """Move the running average of the weights towards the present ones, by the rows of a batch."""
    rows = module.rows + batch.weight.sum()
    reach = jnp.minimum(half_life, _WARM * rows)
    keep = 0.5 ** (batch.weight.sum() / jnp.maximum(reach, 1e-8))
    old, rest = eqx.partition(module.average, eqx.is_inexact_array)
    new = eqx.filter(module.makers, eqx.is_inexact_array)
    mean = jax.tree.map(lambda a, b: b + keep * (a - b), old, new)
    return _with(module, average=_same_mask(eqx.combine(mean, rest), module.makers), rows=rows)


def _same_mask(average: Makers, makers: Makers) -> Makers:
    """Keep which latents change: one that has become still takes part in the distribution of content from then on."""
    if not isinstance(makers.generator.domains, DomainFlow):
        return average
    importance = makers.generator.domains.importance
    same: Makers = eqx.tree_at(lambda m: m.generator.domains.importance, average, importance)
    return same


def _with(module: Adversaries, **parts: Unpack[_Parts]) -> Adversaries:
    return replace(module, **parts)
