"""Rows side by side: images and curves in a strip, numbers in a table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from latentry.certificate.leading_components import flat
from latentry.certificate.report.row_images import Look, drawing, short
from latentry.certificate.subject import Subject
from latentry.html_text import escaped

__all__ = ["average", "strips"]


def average(subject: Subject, name: str, rows: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    """Return the mean of a modality over rows that have it.

    Args:
        subject: Rows and their latents.
        name: Of the modality.
        rows: Their numbers.
        weight: Of every row of the subject; None for equal weights.

    Returns:
        One row of the modality; zeros where none has it.
    """
    seen = subject.data.observed[name][rows]
    values = np.asarray(subject.data[name], dtype=float)[rows]
    weights = seen.astype(float) if weight is None else seen * weight[rows]
    if weights.sum() == 0:
        return np.zeros(values.shape[1:])
    return np.tensordot(
        weights / weights.sum(), np.where(seen.reshape(-1, *[1] * (values.ndim - 1)), values, 0.0), axes=1
    )


def strips(arrays: dict[str, np.ndarray], looks: dict[str, Look], names: Sequence[str]) -> str:
    """Return images side by side, or a table of numbers, for each modality.

    Args:
        arrays: Rows of each modality.
        looks: How each modality is drawn.
        names: Of the rows.

    Returns:
        HTML.
    """
    drawn = []
    for look in looks.values():
        if look.name not in arrays:
            continue
        if look.kind == "table":
            drawn.append(_figures(look, flat(arrays[look.name]), names))
            continue
        pairs = zip(names, arrays[look.name], strict=True)
        title = f'<span class="note">{escaped(look.name)}</span>' if len(looks) > 1 else ""
        drawn.append(title + "".join(f"<figure>{drawing(look, row)}{escaped(n)}</figure>" for n, row in pairs))
    return "".join(f'<div class="strip">{part}</div>' for part in drawn)


def _figures(look: Look, rows: np.ndarray, names: Sequence[str]) -> str:
    """Return one line for each column of a table, one place for each step or cluster."""
    head = "".join(f"<th>{escaped(n)}</th>" for n in ("", *names))
    lines = "".join(
        f"<tr><td>{escaped(column)}</td>" + "".join(f"<td>{short(v)}</td>" for v in rows[:, i]) + "</tr>"
        for i, column in enumerate(look.columns)
    )
    return f'<table class="means"><tr>{head}</tr>{lines}</table>'
