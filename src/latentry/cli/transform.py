"""latentry transform."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from latentry.cli.devices import Device
from latentry.cli.options import (
    AsJson,
    Categories,
    DomainName,
    Drop,
    Ids,
    MaxGb,
    Modality,
    RolesFile,
    answer,
    parts,
)
from latentry.data import Dataset, GaussianChannel, read, survey
from latentry.errors import DataError
from latentry.models import AnyModel, load_model
from latentry.training import holds_run

__all__ = ["read_for", "transform"]


def transform(
    run: Annotated[Path, typer.Argument(help="Run folder of a fitted model.")],
    data: Annotated[Path, typer.Argument(help="Data file with the features of the fit.")],
    out: Annotated[Path, typer.Option(help="File to write: csv, npz, parquet, zarr or h5mu.")] = Path("latents.csv"),
    domain: DomainName = None,
    max_gb: MaxGb = None,
    modality: Modality = None,
    ids: Ids = None,
    category: Categories = None,
    drop: Drop = None,
    roles: RolesFile = None,
    device: Device = None,
    json: AsJson = False,
) -> None:
    """Write the latents of each row: posterior mean and standard deviation."""
    if holds_run(data) and not holds_run(run):
        raise DataError(
            f"{data} holds a run: model and data are swapped, it seems. Write latentry transform {data} {run}."
        )
    model = load_model(run)
    asked = parts(domain=domain, modality=modality, ids=ids, category=category, drop=drop, roles=roles)
    needed = ("ids",) if model.domain_for is None and not model.reads_domain else ("ids", "domain")
    rows = read_for(model, data, asked, max_gb, recalled=needed)
    channel = model.channel(rows)
    if not isinstance(channel, GaussianChannel):
        raise DataError(
            f"{run} holds a {type(model).__name__}, whose latents are categories. Give a model with numbers."
        )
    names = list(model.latents_)
    latents = Dataset(
        {"mean": channel.mean, "scale": channel.scale}, rows=rows.rows, columns={"mean": names, "scale": names}
    )
    latents.write(out)
    result = {"out": str(out), "rows": len(rows), "latents": len(names)}
    answer(result, f"{len(rows)} rows, {len(names)} latents each. Written to {out}.", as_json=json)


_RECALLED = {"domain": "--domain", "groups": "--groups", "time": "--time", "factors": "--factor", "ids": "--ids"}


def read_for(
    model: AnyModel,
    path: Path,
    asked: Mapping[str, Any],
    max_gb: float | None = None,
    recalled: Collection[str] = tuple(_RECALLED),
) -> Dataset:
    """Read the rows for a fitted model: the modalities and columns of the fit, for a file may hold more than the model knows.

    Args:
        model: That was fitted.
        path: The data file.
        asked: Arguments of ``read``, as the options say them.
        max_gb: Gigabytes that the file may expand to.
        recalled: Arguments that are those of the fit, where the options say nothing and the file has these columns too.

    Returns:
        The rows; columns that hold no numbers are encoded as in the fit.

    Raises:
        DataError: If a column is to be left out that the model was fitted with.
    """
    asked = _as_in_the_fit(model, path, asked, recalled, max_gb)
    layout = model.record_.layout
    columns = asked["modalities"] or {}
    named = {name: columns.get(name) or layout.sources.get(name, ()) for name in columns or layout.modalities}
    needed = set(asked.get("drop") or ()) & {column for sources in named.values() for column in sources}
    if needed:
        raise DataError(
            f"drop={min(needed)!r}: the model was fitted with this column. Leave the option out, or fit a model without the column."
        )
    return read(path, **{**asked, "modalities": named}, coding=dict(layout.coding), max_gb=max_gb)


def _as_in_the_fit(
    model: AnyModel, path: Path, asked: Mapping[str, Any], recalled: Collection[str], max_gb: float | None
) -> Mapping[str, Any]:
    """Return what the options say, with what was said for the fit where they say nothing and the file has these columns."""
    origin = model.record_.origin
    earlier = {role: origin[role] for role in recalled if origin.get(role) and not asked.get(role)}
    if not earlier or asked["roles"] is not None:
        return asked
    there = {part.name.removeprefix("obs/") for part in survey(path, max_gb=max_gb)}
    found = {role: named for role, named in earlier.items() if _columns(named) <= there}
    if found:
        words = ", ".join(f"{_RECALLED[role]} {' '.join(sorted(_columns(named)))}" for role, named in found.items())
        note = f"note: read as in the fit: {words}. Options that you give count instead."
        Console(stderr=True, soft_wrap=True).print(note, style="yellow", markup=False, highlight=False)
    return {**asked, **found}


def _columns(named: object) -> set[str]:
    return {named} if isinstance(named, str) else set(map(str, named)) if isinstance(named, list) else set()
