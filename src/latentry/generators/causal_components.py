"""Latents that cause each other, each changed alone by a domain of its own, behind a bent mixing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from latentry.data import Dataset
from latentry.generators.checks import check_counts, check_probability, check_seed

__all__ = ["CausalComponents", "causal_components", "causal_components_law"]

_LEAST = 0.1  # determinant of a layer, in size


@dataclass(frozen=True, eq=False)
class CausalComponents:
    r"""Causes among latents, what each domain changes, and the mixing.

    .. math:: z_i = \sum_j w_{ij} z_j + \varepsilon_i, \quad x = f_L \circ \dots \circ f_1(z), \quad
        f_l(v) = \tanh(M_l v) + 0.1\,M_l v.

    Domain "observed" changes nothing; domain "change of zi" cuts the causes of latent i and moves the mean of its noise.

    Args:
        weights: w, (latents, latents), below the diagonal.
        layers: The matrices M.
        shift: By how much the mean moves.
    """

    weights: np.ndarray
    layers: tuple[np.ndarray, ...]
    shift: float

    @property
    def latents(self) -> int:
        """Return how many latents there are."""
        return len(self.weights)

    @property
    def domains(self) -> tuple[str, ...]:
        """Return the names of the domains."""
        return ("observed", *(f"change of z{i + 1}" for i in range(self.latents)))

    @property
    def targets(self) -> dict[str, list[str]]:
        """Return which latents each domain changes, as :class:`latentry.models.DomainPrior` takes it."""
        return {f"change of z{i + 1}": [f"z{i + 1}"] for i in range(self.latents)}

    @property
    def parents(self) -> dict[str, list[str]] | None:
        """Return which latents cause which, likewise; None if none does."""
        found = {
            f"z{i + 1}": [f"z{j + 1}" for j in np.flatnonzero(row)] for i, row in enumerate(self.weights) if row.any()
        }
        return found or None

    def mix(self, sources: np.ndarray) -> np.ndarray:
        """Return observations of latents.

        Args:
            sources: (rows, latents).

        Returns:
            (rows, latents).
        """
        for matrix in self.layers:
            level = sources @ matrix.T
            sources = np.tanh(level) + 0.1 * level
        return sources

    def draw(self, rows_per_domain: int, seed: int) -> Dataset:
        """Draw rows of every domain, with the latents as factors.

        Args:
            rows_per_domain: How many.
            seed: Of the draws.

        Returns:
            A dataset with the domain.
        """
        rng = np.random.default_rng(seed)
        changed = np.repeat(np.arange(-1, self.latents), rows_per_domain)  # the latent that is changed, -1 for none
        noise = rng.standard_normal((len(changed), self.latents))
        sources = np.zeros_like(noise)
        for i in range(self.latents):
            caused = sources @ self.weights[i]
            sources[:, i] = noise[:, i] + np.where(changed == i, self.shift, caused)
        factors = {f"z{i + 1}": sources[:, i] for i in range(self.latents)}
        return Dataset(self.mix(sources), np.array(self.domains)[changed + 1], factors=factors)


def causal_components_law(
    *, latents: int = 4, layers: int = 3, edges: float = 0.5, shift: float = 2.0, seed: int = 0
) -> CausalComponents:
    """Return the truth behind :func:`causal_components` with the same arguments: causes, targets and mixing.

    Cost: layers · latents³.

    Args:
        latents: How many.
        layers: Of the mixing.
        edges: Probability of each arrow from an earlier to a later latent.
        shift: By how much a domain moves the mean of the noise of the latent that it changes.
        seed: Of all of them.

    Returns:
        The truth.

    Raises:
        DataError: If an argument is out of range.

    >>> causal_components_law(latents=2, edges=1.0).targets
    {'change of z1': ['z1'], 'change of z2': ['z2']}
    """
    check_counts(latents=latents, layers=layers)
    check_seed(seed)
    check_probability(edges=edges)
    rng = np.random.default_rng([seed, latents, layers])
    weights = np.tril(rng.uniform(-1, 1, (latents, latents)) * (rng.random((latents, latents)) < edges), -1)
    return CausalComponents(weights, tuple(_layer(latents, rng) for _ in range(layers)), float(shift))


def causal_components(
    *,
    latents: int = 4,
    layers: int = 3,
    rows_per_domain: int = 1000,
    edges: float = 0.5,
    shift: float = 2.0,
    seed: int = 0,
) -> Dataset:
    """Draw rows of a linear causal model of latents, of which each domain but one changes one, behind a bent mixing.

    The data of Liang et al. (*Causal component analysis*, 2023): arrows with probability 1/2 and weights U(−1, 1), normal noise, a
    change that cuts what causes a latent and moves the mean of its noise by 2, layers of uniform matrices with tanh(v) + 0.1 v.

    Cost: rows · layers · latents².

    Args:
        latents: How many; there is one domain more.
        layers: Of the mixing.
        rows_per_domain: How many.
        edges: Probability of each arrow from an earlier to a later latent.
        shift: By how much a domain moves the mean of the noise of the latent that it changes.
        seed: Of the truth and of the draws.

    Returns:
        A dataset with domain labels, and the latents as factors.

    Raises:
        DataError: If an argument is out of range.

    >>> causal_components(latents=2, rows_per_domain=100).domain.labels
    ('change of z1', 'change of z2', 'observed')
    """
    check_counts(rows_per_domain=rows_per_domain)
    law = causal_components_law(latents=latents, layers=layers, edges=edges, shift=shift, seed=seed)
    return law.draw(rows_per_domain, seed)


def _layer(size: int, rng: np.random.Generator) -> np.ndarray:
    matrix = rng.uniform(0, 1, (size, size))
    while abs(np.linalg.det(matrix)) < _LEAST:
        matrix = rng.standard_normal((size, size))
    return matrix
