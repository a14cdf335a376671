"""What is noted when a fit has ended: the frontier, the errors in each domain, and whether restarts agree."""

from __future__ import annotations

from collections.abc import Sequence

import equinox as eqx
import jax
import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LinearRegression
from sklearn.metrics import normalized_mutual_info_score

from latentry.contracts import encode_rows
from latentry.data import Dataset
from latentry.models.natural_latents.drawing import fitted_drawing
from latentry.models.natural_latents.frontier import (
    Answers,
    Weights,
    bend,
    dropping_columns,
    merging_values,
    principal_axes,
    scored,
)
from latentry.models.natural_latents.latent_kinds import CategoricalLatent
from latentry.models.natural_latents.module import Conclusion, NaturalModule, latents_of_rows
from latentry.training import map_rows

__all__ = ["answers_about", "concluded_module", "measured_frontier"]

Array = NDArray[np.float64]
Groups = NDArray[np.int64]
_CHOOSING = 4000  # training rows that choose which values are merged
_PAIRED = 1000  # rows whose latents of numbers are compared in pairs


def concluded_module(
    module: NaturalModule,
    ended: Sequence[NaturalModule],
    training: Dataset,
    held_out: Dataset,
    weights: Weights,
    *,
    choose: bool,
) -> NaturalModule:
    """Note how natural the latent is with fewer values, in each domain, and from other restarts.

    Args:
        module: The best of the restarts.
        ended: All of them.
        training: Standardised rows that choose merges.
        held_out: Standardised rows that measure.
        weights: Of the errors.
        choose: Whether values are merged to as many as the frontier's bend has, or columns dropped.

    Returns:
        The module with its conclusion, and a decoder for the latent as it is now.
    """
    training, held_out = _telling(training, held_out), _telling(held_out, training)
    some = _some(training, _CHOOSING)
    known = answers_about(module, some)
    seen = answers_about(module, held_out)
    axes = np.eye(module.kind.size)
    if choose and known.scale is not None:
        axes = principal_axes(known)
        known, seen = known.turned(axes), seen.turned(axes)
    frontier, group, kept = measured_frontier(known, seen, weights, choose=choose)
    final = seen.merged(group) if isinstance(module.kind, CategoricalLatent) else seen.columns(group[:kept])
    shape = module.conclusion.domains.shape
    others = [answers_about(other, held_out) for other in ended]
    scores = [float(scored(other, weights)[0].mean()) for other in others]
    concluded = Conclusion(
        _device(1, np.int32),
        _device(group, np.int32),
        _device(axes),
        _device(kept, np.int32),
        _device(frontier),
        _device(_by_domain(final, weights, shape)),
        _device(scores),
        _device([[_agreement(a, b) for b in others] for a in others]),
    )
    noted: NaturalModule = eqx.tree_at(lambda tree: tree.conclusion, module, concluded)
    latents = np.asarray(map_rows(encode_rows, noted, some)[0], dtype=np.float64)
    drawing = fitted_drawing(module.drawing, latents, some, module.heads, kept)
    drawn: NaturalModule = eqx.tree_at(lambda tree: tree.drawing, noted, drawing)
    return drawn


def _device(values: object, kind: type[np.generic] = np.float32) -> jax.Array:
    placed: jax.Array = jax.device_put(np.asarray(values, dtype=kind))
    return placed


def _telling(data: Dataset, others: Dataset) -> Dataset:
    """The rows that have two modalities; where none has, those of the others: few such rows can all be on one side."""
    for rows in (data, others):
        telling = np.sum([rows.observed[name] for name in rows.names], axis=0) > 1
        if telling.all():
            return rows
        if telling.any():
            return rows.take(np.flatnonzero(telling))
    raise AssertionError("a fit has a row with two modalities")


def _some(data: Dataset, most: int) -> Dataset:
    if len(data) <= most:
        return data
    return data.take(np.sort(np.random.default_rng(0).choice(len(data), most, replace=False)))


