"""latentry certify."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from latentry.certificate import Certificate, Comparison, SideBySide, check, write_whole
from latentry.certificate import certify as make
from latentry.cli.audit_bar import audit_bar
from latentry.cli.devices import Device
from latentry.cli.options import (
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
    Time,
    Workers,
    answer,
    engine_named,
    parts,
)
from latentry.cli.transform import read_for
from latentry.cli.verdicts import Require, announce, demanded, keep, require
from latentry.data import Dataset, read, read_array, survey
from latentry.errors import DataError
from latentry.models import AnyModel, LatentModel, load_model
from latentry.training import holds_run

__all__ = ["certify"]


def certify(
    latents: Annotated[
        Path, typer.Argument(help="Run folder of a fitted model, or a file of latents: npy, npz, csv, parquet.")
    ],
    data: Annotated[
        Path,
        typer.Argument(
            help="File with the rows of the latents; for a fitted model, rows with the features of its fit."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Folder for report.html and certificate.json.")] = Path("certificate"),
    epsilon: Annotated[
        float, typer.Option(help="Largest error, in nats, that still counts as natural; choose it before you look.")
    ] = 0.05,
    level: Annotated[float, typer.Option(help="Probability of a false 'certified', for each verdict.")] = 0.05,
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
    block: Annotated[
        list[str] | None,
        typer.Option(help="A block of observables: a modality, or name=column,column of a single table; repeatable."),
    ] = None,
    noise: Annotated[
        float, typer.Option(help="Noise to add to latents that have none, in units of their standard deviation.")
    ] = 0.25,
    quantiser: Annotated[int | None, typer.Option(help="Round continuous latents to so many values.")] = None,
    seen: Annotated[
        Path | None,
        typer.Option(help="npy file of the rows that trained latents made elsewhere, as row numbers or booleans."),
    ] = None,
    also: Annotated[
        list[Path] | None, typer.Option(help="Run folder of the same model from another seed; repeatable.")
    ] = None,
    restarts: Annotated[
        int, typer.Option(help="Fit the model so many times more, from other seeds, and see whether the fits agree.")
    ] = 0,
    beside: Annotated[
        list[Path] | None,
        typer.Option(help="Another run folder or file of latents of the same rows, to be compared; repeatable."),
    ] = None,
    refits: Annotated[
        bool,
        typer.Option(
            "--refits",
            help="Fit the model up to five times more, with one latent fewer and more and without a domain at a time, to test "
            "what identifiability takes for granted.",
        ),
    ] = False,
    best: Annotated[
        bool,
        typer.Option(
            "--best", help="Learn the most natural latent of the rows, and say how far these latents are from it."
        ),
    ] = False,
    title: Annotated[str, typer.Option(help="Title of the report.")] = "",
    engine: Engine = None,
    workers: Workers = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same certificate.")] = 0,
    check_: Annotated[
        Path | None,
        typer.Option("--check", help="An earlier certificate.json of these data: compute it again, and compare."),
    ] = None,
    open_: Annotated[bool, typer.Option("--open", help="Show the report in a browser.")] = False,
    required: Require = None,
    quiet: Quiet = False,
    device: Device = None,
    json: AsJson = False,
) -> None:
    """Say how far latents can be trusted: audit them on rows that did not train them, and write a report."""
    needed = demanded(required)
    if beside and (needed or check_ is not None or also or restarts or refits or best):
        raise DataError(
            "--beside compares latents; --require, --check, --also, --restarts, --refits and --best ask about one. Use one at "
            "a time."
        )
    if check_ is not None and needed:
        raise DataError("--require asks of a new certificate, --check compares an old one. Use one of them at a time.")
    if out.exists() and not out.is_dir():
        raise DataError(f"--out {out}: is a file. Give a folder for report.html and certificate.json.")
    if holds_run(data) and not holds_run(latents):
        raise DataError(
            f"{data} holds a run: model and data are swapped, it seems. Write latentry certify {data} {latents}."
        )
    subject = _latents(latents, ids, max_gb)
    asked = parts(
        domain=domain, modality=modality, factor=factor, groups=groups, time=time, ids=ids, category=category, drop=drop,
        roles=roles,
    )  # fmt: skip
    rows = (
        read_for(subject, data, asked, max_gb)
        if isinstance(subject, LatentModel)
        else read(data, **asked, max_gb=max_gb)
    )
    trained, others = _seen(seen), tuple(map(load_model, also or ()))
    if beside:
        several = {_title(path): _latents(path, ids, max_gb) for path in (latents, *beside)}
        if len(several) < len(beside) + 1:
            raise DataError("--beside: two of the latents have the same name. Rename one of the files.")
        with audit_bar(quiet=quiet or json) as progress:
            together = make(
                several, rows, epsilon=epsilon, level=level, blocks=_blocks(block, rows), noise=noise, quantiser=quantiser,
                seed=seed, seen=trained, progress=progress,
            )  # fmt: skip
        _announce_several(together, out, title, as_json=json, show=open_)
        return
    with audit_bar(quiet=quiet or json) as progress:
        if check_ is not None:
            earlier = Certificate.from_json(check_)
            compared = check(earlier, subject, rows, seen=trained, others=others, progress=progress)
        else:
            certificate = make(
                subject, rows, epsilon=epsilon, level=level, blocks=_blocks(block, rows), noise=noise, quantiser=quantiser,
                restarts=restarts, refits=refits, best=best, seed=seed, seen=trained, others=others, progress=progress,
                executor=engine_named(engine, workers), workers=workers,
            )  # fmt: skip
    if check_ is not None:
        _compare(compared, as_json=json)
        return
    files = keep(certificate, out, title)
    announce(certificate, files, {"epsilon": epsilon}, as_json=json, show=open_)
    require(certificate, needed)


def _title(path: Path) -> str:
    """Return the name of latents in a comparison: that of their file or folder."""
    return path.resolve().stem


def _announce_several(together: SideBySide, out: Path, title: str, *, as_json: bool, show: bool) -> None:
    """Write the comparison and its page, both or neither, and print what tells the latents apart."""
    report, record = out / "compared.html", out / "compared.json"
    write_whole({record: together.to_json() + "\n", report: together.to_html(title=title)})
    said = [one.to_json() for one in together.statements]
    result = {"report": str(report), "record": str(record), "rows": list(together.rows), "statements": said}
    answer(result, f"{together}\nOpen {report} in a browser; the record is {record}.", as_json=as_json)
    if show:
        webbrowser.open(report.resolve().as_uri())


def _latents(path: Path, ids: str | None, max_gb: float | None) -> AnyModel | Dataset | np.ndarray:
    """Return a fitted model, or latents from a file, with names of their rows where the file has them."""
    if path.is_dir() and not holds_run(path) and path.suffix != ".zarr":
        raise DataError(f"{path} holds no run. Give the folder of a fitted model, or a file of latents.")
    if holds_run(path):
        model: AnyModel = load_model(path)
        return model
    if path.suffix == ".npy" and path.exists():
        array = _loaded(path, str(path))
        if array.ndim == 1:
            return array
    named = ids is not None and ids in {part.name for part in survey(path, max_gb=max_gb)}
    return read(path, ids=ids if named else None, max_gb=max_gb)


def _blocks(given: list[str] | None, data: Dataset) -> tuple[str, ...] | dict[str, list[int]] | None:
    """Return modalities by name, or columns by name or number."""
    if not given:
        return None
    if not any("=" in word for word in given):
        return tuple(given)
    named = data.columns.get(data.names[0], ())
    blocks = {}
    for word in given:
        name, equals, columns = word.partition("=")
        if not equals:
            raise DataError(
                f"--block {word}: names no column. Write name=column,column for each block, or only names of modalities."
            )
        blocks[name] = [_column(part.strip(), named, word) for part in columns.split(",")]
    return blocks


def _column(word: str, named: tuple[str, ...], option: str) -> int:
    if word in named:
        return named.index(word)
    if word.isdigit():
        return int(word)
    raise DataError(
        f"--block {option}: there is no column {word!r}. Known: {', '.join(named) or 'their numbers from 0'}."
    )


def _seen(path: Path | None) -> np.ndarray | None:
    if path is None:
        return None
    return _loaded(path, f"--seen {path}")


def _loaded(path: Path, what: str) -> np.ndarray:
    try:
        return read_array(path)
    except DataError as problem:
        raise DataError(f"{what} could not be read as npy: {problem} (numpy.save writes such files.)") from None


def _compare(compared: Comparison, *, as_json: bool) -> None:
    result = {
        "same": compared.same,
        "verdicts": compared.verdicts,
        "numbers": compared.numbers,
        "largest": compared.largest,
    }
    answer(result, str(compared)[:1].upper() + str(compared)[1:], as_json=as_json)
    if not compared.same:
        raise typer.Exit(1)
