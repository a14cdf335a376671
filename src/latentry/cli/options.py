"""Options that several commands share."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from latentry.errors import DataError, nearest
from latentry.training import ENGINES

__all__ = [
    "ROLE_NAMES",
    "AsJson",
    "Categories",
    "DomainName",
    "Drop",
    "Engine",
    "Factors",
    "Groups",
    "Ids",
    "MaxGb",
    "Modality",
    "Quiet",
    "RolesFile",
    "Settings",
    "Time",
    "Workers",
    "answer",
    "as_values",
    "engine_named",
    "modalities",
    "parts",
    "pick",
    "settings_for",
]

Engine = Annotated[
    str | None,
    typer.Option(
        "--engine",
        help=f"Where independent fits run side by side, one of: {', '.join(ENGINES)}; here unless given, local with --workers.",
    ),
]
Workers = Annotated[int | None, typer.Option("--workers", help="Processes, where the engine is started here.")]
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
MaxGb = Annotated[
    float | None,
    typer.Option("--max-gb", help="Gigabytes that the file may expand to; half of this machine's memory by default."),
]
Factors = Annotated[
    list[str] | None,
    typer.Option("--factor", help="Array or column of true latent values, if they are known; repeatable."),
]
Modality = Annotated[
    list[str] | None,
    typer.Option(
        "--modality",
        help="Take only this modality, or make one of columns: body=height,weight; repeatable. Of h5ad: x=layers/counts, "
        "x=obsm/X_pca, x=obs/age.",
    ),
]
Ids = Annotated[str | None, typer.Option("--ids", help="Array or column that names the rows.")]
Categories = Annotated[
    list[str] | None,
    typer.Option("--category", help="Column of labels, also where these are numbers or many; repeatable."),
]
Drop = Annotated[list[str] | None, typer.Option("--drop", help="Array or column to leave out; repeatable.")]
RolesFile = Annotated[
    Path | None,
    typer.Option(
        "--roles",
        help="toml file that says all this: domain, modalities, groups, time, factors, ids, categories, drop. By default "
        "data.toml beside the data, if its files name them.",
    ),
]
Settings = Annotated[
    list[str] | None,
    typer.Option("--set", help="Set any parameter as name=value, such as --set hidden=[64,64]; repeatable."),
]


# Which column plays which part: arguments of ``read``, as a run keeps them.
ROLE_NAMES = frozenset(("domain", "modalities", "factors", "groups", "time", "ids", "categories", "drop", "roles"))


def parts(
    *,
    domain: list[str] | None = None,
    modality: list[str] | None = None,
    factor: list[str] | None = None,
    groups: str | None = None,
    time: str | None = None,
    ids: str | None = None,
    category: list[str] | None = None,
    drop: list[str] | None = None,
    roles: Path | None = None,
) -> dict[str, Any]:
    """Return the options that say which column plays which part, as arguments of ``read`` and as plain JSON.

    Args:
        domain: Of the option, as are the others.
        modality: Names, or name=column,column.
        factor: Names.
        groups: A name.
        time: A name.
        ids: A name.
        category: Names.
        drop: Names.
        roles: A toml file.

    Returns:
        Arguments by name; what was not given is None or empty.

    Raises:
        DataError: For a modality without columns after its equals sign.
    """
    said = {
        "domain": domain,
        "modalities": modalities(modality),
        "factors": factor or [],
        "groups": groups,
        "time": time,
        "ids": ids,
        "categories": category or [],
        "drop": drop or [],
        "roles": None if roles is None else str(roles.resolve()),
    }
    assert said.keys() == ROLE_NAMES
    return said


def modalities(words: list[str] | None) -> dict[str, list[str]] | None:
    """Read modalities: names, or name=column,column.

    Args:
        words: From the command line.

    Returns:
        Columns by modality, none for one that is taken as it stands; None where no word was given.

    Raises:
        DataError: For a word without a name, or without columns after its equals sign.

    >>> modalities(["body=height,weight", "blood"])
    {'body': ['height', 'weight'], 'blood': []}
    """
    chosen: dict[str, list[str]] = {}
    for word in words or ():
        name, equals, columns = word.partition("=")
        named = [column.strip() for column in columns.split(",") if column.strip()]
        if not name or (equals and not named):
            raise DataError(f"--modality {word}: names no column. Write name, or name=column,column.")
        chosen[name] = named
    return chosen or None


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


def engine_named(engine: str | None, workers: int | None) -> str:
    """Return the engine that options ask for: that of this machine where only a number of processes is given.

    Args:
        engine: Its name, if it is given.
        workers: Processes.

    Returns:
        A name.
    """
    return engine if engine is not None else "here" if workers is None else "local"
