"""Values that repeat: ties broken at random."""

from __future__ import annotations

import numpy as np

__all__ = ["repeats", "spread_ties"]

SELDOM = 0.05  # of the values of a continuous column may repeat


def repeats(column: np.ndarray) -> bool:
    """Return whether more than a twentieth of the values repeat another: no continuous variable.

    Args:
        column: Numbers.

    Returns:
        Whether they do.
    """
    return len(np.unique(column)) < (1 - SELDOM) * len(column)


def spread_ties(values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    r"""Return the columns, those whose values repeat as c + U, c the number of the value in their order and U uniform on (0, 1).

    The value can be read back from ⌊c + U⌋ and U is independent of everything, so that :math:`I(c(X) + U; Y) = I(X; Y)`: the
    distributional transform but for an increasing map (Rüschendorf, J. Stat. Plan. Inference 139, 2009).

    Args:
        values: Rows.
        rng: Breaks the ties.

    Returns:
        Rows without ties.

    >>> spread_ties(np.array([[3.0], [7.0], [3.0]]), np.random.default_rng(0)).round(2).tolist()
    [[0.64], [1.27], [0.04]]
    """
    return np.stack([_spread(c, rng) if repeats(c) else c for c in values.T], axis=1)


def _spread(column: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.asarray(np.unique(column, return_inverse=True)[1] + rng.random(len(column)))
