"""latentry sweep."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from latentry.cli.devices import Device
from latentry.cli.options import AsJson, Quiet, answer
from latentry.errors import DataError, FileError, MissingExtra
from latentry.sweeps import ManyFits, Sweep, fit_many, read_sweep, search
from latentry.training import ENGINES

__all__ = ["sweep"]


def sweep(
    plan: Annotated[Path, typer.Argument(help="File in TOML: [data], [[models]], seeds, [engine], [search].")],
    out: Annotated[
        Path, typer.Option(help="Folder for every run and the table; what it holds is not fitted again.")
    ] = Path("sweep"),
    engine: Annotated[
        str | None, typer.Option(help=f"Where the fits run, one of: {', '.join(ENGINES)}; as the file says, or local.")
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Processes, where the engine is started here.")] = None,
    address: Annotated[str | None, typer.Option(help="Of a running cluster of Dask or Ray.")] = None,
    search_: Annotated[
        str | None, typer.Option("--search", help="optuna: search the ranges of the file instead of its whole grid.")
    ] = None,
    trials: Annotated[int | None, typer.Option(help="For --search: how many trials; as the file says, or 20.")] = None,
    quiet: Quiet = False,
    device: Device = None,
    json: AsJson = False,
) -> None:
    """Fit models × data × seeds × parameters, as a file says, at once on any engine, and write one table."""
    given = read_sweep(plan)
    named = {"executor": engine, "workers": workers, "address": address}
    given = replace(given, engine={**given.engine, **{k: v for k, v in named.items() if v is not None}})
    if search_ not in (None, "optuna"):
        raise DataError(f"--search {search_}: there is no such search. Use optuna.")
    if trials is not None or (search_ is not None and given.search is None):
        given = replace(given, search={**(given.search or {}), **({} if trials is None else {"trials": trials})})
    found = _carried_out(given, out, progress=False if quiet or json else "auto")
    table = _table(found, out)
    result = {"folder": str(out), "table": str(table), "fits": len(found), "failed": len(found.failed)}
    answer(result, f"{found}\nThe table is {table}.", as_json=json)
    if len(found.failed) == len(found):
        first = found.failed[0]
        raise FileError(f"every fit failed; the first, {first.name}: {first.reason}")


def _carried_out(given: Sweep, out: Path, *, progress: bool | str) -> ManyFits:
    if given.search is not None:
        return search(given, out, progress=progress)
    return fit_many(
        given.jobs(), folder=out, aside=given.aside, split=given.split, certify=given.certify, epsilon=given.epsilon,
        progress=progress, **given.engine,
    )  # fmt: skip


def _table(found: ManyFits, out: Path) -> Path:
    """Write the table as parquet, or as csv where the library for parquet is not installed."""
    try:
        return found.write(out / "results.parquet")
    except MissingExtra:
        return found.write(out / "results.csv")
