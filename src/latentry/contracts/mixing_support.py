"""Which observed variable depends on which latent, and which latents that pattern can tell apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from latentry.errors import DataError

__all__ = ["MixingSupport"]


@dataclass(frozen=True, eq=False)
class MixingSupport:
    r"""The pattern of zeros of the Jacobian :math:`\partial x_i / \partial z_j` of a mixing.

    Structural sparsity (Zheng, Ng and Zhang, *On the identifiability of nonlinear ICA: sparsity and beyond*, 2022) holds
    for a latent k when some observed variables have parent sets that meet in k alone. The smallest such meeting is
    that of all variables that k reaches, so that one intersection decides.

    Args:
        present: (observed, latents), True where the variable depends on the latent.

    >>> chain = MixingSupport([[1, 1, 0], [0, 1, 1], [0, 0, 1]])  # nothing but the first variable shows latent 0
    >>> chain.pinned.tolist(), chain.companions(0)
    ([False, True, True], (1,))
    """

    present: np.ndarray

    def __post_init__(self) -> None:
        given = np.asarray(self.present)
        if given.ndim != 2 or 0 in given.shape:
            raise DataError(f"present of shape {given.shape}: no table. Give (observed, latents), at least 1 of each.")
        table = given.astype(bool)
        table.flags.writeable = False
        object.__setattr__(self, "present", table)

    @property
    def observed(self) -> int:
        """Return the number of observed variables."""
        return int(self.present.shape[0])

    @property
    def latents(self) -> int:
        """Return the number of latents."""
        return int(self.present.shape[1])

    @property
    def edges(self) -> int:
        """Return the number of pairs of a variable and a latent it depends on."""
        return int(self.present.sum())

    def companions(self, latent: int) -> tuple[int, ...]:
        """Return the latents that act on every variable that ``latent`` acts on: nothing in the pattern keeps them out of it.

        Args:
            latent: Number of a latent.

        Returns:
            Numbers of other latents, ascending.
        """
        reached = self.present[self.present[:, latent]]
        together = reached.all(axis=0) if len(reached) else np.ones(self.latents, dtype=bool)
        return tuple(int(k) for k in np.flatnonzero(together) if k != latent)

    @property
    def pinned(self) -> np.ndarray:
        """Return, for each latent, whether structural sparsity holds, (latents,)."""
        shown = np.asarray(self.present.any(axis=0))
        return np.array([bool(shown[k]) and not self.companions(k) for k in range(self.latents)])

    @property
    def staircase(self) -> tuple[int, ...]:
        """Return latents in the order in which they can be read off: each alone in some variable once those before it are known.

        Any data have an explanation in which all latents can (Darmois 1953; Hyvärinen and Pajunen, *Nonlinear independent
        component analysis: existence and uniqueness results*, 1999): a staircase is therefore no evidence.

        >>> MixingSupport([[1, 0, 0], [1, 1, 0], [1, 1, 1]]).staircase, MixingSupport([[1, 1], [1, 1]]).staircase
        ((0, 1, 2), ())
        """
        known: list[int] = []
        while True:
            left = [set(np.flatnonzero(row)) - set(known) for row in self.present]
            alone = sorted({int(next(iter(parents))) for parents in left if len(parents) == 1})
            if not alone:
                return tuple(known)
            known += alone

    @property
    def diverse(self) -> np.ndarray:
        """Return, for each latent, whether no other acts on the same variables: structural diversity, (latents,).

        Weaker than structural sparsity, since the variables of one latent may be among those of another (Zheng et al.,
        *Diverse dictionary learning*, 2026). A map that adds no edge may mix into a latent those that act on all of its
        variables, and no others. If no two act on the same ones this is an order, and independence ends it: given the
        latents before it, the only increasing map that keeps the distribution of a latent is one of that latent alone.

        >>> MixingSupport([[1, 1, 0], [0, 1, 1], [0, 0, 1]]).diverse, MixingSupport([[1, 1], [1, 1]]).diverse
        (array([ True,  True,  True]), array([False, False]))
        """
        _, which, count = np.unique(self.present, axis=1, return_inverse=True, return_counts=True)
        alone: np.ndarray = (count[which.reshape(-1)] == 1) & self.present.any(axis=0)
        return alone

    @property
    def free_edges(self) -> int:
        """Return the edges of a whole staircase, with which any data can be explained: all but n(n - 1)/2 of them.

        >>> MixingSupport(np.ones((4, 4))).free_edges
        10
        """
        return self.observed * self.latents - self.latents * (self.latents - 1) // 2

    def agreement(self, other: MixingSupport) -> float:
        """Return F1 of the edges: 1 when both patterns are the same, 0 when they have none in common.

        Args:
            other: A pattern of the same shape.

        Returns:
            A number from 0 to 1.
        """
        both = int((self.present & other.present).sum())
        total = self.edges + other.edges
        return 2 * both / total if total else 1.0

    def matched(self, other: MixingSupport) -> tuple[float, tuple[int, ...]]:
        """Return the best F1 over all orders of the other's latents, and that order.

        Args:
            other: A pattern of the same shape.

        Returns:
            F1, and for each latent its match among the other's.

        >>> lower, upper = MixingSupport([[1, 0], [1, 1]]), MixingSupport([[0, 1], [1, 1]])
        >>> lower.matched(upper)
        (1.0, (1, 0))
        """
        from scipy.optimize import linear_sum_assignment

        common = self.present.T.astype(float) @ other.present.astype(float)
        # F1 = 2 · common / (fixed total): the best order maximises the common edges
        _, order = linear_sum_assignment(common, maximize=True)
        return self.agreement(MixingSupport(other.present[:, order])), tuple(int(k) for k in order)

    def beyond_chance(self, other: MixingSupport) -> float:
        r"""Return Cohen's :math:`\kappa` of the edges, in the best order of the other's latents; 1 when the same.

        F1 is near 1 for any two mixings in which almost every edge is there; this is not. Two patterns that say nothing,
        with all edges or none, agree by 0. The best order makes unrelated patterns agree somewhat too, so that they come
        out above 0.

        Args:
            other: A pattern of the same shape.

        Returns:
            A number of at most 1.

        >>> cyclic, full = MixingSupport([[1, 1, 0], [0, 1, 1], [1, 0, 1]]), MixingSupport(np.ones((3, 3)))
        >>> cyclic.beyond_chance(cyclic), full.beyond_chance(full)
        (1.0, 0.0)
        """
        order = self.matched(other)[1]
        mine, others = self.present, other.present[:, order]
        both = mine.mean() * others.mean() + (1 - mine.mean()) * (1 - others.mean())
        return float(((mine == others).mean() - both) / (1 - both)) if both < 1 else 0.0

    def __repr__(self) -> str:
        return f"MixingSupport({self.observed} variables, {self.latents} latents, {self.edges} edges)"
