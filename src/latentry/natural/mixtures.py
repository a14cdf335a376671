"""A latent over a family of distributions, and how its errors move with the mixture weights.

With Q_j(x, λ) = P_j(x) K(λ|x) and Q_α = Σ_j α_j Q_j, every error of a natural latent is a difference of
conditional entropies H_α(T|G). Such an entropy is concave in α, homogeneous of degree one, and

    H_α(T|G) = Σ_j α_j t_j(α),   t_j(α) = −E_{Q_j} ln P_α(T|G) = ∂H_α(T|G)/∂α_j,

so that one object, `Surprise`, gives values, gradients and certificates for all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from latentry.natural.entropies import marginal

__all__ = ["Family", "Surprise"]

Array = NDArray[np.float64]
# Beyond this, the subsets of every size are too many to look at.
_FEW_OBSERVABLES = 8


@dataclass(frozen=True, eq=False)
class Surprise:
    """H_α(T|G) as a function of the mixture: `tables[j, g, t]` = Q_j(G = g, T = t)."""

    tables: Array

    def tangents(self, weights: Array) -> Array:
        """Compute t_j(α), the gradient of the entropy, whose α-average is the entropy.

        >>> s = Surprise(np.eye(2)[:, None, :])
        >>> s.tangents(np.array([0.5, 0.5]))
        array([0.69314718, 0.69314718])

        Args:
            weights: One α (k,) or a batch (..., k).

        Returns:
            Nats, of the shape of `weights`; infinite where a domain visits cells that the mixture never does.
        """
        k, groups, values = self.tables.shape
        flat = self.tables.reshape(k, -1)
        mixed = (weights.reshape(-1, k) @ flat).reshape(*weights.shape[:-1], groups, values)
        impossible = mixed == 0
        some = bool(impossible.any())
        with np.errstate(divide="ignore", invalid="ignore"):
            surprise = -np.log(mixed / mixed.sum(axis=-1, keepdims=True))
        if some:
            surprise[impossible] = 0.0
        result: Array = surprise.reshape(*weights.shape[:-1], -1) @ flat.T
        if some:  # a domain without weight may visit cells that the mixture never does
            visits = impossible.reshape(*weights.shape[:-1], -1) @ flat.T
            result[visits > 0] = np.inf
        return result

    def value(self, weights: Array) -> Array:
        """Compute H_α(T|G).

        Args:
            weights: One α (k,) or a batch (..., k).

        Returns:
            Nats, of shape weights.shape[:-1].
        """
        tangents = self.tangents(weights)
        terms = np.where(weights > 0, weights * np.where(weights > 0, tangents, 0.0), 0.0)
        total: Array = np.sum(terms, axis=-1)
        return total

    @cached_property
    def corners(self) -> Array:
        """Compute H_j(T|G) in each domain."""
        return self.value(np.eye(self.tables.shape[0]))

    def at(self, vertices: Array) -> Surprise:
        """Express the same entropy over mixtures of given mixtures.

        Args:
            vertices: (m, k), one mixture per row.

        Returns:
            The entropy as a function of weights (m,).
        """
        return Surprise(np.tensordot(vertices, self.tables, axes=1))


@dataclass(frozen=True, eq=False)
class Family:
    """Distributions P_j (k, |X_1|, ..., |X_n|) and a channel K (|X_1|, ..., |X_n|, |Λ|) shared by all of them."""

    laws: Array
    channel: Array

    @property
    def domains(self) -> int:
        """Return the number k of distributions."""
        return len(self.laws)

    @property
    def observables(self) -> int:
        """Return the number n of observables."""
        return self.laws.ndim - 1

    @cached_property
    def joint(self) -> Array:
        """Compute Q_j(x, λ) with axes (domain, x_1, ..., x_n, λ)."""
        return self.laws[..., None] * self.channel

    @property
    def latent(self) -> int:
        """Return the axis of the latent in a distribution of one domain; the observables are 0, ..., n − 1."""
        return self.observables

    def surprise(self, target: Sequence[int], given: Sequence[int] = ()) -> Surprise:
        """Build H(target | given) as a function of the mixture.

        Args:
            target: Axes of one domain's joint.
            given: Axes of the condition; none by default.

        Returns:
            The entropy with its gradients.
        """
        kept = sorted({*target, *given})
        table = marginal(self.joint, [0, *(a + 1 for a in kept)])
        order = [0, *(1 + kept.index(g) for g in given), *(1 + kept.index(t) for t in target)]
        size = int(np.prod([self.joint.shape[g + 1] for g in given], dtype=int))
        return Surprise(np.ascontiguousarray(table.transpose(order)).reshape(self.domains, size, -1))

    @cached_property
    def channel_noise(self) -> Array:
        """Compute H_j(Λ|X), which is linear in α because the channel is shared."""
        x = list(range(self.observables))
        return self.surprise([self.latent], x).corners

    def guess(self, kept: Sequence[int]) -> Surprise:
        """Return H(Λ | X_kept), the deterministic redundancy, as a function of the mixture.

        Args:
            kept: The kept observables.

        Returns:
            The entropy with its gradients.
        """
        key = tuple(sorted(kept))
        if key not in self._guesses:
            self._guesses[key] = self.surprise([self.latent], key)
        return self._guesses[key]

    @cached_property
    def _guesses(self) -> dict[tuple[int, ...], Surprise]:
        """Made once each: domains, pool and worst case all ask for the same ones."""
        return {}

    @property
    def budgets(self) -> tuple[int, ...]:
        """List how many observables may be deleted: every number for few of them, else only the weak and strong ends."""
        n = self.observables
        return tuple(range(1, n)) if n <= _FEW_OBSERVABLES else (1, n - 1)

    def keepers(self, deleted: int) -> list[tuple[int, ...]]:
        """List the subsets of observables that remain when some are dropped.

        Args:
            deleted: How many are dropped.

        Returns:
            Tuples of observables.
        """
        return list(combinations(range(self.observables), self.observables - deleted))

    @cached_property
    def emission(self) -> tuple[Surprise, ...]:
        """Compute H(X_i | Λ) for each i."""
        return tuple(self.surprise([i], [self.latent]) for i in range(self.observables))

    @cached_property
    def mechanism(self) -> Surprise:
        """Compute H(X | Λ)."""
        return self.surprise(list(range(self.observables)), [self.latent])

    def mediation(self, weights: Array) -> Array:
        """Compute M(α) = TC_α(X|Λ) = Σ_i H_α(X_i|Λ) − H_α(X|Λ).

        Args:
            weights: One α (k,) or a batch (..., k).

        Returns:
            Nats, of shape weights.shape[:-1].
        """
        return sum(e.value(weights) for e in self.emission) - self.mechanism.value(weights)

    def mediation_gradient(self, weights: Array) -> Array:
        """Compute g_j(α) = E_{Q_j} ln Q_α / (P_α(Λ) Π_i P_α(X_i|Λ)) = ∂M/∂α_j.

        It is not a number where a domain without weight would bring in new cells: no gradient exists there.

        Args:
            weights: One α (k,) or a batch (..., k).

        Returns:
            Nats, of the shape of `weights`.
        """
        with np.errstate(invalid="ignore"):
            return sum(e.tangents(weights) for e in self.emission) - self.mechanism.tangents(weights)

    def mediation_ceiling(self, weights: Array) -> Array:
        """Compute g_j(α) + D(P_j(X|Λ)‖P_α(X|Λ)) = −Σ_i E_{Q_j} ln P_α(X_i|Λ) − H_j(X|Λ), never below M_j.

        Args:
            weights: One α (k,) or a batch (..., k).

        Returns:
            Nats, of the shape of `weights`.
        """
        return sum(e.tangents(weights) for e in self.emission) - self.mechanism.corners

    def redundancy(self, kept: Sequence[int], weights: Array) -> Array:
        """Compute ε_kept(α) = I_α(Λ; X_rest | X_kept) = H_α(Λ|X_kept) − Σ_j α_j H_j(Λ|X).

        Args:
            kept: The kept observables.
            weights: One α (k,) or a batch (..., k).

        Returns:
            Nats, of shape weights.shape[:-1].
        """
        return self.guess(kept).value(weights) - weights @ self.channel_noise

    def redundancy_gradient(self, kept: Sequence[int], weights: Array) -> Array:
        """Compute d_j(α) = E_{Q_j} ln K(Λ|X) / P_α(Λ|X_kept) = ∂ε/∂α_j, never below ε_j.

        Args:
            kept: The kept observables.
            weights: One α (k,) or a batch (..., k).

        Returns:
            Nats, of the shape of `weights`.
        """
        return self.guess(kept).tangents(weights) - self.channel_noise
