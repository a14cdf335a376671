"""Latents in few domains behind a mixing in which each variable depends on few of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from latentry.contracts import MixingSupport
from latentry.data import Dataset
from latentry.errors import DataError
from latentry.generators.checks import check_choice, check_counts, check_positive, check_seed
from latentry.generators.supports import PATTERNS, pattern

__all__ = ["SparseLaw", "sparse_law", "sparse_mixing"]

_DRAWS = 400  # matrices among which a well-conditioned one is taken
_STEEPEST = 2.0  # largest fraction by which a bend may steepen


@dataclass(frozen=True, eq=False)
class SparseLaw:
    r"""The exact parameters of a mixing and of the latents' distributions.

    .. math:: x_i = h\Big(\sum_j W_{ij}\,\varphi_{ij}(z_j)\Big) + \text{noise}, \quad
        \varphi_{ij}(z) = z + \delta \tanh(s_{ij}(z - b_{ij})) / s_{ij}, \quad h(v) = 2\tanh(v/2) + 0.2\,v.

    The derivatives of φ lie in [1, 1 + δ], so that every average of Jacobians lies within r |W| of (1 + δ/2) W entry by
    entry, r = δ/(2 + δ). δ is so small that r times the norm of |W| stays below the least singular value of W: then no
    such average is singular, and the map is one to one everywhere.

    Args:
        support: Which variable depends on which latent, and which latents the condition holds for.
        weights: W, (observed, latents).
        bend: δ.
        steepness: s, (observed, latents).
        centre: b, (observed, latents).
        means: Of each latent in each domain, (domains, latents).
        deviations: Standard ones, (domains, latents).
        noise: Standard deviation of Gaussian noise.
    """

    support: MixingSupport
    weights: np.ndarray
    bend: float
    steepness: np.ndarray
    centre: np.ndarray
    means: np.ndarray
    deviations: np.ndarray
    noise: float

    def mix(self, sources: np.ndarray) -> np.ndarray:
        """Return noise-free observations of latents.

        Args:
            sources: (rows, latents).

        Returns:
            (rows, observed).
        """
        turned = sources[:, None, :]
        bent = turned + self.bend * np.tanh(self.steepness * (turned - self.centre)) / self.steepness
        level = (self.weights * bent).sum(axis=2)
        return np.asarray(2 * np.tanh(level / 2) + 0.2 * level)

    def draw(self, rows_per_domain: int, seed: int) -> Dataset:
        """Draw rows of every domain, with the latents as factors.

        Args:
            rows_per_domain: How many.
            seed: Of the draws.

        Returns:
            A dataset with the domain.
        """
        rng = np.random.default_rng(seed)
        domain = np.repeat(np.arange(len(self.means)), rows_per_domain)
        sources = self.means[domain] + self.deviations[domain] * rng.standard_normal(
            (len(domain), self.support.latents)
        )
        mixed = self.mix(sources)
        mixed = mixed + self.noise * rng.standard_normal(mixed.shape)
        factors = {f"s{i + 1}": sources[:, i] for i in range(self.support.latents)}
        return Dataset(mixed, domain, factors=factors)

    def __str__(self) -> str:
        lines = [f"{self.support}, {len(self.means)} domains"]
        for latent, holds in enumerate(self.support.pinned):
            others = ", ".join(f"s{k + 1}" for k in self.support.companions(latent))
            words = "structural sparsity holds" if holds else f"nothing in the pattern keeps it apart from {others}"
            lines.append(f"s{latent + 1}: {words}")
        return "\n".join(lines)


def sparse_law(
    *,
    mixing: str = "cyclic",
    latents: int = 4,
    observed: int | None = None,
    domains: int = 2,
    invariant: int = 0,
    change: float = 1.0,
    extra: float = 0.0,
    noise: float = 0.0,
    seed: int = 0,
) -> SparseLaw:
    """Return the truth behind :func:`sparse_mixing` with the same arguments: support, weights, bends, distributions.

    Cost: constant in the rows, of which it draws none.

    Args:
        mixing: "cyclic", "chain", "structured", "unstructured" or "dense".
        latents: How many.
        observed: Number of variables; as many as latents by default.
        domains: How many.
        invariant: Latents (the first) with the same distribution in all domains.
        change: How far distributions move.
        extra: Fraction of the absent edges that are there all the same.
        noise: Standard deviation of Gaussian noise.
        seed: Of everything.

    Returns:
        The parameters.

    Raises:
        DataError: If a parameter cannot be used.

    >>> truth = sparse_law(mixing="chain", latents=3)
    >>> print(truth)
    MixingSupport(3 variables, 3 latents, 5 edges), 2 domains
    s1: nothing in the pattern keeps it apart from s2
    s2: structural sparsity holds
    s3: structural sparsity holds
    """
    width = latents if observed is None else observed
    _check(mixing, latents, width, domains, invariant, change, extra, noise, seed)
    rng = np.random.default_rng((seed, 1))
    support = pattern(mixing, latents, width, extra, rng)
    weights = _weights(support.present, rng)
    means, deviations = np.zeros((domains, latents)), np.ones((domains, latents))
    changing = latents - invariant
    means[:, invariant:] = change * rng.uniform(-1, 1, size=(domains, changing))
    deviations[:, invariant:] = 2 ** (change * rng.uniform(-1, 1, size=(domains, changing)))
    return SparseLaw(
        support=support,
        weights=weights,
        bend=_bend(weights),
        steepness=rng.uniform(1, 2, size=weights.shape),
        centre=rng.uniform(-1, 1, size=weights.shape),
        means=means,
        deviations=deviations,
        noise=noise,
    )


def sparse_mixing(
    *,
    mixing: str = "cyclic",
    latents: int = 4,
    observed: int | None = None,
    domains: int = 2,
    rows_per_domain: int = 5000,
    invariant: int = 0,
    change: float = 1.0,
    extra: float = 0.0,
    noise: float = 0.0,
    seed: int = 0,
) -> Dataset:
    """Draw Gaussian latents, some of which change with the domain, seen through a smooth sparse mixing.

    In each domain a changing latent has a mean uniform on [-c, c], c being ``change``, and a standard deviation whose
    logarithm to base 2 is uniform there too; an invariant one is standard normal everywhere. Weights have magnitudes
    uniform on [0.5, 1.5], random signs, and a condition number below the lower quartile of many draws.
    :class:`SparseLaw` has the formula of the mixing, and :func:`sparse_law`, called with the same arguments, the true
    parameters and support. After the setting of Li et al. (*Synergy between sufficient changes and sparse mixing
    procedure for disentangled representation learning*, 2025), whose synthetic data are not public; these are ours.

    Cost: linear in the rows.

    Args:
        mixing: "cyclic" (variable i depends on latents i and i + 1 modulo n; structural sparsity holds for n ≥ 3),
            "chain" (the last latent alone in its variables; the condition fails for the first latent only),
            "structured" and "unstructured" (random, the condition holding for every latent or failing for some), "dense".
        latents: Their number, n.
        observed: Number of variables, at least n; n by default.
        domains: Number of domains; 2n + 1 suffice without any sparsity.
        rows_per_domain: Rows in each.
        invariant: Latents (the first ones) whose distribution is the same in all domains.
        change: How far distributions move: means by this much, deviations by this many factors of 2, up and down.
        extra: Fraction of the absent edges that are there all the same.
        noise: Standard deviation of Gaussian noise added to what is observed.
        seed: Of everything.

    Returns:
        A dataset with the domain and the latents as factors.

    Raises:
        DataError: If a parameter cannot be used.

    >>> data = sparse_mixing(rows_per_domain=10, seed=0)
    >>> data["x"].shape, data.domain.size, list(data.factors)
    ((20, 4), 2, ['s1', 's2', 's3', 's4'])
    """
    check_counts(rows_per_domain=rows_per_domain)
    truth = sparse_law(
        mixing=mixing, latents=latents, observed=observed, domains=domains, invariant=invariant, change=change,
        extra=extra, noise=noise, seed=seed,
    )  # fmt: skip
    return truth.draw(rows_per_domain, seed)


def _check(
    mixing: str,
    latents: int,
    width: int,
    domains: int,
    invariant: int,
    change: float,
    extra: float,
    noise: float,
    seed: int,
) -> None:
    check_choice("mixing", mixing, PATTERNS)
    check_counts(2, latents=latents)
    check_counts(observed=width, domains=domains)
    check_counts(0, invariant=invariant)
    check_positive("noise", noise, zero=True)
    check_positive("extra", extra, zero=True)
    check_positive("change", change, zero=True)
    check_seed(seed)
    if width < latents:
        raise DataError(f"observed={width}: so few variables cannot hold {latents} latents. Give at least {latents}.")
    if invariant > latents:
        raise DataError(f"invariant={invariant}: there are only {latents} latents. Give at most {latents}.")
    if extra > 1:
        raise DataError(f"extra={extra!r}: it is no fraction. Give a fraction of the absent edges, from 0 to 1.")


def _weights(present: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    size = rng.uniform(0.5, 1.5, size=(_DRAWS, *present.shape))
    drawn = present * size * rng.choice([-1.0, 1.0], size=size.shape)
    condition = np.linalg.cond(drawn)
    return np.asarray(drawn[np.flatnonzero(condition <= np.quantile(condition, 0.25))[0]])


def _bend(weights: np.ndarray) -> float:
    """Return the largest δ up to 2 for which the map is sure to be one to one; 5 % are kept in reserve."""
    least = np.linalg.svd(weights, compute_uv=False)[-1]
    ratio = 0.95 * least / np.linalg.norm(np.abs(weights), 2)
    return float(min(_STEEPEST, 2 * ratio / (1 - ratio)))
