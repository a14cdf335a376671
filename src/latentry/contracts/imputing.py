"""Filling in what was not measured."""

from __future__ import annotations

from abc import abstractmethod

from latentry.contracts.capabilities import ModalityArrays, Reconstructs
from latentry.data import DataLike, DomainLike

__all__ = ["Imputes"]


class Imputes(Reconstructs):
    """A model that fills in missing modalities and cells, and keeps what was measured."""

    @abstractmethod
    def impute(self, X: DataLike, y: DomainLike | None = None) -> ModalityArrays:
        """Return every modality of every row: as measured where it was, expected values where it was not.

        Args:
            X: Rows, as :class:`latentry.Dataset` takes them.
            y: Their domain, where X does not hold it.

        Returns:
            An array (rows, ...), or one for each of several modalities.
        """
