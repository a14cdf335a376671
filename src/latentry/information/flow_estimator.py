"""I(X; Y) as a difference of log-likelihoods: E[log p(x, y) − log p(x) − log p(y)] on rows that no density saw.

Each density is a flow (Dinh, Sohl-Dickstein and Bengio, ICLR 2017): normal scores, whitened by the Cholesky factor of the training
rows, then affine couplings that start as the identity. Before the first step the flow is thus the Gaussian copula, and
training can only be kept if it helps the selection rows.
"""

from __future__ import annotations

import math

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, PRNGKeyArray

from latentry.data import Batch
from latentry.information.questions import Answer, Options, Question
from latentry.information.trained_estimators import Split, chained, error_of, split_rows, train
from latentry.nets import Dense
from latentry.precision import single_precision
from latentry.streams import stream

__all__ = ["Flow", "FlowTriple", "flow_answer"]

Array = np.ndarray
HIDDEN = (64,)
LAYERS = 6
STEPS = 1_500
PATIENCE = 40


class Coupling(eqx.Module):
    """Half of the coordinates, in an order of their own, moved and stretched by what the other half says."""

    net: Dense
    order: tuple[int, ...] = eqx.field(static=True)

    def __init__(self, d: int, order: tuple[int, ...], *, key: PRNGKeyArray) -> None:
        kept = d // 2
        net = Dense(kept, 2 * (d - kept), HIDDEN, key=key)
        still = jax.tree.map(jnp.zeros_like, net.layers[-1])  # the identity, to begin with
        self.net = eqx.tree_at(lambda n: n.layers[-1], net, still)
        self.order = order

    def __call__(self, z: Float[jax.Array, " d"]) -> tuple[Float[jax.Array, " d"], Float[jax.Array, ""]]:
        z = z[jnp.asarray(self.order)]
        kept = len(self.order) // 2
        shift, raw = jnp.split(self.net(z[:kept]), 2)
        log_scale = jnp.tanh(raw)
        return jnp.concatenate([z[:kept], z[kept:] * jnp.exp(log_scale) + shift]), jnp.sum(log_scale)


class Flow(eqx.Module):
    """A density on d columns. `centre` and `unmix` are read off the training rows and stay fixed."""

    centre: Float[jax.Array, " d"]
    unmix: Float[jax.Array, "d d"]
    couplings: tuple[Coupling, ...]

    def __init__(self, rows: Array, *, key: PRNGKeyArray) -> None:
        d = rows.shape[1]
        covariance = np.atleast_2d(np.cov(rows.T)) + 1e-6 * np.eye(d)
        self.centre = jnp.asarray(rows.mean(axis=0), dtype=jnp.float32)
        self.unmix = jnp.asarray(np.linalg.inv(np.linalg.cholesky(covariance)), dtype=jnp.float32)
        rng = stream("information/flow orders", d)  # orders are part of the architecture, the same in every run
        orders = [tuple(map(int, rng.permutation(d))) for _ in range(LAYERS if d > 1 else 0)]
        keys = jax.random.split(key, max(1, len(orders)))
        self.couplings = tuple(Coupling(d, order, key=k) for order, k in zip(orders, keys, strict=False))

    def log_density(self, row: Float[jax.Array, " d"]) -> Float[jax.Array, ""]:
        """Return the logarithm of the density at a row, up to no constant.

        Args:
            row: Normalised columns.

        Returns:
            A scalar.
        """
        unmix = jax.lax.stop_gradient(self.unmix)
        z = unmix @ (row - jax.lax.stop_gradient(self.centre))
        total: jax.Array = jnp.sum(jnp.log(jnp.diag(unmix)))
        for coupling in self.couplings:
            z, stretched = coupling(z)
            total += stretched
        return total - 0.5 * jnp.sum(z**2) - 0.5 * len(z) * math.log(2 * math.pi)


class FlowTriple(eqx.Module):
    """The densities of x, of y and of both."""

    x: Flow
    y: Flow
    both: Flow

    def __init__(self, x: Array, y: Array, *, key: PRNGKeyArray) -> None:
        keys = jax.random.split(key, 3)
        self.x, self.y = Flow(x, key=keys[0]), Flow(y, key=keys[1])
        self.both = Flow(np.hstack([x, y]), key=keys[2])

    def log_densities(
        self, x: Float[jax.Array, "rows dim_x"], y: Float[jax.Array, "rows dim_y"]
    ) -> Float[jax.Array, "rows 3"]:
        """Return the log densities of x, of y and of both.

        Args:
            x: Rows.
            y: Rows.

        Returns:
            (rows, 3).
        """

        def of_row(a: Float[jax.Array, " dim_x"], b: Float[jax.Array, " dim_y"]) -> Float[jax.Array, "3"]:
            both = self.both.log_density(jnp.concatenate([a, b]))
            return jnp.stack([self.x.log_density(a), self.y.log_density(b), both])

        return jax.vmap(of_row)(x, y)


def negative_log_likelihood(
    flows: FlowTriple, batch: Batch, key: PRNGKeyArray
) -> tuple[Float[jax.Array, ""], dict[str, jax.Array]]:
    """Return the loss of all three densities at once: they have no weights in common, so the sum trains each."""
    total = flows.log_densities(batch.values["x"], batch.values["y"]).sum(axis=1)
    return -jnp.sum(total * batch.weight) / jnp.maximum(batch.weight.sum(), 1), {}


@single_precision
def flow_answer(question: Question) -> Answer:
    """Train, choose, report; given z, by the chain rule I(X; Y | Z) = I(X; Y, Z) − I(X; Z), both on the same rows.

    Args:
        question: Variables and options.

    Returns:
        Value and error.
    """
    name = question.normaliser("copula")
    split = split_rows(question.x.n, question.options.seed)
    terms = chained(question.numbers(name), lambda x, y: _terms(x, y, split, question.options))
    return Answer(float(terms.mean()), "flow", name, error_of(terms), split.said)


def _terms(x: Array, y: Array, split: Split, options: Options) -> Array:
    def make(key: PRNGKeyArray) -> FlowTriple:
        return FlowTriple(x[split.train], y[split.train], key=key)

    steps, rows = options.steps or STEPS, split.report
    flows = train(make, negative_log_likelihood, x, y, split, seed=options.seed, steps=steps, patience=PATIENCE)
    result = eqx.filter_jit(FlowTriple.log_densities)(flows, jnp.asarray(x[rows]), jnp.asarray(y[rows]))
    return np.asarray(result, dtype=np.float64) @ [-1.0, -1.0, 1.0]
