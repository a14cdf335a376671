"""The density of an autoencoder: how likely rows are on the curved surface that it decodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from latentry.data import Dataset
from latentry.discovery.plane_mixture import fit_planes
from latentry.models import VAE

__all__ = ["RealValues", "real_values", "surface_density"]

_STEP = 0.02  # of a finite difference, in standard deviations of a latent
_LEAST_NOISE = 1e-8  # variance of a standardised column


@dataclass(frozen=True, eq=False)
class RealValues:
    """The numbers of rows as one table: centred, in units of the spread of each column, constant columns left out.

    Args:
        names: Of the modalities.
        shift: Of all columns.
        scale: Of all columns, 0 for a constant one.
    """

    names: tuple[str, ...]
    shift: np.ndarray
    scale: np.ndarray

    def of(self, rows: Dataset) -> np.ndarray:
        """Return rows of data as numbers without units.

        Args:
            rows: With the same modalities.

        Returns:
            (rows, columns that vary).
        """
        return self.of_arrays({name: np.asarray(rows[name]) for name in self.names})

    def of_arrays(self, arrays: object) -> np.ndarray:
        """Return what a model decoded as numbers without units.

        Args:
            arrays: One array, or arrays by the names of the modalities.

        Returns:
            (rows, columns that vary).
        """
        parts = [arrays[name] for name in self.names] if isinstance(arrays, dict) else [arrays]
        table = _side_by_side([np.asarray(part, np.float64) for part in parts])
        vary = self.scale > 0
        result: np.ndarray = (table[:, vary] - self.shift[vary]) / self.scale[vary]
        return result

    @property
    def columns(self) -> int:
        """Return how many columns vary."""
        return int((self.scale > 0).sum())


def real_values(rows: Dataset) -> RealValues:
    """Return the units of the columns of some rows.

    Args:
        rows: Whose modalities hold real values.

    Returns:
        Shifts and scales.
    """
    table = _side_by_side([np.asarray(rows[name], np.float64) for name in rows.names])
    return RealValues(rows.names, table.mean(axis=0), table.std(axis=0))


def _side_by_side(parts: list[np.ndarray]) -> np.ndarray:
    return np.hstack([part.reshape(len(part), -1) for part in parts])


def surface_density(model: VAE, units: RealValues, training: Dataset, rows: Dataset, components: int) -> np.ndarray:
    r"""Approximate the log density of rows under an autoencoder with decoder f, noise :math:`\sigma^2` and a mixture of its codes.

    Laplace's method at the code z of a row, J being the Jacobian of f:
    :math:`\log p(z) - \tfrac12 \log\det(J^T J + \sigma^2 I) - \tfrac{d - n}{2} \log 2\pi\sigma^2 - |x - f(z)|^2 / 2\sigma^2`.
    With a linear decoder and Gaussian codes it is the density of probabilistic principal component analysis. Noise comes from the
    rows that the fit held out.

    Args:
        model: Fitted to the training rows.
        units: Of the columns.
        training: Rows of the fit.
        rows: New ones.
        components: Of the mixture of codes.

    Returns:
        Nats, one number a row, for columns in units of their spread.
    """
    codes, new = model.transform(training).astype(np.float64), model.transform(rows).astype(np.float64)
    spread = np.maximum(codes.std(axis=0), 1e-9)
    latents, columns = codes.shape[1], units.columns
    held = training.take(model.record_.held_out) if len(model.record_.held_out) else training
    noise = _noise(units.of(held) - units.of_arrays(model.decode(model.transform(held))), latents)
    missed = units.of(rows) - units.of_arrays(model.decode(new))
    jacobian = _jacobian(model, units, new, spread)
    stretch = np.linalg.slogdet(np.einsum("rdi,rdj->rij", jacobian, jacobian) + noise * np.eye(latents))[1]
    prior = fit_planes(codes / spread, components, seed=0).log_density(new / spread, latents)
    flat = (columns - latents) * np.log(2 * np.pi * noise) + (missed**2).sum(axis=1) / noise
    result: np.ndarray = prior - 0.5 * stretch - 0.5 * flat
    return result


def _noise(missed: np.ndarray, latents: int) -> float:
    """Return the variance of what is missed, for each direction in which a row is free to miss."""
    free = max(missed.shape[1] - latents, 1)
    return float(max((missed**2).sum(axis=1).mean() / free, _LEAST_NOISE))


def _jacobian(model: VAE, units: RealValues, codes: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Return the derivative of the decoder by each code in units of its spread, by central differences."""
    columns = []
    for step in _STEP * np.diag(spread):
        ahead, behind = model.decode(codes + step), model.decode(codes - step)
        columns.append((units.of_arrays(ahead) - units.of_arrays(behind)) / (2 * _STEP))
    return np.stack(columns, axis=-1)
