"""Segments: sources whose spread (and mean) changes from segment to segment, mixed nonlinearly."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from latentry.data import Dataset
from latentry.errors import DataError, nearest

__all__ = ["segments"]

_BASES: dict[str, Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]] = {
    "gaussian": lambda rng, shape: rng.standard_normal(shape),
    "laplace": lambda rng, shape: rng.laplace(scale=1 / math.sqrt(2), size=shape),
    # quantile function of the hyperbolic secant law, which has variance 1
    "secant": lambda rng, shape: 2 / np.pi * np.log(np.tan(np.pi / 2 * rng.uniform(size=shape))),
}
_MEANS = ("zero", "uniform", "staircase")


def segments(
    *,
    domains: int = 40,
    rows_per_domain: int = 1000,
    latents: int = 5,
    observed: int | None = None,
    layers: int = 3,
    means: str = "zero",
    base: str = "gaussian",
    noise: float = 0.0,
    seed: int = 0,
) -> Dataset:
    r"""Sources :math:`s_{ui} = m_{ui} + \sigma_{ui}\,\epsilon`, seen through a random invertible network.

    Standard deviations are uniform on [0.5, 3] for each segment and source. The network has ``layers`` linear maps
    with :math:`\tanh x + 0.1\,x` between them. When as many variables are observed as there are latents, one
    matrix is used in all layers; otherwise the first layer widens and each layer has its own.
    A matrix has entries uniform on [-1, 1], columns of norm 1, and a condition number below the lower quartile of
    many draws. After Hyvärinen and Morioka (*Time-contrastive learning*, 2016) and Khemakhem et al. (*Variational
    autoencoders and nonlinear ICA*, 2020).

    Args:
        domains: Number of segments.
        rows_per_domain: Rows in each.
        latents: Number of sources.
        observed: Number of observed variables, at least ``latents``; the same by default.
        layers: Linear maps, counted without the nonlinearities between them.
        means: "zero"; "uniform" on [-5, 5]; or "staircase", where the first source climbs 3 per segment in random order.
        base: "gaussian", "laplace" or "secant", each with variance 1.
        noise: Standard deviation of Gaussian noise added to what is observed.
        seed: Of everything.

    >>> data = segments(domains=4, rows_per_domain=10, latents=2, seed=1)
    >>> len(data), data["x"].shape[1], data.domain.size, sorted(data.factors)
    (40, 2, 4, ['s1', 's2'])
    """
    width = latents if observed is None else observed
    _check(domains, rows_per_domain, latents, width, layers, means, base)
    if not isinstance(seed, (int, np.integer)) or seed < 0:
        raise DataError(f"seed = {seed!r}: give a whole number of at least 0.")
    if not isinstance(noise, (int, float)) or not 0 <= noise < math.inf:
        raise DataError(f"noise = {noise!r}: give a standard deviation of at least 0.")
    rng = np.random.default_rng(seed)
    domain = np.repeat(np.arange(domains), rows_per_domain)
    scale = rng.uniform(0.5, 3.0, size=(domains, latents))
    centre = _centres(means, domains, latents, rng)
    sources = centre[domain] + scale[domain] * _BASES[base](rng, (len(domain), latents))
    mixed = _mix(sources, width, layers, rng)
    mixed = mixed + noise * rng.standard_normal(mixed.shape)
    return Dataset(mixed, domain, factors={f"s{i + 1}": sources[:, i] for i in range(latents)})


def _check(domains: int, rows: int, latents: int, width: int, layers: int, means: str, base: str) -> None:
    counts = {"domains": domains, "rows_per_domain": rows, "latents": latents, "observed": width, "layers": layers}
    for name, value in counts.items():
        if not isinstance(value, (int, np.integer)) or value < 1:
            raise DataError(f"{name} = {value!r}: give a whole number of at least 1.")
    if width < latents:
        raise DataError(f"observed = {width} variables cannot hold {latents} latents: give at least {latents}.")
    if means not in _MEANS:
        raise DataError(f"means = {means!r} is not known{nearest(means, _MEANS)}")
    if base not in _BASES:
        raise DataError(f"base = {base!r} is not known{nearest(base, _BASES)}")


def _centres(means: str, domains: int, latents: int, rng: np.random.Generator) -> np.ndarray:
    if means == "uniform":
        return rng.uniform(-5, 5, size=(domains, latents))
    centre = np.zeros((domains, latents))
    if means == "staircase":
        centre[:, 0] = 3.0 * rng.permutation(domains)
    return centre


def _mix(sources: np.ndarray, width: int, layers: int, rng: np.random.Generator) -> np.ndarray:
    square = sources.shape[1] == width
    matrix, out = _matrix(sources.shape[1], width, rng), sources
    for layer in range(layers):
        if layer:
            out = np.tanh(out) + 0.1 * out
            matrix = matrix if square else _matrix(width, width, rng)
        out = out @ matrix
    return out


def _matrix(inputs: int, outputs: int, rng: np.random.Generator) -> np.ndarray:
    draws = max(40, min(2000, 4_000_000 // (inputs * outputs)))  # large matrices differ less, and cost more
    drawn = rng.uniform(-1, 1, size=(draws, inputs, outputs))
    drawn /= np.linalg.norm(drawn, axis=1, keepdims=True)
    condition = np.linalg.cond(drawn)
    return drawn[np.flatnonzero(condition <= np.quantile(condition, 0.25))[0]]
