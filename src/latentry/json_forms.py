"""The form of each JSON file that we write, and a reader that trusts nothing that it reads.

A form is a schema in the words of JSON Schema (those of :data:`KEYWORDS`), with a limit on the size of a file and on the depth
of its nesting. Whatever is wrong is one sentence that names the file and the place in it.
"""

from __future__ import annotations

import json
import math
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from latentry.errors import DataError, LatentryError

__all__ = ["KEYWORDS", "MOST_WHOLE", "JsonForm", "Schema", "canonical_json", "read_regular"]

Schema = Mapping[str, Any]
KEYWORDS = (
    *("$schema", "title", "type", "enum", "pattern", "maxLength", "minimum", "maximum", "exclusiveMinimum", "anyOf"),
    *("items", "minItems", "maxItems", "required", "properties", "additionalProperties", "maxProperties"),
)
MOST_WHOLE = 2**63  # beyond it a whole number fits no array
_SHOWN = 60  # characters of a value in an error
_WORDS = {
    "object": "an object",
    "array": "a list",
    "string": "a text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "null": "null",
}


class _Refused(Exception):
    """What is wrong at one place; the place and the file are added outside."""


_LONGEST_PATH = 500  # that a sentence repeats


@dataclass(frozen=True)
class JsonForm:
    """What a JSON file must be.

    Args:
        schema: Of the whole document.
        remedy: What to do about a file that is not of this form, as a sentence.
        error: What is raised.
        most_bytes: Size beyond which a file is not read.
        most_depth: Lists and objects within each other.
    """

    schema: Schema
    remedy: str
    error: type[LatentryError] = DataError
    most_bytes: int = 64 << 20
    most_depth: int = 32

    def read(self, path: str | Path) -> Any:
        """Read a file of this form.

        Args:
            path: Of the file.

        Returns:
            Plain data of the form.

        Raises:
            LatentryError: If it is no regular file, too large, no JSON, or of another form.
        """
        return self.parse(read_regular(path, self.most_bytes, self.error), str(path))

    def parse(self, content: bytes | str, place: str) -> Any:
        """Read the content of a file of this form.

        Args:
            content: UTF-8.
            place: What it is called in errors: the file.

        Returns:
            Plain data of the form.

        Raises:
            LatentryError: If it is too large, no JSON, or of another form.

        >>> form = JsonForm({"type": "object", "properties": {"epochs": {"type": "integer", "minimum": 1}}}, "Fit again.")
        >>> form.parse('{"epochs": -3}', "manifest.json")
        Traceback (most recent call last):
        latentry.errors.DataError: manifest.json, epochs: -3 is less than 1. Fit again.
        """
        if len(content) > self.most_bytes:
            raise self.error(
                f"{place}: {_megabytes(len(content))}, more than {_megabytes(self.most_bytes)}. {self.remedy}"
            )
        try:
            text = content.decode("utf-8") if isinstance(content, bytes) else content
            document = json.loads(text, parse_constant=_no_constant, object_pairs_hook=_unlike_names)
        except RecursionError:
            raise self._too_deep(place) from None
        except (ValueError, _Refused) as problem:
            raise self.error(f"{place}: it is damaged, no JSON ({problem}). {self.remedy}") from None
        self.require(document, place)
        return document

    def require(self, document: object, place: str) -> None:
        """Refuse plain data of another form, by the name of the place that is not of it.

        Args:
            document: Plain data.
            place: What the document is called in errors.

        Raises:
            LatentryError: If the form differs.
        """
        try:
            _require(document, self.schema, self.most_depth)
        except _Deep:
            raise self._too_deep(place) from None
        except _Refused as problem:
            where, what = problem.args
            raise self.error(f"{place}{', ' if where else ''}{where}: {what} {self.remedy}") from None

    def _too_deep(self, place: str) -> LatentryError:
        return self.error(f"{place}: lists and objects are nested more than {self.most_depth} deep. {self.remedy}")


