"""A dataset in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from latentry.data.lazy_rows import blocks

if TYPE_CHECKING:
    from latentry.data.dataset import Dataset

__all__ = ["describe"]


def describe(data: Dataset) -> str:
    """Return a line for each modality, for the domain and for each factor.

    Args:
        data: The rows.

    Returns:
        Lines of text.
    """
    lines = [f"{len(data)} rows" + (", on disk" if data.is_lazy else "")]
    for name in data.names:
        lines.append(f"  {name:<12} {_modality(data, name)}")
        lines += [f"    {rule}" for rule in data.coding.get(name, ()) if rule.kind != "number"]
    if data.rows is not None:
        lines.append(f"  rows         named {data.rows[0]}" + (f" … {data.rows[-1]}" if len(data) > 1 else ""))
    if data.domain is not None:
        lines.append(f"  domain       {_domain(data)}")
    if data.groups is not None:
        lines.append(f"  groups       {len(np.unique(data.groups))} groups of rows that depend on each other")
    if data.time is not None:
        lines.append(f"  time         from {data.time.min():.6g} to {data.time.max():.6g}")
    lines += [f"  factor       {name}: {_factor(values)}" for name, values in data.factors.items()]
    return "\n".join(lines)


def _modality(data: Dataset, name: str) -> str:
    array, observed = data[name], data.observed[name]
    low, high, constant = _range(data, name)
    shape = "×".join(map(str, array.shape[1:]))
    missing = int((~observed).sum())
    words = [f"{shape} {np.dtype(array.dtype)}", f"from {low:.4g} to {high:.4g}"]
    if missing:
        words.append(f"{missing} rows missing ({missing / len(data):.0%})")
    if name in data.partial:
        words.append(_missing_cells(data, name))
    if constant:
        words.append(f"{constant} constant column{'s' * (constant > 1)}")
    return ", ".join(words)


def _missing_cells(data: Dataset, name: str) -> str:
    known, rows = data.cells_observed(name), data.observed[name]
    assert known is not None
    gone = ~known[rows].reshape(int(rows.sum()), -1)
    return f"{gone.sum()} cells missing ({gone.mean():.0%}), in {gone.any(axis=1).sum()} rows"


def _range(data: Dataset, name: str) -> tuple[float, float, int]:
    low, high = np.inf, -np.inf
    for start, piece in blocks(data[name]):
        seen = piece[data.observed[name][start : start + len(piece)]]
        if len(seen):
            flat = seen.reshape(len(seen), -1)
            low, high = np.fmin(low, np.fmin.reduce(flat)), np.fmax(high, np.fmax.reduce(flat))
    return float(np.min(low)), float(np.max(high)), int(np.sum(np.asarray(low) == high))


def _domain(data: Dataset) -> str:
    domain = data.domain
    assert domain is not None
    if domain.labels is None:
        return f"{domain.size} continuous column{'s' * (domain.size > 1)}"
    counts = np.bincount(domain.values, minlength=domain.size)
    shown = ", ".join(f"{label} ({count})" for label, count in zip(domain.labels[:6], counts[:6], strict=True))
    return f"{domain.size} labels: {shown}" + (", …" if domain.size > 6 else "")


def _factor(values: np.ndarray) -> str:
    if values.dtype.kind == "f":
        return f"from {values.min():.4g} to {values.max():.4g}"
    return f"{len(np.unique(values))} values"
