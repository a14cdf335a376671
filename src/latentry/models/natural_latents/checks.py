"""Sentences for data from which no natural latent can be learned."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from latentry.data import Dataset, Domain
from latentry.errors import DataError
from latentry.models.estimator import Rule, Whole, refuse

__all__ = ["AutoWhole", "check_data", "check_size"]

_FEWEST = 10  # rows of a domain
_PER_VALUE = 2  # rows of each value of the latent
_LOOKED_AT = 2000  # rows by which copies are known
_SAME = 1e-4


@dataclass(frozen=True)
class AutoWhole(Rule):
    """Whole numbers of at least some number, "auto", or None."""

    least: int

    def problem(self, value: object) -> str | None:
        """Say what is wrong.

        Args:
            value: Of the parameter.

        Returns:
            A sentence or two, or None.
        """
        if isinstance(value, str) and value == "auto":
            return None
        problem = Whole(self.least, none=True).problem(value)
        return None if problem is None else f'not a whole number of at least {self.least}. Give one, or "auto".'


def check_size(values: int | str | None, latent_dim: int | str | None, validation: float) -> None:
    """Refuse a latent that has both values and columns, or a number of them that no held-out row could choose.

    Args:
        values: Number of values, "auto", or None.
        latent_dim: Number of columns, "auto", or None.
        validation: Fraction of rows held out.

    Raises:
        DataError: If parameters contradict each other.
    """
    if values is not None and latent_dim is not None:
        problem = f"a latent has values or columns, and latent_dim={latent_dim} asks for columns. Give one of the two."
        raise refuse("values", values, problem)
    name, count = ("values", values) if latent_dim is None else ("latent_dim", latent_dim)
    if count in (None, "auto") and not validation:
        raise refuse(name, count, "it is chosen on held-out rows. Set validation above 0, or give a number.")


def check_data(data: Dataset, values: int | None) -> None:
    """Refuse rows from which nothing shared can be learned.

    Args:
        data: The rows of a fit.
        values: Of the latent, if it has values.

    Raises:
        DataError: If there is one modality, if modalities are copies, or if there are too few rows of some kind.
    """
    _check_modalities(data)
    shared = int((np.sum([data.observed[name] for name in data.names], axis=0) > 1).sum())
    if shared == 0:
        raise DataError(
            "data: no row has two modalities, so that nothing says what they share. Give rows in which at least two were observed."
        )
    if values is not None and shared < _PER_VALUE * values:
        raise DataError(
            f"values={values}: {shared} rows with at least two modalities are too few. Give {shared // _PER_VALUE} values or "
            f"fewer, or at least {_PER_VALUE * values} rows."
        )
    _check_copies(data)
    if data.domain is not None:
        _check_domains(data.domain)


def _check_modalities(data: Dataset) -> None:
    if len(data.names) > 1:
        return
    (name,), (shape,) = data.names, (data.layout.shape(data.names[0]),)
    half = max(1, shape[0] // 2)
    raise DataError(
        f"data: a natural latent is what several observables share, and {name!r} of shape {shape} is the only modality. Cut it "
        f'into blocks: lt.Dataset({{"first": x[:, :{half}], "second": x[:, {half}:]}}).'
    )


def _check_copies(data: Dataset) -> None:
    for one, other in combinations(data.names, 2):
        both = np.flatnonzero(data.whole_rows(one) & data.whole_rows(other))[:_LOOKED_AT]
        if len(both) > 2 and _alike(np.asarray(data[one][both]), np.asarray(data[other][both])):
            raise DataError(
                f"modalities {one!r}, {other!r}: copies of each other, of which everything is shared. Drop one of them."
            )


def _alike(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether columns are equal up to their units, and vary."""
    flat = [np.asarray(part, dtype=np.float64).reshape(len(part), -1) for part in (one, other)]
    if flat[0].shape != flat[1].shape:
        return False
    spread = [part.std(axis=0) for part in flat]
    varies = (spread[0] > 0) | (spread[1] > 0)
    scaled = [(part - part.mean(axis=0)) / np.where(s > 0, s, 1.0) for part, s in zip(flat, spread, strict=True)]
    return bool(varies.any() and np.abs(scaled[0] - scaled[1]).max() < _SAME)


def _check_domains(domain: Domain) -> None:
    if domain.is_continuous:
        raise DataError(
            "domain: it is continuous, and errors are held down in each of several domains. Give labels, for instance by "
            "cutting it into ranges, or fit data.with_domain(None)."
        )
    counts = np.bincount(domain.values, minlength=domain.size)
    few = int(counts.argmin())
    if counts[few] < _FEWEST:
        label = few if domain.labels is None else domain.labels[few]
        raise DataError(
            f"domain {label!r}: {counts[few]} rows are too few to hold a latent to it. Leave it out, join it with another, or give "
            f"at least {_FEWEST} rows."
        )
