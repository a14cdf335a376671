"""Whether a sparse mixing tells the latents apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from latentry.contracts import HasChannel, HasLatentDistributions, MixingSupport, names_of
from latentry.data import Dataset, GaussianChannel, numbers_of_rows
from latentry.errors import DataError
from latentry.evidence import Assumption, Bound, Verdict, assumptions_in_words
from latentry.identifiability.assumptions import (
    PART_OF_LEVEL,
    UNTESTABLE,
    tested_assumptions,
    too_weakly_tested,
)
from latentry.identifiability.mixing_reading import (
    Against,
    Mixed,
    Reading,
    Rows,
    against,
    borne,
    needed_domains,
    readings,
    rivals,
    share_latents,
)  # fmt: skip
from latentry.identifiability.sufficient_changes.measured_moments import from_rows

__all__ = ["SparsityAudit", "sparsity"]


@dataclass(frozen=True, eq=False)
class _Pattern:
    """What the strengths of one or several fits show; fields as in SparsityAudit."""

    support: MixingSupport
    pinned: tuple[bool, ...]
    companions: tuple[tuple[int, ...], ...]
    single: tuple[int, ...]
    staircase: tuple[int, ...]
    needed: tuple[int, ...]
    present: int
    agreement: float
    left_out: int
    against: Against | None
    names: tuple[str, ...]
    shared: bool  # whether restarts agree on the latents as well as fits without a penalty do

    def listed(self, latents: Sequence[int]) -> str:
        """Return latents in words."""
        words = [self.names[k] for k in latents]
        return f"latent {words[0]}" if len(words) == 1 else f"latents {', '.join(words[:-1])} and {words[-1]}"

    @property
    def borne(self) -> bool:
        """Whether rows were seen to bear the pattern: as likely as without a penalty, and sparser than what explains any data."""
        return self.against is not None and borne(self.against) and self.support.edges < self.support.free_edges

    @property
    def empty(self) -> bool:
        """Whether the pattern is a staircase that nothing but its form speaks for."""
        return len(self.staircase) == len(self.pinned) and not self.borne


@dataclass(frozen=True, eq=False)
class SparsityAudit:
    """What the recovered mixing says about each latent of the first restart.

    Args:
        verdict: refuted when the pattern leaves some latent open; supported when restarts agree on a pattern that pins all
            latents and rows do not contradict the assumptions; otherwise cannot say. A support that was given as known can
            be certified.
        support: Recovered edges, (observed, latents).
        strength: Mean strength of each edge, in deviations of the variable per deviation of the latent.
        frequency: Fraction of restarts in which each edge is there, their latents matched to the first's.
        agreement: F1 of the edges of the worst restart; NaN with one restart.
        pinned: For each latent, whether some of its variables leave it alone for every other latent, in every restart and
            however unclear edges are read; of a pattern that is as likely as fits without a penalty, whether some
            variable shows one of the two alone.
        companions: For each latent, others that may act on all of its variables (of such a pattern: on the same ones).
        single: Latents that act on one variable only: whatever else acts on it can hide in them.
        staircase: Latents that can be read off one after another, each alone in a variable once those before it are known.
            Any data have an explanation in which all can: such a pattern, if it was learned, shows nothing.
        needed: Domains that suffice for each latent by changes alone: 2a + 1, where a counts the latents that act on
            some variable of its own.
        present: Domains there are; 0 if unknown.
        notes: One sentence for each latent.
        edge: Threshold of a strength in the first restart.
        left_out: Fits that ended clearly worse than the first or with more edges, and do not count as restarts.
        against: The first beside fits without a penalty; None if there are none to compare with.
        accepted: Whether the pattern pins all latents and nothing is held against it but that it was learned.
    """

    verdict: Verdict
    support: MixingSupport
    strength: np.ndarray
    frequency: np.ndarray
    agreement: float
    pinned: tuple[bool, ...]
    companions: tuple[tuple[int, ...], ...]
    single: tuple[int, ...]
    staircase: tuple[int, ...]
    needed: tuple[int, ...]
    present: int
    notes: tuple[str, ...]
    edge: float
    left_out: int = 0
    against: Against | None = None
    accepted: bool = False

    @property
    def could_be_supported(self) -> bool:
        """Return whether restarts that agree pin every latent, and nothing else is held against the pattern."""
        return self.accepted and self.verdict.status == "cannot say" and not np.isnan(self.agreement)

    def to_json(self) -> dict[str, Any]:
        """Return plain data for a JSON file."""
        plain = {name: value for name, value in vars(self).items() if name not in ("verdict", "support", "against")}
        arrays = {name: value.tolist() for name, value in plain.items() if isinstance(value, np.ndarray)}
        agreement = None if np.isnan(self.agreement) else self.agreement
        verdict, support = self.verdict.to_json(), self.support.present.tolist()
        return plain | arrays | {"agreement": agreement, "verdict": verdict, "support": support}

    def __str__(self) -> str:
        stable = (
            "one fit"
            if np.isnan(self.agreement)
            else f"edges of the restarts agree at F1 {self.agreement:.2f} or better"
        )
        if self.left_out:
            verb = "does" if self.left_out == 1 else "do"
            stable += f"; {self.left_out} more ended worse or with more edges and {verb} not count"
        return "\n".join([str(self.verdict), f"{self.support}; {stable}", *self.notes])


def sparsity(
    models: Mixed | Sequence[Mixed] | MixingSupport,
    data: Rows = None,
    *,
    free: Sequence[Mixed] = (),
    edge: float | None = None,
    stable: float = 0.9,
    level: float = 0.05,
    seed: int = 0,
) -> SparsityAudit:
    r"""Audit the condition under which a sparse mixing identifies latents, on the mixing that was recovered.

    Structural sparsity (Zheng, Ng and Zhang, *On the identifiability of nonlinear ICA: sparsity and beyond*, 2022): for each
    latent, variables whose parents have that latent alone in common. Where it holds, changes between domains need to
    tell apart only the latents that act on the same variables (Li et al., *Synergy between sufficient changes and sparse
    mixing procedure for disentangled representation learning*, 2025); where it holds for none, all n of them.

    Beyond the condition three readings are refused. A mixing in the form of a staircase exists for any data, whatever the
    truth. A latent that acts on one variable only may hide whatever else acts on that variable, and then looks pinned.
    Edges that are neither clear nor clearly absent count for neither side. Restarts that explain the rows clearly worse
    than the first one (a lower likelihood and a higher penalised loss, both by more than two standard errors and 0.005 nats
    for each observed number) do not count: they were stuck. Nor do those that are as likely with more edges: of equally
    likely explanations the theorem takes the sparsest.

    Fits without a penalty, ``free``, show whether the data bear the pattern. One that is less likely than the best of them
    by more than two standard errors and 0.005 nats for each observed number is the penalty's, and refuted; so is one whose
    latents are farther from those of each of them than these are from each other, on average; neither counts as a rival.
    One that is as likely, with fewer edges than a whole staircase, has paid for what a staircase or a hidden latent would
    cost, so that the weaker condition of structural diversity is enough: no two latents act on the same variables
    (:attr:`MixingSupport.diverse`).

    Cost: Jacobians of some rows for each model, rows · latents · columns; subsets of columns grow with latents².

    Args:
        models: A fitted model with ``mixing(data)``, such as CGVAE; several, fitted from different seeds, to see whether
            the pattern is stable; strengths (observed, latents) of one or several fits; or a known MixingSupport.
        data: Rows at which mixings are read; held out, if the strengths are to be those of new rows. With their domains, in a
            Dataset, restarts that ended worse can be recognised and left out.
        free: Fits of the same rows without a penalty, such as ``choose_sparsity(...).free``.
        edge: Strength above which there is an edge: a change of one deviation in the latent moves the variable by this
            fraction of its own deviation. By default the middle of the widest gap that the strengths of a fit leave at
            the rows given, between 0.03 and 0.3; 0.1 where they leave none of a factor 2.
        stable: Least F1 between the edges of restarts that counts as stable; with ``free``, restarts whose latents agree
            as well as those of fits without a penalty do are stable too.
        level: Of the tests of assumptions together.
        seed: Of samples and folds in these tests.

    Returns:
        The recovered pattern, a sentence for each latent, and a verdict.

    Raises:
        DataError: If a model has no mixing, data are missing, or strengths of restarts differ in shape.

    >>> audit = sparsity(MixingSupport([[1, 1, 0], [0, 1, 1], [0, 0, 1]]))
    >>> print(audit.verdict)
    refuted: sparsity leaves latent z1 open: latent z2 acts on every variable that it acts on.
    >>> audit.pinned, audit.needed
    ((False, True, True), (5, 7, 5))
    >>> print(sparsity(MixingSupport(np.ones((3, 3)))).verdict)
    refuted: sparsity does not help here: the mixing keeps none of the 3 latents apart from the others.
    """
    for name, value in (("edge", edge), ("stable", stable)):
        if (name, value) != ("edge", None) and (not isinstance(value, (int, float)) or not 0 < value < 1):
            raise DataError(f"{name}={value!r}: is out of range. Give a number between 0 and 1.")
    if isinstance(models, MixingSupport):
        several: list[Mixed] = []
        read = [Reading(models.present.astype(float), 0.1)]
        pattern = _pattern(read, learned=False)
    else:
        several = list(models) if isinstance(models, Sequence) else [models]
        read, pattern = _learned(several, data, free, edge)
    audit = _audit(pattern, read, known=not several, stable=stable)
    if not several or not audit.could_be_supported:
        return audit
    return replace(audit, verdict=_weighed(audit.verdict, _assumed(several[0], data, level, seed)))


def _learned(
    several: list[Mixed], data: Rows, free: Sequence[Mixed], edge: float | None
) -> tuple[list[Reading], _Pattern]:
    """Read the restarts that count, their latents in the order of the first's."""
    every = readings(several, data, edge)
    good = rivals(several, every, data) if len(every) > 1 else [0]
    beside = against(several[0], free, data) if free else None
    if beside is not None:  # what the data do not bear is no rival
        good = [0, *(at for at in good[1:] if borne(against(several[at], free, data)))]
    read = [every[0], *(every[at].ordered(every[0]) for at in good[1:])]
    left_out = len(every) - len(good)
    others = [several[at] for at in good[1:]]
    shared = beside is not None and share_latents(several[0], others, data, beside.steady)
    return read, _pattern(read, learned=True, of=several[0], left_out=left_out, beside=beside, shared=shared)


