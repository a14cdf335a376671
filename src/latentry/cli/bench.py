"""latentry bench."""

from __future__ import annotations

import time
from typing import Annotated, NamedTuple, TypeAlias

import numpy as np
import typer
from rich.console import Console
from rich.progress import track
from sklearn.base import clone

from latentry.cli.devices import Device
from latentry.cli.options import AsJson, Quiet, answer
from latentry.data import Dataset
from latentry.errors import DataError, nearest
from latentry.generators import information_tasks, segments
from latentry.identifiability import mcc, r_squared
from latentry.information import mutual_information
from latentry.models import IVAE, VAE, IFlow
from latentry.streams import stream

__all__ = ["bench"]


class _Sizes(NamedTuple):
    """Of the data of the benchmark of models."""

    domains: int
    rows_per_domain: int
    latents: int


Compared: TypeAlias = IFlow | IVAE | VAE
_BENCHES = ("information", "ivae")


def bench(
    name: Annotated[
        str,
        typer.Argument(
            help="information: mutual information on tasks whose truth is known. "
            "ivae: how well IFlow, IVAE and VAE recover the sources of segments."
        ),
    ],
    rows: Annotated[
        int | None, typer.Option(help="Rows per task (2000 if not given), or per segment (1000).", min=10)
    ] = None,
    seeds: Annotated[int, typer.Option(help="Number of times that the data are drawn.", min=1)] = 1,
    estimator: Annotated[str, typer.Option(help="information: the estimator to measure.")] = "ksg",
    domains: Annotated[int, typer.Option(help="ivae: number of segments.", min=2)] = 40,
    latents: Annotated[int, typer.Option(help="ivae: number of sources.", min=1)] = 5,
    epochs: Annotated[int, typer.Option(help="ivae: passes over the rows.", min=1)] = 100,
    quiet: Quiet = False,
    device: Device = None,
    json: AsJson = False,
) -> None:
    """Measure latentry on problems whose answer is known, on this machine."""
    if name not in _BENCHES:
        raise DataError(f"name={name!r}: there is no such benchmark{nearest(name, _BENCHES)}")
    if name == "information":
        result, text = _information(rows or 2000, seeds, estimator, quiet)
    else:
        result, text = _ivae(_Sizes(domains, rows or 1000, latents), seeds, epochs, quiet)
    answer(result, text, as_json=json)


def _information(rows: int, seeds: int, estimator: str, quiet: bool) -> tuple[dict[str, object], str]:
    table: dict[str, dict[str, float]] = {}
    for task in track(list(information_tasks.tasks()), "tasks", console=Console(stderr=True), disable=quiet):
        answers = [
            float(mutual_information(*task.sample(rows, seed=seed), estimator=estimator, confidence=None, seed=seed))
            for seed in range(seeds)
        ]
        error = float(np.mean([abs(value - task.truth) for value in answers]))
        table[task.name] = {"truth": task.truth, "estimate": float(np.mean(answers)), "error": error}
    mean = float(np.mean([row["error"] for row in table.values()]))
    lines = [f"{'task':<44} {'truth':>7} {'estimate':>9} {'error':>7}"]
    lines += [
        f"{task:<44} {row['truth']:7.3f} {row['estimate']:9.3f} {row['error']:7.3f}" for task, row in table.items()
    ]
    lines.append(f"mean absolute error of {estimator} over {len(table)} tasks, n = {rows}: {mean:.3f} nats")
    return {"estimator": estimator, "rows": rows, "seeds": seeds, "mean_error": mean, "tasks": table}, "\n".join(lines)


def _models(latents: int, epochs: int) -> dict[str, Compared]:
    staged = IVAE(latent_dim=latents, batch_size=256, epochs=epochs, progress=False)
    return {
        "IFlow": IFlow(epochs=epochs, progress=False),
        "IVAE, staged": staged,
        "IVAE, bound": clone(staged).set_params(estimation="elbo"),
        "VAE": VAE(latent_dim=latents, batch_size=256, epochs=epochs, progress=False),
    }


def _ivae(sizes: _Sizes, seeds: int, epochs: int, quiet: bool) -> tuple[dict[str, object], str]:
    models = _models(sizes.latents, epochs)
    scores: dict[str, dict[str, list[float]]] = {}
    rounds = [(name, seed) for name in models for seed in range(seeds)]
    for name, seed in track(rounds, "fits", console=Console(stderr=True), disable=quiet):
        data = segments(domains=sizes.domains, rows_per_domain=sizes.rows_per_domain, latents=sizes.latents, seed=seed)
        row = _recovery(clone(models[name]).set_params(seed=seed), data, seed)
        for key, value in row.items():
            scores.setdefault(name, {}).setdefault(key, []).append(value)
    lines = [f"{'model':<14} {'mcc':>15} {'spearman':>9} {'R²':>6} {'nats/row':>9} {'seconds':>8}"]
    for name, values in scores.items():
        mean = {key: float(np.mean(of)) for key, of in values.items()}
        spread = f"{mean['mcc']:.3f} ± {np.std(values['mcc']):.3f}"
        lines.append(
            f"{name:<14} {spread:>15} {mean['spearman']:9.3f} {mean['r2']:6.3f} {mean['score']:9.3f} {mean['seconds']:8.1f}"
        )
    lines.append(
        f"{sizes.domains} segments of {sizes.rows_per_domain} rows, {sizes.latents} sources, {seeds} draw"
        + "s" * (seeds > 1)
        + "; all numbers from the fifth of the rows that no fit saw."
    )
    return {**sizes._asdict(), "seeds": seeds, "epochs": epochs, "models": scores}, "\n".join(lines)


def _recovery(model: Compared, data: Dataset, seed: int) -> dict[str, float]:
    training, held_out = data.split(0.8, 0.2, seed=seed)
    began = time.perf_counter()
    model.fit(training)
    seconds = time.perf_counter() - began
    z, true = model.transform(held_out), np.column_stack([*held_out.factors.values()])
    others = training.take(stream("bench/rows", seed).permutation(len(training))[:5000])
    known = (model.transform(others), np.column_stack([*others.factors.values()]))
    return {
        "mcc": mcc(z, true),
        "spearman": mcc(z, true, "spearman"),
        "r2": float(r_squared(z, true, fit_on=known).mean()),
        "score": model.score(held_out),
        "seconds": seconds,
    }
