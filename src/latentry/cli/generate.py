"""latentry generate."""

from __future__ import annotations

from inspect import signature
from pathlib import Path
from typing import Annotated

import typer

from latentry.cli.options import AsJson, Settings, answer, settings_for
from latentry.errors import DataError, nearest
from latentry.generators import GENERATORS

__all__ = ["generate"]


def generate(
    name: Annotated[str, typer.Argument(help=f"Generator, one of: {', '.join(GENERATORS)}.")],
    out: Annotated[Path, typer.Option(help="File to write; its ending names the format.")],
    seed: Annotated[int, typer.Option(help="The same seed gives the same data.")] = 0,
    set_: Settings = None,
    json: AsJson = False,
) -> None:
    """Write synthetic data whose true latents are known."""
    if name not in GENERATORS:
        raise DataError(f"name={name!r}: there is no such generator{nearest(name, GENERATORS)}")
    chosen: dict[str, object] = {"seed": seed} | settings_for(signature(GENERATORS[name]).parameters, set_, name)
    data = GENERATORS[name](**chosen)
    data.write(out)
    result = {"out": str(out), "rows": len(data), "factors": list(data.factors)}
    answer(result, f"{data.describe()}\nWritten to {out}.", as_json=json)
