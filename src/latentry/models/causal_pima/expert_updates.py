r"""Updates of experts' parameters: least squares on each cluster's mean row, exact for Gaussian noise.

:math:`\sum_d \gamma_{dc} \|x_d - f_c\|^2` depends on the parameters through the weighted mean row of each cluster alone.
Standard errors are those of rows as units (Huber 1967): curves scatter as wholes, not point by point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import least_squares

from latentry.data import Dataset, blocks
from latentry.errors import DataError
from latentry.models.causal_pima.module import ExpertDecoder
from latentry.nets import Expert, Parameter

__all__ = ["UNKNOWN", "new_expert", "updated_expert"]

Array = NDArray[np.float64]
Groups = tuple[tuple[str, tuple[int, ...]], ...]

UNKNOWN = -1.0  # error of what a single row, or none, speaks of; shown as NaN
_FIRST_TRIES = 12  # starts of the first fit: kinks and frequencies have local optima


def new_expert(
    expert: Expert, shift: np.ndarray, scale: np.ndarray, values: NDArray[np.int64], names: tuple[str, ...]
) -> ExpertDecoder:
    """Return a decoder whose parameters are at their starts.

    Args:
        expert: The formula and its parameters.
        shift: By which rows were standardised.
        scale: By which rows were standardised.
        values: Value of each node in each cluster, (nodes, clusters).
        names: Of the nodes.

    Returns:
        The decoder.
    """
    clusters = values.shape[1]
    groups = tuple((name, _group(p, clusters, values, names)) for name, p in expert.parameters.items())
    starts = {n: jnp.full(max(g) + 1, expert.parameters[n].start, jnp.float32) for n, g in groups}
    blank = {name: jnp.zeros_like(start) for name, start in starts.items()}
    noise = jnp.zeros(clusters) + jnp.log(jnp.mean(jnp.asarray(scale, jnp.float32)))
    first = {name: p.start for name, p in expert.parameters.items()}
    rows = jnp.zeros((clusters, *jnp.shape(expert(**first))))
    return ExpertDecoder(
        starts, blank, noise, rows, jnp.asarray(shift, jnp.float32), jnp.asarray(scale, jnp.float32), expert, groups
    )


def _group(parameter: Parameter, clusters: int, values: NDArray[np.int64], names: tuple[str, ...]) -> tuple[int, ...]:
    if parameter.per == "cluster":
        return tuple(range(clusters))
    if parameter.per == "all":
        return (0,) * clusters
    return tuple(int(v) for v in values[names.index(parameter.per)])


@dataclass(frozen=True, eq=False)
class _Sums:
    weight: Array  # (clusters,)
    mean: Array  # (clusters, points)
    square: Array  # (clusters,): weighted sum of squares


def updated_expert(decoder: ExpertDecoder, data: Dataset, modality: str, gamma: Array, *, first: bool) -> ExpertDecoder:
    """Fit parameters, noise and standard errors, for given probabilities of the clusters.

    Args:
        decoder: As it is now.
        data: Standardised rows.
        modality: That the expert decodes.
        gamma: Probability of each cluster, (rows, clusters).
        first: Whether several starts are tried.

    Returns:
        The decoder after the fit.

    Raises:
        DataError: If the expert is not finite at any start.
    """
    gamma = gamma * data.observed[modality][:, None]
    sums = _sums(decoder, data, modality, gamma)
    layout = _Layout(decoder.expert, decoder.groups)
    noise = np.exp(np.asarray(decoder.log_scale, dtype=np.float64))
    theta = layout.pack(decoder.values)
    fitted = _fitted(layout, sums, noise, theta, tries=_FIRST_TRIES if first else 1)
    if fitted is None:
        raise DataError(
            f"the expert of {modality!r} is not finite at its start, nor at {_FIRST_TRIES - 1} others: bound its parameters to "
            "where it is defined, such as Parameter(1.0, low=0.1, high=10)."
        )
    theta = fitted
    curves = layout.curves(theta)
    noise = _noise(sums, curves)
    errors = _errors(layout, decoder, data, modality, gamma, theta, noise)
    parts = (layout.unpack(theta), layout.unpack(errors), jnp.asarray(np.log(noise), jnp.float32))
    updated: ExpertDecoder = eqx.tree_at(lambda d: (d.values, d.errors, d.log_scale), decoder, parts)
    marked: ExpertDecoder = eqx.tree_at(lambda d: d.fitted, updated, updated.rows())
    return marked


def _raw(decoder: ExpertDecoder, data: Dataset, modality: str) -> Iterator[tuple[int, Array]]:
    shift, scale = (np.asarray(part, dtype=np.float64) for part in (decoder.shift, decoder.scale))
    for start, piece in blocks(data[modality]):
        raw = (piece.astype(np.float64) * scale + shift).reshape(len(piece), -1)
        raw[~data.observed[modality][start : start + len(piece)]] = 0.0  # whatever stands there has no weight
        yield start, raw


def _sums(decoder: ExpertDecoder, data: Dataset, modality: str, gamma: Array) -> _Sums:
    weight, square = gamma.sum(axis=0), np.zeros(gamma.shape[1])
    first = np.zeros((gamma.shape[1], int(np.prod(data.layout.shape(modality)))))
    for start, piece in _raw(decoder, data, modality):
        part = gamma[start : start + len(piece)]
        first += part.T @ piece
        square += part.T @ (piece**2).sum(axis=1)
    return _Sums(weight, first / np.maximum(weight, 1e-9)[:, None], square)


class _Layout:
    """All parameters of an expert as one vector."""

    def __init__(self, expert: Expert, groups: Groups) -> None:
        self.expert, self.groups = expert, groups
        self.sizes = [max(group) + 1 for _, group in groups]
        self._rows, self._jacobian = _compiled(expert, groups)
        parameters = [expert.parameters[name] for name, _ in groups]
        self.low, self.high, self.start = (
            np.repeat([getattr(p, part) for p in parameters], self.sizes).astype(float)
            for part in ("low", "high", "start")
        )

    def pack(self, values: Mapping[str, ArrayLike]) -> Array:
        """Return the parameters as one vector."""
        return np.concatenate([np.asarray(values[name], dtype=np.float64) for name, _ in self.groups])

    def unpack(self, theta: Array) -> dict[str, jax.Array]:
        """Return the parameters by name."""
        parts = np.split(theta, np.cumsum(self.sizes)[:-1])
        return {name: jnp.asarray(part, jnp.float32) for (name, _), part in zip(self.groups, parts, strict=True)}

    def curves(self, theta: Array) -> Array:
        """Return the rows, (clusters, points)."""
        rows = np.asarray(self._rows(jnp.asarray(theta, jnp.float32)), dtype=np.float64)
        return rows.reshape(len(rows), -1)

    def jacobian(self, theta: Array) -> Array:
        """Return derivatives of the rows, (clusters, points, parameters)."""
        derivatives = np.asarray(self._jacobian(jnp.asarray(theta, jnp.float32)), dtype=np.float64)
        return derivatives.reshape(derivatives.shape[0], -1, derivatives.shape[-1])

    def inside(self, theta: Array) -> Array:
        """Return parameters a little inside the bounds: a value on its bound would never leave it."""
        width = np.where(np.isfinite(self.high - self.low), self.high - self.low, 1.0)
        return np.clip(theta, self.low + 1e-6 * width, self.high - 1e-6 * width)


@lru_cache(maxsize=32)
def _compiled(
    expert: Expert, groups: Groups
) -> tuple[Callable[[jax.Array], jax.Array], Callable[[jax.Array], jax.Array]]:
    sizes = [max(group) + 1 for _, group in groups]

    def rows(theta: jax.Array) -> jax.Array:
        parts = jnp.split(theta, np.cumsum(sizes)[:-1].tolist())
        chosen = {name: part[jnp.asarray(group)] for (name, group), part in zip(groups, parts, strict=True)}
        curves: jax.Array = jax.vmap(lambda values: expert(**values))(chosen)
        return curves

    return jax.jit(rows), jax.jit(jax.jacfwd(rows))


def _fitted(layout: _Layout, sums: _Sums, noise: Array, theta: Array, tries: int) -> Array | None:
    """The best of several bounded least-squares fits; clusters without rows stay near where they were.

    Starts at which the expert is not finite are left out; None if it is nowhere.
    """
    pull = (np.sqrt(sums.weight) / noise)[:, None]
    anchor = 1e-3 / (np.abs(theta) + 0.1)

    def residuals(at: Array) -> Array:
        return np.concatenate([(pull * (layout.curves(at) - sums.mean)).reshape(-1), anchor * (at - theta)])

    def jacobian(at: Array) -> Array:
        return np.concatenate([(pull[..., None] * layout.jacobian(at)).reshape(-1, len(at)), np.diag(anchor)])

    rng = np.random.default_rng(0)
    fits: list[tuple[float, Array]] = []
    for attempt in range(tries):
        start = theta if attempt == 0 else _elsewhere(layout, rng)
        inside = layout.inside(start)
        if not np.isfinite(residuals(inside)).all() or not np.isfinite(jacobian(inside)).all():
            continue
        try:
            fit = least_squares(residuals, inside, jacobian, (layout.low, layout.high), x_scale="jac", max_nfev=60)
        except (ValueError, np.linalg.LinAlgError):  # a derivative in between was not finite
            continue
        fits.append((fit.cost, fit.x))
    return min(fits, key=lambda pair: pair[0])[1] if fits else None


def _elsewhere(layout: _Layout, rng: np.random.Generator) -> Array:
    bounded = np.isfinite(layout.low) & np.isfinite(layout.high)
    low, high = np.where(bounded, layout.low, 0.0), np.where(bounded, layout.high, 1.0)
    spread = layout.start + (np.abs(layout.start) + 0.1) * rng.standard_normal(len(layout.start))
    return np.where(bounded, low + (high - low) * rng.random(len(low)), np.clip(spread, layout.low, layout.high))


def _noise(sums: _Sums, curves: Array) -> Array:
    """Standard deviation in each cluster, with one pseudo-row of the pooled one."""
    size = curves.shape[1]
    cross = np.einsum("kt,kt->k", sums.mean, curves)
    about = sums.square - sums.weight * (2 * cross - (curves**2).sum(axis=1))
    about = np.maximum(about, 0)
    total = np.maximum(sums.weight.sum(), 1e-9)
    pooled = max(float(about.sum()) / (total * size), 1e-10)
    deviation: Array = np.sqrt((about + size * pooled) / (sums.weight * size + size))
    return deviation


def _errors(
    layout: _Layout, decoder: ExpertDecoder, data: Dataset, modality: str, gamma: Array, theta: Array, noise: Array
) -> Array:
    jacobian, curves = layout.jacobian(theta) / noise[:, None, None] ** 2, layout.curves(theta)
    weight = gamma.sum(axis=0)
    bread = np.einsum("k,ktp,ktq->pq", weight * noise**2, jacobian, jacobian, optimize=True)
    meat = np.zeros_like(bread)
    for start, piece in _raw(decoder, data, modality):
        part = gamma[start : start + len(piece)]
        # Σ_c γ_c J_c'(x − f_c) without an array of (rows, clusters, points)
        scores = np.einsum("rk,rt,ktp->rp", part, piece, jacobian, optimize=True)
        scores = scores - part @ np.einsum("kt,ktp->kp", curves, jacobian)
        meat += scores.T @ scores
    inverse = np.linalg.pinv(bread)
    rows = layout.pack({n: np.bincount(group, weights=weight) for n, group in layout.groups})
    known = rows > 1 + 1e-6
    small = np.sqrt(rows / np.where(known, rows - 1, 1.0))  # few rows lie too near to what was fitted to them
    errors: Array = np.where(known, small * np.sqrt(np.maximum(np.diag(inverse @ meat @ inverse), 0)), UNKNOWN)
    return errors
