"""Whether rows count one by one: units that were declared, and what the order of the rows and repeated rows say without them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from latentry.data import (
    CategoricalChannel,
    Dataset,
    LabelsLike,
    group_labels,
    order_dependence,
    repeated_rows,
    time_blocks,
    time_values,
)
from latentry.evidence import Assumption
from latentry.natural.from_samples.assumptions import ASSUMED_LEVEL
from latentry.natural.from_samples.audit_rows import Rows
from latentry.natural.from_samples.mean_bounds import LARGEST_BET
from latentry.natural.from_samples.observables import Codes, Column, named_columns
from latentry.natural.from_samples.redundancy_bounds import HIGHEST_FLOOR
from latentry.row_order import label_order_p_value

__all__ = ["independence", "too_few_units", "units_needed", "units_of"]

_FEWEST, _FEWEST_LABELLED = 20, 2  # units on each side of the split, as of rows where every row is by itself
_ADVICE = (
    "name subjects, plates or batches in groups=, or moments in time=; "
    "only for independent rows that were sorted, data.shuffled()"
)
_HIDDEN = "rows of one subject in random order look like independent ones; name subjects in groups=, moments in time="


def units_of(
    data: Dataset | Mapping[str, ArrayLike] | ArrayLike,
    blocks: Mapping[str, Sequence[int]] | Sequence[str] | None,
    domain: ArrayLike | None,
    groups: LabelsLike | None,
    time: ArrayLike | None,
) -> Codes | None:
    """Number the units of rows that depend on each other: groups, or blocks of time.

    Args:
        data: The rows; a Dataset may bring groups or times of its own.
        blocks: As in `audit`.
        domain: One label per row.
        groups: One label per row.
        time: One moment per row.

    Returns:
        (rows,); None where every row is by itself.
    """
    if groups is None and time is None:
        units = data.units if isinstance(data, Dataset) else None
        return None if units is None else units.astype(np.int64)
    named, there, labels = named_columns(data, blocks, domain)
    rows = len(there)
    if groups is not None:
        return np.unique(group_labels(groups, rows), return_inverse=True)[1].astype(np.int64)
    moments = time_values([] if time is None else time, rows)
    strata = None if labels is None else np.unique(np.asarray(labels).astype(str), return_inverse=True)[1]
    return time_blocks(moments, [np.asarray(column) for column in named.values()], strata)


def too_few_units(rows: Rows) -> str:
    """Say how many units are missing, where there are too few to judge anything.

    Args:
        rows: The rows to audit.

    Returns:
        A sentence; empty where there are enough, or where rows count one by one.
    """
    if rows.units is None:
        return ""
    least = _FEWEST_LABELLED if rows.discrete else _FEWEST
    for j, name in enumerate(rows.domains):
        sides = [len(np.unique(rows.units[rows.inside(part, j)])) for part in (rows.fit, rows.audit)]
        if min(sides) < least:
            where = f"domain {name}" if len(rows.domains) > 1 else "all rows"
            return (
                f"groups or blocks of time count here, not rows: {where} has {sides[0]} of them to fit students and {sides[1]} "
                f"to audit, and at least {least} of each are needed."
            )
    return ""


def units_needed(rows: Rows, epsilon: float, level: float) -> str:
    """Say how many units a bound by betting needs even where no student errs, and how many there are.

    A gambler who bets at most 0.99 of the stake (`LARGEST_BET`) against a mean loss of epsilon, where one loss is at most
    top, gains at most a factor 1 + 0.99 epsilon/top with a unit, and must reach 1/level. The least top is ln(values/0.1): a
    student divides a probability of at most 0.1 (`HIGHEST_FLOOR`) among all values, of less where many rows audit.

    Cost: linear in the rows.

    Args:
        rows: The rows to audit.
        epsilon: The declared largest error, nats.
        level: Probability of a false certificate.

    Returns:
        A sentence; empty where rows count one by one, the latent is continuous, or there are so many.
    """
    if rows.units is None or not isinstance(rows.channel, CategoricalChannel):
        return ""
    top = np.log(max(2, rows.channel.probabilities.shape[1]) / HIGHEST_FLOOR)
    least = int(np.ceil(np.log(1.0 / level) / np.log1p(LARGEST_BET * epsilon / top)))
    count = min(len(np.unique(rows.units[rows.inside(rows.audit, j)])) for j in range(len(rows.domains)))
    if count >= least:
        return ""
    where = " in each domain" if len(rows.domains) > 1 else ""
    return (
        f"at least {least} groups or blocks of time to audit{where}, even if no error is seen in them, and there are "
        f"{count}"
    )


def independence(rows: Rows) -> list[Assumption]:
    """Say what is known of the independence of rows: declared units, or their order and copies among them.

    Only rows from one domain are compared, also where domains are pooled: rows may be sorted by domain.

    Cost: rows · log rows.

    Args:
        rows: The rows to audit.

    Returns:
        Assumptions of every claim about these rows.
    """
    if rows.units is not None:
        count = len(np.unique(rows.units))
        return [
            Assumption(
                "groups, or blocks of time, are independent of each other", "untested", note=f"{count} as declared"
            )
        ]
    orders = list(_orders(rows))
    p = min(1.0, len(orders) * min(orders))
    copies = _copies(rows)
    test = "rows at each distance in the order of the rows, and copies among them"
    name = "rows in their order do not depend on each other, and none is a copy"
    if p <= ASSUMED_LEVEL or copies:
        return [Assumption(name, "refuted", test, 0.0 if copies else p, note=f"{copies}{_ADVICE}")]
    return [Assumption(name, "not refuted", test, p), Assumption("rows are independent", "untested", note=_HIDDEN)]


def _orders(rows: Rows) -> Iterator[float]:
    """Yield the p-value of each block, and of the latent: that the order of the rows says nothing about it."""
    for block in rows.blocks:
        yield _label_order(block.values, rows) if block.discrete else _number_order(block.values, rows)
    channel = rows.channel
    if isinstance(channel, CategoricalChannel):
        yield _label_order(channel.most_likely.astype(np.int64), rows)
    else:
        yield _number_order(channel.mean, rows)


def _label_order(codes: Codes, rows: Rows) -> float:
    return label_order_p_value(codes, rows.strata)


def _number_order(numbers: Column, rows: Rows) -> float:
    return order_dependence([numbers], rows.strata).p_value


def _copies(rows: Rows) -> str:
    """How many rows are copies of others, in words; labels repeat without being copies."""
    numbers = [block.values for block in rows.blocks if not block.discrete]
    if not numbers:
        return ""
    found = repeated_rows(np.hstack(numbers))
    return f"{found.fraction:.0%} of the rows repeat another: leave copies out; " if found.telling else ""