def _assumed(model: Mixed, data: Rows, level: float, seed: int) -> tuple[Assumption, ...]:
    """Test what the theorem takes for granted, where there are rows with domains; else name it."""
    if not isinstance(data, Dataset) or data.domain is None or not isinstance(model, HasLatentDistributions):
        return UNTESTABLE
    if not isinstance(model, HasChannel):
        return UNTESTABLE
    channel, table = model.channel(data), model.latent_distributions()
    if not isinstance(channel, GaussianChannel) or data.domain.size < 2:
        return UNTESTABLE
    part = PART_OF_LEVEL * level
    units, numbers = data.units, numbers_of_rows(data)
    rows = from_rows(channel.mean, data.domain, scale=channel.scale, units=units, level=part, seed=seed, table=numbers)
    return (*rows.assumed, *tested_assumptions(rows.groups, rows.counts, table.family, model, data, level, seed))


def _weighed(verdict: Verdict, assumed: tuple[Assumption, ...]) -> Verdict:
    """Support a pattern that pins all latents, unless rows contradict an assumption."""
    against = next((one for one in assumed if one.refuted), None)
    if against is not None:
        sentence = f"rows contradict an assumption: {against.name} ({against.note}). As it is, {verdict.sentence}"
        return replace(verdict, sentence=sentence, assumptions=assumed)
    if not any(one.outcome == "not refuted" for one in assumed):
        return replace(verdict, assumptions=assumed)
    weak = too_weakly_tested(assumed)
    if weak is not None:
        sentence = f"{verdict.sentence} Rows are too few to test that {weak.name} ({weak.note}, which is {weak.power or 0.0:.2f})."
        return replace(verdict, sentence=sentence, assumptions=assumed)
    sentence = f"{verdict.sentence} {assumptions_in_words(assumed)}"
    return replace(verdict, status="supported", sentence=sentence, assumptions=assumed)


