"""The form of a certificate's JSON, and the checksum by which a number that was changed is known."""

from __future__ import annotations

import hashlib
from typing import get_args

from latentry.certificate.audits import PARTS
from latentry.certificate.question import Fields
from latentry.certificate.statements import Topic
from latentry.errors import DataError
from latentry.evidence import Outcome, Status
from latentry.json_forms import JsonForm, Schema, canonical_json

__all__ = ["CERTIFICATE", "SCHEMA", "SIDE_BY_SIDE", "VERSION", "require_seal", "sealed"]

VERSION = 4  # raised whenever a reader of the older form would misread the newer one
_SEALED_FROM = 4  # certificates of version 3 are read too, and have no checksum

_TEXT = {"type": "string"}
_WORDS = {"type": "array", "items": _TEXT}
_INFINITE = {"type": "string", "enum": ["inf", "-inf"]}  # JSON has no word for it; NaN is null
_VALUE = {"anyOf": [{"type": "number"}, _INFINITE]}
_OPEN = {"anyOf": [{"type": ["number", "null"]}, _INFINITE]}
_PROBABILITY = {"type": "number", "minimum": 0, "maximum": 1}
_MAYBE_PROBABILITY = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
_COUNT = {"type": "integer", "minimum": 0}
_MAYBE_COUNT = {"type": ["integer", "null"], "minimum": 0}
_MARK = {"type": "string", "pattern": "[0-9a-f]{64}"}


def _fields(properties: Fields, *, optional: tuple[str, ...] = (), others: bool = False) -> Fields:
    """Return the schema of an object that has these members, and no others unless it may."""
    required = [name for name in properties if name not in optional]
    closed = {} if others else {"additionalProperties": False}
    return {"type": "object", "required": required, "properties": properties, **closed}


