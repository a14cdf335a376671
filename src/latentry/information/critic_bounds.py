"""Lower bounds from a trained critic T(x, y): how well can paired rows be distinguished from shuffled ones?

MINE (Donsker–Varadhan): E[T] − log E′[exp T] (Belghazi et al., ICML 2018). NWJ: E[T] − E′[exp(T − 1)] (Nguyen, Wainwright and
Jordan 2010). InfoNCE: E[T − log mean_j exp T_ij], at most log n (van den Oord et al. 2018). SMILE: trained as a classifier,
read through Donsker–Varadhan with T clipped to ±5 (Song and Ermon, ICLR 2020). E is over paired rows, E′ over all other pairs.

The critic f(x)·g(y) + a(x) + b(y) compares all pairs of a batch by one matrix product. It learns on three fifths of the
rows, stops by the second, and is read on the third: never the best value along training. Blocks are divided by their root mean
square: with a smaller size the first layer would not see them within any fixed number of steps (Proposition 6).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Float, PRNGKeyArray
from scipy.special import logsumexp

from latentry.data import Batch
from latentry.information.questions import Answer, Options, Question
from latentry.information.trained_estimators import DIFFERENCE, Split, chained, error_of, split_rows, train
from latentry.nets import Dense
from latentry.precision import single_precision

__all__ = ["BOUNDS", "Bound", "Critic", "critic_answer"]

Array = np.ndarray
Scalar = Float[jax.Array, ""]
Scores = Float[jax.Array, "rows rows"]  # of all pairs of a batch
Weight = Float[jax.Array, " rows"]
Terms = Callable[[jax.Array, jax.Array, jax.Array], jax.Array]
RANK = 16
HIDDEN = (64, 64)
STEPS = 1_500
PATIENCE = 60  # epochs
CLIP = 5.0  # of SMILE
LIMIT = 12.0  # nats
MOST_REPORTED = 4_000  # rows compared pair by pair at the end


class Critic(eqx.Module):
    """T(x, y) = f(x)·g(y) + a(x) + b(y), bent to stay within ±LIMIT; inputs pass through asinh, which tames far rows.

    Without the two bends a single far row decides E′[exp T], or overflows it.
    """

    x: Dense
    y: Dense

    def __init__(self, dim_x: int, dim_y: int, *, key: PRNGKeyArray) -> None:
        key_x, key_y = jax.random.split(key)
        self.x = Dense(dim_x, RANK + 1, HIDDEN, key=key_x, activation=jax.nn.relu)
        self.y = Dense(dim_y, RANK + 1, HIDDEN, key=key_y, activation=jax.nn.relu)

    def __call__(
        self, x: Float[jax.Array, "rows dim_x"], y: Float[jax.Array, "others dim_y"]
    ) -> Float[jax.Array, "rows others"]:
        """Return T of all pairs: row i of x against row j of y."""
        f, g = jax.vmap(self.x)(jnp.arcsinh(x)), jax.vmap(self.y)(jnp.arcsinh(y))
        free = f[:, :-1] @ g[:, :-1].T / np.sqrt(RANK) + f[:, -1:] + g[:, -1][None]
        return LIMIT * jnp.tanh(free / LIMIT)


def _mean(values: Float[jax.Array, "*shape"], weight: Float[jax.Array, "*shape"]) -> Scalar:
    return jnp.sum(values * weight) / jnp.maximum(jnp.sum(weight), 1)


def _log_mean_exp(scores: Scores, pairs: Scores) -> Scalar:
    return jax.nn.logsumexp(jnp.where(pairs > 0, scores, -jnp.inf)) - jnp.log(jnp.maximum(pairs.sum(), 1))


def mine(scores: Scores, weight: Weight, pairs: Scores) -> Scalar:
    """Return E[T] − log E′[exp T]."""
    return _mean(jnp.diag(scores), weight) - _log_mean_exp(scores, pairs)


def nwj(scores: Scores, weight: Weight, pairs: Scores) -> Scalar:
    """Return E[T] − E′[exp(T − 1)]."""
    return _mean(jnp.diag(scores), weight) - jnp.exp(_log_mean_exp(scores, pairs) - 1)


def infonce(scores: Scores, weight: Weight, pairs: Scores) -> Scalar:
    """Return E[T_ii − log mean_j T_ij], the mean over all j, i among them."""
    real = jnp.where(weight > 0, scores, -jnp.inf)
    return _mean(jnp.diag(scores) - jax.nn.logsumexp(real, axis=1), weight) + jnp.log(jnp.maximum(weight.sum(), 1))


def jensen_shannon(scores: Scores, weight: Weight, pairs: Scores) -> Scalar:
    """Return the log-likelihood of a classifier of paired against shuffled rows: what SMILE is trained by."""
    return -_mean(jax.nn.softplus(-jnp.diag(scores)), weight) - _mean(jax.nn.softplus(scores), pairs)


BOUNDS: dict[str, Terms] = {"mine": mine, "nwj": nwj, "infonce": infonce, "smile": jensen_shannon}


@dataclass(frozen=True)
class Bound:
    """The loss: minus the bound, on all pairs of a batch. Rows that only fill up the batch are left out."""

    name: str

    def __call__(self, critic: Critic, batch: Batch, key: PRNGKeyArray) -> tuple[Scalar, dict[str, Scalar]]:
        weight = batch.weight
        pairs = weight[:, None] * weight[None] * (1 - jnp.eye(len(weight)))
        return -BOUNDS[self.name](critic(batch.values["x"], batch.values["y"]), weight, pairs), {}


@single_precision
def critic_answer(question: Question, bound: str) -> Answer:
    """Train, choose, report; given z, by the chain rule I(X; Y | Z) = I(X; Y, Z) − I(X; Z), both on the same rows.

    Args:
        question: Variables and options.
        bound: "mine", "nwj", "infonce" or "smile".

    Returns:
        Value, error and cautions.
    """
    name = question.normaliser("rms")
    split = split_rows(question.x.n, question.options.seed)
    split = replace(split, report=split.report[:MOST_REPORTED])
    terms = chained(question.numbers(name), lambda x, y: _terms(x, y, split, bound, question.options))
    spoken = _low_side(bound, len(split.report), terms.mean()) if question.given is None else (DIFFERENCE,)
    return Answer(float(terms.mean()), bound, name, error_of(terms), split.said, spoken)


def _terms(x: Array, y: Array, split: Split, bound: str, options: Options) -> Array:
    def make(key: PRNGKeyArray) -> Critic:
        return Critic(x.shape[1], y.shape[1], key=key)

    steps, rows = options.steps or STEPS, split.report
    critic = train(make, Bound(bound), x, y, split, seed=options.seed, steps=steps, patience=PATIENCE)
    scores = np.asarray(eqx.filter_jit(critic)(jnp.asarray(x[rows]), jnp.asarray(y[rows])), dtype=np.float64)
    return report_terms(scores, bound)


def _low_side(bound: str, n: int, value: float) -> tuple[str, ...]:
    result = [] if bound == "smile" else ["a lower bound: it errs on the low side by as much as the critic falls short"]
    if bound == "infonce" and value > 0.8 * np.log(n):
        result.append(f"InfoNCE cannot read more than log n = {np.log(n):.2f} nats from {n} rows, and is close to it")
    return tuple(result)


def report_terms(scores: Array, bound: str) -> Array:
    """Return a term for each row whose mean is the bound, and whose spread tells its error; exact arithmetic in float64.

    A row is in the average over pairs twice, by its x and by its y. Both parts enter its term, with mean zero: what the average
    would change by if the row were another (its Hájek projection).

    >>> report_terms(np.zeros((3, 3)), "mine").tolist()  # a critic that knows nothing
    [0.0, 0.0, 0.0]
    """
    n, paired = len(scores), np.diag(scores)
    if bound == "infonce":
        by_row = logsumexp(scores, axis=1)
        return np.asarray(paired - by_row + np.log(n) - (np.exp(scores - by_row[:, None]).sum(axis=0) - 1))
    others = np.clip(scores, -CLIP, CLIP) if bound == "smile" else scores.copy()
    np.fill_diagonal(others, -np.inf)
    level = logsumexp(others) - np.log(n * (n - 1))
    correction = sum(np.exp(logsumexp(others, axis=axis) - np.log(n - 1) - level) for axis in (0, 1)) - 2
    if bound == "nwj":
        return np.asarray(paired - np.exp(level - 1) * (1 + correction))
    return np.asarray(paired - level - correction)
