"""Phases: what is minimised, over which parts, for how long."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import PyTree

from latentry.errors import DataError, nearest

if TYPE_CHECKING:
    from latentry.training.model_updates import Update

__all__ = ["SCHEDULES", "Hook", "Loss", "Metrics", "Module", "Phase", "Recipe", "everything"]

Module: TypeAlias = PyTree  # any tree of arrays, usually an Equinox module
Metrics = dict[str, jax.Array]  # scalars by name
Loss = Callable[..., tuple[jax.Array, Metrics]]  # (module, batch, key) -> scalar, metrics
Hook = Callable[..., Module]  # (module, training data, key) -> module


def everything(module: Module) -> Module:
    """Return True for all floating-point arrays of the module: all are trainable.

    Args:
        module: A tree of arrays.

    Returns:
        The same tree of booleans.
    """
    return jax.tree.map(eqx.is_inexact_array, module)


def _constant(step: jax.Array, total: jax.Array) -> jax.Array:
    return jnp.ones_like(step, dtype=jnp.float32)


def _cosine(step: jax.Array, total: jax.Array) -> jax.Array:
    return 0.5 * (1 + jnp.cos(jnp.pi * jnp.minimum(step / total, 1.0)))


def _warmup(step: jax.Array, total: jax.Array) -> jax.Array:
    rise = jnp.minimum((step + 1) / jnp.maximum(0.05 * total, 1.0), 1.0)
    return rise * _cosine(step, total)


SCHEDULES: dict[str, Callable[[jax.Array, jax.Array], jax.Array]] = {
    "constant": _constant,
    "cosine": _cosine,  # to zero
    "warmup": _warmup,  # linear rise over the first twentieth, then cosine
}


@dataclass(frozen=True)
class Recipe:
    """The part of a phase that is compiled in. Fits with equal recipes and shapes use the same program."""

    loss: Loss
    direction: Callable[[], optax.GradientTransformation]
    schedule: Callable[..., jax.Array]
    trainable: Callable[[Module], Module]
    follows_total: bool  # our schedules see the phase's length, Optax's own have it inside
    update: Update | None = None  # takes the steps in place of the gradient's descent

    def rate(self, step: jax.Array, total: jax.Array) -> jax.Array:
        """Return what the learning rate is multiplied by.

        Args:
            step: Since the phase began.
            total: Steps of the phase.

        Returns:
            A scalar.
        """
        return self.schedule(step, total) if self.follows_total else self.schedule(step)


@dataclass(frozen=True)
class Phase:
    """A stretch of training with a loss, a length and an optimiser.

    Args:
        name: Shown in the history.
        loss: ``loss(module, batch, key)`` gives a scalar to minimise and a dictionary of metrics. A module-level
            function or a frozen dataclass, so that fits use the same compiled code.
        epochs: Passes over the training rows.
        learning_rate: Before the schedule.
        schedule: "constant", "cosine", "warmup", or an Optax schedule (step to a multiplier of the learning rate).
        clip: Largest norm of the gradient over all trainable parts, or None.
        direction: Makes the Optax transformation from gradient to direction.
        trainable: Gives, for a module, a tree of booleans; the rest is frozen in this phase.
        after_epoch: May replace parts of the module outside the gradient: ``hook(module, data, key)``.
        patience: Epochs without a better held-out loss before the phase ends; None runs all epochs.
        update: Takes each step itself, as with two optimisers in turn; ``direction``, ``trainable`` and ``clip`` are then its
            own matter, and ``loss`` says what is measured. See :class:`latentry.training.Update`.
    """

    name: str
    loss: Loss
    epochs: int
    learning_rate: float = 1e-3
    schedule: str | Callable[[jax.Array], jax.Array] = "cosine"
    clip: float | None = 5.0
    direction: Callable[[], optax.GradientTransformation] = optax.scale_by_adam
    trainable: Callable[[Module], Module] = everything
    after_epoch: Hook | None = None
    patience: int | None = None
    update: Update | None = None

    @property
    def recipe(self) -> Recipe:
        """Return what must be compiled for this phase."""
        if isinstance(self.schedule, str):
            if self.schedule not in SCHEDULES:
                raise DataError(f"schedule={self.schedule!r} is not known{nearest(self.schedule, SCHEDULES)}")
            named = SCHEDULES[self.schedule]
            return Recipe(self.loss, self.direction, named, self.trainable, follows_total=True, update=self.update)
        return Recipe(self.loss, self.direction, self.schedule, self.trainable, follows_total=False, update=self.update)

    def lasting(self, epochs: int) -> Phase:
        """Return the same phase with another length.

        Args:
            epochs: The new number of epochs.

        Returns:
            A new phase.
        """
        return replace(self, epochs=epochs)
