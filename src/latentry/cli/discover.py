"""latentry discover."""

from __future__ import annotations

import sys
import webbrowser
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from latentry.certificate import write_whole
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
    Quiet,
    RolesFile,
    Time,
    answer,
    parts,
)
from latentry.data import read
from latentry.discovery import discover as find
from latentry.errors import DataError

__all__ = ["discover"]


def discover(
    data: Annotated[Path, typer.Argument(help="Data file: npz, npy, csv, parquet, zarr, h5ad or h5mu.")],
    budget: Annotated[
        str, typer.Option(help="Time, such as '10 min' or '90 s', or a number of fits, such as 12.")
    ] = "10 min",
    out: Annotated[
        Path,
        typer.Option(help="Folder for every fit, the report and the certificate; what it holds is not fitted again."),
    ] = Path("discovery"),
    domain: DomainName = None,
    groups: Groups = None,
    time: Time = None,
    max_gb: MaxGb = None,
    factor: Factors = None,
    modality: Modality = None,
    ids: Ids = None,
    category: Categories = None,
    drop: Drop = None,
    roles: RolesFile = None,
    title: Annotated[str, typer.Option(help="Title of the report.")] = "",
    seed: Annotated[
        int, typer.Option(help="With a number of fits as budget, the same seed gives the same result.")
    ] = 0,
    open_: Annotated[bool, typer.Option("--open", help="Show the report in a browser.")] = False,
    quiet: Quiet = False,
    device: Device = None,
    json: AsJson = False,
) -> None:
    """Count latents, compare the models that apply, fit the best with restarts, certify it, and say why."""
    if out.exists() and not out.is_dir():
        raise DataError(f"--out {out}: is a file. Give a folder.")
    asked = parts(
        domain=domain, modality=modality, factor=factor, groups=groups, time=time, ids=ids, category=category, drop=drop,
        roles=roles,
    )  # fmt: skip
    rows = read(data, **asked, max_gb=max_gb)
    found = find(rows, budget=budget, seed=seed, folder=out, progress=not quiet and not json and sys.stderr.isatty())
    found.model.save(out / "run")
    report, record, certificate = out / "report.html", out / "discovered.json", out / "certificate.json"
    write_whole(
        {
            record: found.to_json() + "\n",
            certificate: found.certificate.to_json() + "\n",
            report: found.to_html(title=title),
        }
    )
    result = {"report": str(report), "run": str(out / "run"), **found.to_dict()}
    result.pop("certificate")
    if not json:
        Console(soft_wrap=True).print(f"{found}", markup=False, highlight=False)
    answer(result, f"\nOpen {report} in a browser; the model is in {out / 'run'}.", as_json=json)
    if open_:
        webbrowser.open(report.resolve().as_uri())
