"""Where each epoch's row may go besides the history."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Protocol

from latentry.errors import DataError, MissingExtra
from latentry.training.history import Row, without_nan

__all__ = ["JsonLines", "Logger", "MLflow", "TensorBoard"]


class Logger(Protocol):
    """Anything with ``log``: it is called once an epoch with that epoch's row."""

    def log(self, row: Row) -> None:
        """Take the row of an epoch.

        Args:
            row: Columns of the history: phase, epoch, and metrics as floats.
        """


class JsonLines:
    """One JSON object per line and epoch, appended as it happens, with the time."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            self.path.open("a").close()  # now rather than after the first epoch
        except OSError as problem:
            raise DataError(
                f"path={str(path)!r}: the log cannot be written: {problem}. Choose another place."
            ) from problem

    def log(self, row: Row) -> None:
        """Append the row.

        Args:
            row: Of the history.
        """
        line = json.dumps({**without_nan(row), "time": time.time()})
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(line + "\n")


def _numbers(row: Row) -> dict[str, float]:
    return {f"{row['phase']}/{name}": value for name, value in row.items() if isinstance(value, float)}


class TensorBoard:
    """Event files for TensorBoard."""

    def __init__(self, folder: str | Path) -> None:
        try:
            from tensorboardX import SummaryWriter
        except ImportError as problem:
            raise MissingExtra("tensorboardX", "tensorboard", "logging to TensorBoard") from problem
        self._writer = SummaryWriter(str(folder))

    def log(self, row: Row) -> None:
        """Write a scalar for each metric, at the epoch.

        Args:
            row: Of the history.
        """
        for name, value in _numbers(row).items():
            self._writer.add_scalar(name, value, row["epoch"])
        self._writer.flush()


class MLflow:
    """Metrics of the active MLflow run."""

    def __init__(self) -> None:
        try:
            import mlflow
        except ImportError as problem:
            raise MissingExtra("mlflow", "mlflow", "logging to MLflow") from problem
        self._mlflow = mlflow

    def log(self, row: Row) -> None:
        """Log each metric, at the epoch.

        Args:
            row: Of the history.
        """
        self._mlflow.log_metrics(_numbers(row), step=int(row["epoch"] or 0))
