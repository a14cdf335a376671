"""Models to run folders and back. A folder names a model; it never says what code to run."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import TYPE_CHECKING

import jax
import numpy as np

from latentry.contracts import FitRecord
from latentry.errors import CheckpointError, DataError, nearest
from latentry.models.estimator.constraints import check_table
from latentry.models.estimator.manifest import (
    manifest_form,
    require_arrays,
    require_counters,
    require_sizes,
    unbuilt,
)
from latentry.models.estimator.settings import Settings
from latentry.nets import Expert
from latentry.precision import single_precision
from latentry.training import (
    MANIFEST,
    History,
    RunFiles,
    RunFolder,
    RunState,
    blank_trees,
    fill,
    read_run,
    to_named,
    usable_devices,
)

if TYPE_CHECKING:
    from latentry.models.estimator.latent_model import AnyModel

__all__ = ["load_model", "parameters_of", "read_model_files", "restored_parameters", "save_model", "stored_model"]

WRITTEN_BY = 3  # the form of run folders; 1 had no record of the fit, 2 marked rows in single precision


def save_model(model: AnyModel, folder: RunFolder, state: RunState) -> None:
    """Write model and run state.

    Args:
        model: With the record of its fit.
        folder: The run folder, locked.
        state: Of the run.

    Raises:
        CheckpointError: If the folder cannot be written.
    """
    arrays: dict[str, np.ndarray] = {}
    for name, tree in state.arrays().items():
        arrays |= to_named(name, tree)
    weights = to_named("module", state.result) | model.record_.arrays()
    folder.write(RunFiles(_manifest(model, state), weights, arrays, state.history))


def _manifest(model: AnyModel, state: RunState) -> dict[str, object]:
    from latentry import __version__

    return {
        "written_by": WRITTEN_BY,
        "model": model.name,
        "parameters": dict(model.record_.parameters),
        "record": model.record_.to_json(),
        "state": state.counters(),
        "versions": {"latentry": __version__, "jax": jax.__version__, "numpy": np.__version__},
        "feature_names_in": list(vars(model).get("feature_names_in_", ())),
    }


def parameters_of(model: AnyModel) -> dict[str, object]:
    """Return every parameter by name as plain JSON; those of settings one by one, as ``training__clip``.

    Args:
        model: Any model.

    Returns:
        What a manifest holds; functions of the user's own are named.
    """
    given = model.get_params(deep=True).items()
    return {name: _plain(name, value) for name, value in given if not isinstance(value, Settings)}


def _plain(name: str, value: object) -> object:
    if callable(value):
        return {"own": _name_of(inspect.unwrap(value))}  # a compiled function is known by what was compiled
    if isinstance(value, Mapping):
        return _plain_mapping(name, value)
    return _as_read_back(value)


def _name_of(value: object) -> str:
    if isinstance(value, FunctionType | MethodType | BuiltinFunctionType | type):
        return value.__qualname__
    return type(value).__qualname__


def _as_read_back(value: object) -> object:
    """What a JSON file gives back: lists, plain numbers, text for keys."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (tuple, list)):
        return [_as_read_back(part) for part in value]
    if isinstance(value, Mapping):
        return {str(key): _as_read_back(part) for key, part in value.items()}
    return value


def _plain_mapping(name: str, value: Mapping[str, object]) -> dict[str, object]:
    """Built-in experts are named with their settings; a function of your own makes the whole parameter your own."""
    experts = {key: part for key, part in value.items() if isinstance(part, Expert)}
    if any(part.made_by is None for part in experts.values()):
        shown = ", ".join(f"{key!r}: your expert of {', '.join(part.parameters)}" for key, part in experts.items())
        return {"own": name, "like": "{" + shown + "}"}
    parts = {str(key): part.to_json() if isinstance(part, Expert) else part for key, part in value.items()}
    return {"mapping": _as_read_back(parts)}


def _restored_part(name: str, part: object) -> object:
    return Expert.from_json(part) if name == "experts" and isinstance(part, Mapping) else part


@single_precision
def load_model(folder: str | Path, **own: object) -> AnyModel:
    """Read a fitted model.

    Cost: linear in the bytes of the folder, which holds the numbers of the held-out rows and marks of all rows of the fit.

    Args:
        folder: The run folder.
        own: Modules or functions of your own that the model was built with, by the parameter's name. They are not
            in the folder, and nothing is imported by name.

    Returns:
        The model, as it was after its fit.

    Raises:
        CheckpointError: If the folder holds no run that this version reads, or ``own`` is not what it was fitted with.
    """
    stored = read_model_files(folder).manifest["parameters"]
    for name in own:
        if name not in stored:
            raise CheckpointError(f"the model in {folder} has no parameter {name!r}{nearest(name, stored)}")
        if not isinstance(stored[name], dict) or "own" not in stored[name]:
            raise CheckpointError(f"{folder} holds {name} itself: leave {name}= out, or the model would be another.")
    return stored_model(folder, own)


