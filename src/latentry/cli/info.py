"""latentry info."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import jax
import numpy as np
import typer

import latentry
from latentry.cli.options import AsJson, DomainName, answer
from latentry.data import Dataset, read, read_columns
from latentry.errors import DataError, nearest
from latentry.models import MODELS, read_model_files
from latentry.training import epochs_of, holds_run

__all__ = ["info"]


def info(
    path: Annotated[
        Path | None, typer.Argument(help="A run folder or a data file; without it, this installation is described.")
    ] = None,
    domain: DomainName = None,
    model: Annotated[
        str,
        typer.Option(help="For a data file: the model whose networks and cost are shown, with its default settings."),
    ] = "vae",
    json: AsJson = False,
) -> None:
    """Say what a run folder, a data file, or this installation holds, and what a fit to the data would cost."""
    if path is None:
        result = _installation()
    elif holds_run(path):
        result = _run(path)
    elif path.suffix in (".csv", ".parquet"):
        columns = {name: _column(values) for name, values in read_columns(path).items()}
        lines = [f"{name:<20} {about}" for name, about in columns.items()]
        answer({"columns": columns}, "\n".join(lines), as_json=json)
        return
    else:
        data = read(path, domain=domain)
        cost = _cost(model, data)
        answer({"rows": len(data), **data.layout.to_json(), "fit": cost}, f"{data.describe()}\n\n{cost}", as_json=json)
        return
    answer(result, "\n".join(f"{name:<14} {value}" for name, value in result.items()), as_json=json)


def _cost(name: str, data: Dataset) -> str:
    """Say what a fit with default settings would use, or why it is not possible."""
    if name not in MODELS:
        raise DataError(f"--model {name}: there is no such model{nearest(name, MODELS)}")
    try:
        return MODELS[name]().describe(data)
    except DataError as why:
        return f"{MODELS[name].__name__}, with its default settings, cannot be fitted to these data: {why}"


def _column(values: np.ndarray) -> str:
    """Say the kind, range and holes of a column, whatever it holds."""
    empty = sum(value is None or value != value for value in values.tolist())
    holes = f", {empty} empty" if empty else ""
    if values.dtype.kind in "biuf":
        seen = values[~np.isnan(values.astype(float))]
        kind = "whole numbers" if values.dtype.kind in "iu" else "numbers"
        return f"{len(values)} {kind}, {seen.min():.4g} to {seen.max():.4g}{holes}" if len(seen) else "empty"
    kinds = sorted({str(value) for value in values.tolist() if value is not None})
    shown = ", ".join(kinds[:5]) + (", …" if len(kinds) > 5 else "")
    return f"{len(values)} texts, {len(kinds)} different: {shown}{holes}"


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
