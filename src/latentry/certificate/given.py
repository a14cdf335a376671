"""What a caller gives: latents of one kind or another, rows, and which of the rows are new to the latents."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from functools import reduce
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, TransformerMixin

from latentry.certificate.splitting import Split, rows_to_audit, unseen_rows, without_trained_units
from latentry.contracts import HasChannel, KeepsFitRecord
from latentry.data import Channel, Dataset, GaussianChannel, aligned, as_frame, frame_columns, raw_column
from latentry.errors import DataError

__all__ = ["Columns", "Latents", "as_dataset", "check_given", "in_order_of", "rows_new_to_all", "split_for", "taken"]

# A fitted model, or latents made elsewhere.
Latents: TypeAlias = HasChannel | Channel | Dataset | ArrayLike
Columns: TypeAlias = Dataset | Mapping[str, ArrayLike] | ArrayLike


def as_dataset(data: Columns, domain: ArrayLike | None = None) -> Dataset:
    """Return rows as a Dataset.

    Args:
        data: A Dataset, an array, or columns by name.
        domain: Of each row, where the data do not have it.

    Returns:
        The rows.

    Raises:
        DataError: If single cells are missing.
    """
    if isinstance(data, HasChannel):
        raise DataError(
            "latents and data: swapped, it seems. Give the model first and then the rows: certify(model, data)."
        )
    rows = _as_dataset(data, domain)
    rows.refuse_missing_cells("A certificate")
    return rows


def _as_dataset(data: Columns, domain: ArrayLike | None) -> Dataset:
    if isinstance(data, Dataset):
        return data if domain is None else data.with_domain(domain)
    if not isinstance(data, Mapping):
        return Dataset(data, domain)
    parts, rows = aligned({**{f"data[{name!r}]": values for name, values in data.items()}, "domain": domain})
    return Dataset({name: _column(parts[f"data[{name!r}]"]) for name in data}, parts["domain"], rows=rows)


def _column(values: ArrayLike) -> ArrayLike:
    """Return a table of one column, and labels as codes, where a column came flat or as text; NaN where a label is missing."""
    labels = _labels(values)
    if labels is not None:
        known = np.array([label is not None for label in labels])
        codes = np.full(len(labels), np.nan)
        codes[known] = np.unique([str(label) for label in labels if label is not None], return_inverse=True)[1]
        return (codes.astype(np.int64) if known.all() else codes).reshape(-1, 1)
    array = np.asarray(values)
    return values if array.ndim != 1 or array.dtype == object else array.reshape(-1, 1)


def _labels(values: ArrayLike) -> list[object] | None:
    """Return the cells of a single column of text or categories, of whatever library; None for anything else."""
    frame = as_frame("data", values)
    if frame is not None:
        column = frame_columns("data", frame)[0] if len(frame.shape) == 1 or frame.shape[1] == 1 else None
    else:
        array = np.asarray(values)
        column = raw_column("data", "value", array) if array.ndim == 1 and array.dtype.kind in "OU" else None
    return None if column is None or column.kind != "category" else column.cells.tolist()


def split_for(latents: Latents, data: Dataset, seen: ArrayLike | None) -> Split:
    """Return the rows that are new to latents.

    Args:
        latents: A model, which knows its training rows, or latents made elsewhere.
        data: All rows.
        seen: Those that trained latents made elsewhere, where that is known.

    Returns:
        The rows, and how it is known that they are new.

    Raises:
        DataError: If too few are left, or `seen` is given for a model.
    """
    if not isinstance(latents, HasChannel):
        return unseen_rows(data, seen)
    if seen is not None:
        raise DataError("seen: is for latents made elsewhere; a model knows which rows it was fitted on. Leave it out.")
    return rows_to_audit(latents, data)


def rows_new_to_all(latents: Mapping[str, Latents], data: Dataset, seen: ArrayLike | None = None) -> np.ndarray:
    """Return the rows that trained none of several latents.

    Args:
        latents: By name.
        data: All rows.
        seen: Rows that trained latents made elsewhere, where that is known.

    Returns:
        Numbers of rows, ascending.

    Raises:
        DataError: If too few are new to one of them.
    """
    trained = {name: None if isinstance(one, HasChannel) else seen for name, one in latents.items()}
    splits = [without_trained_units(split_for(one, data, trained[name]), data).rows for name, one in latents.items()]
    return reduce(np.intersect1d, splits)


def check_given(latents: Latents, data: Dataset) -> None:
    """Check that a model is fitted, or that there is a latent for every row.

    Args:
        latents: A model, or latents made elsewhere.
        data: All rows.

    Raises:
        DataError: If it is not so.
    """
    if isinstance(latents, HasChannel):
        if isinstance(latents, KeepsFitRecord) and latents.fit_record() is None:
            raise DataError(f"latents={type(latents).__name__}: is not fitted. Call fit first.")
        return
    if isinstance(latents, BaseEstimator | TransformerMixin):
        raise DataError(
            f"latents={type(latents).__name__}: is a model of another library. Give its latents, such as its transform(data)."
        )
    count = len(latents) if isinstance(latents, Sized) else 0
    if count != len(data):
        raise DataError(
            f"latents: there are {count} rows, and {len(data)} of data. Give one row of latents per row of data."
        )


def in_order_of(rows: Dataset, latents: Latents, what: str = "latents") -> Latents:
    """Return latents in the order of the rows, where an index or a Dataset names these; a model stays as it is.

    Args:
        rows: All rows.
        latents: A model, or latents made elsewhere.
        what: A sentence is to call them.

    Returns:
        The latents; those of a Dataset as a channel, or an array.

    Raises:
        DataError: If they name other rows, or a Dataset holds several tables.
    """
    if isinstance(latents, Dataset):
        return _of_table(what, rows.paired(what, latents))
    return latents if isinstance(latents, HasChannel) else rows.in_order(what, latents)


def _of_table(what: str, table: Dataset) -> Channel | np.ndarray:
    """Return the latents of a table: means and scales as `latentry transform` writes them, labels, or numbers."""
    if set(table.names) == {"mean", "scale"}:
        return GaussianChannel(np.asarray(table["mean"], np.float64), np.asarray(table["scale"], np.float64))
    if len(table.names) > 1:
        raise DataError(f"{what}: hold {', '.join(table.names)}. Give one array of latents, or 'mean' and 'scale'.")
    (name,) = table.names
    values, rules = np.asarray(table[name]), table.coding.get(name, ())
    if len(rules) == 1 and rules[0].kind == "category":
        labels: np.ndarray = rules[0].decode(values).cells
        return labels
    return values[:, 0] if values.dtype.kind in "iub" and values.shape[1:] == (1,) else values


def taken(latents: Latents, rows: np.ndarray) -> Latents:
    """Return latents of some rows; a model stays as it is.

    Args:
        latents: A model, or latents made elsewhere.
        rows: Their numbers.

    Returns:
        The same latents of fewer rows.
    """
    if isinstance(latents, HasChannel):
        return latents
    return latents.take(rows) if isinstance(latents, Channel) else np.asarray(latents)[rows]
