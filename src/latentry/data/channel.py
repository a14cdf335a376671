r"""Channels :math:`K(\lambda \mid x)`: given what was observed, a distribution over what was not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from latentry.errors import DataError
from latentry.streams import stream

__all__ = ["CategoricalChannel", "Channel", "GaussianChannel"]


@dataclass(frozen=True, eq=False)
class GaussianChannel:
    r"""Row by row :math:`\lambda \sim N(\mu, \mathrm{diag}\,\sigma^2)`.

    >>> import numpy as np
    >>> channel = GaussianChannel(mean=np.zeros((3, 2)), scale=np.ones((3, 2)))
    >>> channel.sample(seed=0).shape
    (3, 2)
    """

    mean: np.ndarray
    scale: np.ndarray

    def __post_init__(self) -> None:
        if self.mean.ndim != 2 or self.mean.shape != self.scale.shape:
            raise DataError(
                f"mean of shape {self.mean.shape}, scale of shape {self.scale.shape}: not the same table. "
                "Give (rows, latents) for both."
            )
        _check_entries("mean", self.mean, np.isfinite(self.mean), "not finite. Give finite means.")
        positive = np.isfinite(self.scale) & (self.scale >= 0)
        _check_entries("scale", self.scale, positive, "no scale. Give finite scales of at least 0.")

    def __len__(self) -> int:
        return len(self.mean)

    def take(self, rows: np.ndarray) -> GaussianChannel:
        """Return the channel of some rows.

        Args:
            rows: Numbers of rows, or a truth value for each.

        Returns:
            A channel of these rows.
        """
        return GaussianChannel(self.mean[rows], self.scale[rows])

    def sample(self, seed: int = 0) -> np.ndarray:
        """Draw the latents of each row once.

        Args:
            seed: Of the draws.

        Returns:
            Numbers, (rows, latents).
        """
        noise = stream("channel/draw", seed).standard_normal(self.mean.shape)
        return np.asarray(self.mean + self.scale * noise)

    def __repr__(self) -> str:
        return f"GaussianChannel({len(self)} rows, {self.mean.shape[1]} latents)"

    @property
    def is_deterministic(self) -> bool:
        """Return whether no noise is left: mutual information with its input is then infinite."""
        return bool((self.scale == 0).all())


@dataclass(frozen=True, eq=False)
class CategoricalChannel:
    """Row by row a probability for each latent value.

    >>> import numpy as np
    >>> CategoricalChannel(np.array([[0.1, 0.9], [1.0, 0.0]])).most_likely
    array([1, 0])
    """

    probabilities: np.ndarray

    def __post_init__(self) -> None:
        p = self.probabilities
        if p.ndim != 2 or (p < 0).any() or not np.allclose(p.sum(axis=1), 1, atol=1e-5):
            raise DataError(
                f"probabilities of shape {p.shape}: not a distribution in each row. "
                "Give (rows, values), at least 0, with rows that sum to 1."
            )

    @classmethod
    def of_labels(cls, labels: np.ndarray) -> CategoricalChannel:
        """Return the channel that is certain of one label in each row; values are in the order of the sorted labels.

        Args:
            labels: One for each row, (rows,).

        Returns:
            A channel with one value for each different label.

        >>> import numpy as np
        >>> CategoricalChannel.of_labels(np.array(["b", "a"])).probabilities
        array([[0., 1.],
               [1., 0.]])
        """
        levels, codes = np.unique(labels, return_inverse=True)
        return cls(np.eye(len(levels))[codes])

    def __len__(self) -> int:
        return len(self.probabilities)

    def take(self, rows: np.ndarray) -> CategoricalChannel:
        """Return the channel of some rows.

        Args:
            rows: Numbers of rows, or a truth value for each.

        Returns:
            A channel of these rows.
        """
        return CategoricalChannel(self.probabilities[rows])

    def __repr__(self) -> str:
        return f"CategoricalChannel({len(self)} rows, {self.probabilities.shape[1]} values)"

    @property
    def most_likely(self) -> np.ndarray:
        """Return the most probable value of each row, (rows,)."""
        return np.asarray(self.probabilities.argmax(axis=1))

    def sample(self, seed: int = 0) -> np.ndarray:
        """Draw one value for each row.

        Args:
            seed: Of the draws.

        Returns:
            Numbers of values, (rows,).
        """
        rise = np.cumsum(self.probabilities, axis=1)
        draw = stream("channel/draw", seed).random((len(self), 1)) * rise[:, -1:]
        return np.asarray((draw >= rise[:, :-1]).sum(axis=1))


def _check_entries(name: str, table: np.ndarray, fine: np.ndarray, remedy: str) -> None:
    if not fine.all():
        row, latent = np.argwhere(~fine)[0]
        raise DataError(f"{name}={table[row, latent]} in row {row}, latent {latent}: {remedy}")


Channel = GaussianChannel | CategoricalChannel
