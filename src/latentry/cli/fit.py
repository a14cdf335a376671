"""latentry fit."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console

from latentry.certificate import FEWEST
from latentry.certificate import Settings as Declared
from latentry.certificate import certify as make_certificate
from latentry.cli.audit_bar import audit_bar
from latentry.cli.devices import Device
from latentry.cli.options import (
    ROLE_NAMES,
    AsJson,
    Categories,
    DomainName,
    Drop,
    Engine,
    Factors,
    Groups,
    Ids,
    MaxGb,
    Modality,
    Quiet,
    RolesFile,
    Settings,
    Time,
    Workers,
    answer,
    engine_named,
    parts,
    settings_for,
)
from latentry.cli.verdicts import Require, announce, demanded, keep, require
from latentry.contracts import ExplainsChoices, HasClusters, HasFrontier, HasGraph, HasLikelihood
from latentry.data import Dataset, read
from latentry.discovery import count_latents
from latentry.errors import DataError
from latentry.models import MODELS, AnyModel, load_model, model_class
from latentry.training import JsonLines, epochs_of, holds_run

__all__ = ["fit"]


def fit(
    data: Annotated[
        Path | None,
        typer.Argument(
            help="Data file: npz, npy, csv, parquet, zarr, h5ad or h5mu; with --resume, it may be left out, or be the run folder."
        ),
    ] = None,
    model: Annotated[str, typer.Option(help=f"Model to fit, one of: {', '.join(MODELS)}.")] = "vae",
    out: Annotated[Path, typer.Option(help="Run folder to write.")] = Path("run"),
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
    latents: Annotated[
        str | None,
        typer.Option(help="Number of latents, or auto, which counts them first; the model's own default if not given."),
    ] = None,
    nodes: Annotated[
        str | None,
        typer.Option(
            help="For causal-pima: number of values of each node, such as 2,2,2, or lattice=2,profile=2; or auto."
        ),
    ] = None,
    epochs: Annotated[
        int | None, typer.Option(help="Passes over the rows; the model's own default if not given.")
    ] = None,
    restarts: Annotated[
        int | None,
        typer.Option(
            help="Independent fits, of which the best on held-out rows is kept; the model's own default if not given."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same result.")] = 0,
    set_: Settings = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume",
            help="Continue the run in the folder; alone, it recalls data and options. --epochs may be raised, which lengthens a "
            "run that has ended.",
        ),
    ] = False,
    log: Annotated[Path | None, typer.Option(help="Append each epoch to this file as a JSON line.")] = None,
    certify: Annotated[
        bool,
        typer.Option(
            "--certify",
            help="Set a part of the rows aside, certify the model on them, and write a report into the run folder.",
        ),
    ] = False,
    aside: Annotated[float, typer.Option(help="Fraction of the rows that --certify sets aside.")] = 0.25,
    epsilon: Annotated[
        float, typer.Option(help="For --certify: largest error, in nats, that still counts as natural.")
    ] = 0.05,
    engine: Engine = None,
    workers: Workers = None,
    required: Require = None,
    quiet: Quiet = False,
    device: Device = None,
    json: AsJson = False,
) -> None:
    """Fit a model to data and keep the run in a folder. Ctrl-C saves; --resume continues."""
    if data is None or (resume and holds_run(data)):
        if not resume:
            raise DataError("DATA: is missing. Give a data file, or --resume and the folder of a run.")
        _refuse_others(
            domain=domain, groups=groups, time=time, factor=factor, modality=modality, ids=ids, category=category, drop=drop,
            roles=roles, latents=latents, nodes=nodes, restarts=restarts, certify=certify, require=required, seed=seed,
            engine=engine, workers=workers,
        )  # fmt: skip
        _lengthen(out if data is None else data, epochs, set_, log, max_gb, quiet=quiet, as_json=json)
        return
    needed = demanded(required)
    certify = certify or bool(needed)
    kind = model_class(model)
    if certify and not issubclass(kind, (HasLikelihood, HasClusters)):
        raise DataError(
            f"--certify: {kind.__name__} has no likelihood, hence no certificate. Leave it out, or fit --model cgvae."
        )
    if resume and not holds_run(out):
        if not data.exists() or (data.is_dir() and data.suffix != ".zarr"):
            raise DataError(
                f"--resume: {data} holds no run to continue, and is no data file. Give the folder of a run, or a data file and the "
                "folder of its run as --out."
            )
        raise DataError(
            f"--resume: {out} holds no run to continue. Leave it out, or give the folder of a run as --out."
        )
    chosen: dict[str, object] = {"seed": seed}
    chosen |= {} if restarts is None else {"restarts": restarts}
    chosen |= {} if epochs is None else {"epochs": epochs}
    chosen |= {} if nodes is None else {"nodes": _nodes(kind, nodes)}
    chosen |= {"progress": False if quiet else "auto"} | settings_for(kind().get_params(deep=True), set_, kind.__name__)
    asked = parts(
        domain=domain, modality=modality, factor=factor, groups=groups, time=time, ids=ids, category=category, drop=drop,
        roles=roles,
    )  # fmt: skip
    rows = read(data, **asked, max_gb=max_gb)
    origin = {"file": str(data.resolve()), **asked, "aside": aside if certify else None}
    training = _without_aside(rows, aside, epsilon, seed) if certify else rows
    chosen = _latents(kind, latents, training, seed, quiet=quiet or json) | chosen
    fitted = (
        kind()
        .set_params(**chosen)
        .fit(
            training,
            run=out,
            resume=resume,
            logger=None if log is None else JsonLines(log),
            origin=origin,
            executor=engine_named(engine, workers),
            workers=workers,
        )  # fmt: skip
    )
    stopped = fitted.state_.stopped == "interrupted"
    if stopped or not certify:
        _report(fitted, out, as_json=json)
        raise typer.Exit(130 if stopped else 0)
    with audit_bar(quiet=quiet or json) as progress:
        certificate = make_certificate(fitted, rows, epsilon=epsilon, seed=seed, progress=progress)
    announce(certificate, keep(certificate, out), {"run": str(out), "model": fitted.name}, as_json=json)
    require(certificate, needed)


def _refuse_others(**given: object) -> None:
    """Refuse what a run that goes on keeps: an option that changes nothing must not be taken for one that does."""
    for option, value in given.items():
        if value:
            raise DataError(
                f"--{option}: a run that goes on keeps its data and options. With --resume and the folder alone, give --epochs and "
                f"--set learning_rate=... at most; leave --{option} out, or fit anew into another folder."
            )


def _lengthen(
    run: Path,
    epochs: int | None,
    set_: list[str] | None,
    log: Path | None,
    max_gb: float | None,
    *,
    quiet: bool,
    as_json: bool,
) -> None:
    """Go on with a run as it was begun; only its length and its rate may be others."""
    if not holds_run(run):
        raise DataError(f"--resume: {run} holds no run to continue. Give the folder of a run.")
    model: AnyModel = load_model(run)
    origin = dict(model.record_.origin)
    if "file" not in origin:
        raise DataError(
            f"--resume: {run} does not say which file it was fitted to. Give the data file and its options."
        )
    path, aside = origin.pop("file"), origin.pop("aside", None)
    strange = set(origin) - ROLE_NAMES
    if strange:
        raise DataError(f"--resume: {run} was fitted with {sorted(strange)[0]!r}. Give the data file and its options.")
    rows = read(path, **origin, coding=dict(model.record_.layout.coding), max_gb=max_gb)
    if aside is not None:
        rows = rows.split(1 - aside, aside, seed=model.seed)[0]
    chosen = settings_for(model.get_params(deep=True), set_, type(model).__name__)
    chosen |= {"progress": False if quiet else "auto"} | ({} if epochs is None else {"epochs": epochs})
    fitted = model.set_params(**chosen).fit(rows, run=run, resume=True, logger=None if log is None else JsonLines(log))
    _report(fitted, run, as_json=as_json)
    raise typer.Exit(130 if fitted.state_.stopped == "interrupted" else 0)


def _without_aside(rows: Dataset, aside: float, epsilon: float, seed: int) -> Dataset:
    """Return the rows to learn from; what the certificate declares is checked before hours of training."""
    Declared(epsilon)
    rows.refuse_missing_cells("A certificate")
    if not 0 < aside < 1:
        raise DataError(f"--aside {aside:g}: is no fraction. Give a number between 0 and 1.")
    training, fresh = rows.split(1 - aside, aside, seed=seed)
    if len(fresh) < FEWEST:
        raise DataError(
            f"--aside {aside:g} of {len(rows)} rows are {len(fresh)}, and at least {FEWEST} are needed to certify. "
            "Set more aside, or give more rows."
        )
    return training


def _latents(kind: type[AnyModel], given: str | None, rows: Dataset, seed: int, *, quiet: bool) -> dict[str, object]:
    """Return the number of latents as a parameter; "auto" counts them on the rows of the fit."""
    if given is None:
        return {}
    if given != "auto":
        if not given.isdecimal():
            raise DataError(f"--latents {given}: neither a whole number nor auto. Give such as 3, or auto.")
        return {"latent_dim": int(given)}
    if issubclass(kind, HasFrontier):
        return {"latent_dim": "auto"}  # it chooses while it is fitted
    found = count_latents(rows, lambda name, model, some: model.fit(some), seed=seed)
    if not quiet:
        Console(stderr=True, soft_wrap=True).print(" ".join(found.sentences), markup=False, highlight=False)
    whole = kind.takes_latents_from_data and found.latents == rows.layout.size
    return {"latent_dim": None if whole else found.latents}


def _nodes(kind: type[AnyModel], text: str) -> tuple[int, ...] | dict[str, int] | str:
    """Return the number of values of each node, by position or by name; or that the fit chooses them."""
    if "nodes" not in kind().get_params(deep=False):
        raise DataError(f"--nodes {text}: {kind.__name__} has no nodes. Use --model causal-pima.")
    if text.strip() == "auto":
        return "auto"
    words = [word.strip().partition("=") for word in text.split(",")]
    counts = [(last if equals else first).strip() for first, equals, last in words]
    if not all(count.isdecimal() for count in counts) or len({equals for _, equals, _ in words}) > 1:
        raise DataError(
            f"--nodes {text}: is no list of whole numbers. Give the number of values of each node, such as 2,2,2, or "
            "lattice=2,profile=2, or auto."
        )
    if words[0][1]:
        return {name.strip(): int(count) for (name, _, _), count in zip(words, counts, strict=True)}
    return tuple(int(count) for count in counts)


def _report(fitted: AnyModel, out: Path, *, as_json: bool) -> None:
    history = fitted.history_
    epochs = sum(epochs_of(history).values())
    result: dict[str, object] = {
        "run": str(out),
        "model": fitted.name,
        "epochs": epochs,
        "stopped": fitted.state_.stopped,
    }
    sentence = f"{type(fitted).__name__}: {epochs} epochs ({fitted.state_.stopped})"
    if "held_out_loss" in history.columns:
        result["held_out_loss"] = loss = float(np.nanmin(history["held_out_loss"]))
        sentence += f", held-out loss {loss:.4g} nats per standardised row"
    closing = f"{sentence}. Saved in {out}."
    if isinstance(fitted, ExplainsChoices) and fitted.choices_:
        result["choices"] = list(fitted.choices_)
        closing += "".join(f"\n  {sentence}" for sentence in fitted.choices_)
    if isinstance(fitted, HasGraph):
        result["graph"] = fitted.graph_.to_json()
        closing += f"\n{fitted.graph_.to_text()}"
    answer(result, closing, as_json=as_json)
