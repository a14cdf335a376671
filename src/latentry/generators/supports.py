"""Patterns of sparse mixings: which variable depends on which latent."""

from __future__ import annotations

import numpy as np

from latentry.contracts import MixingSupport
from latentry.errors import DataError

__all__ = ["PATTERNS", "pattern"]

PATTERNS = ("cyclic", "chain", "structured", "unstructured", "dense")
_TRIES = 20_000


def pattern(name: str, latents: int, observed: int, extra: float, rng: np.random.Generator) -> MixingSupport:
    """Return the pattern of that name, with a fraction ``extra`` of its absent edges added at random.

    Args:
        name: One of ``PATTERNS``.
        latents: How many.
        observed: Number of variables.
        extra: Fraction, from 0 to 1.
        rng: Source of random numbers.

    Returns:
        The support.

    Raises:
        DataError: If no random pattern has the wanted property.
    """
    plain = _BUILD[name](latents, observed, rng)
    absent = np.argwhere(~plain)
    added = absent[rng.permutation(len(absent))[: round(extra * len(absent))]]
    plain[added[:, 0], added[:, 1]] = True
    return MixingSupport(plain)


def _cyclic(latents: int, observed: int, rng: np.random.Generator) -> np.ndarray:
    """Let variable i depend on latents i and i + 1, modulo n."""
    present = np.zeros((observed, latents), dtype=bool)
    rows = np.arange(observed)
    present[rows, rows % latents] = present[rows, (rows + 1) % latents] = True
    return present


def _chain(latents: int, observed: int, rng: np.random.Generator) -> np.ndarray:
    """Take the cycle, but leave the last latent alone in its variables: nothing pins the first."""
    present = _cyclic(latents, observed, rng)
    if latents > 1:
        present[latents - 1 :: latents, 0] = False
    return present


def _dense(latents: int, observed: int, rng: np.random.Generator) -> np.ndarray:
    return np.ones((observed, latents), dtype=bool)


def _random(latents: int, observed: int, rng: np.random.Generator, *, structured: bool) -> np.ndarray:
    """Draw edges with probability 1/2, besides one edge for each variable, until the condition holds (or fails)."""
    for _ in range(_TRIES):
        present = rng.random((observed, latents)) < 0.5
        present[np.arange(observed), np.arange(observed) % latents] = True
        if bool(MixingSupport(present).pinned.all()) == structured and not present.all():
            return present
    words = "for every latent" if structured else "to fail for some latent"
    raise DataError(
        f"observed={observed}, latents={latents}: no random pattern in {_TRIES} has the condition {words}. "
        "Give more variables, or another mixing."
    )


_BUILD = {
    "cyclic": _cyclic,
    "chain": _chain,
    "structured": lambda n, d, rng: _random(n, d, rng, structured=True),
    "unstructured": lambda n, d, rng: _random(n, d, rng, structured=False),
    "dense": _dense,
}
