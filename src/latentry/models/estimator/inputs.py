"""Types of what models take and give back."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias, TypedDict

import numpy as np

from latentry.data import DomainLike, LabelsLike
from latentry.training import EngineLike, Logger

__all__ = ["FitOptions", "RunOptions", "Values"]

Values: TypeAlias = np.ndarray | dict[str, np.ndarray]  # rows of the only modality, or of each by name


class RunOptions(TypedDict, total=False):
    """Options of ``fit`` about the run; see :meth:`latentry.models.LatentModel.fit`."""

    run: str | Path | None
    resume: bool
    save_every: int | None
    logger: Logger | None
    origin: Mapping[str, object] | None
    executor: EngineLike
    workers: int | None


class FitOptions(RunOptions, total=False):
    """Options of ``fit`` that every model has."""

    domain: DomainLike | None
    groups: LabelsLike | None
