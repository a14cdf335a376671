"""latentry natural."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from latentry.cli.devices import Device
from latentry.cli.options import AsJson, MaxGb, answer, pick
from latentry.data import read_columns
from latentry.errors import DataError
from latentry.natural import Audit, Report, audit, check, from_columns

__all__ = ["natural"]


def natural(
    table: Annotated[Path, typer.Argument(help="Table: csv or parquet.")],
    latent: Annotated[str, typer.Option(help="Column of the latent; several, separated by commas, for an embedding.")],
    observables: Annotated[str, typer.Option(help="Columns that were observed, separated by commas.")],
    domain: Annotated[str | None, typer.Option(help="Column of the domain.")] = None,
    mass: Annotated[
        str | None, typer.Option(help="Column of counts or probabilities: the table is then the distribution itself.")
    ] = None,
    epsilon: Annotated[float, typer.Option(help="Largest error, in nats, that still counts as natural.")] = 0.05,
    level: Annotated[
        float, typer.Option(help="Largest probability of a false certificate, for a table of observations.")
    ] = 0.05,
    noise: Annotated[float | None, typer.Option(help="Noise to add to an embedding, as part of what it is.")] = None,
    quantiser: Annotated[int | None, typer.Option(help="Round an embedding to so many values.")] = None,
    numbers: Annotated[
        str | None,
        typer.Option(help="Observables that are measurements although they have few values, separated by commas."),
    ] = None,
    groups: Annotated[
        str | None, typer.Option(help="Column of the group (subject, plate, batch) whose rows depend on each other.")
    ] = None,
    time: Annotated[
        str | None, typer.Option(help="Column of the time, where rows that are near in time depend on each other.")
    ] = None,
    require: Annotated[
        bool, typer.Option("--require", help="Exit with 1 unless the latent is certified or supported.")
    ] = False,
    seed: Annotated[int, typer.Option(help="The same seed gives the same answer.")] = 0,
    max_gb: MaxGb = None,
    device: Device = None,
    json: AsJson = False,
) -> None:
    """Judge whether a latent is natural: it mediates between the observables, and each of them alone determines it.

    With --mass each row is a cell of a known distribution, and the answer is exact. Without it each row is an observation, and
    the answer is a certificate, a refutation or neither, at a stated level.
    """
    columns = read_columns(table, max_gb)
    seen = dict(
        zip([name.strip() for name in observables.split(",")], pick(columns, observables, "--observables"), strict=True)
    )
    hidden = pick(columns, latent, "--latent")
    where = None if domain is None else pick(columns, domain, "--domain")[0]
    group_of_row, moment = (
        None if name is None else pick(columns, name, option)[0]
        for name, option in ((groups, "--groups"), (time, "--time"))
    )
    result: Audit | Report
    notes: tuple[str, ...] = ()
    if mass is not None:
        if groups is not None or time is not None:
            raise DataError(
                "--mass: the table is a distribution, whose cells depend on nothing. Leave --groups and --time out."
            )
        result, notes = _exact(seen, hidden, where, pick(columns, mass, "--mass")[0], epsilon)
    else:
        held = hidden[0] if len(hidden) == 1 else np.column_stack(hidden)
        result = audit(
            seen,
            held,
            domain=where,
            numbers=[] if numbers is None else [name.strip() for name in numbers.split(",")],
            epsilon=epsilon,
            level=level,
            noise=noise,
            quantiser=quantiser,
            groups=group_of_row,
            time=moment,
            seed=seed,
        )
    fields = result.to_json()
    fields["notes"] = [*fields.get("notes", []), *notes]
    answer(fields, "\n".join([str(result), *notes]), as_json=json)
    if require and (result.verdict is None or result.verdict.status not in ("certified", "supported")):
        raise typer.Exit(1)


def _exact(
    seen: dict[str, np.ndarray], hidden: list[np.ndarray], where: np.ndarray | None, mass: np.ndarray, epsilon: float
) -> tuple[Report, tuple[str, ...]]:
    if len(hidden) > 1:
        raise DataError(
            "--latent names several columns, and a table of a distribution has one. Name one, or leave --mass out."
        )
    tables = from_columns(seen, hidden[0], domain=where, mass=mass)
    if tables.channel_drift > (1e-9 if tables.rows is None else 0.01):
        raise DataError(
            f"the domains disagree about the latent given the observables (by {tables.channel_drift:.3g} nats): one channel "
            "would be a distribution that is not in the file. Check one domain at a time, or add the domain to --observables."
        )
    seen_names = tuple(tables.observables)
    report = check(
        tables.laws, tables.channel, tables.weights, epsilon=epsilon, names=tables.domains, observables=seen_names
    )
    return report, tables.notes
