"""Options that several commands share."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated

import numpy as np
import typer
from rich.console import Console

from latentry.errors import DataError, nearest

__all__ = [
    "AsJson",
    "DomainName",
    "Factors",
    "Groups",
    "Quiet",
    "Settings",
    "Time",
    "answer",
    "as_values",
    "pick",
    "settings_for",
]

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON on the standard output.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Show no progress bar.")]
DomainName = Annotated[
    list[str] | None,
    typer.Option(
        "--domain",
        help="Array or column that says which domain each row comes from; repeat for a continuous one in several columns.",
    ),
]
Groups = Annotated[
    str | None,
    typer.Option(
        "--groups", help="Array or column of labels of rows that depend on each other: subject, plate, batch."
    ),
]
Time = Annotated[
    str | None,
    typer.Option("--time", help="Array or column of moments, where rows that are near in time depend on each other."),
]
Factors = Annotated[
    list[str] | None,
    typer.Option("--factor", help="Array or column of true latent values, if they are known; repeatable."),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", help="Set any parameter as name=value, such as --set hidden=[64,64]; repeatable."),
]


_PYTHON = {"None": None, "True": True, "False": False}


def settings_for(known: Iterable[str], given: Sequence[str] | None, what: str) -> dict[str, object]:
    """Return ``name=value`` words as keyword arguments; the values are JSON, or plain text.

    Args:
        known: Names of the parameters; those of settings as ``training__clip``, which may be written ``training.clip``.
        given: Words from the command line.
        what: Whose parameters they are, for sentences.

    Returns:
        Values by the full name of their parameter.

    Raises:
        DataError: If a word is not name=value, or no parameter has that name.
    """
    known = list(known)
    chosen = {}
    for word in given or ():
        name, equals, text = word.partition("=")
        name = _full_name(name.replace(".", "__"), known)
        if not equals:
            raise DataError(f"--set {word}: has no value. Write name=value.")
        if name not in known:
            raise DataError(f"--set {name}: {what} has no parameter {name!r}{nearest(name, known)}")
        chosen[name] = as_values(text)
    return chosen


def _full_name(name: str, known: Sequence[str]) -> str:
    """Return a parameter's full name: ``patience`` is ``training__patience`` where only one group has it."""
    within = [one for one in known if one.endswith(f"__{name}")]
    return within[0] if name not in known and len(within) == 1 else name


def as_values(text: str) -> object:
    """Read a value: JSON where it is JSON, text where it is not.

    Args:
        text: Of the value; Python's None, True and False are known too.

    Returns:
        The value; lists become tuples.
    """
    if text in _PYTHON:
        return _PYTHON[text]
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return tuple(value) if isinstance(value, list) else value


def pick(columns: Mapping[str, np.ndarray], names: str, option: str) -> list[np.ndarray]:
    """Return the columns that an option names, separated by commas.

    Args:
        columns: Of a table, by name.
        names: As given on the command line.
        option: Its name, for errors.

    Returns:
        At least one column.

    Raises:
        DataError: If a column is not there, or none is named.
    """
    chosen = [name.strip() for name in names.split(",") if name.strip()]
    for name in chosen:
        if name not in columns:
            raise DataError(f"{option} names column {name!r}, which is not there{nearest(name, columns)}")
    if not chosen:
        raise DataError(f"{option} names no column. Give at least one.")
    return [columns[name] for name in chosen]


def _strict(value: object) -> object:
    # JSON knows no NaN.
    if isinstance(value, dict):
        return {name: _strict(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_strict(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def answer(result: Mapping[str, object], sentence: str, *, as_json: bool) -> None:
    """Print the result, for a program or for a person.

    Args:
        result: Plain data; numbers that are not finite become null.
        sentence: The same in words.
        as_json: Whether to print the data instead of the words.
    """
    if as_json:
        sys.stdout.write(json.dumps(_strict(dict(result)), default=str) + "\n")
    else:
        Console(soft_wrap=True).print(sentence, markup=False, highlight=False)