def _pattern(
    read: Sequence[Reading],
    *,
    learned: bool,
    of: object = None,
    left_out: int = 0,
    beside: Against | None = None,
    shared: bool = False,
) -> _Pattern:
    support = read[0].support
    same = [support.agreement(other.support) for other in read[1:]]
    alone = np.flatnonzero(support.present.sum(axis=0) == 1)
    plain = _Pattern(
        support,
        pinned=(),
        companions=(),
        single=tuple(int(k) for k in alone) if learned else (),
        staircase=support.staircase if learned else (),
        needed=tuple(needed_domains(support, latent) for latent in range(support.latents)),
        present=_domains(of),
        agreement=min(same) if same else np.nan,
        left_out=left_out,
        against=beside,
        names=names_of(of, support.latents),
        shared=shared,
    )
    companions = tuple(_companions(read, latent, either=plain.borne) for latent in range(support.latents))
    pinned = tuple(not others and bool(support.present[:, k].any()) for k, others in enumerate(companions))
    return replace(plain, pinned=pinned, companions=companions, single=() if plain.borne else plain.single)


def _audit(pattern: _Pattern, read: Sequence[Reading], *, known: bool, stable: float) -> SparsityAudit:
    notes = tuple(_note(pattern, latent) for latent in range(pattern.support.latents))
    verdict = _verdict(pattern, len(read), known=known, stable=stable)
    return SparsityAudit(
        verdict,
        support=pattern.support,
        strength=np.mean([one.table for one in read], axis=0),
        frequency=np.mean([one.support.present for one in read], axis=0),
        agreement=pattern.agreement,
        pinned=pattern.pinned,
        companions=pattern.companions,
        single=pattern.single,
        staircase=pattern.staircase,
        needed=pattern.needed,
        present=pattern.present,
        notes=notes,
        edge=read[0].edge,
        left_out=pattern.left_out,
        against=pattern.against,
        accepted=not verdict.refuted and all(pattern.pinned) and not pattern.single and not pattern.empty,
    )