def answers_about(module: NaturalModule, data: Dataset) -> Answers:
    """Ask channel and students about rows; those with one modality or none say nothing of what is shared.

    Args:
        module: Trained.
        data: Standardised rows.

    Returns:
        Answers about the rows that have at least two modalities.
    """
    names = list(module.students)
    observed = np.column_stack([data.observed[name] for name in names]).astype(np.float64)
    rows = np.flatnonzero(observed.sum(axis=1) > 1)
    gaussian = not isinstance(module.kind, CategoricalLatent)
    rows = rows[:: max(1, len(rows) // _PAIRED)] if gaussian else rows
    latent, students = map_rows(latents_of_rows, module, data)
    domain = np.zeros(len(rows), dtype=np.int64)
    if data.domain is not None and module.conclusion.domains.shape[0] > 1:
        domain = np.asarray(data.domain.values)[rows].astype(np.int64)
    parts = [np.asarray(part, dtype=np.float64)[rows] for part in (latent, *(students[name] for name in names))]
    if not gaussian:
        first, *others = (_normal(np.exp(part)) for part in parts)
        return Answers(first, tuple(others), observed[rows], domain)
    size = module.kind.size
    means, scales = [part[:, :size] for part in parts], [np.exp(part[:, size:]) for part in parts]
    draws = np.random.default_rng(0).standard_normal(means[0].shape)
    return Answers(means[0], tuple(means[1:]), observed[rows], domain, scales[0], tuple(scales[1:]), draws)


def _normal(table: Array) -> Array:
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def measured_frontier(known: Answers, seen: Answers, weights: Weights, *, choose: bool) -> tuple[Array, Groups, int]:
    """Merge values, or drop columns, one after the other, and measure every size.

    Args:
        known: Answers about rows that choose what is merged or dropped.
        seen: About rows that measure.
        weights: Of the errors.
        choose: Whether the size at the bend is kept, and not the largest.

    Returns:
        Scores of every size; the group of each value, or the order of columns; and the size that is kept.
    """
    if seen.scale is None:
        path = merging_values(known, weights)
        smaller = [seen.merged(group) for group in path]
    else:
        path = dropping_columns(known, weights)
        smaller = [seen.columns(kept) for kept in path]
    measured = [scored(answers, weights) for answers in smaller]
    best, gaps = bend([rows for rows, _, _ in measured])
    table = [[kept, rows.mean(), gap, *errors] for (rows, errors, kept), gap in zip(measured, gaps, strict=True)]
    size = best + 1 if choose else len(path)
    group: Groups = np.arange(len(path))
    if choose and seen.scale is not None:
        group = np.concatenate([path[best], np.setdiff1d(group, path[best])])
    elif choose:
        often = np.argsort(-smaller[best].latent.mean(axis=0), kind="stable")
        group = np.argsort(often)[path[best]]
    return np.array(table), group, size


def _by_domain(answers: Answers, weights: Weights, shape: tuple[int, ...]) -> Array:
    table = np.full(shape, np.nan)
    for number in range(shape[0]):
        rows = answers.domain == number
        if rows.any():
            part = Answers(
                answers.latent[rows],
                tuple(q[rows] for q in answers.students),
                answers.observed[rows],
                answers.domain[rows],
                None if answers.scale is None else answers.scale[rows],
                tuple(s[rows] for s in answers.student_scales),
                None if answers.draws is None else answers.draws[rows],
            )
            _, errors, kept = scored(part, weights)
            table[number] = [kept, *errors]
    return table


def _agreement(one: Answers, other: Answers) -> float:
    """Normalised mutual information of the most probable values, or how much of one is a linear map of the other."""
    if one.scale is None:
        return float(normalized_mutual_info_score(one.latent.argmax(axis=1), other.latent.argmax(axis=1)))
    if len(one.latent) < 2:
        return float("nan")  # a row says nothing of a linear map
    pairs = ((one.latent, other.latent), (other.latent, one.latent))
    return float(np.mean([LinearRegression().fit(a, b).score(a, b) for a, b in pairs]))
