"""Whole numbers that go with rows into every batch: where a row stands, and which experiment it comes from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["OBSERVATION", "Numbering"]

OBSERVATION = -1  # the experiment of a row in which nothing was set


@dataclass(frozen=True, eq=False)
class Numbering:
    """Row numbers and experiment numbers, as integers: a float32 cannot tell rows beyond 2**24 apart.

    Args:
        rows: Number of each row among all rows of a fit.
        experiments: Number of its experiment, :data:`OBSERVATION` where nothing was set.
    """

    rows: NDArray[np.int32]
    experiments: NDArray[np.int32]

    def take(self, rows: NDArray[np.int64]) -> Numbering:
        """Return the numbers of chosen rows.

        Args:
            rows: Places of the rows here.

        Returns:
            Their numbers, in this order.
        """
        return Numbering(self.rows[rows], self.experiments[rows])
