r"""A mixture of Gaussians in the latents, as a model learned it: :math:`p(z) = \sum_c \pi_c N(z; m_c, S_c)`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from latentry.errors import DataError

__all__ = ["LatentMixture"]


@dataclass(frozen=True, eq=False)
class LatentMixture:
    """Components of the latents, and what the map from latents to rows is like.

    Args:
        weights: Of the components, (components,), which sum to 1.
        means: (components, latents).
        covariances: (components, latents, latents).
        piecewise_affine: True if decoders are piecewise affine; otherwise a sentence that says why they are not.

    >>> LatentMixture(np.ones(2) / 2, np.zeros((2, 1)), np.ones((2, 1, 1)), True).latents
    1
    """

    weights: np.ndarray
    means: np.ndarray
    covariances: np.ndarray
    piecewise_affine: bool | str

    def __post_init__(self) -> None:
        size = self.means.shape
        if len(size) != 2 or self.weights.shape != size[:1] or self.covariances.shape != (*size, size[-1]):
            raise DataError(
                f"weights of shape {self.weights.shape}, means {size}, covariances {self.covariances.shape}: not one mixture. "
                "Give (components,), (components, latents) and (components, latents, latents)."
            )

    @property
    def components(self) -> int:
        """Return the number of components."""
        return len(self.weights)

    @property
    def latents(self) -> int:
        """Return the number of latents."""
        return int(self.means.shape[1])
