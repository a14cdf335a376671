"""latentry transform."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from latentry.cli.options import AsJson, DomainName, answer
from latentry.data import Dataset, GaussianChannel, read
from latentry.errors import DataError
from latentry.models import AnyModel, load_model

__all__ = ["transform", "wanted"]


def transform(
    run: Annotated[Path, typer.Argument(help="Run folder of a fitted model.")],
    data: Annotated[Path, typer.Argument(help="Data file with the features of the fit.")],
    out: Annotated[Path, typer.Option(help="File to write: csv, npz, parquet, zarr or h5mu.")] = Path("latents.csv"),
    domain: DomainName = None,
    json: AsJson = False,
) -> None:
    """Write the latents of each row: posterior mean and standard deviation."""
    model = load_model(run)
    rows = read(data, domain=domain, modalities=wanted(model))
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


def wanted(model: AnyModel) -> dict[str, tuple[str, ...]]:
    """Return the modalities and columns of the fit, for a file may hold more than the model knows.

    Args:
        model: That was fitted.

    Returns:
        Names of columns, by modality; none where they have no names.
    """
    layout = model.record_.layout
    columns = dict(layout.columns)
    return {name: columns.get(name, ()) for name in layout.modalities}