_BOUND_FIELDS = {
    "value": _VALUE,
    "direction": {"type": "string", "enum": ["exact", "upper", "lower", "estimate"]},
    "confidence": _PROBABILITY,
    "method": _TEXT,
    "assumptions": _WORDS,
    "tolerance": {"anyOf": [{"type": "number", "minimum": 0}, {"type": "string", "enum": ["inf"]}]},
    "n": _MAYBE_COUNT,
    "seed": {"type": ["integer", "null"]},
}
_BOUND = _fields(_BOUND_FIELDS)
_ESTIMATE_FIELDS = {
    "value": _OPEN,
    "low": _OPEN,
    "high": _OPEN,
    "method": _TEXT,
    "normaliser": _TEXT,
    "n": _COUNT,
    "units": {"type": "string", "enum": ["nats", "bits", "fraction"]},
    "confidence": _MAYBE_PROBABILITY,
    "reason": _TEXT,
    "warnings": _WORDS,
}
_NUMBER = {
    "anyOf": [
        _fields({"kind": {"type": "string", "enum": ["bound"]}, **_BOUND_FIELDS}),
        _fields({"kind": {"type": "string", "enum": ["estimate"]}, **_ESTIMATE_FIELDS}),
    ]
}
_ASSUMPTION = _fields(
    {
        "name": _TEXT,
        "outcome": {"type": "string", "enum": list(get_args(Outcome))},
        "test": _TEXT,
        "p_value": _MAYBE_PROBABILITY,
        "power": _MAYBE_PROBABILITY,
        "note": _TEXT,
    }
)
_VERDICT = _fields(
    {
        "status": {"type": "string", "enum": list(get_args(Status))},
        "sentence": _TEXT,
        "evidence": {"type": "object", "additionalProperties": _BOUND},
        "change": _TEXT,
        "power": _MAYBE_PROBABILITY,
        "assumptions": {"type": "array", "items": _ASSUMPTION},
    }
)
_ROWS = {"type": "array", "items": {"type": "object"}}
_PART = _fields(
    {
        "name": {"type": "string", "enum": list(PARTS)},
        "question": _TEXT,
        "verdict": _VERDICT,
        "claims": {"type": "object", "additionalProperties": _VERDICT},
        "numbers": {"type": "object", "additionalProperties": _NUMBER},
        "notes": _WORDS,
        "methods": _WORDS,
        "details": {
            "type": "object",
            "properties": {
                **dict.fromkeys(("table", "variables", "pairs", "known", "physics", "history"), _ROWS),
                "lines": _WORDS,
                "epsilon": {"type": "number", "exclusiveMinimum": 0},
            },
        },
    }
)
_STATEMENT = _fields(
    {
        "topic": {"type": "string", "enum": list(get_args(Topic))},
        "about": _TEXT,
        "sentence": _TEXT,
        "grade": {"type": "string", "enum": [*get_args(Status), "measured"]},
        "low": {"type": ["number", "null"]},
        "high": {"type": ["number", "null"]},
        "unit": _TEXT,
        "of": {"type": ["number", "null"]},
        "confidence": _MAYBE_PROBABILITY,
    }
)
_SUBJECT = {
    "kind": _TEXT,
    "latent": _TEXT,
    "values": _MAYBE_COUNT,
    "called": _TEXT,
    "latents": _MAYBE_COUNT,
    "model": _TEXT,
    "fitted_on": {"anyOf": [{"type": "null"}, _MARK]},
    "rows": _MAYBE_COUNT,
    "seed": {"type": ["integer", "null"]},
}
_DATA = {
    "fingerprint": _MARK,
    "rows": _COUNT,
    "modalities": {"type": "object", "additionalProperties": {"type": "array", "items": _COUNT}},
    "domains": {"type": ["array", "integer", "null"]},
}
_SPLIT = {"origin": _TEXT, "rows": _COUNT, "sentence": _TEXT, "audited": _COUNT, "of": _COUNT}
_SETTINGS = {
    "epsilon": {"type": "number", "exclusiveMinimum": 0},
    "level": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
    "seed": {"type": "integer", "minimum": 0},
    "noise": {"type": "number", "minimum": 0},
    "restarts": _COUNT,
}
SCHEMA: Schema = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "latentry certificate",
    **_fields(
        {
            "format": {"type": "string", "enum": ["latentry certificate"]},
            "version": {"type": "integer", "enum": [3, VERSION]},
            "subject": _fields(_SUBJECT, optional=tuple(_SUBJECT)[2:], others=True),
            "data": _fields(_DATA, optional=("domains",), others=True),
            "split": _fields(_SPLIT, optional=("audited", "of"), others=True),
            "settings": _fields(_SETTINGS, optional=("noise", "restarts"), others=True),
            "parts": {"type": "array", "items": _PART, "minItems": 1, "maxItems": len(PARTS)},
            "statements": {"type": "array", "items": _STATEMENT},
            "may_say": _WORDS,
            "may_not_say": _WORDS,
            "next_steps": _WORDS,
            "verdict": _VERDICT,
            "versions": {"type": "object", "additionalProperties": _TEXT},
            "made": _fields({"at": _TEXT, "seconds": {"type": "number", "minimum": 0}}, others=True),
            "citations": _TEXT,
            "checksum": _MARK,
        },
        optional=("next_steps", "verdict", "citations", "checksum"),
    ),
}
_REMEDY = "Give a file that to_json wrote."
CERTIFICATE = JsonForm(SCHEMA, _REMEDY, most_bytes=32 << 20)
SIDE_BY_SIDE = JsonForm(
    _fields(
        {
            "format": {"type": "string", "enum": ["latentry side by side"]},
            "version": {"type": "integer", "enum": [VERSION]},
            "rows": _ROWS,
            "statements": {"type": "array", "items": _STATEMENT},
            "certificates": {"type": "object", "additionalProperties": SCHEMA},
            "checksum": _MARK,
        }
    ),
    _REMEDY,
    most_bytes=256 << 20,
)


def sealed(fields: Fields) -> Fields:
    """Return the fields of a record with the checksum of all of them.

    Args:
        fields: Plain data without a checksum.

    Returns:
        The same, and "checksum": SHA-256 of their JSON with sorted keys and without spaces.
    """
    return {**fields, "checksum": hashlib.sha256(canonical_json(fields)).hexdigest()}


def require_seal(fields: Fields, place: str) -> None:
    """Refuse a certificate that was changed after it was written; those of version 3 have no checksum.

    Args:
        fields: Of the certificate's form.
        place: What it is called in errors.

    Raises:
        DataError: If the checksum is another, or missing.
    """
    if fields["version"] < _SEALED_FROM and "checksum" not in fields:
        return
    rest = {name: value for name, value in fields.items() if name != "checksum"}
    if fields.get("checksum") != sealed(rest)["checksum"]:
        raise DataError(
            f"{place}, checksum: it is not that of the other fields: a number or a word was changed after the certificate was "
            "written. Restore the file from a copy, or certify again."
        )
