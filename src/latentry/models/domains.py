"""What a model must know of the domains, and sentences for domains from which nothing can be learned."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from latentry.data import Dataset, blocks
from latentry.errors import DataError, DataWarning

__all__ = ["check_columns", "check_domain", "domain_facts", "without_empty_domains"]

_SEEN = 2000  # rows whose u is kept for sampling
_FEW = 10  # rows below which a domain's law is hardly learned
_LOOK = 100_000  # rows that are looked at for dependent columns


def domain_facts(data: Dataset, seed: int) -> dict[str, Any]:
    """The domains of some rows, from which new ones are drawn, and how many rows each label has."""
    if data.domain is None:
        return {"seen": [], "domain_rows": []}
    values = data.domain.values
    some = values[np.random.default_rng(seed).permutation(len(data))[:_SEEN]].tolist()
    if not data.domain.is_continuous:
        return {"seen": some, "domain_rows": np.bincount(values, minlength=data.domain.size).tolist()}
    return {
        "seen": some,
        "domain_rows": [],
        "domain_shift": values.mean(axis=0).tolist(),
        "domain_scale": values.std(axis=0).tolist(),
    }


def without_empty_domains(data: Dataset) -> Dataset:
    """Labels whose rows were all taken away are forgotten."""
    domain = data.domain
    if domain is None or domain.labels is None or len(np.unique(domain.values)) == domain.size:
        return data
    return data.with_domain(domain.as_labels())


def check_domain(data: Dataset, model: str) -> None:
    """Domains must repeat, and each must have rows to be learned from."""
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
            f"domain {label!r} has {words}: too few to learn its law from. Merge it with another, or drop it."
        )
    if rows < _FEW:
        warnings.warn(
            f"domain {label!r} has only {rows} rows: what is learned of its law is mostly noise.",
            DataWarning,
            stacklevel=6,
        )


def check_columns(data: Dataset, name: str) -> None:
    """An exact flow has a density: no column may be constant, or follow from the others."""
    rows = _some_rows(data, name)
    still = np.flatnonzero(np.ptp(rows, axis=0) == 0)
    titles = _titles(data, name, rows.shape[1])
    if still.size and len(rows) > 1:
        raise DataError(f"column {titles[still[0]]} is constant: it has no density. Drop it.")
    if len(rows) < 2 * rows.shape[1] or rows.shape[1] < 2:
        return
    weights, directions = np.linalg.eigh(np.corrcoef(rows.T))
    if weights[0] > 1e-8 * weights[-1]:
        return
    involved = np.flatnonzero(np.abs(directions[:, 0]) > 0.05)
    words = ", ".join(titles[i] for i in involved[:6]) + (", …" if len(involved) > 6 else "")
    raise DataError(
        f"columns {words} are copies or sums of each other: such rows have no density. Drop one of them, or ask for fewer "
        "latents than columns."
    )


def _some_rows(data: Dataset, name: str) -> np.ndarray:
    every = max(1, len(data) // _LOOK)  # evenly, since rows may come sorted by domain
    taken = [np.asarray(piece[(-start) % every :: every], dtype=np.float64) for start, piece in blocks(data[name])]
    return np.concatenate(taken)


def _titles(data: Dataset, name: str, count: int) -> list[str]:
    named = data.columns.get(name) if data.columns else None
    return [repr(title) for title in named] if named else [str(i) for i in range(count)]
