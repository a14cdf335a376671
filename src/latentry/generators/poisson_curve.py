"""Counts of many neurons driven by two latents, whose distribution changes with a label or along a curve."""

from __future__ import annotations

import numpy as np

from latentry.data import Dataset
from latentry.errors import DataError
from latentry.generators.checks import check_choice, check_counts, check_seed
from latentry.generators.mixings import couplings

__all__ = ["poisson_curve"]

_SCALES = ("varying", "fixed")


def poisson_curve(
    *,
    rows: int = 15_000,
    neurons: int = 100,
    domains: int | None = None,
    scales: str = "varying",
    blocks: int = 4,
    counts: bool = True,
    seed: int = 0,
) -> Dataset:
    r"""Draw Poisson counts of rate :math:`e^{2.2 \tanh f(z)}`, with two latents that follow a curve in u.

    u is uniform on [0, 2π); z has means (u, 2 sin u) and variances (0.6 - v, v), v = 0.3 |sin u|. With ``domains``, u is
    one of that many labels, means are uniform on [-5, 5] and VARIANCES uniform on [0.5, 3]. Zhou and Wei (*pi-VAE*, 2020),
    who use 15,000 rows along the curve and 10,000 rows with 5 labels. Their f is a random flow of z and zeros; ours is
    ``blocks`` affine couplings (exponents within ±0.1) and permutations, of z and zeros as well. Theorems on
    identifiability do not cover counts.

    Cost: linear in the rows.

    Args:
        rows: Rows in all.
        neurons: Observed counts, at least 4.
        domains: Number of labels; None for the curve.
        scales: "varying", or "fixed" to make every variance 0.36, so that only means change.
        blocks: Couplings.
        counts: False to observe f(z) itself, without noise.
        seed: Of everything.

    Returns:
        A dataset with u as domain and the latents as factors.

    Raises:
        DataError: If a parameter cannot be used.

    >>> data = poisson_curve(rows=6, seed=0)
    >>> data.domain
    Domain(6 rows, 1 continuous column)
    >>> data["x"].shape, int(data["x"].min()), sorted(data.factors)
    ((6, 100), 0, ['s1', 's2'])
    >>> poisson_curve(rows=6, domains=3).domain.size
    3
    """
    check_counts(rows=rows, blocks=blocks)
    check_counts(4, neurons=neurons)
    check_choice("scales", scales, _SCALES)
    check_seed(seed)
    rng = np.random.default_rng(seed)
    u, centre, variance = _along_curve(rows, rng) if domains is None else _by_label(rows, domains, rng)
    if scales == "fixed":
        variance = np.full_like(variance, 0.36)
    latents = centre + np.sqrt(variance) * rng.standard_normal((rows, 2))
    padded = np.column_stack([latents, np.zeros((rows, neurons - 2))])
    signal = couplings(padded, blocks, neurons // 4, rng, clamp=0.1)
    observed = rng.poisson(np.exp(2.2 * np.tanh(signal))).astype(np.float64) if counts else signal
    return Dataset(observed, u, factors={"s1": latents[:, 0], "s2": latents[:, 1]})


def _along_curve(rows: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    u = rng.uniform(0, 2 * np.pi, size=rows)
    second = 0.3 * np.abs(np.sin(u))
    return u[:, None], np.column_stack([u, 2 * np.sin(u)]), np.column_stack([0.6 - second, second])


def _by_label(rows: int, domains: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    check_counts(domains=domains)
    if rows < domains:
        raise DataError(f"rows={rows}: they cannot show {domains} domains. Give at least {domains}.")
    u = np.arange(rows) % domains
    return u, rng.uniform(-5, 5, size=(domains, 2))[u], rng.uniform(0.5, 3.0, size=(domains, 2))[u]
