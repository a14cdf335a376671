"""The form of a model's manifest, and what of it must agree before a model is built from it."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import Any

import equinox as eqx
import jax
import numpy as np

from latentry.contracts import ModelFacts, record_form
from latentry.errors import CheckpointError, LatentryError
from latentry.json_forms import JsonForm, Schema
from latentry.training import COUNTERS, MANIFEST, WEIGHTS, Phase, fill

__all__ = ["manifest_form", "require_arrays", "require_counters", "require_sizes", "unbuilt"]

_REMEDY = "Restore the folder from a copy, or fit again."
_SPARE = 1000  # numbers of a row for each stored number: convolutions have few weights for many pixels
_TEXT = {"type": "string"}
_PLAIN: Schema = {
    "anyOf": [
        {"type": ["string", "number", "boolean", "null", "array"]},
        {
            "type": "object",
            "properties": {"own": _TEXT, "like": _TEXT, "mapping": {"type": "object"}},
            "additionalProperties": False,
        },
    ]
}


def manifest_form(facts: type[ModelFacts]) -> JsonForm:
    """Return the form of a manifest.

    Args:
        facts: The class of what the model notes of the data.

    Returns:
        A form.
    """
    schema = {
        "type": "object",
        "required": ["format", "written_by", "model", "parameters", "record", "state", "versions", "feature_names_in"],
        "properties": {
            "written_by": {"type": "integer"},
            "model": _TEXT,
            "parameters": {"type": "object", "additionalProperties": _PLAIN},
            "record": record_form(facts),
            "state": COUNTERS,
            "versions": {"type": "object", "additionalProperties": _TEXT},
            "feature_names_in": {"type": "array", "items": _TEXT},
        },
    }
    return JsonForm(schema, _REMEDY, CheckpointError)


def require_sizes(manifest: Mapping[str, Any], arrays: Mapping[str, np.ndarray], folder: str | Path) -> None:
    """Refuse sizes that the stored arrays cannot have: nothing of a size is built that is not there.

    Args:
        manifest: Of the form.
        arrays: That the folder holds.
        folder: For errors.

    Raises:
        CheckpointError: By the place in the manifest.
    """
    _require_kinds(arrays, folder)
    stored = sum(array.size for array in arrays.values())
    layout = manifest["record"]["layout"]
    claimed = {f"record.layout.shapes.{name}": prod(shape) for name, shape in layout["shapes"].items()}
    claimed |= {f"parameters.{name}": size for name, size in _sizes(manifest["parameters"]).items()}
    nodes = manifest["record"]["facts"].get("nodes")
    if isinstance(nodes, dict):
        claimed["record.facts.nodes.outcomes"] = prod(nodes["outcomes"])
    claimed["record.layout.domain_size"] = layout["domain_size"]
    for place, size in claimed.items():
        if size > _SPARE * stored:
            raise CheckpointError(
                f"{folder}/{MANIFEST}, {place}: {size} numbers, but {folder} stores {stored} in all. {_REMEDY}"
            )


def _require_kinds(arrays: Mapping[str, np.ndarray], folder: str | Path) -> None:
    """Refuse arrays of the record of another type than it writes; those of the module are compared with the module."""
    kinds = {"marks/": "i8", "sketch/": "f4f8", "shift/": "f4f8", "scale/": "f4f8", "held_out": "i8"}
    for name, array in arrays.items():
        wanted = next((types for prefix, types in kinds.items() if name.startswith(prefix)), None)
        if wanted is not None and array.dtype.str[1:] not in wanted:
            raise CheckpointError(
                f"{folder}/{WEIGHTS}: {name!r} is {array.dtype}, which is not what a fit keeps. {_REMEDY}"
            )


def _sizes(parameters: Mapping[str, object]) -> dict[str, int]:
    """Numbers that a part of a model has for each of its parameters that are sizes."""
    found = {}
    for name in ("latent_dim", "hidden", "nodes"):
        value = parameters.get(name)
        whole = [value] if isinstance(value, int) else value if isinstance(value, list) else []
        sizes = [abs(size) for size in whole if isinstance(size, int)]
        found[name] = prod(sizes) if name == "nodes" else max(sizes, default=0)
    return found


def require_counters(state: Mapping[str, Any], phases: tuple[Phase, ...], restarts: int, folder: str | Path) -> None:
    """Refuse counters of phases and restarts that the model does not have.

    Args:
        state: Counters of the form.
        phases: Of the model.
        restarts: Of the model.
        folder: For errors.

    Raises:
        CheckpointError: By the place in the manifest.
    """
    limits = {"phase": len(phases) - 1, "restart": restarts - 1, "champion_restart": restarts - 1, "ended": restarts}
    for name, most in limits.items():
        if state.get(name, 0) > most:
            raise CheckpointError(
                f"{folder}/{MANIFEST}, state.{name}: {state[name]} is more than {most}, the last that the model has. {_REMEDY}"
            )


def require_arrays(build: Any, arrays: Mapping[str, np.ndarray], folder: str | Path) -> None:
    """Refuse arrays of other shapes than the model would have, before any of them is made.

    Args:
        build: Makes a module from a key.
        arrays: That the folder holds.
        folder: For errors.

    Raises:
        CheckpointError: If an array is missing, or of another shape.
    """
    try:
        like = eqx.filter_eval_shape(build, jax.random.key(0))
    except (jax.errors.ConcretizationTypeError, jax.errors.TracerArrayConversionError):  # a module that NumPy draws
        return
    fill("module", like, arrays, f"{folder}/{WEIGHTS}")


def unbuilt(problem: Exception, folder: str | Path) -> CheckpointError:
    """Return the error of a manifest of the right form that describes no model.

    Args:
        problem: That was met.
        folder: The run folder.

    Returns:
        The error, to be raised.
    """
    what = str(problem) if isinstance(problem, LatentryError) else f"{type(problem).__name__}: {problem}"
    return CheckpointError(f"{folder}/{MANIFEST}: the model that it describes cannot be built: {what.splitlines()[0]}")
