"""One job in whatever process: a fit, what true factors say of it, and a certificate if one is wanted."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, final

import numpy as np

from latentry.certificate import certify, write_whole
from latentry.contracts import HasChannel
from latentry.data import Dataset, GaussianChannel
from latentry.errors import DataError, LatentryError
from latentry.identifiability import mcc
from latentry.models import AnyModel, Instructions, carry_out, rows_of, stored_rows, written
from latentry.sweeps.jobs import Job

__all__ = ["Order", "job_text"]


@final
@dataclass(frozen=True)
class Order:
    """What is wanted of a job.

    Args:
        fit: The fit.
        certify: Whether the fit is certified on the rows aside.
        epsilon: Largest error that still counts as natural.
    """

    fit: Instructions
    certify: bool = False
    epsilon: float = 0.05

    @classmethod
    def of(cls, job: Job, folder: Path, aside: float, split: int, *, certify: bool, epsilon: float) -> Order:
        """Return what is wanted of a job; rows in memory are written into the folder once.

        Args:
            job: With its name.
            folder: Of all fits.
            aside: Fraction of the rows that the fit does not see.
            split: Seed of that split.
            certify: Whether the fit is certified.
            epsilon: Largest error that still counts as natural.

        Returns:
            The order.

        Raises:
            DataError: If the job cannot be sent to another process; it is named.
        """
        folder.mkdir(parents=True, exist_ok=True)
        rows = stored_rows(job.data, folder) if isinstance(job.data, Dataset) else str(Path(job.data).absolute())
        try:
            fit = Instructions.of(job.model, rows, str(folder / job.name), roles=job.roles, aside=aside, split=split)
        except DataError as problem:
            raise DataError(f"job {job.name!r}: {problem}") from None
        return cls(fit, certify, epsilon)

    @property
    def text(self) -> str:
        """Return the order as text."""
        return json.dumps({"fit": self.fit.text, "certify": self.certify, "epsilon": self.epsilon}, sort_keys=True)

    @classmethod
    def from_text(cls, text: str) -> Order:
        """Read what :attr:`text` wrote."""
        stored = json.loads(text)
        return cls(Instructions.from_text(stored["fit"]), stored["certify"], stored["epsilon"])

    @property
    def mark(self) -> str:
        """Return a checksum of what decides the result."""
        return self.fit.mark + (f"-certified-{self.epsilon:g}" if self.certify else "")


def job_text(text: str) -> str:
    """Carry out an order, as engines ask for it.

    Args:
        text: Of an :class:`Order`.

    Returns:
        Text of the :class:`~latentry.models.many.Outcome`.
    """
    order = Order.from_text(text)
    outcome, model = carry_out(order.fit)
    outcome = replace(outcome, mark=order.mark)
    if model is not None and outcome.status == "done":
        try:
            outcome = replace(outcome, numbers={**outcome.numbers, **_judged(order, model)})
        except LatentryError as problem:
            outcome = replace(outcome, status="failed", reason=f"the fit is done, but: {problem}")
    return written(order.fit, outcome)


def _judged(order: Order, model: AnyModel) -> dict[str, Any]:
    _, aside = rows_of(order.fit)
    if aside is None:
        return {}
    numbers = _recovered(model, aside)
    if order.certify:
        certificate = certify(model, aside, epsilon=order.epsilon)
        write_whole({Path(order.fit.folder) / "certificate.json": certificate.to_json() + "\n"})
        numbers |= {f"verdict_{name}": verdict.status for name, verdict in certificate.verdicts.items()}
    return numbers


def _recovered(model: AnyModel, aside: Dataset) -> dict[str, Any]:
    """Return how well true factors are recovered, if the data know them: a report, by which nothing is chosen."""
    columns = [factor for factor in aside.factors.values() if factor.ndim == 1 and factor.dtype.kind in "iuf"]
    if not columns or not isinstance(model, HasChannel):
        return {}
    channel = model.channel(aside)
    if not isinstance(channel, GaussianChannel):
        return {}
    return {"mcc": float(mcc(channel.mean, np.column_stack(columns)))}