def _companions(read: Sequence[Reading], latent: int, *, either: bool) -> tuple[int, ...]:
    """Return the latents that no variable clearly keeps out, in some restart; or none keeps ``either`` out of the other."""
    left: set[int] = set()
    for one in read:
        apart = (one.seen[:, [latent]] & one.absent).any(axis=0)
        if either:
            apart |= (one.absent[:, [latent]] & one.seen).any(axis=0)
        left |= set(np.flatnonzero(~apart).tolist())
    return tuple(sorted(left - {latent}))


def _domains(model: object) -> int:
    return model.latent_distributions().domains if isinstance(model, HasLatentDistributions) else 0


def _note(pattern: _Pattern, latent: int) -> str:
    enough = f"by changes alone {pattern.needed[latent]} domains suffice"
    enough += f", there are {pattern.present}." if pattern.present else "."
    others, name = pattern.companions[latent], pattern.listed([latent])
    if not pattern.support.present[:, latent].any():
        return f"{name}: no variable depends on it."
    if others:
        words = f"{pattern.listed(others)} {'acts' if len(others) == 1 else 'act'} on every variable that it acts on"
        return f"{name}: not pinned, {words}; {enough}"
    if latent in pattern.single:
        return f"{name}: seen in one variable only, in which others may hide; {enough}"
    return f"{name}: pinned by the pattern; {enough}"


