"""One model's latents in the order, sign, scale and names of another's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from latentry.certificate.matching.columns import LatentColumns
from latentry.certificate.matching.pairing import outcome_order, sign_of
from latentry.data import column_scales
from latentry.errors import DataError

__all__ = ["Alignment", "align"]


@dataclass(frozen=True, eq=False)
class Alignment:
    """How latents of a model become those of the reference.

    Args:
        places: The column of the model for each latent of the reference that has a partner, by name.
        signs: 1 or −1, by name; 1 for categories.
        centres: Mean of each column of the model, on the rows that were matched.
        scales: Standard deviation of each column, on the same rows.
        orders: For categories, the outcome of the reference for each outcome, by name.
    """

    places: Mapping[str, int]
    signs: Mapping[str, int]
    centres: np.ndarray
    scales: np.ndarray
    orders: Mapping[str, Mapping[int, int]]

    def apply(self, columns: LatentColumns) -> dict[str, np.ndarray]:
        """Return the latents of rows as the reference would have them.

        Args:
            columns: Latents of the model.

        Returns:
            A column for each latent of the reference that has a partner: standardised numbers, or outcomes; an outcome
            without a partner is −1.

        Raises:
            DataError: If there are more or fewer latents than were matched.
        """
        if columns.table.shape[1] != len(self.centres):
            counts = f"{columns.table.shape[1]} latents, and {len(self.centres)} were matched"
            raise DataError(f"data: gives {counts}. Give latents of the same model.")
        return {name: self._column(name, columns.table[:, place]) for name, place in self.places.items()}

    def _column(self, name: str, values: np.ndarray) -> np.ndarray:
        if name in self.orders:
            return np.array([self.orders[name].get(int(value), -1) for value in values], dtype=np.int64)
        place = self.places[name]
        standard: np.ndarray = self.signs[name] * (values - self.centres[place]) / self.scales[place]
        return standard


def align(reference: LatentColumns, other: LatentColumns, partner: Mapping[str, int]) -> Alignment:
    """Read off sign, scale and order of outcomes from rows of both models.

    Args:
        reference: Latents of some rows.
        other: Latents of the same rows.
        partner: The column of the other for each latent of the reference that has one, by name.

    Returns:
        How latents of the other become those of the reference.
    """
    own = {name: reference.table[:, reference.names.index(name)] for name in partner}
    theirs = {name: other.table[:, place] for name, place in partner.items()}
    signs = {name: 1 if other.categories else sign_of(own[name], theirs[name]) for name in partner}
    orders = {name: outcome_order(own[name], theirs[name]) for name in partner} if other.categories else {}
    table = other.table.astype(np.float64)
    return Alignment(dict(partner), signs, table.mean(axis=0), column_scales(table), orders)
