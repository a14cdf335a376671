"""Options that several commands share."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.console import Console

from latentry.errors import DataError, nearest

__all__ = ["AsJson", "DomainName", "Factors", "Quiet", "Settings", "answer", "as_values", "pick", "settings_for"]

AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON on the standard output.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="No progress bar.")]
DomainName = Annotated[
    list[str] | None,
    typer.Option(
        "--domain", help="Array or column that holds the domain; repeat for a continuous one in several columns."
    ),
]
Factors = Annotated[
    list[str] | None, typer.Option("--factor", help="Array or column of true latent values; repeatable.")
]
Settings = Annotated[
    list[str] | None, typer.Option("--set", help="name=value for any parameter, e.g. --set hidden=[64,64]; repeatable.")
]


_PYTHON = {"None": None, "True": True, "False": False}


def settings_for(known: Iterable[str], given: Sequence[str] | None, what: str) -> dict[str, Any]:
    """Return ``name=value`` words as keyword arguments; the values are JSON, or plain text.

    Args:
        known: Names of the parameters; those of settings as ``training__clip``, which may be written ``training.clip``.
        given: Words from the command line.
        what: Whose parameters they are, for sentences.
    """
    known = list(known)
    found = {}
    for word in given or ():
        name, equals, text = word.partition("=")
        name = _full_name(name.replace(".", "__"), known)
        if not equals:
            raise DataError(f"--set {word}: write name=value.")
        if name not in known:
            raise DataError(f"--set {name}: {what} has no parameter {name!r}{nearest(name, known)}")
        found[name] = as_values(text)
    return found


def _full_name(name: str, known: Sequence[str]) -> str:
    """Return a parameter's full name: ``patience`` is ``training__patience`` where only one group has it."""
    within = [one for one in known if one.endswith(f"__{name}")]
    return within[0] if name not in known and len(within) == 1 else name


def as_values(text: str) -> Any:
    """JSON where it is JSON, text where it is not; lists become tuples, and Python's None, True and False are known."""
    if text in _PYTHON:
        return _PYTHON[text]
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return tuple(value) if isinstance(value, list) else value


def pick(columns: Mapping[str, Any], names: str, option: str) -> list[Any]:
    """The columns that a comma-separated option names."""
    chosen = [name.strip() for name in names.split(",") if name.strip()]
    for name in chosen:
        if name not in columns:
            raise DataError(f"{option} names column {name!r}, which is not there{nearest(name, columns)}")
    if not chosen:
        raise DataError(f"{option} names no column.")
    return [columns[name] for name in chosen]


def _strict(value: Any) -> Any:
    # JSON knows no NaN.
    if isinstance(value, dict):
        return {name: _strict(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_strict(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def answer(result: dict[str, Any], sentence: str, *, as_json: bool) -> None:
    """The result, for a program or for a person."""
    if as_json:
        sys.stdout.write(json.dumps(_strict(result), default=str) + "\n")
    else:
        Console(soft_wrap=True).print(sentence, markup=False, highlight=False)