def _verdict(pattern: _Pattern, restarts: int, *, known: bool, stable: float) -> Verdict:
    size, open_ones = len(pattern.pinned), [k for k, holds in enumerate(pattern.pinned) if not holds]
    count = f"recovered support, {restarts} restarts" + f", {pattern.left_out} left out" * bool(pattern.left_out)
    held = Bound(size - len(open_ones), method="known support" if known else count)
    evidence = {"pinned latents": held}
    change = f"{2 * size + 1} domains with changes of their own, or variables that depend on fewer latents"
    unstable = restarts > 1 and pattern.agreement < stable and not pattern.shared
    if pattern.against is not None and not borne(pattern.against):
        return _not_borne(pattern.against, change)
    if len(open_ones) == size or unstable:
        why = f"the mixing keeps none of the {size} latents apart from the others"
        if unstable:
            why = f"restarts find different mixings (F1 {pattern.agreement:.2f}, declared {stable:g})"
            evidence = {"agreement": Bound(pattern.agreement, method="on the rows given")}
        return Verdict("refuted", f"sparsity does not help here: {why}.", evidence, change)
    if pattern.empty:
        left = f"; it leaves {pattern.listed(open_ones)} open" if open_ones else ""
        sentence = f"sparsity does not help here: the recovered mixing is a staircase, as some explanation of any data is{left}."
        return Verdict("refuted" if open_ones else "cannot say", sentence, evidence, change)
    if open_ones:
        return Verdict("refuted", _open_sentence(pattern, open_ones), evidence, change)
    if known:
        return Verdict("certified", f"structural sparsity holds for all {size} latents.", evidence)
    hidden = pattern.single
    if hidden:
        are = "is" if len(hidden) == 1 else "are"
        sentence = f"{pattern.listed(hidden)} {are} seen in one variable only, where others may hide."
        return Verdict("cannot say", f"the pattern does not pin every latent: {sentence}", evidence, change)
    once = (
        " It comes from one fit: fit again from other seeds." if restarts == 1 else f" All {restarts} restarts agree."
    )
    if pattern.left_out:
        agree = "and no second one confirms it" if restarts == 1 else f"the {restarts} that count agree"
        once = f" Of {restarts + pattern.left_out} restarts {pattern.left_out} ended worse or with more edges, {agree}."
    asks = "structural diversity" if pattern.borne and not pattern.support.pinned.all() else "structural sparsity"
    sentence = f"the recovered mixing pins all {size} latents, as {asks} asks of the true one.{once}"
    return Verdict("cannot say", sentence, evidence, "restarts, and domains enough to identify by changes alone")


def _not_borne(beside: Against, change: str) -> Verdict:
    """Refute a pattern that is less likely than fits without a penalty, or whose latents are none of theirs."""
    if beside.dear:
        why = f"it is less likely by {beside.cost:.3f} ± {beside.error:.3f} nats a row than the best fit without a penalty"
        evidence = {"likelihood lost": Bound(beside.cost, method="on the rows given, against fits without a penalty")}
    else:
        why = f"its latents agree by {beside.nearest:.2f} with those of fits without a penalty, these by {beside.steady:.2f}"
        evidence = {"agreement": Bound(beside.nearest, method="with the nearest fit without a penalty")}
    return Verdict("refuted", f"the data do not bear this pattern: {why}.", evidence, change)


def _open_sentence(pattern: _Pattern, open_ones: Sequence[int]) -> str:
    parts = []
    for latent in open_ones:
        others = pattern.companions[latent]
        verb = "acts" if len(others) == 1 else "act"
        parts.append(
            f"{pattern.listed(others)} {verb} on every variable that it acts on" if others else "no variable shows it"
        )
    if len(open_ones) == 1:
        return f"sparsity leaves {pattern.listed(open_ones)} open: {parts[0]}."
    little = len(open_ones) > len(pattern.pinned) / 2
    begin = "sparsity does not help here: it leaves" if little else "sparsity leaves"
    return f"{begin} {pattern.listed(open_ones)} open: each has others on every variable that it acts on."
