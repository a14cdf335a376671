"""Which latents each domain changes, where that was known before the fit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from latentry.data import DataLike, DomainLike

__all__ = ["KnownTargets", "KnowsTargets"]


@dataclass(frozen=True, eq=False)
class KnownTargets:
    """What was said of domains and latents.

    Args:
        labels: Of the domains.
        targets: Truth values (domains, latents): whether the domain changes the latent.
        parents: Truth values (latents, latents): whether the column's latent causes the row's.
    """

    labels: tuple[str | int, ...]
    targets: np.ndarray
    parents: np.ndarray

    @property
    def told_apart(self) -> np.ndarray:
        """Return for each latent whether it is the only common target of some set of domains.

        >>> KnownTargets(("a", "b"), np.array([[1, 1, 0], [0, 1, 1]], dtype=bool), np.zeros((3, 3), dtype=bool)).told_apart
        array([False,  True, False])
        """
        common = np.array([self.targets[self.targets[:, i]].all(axis=0) for i in range(self.targets.shape[1])])
        reached = self.targets.any(axis=0)
        return np.asarray(reached & (common.sum(axis=1) == 1))

    @property
    def alone(self) -> np.ndarray:
        """Return for each latent whether some domain changes it and no other, and some domain leaves it as it is."""
        single = self.targets[self.targets.sum(axis=1) == 1].any(axis=0)
        return np.asarray(single & ~self.targets.all(axis=0))


class KnowsTargets(ABC):
    """A model that can be told which latents each domain changes."""

    @abstractmethod
    def known_targets(self) -> KnownTargets | None:
        """Return what it was told; None if nothing."""

    @abstractmethod
    def own_parts(self, X: DataLike, y: DomainLike | None = None, *, untargeted: bool = False) -> np.ndarray:
        """Return of each latent what its causes do not explain, in standard deviations: standard normals if the model is right.

        Args:
            X: Rows, as for ``fit``.
            y: Their domains, if ``X`` has none.
            untargeted: By the mechanisms of domains that change nothing, whatever the row's domain.

        Returns:
            (rows, latents).
        """
