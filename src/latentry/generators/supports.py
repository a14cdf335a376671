"""Patterns of sparse mixings: which variable depends on which latent."""

from __future__ import annotations

import numpy as np

from latentry.contracts import MixingSupport
from latentry.errors import DataError

__all__ = ["PATTERNS", "pattern"]

PATTERNS = ("cyclic", "chain", "structured", "unstructured", "dense")
_TRIES = 20_000


def pattern(name: str, latents: int, observed: int, extra: float, rng: np.random.Generator) -> MixingSupport:
    """The pattern of that name, with a fraction ``extra`` of its absent edges added at random."""
    plain = _BUILD[name](latents, observed, rng)
    absent = np.argwhere(~plain)
    added = absent[rng.permutation(len(absent))[: round(extra * len(absent))]]
    plain[added[:, 0], added[:, 1]] = True
    return MixingSupport(plain)


def _cyclic(latents: int, observed: int, rng: np.random.Generator) -> np.ndarray:
    """Variable i depends on latents i and i + 1, modulo n."""
    found = np.zeros((observed, latents), dtype=bool)
    rows = np.arange(observed)
    found[rows, rows % latents] = found[rows, (rows + 1) % latents] = True
    return found


def _chain(latents: int, observed: int, rng: np.random.Generator) -> np.ndarray:
    """As the cycle, but the last latent stands alone in its variables: nothing pins the first."""
    found = _cyclic(latents, observed, rng)
    if latents > 1:
        found[latents - 1 :: latents, 0] = False
    return found


def _dense(latents: int, observed: int, rng: np.random.Generator) -> np.ndarray:
    return np.ones((observed, latents), dtype=bool)


def _random(latents: int, observed: int, rng: np.random.Generator, *, structured: bool) -> np.ndarray:
    """Edges by coins of probability 1/2, besides one edge for each variable, until the condition holds (or fails)."""
    for _ in range(_TRIES):
        found = rng.random((observed, latents)) < 0.5
        found[np.arange(observed), np.arange(observed) % latents] = True
        if bool(MixingSupport(found).pinned.all()) == structured and not found.all():
            return found
    words = "for every latent" if structured else "to fail for some latent"
    raise DataError(
        f"no random pattern of {observed} variables and {latents} latents was found with the condition {words}."
    )


_BUILD = {
    "cyclic": _cyclic,
    "chain": _chain,
    "structured": lambda n, d, rng: _random(n, d, rng, structured=True),
    "unstructured": lambda n, d, rng: _random(n, d, rng, structured=False),
    "dense": _dense,
}
