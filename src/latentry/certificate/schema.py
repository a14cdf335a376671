"""The form of a certificate's JSON, and a check that names the place where a file departs from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from latentry.certificate.audits import PARTS
from latentry.certificate.question import Fields
from latentry.certificate.statements import Topic
from latentry.errors import DataError
from latentry.evidence import Outcome, Status

__all__ = ["SCHEMA", "VERSION", "require_form"]

VERSION = 3  # raised whenever a reader of the older form would misread the newer one

_TEXT = {"type": "string"}
_WORDS = {"type": "array", "items": _TEXT}
_NUMBER = {"type": ["number", "string", "null"]}  # infinities are strings, NaN is null
_BOUND = {
    "type": "object",
    "required": ["value", "direction", "confidence", "method", "assumptions", "tolerance", "n", "seed"],
    "properties": {
        "value": _NUMBER,
        "direction": {"type": "string", "enum": ["exact", "upper", "lower", "estimate"]},
        "confidence": {"type": "number"},
        "method": _TEXT,
        "assumptions": _WORDS,
        "tolerance": {"type": "number"},
        "n": {"type": ["integer", "null"]},
        "seed": {"type": ["integer", "null"]},
    },
}
_ASSUMPTION = {
    "type": "object",
    "required": ["name", "outcome", "test", "p_value", "power", "note"],
    "properties": {
        "name": _TEXT,
        "outcome": {"type": "string", "enum": list(get_args(Outcome))},
        "test": _TEXT,
        "p_value": {"type": ["number", "null"]},
        "power": {"type": ["number", "null"]},
        "note": _TEXT,
    },
}
_VERDICT = {
    "type": "object",
    "required": ["status", "sentence", "evidence", "change", "power", "assumptions"],
    "properties": {
        "status": {"type": "string", "enum": list(get_args(Status))},
        "sentence": _TEXT,
        "evidence": {"type": "object", "additionalProperties": _BOUND},
        "change": _TEXT,
        "power": {"type": ["number", "null"]},
        "assumptions": {"type": "array", "items": _ASSUMPTION},
    },
}
_PART = {
    "type": "object",
    "required": ["name", "question", "verdict", "claims", "numbers", "notes", "methods", "details"],
    "properties": {
        "name": {"type": "string", "enum": list(PARTS)},
        "question": _TEXT,
        "verdict": _VERDICT,
        "claims": {"type": "object", "additionalProperties": _VERDICT},
        "numbers": {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "required": ["kind", "value", "method"],
                "properties": {"kind": {"type": "string", "enum": ["bound", "estimate"]}, "value": _NUMBER},
            },
        },
        "notes": _WORDS,
        "methods": _WORDS,
        "details": {"type": "object"},
    },
}
_STATEMENT = {
    "type": "object",
    "required": ["topic", "about", "sentence", "grade", "low", "high", "unit", "of", "confidence"],
    "properties": {
        "topic": {"type": "string", "enum": list(get_args(Topic))},
        "about": _TEXT,
        "sentence": _TEXT,
        "grade": {"type": "string", "enum": [*get_args(Status), "measured"]},
        "low": {"type": ["number", "null"]},
        "high": {"type": ["number", "null"]},
        "unit": _TEXT,
        "of": {"type": ["number", "null"]},
        "confidence": {"type": ["number", "null"]},
    },
}
SCHEMA: Fields = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "latentry certificate",
    "type": "object",
    "required": [
        "format",
        "version",
        "subject",
        "data",
        "split",
        "settings",
        "parts",
        "statements",
        "may_say",
        "may_not_say",
        "versions",
        "made",
    ],
    "properties": {
        "format": {"type": "string", "enum": ["latentry certificate"]},
        "version": {"type": "integer", "enum": [VERSION]},
        "subject": {"type": "object", "required": ["latent", "kind"]},
        "data": {"type": "object", "required": ["fingerprint", "rows", "modalities"]},
        "split": {"type": "object", "required": ["origin", "rows", "sentence"]},
        "settings": {"type": "object", "required": ["epsilon", "level", "seed"]},
        "parts": {"type": "array", "items": _PART},
        "statements": {"type": "array", "items": _STATEMENT},
        "may_say": _WORDS,
        "may_not_say": _WORDS,
        "next_steps": _WORDS,
        "verdict": _VERDICT,
        "versions": {"type": "object", "additionalProperties": _TEXT},
        "made": {"type": "object", "required": ["at", "seconds"]},
        "citations": _TEXT,
    },
}
_REMEDY = "Give a file that to_json wrote."
_KINDS: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "number": (int, float),
    "integer": (int,),
    "null": (type(None),),
}


def require_form(document: object, schema: Fields = SCHEMA, place: str = "the certificate") -> None:
    """Refuse a document that is not of the schema's form, by the name of the place that is not.

    Args:
        document: Plain data.
        schema: Of its form.
        place: Where the document stands, for errors.

    Raises:
        DataError: If the form differs.

    >>> require_form({"format": "latentry certificate", "version": 7})
    Traceback (most recent call last):
    latentry.errors.DataError: the certificate: 'subject' is missing. Give a file that to_json wrote.
    """
    kinds = schema.get("type", ())
    wanted = [kinds] if isinstance(kinds, str) else list(kinds)
    if wanted and not isinstance(document, tuple(t for kind in wanted for t in _KINDS[kind])):
        raise DataError(f"{place} is {type(document).__name__}, where {' or '.join(wanted)} is expected. {_REMEDY}")
    if "enum" in schema and document not in schema["enum"]:
        known = ", ".join(map(repr, schema["enum"]))
        raise DataError(f"{place} is {document!r}, where {known} is expected. {_REMEDY}")
    if isinstance(document, dict):
        _require_members(document, schema, place)
    if isinstance(document, list) and "items" in schema:
        for index, item in enumerate(document):
            require_form(item, schema["items"], f"{place}[{index}]")


def _require_members(document: Fields, schema: Fields, place: str) -> None:
    for name in schema.get("required", ()):
        if name not in document:
            raise DataError(f"{place}: {name!r} is missing. {_REMEDY}")
    known = schema.get("properties", {})
    for name, value in document.items():
        rule = known.get(name, schema.get("additionalProperties", {}))
        require_form(value, rule, f"{place}: {name}" if place == "the certificate" else f"{place}.{name}")
