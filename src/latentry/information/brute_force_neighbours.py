"""All max-norm distances, one tile of rows at a time, compiled: for accelerators, which have no use for trees."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

__all__ = ["brute_neighbourhoods"]

Array = np.ndarray
Blocks = tuple[jax.Array, ...]
Spaces = tuple[tuple[int, ...], ...]
Answers = tuple[jax.Array, Blocks, jax.Array]  # radius, counts in each space, ties

TILE = 8  # rows whose distances to all others stay in the cache together
BUCKET = 1024  # rows are padded to a multiple, so that similar sizes use the same compiled program


def _distances(tile: jax.Array, columns: jax.Array) -> jax.Array:
    """Measure max-norm distances from the rows of a tile to every row; `columns` is the transposed block."""

    def widen(j: jax.Array, result: jax.Array) -> jax.Array:
        return jnp.maximum(result, jnp.abs(tile[:, j][:, None] - columns[j][None]))

    start = jnp.zeros((tile.shape[0], columns.shape[1]))
    distances: jax.Array = lax.fori_loop(0, columns.shape[0], widen, start)
    return distances


def _kth_smallest(distances: jax.Array, k: jax.Array) -> jax.Array:
    """Return the (k + 1)-th smallest entry of each row, ties counted: a few sweeps for the next larger value."""

    def sweep(_: int, state: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        value, count = state
        larger = jnp.min(jnp.where(distances > value[:, None], distances, jnp.inf), axis=1)
        value = jnp.where(count > k, value, larger)
        return value, jnp.sum(distances <= value[:, None], axis=1)

    rows = distances.shape[0]
    smallest: jax.Array = lax.fori_loop(0, k + 1, sweep, (jnp.full(rows, -1.0), jnp.zeros(rows, dtype=int)))[0]
    return smallest


@partial(jax.jit, static_argnames=("spaces", "rule"))
def _scan(tiles: Blocks, columns: Blocks, k: jax.Array, margin: jax.Array, spaces: Spaces, rule: str) -> Answers:
    def search(tile: Blocks) -> Answers:
        parts = [_distances(t, c) for t, c in zip(tile, columns, strict=True)]
        joint = jnp.stack(parts).max(axis=0) if len(parts) > 2 else jnp.maximum(*parts)
        radius = _kth_smallest(joint, k)
        groups = [parts[s[0]] if len(s) == 1 else jnp.maximum(parts[s[0]], parts[s[1]]) for s in spaces]
        if rule == "rectangle":
            near = joint <= radius[:, None]
            reaches = [jnp.max(jnp.where(near, g, 0.0), axis=1) + margin for g in groups]
        else:
            reaches = [radius + (margin if rule == "within" else -margin)] * len(groups)
        counts = tuple(jnp.sum(g <= r[:, None], axis=1) - 1 for g, r in zip(groups, reaches, strict=True))
        ties = jnp.sum(joint <= (radius + margin)[:, None], axis=1) - 1 if rule == "within" else jnp.full(TILE, k)
        return radius, counts, ties

    result: Answers = lax.map(search, tiles)
    return result


def brute_neighbourhoods(
    parts: tuple[Array, ...], spaces: Spaces, k: int, rule: str, asked: Array | None = None
) -> tuple[Array, tuple[Array, ...], Array]:
    """Return the same answer as the trees; see `neighbours.neighbourhoods`.

    Args:
        parts: Blocks with the same rows.
        spaces: Tuples of positions in `parts`.
        k: Which neighbour sets the radius.
        rule: "strict", "within" or "rectangle".
        asked: Rows to answer for; None is every row.

    Returns:
        Radius, counts in each space, and ties.
    """
    from latentry.information.neighbours import slack

    chosen, margin = parts if asked is None else tuple(p[asked] for p in parts), slack(parts)
    with jax.enable_x64():  # exact counts need the precision of the trees
        tiles = tuple(jnp.asarray(_padded(p).reshape(-1, TILE, p.shape[1])) for p in chosen)
        columns = tuple(jnp.asarray(_padded(p).T) for p in parts)
        result = _scan(tiles, columns, k, margin, spaces, rule)
        radius, counts, ties = jax.tree.map(lambda leaf: np.asarray(leaf).reshape(-1)[: len(chosen[0])], result)
    return radius, tuple(np.maximum(c, 0) for c in counts), ties


def _padded(rows: Array) -> Array:
    """Add rows so far away that nothing reaches them, up to a multiple of the bucket."""
    return np.vstack([rows, np.full((-len(rows) % BUCKET, rows.shape[1]), 1e300)])
