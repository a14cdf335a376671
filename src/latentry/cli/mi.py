"""latentry mi."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from latentry.cli.devices import Device
from latentry.cli.options import AsJson, MaxGb, answer, pick
from latentry.data import Dataset, read, read_array, read_columns
from latentry.errors import DataError
from latentry.information import independence_test, mutual_information

__all__ = ["mi"]

Blocks = tuple[np.ndarray, np.ndarray, np.ndarray | None]


def mi(
    x: Annotated[Path, typer.Argument(help="npy with the rows of X, or a csv or parquet table with --x and --y.")],
    y: Annotated[Path | None, typer.Argument(help="npy with the rows of Y.")] = None,
    given: Annotated[
        str | None, typer.Option(help="What to condition on: an npy file, or columns of the table.")
    ] = None,
    x_columns: Annotated[str | None, typer.Option("--x", help="Columns of X in a table, separated by commas.")] = None,
    y_columns: Annotated[str | None, typer.Option("--y", help="Columns of Y in a table, separated by commas.")] = None,
    estimator: Annotated[
        str, typer.Option(help="Estimator: auto, ksg, ksg2, gaussian, student, binned, discrete, mixed, …")
    ] = "auto",
    normalize: Annotated[
        str, typer.Option(help="How columns are scaled: default, std, l2, rms, linf, copula, whiten or none.")
    ] = "default",
    units: Annotated[str, typer.Option(help="Units of the answer: nats or bits.")] = "nats",
    confidence: Annotated[float, typer.Option(help="Probability with which the interval holds the truth.")] = 0.95,
    discrete: Annotated[
        str | None,
        typer.Option(help="Which of x,y,given are labels, '' for none; by default the types of the columns decide."),
    ] = None,
    test: Annotated[int, typer.Option(help="Also test independence with this many permutations.")] = 0,
    k: Annotated[int | None, typer.Option(help="Number of neighbours, for the estimators that count them.")] = None,
    bins: Annotated[int | None, typer.Option(help="Number of bins of each column, for binned.")] = None,
    groups: Annotated[
        str | None, typer.Option(help="Group (subject, batch) of each row: an npy file, or a column of the table.")
    ] = None,
    time: Annotated[
        str | None,
        typer.Option(help="Time of each row: an npy file, or a column of the table; 'rows' for their own order."),
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same answer.")] = 0,
    max_gb: MaxGb = None,
    device: Device = None,
    json: AsJson = False,
) -> None:
    """Estimate the mutual information of two sets of columns, whatever their units, with an interval."""
    if y is None and (x_columns is None or y_columns is None):
        raise DataError("Y: is missing. Give two npy files, or one table with --x and --y to name its columns.")
    table = read_columns(x, max_gb) if y is None else None
    named = x_columns or "", y_columns or ""
    blocks = _arrays(x, y, given, max_gb) if y is not None else _columns(table or {}, *named, given)
    group_of_row = None if groups is None else _each_row(table, groups, "--groups")
    moment = None if time is None else True if time == "rows" else _each_row(table, time, "--time")
    labels = None if discrete is None else tuple(name.strip() for name in discrete.split(",") if name.strip())
    scaling = None if normalize == "none" else normalize
    estimate = mutual_information(
        *blocks, estimator=estimator, normalize=scaling, units=units, confidence=confidence, seed=seed, discrete=labels,
        k=k, bins=bins, groups=group_of_row, time=moment,
    )  # fmt: skip
    result = {"value": float(estimate), **estimate.as_dict()}
    lines = [repr(estimate), *filter(None, [estimate.reason]), *(f"note: {words}" for words in estimate.warnings)]
    if test:
        judged = independence_test(
            *blocks, estimator=_tester(estimator), normalize=scaling, permutations=test, seed=seed, discrete=labels, k=k,
            groups=group_of_row, time=moment,
        )  # fmt: skip
        result["p_value"] = judged.p_value
        lines.append(f"independence, by {_tester(estimator)}: {judged}")
    answer(result, "\n".join(lines), as_json=json)


def _each_row(table: Mapping[str, np.ndarray] | None, name: str, option: str) -> np.ndarray:
    """Read what is given for each row: a column of the table, or an npy file."""
    if table is not None:
        return pick(table, name, option)[0]
    return _array(Path(name)).reshape(-1)


def _tester(estimator: str) -> str:
    # A permutation test runs the estimator hundreds of times: auto would train hundreds of candidates.
    return "mixed" if estimator == "auto" else estimator


def _arrays(x: Path, y: Path, given: str | None, max_gb: float | None) -> Blocks:
    """Read files; rows of those that name them come in the order of the first that does."""
    paths = (x, y) if given is None else (x, y, Path(given))
    files = {path: _rows(path, max_gb) for path in paths}
    first = next((rows for rows in files.values() if isinstance(rows, Dataset) and rows.rows is not None), None)
    of_x, of_y, *rest = (np.asarray(_paired(first, path, files[path])) for path in paths)
    return of_x, of_y, rest[0] if rest else None


def _paired(first: Dataset | None, path: Path, rows: Dataset | np.ndarray) -> Dataset | np.ndarray:
    return rows if first is None or isinstance(rows, np.ndarray) else first.paired(str(path), rows)


def _rows(path: Path, max_gb: float | None) -> Dataset | np.ndarray:
    if path.suffix == ".npy":
        return _array(path)
    data = read(path, max_gb=max_gb)
    if len(data.names) > 1:
        raise DataError(f"{path} holds {len(data.names)} modalities. Give one array, or a table with --x and --y.")
    return data


def _array(path: Path) -> np.ndarray:
    if not path.exists():
        raise DataError(f"{path} does not exist. Check the path.")
    try:
        return read_array(path)
    except DataError as problem:
        raise DataError(f"{path} is not a whole npy file of numbers ({problem}).") from problem


def _columns(columns: Mapping[str, np.ndarray], x: str, y: str, given: str | None) -> Blocks:
    return (
        _together(pick(columns, x, "--x")),
        _together(pick(columns, y, "--y")),
        None if given is None else _together(pick(columns, given, "--given")),
    )


def _together(columns: list[np.ndarray]) -> np.ndarray:
    texts = {column.dtype.kind in "OU" for column in columns}
    if texts == {True, False}:  # numbers beside labels: NumPy would write all of them as text
        columns = [column.astype(object) for column in columns]
    return columns[0] if len(columns) == 1 else np.column_stack(columns)
