"""Every estimator by name: a question in, an answer out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from latentry.errors import DataError
from latentry.information.automatic_choice import auto_answer, mixed_answer
from latentry.information.binned import bin_codes, default_bins
from latentry.information.blocks import Block, codes
from latentry.information.discrete import discrete_information
from latentry.information.gaussian import gaussian_information
from latentry.information.ksg import ksg_local, single_radius_local
from latentry.information.normalisers import normalise
from latentry.information.questions import Answer, Question
from latentry.information.ranks import uniforms
from latentry.information.student_copula import fit_student_copula
from latentry.streams import stream

__all__ = ["ESTIMATORS", "TAKES_LABELS"]

Array = np.ndarray
Rule = Callable[[Question], Answer]
SCALES = np.arange(5, 20) / 10  # the multiples of y that scan_scale tries
SCAN_PERMUTATIONS = 10


def _ksg(question: Question, variant: int) -> Answer:
    k, name = question.options.neighbours(3), question.normaliser("linf")
    parts = question.numbers(name)
    if question.options.scan_scale:
        return _scanned(question, parts, k, variant)
    local = ksg_local(*parts, k=k, variant=variant)
    return Answer(float(local.mean()), f"ksg{variant} (k={k})", name)


def _scanned(question: Question, parts: tuple[Array, ...], k: int, variant: int) -> Answer:
    """Return the largest value over sizes of y, less what the same search reads in shuffled rows (which is above 0)."""
    if len(parts) > 2:
        raise DataError("scan_scale=True: it compares two blocks. Leave given out.")
    x, y = parts

    def largest(rows: Array) -> float:
        return max(float(ksg_local(x, c * rows, k=k, variant=variant).mean()) for c in SCALES)

    rng = stream("information/scales", question.options.seed)
    shuffled = [largest(y[rng.permutation(len(y))]) for _ in range(SCAN_PERMUTATIONS)]
    excess = max(0.0, float(np.mean(shuffled)))
    why = (
        f"largest of {len(SCALES)} sizes of y, less {question.say(excess)} reached by the same search in shuffled rows"
    )
    return Answer(largest(y) - excess, f"ksg{variant} (k={k}, sizes scanned)", question.normaliser("linf"), reason=why)


def _single_radius(question: Question) -> Answer:
    if question.given is not None:
        raise DataError("estimator='single_radius': it has no conditional form. Use 'ksg'.")
    k, name = question.options.neighbours(3), question.normaliser("linf")
    value = float(single_radius_local(*question.numbers(name), k=k).mean())
    caution = f"a hybrid of KSG1 and KSG2 kept for reproduction: it reads about 1/k = {question.say(1 / k)} low"
    return Answer(value, f"single-radius hybrid (k={k})", name, warnings=(caution,))


def _gaussian(question: Question) -> Answer:
    name = question.normaliser("std")
    return Answer(gaussian_information(*question.numbers(name)), "gaussian", name)


def _student(question: Question) -> Answer:
    if question.given is not None:
        raise DataError(
            "estimator='student': it has no conditional form. Use 'gaussian' with normalize='copula', or 'ksg'."
        )
    ranks = uniforms(np.hstack([b.values for b in question.blocks]))
    copula = fit_student_copula(ranks, question.x.d)
    ratio = copula.log_ratio(copula.scores(ranks))
    return Answer(copula.information, f"student (ν={copula.freedom:.3g})", "copula", copula.error(ratio))


def _binned(question: Question) -> Answer:
    """Put numbers into boxes; labels are boxes already."""
    name, options = question.normaliser("none"), question.options

    def boxes(block: Block) -> Array:
        if block.discrete:
            return block.values[:, 0]
        numbers, digits = np.split(block.values, [block.d - block.digits], axis=1)
        boxed = bin_codes(normalise(numbers, name), options.bins or default_bins(block.n, numbers.shape[1]))
        return codes(np.column_stack([boxed, digits])) if block.digits else boxed

    value = discrete_information(*map(boxes, question.blocks), correction=options.correction)
    return Answer(value, "binned", name)


def _discrete(question: Question) -> Answer:
    labels = [codes(b.values) for b in question.blocks]
    return Answer(discrete_information(*labels, correction=question.options.correction), "discrete", "")


def _critic(question: Question, bound: str) -> Answer:
    from latentry.information.critic_bounds import critic_answer  # compiles: only when asked for

    return critic_answer(question, bound)


def _flow(question: Question) -> Answer:
    from latentry.information.flow_estimator import flow_answer  # compiles: only when asked for

    return flow_answer(question)


ESTIMATORS: dict[str, Rule] = {
    "auto": auto_answer,
    "ksg": lambda q: _ksg(q, 1),
    "ksg1": lambda q: _ksg(q, 1),
    "ksg2": lambda q: _ksg(q, 2),
    "single_radius": _single_radius,
    "gaussian": _gaussian,
    "student": _student,
    "binned": _binned,
    "discrete": _discrete,
    "mixed": mixed_answer,
    "mine": lambda q: _critic(q, "mine"),
    "infonce": lambda q: _critic(q, "infonce"),
    "nwj": lambda q: _critic(q, "nwj"),
    "smile": lambda q: _critic(q, "smile"),
    "flow": _flow,
}
TAKES_LABELS = frozenset({"auto", "binned", "discrete", "mixed"})


def without_constant_columns(question: Question) -> Question:
    """Drop columns that never change: they carry nothing and spoil determinants."""

    def trim(block: Block) -> Block:
        if block.discrete or block.constant:
            return block
        kept = np.ptp(block.values, axis=0) > 0
        numbers = block.d - block.digits
        if not kept[:numbers].any():  # labels alone are left
            return Block(block.name, codes(block.values)[:, None], discrete=True)
        return replace(block, values=block.values[:, kept], digits=int(kept[numbers:].sum()))

    given = None if question.given is None or question.given.constant else trim(question.given)
    return replace(question, x=trim(question.x), y=trim(question.y), given=given)
