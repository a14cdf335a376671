"""latentry info."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import jax
import typer

import latentry
from latentry.cli.devices import Device
from latentry.cli.options import (
    AsJson,
    Categories,
    DomainName,
    Drop,
    Factors,
    Groups,
    Ids,
    MaxGb,
    Modality,
    RolesFile,
    Settings,
    Time,
    answer,
    parts,
    settings_for,
)
from latentry.cli.wording import in_options
from latentry.data import Dataset, Seen, read, survey
from latentry.errors import DataError, nearest
from latentry.models import MODELS, AnyModel, plan_fit, read_model_files
from latentry.training import epochs_of, holds_run

__all__ = ["info"]


def info(
    path: Annotated[
        Path | None, typer.Argument(help="A run folder or a data file; without it, this installation is described.")
    ] = None,
    domain: DomainName = None,
    groups: Groups = None,
    time: Time = None,
    factor: Factors = None,
    modality: Modality = None,
    ids: Ids = None,
    category: Categories = None,
    drop: Drop = None,
    roles: RolesFile = None,
    model: Annotated[
        str,
        typer.Option(help="For a data file: the model whose networks and cost are shown."),
    ] = "vae",
    set_: Settings = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="For a data file: predict time and memory of the fit by a short one.")
    ] = False,
    max_gb: MaxGb = None,
    device: Device = None,
    json: AsJson = False,
) -> None:
    """Say what a run folder, a data file, or this installation holds, and what a fit to the data would cost."""
    if path is None:
        result = _installation()
    elif holds_run(path):
        result = _run(path)
    else:
        asked = parts(
            domain=domain, modality=modality, factor=factor, groups=groups, time=time, ids=ids, category=category, drop=drop,
            roles=roles,
        )  # fmt: skip
        _file(path, asked, _model(model, set_), max_gb, as_json=json, plan=plan)
        return
    answer(result, "\n".join(f"{name:<14} {value}" for name, value in result.items()), as_json=json)


def _file(
    path: Path, asked: Mapping[str, Any], model: AnyModel, max_gb: float | None, *, as_json: bool, plan: bool
) -> None:
    """Show the parts of a file, the data that they make, and what a fit would cost; or why they make none."""
    seen = survey(path, **asked, max_gb=max_gb)
    read_as = {part.name: in_options(part.reads) for part in seen}
    lines = [
        f"{part.name or '(no header)':<20} {part.holds}\n{'':<20} → {read_as[part.name]}{_to_change(part)}"
        for part in seen
    ]
    result: dict[str, Any] = {"parts": {part.name: {"holds": part.holds, "reads": read_as[part.name]} for part in seen}}
    try:
        data = read(path, **asked, max_gb=max_gb)
    except DataError as why:
        if not seen:
            raise
        result["problem"] = in_options(str(why))
        lines += ["", f"These cannot be read together as they are: {in_options(str(why))}"]
    else:
        cost = _cost(model, data)
        result |= {"rows": len(data), **data.layout.to_json(), "fit": cost}
        lines += ([""] if lines else []) + [data.describe(), "", cost]
        if plan:
            said, result["plan"] = _planned(model, path, {**asked, "max_gb": max_gb})
            lines += ["", said]
    answer(result, "\n".join(lines), as_json=as_json)


def _to_change(part: Seen) -> str:
    return f"    (to change: {part.change})" if part.change else ""


def _model(name: str, given: Sequence[str] | None) -> AnyModel:
    if name not in MODELS:
        raise DataError(f"--model {name}: there is no such model{nearest(name, MODELS)}")
    model = MODELS[name]()
    return model.set_params(**settings_for(model.get_params(deep=True), given, type(model).__name__))


def _cost(model: AnyModel, data: Dataset) -> str:
    """Say what a fit would use, or why it is not possible."""
    try:
        return model.describe(data)
    except DataError as why:
        return f"{type(model).__name__}, with these settings, cannot be fitted to these data: {why}"


def _planned(model: AnyModel, path: Path, roles: Mapping[str, Any]) -> tuple[str, Any]:
    try:
        plan = plan_fit(model, path, roles=roles)
    except DataError as why:
        return f"There is no plan: {why}", None
    return str(plan), plan.to_json()


def _installation() -> dict[str, str]:
    return {
        "latentry": latentry.__version__,
        "python": platform.python_version(),
        "jax": jax.__version__,
        "devices": ", ".join(f"{device.platform}:{device.id}" for device in jax.devices()),
        "models": ", ".join(MODELS),
    }


def _run(folder: Path) -> dict[str, str]:
    files = read_model_files(folder)
    manifest, record, state = files.manifest, files.manifest["record"], files.manifest["state"]
    endings = {"epochs": "all of them", "patience": "until the held-out loss rose"}
    ended = endings.get(state["stopped"], state["stopped"]) if state["finished"] else f"unfinished ({state['stopped']})"
    return {
        "model": manifest["model"],
        "data": f"{record['rows']} rows, fingerprint {record['fingerprint'][:12]}",
        "modalities": ", ".join(f"{name} {tuple(shape)}" for name, shape in record["layout"]["shapes"].items()),
        **_domains(record["layout"]),
        **({"latents": ", ".join(record["latents"])} if record.get("latents") else {}),
        "epochs": f"{describe_epochs(files.history)}: {ended}",
        "weights": f"{sum(array.size for name, array in files.weights.items() if name.startswith('module/'))} numbers",
        "parameters": ", ".join(f"{name}={value}" for name, value in manifest["parameters"].items()),
        "versions": ", ".join(f"{name} {number}" for name, number in manifest["versions"].items()),
    }


def describe_epochs(history: Sequence[Mapping[str, Any]]) -> str:
    """Say how many epochs each restart of a run has."""
    counts = list(epochs_of(history).values())
    return (
        " + ".join(map(str, counts)) + f" in {len(counts)} restarts; the last" if len(counts) > 1 else str(sum(counts))
    )


def _domains(layout: dict[str, Any]) -> dict[str, str]:
    labels = layout.get("domain_labels")
    if not layout.get("domain_size"):
        return {}
    shown = (
        f"{len(labels)}: {', '.join(map(str, labels[:8]))}{', …' if len(labels) > 8 else ''}"
        if labels
        else "continuous"
    )
    return {"domains": shown}
