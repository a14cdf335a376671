"""latentry mi."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from latentry.cli.options import AsJson, answer, pick
from latentry.data import read, read_columns
from latentry.errors import DataError
from latentry.information import independence_test, mutual_information

__all__ = ["mi"]

Blocks = tuple[np.ndarray, np.ndarray, np.ndarray | None]


def mi(
    x: Annotated[Path, typer.Argument(help="npy with the rows of X, or a csv or parquet table with --x and --y.")],
    y: Annotated[Path | None, typer.Argument(help="npy with the rows of Y.")] = None,
    given: Annotated[str | None, typer.Option(help="Condition: an npy file, or columns of the table.")] = None,
    x_columns: Annotated[str | None, typer.Option("--x", help="Columns of X in a table, separated by commas.")] = None,
    y_columns: Annotated[str | None, typer.Option("--y", help="Columns of Y in a table, separated by commas.")] = None,
    estimator: Annotated[
        str, typer.Option(help="auto, ksg, ksg2, gaussian, student, binned, discrete, mixed, …")
    ] = "auto",
    normalize: Annotated[str, typer.Option(help="default, std, l2, rms, linf, copula, whiten or none.")] = "default",
    units: Annotated[str, typer.Option(help="nats or bits.")] = "nats",
    confidence: Annotated[float, typer.Option(help="Of the interval.")] = 0.95,
    discrete: Annotated[
        str | None, typer.Option(help="Which of x,y,given are labels, '' for none; read off the types by default.")
    ] = None,
    test: Annotated[int, typer.Option(help="Also test independence with this many permutations.")] = 0,
    k: Annotated[int | None, typer.Option(help="Neighbours, for the estimators that count them.")] = None,
    bins: Annotated[int | None, typer.Option(help="Boxes a column, for binned.")] = None,
    serial: Annotated[bool, typer.Option("--serial", help="Rows are in the order of time: wider intervals.")] = False,
    seed: Annotated[int, typer.Option(help="The same seed gives the same answer.")] = 0,
    json: AsJson = False,
) -> None:
    """Mutual information of two sets of columns, whatever their units, with an interval."""
    blocks = _arrays(x, y, given) if y is not None else _columns(x, x_columns, y_columns, given)
    labels = None if discrete is None else tuple(name.strip() for name in discrete.split(",") if name.strip())
    how: dict[str, Any] = {"estimator": estimator, "normalize": None if normalize == "none" else normalize}
    how |= {"discrete": labels, "seed": seed, "k": k}
    found = mutual_information(*blocks, units=units, confidence=confidence, bins=bins, serial=serial, **how)
    result = {"value": float(found), **found.as_dict()}
    lines = [repr(found), *filter(None, [found.reason]), *(f"note: {words}" for words in found.warnings)]
    if test:
        judged = independence_test(*blocks, permutations=test, **(how | {"estimator": _tester(estimator)}))
        result["p_value"] = judged.p_value
        lines.append(f"independence, by {_tester(estimator)}: {judged}")
    answer(result, "\n".join(lines), as_json=json)


def _tester(estimator: str) -> str:
    # A permutation test runs the estimator hundreds of times: auto would train hundreds of candidates.
    return "mixed" if estimator == "auto" else estimator


def _arrays(x: Path, y: Path, given: str | None) -> Blocks:
    return _array(x), _array(y), None if given is None else _array(Path(given))


def _array(path: Path) -> np.ndarray:
    if path.suffix != ".npy":
        data = read(path)
        if len(data.names) > 1:
            raise DataError(f"{path} holds {len(data.names)} modalities; give one array, or a table with --x and --y.")
        return np.asarray(data[data.names[0]])
    if not path.exists():
        raise DataError(f"{path} does not exist.")
    try:
        return np.load(path, allow_pickle=False)
    except (ValueError, OSError, EOFError) as problem:
        raise DataError(f"{path} is not a whole npy file of numbers ({problem}).") from problem


def _columns(table: Path, x: str | None, y: str | None, given: str | None) -> Blocks:
    if x is None or y is None:
        raise DataError("give two npy files, or one table with --x and --y to name its columns.")
    columns = read_columns(table)
    return (
        _together(pick(columns, x, "--x")),
        _together(pick(columns, y, "--y")),
        None if given is None else _together(pick(columns, given, "--given")),
    )


def _together(columns: list[np.ndarray]) -> np.ndarray:
    return columns[0] if len(columns) == 1 else np.column_stack(columns)
