"""Two latents of the same distribution: how far one is a function of the other, and what theory promises.

If X_A and X_B are disjoint blocks of observables, then for any Λ and Λ'

    H(Λ'|Λ) ≤ I(X_A; X_B|Λ) + H(Λ'|X_A) + H(Λ'|X_B),

so that a redundant latent is (almost) a function of every mediator: Wentworth and Lorell, arXiv 2509.03780.
For noisy latents, with DTC the dual total correlation and weak redundancies on the right,

    I(Λ'; X|Λ) ≤ DTC(X|Λ) + Σ_i I(Λ'; X_i|X_{−i}) + n I(Λ; Λ'|X).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latentry.errors import DataError
from latentry.evidence import Bound
from latentry.natural.distributions import MAX_CELLS, as_channel, as_law
from latentry.natural.entropies import conditional_entropy, dual_total_correlation, mutual_information

__all__ = ["OneDirection", "Translation", "translate"]

Array = NDArray[np.float64]
Blocks = tuple[tuple[int, ...], tuple[int, ...]]
_ROUNDING = 1e-12
_MAX_OBSERVABLES = 8


@dataclass(frozen=True)
class OneDirection:
    """Translation of one latent (the mediator) into another (the target).

    Args:
        missing: H(target|mediator), the truth.
        promised: Its bound from mediation and redundancy, over the best pair of blocks.
        blocks: That pair.
        leftover: I(target; X|mediator), the truth for noisy latents.
        leftover_promised: Its bound.
    """

    missing: Bound
    promised: Bound
    blocks: Blocks
    leftover: Bound
    leftover_promised: Bound

    def __str__(self) -> str:
        names = " and ".join("{" + ", ".join(f"X_{i + 1}" for i in block) + "}" for block in self.blocks)
        return f"H = {self.missing.value:.4g} nats, promised ≤ {self.promised.value:.4g} by {names}"


@dataclass(frozen=True)
class Translation:
    """Both directions: `a_from_b` says how far a is a function of b."""

    a_from_b: OneDirection
    b_from_a: OneDirection

    def __str__(self) -> str:
        return f"a given b: {self.a_from_b}\nb given a: {self.b_from_a}"


def translate(law: ArrayLike, a: ArrayLike, b: ArrayLike) -> Translation:
    """Measure how far two latents of one distribution translate into each other, with the theorem's bound beside it.

    The latents are drawn independently given X. A natural latent is a function of every mediator:

    Cost: linear in the cells |X_1| ⋯ |X_n| · |Λ_a| · |Λ_b|.

    >>> from latentry.generators import planted_natural
    >>> made = planted_natural(domains=1)
    >>> copy = np.eye(4)[:, None, :].repeat(4, axis=1)  # X_1 itself mediates
    >>> forward = translate(made.laws[0], made.channel, copy).a_from_b
    >>> round(forward.missing.value, 6), round(forward.promised.value, 6)
    (0.0, 0.0)

    Args:
        law: (|X_1|, ..., |X_n|) probabilities, for 2 to 8 observables.
        a: (|X_1|, ..., |X_n|, |Λ|), the channel of the first latent.
        b: (|X_1|, ..., |X_n|, |Λ'|), the channel of the second.

    Returns:
        What is missing of each given the other, in nats, and its bound.

    Raises:
        DataError: If there are too few or too many observables, the table is too large, or a channel does not fit.
    """
    table = as_law(law)
    n = table.ndim
    if not 2 <= n <= _MAX_OBSERVABLES:
        raise DataError(f"law: has {n} observables. Translation compares pairs of blocks of 2 to {_MAX_OBSERVABLES}.")
    first, second = as_channel(a, table > 0, name="a"), as_channel(b, table > 0, name="b")
    cells = table.size * first.shape[-1] * second.shape[-1]
    if cells > MAX_CELLS:
        raise DataError(
            f"law, a and b together need a table of {cells:,} cells, more than {MAX_CELLS:,}. Merge levels."
        )
    joint = table[..., None, None] * first[..., :, None] * second[..., None, :]
    return Translation(_one_direction(joint, n, n + 1), _one_direction(joint, n + 1, n))


def _one_direction(joint: Array, target: int, mediator: int) -> OneDirection:
    n = joint.ndim - 2
    x = list(range(n))
    promises = {pair: _promise(joint, pair, target, mediator) for pair in _pairs(n)}
    blocks = min(promises, key=lambda pair: promises[pair])
    weak = sum(mutual_information(joint, [target], [i], [j for j in x if j != i]) for i in x)
    leftover = dual_total_correlation(joint, [[i] for i in x], [mediator]) + weak
    return OneDirection(
        missing=_exact(conditional_entropy(joint, [target], [mediator])),
        promised=_upper(promises[blocks], "mediator determines redund"),
        blocks=blocks,
        leftover=_exact(mutual_information(joint, [target], x, [mediator])),
        leftover_promised=_upper(leftover, "dual total correlation and weak redundancy"),
    )


def _promise(joint: Array, pair: Blocks, target: int, mediator: int) -> float:
    left, right = pair
    guesses = sum(conditional_entropy(joint, [target], block) for block in pair)
    return mutual_information(joint, left, right, [mediator]) + guesses


def _pairs(n: int) -> list[Blocks]:
    """Unordered pairs of disjoint, non-empty blocks of observables."""
    pairs = []
    for sides in product((0, 1, 2), repeat=n):
        left, right = (tuple(i for i in range(n) if sides[i] == side) for side in (1, 2))
        if left and right and left[0] < right[0]:
            pairs.append((left, right))
    return pairs


def _exact(value: float) -> Bound:
    return Bound(max(0.0, value), method="finite distribution", tolerance=_ROUNDING)


def _upper(value: float, method: str) -> Bound:
    return Bound(max(0.0, value) + _ROUNDING, "upper", method=method)
