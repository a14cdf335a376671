"""Segments: sources whose spread (and mean) changes from segment to segment, mixed nonlinearly."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from latentry.data import Dataset
from latentry.errors import DataError
from latentry.generators.checks import check_choice, check_counts, check_positive, check_seed
from latentry.generators.mixings import bent_layers

__all__ = ["SEGMENTS", "segments"]

BASES: dict[str, Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]] = {
    "gaussian": lambda rng, shape: rng.standard_normal(shape),
    "laplace": lambda rng, shape: rng.laplace(scale=1 / math.sqrt(2), size=shape),
    # quantile function of the hyperbolic secant distribution, which has variance 1
    "secant": lambda rng, shape: 2 / np.pi * np.log(np.tan(np.pi / 2 * rng.uniform(size=shape))),
}
_MEANS = ("zero", "uniform", "staircase")
_SCALES = ("deviations", "variances", "fixed", "common")
_OBSERVATIONS = ("continuous", "bernoulli")
_MATRICES = ("repeated", "fresh")

# The variants in use, by name: segments(**SEGMENTS["staircase"], seed=0). What is not listed is the default.
SEGMENTS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "centred": {},
        "uncentred": {"means": "uniform"},
        "staircase": {"means": "staircase"},
        "laplace": {"base": "laplace"},
        "secant": {"base": "secant"},
        "wide": {"observed": 25, "noise": 0.01},
        "wide and noisy": {"observed": 25, "noise": 0.1},
        "ten latents": {"domains": 60, "latents": 10},
        "picture": {"domains": 5, "latents": 2, "means": "uniform"},
        "bernoulli": {
            "domains": 20,
            "rows_per_domain": 3000,
            "latents": 10,
            "observed": 100,
            "layers": 1,
            "observations": "bernoulli",
        },
        # Planted failures: latents that no method can separate
        "means only": {"means": "uniform", "scales": "fixed"},
        "proportional variances": {"scales": "common"},
        "too few domains": {"means": "uniform", "domains": 4},
    }
)


def segments(
    *,
    domains: int = 40,
    rows_per_domain: int = 1000,
    latents: int = 5,
    observed: int | None = None,
    layers: int = 3,
    means: str = "zero",
    scales: str = "deviations",
    base: str = "gaussian",
    noise: float = 0.0,
    observations: str = "continuous",
    matrices: str | None = None,
    seed: int = 0,
) -> Dataset:
    r"""Draw sources :math:`s_{ui} = m_{ui} + \sigma_{ui}\,\epsilon`, seen through a random invertible network.

    The network has ``layers`` linear maps with :math:`\tanh x + 0.1\,x` between them. A matrix has entries uniform on
    [-1, 1], columns of norm 1, and a condition number below the lower quartile of many draws. After Hyvärinen and
    Morioka (*Time-contrastive learning*, 2016) and Khemakhem et al. (*Variational autoencoders and nonlinear ICA*,
    2020), where what is called a variance on [0.5, 3] is used as a standard deviation. The variants in use are in
    :data:`SEGMENTS`.

    Cost: linear in the rows, which are domains · rows_per_domain.

    Args:
        domains: Number of segments.
        rows_per_domain: Rows in each.
        latents: Number of sources.
        observed: Number of observed variables, at least ``latents``; the same by default.
        layers: Linear maps, counted without the nonlinearities between them.
        means: "zero"; "uniform" on [-5, 5]; or "staircase", where the first source climbs 3 per segment in random order.
        scales: What is uniform on [0.5, 3] for each segment and source: "deviations" (standard ones) or "variances".
            "fixed" makes every deviation 1.75, so that at most means change; with "common" all sources of a segment have
            the same deviation, so that no two of them can be separated.
        base: "gaussian", "laplace" or "secant", each with variance 1.
        noise: Standard deviation of Gaussian noise added to what is observed.
        observations: "continuous", or "bernoulli": 0 or 1 with log odds given by the network.
        matrices: "repeated" (layers of one shape have the same matrix) or "fresh" (each layer has its own); by default
            repeated when as many variables are observed as there are latents.
        seed: Of everything.

    Returns:
        A dataset with the segment as domain and the sources as factors.

    Raises:
        DataError: If a parameter cannot be used.

    >>> data = segments(domains=4, rows_per_domain=10, latents=2, seed=1)
    >>> len(data), data["x"].shape[1], data.domain.size, sorted(data.factors)
    (40, 2, 4, ['s1', 's2'])
    >>> segments(**SEGMENTS["bernoulli"] | {"rows_per_domain": 5})["x"][:2, :6]
    array([[1., 1., 1., 0., 0., 0.],
           [0., 1., 0., 0., 0., 1.]])
    """
    width = latents if observed is None else observed
    _check(domains, rows_per_domain, latents, width, layers)
    _check_words(means, scales, base, observations, matrices)
    check_seed(seed)
    check_positive("noise", noise, zero=True)
    rng = np.random.default_rng(seed)
    domain = np.repeat(np.arange(domains), rows_per_domain)
    scale = _spreads(scales, domains, latents, rng)
    centre = _centres(means, domains, latents, rng)
    sources = centre[domain] + scale[domain] * BASES[base](rng, (len(domain), latents))
    repeat = (latents == width) if matrices is None else matrices == "repeated"
    mixed = bent_layers(sources, width, layers, rng, repeat=repeat)
    mixed = mixed + noise * rng.standard_normal(mixed.shape)
    if observations == "bernoulli":
        mixed = (rng.logistic(size=mixed.shape) < mixed).astype(np.float64)
    return Dataset(mixed, domain, factors={f"s{i + 1}": sources[:, i] for i in range(latents)})


def _check(domains: int, rows: int, latents: int, width: int, layers: int) -> None:
    check_counts(domains=domains, rows_per_domain=rows, latents=latents, observed=width, layers=layers)
    if width < latents:
        raise DataError(f"observed={width}: so few variables cannot hold {latents} latents. Give at least {latents}.")


def _check_words(means: str, scales: str, base: str, observations: str, matrices: str | None) -> None:
    check_choice("means", means, _MEANS)
    check_choice("scales", scales, _SCALES)
    check_choice("base", base, BASES)
    check_choice("observations", observations, _OBSERVATIONS)
    if matrices is not None:
        check_choice("matrices", matrices, _MATRICES)


def _spreads(scales: str, domains: int, latents: int, rng: np.random.Generator) -> np.ndarray:
    drawn = rng.uniform(0.5, 3.0, size=(domains, latents))
    if scales == "fixed":
        return np.full_like(drawn, 1.75)
    if scales == "common":
        return np.repeat(drawn[:, :1], latents, axis=1)
    return np.sqrt(drawn) if scales == "variances" else drawn


def _centres(means: str, domains: int, latents: int, rng: np.random.Generator) -> np.ndarray:
    if means == "uniform":
        return rng.uniform(-5, 5, size=(domains, latents))
    centre = np.zeros((domains, latents))
    if means == "staircase":
        centre[:, 0] = 3.0 * rng.permutation(domains)
    return centre