def read_model_files(folder: str | Path) -> RunFiles:
    """Read the files of a run, if they are of the form that this version writes.

    Cost: linear in the bytes of the folder.

    Args:
        folder: The run folder.

    Returns:
        Manifest, arrays and history.

    Raises:
        CheckpointError: If another version wrote them.
    """
    files = read_run(folder)
    if files.manifest.get("written_by") != WRITTEN_BY:
        versions = files.manifest.get("versions")
        version = versions.get("latentry", "unknown") if isinstance(versions, dict) else "unknown"
        raise CheckpointError(
            f"{folder} holds a run in a form that this version does not read (latentry {version}, without the record by which "
            "rows of the fit are known): fit the model again."
        )
    _require_form(files, folder)
    return files


def _require_form(files: RunFiles, folder: str | Path) -> None:
    manifest, place = files.manifest, f"{folder}/{MANIFEST}"
    name = manifest.get("model")
    if not isinstance(name, str):
        raise CheckpointError(f"{place}, model: it names no model. Restore the folder from a copy, or fit again.")
    try:
        facts = _class_of(name).facts_class
    except DataError as problem:
        raise CheckpointError(f"{place}, model: {problem}") from None
    manifest_form(facts).require(dict(manifest), place)
    require_sizes(manifest, files.weights, folder)


@single_precision
def stored_model(folder: str | Path, own: Mapping[str, object]) -> AnyModel:
    """Read the model in a run folder; of ``own``, what the folder cannot hold is taken.

    Args:
        folder: The run folder.
        own: Modules or functions of the user, by the parameter's name.

    Returns:
        The model, as it was when it was saved.

    Raises:
        CheckpointError: If the folder holds no run that this version reads, or something of ``own`` is missing.
    """
    files = read_model_files(folder)
    usable_devices()  # before the first array is made: JAX's own error names no remedy
    try:
        parameters = restored_parameters(folder, files.manifest["parameters"], own)
        model = _restored(files, parameters, folder)
    except CheckpointError:
        raise
    except Exception as problem:  # each field has its form, and yet they may not belong together
        raise unbuilt(problem, folder) from problem
    model.check_loaded(str(folder))
    return model


def _restored(files: RunFiles, parameters: Mapping[str, object], folder: str | Path) -> AnyModel:
    manifest = files.manifest
    kind = _class_of(manifest["model"])
    model = kind().set_params(**parameters)
    check_table(model, model.constraints)
    model.record_ = FitRecord.restore(manifest["record"], files.weights, kind.facts_class, manifest["parameters"])
    _restore_features(model, manifest)
    require_arrays(model.build, files.weights, folder)
    require_counters(manifest["state"], model.phases(), model.restarts, folder)
    model.state_ = _restore_state(model, files, folder)
    model.module_ = model.in_use(fill("module", model.state_.module, files.weights, f"{folder}/weights.safetensors"))
    model.history_ = History(files.history)
    return model


def _class_of(name: str) -> type[AnyModel]:
    from latentry.models.registry import model_class  # the registry imports every model, and models are saved from here

    return model_class(name)


def restored_parameters(
    folder: str | Path, stored: Mapping[str, object], own: Mapping[str, object]
) -> dict[str, object]:
    """Return parameters from plain JSON, as :func:`parameters_of` made it.

    Args:
        folder: Named in errors.
        stored: Values by name.
        own: Modules or functions of the user, by the parameter's name.

    Returns:
        Values as a constructor takes them.

    Raises:
        CheckpointError: If one of the user's own is missing or is another.
    """
    parameters: dict[str, object] = {}
    for name, value in stored.items():
        if isinstance(value, dict) and "own" in value:
            if name not in own:
                raise CheckpointError(
                    f"{folder} was fitted with your own {name} {value['own']!r}, which a file cannot hold: pass it in Python, "
                    f"as latentry.load({str(folder)!r}, {name}={value.get('like', value['own'].split('.')[-1])})."
                )
            parameters[name] = _alike(folder, name, own[name], value)
        elif isinstance(value, dict):
            parameters[name] = {key: _restored_part(name, part) for key, part in value["mapping"].items()}
        else:
            parameters[name] = tuple(value) if isinstance(value, list) else value
    return parameters


def _alike(folder: str | Path, name: str, given: object, stored: Mapping[str, object]) -> object:
    """What was given, if it has the names of what the model was fitted with."""
    if "like" in stored and (
        not isinstance(given, Mapping) or _plain_mapping(name, given).get("like") != stored["like"]
    ):
        raise CheckpointError(f"{name} = {given!r} is not what {folder} was fitted with: give {stored['like']}.")
    return given


def _restore_features(model: AnyModel, manifest: Mapping[str, object]) -> None:
    shapes = dict(model.record_.layout.shapes)
    if tuple(shapes) == ("x",) and len(shapes["x"]) == 1:
        model.n_features_in_ = len(model.record_.layout.sources["x"]) or shapes["x"][0]
    names = manifest["feature_names_in"]
    if names:
        model.feature_names_in_ = np.array(names, dtype=object)


def _restore_state(model: AnyModel, files: RunFiles, folder: str | Path) -> RunState:
    counters = dict(files.manifest["state"])
    like = blank_trees(model.build, model.phases(), counters)
    where = f"{folder}/optimiser.safetensors"
    trees = {name: fill(name, tree, files.optimiser, where) for name, tree in like.items()}
    return RunState.restore(counters, trees, files.history)
