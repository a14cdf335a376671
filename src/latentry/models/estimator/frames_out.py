"""What a model gives as data frames: with the columns of its fit, and the names of the rows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from sklearn.utils.validation import check_is_fitted

from latentry.data import DataLike, Dataset, aligned, as_frame, as_native_frame, is_annotated
from latentry.errors import DataError
from latentry.models.estimator.inputs import Values
from latentry.models.estimator.scikit_learn import output_format

if TYPE_CHECKING:
    from latentry.models.estimator.latent_model import AnyModel

__all__ = ["as_frames", "float_type", "with_row_names"]


def as_frames(model: AnyModel, values: Values, X: DataLike | None, library: str | None) -> Any:
    """Return rows that a model gave as data frames.

    Args:
        model: Fitted.
        values: Of its ``sample``, ``reconstruct``, ``impute`` or ``decode``.
        X: The rows that they belong to, if any: their names, and the library of their frame.
        library: Of the frames; by default that of ``X``, else pandas.

    Returns:
        A frame, or one for each modality by name; what is no table, such as images, as it is.

    Raises:
        DataError: For values of another shape than the data of the fit.
    """
    check_is_fitted(model)
    layout = model.record_.layout
    given = values if isinstance(values, dict) else dict.fromkeys(layout.modalities[:1], values)
    unknown = [name for name in given if name not in layout.modalities]
    if unknown:
        raise DataError(f"values: {unknown[0]!r} is no modality of the fit. Give what the model gave.")
    rows, chosen = _names_of_rows(X), library or _library_of(X)
    index = _index_of(X) if chosen == "pandas" else None
    frames: dict[str, Any] = {
        name: as_native_frame(layout, rows, name, np.asarray(table), chosen) if len(layout.shape(name)) == 1 else table
        for name, table in given.items()
    }
    if index is not None:
        frames = {name: one.set_axis(index) if len(one) == len(index) else one for name, one in frames.items()}
    return frames if isinstance(values, dict) else next(iter(frames.values()))


def with_row_names(model: AnyModel, latents: np.ndarray, X: DataLike) -> Any:
    """Return latents with the names of the rows as index, where pandas is asked for and scikit-learn does not know these names.

    Args:
        model: Fitted.
        latents: (rows, latents).
        X: Rows: scikit-learn knows the index of a single frame, and not the names that a Dataset, several frames, or AnnData have.

    Returns:
        The array, or a pandas frame.
    """
    if not (isinstance(X, (Dataset, Mapping)) or is_annotated(X)) or output_format(model) != "pandas":
        return latents
    import pandas as pd  # which somebody has asked for

    rows = _names_of_rows(X)
    return latents if rows is None else pd.DataFrame(latents, index=list(rows))


def _names_of_rows(X: DataLike | None) -> tuple[str, ...] | None:
    if X is None:
        return None
    if isinstance(X, Dataset) or is_annotated(X):
        return (X if isinstance(X, Dataset) else Dataset(X)).rows
    parts = X if isinstance(X, Mapping) else {"X": X}
    return aligned({str(name): part for name, part in parts.items()})[1]


def _index_of(X: DataLike | None) -> Any:
    """Return the index of a pandas frame as it is: names of rows are text, and an index need not be."""
    frame = None if isinstance(X, (Dataset, Mapping)) or is_annotated(X) else as_frame("X", X)
    return None if frame is None else nw.maybe_get_index(frame)


def _library_of(X: DataLike | None) -> str:
    parts = X.values() if isinstance(X, Mapping) and not is_annotated(X) else (X,)
    frames = (as_frame("X", part) for part in parts if not isinstance(part, Dataset) and not is_annotated(part))
    return next((frame.implementation.value for frame in frames if frame is not None), "pandas")


def float_type(X: DataLike) -> np.dtype:
    """Return the type of what a model gives for rows: that of an array of numbers, at least single precision.

    Args:
        X: Rows.

    Returns:
        A type of numbers.
    """
    given = [X.dtype] if isinstance(X, np.ndarray) and X.dtype.kind == "f" else []
    return np.result_type(np.float32, *given)
