"""latentry orient."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from latentry.cli.options import AsJson, answer
from latentry.contracts import CanBeOriented
from latentry.errors import DataError
from latentry.models import load_model

__all__ = ["orient"]

Edges = list[str] | None


def orient(
    run: Annotated[Path, typer.Argument(help="Run folder of a fitted model with a graph.")],
    direction: Annotated[
        Edges, typer.Option(help="Direction of a reversible edge, as cause,effect; repeatable.", metavar="A,B")
    ] = None,
    require: Annotated[
        Edges, typer.Option(help="Edge that must be there, as cause,effect; repeatable.", metavar="A,B")
    ] = None,
    forbid: Annotated[
        Edges, typer.Option(help="Edge that must not be there, as cause,effect; repeatable.", metavar="A,B")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Run folder to write; the same one if not given.")] = None,
    json: AsJson = False,
) -> None:
    """Say what is known of a fitted graph, without a refit: directions of edges, edges that must or must not be there."""
    model = load_model(run)
    if not isinstance(model, CanBeOriented):
        raise DataError(f"{run} holds a {type(model).__name__}, which has no graph. Give a run of causal-pima.")
    directions, required, forbidden = (_edges(*named) for named in (
        ("--direction", direction), ("--require", require), ("--forbid", forbid),
    ))  # fmt: skip
    model.orient(directions, required=required, forbidden=forbidden).save(run if out is None else out)
    graph = model.graph_
    answer({"run": str(run if out is None else out), "graph": graph.to_json()}, graph.to_text(), as_json=json)


def _edges(option: str, words: Sequence[str] | None) -> list[tuple[str, str]]:
    edges = []
    for word in words or ():
        ends = [end.strip() for end in word.replace("->", ",").replace("→", ",").split(",")]
        if len(ends) != 2 or not all(ends):
            raise DataError(f"{option} {word}: is no edge. Give cause and effect with a comma, such as {option} A,B.")
        edges.append((ends[0], ends[1]))
    return edges
