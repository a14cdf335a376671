"""Every field of a document with every wrong kind in its place, by the schema of its form."""

import copy
import math

WRONG = {
    "object": {"a": 1},
    "array": [1],
    "string": "\x00 wrong",
    "number": 0.5,
    "integer": -7_000_000,
    "boolean": True,
    "null": None,
    "not finite": math.inf,
    "huge": 10**40,
}


def kinds_of(schema):
    """Names of WRONG that a schema takes."""
    options = [kind for one in schema.get("anyOf", [schema]) for kind in words(one.get("type", []))]
    if not options:
        return set(WRONG) - {"not finite", "huge"}
    return {*options, *(["integer"] if "number" in options else [])}


def words(kinds):
    return [kinds] if isinstance(kinds, str) else list(kinds)


def places(document, schema, path=()):
    """Yield path and schema of every value, of long lists the first and the last."""
    yield path, schema
    if "anyOf" in schema:
        return
    if isinstance(document, list) and document:
        for index in {0, len(document) - 1}:
            yield from places(document[index], schema.get("items", {}), (*path, index))
    if isinstance(document, dict):
        for name, value in document.items():
            known = schema.get("properties", {})
            yield from places(value, known.get(name, schema.get("additionalProperties", {})), (*path, name))


def spelled(path):
    """A path as errors write it."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f"{'.' if text else ''}{part}"
    return text


def wrong_documents(document, schema):
    """Yield the place as errors name it, what stands there, and a document with one wrong value or one name missing."""
    for path, rule in places(document, schema):
        if not path:
            continue
        for kind, value in WRONG.items():
            if kind not in kinds_of(rule):
                yield spelled(path), kind, replaced(document, path, value)
        if "enum" in rule or "pattern" in rule:
            yield spelled(path), "another word", replaced(document, path, "\x00 wrong")
        if "minimum" in rule or "exclusiveMinimum" in rule:
            yield spelled(path), "too small", replaced(document, path, -7_000_000)
        for name in rule.get("required", ()):
            yield spelled(path), f"without {name}", without(document, path, name)


def replaced(document, path, value):
    """A copy with another value at one place; all else is the same objects."""
    changed = copy.copy(document)
    changed[path[0]] = value if len(path) == 1 else replaced(document[path[0]], path[1:], value)
    return changed


def without(document, path, name):
    inner = document
    for part in path:
        inner = inner[part]
    rest = {key: value for key, value in inner.items() if key != name}
    return replaced(document, path, rest) if path else rest
