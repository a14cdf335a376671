"""IMCA: sources that depend on each other within a segment, mixed by leaky ReLUs and rotations."""

from __future__ import annotations

import numpy as np
from scipy.stats import random_correlation

from latentry.data import Dataset
from latentry.generators.checks import check_choice, check_counts, check_positive, check_seed
from latentry.generators.mixings import turned_layers

__all__ = ["imca"]

_SCALES = ("deviations", "fixed")
_MEANS = ("zero", "uniform")


def imca(
    *,
    domains: int = 20,
    rows_per_domain: int = 1000,
    latents: int = 5,
    layers: int = 2,
    dependence: float = 0.5,
    means: str = "zero",
    scales: str = "deviations",
    slope: float = 0.2,
    seed: int = 0,
) -> Dataset:
    r"""Draw Gaussian sources of precision :math:`\frac{c}{n} R^{-1} + \mathrm{diag}(1/\sigma_u^2)` in segment u, and mix them.

    R is a random correlation matrix, the same in all segments, so that sources are dependent given the segment unless
    ``dependence`` c is 0. Deviations :math:`\sigma_{ui}` are uniform on [0.01, 3].

    How layers are counted: ``layers = L`` means L - 1 times a leaky ReLU of every source followed by a random rotation,
    and nothing before. L = 2 is therefore one leaky ReLU and one rotation, which is linear mixing of bent sources. After
    Khemakhem et al. (*ICE-BeeM*, 2020); with ``dependence=0`` it is their nonlinear ICA data.

    Cost: linear in the rows.

    Args:
        domains: Number of segments.
        rows_per_domain: Rows in each.
        latents: Number of sources, and of observed variables.
        layers: One more than the number of leaky ReLUs.
        dependence: The weight c of what the segments have in common; 0.5 in the paper.
        means: "zero", or "uniform" on [-3, 3] for each segment and source.
        scales: "deviations", or "fixed" to make every :math:`\sigma_{ui}` 1.
        slope: Of the leaky ReLU below 0.
        seed: Of everything.

    Returns:
        A dataset with the segment as domain and the sources as factors.

    Raises:
        DataError: If a parameter cannot be used.

    >>> data = imca(domains=3, rows_per_domain=10, seed=0)
    >>> data["x"].shape, data.domain.size, sorted(data.factors)[-1]
    ((30, 5), 3, 's5')
    """
    check_counts(domains=domains, rows_per_domain=rows_per_domain, latents=latents, layers=layers)
    check_choice("means", means, _MEANS)
    check_choice("scales", scales, _SCALES)
    check_positive("dependence", dependence, zero=True)
    check_positive("slope", slope)
    check_seed(seed)
    rng = np.random.default_rng(seed)
    shared = dependence / latents * np.linalg.inv(_correlation(latents, rng))
    drawn = rng.uniform(0.01, 3.0, size=(domains, latents))
    scale = drawn if scales == "deviations" else np.ones_like(drawn)
    centre = rng.uniform(-3, 3, size=(domains, latents)) * (means == "uniform")
    roots = np.linalg.cholesky(np.linalg.inv(shared + np.apply_along_axis(np.diag, 1, scale**-2.0)))
    domain = np.repeat(np.arange(domains), rows_per_domain)
    standard = rng.standard_normal((len(domain), latents))
    sources = centre[domain] + np.einsum("rij,rj->ri", roots[domain], standard)
    mixed = turned_layers(sources, layers - 1, slope, rng)
    return Dataset(mixed, domain, factors={f"s{i + 1}": sources[:, i] for i in range(latents)})


def _correlation(size: int, rng: np.random.Generator) -> np.ndarray:
    if size == 1:
        return np.ones((1, 1))
    spectrum = rng.uniform(size=size)
    return np.asarray(random_correlation.rvs(spectrum * size / spectrum.sum(), random_state=rng))
