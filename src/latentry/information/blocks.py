"""From whatever the caller holds to blocks of rows, or a sentence about why not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from latentry.data import LARGEST, aligned, joined_columns
from latentry.errors import DataError, nearest
from latentry.information.mixed_columns import MixedColumns, mixed_columns
from latentry.information.mixed_variables import category_columns

__all__ = ["Block", "as_blocks", "codes", "declared_roles"]

Array = np.ndarray
ROLES = ("x", "y", "given")


@dataclass(frozen=True)
class Block:
    """A variable: n rows of d columns. Discrete blocks hold a single column of integer codes.

    Where labels stand beside numbers, the last columns are the digits of the code of the labels, at distance 0 or 1.
    """

    name: str
    values: Array
    discrete: bool = False
    digits: int = 0

    @property
    def n(self) -> int:
        """Count the rows."""
        return len(self.values)

    @property
    def d(self) -> int:
        """Count the columns."""
        return int(self.values.shape[1])

    @property
    def constant(self) -> bool:
        """Return whether every row is the same."""
        return bool(np.all(self.values == self.values[:1]))


def codes(values: Array) -> Array:
    """Return integer codes of the distinct rows.

    Args:
        values: Rows of anything that can be sorted.

    Returns:
        A code for each row, from 0.

    >>> codes(np.array([["b"], ["a"], ["b"]])).tolist()
    [1, 0, 1]
    """
    if values.dtype == object:
        values = values.astype(str)
    return np.unique(values, axis=0, return_inverse=True)[1].reshape(-1)


def as_blocks(
    x: ArrayLike,
    y: ArrayLike | None = None,
    given: ArrayLike | None = None,
    discrete: Iterable[str] | None = None,
) -> tuple[Block, ...]:
    """Check the variables of a question together: same rows, finite numbers, declared types.

    Args:
        x: Rows of the first variable.
        y: Rows of the second.
        given: Rows of the condition.
        discrete: Which of "x", "y", "given" are labels; None reads it off the dtype: whole numbers, truth values and text are.

    Returns:
        A block for each variable that is there.

    Raises:
        DataError: If a variable cannot be used; it names variable, row and column.
    """
    declared = None if discrete is None else declared_roles(discrete)
    arguments, _ = aligned({role: joined_columns(role, v) for role, v in zip(ROLES, (x, y, given), strict=True)})
    blocks = tuple(_block(v, name, declared) for name, v in arguments.items() if v is not None)
    for block in blocks[1:]:
        if block.n != blocks[0].n:
            raise DataError(
                f"{block.name}: it has {block.n} rows and {blocks[0].name} has {blocks[0].n} rows. "
                "Row i of each must describe the same observation."
            )
    for block in (
        blocks if len(blocks) > 1 else ()
    ):  # an entropy is of one variable and moves with the logarithm of its units
        if not block.discrete and np.abs(block.values).max() > LARGEST:
            raise DataError(
                f"{block.name}: it holds numbers beyond {LARGEST:g}, whose squares overflow. Use other units."
            )
    return blocks


def declared_roles(discrete: Iterable[str], roles: tuple[str, ...] = ROLES) -> frozenset[str]:
    """Return the variables declared to be labels; a single name may come without brackets.

    Args:
        discrete: Names.
        roles: Names that exist.

    Returns:
        The names.

    Raises:
        DataError: If a name does not exist.
    """
    if not isinstance(discrete, Iterable):
        raise DataError(f"discrete={discrete!r}: it is no list of names. Give some of {', '.join(map(repr, roles))}.")
    names = frozenset([discrete] if isinstance(discrete, str) else discrete)
    for name in sorted(names - set(roles)):
        raise DataError(f"discrete={name!r} names no variable{nearest(name, roles)}")
    return names


def _block(values: ArrayLike, name: str, declared: frozenset[str] | None) -> Block:
    mixed = mixed_columns(values, name) if declared is None else None
    if mixed is not None:
        return _mixed(mixed, name)
    rows = _rows(values, name)
    _check_shape(rows, name)
    if rows.dtype.kind == "c":
        raise DataError(f"{name}: it holds complex numbers. Pass the real and imaginary parts as two columns.")
    is_discrete = name in declared if declared is not None else rows.dtype.kind in "biu" or _all_text(rows)
    if is_discrete:
        _refuse_missing(rows, name)
        return Block(name, codes(rows)[:, None], discrete=True)
    return Block(name, _real(rows, name), discrete=False)


def _mixed(columns: MixedColumns, name: str) -> Block:
    """Return numbers with the digits of labels beside them; labels alone as codes."""
    if columns.labels is None:
        return Block(name, _real(columns.numbers, name))
    labels = codes(columns.labels)
    if not columns.numbers.size:
        return Block(name, labels[:, None], discrete=True)
    digits = category_columns(labels)
    return Block(name, np.hstack([_real(columns.numbers, name), digits]), digits=digits.shape[1])


def _all_text(rows: Array) -> bool:
    """Whether all entries that are there are words: text that reads as a number may be a number that came as text."""
    if rows.dtype.kind not in "UO":
        return False
    present = [value for value in rows.flat if not _is_missing(value)] if rows.dtype == object else np.unique(rows)
    if not len(present) or not all(isinstance(value, str) for value in present):
        return False
    return not any(map(_reads_as_number, set(present)))


def _is_missing(value: object) -> bool:
    return value is None or (isinstance(value, float) and value != value)


def _reads_as_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _rows(values: ArrayLike, name: str) -> Array:
    if np.ma.is_masked(values):
        raise DataError(f"{name}: it has masked values. Drop these rows in every variable.")
    try:
        rows = np.asarray(values)
    except ValueError:
        raise DataError(f"{name}: it has rows of different lengths. Give every row the same columns.") from None
    rows = _words(rows) if rows.dtype.kind == "S" else rows
    return rows[:, None] if rows.ndim == 1 else rows


def _words(rows: Array) -> Array:
    """Return bytes as text, where they are some."""
    try:
        return np.char.decode(rows, "utf-8")
    except UnicodeDecodeError:
        return rows


def _refuse_missing(labels: Array, name: str) -> None:
    """Refuse missing labels: they are not a label of their own."""
    missing = labels != labels  # NaN, NaT
    if labels.dtype == object:
        missing = np.array([[v is None or bool(v != v) for v in row] for row in labels])
    if np.any(missing):
        row, column = np.argwhere(missing)[0]
        raise DataError(
            f"{name}: it is {labels[row, column]} at row {row}, column {column} ({np.sum(missing)} such values), and a missing "
            "label is no label. Drop these rows in every variable."
        )


def _check_shape(rows: Array, name: str) -> None:
    if rows.ndim == 0 and rows.dtype.kind == "U":
        text = str(rows)
        raise DataError(
            f"{name}={text!r}: is a single text, and not rows. If it is an estimator, say estimator={text!r}."
        )
    if rows.ndim != 2:
        raise DataError(
            f"{name}: it has {rows.ndim} dimensions. Give one row per observation and one column per value."
        )
    if rows.shape[1] == 0:
        hint = "Leave given out (given=None) for the unconditional quantity" if name == "given" else "Give a column"
        raise DataError(f"{name}: it has no columns. {hint}.")
    if rows.shape[0] == 0:
        raise DataError(f"{name}: it has no rows. Give observations.")


def _refuse_text(rows: Array, name: str) -> None:
    """Refuse text, even "1.5", for text may be codes; where most of it is numbers, the first that is none is named."""
    cells = ((place, value) for place, value in np.ndenumerate(rows) if rows.dtype.kind in "USO")
    texts = {place: value for place, value in cells if isinstance(value, str | bytes)}
    if not texts:
        return
    odd = [place for place, value in texts.items() if not _reads_as_number(str(value))]
    among = 0 < 2 * len(odd) < rows.size
    row, column = odd[0] if among else next(iter(texts))
    what = (
        f"{name}: it holds text ({str(texts[row, column])!r} at row {row}, column {column}{', among numbers' * among})."
    )
    first = "Correct it, or drop this row in every variable; or declare" if among else "Declare"
    raise DataError(
        f"{what} {first} it with discrete=({name!r},) to count categories (estimator='auto' and 'mixed' do), or convert it to "
        "numbers."
    )


def _real(rows: Array, name: str) -> Array:
    _refuse_text(rows, name)
    try:
        rows = rows.astype(np.float64) if rows.dtype == object else rows
    except (TypeError, ValueError) as problem:
        raise DataError(
            f"{name}: it holds things that are not numbers ({problem}). Convert them to numbers first."
        ) from None
    if rows.dtype.kind not in "fiub":
        raise DataError(f"{name}: it holds {rows.dtype} values. Convert them to numbers first.")
    rows = rows.astype(np.float64)
    bad = np.argwhere(~np.isfinite(rows))
    if len(bad):
        row, column = bad[0]
        raise DataError(
            f"{name}: it is {rows[row, column]} at row {row}, column {column} ({len(bad)} such values). "
            "Drop or fill these rows in every variable."
        )
    return rows
