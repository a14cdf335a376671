"""Is this latent natural: in every domain, in the pooled distribution, and under every mixture?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from latentry.errors import DataError
from latentry.evidence import Bound, Interval, Verdict, all_of, judge, maximum
from latentry.natural.distributions import as_channel, as_kernel, as_laws, as_weights, baseline_channels
from latentry.natural.mixtures import Family
from latentry.natural.report import Drift, Errors, Report, TheoremCheck, WorstCase
from latentry.natural.weight_regions import Region, simplex
from latentry.natural.worst_mixture import Supremum, worst_mediation, worst_redundancy

__all__ = ["check"]

Array = NDArray[np.float64]
# Sums of float64 logarithms over a table of probabilities are right to about this many nats.
_ROUNDING = 1e-12
_STATIONARY = 1e-7
# Verdicts are named by domain, or by one of these.
_RESERVED = ("pooled", "worst mixture")


def check(
    laws: ArrayLike,
    channel: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    epsilon: float | None = None,
    region: Region | None = None,
    names: Sequence[str] | None = None,
    observables: Sequence[str] | None = None,
    normalize: bool = False,
    tolerance: float = 1e-5,
) -> Report:
    """Compute the exact mediation and redundancy errors of a latent per domain, pooled and at the worst mixture.

    The example is the one that shows why pooled mediation says nothing about the domains: two bits that agree
    in one domain and disagree in the other. At equal weights a constant latent has error 0 and gradient 0,
    yet in each domain its mediation error is ln 2.

    Cost: domains · modalities passes over the cells |X_1| ⋯ |X_n| · |Λ|; the worst mixture multiplies them by the boxes of its
    search, which grow exponentially with the domains.

    >>> agree, differ = np.array([[0.5, 0], [0, 0.5]]), np.array([[0, 0.5], [0.5, 0]])
    >>> report = check([agree, differ], np.ones((2, 2, 1)), epsilon=0.1)
    >>> round(report.pooled.mediation.value, 6) == 0, report.stationary
    (True, True)
    >>> [round(d.mediation.value, 4) for d in report.domains]
    [0.6931, 0.6931]
    >>> report.verdicts["pooled"].status, report.verdicts["worst mixture"].status
    ('certified', 'refuted')

    Args:
        laws: (k, |X_1|, ..., |X_n|) probabilities per domain; one distribution without the first axis is one domain.
        channel: (|X_1|, ..., |X_n|, |Λ|), K(λ|x), the same in every domain.
        weights: Mixture weights α at which the pooled distribution is taken; uniform by default.
        epsilon: The largest error, in nats, that still counts as natural; gives verdicts.
        region: Mixtures for the worst case (`simplex`, `box`, `ball`); all of them by default.
        names: Of the domains.
        observables: Their names; X_1, X_2, ... by default.
        normalize: Scale counts to probabilities.
        tolerance: Of the worst mediation error, in nats.

    Returns:
        Errors of each domain, of the pool and of the worst mixture, baselines, drift, gradients and, with `epsilon`,
        verdicts.

    Raises:
        DataError: If a table, the channel, the weights, the region or a name does not fit, or `epsilon` is not
            positive.
    """
    if epsilon is not None and not epsilon > 0:
        raise DataError(f"epsilon={epsilon}: must be positive. It is the largest error that counts as natural.")
    family = _family(laws, channel, weights, region, normalize=normalize)
    k = family.domains
    alpha = as_weights(weights, k)
    area = simplex(k) if region is None else region
    if area.vertices.shape[1] != k:
        raise DataError(
            f"region={area.name!r}: is over {area.vertices.shape[1]} domains; there are {k}. Give vertices with {k} weights."
        )
    labels = _labels(names, "names", "domains", [f"domain {j}" for j in range(k)])
    views = _labels(observables, "observables", "observables", [f"X_{i + 1}" for i in range(family.observables)])
    corners = [_errors(family, corner) for corner in np.eye(k)]
    pooled, worst = _errors(family, alpha), _worst(family, area, tolerance)
    gradient, redundancy_gradients = _gradients(family, alpha)
    theorem = tuple(_theorem(family, alpha, j, corners[j], pooled) for j in range(k))
    stationary = _is_stationary(alpha, gradient)
    verdicts = {} if epsilon is None else _verdicts(labels, views, corners, pooled, worst, epsilon)
    return Report(
        names=labels,
        observables=views,
        weights=alpha,
        domains=tuple(corners),
        pooled=pooled,
        worst=worst,
        drift=_drift(family, alpha),
        baselines=_baselines(family, alpha, views),
        mediation_gradient=gradient,
        redundancy_gradients=redundancy_gradients,
        stationary=stationary,
        theorem=theorem,
        verdicts=verdicts,
        notes=tuple(_notes(labels, pooled, theorem, family, stationary=stationary)),
    )


def _family(
    laws: ArrayLike, channel: ArrayLike, weights: ArrayLike | None, region: Region | None, *, normalize: bool
) -> Family:
    kernel = as_kernel(channel)
    single = _is_one_law(laws, kernel, normalize=normalize)
    if single and (weights is not None or region is not None):
        raise DataError(
            "laws: one distribution was given, but weights or region ask for a mixture. Stack the domains on a first axis."
        )
    stacked = as_laws([laws] if single else laws, normalize=normalize)
    support = np.asarray((stacked > 0).any(axis=0))
    return Family(stacked, as_channel(kernel, support))


def _is_one_law(laws: ArrayLike, kernel: Array, *, normalize: bool) -> bool:
    """Whether laws is one distribution without the axis of domains; the channel's axes tell."""
    tables = list(laws) if isinstance(laws, list | tuple | np.ndarray) and np.ndim(laws[:1]) else []
    axes = 1 + np.ndim(tables[0]) if tables else 0
    if tables and kernel.ndim not in (axes, axes + 1):
        raise DataError(
            f"channel: has shape {kernel.shape}. It needs one axis per observable and a last one for the latent: "
            f"{axes} axes if the first axis of laws is the domain, {axes + 1} if laws is one distribution."
        )
    single = axes == kernel.ndim - 1
    sums = [float(np.sum(np.asarray(t, dtype=np.float64))) for t in tables] if single and not normalize else []
    if len(sums) > 1 and np.allclose(sums, 1.0, atol=1e-6):
        raise DataError(
            f"channel: has shape {kernel.shape}, so laws were read as one distribution of {axes} observables; they look like "
            f"{len(sums)} domains. For those, channel needs {axes} axes: {axes - 1} observables and the latent."
        )
    return single


