"""Finite distributions with a latent whose errors are known: planted natural latents, near misses and failures.

Most of them have the same shape: every observable X_i = (Z_i, A_i) carries a symbol and a private bit, coded as
2 Z_i + A_i, and the latent is read off through a channel K(λ|x). What differs is what is tied to what.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from latentry.errors import DataError

__all__ = [
    "FiniteFamily",
    "FiniteSample",
    "constant_latent",
    "leaked_noise",
    "near_miss",
    "noisy_copies",
    "planted_natural",
    "random_family",
    "synergy",
    "xor_across_domains",
]

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class FiniteSample:
    """Rows drawn from a family: observables (rows, n), the latent, K(·|x) at each row, and the domain."""

    observables: NDArray[np.int64]
    latent: NDArray[np.int64]
    channel_rows: Array
    domain: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class FiniteFamily:
    """Distributions (k, |X_1|, ..., |X_n|), a channel (|X_1|, ..., |X_n|, |Λ|), and what was planted in them."""

    laws: Array
    channel: Array
    planted: str

    def sample(self, rows: int | Sequence[int], seed: int) -> FiniteSample:
        """Draw rows, equally many of each domain, or as many as given for each.

        Args:
            rows: In all, or of each domain.
            seed: Of the draws.

        Returns:
            The rows, in random order.

        Raises:
            DataError: If there is not a number for each domain.

        >>> s = xor_across_domains().sample(100, seed=0)
        >>> s.observables.shape, np.bincount(s.domain).tolist()
        ((100, 2), [50, 50])
        """
        k = len(self.laws)
        sizes = [rows // k + (j < rows % k) for j in range(k)] if isinstance(rows, int) else list(rows)
        if len(sizes) != k or min(sizes) < 0:
            raise DataError(f"rows={rows}: there are {k} domains. Give one number of rows, or one for each of them.")
        rng = np.random.default_rng(seed)
        cells = [rng.choice(joint.size, size=m, p=joint.ravel()) for joint, m in zip(self.laws, sizes, strict=True)]
        order = rng.permutation(sum(sizes))
        cell = np.concatenate(cells)[order]
        domain = np.repeat(np.arange(k), sizes)[order]
        kernel = self.channel.reshape(-1, self.channel.shape[-1])[cell]
        latent = (rng.random((len(cell), 1)) > np.cumsum(kernel, axis=1)[:, :-1]).sum(axis=1)
        observables = np.stack(np.unravel_index(cell, self.laws.shape[1:]), axis=1)
        return FiniteSample(observables, latent, kernel, domain)


def _pairs(
    symbol: Array, bits: Callable[[int], Array], channel: Callable[[int, Sequence[int]], Array]
) -> tuple[Array, Array]:
    """Return the distribution of X_i = (Z, A_i) with P(Z) = symbol and P(A | Z = z) = bits(z), and K from (z, a)."""
    n = bits(0).ndim
    size = 2 * symbol.size
    latents = channel(0, [0] * n).size
    joint, kernel = np.zeros((size,) * n), np.full((size,) * n + (latents,), 1.0 / latents)
    for z, probability in enumerate(symbol):
        table = bits(z)
        for a in np.ndindex(table.shape):
            cell = tuple(2 * z + bit for bit in a)
            joint[cell] = probability * table[a]
            kernel[cell] = channel(z, a)
    return joint, kernel


def _family(made: Sequence[tuple[Array, Array]], planted: str) -> FiniteFamily:
    """Return a family of the distributions, with the channel of the first."""
    return FiniteFamily(np.stack([joint for joint, _ in made]), made[0][1], planted)


def _unit(size: int, index: int) -> Array:
    unit: Array = np.eye(size)[index]
    return unit


def _independent(probabilities: Sequence[float]) -> Array:
    table = np.ones(())
    for p in probabilities:
        table = np.multiply.outer(table, [1.0 - p, p])
    return table


def _agreeing(agree: float) -> Array:
    """Return the distribution of two fair bits that agree with the given probability."""
    return np.array([[agree, 1 - agree], [1 - agree, agree]]) / 2


def planted_natural(domains: int = 2, observables: int = 2, symbols: int = 2, seed: int = 0) -> FiniteFamily:
    """Build an exact natural latent: Λ = Z, seen by every observable; Z and the private bits vary by domain.

    The private bits depend on Z but not on the domain, so that mixtures stay natural too.

    Cost: the size of the table: domains · symbols^observables.

    Args:
        domains: How many.
        observables: How many.
        symbols: Values of Z.
        seed: Of the probabilities.

    Returns:
        The family.
    """
    rng = np.random.default_rng(seed)
    bits = rng.uniform(0.2, 0.8, size=(symbols, observables))
    made = [
        _pairs(
            rng.dirichlet(np.full(symbols, 5.0)),
            lambda z: _independent(bits[z]),
            lambda z, a: _unit(symbols, z),
        )
        for _ in range(domains)
    ]
    return _family(made, "exact natural latent in every mixture")


def xor_across_domains(strength: float = 0.5, *, shared: bool = False) -> FiniteFamily:
    """Build bits that agree in one domain and disagree in the other, P(A = B) = ½ ± strength.

    At equal weights the mixture is independent: mediation error 0 and gradient 0, although each domain has
    ln 2 − h(½ + strength). With `shared`, both observables also carry a fair Z and Λ = Z; without, Λ is constant.

    Cost: the size of the table: domains · symbols^observables.

    Args:
        strength: From 0 to ½.
        shared: Whether the observables also carry Z.

    Returns:
        The family.
    """
    tables = [_agreeing(0.5 + strength), _agreeing(0.5 - strength)]
    if not shared:
        return FiniteFamily(np.stack(tables), np.ones((2, 2, 1)), "mediation fails in each domain only")
    fair = np.full(2, 0.5)
    made = [_pairs(fair, _always(table), lambda z, a: _unit(2, z)) for table in tables]
    return _family(made, "mediation fails in each domain only")


def _always(table: Array) -> Callable[[int], Array]:
    return lambda z: table


def near_miss(error: float, domains: int = 2) -> FiniteFamily:
    """Build Λ = Z for X_i = (Z, A_i) with private bits that agree a little: mediation error is exactly `error` nats.

    Cost: the size of the table: domains · symbols^observables.

    Args:
        error: In nats, between 0 and ln 2.
        domains: How many.

    Returns:
        The family.

    Raises:
        DataError: If the error lies elsewhere.

    >>> float(near_miss(0.05).laws.sum())
    2.0
    """
    if not 0 < error < np.log(2):
        raise DataError(f"error={error}: it is out of range. Give nats between 0 and ln 2.")

    def excess(agree: float) -> float:
        return float(np.log(2) + agree * np.log(agree) + (1 - agree) * np.log(1 - agree) - error)

    agree = brentq(excess, 0.5, 1 - 1e-12)
    symbol = [np.array([0.5 + 0.1 * j / domains, 0.5 - 0.1 * j / domains]) for j in range(domains)]
    made = [_pairs(s, lambda z: _agreeing(agree), lambda z, a: _unit(2, z)) for s in symbol]
    return _family(made, f"mediation error {error:g} in each domain")


def leaked_noise(leak: float = 1.0, domains: int = 2) -> FiniteFamily:
    """Build Λ = (Z, A_1 seen with probability `leak`): the second observable cannot tell the first one's bit.

    Cost: the size of the table: domains · symbols^observables.

    Args:
        leak: Probability.
        domains: How many.

    Returns:
        The family.
    """

    def channel(z: int, a: Sequence[int]) -> Array:
        return _unit(4, 2 * z + a[0]) * leak + (1 - leak) * (_unit(4, 2 * z) + _unit(4, 2 * z + 1)) / 2

    symbol = [np.array([0.5 + 0.1 * j / domains, 0.5 - 0.1 * j / domains]) for j in range(domains)]
    made = [_pairs(s, lambda z: _independent([0.5, 0.5]), channel) for s in symbol]
    return _family(made, "redundancy fails: a private bit leaks")


def synergy(domains: int = 2) -> FiniteFamily:
    """Build Λ = A_1 xor A_2: no observable alone knows anything about it, and given it the bits determine each other.

    Cost: the size of the table: domains · symbols^observables.

    Args:
        domains: How many.

    Returns:
        The family.
    """
    symbol = np.full(2, 0.5)
    made = [
        _pairs(symbol, lambda z: _independent([0.5, 0.5]), lambda z, a: _unit(2, a[0] ^ a[1])) for _ in range(domains)
    ]
    return _family(made, "redundancy fails: synergy")


def constant_latent(domains: int = 2) -> FiniteFamily:
    """Build a constant Λ although the observables have a fair Z in common: mediation error ln 2, redundancy 0.

    Cost: the size of the table: domains · symbols^observables.

    Args:
        domains: How many.

    Returns:
        The family.
    """
    made = [
        _pairs(np.full(2, 0.5), lambda z: _independent([0.5, 0.5]), lambda z, a: np.ones(1)) for _ in range(domains)
    ]
    return _family(made, "mediation fails: Λ is constant")


def noisy_copies(observables: int = 3, flip: float = 0.05) -> FiniteFamily:
    """Build independent noisy copies of a fair bit; Λ is that bit, as inferred from the copies.

    Cost: the size of the table: domains · symbols^observables.

    Args:
        observables: How many.
        flip: Probability that a copy is wrong.

    Returns:
        The family.

    >>> noisy_copies(2, 0.25).laws[0]
    array([[0.3125, 0.1875],
           [0.1875, 0.3125]])
    """
    given = [_independent([flip] * observables), _independent([1 - flip] * observables)]
    joint = (given[0] + given[1]) / 2
    return FiniteFamily(joint[None], np.stack(given, axis=-1) / (2 * joint[..., None]), "the cause of noisy copies")


def random_family(
    shape: Sequence[int], latents: int, domains: int, seed: int, *, concentration: float = 1.0
) -> FiniteFamily:
    """Draw distributions and a channel from Dirichlet distributions: nothing is planted.

    Cost: the size of the table: domains · symbols^observables.

    Args:
        shape: Values of each observable.
        latents: Values of Λ.
        domains: How many.
        seed: Of the draws.
        concentration: Of the Dirichlet distributions.

    Returns:
        The family.

    >>> random_family((2, 3), 2, 4, seed=0).laws.shape
    (4, 2, 3)
    """
    rng = np.random.default_rng(seed)
    cells = int(np.prod(shape))
    laws = rng.dirichlet(np.full(cells, concentration), size=domains).reshape(domains, *shape)
    channel = rng.dirichlet(np.full(latents, concentration), size=cells).reshape(*shape, latents)
    return FiniteFamily(laws, channel, "nothing")
