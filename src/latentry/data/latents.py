"""Arrays of latents as channels: labels, numbers, or numbers rounded to the nearest of a few centres."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from latentry.data.cells import is_missing
from latentry.data.channel import CategoricalChannel, Channel, GaussianChannel
from latentry.data.largest import LARGEST
from latentry.data.standardiser import moments
from latentry.errors import DataError

__all__ = [
    "channel_from_array",
    "column_scales",
    "counted_names",
    "has_few_values",
    "missing_entries",
    "nearest_centres",
    "varying_columns",
]

_FEW = 20  # different numbers, up to which a column is read as labels
_STEADY = 1e-12  # range of a column, as a fraction of its largest size, up to which it is constant but for rounding


def channel_from_array(latents: ArrayLike, *, few_values_are_labels: bool = False) -> Channel:
    """Return the channel of latents that came as an array.

    One column of whole numbers, text or truth values is read as labels; any other numbers are read as numbers without noise.

    Args:
        latents: Labels (rows,), or numbers (rows,) or (rows, latents).
        few_values_are_labels: Whether a single column of fractional numbers that takes few values is read as labels too.

    Returns:
        A CategoricalChannel of certain labels, or a GaussianChannel with scale 0.

    Raises:
        DataError: For a missing or infinite entry, named by its row, and for shapes and types that are neither.

    >>> channel_from_array(["a", "b", "a"]).most_likely
    array([0, 1, 0])
    >>> channel_from_array([[0.5, 1.0], [2.0, 3.0]])
    GaussianChannel(2 rows, 2 latents)
    """
    values = np.asarray(latents)
    gone = np.argwhere(missing_entries(values))
    if len(gone):
        raise _not_finite(gone[0])
    values = values.astype(str) if values.dtype.kind == "O" else values
    if values.ndim == 1 and (values.dtype.kind in "iubUS" or (few_values_are_labels and has_few_values(values))):
        return CategoricalChannel.of_labels(values)
    if values.dtype.kind not in "fiub" or values.ndim not in (1, 2):
        raise DataError(
            f"latents of shape {values.shape} and dtype {values.dtype}: neither labels nor numbers. "
            "Give a channel, labels (rows,), or an array of numbers (rows, latents)."
        )
    numbers = values.astype(np.float64).reshape(len(values), -1)
    infinite = np.argwhere(~np.isfinite(numbers))
    if len(infinite):
        raise _not_finite(infinite[0])
    large = np.argwhere(np.abs(numbers) > LARGEST)
    if len(large):
        row, latent = large[0]
        raise DataError(
            f"latents: {numbers[row, latent]:.3g} at row {row}, latent {latent}. Squares of such numbers overflow. Use other units."
        )
    return GaussianChannel(numbers, np.zeros_like(numbers))


def counted_names(count: int) -> tuple[str, ...]:
    """Return the names of latents that nobody has named.

    Args:
        count: Of latents.

    Returns:
        z1, z2, ...

    >>> counted_names(3)
    ('z1', 'z2', 'z3')
    """
    return tuple(f"z{i + 1}" for i in range(count))


def _not_finite(place: np.ndarray) -> DataError:
    row, latent = (*place, 0)[:2]
    return DataError(
        f"latents: not finite in row {row}, latent {latent}, but every row needs all of them. Leave the row out, or fill it."
    )


def missing_entries(values: np.ndarray) -> np.ndarray:
    """Mark NaN among numbers, and None or NaN among objects.

    Args:
        values: An array of any type and shape.

    Returns:
        Truth values of the same shape.

    >>> missing_entries(np.array(["a", None], dtype=object))
    array([False,  True])
    """
    if values.dtype.kind == "f":
        return np.asarray(np.isnan(values))
    if values.dtype.kind != "O":
        return np.zeros(values.shape, dtype=bool)
    return np.array([is_missing(value) for value in values.ravel()], dtype=bool).reshape(values.shape)


def has_few_values(column: ArrayLike, rows: np.ndarray | None = None) -> bool:
    """Return whether the numbers of one column repeat so often that they are labels.

    One empty cell turns a column of 0 and 1 into fractional numbers. At most 20 different ones are few, and at most a tenth of
    the rows.

    Args:
        column: Numbers, (rows,) or (rows, 1).
        rows: Numbers of the rows to look at; all of them by default.

    Returns:
        False also for whole numbers, text and several columns.

    >>> has_few_values(np.tile([0.0, 1.0], 10)), has_few_values(np.arange(20.0))
    (True, False)
    """
    values = np.asarray(column)
    if values.dtype.kind != "f" or (values.ndim > 1 and values.shape[1:] != (1,)):
        return False
    flat = (values if rows is None else values[rows]).ravel()
    return bool(np.isfinite(flat).all()) and len(np.unique(flat)) <= min(_FEW, len(flat) // 10)


def nearest_centres(
    values: np.ndarray, count: int, *, fit: np.ndarray | None = None, starts: int = 4, seed: int = 0
) -> np.ndarray:
    """Return the number of the nearest of some k-means centres for each row.

    Args:
        values: Rows of numbers, in comparable units.
        count: Number of centres.
        fit: Numbers of the rows that place the centres; all of them by default.
        starts: First placements of the centres, of which the best is kept.
        seed: Of the first placements.

    Returns:
        Numbers of centres, (rows,).

    >>> codes = nearest_centres(np.array([[0.0], [0.1], [5.0], [5.1]]), 2)
    >>> bool(codes[0] == codes[1] != codes[2] == codes[3])
    True
    """
    from sklearn.cluster import KMeans  # a second to load: only when it is asked for

    centres = KMeans(count, n_init=starts, random_state=seed).fit(values if fit is None else values[fit])
    return np.asarray(centres.labels_ if fit is None else centres.predict(values))


def column_scales(values: np.ndarray) -> np.ndarray:
    """Return the standard deviation of each column, and 1 for a column that never changes.

    Args:
        values: Rows of numbers, (rows, columns).

    Returns:
        Positive numbers, (columns,).

    >>> column_scales(np.array([[1.0, 7.0], [3.0, 7.0]]))
    array([1., 1.])
    """
    return np.where(varying_columns(values), moments(values)[1], 1.0)


def varying_columns(values: np.ndarray) -> np.ndarray:
    """Mark the columns that change, by their range: the standard deviation of a constant 0.1 is not 0 but 1e-17.

    Args:
        values: Rows of numbers, (rows, columns).

    Returns:
        Truth values, (columns,).

    >>> varying_columns(np.column_stack([np.full(9, 0.1), np.full(9, 1e30), np.arange(9)]))
    array([False, False,  True])
    """
    if not len(values):
        return np.zeros(values.shape[1], dtype=bool)
    low, high = (np.asarray(end(axis=0), dtype=np.float64) for end in (values.min, values.max))
    return np.asarray(high - low > _STEADY * np.maximum(np.abs(low), np.abs(high)))
