"""latentry demo."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from latentry.certificate import certify
from latentry.cli.audit_bar import audit_bar
from latentry.cli.devices import Device
from latentry.cli.options import AsJson, Quiet
from latentry.cli.recipes import RECIPES
from latentry.cli.verdicts import announce, keep
from latentry.errors import DataError, nearest
from latentry.training import epochs_of

__all__ = ["demo"]


def demo(
    data: Annotated[str, typer.Option(help=f"Data to show, one of: {', '.join(RECIPES)}.")] = "lattices",
    out: Annotated[Path, typer.Option(help="Folder for the run, the report and the certificate.")] = Path(
        "latentry-demo"
    ),
    seed: Annotated[int, typer.Option(help="The same seed gives the same result.")] = 0,
    open_: Annotated[bool, typer.Option("--open", help="Show the report in a browser.")] = False,
    quiet: Quiet = False,
    device: Device = None,
    json: AsJson = False,
) -> None:
    """Make or load data, fit a model, certify it on rows set aside, and write a report of what may be believed."""
    if data not in RECIPES:
        raise DataError(f"--data {data}: is not known{nearest(data, RECIPES)}")
    recipe = RECIPES[data]
    rows = recipe.data(seed)
    training, fresh = rows.split(1 - recipe.aside, recipe.aside, seed=seed)
    if not quiet and not json:
        words = f"{recipe.title}: {len(training)} rows to learn from, {len(fresh)} set aside."
        Console(stderr=True).print(words, markup=False, highlight=False)
    model = recipe.model(seed, False if quiet or json else "auto").fit(training)
    if model.state_.stopped == "interrupted":
        raise typer.Exit(130)
    model.save(out / "run")
    with audit_bar(quiet=quiet or json) as progress:
        certificate = certify(model, rows, seed=seed, progress=progress, **recipe.options)
    files = keep(certificate, out, recipe.title)
    epochs = sum(epochs_of(model.history_).values())
    extra = {"run": str(out / "run"), "data": data, "rows": len(rows), "epochs": epochs}
    announce(certificate, files, extra, as_json=json, show=open_)
