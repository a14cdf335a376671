"""What a model must know of the domains, and sentences for domains from which nothing can be learned."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from latentry.data import Dataset, blocks, moments, unit_columns
from latentry.errors import DataError, DataWarning
from latentry.json_forms import Schema
from latentry.training import filled_rows

__all__ = ["DomainFacts", "check_columns", "check_domain", "domain_facts"]

_SEEN = 2000  # rows whose u is kept for sampling
_FEW = 10  # rows below which a domain's distribution is hardly learned
_LOOK = 100_000  # rows that are looked at for dependent columns


@dataclass(frozen=True, eq=False)
class DomainFacts:
    """What a model notes of the domains.

    Args:
        seen: The domains of some rows, from which new rows take theirs: codes, or columns of a continuous u.
        rows: How many rows each label has; empty for a continuous u.
        shift: Means of a continuous u; empty for labels.
        scale: Its standard deviations.
    """

    seen: np.ndarray
    rows: np.ndarray
    shift: np.ndarray
    scale: np.ndarray

    form: ClassVar[Schema] = {
        "type": "object",
        "required": ["seen", "rows", "shift", "scale"],
        "properties": {
            "seen": {"type": "array", "items": {"type": ["number", "array"], "items": {"type": "number"}}},
            "rows": {"type": "array", "items": {"type": "integer", "minimum": 0}},
            "shift": {"type": "array", "items": {"type": "number"}},
            "scale": {"type": "array", "items": {"type": "number", "minimum": 0}},
        },
        "additionalProperties": False,
    }

    def standard(self, u: np.ndarray) -> np.ndarray:
        """Return a continuous u in units of its own spread, so that years and volts are learned from equally well.

        Args:
            u: (rows, columns).

        Returns:
            (rows, columns).
        """
        standard: np.ndarray = (u - self.shift) / self.scale
        return standard

    def to_json(self) -> dict[str, object]:
        """Return plain data."""
        return {name: value.tolist() for name, value in vars(self).items()}

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> DomainFacts:
        """Return what :meth:`to_json` wrote.

        Args:
            stored: Plain JSON.

        Returns:
            The facts.
        """
        return cls(**{name: np.asarray(value) for name, value in stored.items()})


def domain_facts(data: Dataset, seed: int) -> DomainFacts:
    """Note the domains of some rows, and how often each label occurs or where a continuous u lies.

    Args:
        data: The rows of a fit.
        seed: Of the choice of rows.

    Returns:
        What a model must know of the domains; empty where there are none.
    """
    none = np.zeros(0)
    if data.domain is None:
        return DomainFacts(none, none, none, none)
    values = data.domain.values
    order = np.random.default_rng(seed).permutation(len(data))
    some = values[np.resize(order, min(_SEEN, filled_rows(len(data), 64)))]  # a few rows twice, to fill up the shape
    if not data.domain.is_continuous:
        return DomainFacts(some, np.bincount(values, minlength=data.domain.size), none, none)
    return DomainFacts(some, none, *moments(values))


def check_domain(data: Dataset, model: str) -> None:
    """Check that domains repeat, and that each has rows to be learned from.

    Args:
        data: The rows of a fit.
        model: Name of the model, for sentences.

    Raises:
        DataError: If a column of u is constant, or a domain has too few rows.
    """
    domain = data.domain
    if domain is None:
        return
    if domain.is_continuous:
        still = np.flatnonzero(np.ptp(domain.values, axis=0) == 0)
        if still.size:
            raise DataError(
                f"u is constant in column {still[0]}: {model} learns from what changes with u. Drop that column, or use VAE, "
                "which needs no u."
            )
        return
    counts = np.bincount(domain.values, minlength=domain.size)
    if domain.size > 2 and domain.size == len(data):
        raise DataError(
            f"every one of the {len(data)} rows has a domain of its own: a domain is a lab, a day or a segment with many "
            "rows. If u is a number that varies continuously, give it as floats."
        )
    few = int(counts.argmin())
    label, rows = (domain.labels or range(domain.size))[few], int(counts[few])
    if rows < 2 < len(data):
        words = f"{rows} row" + "s" * (rows != 1)
        raise DataError(
            f"domain {label!r} has {words}: too few to learn its distribution from. Merge it with another, or drop it."
        )
    if rows < _FEW:
        warnings.warn(
            f"domain {label!r} has only {rows} rows: what is learned of its distribution is mostly noise.",
            DataWarning,
            stacklevel=6,
        )


def check_columns(data: Dataset, name: str) -> None:
    """Check that rows have a density: no column is constant, or follows from the others.

    Args:
        data: The rows of a fit.
        name: Of the table.

    Raises:
        DataError: If they have none, with the names of the columns.
    """
    rows = _some_rows(data, name)
    still = np.flatnonzero(np.ptp(rows, axis=0) == 0)
    titles = _titles(data, name, rows.shape[1])
    if still.size and len(rows) > 1:
        raise DataError(f"column {titles[still[0]]} is constant: it has no density. Drop it.")
    if 1 < len(rows) <= rows.shape[1]:
        raise DataError(
            f"{rows.shape[1]} columns, but only {len(rows)} rows: each column follows from the others on so few rows, which then "
            "have no density. Give more rows than columns, or ask for fewer latents than columns, as with latent_dim=5."
        )
    if len(rows) < 2 * rows.shape[1] or rows.shape[1] < 2:
        return
    weights, directions = np.linalg.eigh(np.corrcoef(unit_columns(rows).T))
    if weights[0] > 1e-8 * weights[-1]:
        return
    _refuse_outlier(data, name, rows)
    involved = np.flatnonzero(np.abs(directions[:, 0]) > 0.05)
    words = ", ".join(titles[i] for i in involved[:6]) + (", …" if len(involved) > 6 else "")
    raise DataError(
        f"columns {words} are copies or sums of each other: such rows have no density. Drop one of them, or ask for fewer "
        "latents than columns."
    )


def _refuse_outlier(data: Dataset, name: str, rows: np.ndarray) -> None:
    """Refuse a row so far away that all columns move with it alone: without it, they are no copies of each other."""
    units = np.abs(unit_columns(rows))
    row = int(units.max(axis=1).argmax())
    others = np.delete(rows, row, axis=0)
    if np.any(np.ptp(others, axis=0) == 0):
        return
    weights = np.linalg.eigvalsh(np.corrcoef(unit_columns(others).T))
    if weights[0] > 1e-8 * weights[-1]:
        column = _titles(data, name, rows.shape[1])[int(units[row].argmax())]
        place = row * _stride(data)
        raise DataError(
            f"row {place}: {rows[row, units[row].argmax()]:.3g} in column {column} is so far from all other rows that nothing else "
            "is left of the columns. Correct the row, or leave it out."
        )


def _stride(data: Dataset) -> int:
    return max(1, len(data) // _LOOK)  # evenly, since rows may come sorted by domain


def _some_rows(data: Dataset, name: str) -> np.ndarray:
    every = _stride(data)
    taken = [np.asarray(piece[(-start) % every :: every], dtype=np.float64) for start, piece in blocks(data[name])]
    return np.concatenate(taken)


def _titles(data: Dataset, name: str, count: int) -> list[str]:
    named = data.columns.get(name) if data.columns else None
    return [repr(title) for title in named] if named else [str(i) for i in range(count)]