def _exact(value: float | Array) -> Bound:
    return Bound(max(0.0, float(value)), method="finite distribution", tolerance=_ROUNDING)


def _signed(value: float | Array) -> Bound:
    return Bound(float(value), method="finite distribution", tolerance=_ROUNDING)


def _errors(family: Family, alpha: Array) -> Errors:
    n = family.observables

    def redundancy(kept: Sequence[int]) -> Bound:
        return _exact(family.redundancy(kept, alpha))

    weak = tuple(redundancy([i for i in range(n) if i != left_out]) for left_out in range(n))
    return Errors(
        mediation=_exact(family.mediation(alpha)),
        redundancy=tuple(redundancy([i]) for i in range(n)),
        weak=weak,
        deletion={m: maximum([redundancy(kept) for kept in family.keepers(m)]) for m in family.budgets},
        deterministic=tuple(_exact(family.guess([i]).value(alpha)) for i in range(n)),
        latent_entropy=_exact(family.surprise([family.latent]).value(alpha)),
    )


def _worst(family: Family, area: Region, tolerance: float) -> WorstCase:
    n = family.observables
    suprema = {kept: worst_redundancy(family, kept, area) for m in family.budgets for kept in family.keepers(m)}
    rest = [tuple(i for i in range(n) if i != left_out) for left_out in range(n)]
    return WorstCase(
        mediation=worst_mediation(family, area, tolerance=tolerance),
        redundancy=tuple(suprema[(i,)] for i in range(n)),
        weak=tuple(suprema[kept] for kept in rest),
        deletion={m: _largest([suprema[kept] for kept in family.keepers(m)]) for m in family.budgets},
        deterministic=tuple(worst_redundancy(family, [i], area, deterministic=True) for i in range(n)),
        region=area.name,
    )


def _largest(suprema: Sequence[Supremum]) -> Interval:
    return Interval(maximum([s.lower for s in suprema]), maximum([s.upper for s in suprema]))


def _drift(family: Family, alpha: Array) -> Drift:
    def gap(surprise_value: float | Array, corners: Array) -> float:
        return float(surprise_value - alpha @ corners)

    guesses = [family.guess([i]) for i in range(family.observables)]
    mechanism = gap(family.mechanism.value(alpha), family.mechanism.corners)
    emissions = sum(gap(e.value(alpha), e.corners) for e in family.emission)
    return Drift(
        guess=tuple(_exact(gap(g.value(alpha), g.corners)) for g in guesses),
        mechanism=_exact(mechanism),
        synergy=_signed(mechanism - emissions),
    )


def _baselines(family: Family, alpha: Array, views: Sequence[str]) -> dict[str, Errors]:
    channels = baseline_channels(family.laws.shape[1:], views)
    return {name: _errors(Family(family.laws, kernel), alpha) for name, kernel in channels.items()}


