"""latentry bench."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import track

from latentry.cli.options import AsJson, Quiet, answer
from latentry.errors import DataError, nearest
from latentry.generators.information_tasks import tasks
from latentry.information import mutual_information

__all__ = ["bench"]


def bench(
    name: Annotated[str, typer.Argument(help="information: mutual information on tasks whose truth is known.")],
    rows: Annotated[int, typer.Option(help="Rows per task.")] = 2000,
    seeds: Annotated[int, typer.Option(help="Draws per task.")] = 1,
    estimator: Annotated[str, typer.Option(help="Which estimator is tried.")] = "ksg",
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Measure latentry on problems whose answer is known, on this machine."""
    if name not in _BENCHES:
        raise DataError(f"there is no benchmark {name!r}{nearest(name, _BENCHES)}")
    result, text = _BENCHES[name](rows, seeds, estimator, quiet)
    answer(result, text, as_json=json)


def _information(rows: int, seeds: int, estimator: str, quiet: bool) -> tuple[dict[str, Any], str]:
    found: dict[str, dict[str, float]] = {}
    for task in track(list(tasks()), "tasks", console=Console(stderr=True), disable=quiet):
        answers = [
            float(mutual_information(*task.sample(rows, seed=seed), estimator=estimator, confidence=None, seed=seed))
            for seed in range(seeds)
        ]
        error = float(np.mean([abs(value - task.truth) for value in answers]))
        found[task.name] = {"truth": task.truth, "estimate": float(np.mean(answers)), "error": error}
    mean = float(np.mean([row["error"] for row in found.values()]))
    lines = [f"{'task':<44} {'truth':>7} {'estimate':>9} {'error':>7}"]
    lines += [
        f"{task:<44} {row['truth']:7.3f} {row['estimate']:9.3f} {row['error']:7.3f}" for task, row in found.items()
    ]
    lines.append(f"mean absolute error of {estimator} over {len(found)} tasks, n = {rows}: {mean:.3f} nats")
    return {"estimator": estimator, "rows": rows, "seeds": seeds, "mean_error": mean, "tasks": found}, "\n".join(lines)


_BENCHES: dict[str, Callable[..., tuple[dict[str, Any], str]]] = {"information": _information}
