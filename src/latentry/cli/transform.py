"""latentry transform."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from latentry.cli.options import AsJson, DomainName, answer
from latentry.data import Dataset, GaussianChannel, read
from latentry.models import LatentModel, load_model

__all__ = ["transform", "wanted"]


def transform(
    run: Annotated[Path, typer.Argument(help="Run folder of a fitted model.")],
    data: Annotated[Path, typer.Argument(help="Data with the features of the fit.")],
    out: Annotated[Path, typer.Option(help="Where the latents go: csv, npz, parquet, zarr, h5mu.")] = Path(
        "latents.csv"
    ),
    domain: DomainName = None,
    json: AsJson = False,
) -> None:
    """Write the latents of each row: posterior mean and standard deviation."""
    model = load_model(run)
    rows = read(data, domain=domain, modalities=wanted(model))
    channel = model.channel(rows)
    assert isinstance(channel, GaussianChannel)
    names = [f"z{i + 1}" for i in range(channel.mean.shape[1])]
    latents = Dataset(
        {"mean": channel.mean, "scale": channel.scale}, rows=rows.rows, columns={"mean": names, "scale": names}
    )
    latents.write(out)
    result = {"out": str(out), "rows": len(rows), "latents": len(names)}
    answer(result, f"{len(rows)} rows, {len(names)} latents each. Written to {out}.", as_json=json)


def wanted(model: LatentModel) -> dict[str, tuple[str, ...]]:
    """The modalities and columns of the fit."""
    # A file may hold more than the model knows: take the modalities, and where they have names the columns, of the fit.
    layout = model.record_.layout
    columns = dict(layout.columns)
    return {name: columns.get(name, ()) for name in layout.modalities}