def _gradients(family: Family, alpha: Array) -> tuple[Array, Array]:
    redundancy_gradients = [family.redundancy_gradient([i], alpha) for i in range(family.observables)]
    return family.mediation_gradient(alpha), np.stack(redundancy_gradients)


def _is_stationary(alpha: Array, gradient: Array) -> bool:
    """Whether the mediation error has gradient zero along the simplex at an interior mixture."""
    return bool((alpha > 0).all() and np.ptp(gradient) <= _STATIONARY)


def _theorem(family: Family, alpha: Array, j: int, truth: Errors, pooled: Errors) -> TheoremCheck:
    n, weight = family.observables, float(alpha[j])
    redundancy_gradients = [float(family.redundancy_gradient([i], alpha)[j]) for i in range(n)]
    drift = _drift(family, alpha).guess
    without_drift = [max(0.0, e.value - d.value) for e, d in zip(pooled.redundancy, drift, strict=True)]
    return TheoremCheck(
        weight=weight,
        redundancy=truth.redundancy,
        redundancy_tangent=tuple(_ceiling(s, "tangent of the concave error") for s in redundancy_gradients),
        redundancy_refined=tuple(_ceiling(_ratio(e, weight), "(pooled − drift) / weight") for e in without_drift),
        redundancy_ratio=tuple(_ceiling(_ratio(e.value, weight), "pooled / weight") for e in pooled.redundancy),
        mediation=truth.mediation,
        mediation_ceiling=_ceiling(float(family.mediation_ceiling(alpha)[j]), "gradient + mechanism drift"),
        mediation_ratio=_ratio(pooled.mediation.value, weight),
    )


def _ceiling(value: float, method: str) -> Bound:
    return Bound(max(0.0, value) + _ROUNDING, "upper", method=method)


def _ratio(error: float, weight: float) -> float:
    return error / weight if weight > 0 else float("inf")


def _verdicts(
    names: Sequence[str],
    views: Sequence[str],
    corners: Sequence[Errors],
    pooled: Errors,
    worst: WorstCase,
    epsilon: float,
) -> Mapping[str, Verdict]:
    """One per domain; with several, also the pooled distribution and the worst mixture."""
    answers = {
        name: _verdict(name, views, [e.mediation], [[r] for r in e.redundancy], epsilon)
        for name, e in zip(names, corners, strict=True)
    }
    if len(names) > 1:
        middle = [[r] for r in pooled.redundancy]
        answers["pooled"] = _verdict("the pooled distribution", views, [pooled.mediation], middle, epsilon)
        ends = [[s.lower, s.upper] for s in worst.redundancy]
        sides = [worst.mediation.lower, worst.mediation.upper]
        answers["worst mixture"] = _verdict("the worst mixture", views, sides, ends, epsilon)
    return answers


def _verdict(
    where: str, views: Sequence[str], mediation: Sequence[Bound], redundancy: Sequence[Sequence[Bound]], epsilon: float
) -> Verdict:
    parts = [judge(f"mediation error in {where}", mediation, epsilon)]
    parts += [
        judge(f"redundancy error of {view} in {where}", bounds, epsilon)
        for view, bounds in zip(views, redundancy, strict=True)
    ]
    return all_of(parts, f"Λ is natural within {epsilon:g} nats in {where}")


def _labels(given: Sequence[str] | None, argument: str, what: str, default: list[str]) -> tuple[str, ...]:
    labels = tuple(default if given is None else given)
    if len(labels) != len(default):
        raise DataError(
            f"{argument}={list(labels)}: has {len(labels)} entries; there are {len(default)} {what}. Give one name for each."
        )
    reserved = _RESERVED if argument == "names" else ()
    taken = [label for label in labels if label in reserved or labels.count(label) > 1]
    if taken:
        raise DataError(f"{argument}: {taken[0]!r} is given twice or has another meaning in the report. Rename it.")
    return labels


def _notes(
    names: Sequence[str],
    pooled: Errors,
    theorem: Sequence[TheoremCheck],
    family: Family,
    *,
    stationary: bool,
) -> list[str]:
    notes = []
    failing = [(name, t) for name, t in zip(names, theorem, strict=True) if t.ratio_fails]
    if failing and family.domains > 1:
        name, worst = max(failing, key=lambda pair: pair[1].mediation.value)
        where = "although the gradient is zero here" if stationary else "(the gradient is not zero here)"
        notes.append(
            f"Pooled mediation does not bound the domains: in {name} the error is {worst.mediation.value:.4g} nats, "
            f"more than pooled/weight = {worst.mediation_ratio:.4g}, {where}. Trust the domains' own errors."
        )
    if pooled.latent_entropy.value < 0.01:
        notes.append("Λ is almost constant (H(Λ) < 0.01 nats): redundancy is then small whatever the data.")
    return notes
