"""A task small enough to run at every step: a linear map learned from noisy copies."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import latentry as lt
from latentry.training import Feed, Phase, Task


class Map(eqx.Module):
    weight: jax.Array
    shift: jax.Array
    count: jax.Array  # an integer, which no gradient moves


def make(key):
    return Map(0.1 * jax.random.normal(key, (3, 3)), jnp.zeros(3), jnp.zeros((), jnp.int32))


def loss(module, batch, key):
    x = batch.values["x"]
    seen = x + 0.1 * jax.random.normal(key, x.shape)
    error = ((seen @ module.weight + module.shift - x) ** 2).sum(axis=1)
    mean = (batch.weight * error).sum() / batch.weight.sum()
    return mean, {"size": jnp.abs(module.weight).sum()}


def data(rows=50):
    rng = np.random.default_rng(0)
    return lt.Dataset(rng.normal(size=(rows, 3)) + 1)


def task(phases=None, **changes):
    training, held_out = data().split(0.8, 0.2)
    phases = phases or (Phase("first", loss, 3, learning_rate=0.05), Phase("second", loss, 2, learning_rate=0.01))
    return Task(make, phases, Feed(training, 16), Feed(held_out, 16), **changes)
