"""GIN: a few informative latents and many of almost no spread, mixed by a random coupling network."""

from __future__ import annotations

import numpy as np

from latentry.data import Dataset
from latentry.errors import DataError
from latentry.generators.checks import check_choice, check_counts, check_positive, check_seed
from latentry.generators.mixings import couplings

__all__ = ["gin"]

_SCALES = ("deviations", "fixed")


def gin(
    *,
    domains: int = 5,
    rows: int = 10_000,
    informative: int = 2,
    uninformative: int = 8,
    spread: float = 0.01,
    scales: str = "deviations",
    blocks: int = 8,
    hidden: int = 10,
    seed: int = 0,
) -> Dataset:
    r"""Draw a mixture of Gaussians in ``informative`` latents, beside latents of standard deviation ``spread`` everywhere.

    Each row takes one of ``domains`` components at random, with means uniform on [-5, 5] and standard deviations uniform on
    [0.5, 3]. The mixing is ``blocks`` affine couplings of both halves (exponents within ±2) and random permutations, with
    networks of two hidden layers of ``hidden`` ReLUs. The artificial data of Sorrenson et al. (*Disentanglement by
    nonlinear ICA with general incompressible-flow networks*, 2020). Their question is whether a model finds the number
    of informative latents, which come first among the factors.

    Cost: linear in the rows.

    Args:
        domains: Components of the mixture.
        rows: Rows in all.
        informative: Latents whose distribution changes.
        uninformative: Latents whose distribution does not.
        spread: Standard deviation of the latter.
        scales: "deviations", or "fixed" to make every deviation of an informative latent 1: only means change.
        blocks: Couplings.
        hidden: Width of their networks.
        seed: Of everything.

    Returns:
        A dataset with the domain and the latents as factors.

    Raises:
        DataError: If a parameter cannot be used.

    >>> data = gin(rows=50, seed=0)
    >>> data["x"].shape, list(data.factors)[:3], round(float(data.factors["s3"].std()), 2)
    ((50, 10), ['s1', 's2', 's3'], 0.01)
    """
    check_counts(domains=domains, rows=rows, informative=informative, blocks=blocks, hidden=hidden)
    check_counts(0, uninformative=uninformative)
    check_positive("spread", spread)
    check_choice("scales", scales, _SCALES)
    check_seed(seed)
    size = informative + uninformative
    if size < 2:
        raise DataError(
            f"informative={informative}, uninformative={uninformative}: a coupling needs two halves. "
            "Give at least 2 latents, informative or not."
        )
    rng = np.random.default_rng(seed)
    centre = rng.uniform(-5, 5, size=(domains, informative))
    drawn = rng.uniform(0.5, 3.0, size=(domains, informative))
    scale = drawn if scales == "deviations" else np.ones_like(drawn)
    domain = rng.integers(domains, size=rows)
    changing = centre[domain] + scale[domain] * rng.standard_normal((rows, informative))
    sources = np.column_stack([changing, spread * rng.standard_normal((rows, uninformative))])
    mixed = couplings(sources, blocks, hidden, rng, clamp=2.0)
    return Dataset(mixed, domain, factors={f"s{i + 1}": sources[:, i] for i in range(size)})