class _Deep(Exception):
    """More lists and objects within each other than a form allows."""


def read_regular(path: str | Path, most_bytes: int, error: type[LatentryError] = DataError) -> bytes:
    """Read a regular file of a limited size; pipes, devices and folders are refused before they are opened.

    Args:
        path: Of the file.
        most_bytes: Size beyond which it is not read.
        error: What is raised.

    Returns:
        Its content.

    Raises:
        LatentryError: If it cannot be read, is no regular file, or larger.
    """
    try:
        found = Path(path).stat()
        if not stat.S_ISREG(found.st_mode):
            raise error(f"{path}: it is no regular file. Give the path of a file.")
        if found.st_size > most_bytes:
            raise error(
                f"{path}: {_megabytes(found.st_size)}, more than {_megabytes(most_bytes)}. It is none of our files."
            )
        with open(path, "rb") as file:
            content = file.read(found.st_size + 1)  # no more: a read makes room for all that it may bring
    except LatentryError:
        raise
    except (OSError, ValueError) as problem:  # ValueError: a path with a null character
        why = problem.strerror if isinstance(problem, OSError) and problem.strerror else problem
        shown = str(path) if len(str(path)) <= _LONGEST_PATH else f"{str(path)[:80]}… ({len(str(path))} characters)"
        raise error(f"{shown}: it could not be read ({why}). Check the path.") from None
    if len(content) > found.st_size:
        raise error(f"{path}: it grew while it was read. Read it again when it is whole.")
    return content


def canonical_json(document: object) -> bytes:
    """Return the bytes that a checksum of a JSON document is of, whatever its spaces and the order of its keys.

    Args:
        document: Plain data.

    Returns:
        JSON with sorted keys, in ASCII.

    >>> canonical_json({"b": 1, "a": (0.5, None)})
    b'{"a":[0.5,null],"b":1}'
    """
    plain = json.loads(json.dumps(document, allow_nan=False))  # keys become text before they are sorted
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def _megabytes(size: int) -> str:
    return f"{size / 2**20:.4g} MB"


def _no_constant(word: str) -> NoReturn:
    raise _Refused(f"{word} is no number of JSON")


def _unlike_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise _Refused(f"{_shown(next(name for name in names if names.count(name) > 1))} stands there twice")
    return found


# Checks -------------------------------------------------------------------------------------------


def _require(value: object, schema: Schema, depth: int, place: str = "") -> None:
    if depth < 0:
        raise _Deep
    if "anyOf" in schema:
        schema = _fitting(value, schema["anyOf"])
    problem = next(_problems(value, schema), None)
    if problem is not None:
        raise _Refused(place, problem)
    for where, part, rule in _inside(value, schema, place):
        _require(part, rule, depth - 1, where)


def _fitting(value: object, options: Iterable[Schema]) -> Schema:
    """Return the first schema that has the type of a value (and the kind that it names), or one that asks for any of them."""
    known = list(options)
    fitting = [one for one in known if _is_any(value, _kinds(one))]
    if isinstance(value, dict) and len(fitting) > 1:
        return next((one for one in fitting if value.get("kind") in one["properties"]["kind"]["enum"]), fitting[0])
    return fitting[0] if fitting else {"type": [kind for one in known for kind in _kinds(one)]}


def _kinds(schema: Schema) -> list[str]:
    kinds = schema.get("type", [])
    return [kinds] if isinstance(kinds, str) else list(kinds)


