r"""Whether each latent has the distribution that the theorem takes it to have, in each domain."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.polynomial import legendre
from numpy.typing import NDArray
from scipy.stats import laplace, norm

from latentry.data import counted_names
from latentry.evidence import Assumption
from latentry.identifiability.assumptions.cross_moments import excess, power_at

__all__ = ["latent_family"]

Array = NDArray[np.float64]
_NAMES = {"laplace": "Laplace", "gaussian": "normal", "variance": "normal", "mean": "normal"}
_DEGREES = (3, 4, 5, 6)  # location and scale are fitted in each domain, and take the first two with them
_TOLERANCE, _ALONE = 0.08, 0.3
_PLANTED = 0.25  # coefficient whose power is stated: about a skewness of 1, or an excess kurtosis of 2


def latent_family(
    groups: Sequence[Array], rows: Array, family: str, level: float, names: Sequence[str] = ()
) -> Assumption:
    r"""Test the shape of each latent in each domain by smooth tests of its probability integral transform.

    With :math:`v = F((z - m_d)/s_d)`, location and scale fitted in each domain, the moments are means of orthonormal Legendre
    polynomials of v (Neyman 1937). Their variances under the hypothesis, with fitted parameters, are below 1/n.

    Args:
        groups: Latents of each domain, (rows, latents).
        rows: Independent rows of each domain.
        family: Of the distributions: "gaussian", "variance", "mean" or "laplace"; others are not tested.
        level: Of the test.
        names: Of the latents; z1, z2, ... by default.

    Returns:
        The assumption.

    >>> rng = np.random.default_rng(0)
    >>> parts = [d * rng.normal(size=(500, 2)) for d in (1, 2, 3)]
    >>> latent_family(parts, np.full(3, 500.0), "gaussian", 0.05).outcome
    'not refuted'
    >>> latent_family([np.exp(z / 3) for z in parts], np.full(3, 500.0), "gaussian", 0.05).outcome
    'refuted'
    """
    if family not in _NAMES:
        return Assumption(
            "each latent is of the learned family in each domain", "untested", note="a family of any shape"
        )
    name = f"each latent is {_NAMES[family]} in each domain"
    moments = np.array([_moments(z, family) for z in groups]).reshape(len(groups), -1)
    found = excess(moments, rows, _TOLERANCE, _ALONE)
    power = power_at(_PLANTED, rows, _TOLERANCE, moments.shape[1], level)
    test = f"smooth test of the probability integral transform in {len(groups)} domains, against {_TOLERANCE:g}"
    size = groups[0].shape[1]
    which = (names or counted_names(size))[found.place % size]
    note = f"largest {found.size:.2f}, latent {which}; power for {_PLANTED:g}"
    return Assumption(name, "refuted" if found.p_value <= level else "not refuted", test, found.p_value, power, note)


def _moments(z: Array, family: str) -> Array:
    """Return the mean of each polynomial of each latent, (degrees, latents)."""
    if family == "laplace":
        middle = np.median(z, axis=0)
        v = laplace.cdf(z, middle, np.abs(z - middle).mean(axis=0))
    else:
        v = norm.cdf(z, z.mean(axis=0), z.std(axis=0))
    return np.array([np.sqrt(2 * k + 1) * legendre.legval(2 * v - 1, np.eye(k + 1)[k]).mean(axis=0) for k in _DEGREES])
