"""A decoder that is fitted when the latent is there already: it draws what latents look like, and moves none."""

from __future__ import annotations

import math
from collections.abc import Mapping

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float
from numpy.typing import NDArray

from latentry.data import Dataset
from latentry.nets import Head

__all__ = ["Drawing", "fitted_drawing"]

_BENDS = 64  # features of a latent of numbers, besides the numbers themselves
_RIDGE = 1e-3  # penalty: for columns a fraction of the rows


class Drawing(eqx.Module):
    """Expected data as a linear map of features of the latent, by least squares.

    The features of values are their probabilities, so that the map holds the mean of each value. Those of columns are the
    columns, standardised, and their images in a fixed random layer.

    Args:
        centre: Of each column.
        spread: Of each column; 0 for one that is not used.
        layer: (columns, bends), random and fixed; without bends for values.
        shift: Of the bends.
        maps: (features, outputs) for each modality.
    """

    centre: Float[Array, " size"]
    spread: Float[Array, " size"]
    layer: Float[Array, "size bends"]
    shift: Float[Array, " bends"]
    maps: dict[str, Float[Array, "features outputs"]]

    @classmethod
    def blank(cls, size: int, outputs: Mapping[str, int], *, values: bool) -> Drawing:
        """Return a decoder before it is fitted: it draws means.

        Args:
            size: Values or columns.
            outputs: Numbers that are drawn of each modality.
            values: Whether the latent has values.

        Returns:
            Zeros, in their shapes.
        """
        bends = 0 if values else _BENDS
        random = np.random.default_rng(0)
        layer, shift = random.normal(size=(size, bends)), random.uniform(-2, 2, size=bends)
        features = size if values else 1 + size + bends
        return cls(
            _device(np.zeros(size)),
            _device(np.ones(size)),
            _device(layer / math.sqrt(max(size, 1))),
            _device(shift),
            {name: _device(np.zeros((features, count))) for name, count in outputs.items()},
        )

    def features(self, latents: Float[Array, "rows size"]) -> Float[Array, "rows features"]:
        """Return what the map sees of latents.

        Args:
            latents: Probabilities of values, or columns.

        Returns:
            (rows, features).
        """
        if not self.shift.size:
            return latents
        safe = jnp.where(self.spread > 0, self.spread, 1.0)
        scaled = jnp.where(self.spread > 0, (latents - self.centre) / safe, 0.0)
        bent = jnp.tanh(scaled @ self.layer + self.shift)
        return jnp.concatenate([jnp.ones((len(latents), 1)), scaled, bent], axis=1)

    def __call__(
        self, latents: Float[Array, "rows size"], heads: Mapping[str, Head], shapes: Mapping[str, tuple[int, ...]]
    ) -> dict[str, Float[Array, "rows ..."]]:
        """Draw every modality.

        Args:
            latents: Probabilities of values, or columns.
            heads: What kind of numbers a modality holds.
            shapes: Of a row of each modality.

        Returns:
            Expected values, standardised, by modality; of codes the most probable.
        """
        seen = self.features(latents)
        drawn = {
            name: (seen @ table).reshape(-1, *shapes[name], heads[name].parameters) for name, table in self.maps.items()
        }
        return {name: _expected(heads[name], outputs) for name, outputs in drawn.items()}


def _expected(head: Head, outputs: Float[Array, "rows ..."]) -> Float[Array, "rows ..."]:
    """Probabilities of codes are compared like their logarithms; other numbers are means, kept where they can be."""
    return jax.vmap(head.mean)(outputs) if head.parameters > 1 else head.possible(outputs[..., 0])


def fitted_drawing(
    blank: Drawing, latents: NDArray[np.float64], data: Dataset, heads: Mapping[str, Head], kept: int
) -> Drawing:
    """Fit the map to rows whose latents are known, by least squares with a small penalty.

    Args:
        blank: Of the same shapes.
        latents: (rows, values or columns), of which the first ``kept`` are used.
        data: The rows, standardised.
        heads: What kind of numbers a modality holds.
        kept: Values or columns that are used.

    Returns:
        A decoder.
    """
    used = np.arange(latents.shape[1]) < kept
    spread = np.where(used, latents.std(axis=0), 0.0)
    scaled = eqx.tree_at(
        lambda tree: (tree.centre, tree.spread), blank, (_device(latents.mean(axis=0)), _device(spread))
    )
    seen = np.asarray(scaled.features(jnp.asarray(latents * used, dtype=jnp.float32)), dtype=np.float64)
    ridge = _RIDGE * (len(seen) if blank.shift.size else 1)
    maps = {name: _device(_map_to(seen, data, name, heads[name], ridge)) for name in blank.maps}
    fitted: Drawing = eqx.tree_at(lambda tree: tree.maps, scaled, maps)
    return fitted


def _map_to(seen: NDArray[np.float64], data: Dataset, name: str, head: Head, ridge: float) -> NDArray[np.float64]:
    """Fit the map to a modality; where single cells are missing, to each of its numbers in the rows that have it."""
    wanted, known = _targets(data, name, head), data.cells_observed(name)
    if known is None:
        return _least_squares(seen, wanted, np.asarray(data.observed[name]), ridge)
    cells = np.repeat(known.reshape(len(known), -1), head.parameters, axis=1)
    columns = [_least_squares(seen, wanted[:, [j]], cells[:, j], ridge) for j in range(wanted.shape[1])]
    return np.concatenate(columns, axis=1)


def _targets(data: Dataset, name: str, head: Head) -> NDArray[np.float64]:
    rows = np.nan_to_num(np.asarray(data[name]))
    if head.parameters > 1:
        rows = np.asarray(jax.vmap(head.features)(jnp.asarray(rows, dtype=jnp.float32)))
    flat: NDArray[np.float64] = rows.reshape(len(rows), -1).astype(np.float64)
    return flat


def _least_squares(
    seen: NDArray[np.float64], wanted: NDArray[np.float64], observed: NDArray[np.bool_], ridge: float
) -> NDArray[np.float64]:
    some = seen[observed]
    solved = np.linalg.solve(some.T @ some + ridge * np.eye(some.shape[1]), some.T @ wanted[observed])
    return np.asarray(solved, dtype=np.float64)


def _device(values: NDArray[np.float64]) -> jax.Array:
    placed: jax.Array = jax.device_put(np.asarray(values, dtype=np.float32))
    return placed