def _problems(value: object, schema: Schema) -> Iterator[str]:
    """Yield what is wrong with a value itself, as sentences."""
    yield from _plain_problems(value)
    kinds = _kinds(schema)
    if kinds and not _is_any(value, kinds):
        yield f"{_shown(value)} is not {' or '.join(_WORDS[kind] for kind in kinds)}."
    if "enum" in schema and not any(value == one and type(value) is type(one) for one in schema["enum"]):
        yield f"{_shown(value)} is not {' or '.join(map(repr, schema['enum']))}."
    if isinstance(value, str):
        yield from _text_problems(value, schema)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from _number_problems(value, schema)
    elif isinstance(value, list):
        yield from _count_problems(len(value), schema.get("minItems", 0), schema.get("maxItems", math.inf), "parts")
    elif isinstance(value, dict):
        yield from _count_problems(len(value), 0, schema.get("maxProperties", math.inf), "names")
        yield from _name_problems(value, schema)


def _plain_problems(value: object) -> Iterator[str]:
    """Yield why a value cannot be, wherever it stands."""
    if isinstance(value, float) and not math.isfinite(value):
        yield f"{value} is no finite number."
    if isinstance(value, int) and abs(value) >= MOST_WHOLE:
        yield f"{_shown(value)} is beyond whole numbers of 64 bits."
    if isinstance(value, str) and not _is_text(value):
        yield "it has half a character (a lone surrogate)."
    if not isinstance(value, dict | list | str | int | float | None):
        yield f"{type(value).__name__} is not plain data."


def _text_problems(value: str, schema: Schema) -> Iterator[str]:
    if len(value) > schema.get("maxLength", math.inf):
        yield f"{len(value)} characters, more than {schema['maxLength']}."
    if "pattern" in schema and not re.fullmatch(schema["pattern"], value):
        yield f"{_shown(value)} is not of the form {schema['pattern']}."


def _number_problems(value: float, schema: Schema) -> Iterator[str]:
    if value < schema.get("minimum", -math.inf):
        yield f"{value} is less than {schema['minimum']}."
    if value > schema.get("maximum", math.inf):
        yield f"{value} is more than {schema['maximum']}."
    if value <= schema.get("exclusiveMinimum", -math.inf):
        yield f"{value} is not more than {schema['exclusiveMinimum']}."


def _count_problems(count: int, least: float, most: float, what: str) -> Iterator[str]:
    if not least <= count <= most:
        yield (
            f"{count} {what}, not {least:.0f} to {most:.0f}."
            if most < math.inf
            else f"{count} {what}, fewer than {least:.0f}."
        )


def _name_problems(value: Mapping[str, object], schema: Schema) -> Iterator[str]:
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{name!r} is missing."
    for name in value:
        if not isinstance(name, str) or not _is_text(name):
            yield f"{_shown(name)} is no name."
        elif schema.get("additionalProperties") is False and name not in schema.get("properties", {}):
            yield f"{_shown(name)} is not known there."


def _inside(value: object, schema: Schema, place: str) -> Iterator[tuple[str, object, Schema]]:
    """Yield place, value and schema of each part."""
    if isinstance(value, list):
        rule = schema.get("items", {})
        for index, part in enumerate(value):
            yield f"{place}[{index}]", part, rule
    elif isinstance(value, dict):
        known, other = schema.get("properties", {}), schema.get("additionalProperties", {})
        for name, part in value.items():
            yield _under(place, name), part, known.get(name, other)


def _under(place: str, name: str) -> str:
    shown = name if len(name) <= _SHOWN else name[:_SHOWN] + "…"
    return f"{place}.{shown}" if place else shown


def _is_text(value: str) -> bool:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _is_any(value: object, kinds: Iterable[str]) -> bool:
    return any(_is_kind(value, kind) for kind in kinds)


def _is_kind(value: object, kind: str) -> bool:
    if isinstance(value, bool):
        return kind == "boolean"
    types: dict[str, tuple[type, ...]] = {
        "object": (dict,),
        "array": (list,),
        "string": (str,),
        "number": (int, float),
        "integer": (int,),
        "null": (type(None),),
    }
    return isinstance(value, types.get(kind, ()))


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, int) and abs(value) >= MOST_WHOLE:
        return "a whole number of more than 64 bits"
    text = ascii(value) if isinstance(value, str) and not _is_text(value) else repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"
