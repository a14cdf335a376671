"""Several domains that have some latents in common and change the others."""

from __future__ import annotations

import numpy as np

from latentry.data import Dataset
from latentry.generators.checks import check_choice, check_counts, check_positive, check_seed
from latentry.generators.mixings import rotation, turned_layers

__all__ = ["content_style"]

_SCALES = ("deviations", "fixed")


def content_style(
    *,
    domains: int = 9,
    rows_per_domain: int = 10_000,
    invariant: int = 2,
    changing: int = 2,
    layers: int = 2,
    scales: str = "deviations",
    slope: float = 0.2,
    seed: int = 0,
) -> Dataset:
    r"""Draw invariant latents ~ N(0, 1) in every domain and changing ones ~ :math:`N(m_{ui}, \sigma_{ui}^2)`, and mix them.

    Means are uniform on [-4, 4], standard deviations uniform on [0.01, 1]. The mixing is a random rotation, then
    ``layers`` - 1 times a leaky ReLU and a rotation. After the synthetic data of Kong et al. (*Partial disentanglement
    for domain adaptation*, 2022). Invariant latents can be recovered as a block, not one by one.

    Cost: linear in the rows.

    Args:
        domains: Number of domains.
        rows_per_domain: Rows in each.
        invariant: Latents with the same distribution everywhere (factors c1, c2, …).
        changing: Latents whose distribution changes with the domain (factors s1, s2, …).
        layers: One more than the number of leaky ReLUs.
        scales: "deviations", or "fixed" to make every deviation 0.5, so that only means change.
        slope: Of the leaky ReLU below 0.
        seed: Of everything.

    Returns:
        A dataset with the domain and the latents as factors.

    Raises:
        DataError: If a parameter cannot be used.

    >>> data = content_style(rows_per_domain=10, seed=0)
    >>> data["x"].shape, data.domain.size, list(data.factors)
    ((90, 4), 9, ['c1', 'c2', 's1', 's2'])
    """
    check_counts(domains=domains, rows_per_domain=rows_per_domain, changing=changing, layers=layers)
    check_counts(0, invariant=invariant)
    check_choice("scales", scales, _SCALES)
    check_positive("slope", slope)
    check_seed(seed)
    rng = np.random.default_rng(seed)
    centre = rng.uniform(-4, 4, size=(domains, changing))
    drawn = rng.uniform(0.01, 1.0, size=(domains, changing))
    scale = drawn if scales == "deviations" else np.full_like(drawn, 0.5)
    domain = np.repeat(np.arange(domains), rows_per_domain)
    content = rng.standard_normal((len(domain), invariant))
    style = centre[domain] + scale[domain] * rng.standard_normal((len(domain), changing))
    sources = np.column_stack([content, style])
    mixed = turned_layers(sources @ rotation(sources.shape[1], rng), layers - 1, slope, rng)
    names = [f"c{i + 1}" for i in range(invariant)] + [f"s{i + 1}" for i in range(changing)]
    return Dataset(mixed, domain, factors=dict(zip(names, sources.T, strict=True)))
