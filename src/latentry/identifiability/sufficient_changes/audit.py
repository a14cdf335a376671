r"""Whether the latents' distributions change enough between domains to identify the latents."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from latentry.contracts import (
    HasChannel,
    HasLatentDistributions,
    KeepsFitRecord,
    LatentDistributions,
    names_of,
)
from latentry.data import Dataset, Domain, GaussianChannel, LabelsLike, numbers_of_rows
from latentry.errors import DataError, DataWarning
from latentry.evidence import Assumption, Verdict
from latentry.identifiability.assumptions import PART_OF_LEVEL, UNTESTABLE, tested_assumptions
from latentry.identifiability.metrics.matching import Columns, as_columns
from latentry.identifiability.sufficient_changes.conclusion import Candidate, Facts, conclude
from latentry.identifiability.sufficient_changes.measured_moments import (
    MeasuredMoments,
    from_rows,
    from_table,
    natural_parameters,
)
from latentry.identifiability.sufficient_changes.weakest_change import (
    Change,
    change_along,
    rank_of_changes,
    spectrum,
    weakest_change,
)
from latentry.streams import stream

__all__ = ["SufficientChanges", "sufficient_changes"]

_LATENTS = "(z, u)"  # the modality of latents that were given in place of rows
Source: TypeAlias = HasLatentDistributions | LatentDistributions
Rows: TypeAlias = Dataset | tuple[Columns, Domain | ArrayLike]


@dataclass(frozen=True, eq=False)
class SufficientChanges:
    """What the domains say about the latents.

    Args:
        verdict: supported (identifiable by a theorem whose assumptions were tested on rows and not refuted), refuted (the
            condition fails) or cannot say, with a sentence, its assumptions and what would change it; certified only for
            distributions that were given as known, without rows.
        identifiable: True, False, or None when it is open.
        proved_impossible: Whether no method at all can tell some latents apart, for distributions that were given as known;
            a fit proves nothing of the kind: another fit may find other latents.
        up_to: What stays undetermined.
        theorem: The statement of Khemakhem et al. (2020) that the answer rests on; empty if none.
        present, needed: Domains there are, and domains the theorem needs.
        rank, statistics: Rank of the matrix of changes at the stated level, and the rank it must have.
        condition: Ratio of the strongest to the weakest principal change.
        condition_interval: Of that ratio when the domains are drawn again with replacement, which leaves a third of them
            out (may be infinite).
        full_rank_share: Fraction of those draws that keep more domains than statistics and every principal change above
            the tolerance.
        weakest: The change in the weakest direction.
        without_one: The weakest change left when the most important domain is taken away, and its label.
        mean_changes, variance_changes: For each latent.
        unchanged: Latents whose distribution does not change.
        inseparable: Pairs of Gaussian latents whose variances keep one ratio in all domains.
        means_only: Whether means move and no variance does.
        dependence: Of two latents within domains: the largest root mean square correlation, up to degree 3, noise taken off;
            NaN without rows.
        tolerance, level: As given.
    """

    verdict: Verdict
    identifiable: bool | None
    proved_impossible: bool
    up_to: str
    theorem: str
    present: int
    needed: int
    rank: int
    statistics: int
    condition: float
    condition_interval: tuple[float, float]
    full_rank_share: float
    weakest: Change | None
    without_one: tuple[float, object]
    mean_changes: tuple[Change, ...]
    variance_changes: tuple[Change, ...]
    unchanged: tuple[int, ...]
    inseparable: tuple[tuple[int, int], ...]
    means_only: bool
    dependence: float
    tolerance: float
    level: float

    def to_json(self) -> dict[str, object]:
        """Return plain data for a JSON file; infinite and unknown numbers become None."""
        return {name: _plain(value) for name, value in vars(self).items()}

    def __str__(self) -> str:
        low, high = self.condition_interval
        spread = "" if np.isnan(low) else f" ({low:.3g}–{high:.3g} when domains are drawn again)"
        lines = [
            str(self.verdict),
            f"domains {self.present}, needed {self.needed}; rank {self.rank} of {self.statistics} at level {self.level:g}; "
            f"condition number {self.condition:.3g}{spread}",
        ]
        if self.weakest is not None:
            lines.append(
                f"weakest change {self.weakest.value:.3g} [{self.weakest.low:.3g}, {self.weakest.high:.3g}] standard errors "
                f"of one row, {self.tolerance:g} declared; {self.without_one[0]:.3g} without domain {self.without_one[1]!r}"
            )
        if not np.isnan(self.dependence):
            lines.append(
                f"largest dependence of two latents within domains (root mean square correlation): {self.dependence:.2f}"
            )
        lines += [f"  {one}" for one in self.verdict.assumptions]
        if self.verdict.change:
            lines.append(f"what would change it: {self.verdict.change}")
        return "\n".join(lines)


def sufficient_changes(
    model: Source,
    data: Rows | None = None,
    *,
    tolerance: float = 0.15,
    level: float = 0.05,
    bootstrap: int = 200,
    groups: LabelsLike | None = None,
    time: ArrayLike | None = None,
    seed: int = 0,
) -> SufficientChanges:
    r"""Audit the condition under which a domain variable identifies latents.

    Theorem 1 of Khemakhem et al. (*Variational autoencoders and nonlinear ICA*, 2020): latents with k sufficient statistics
    each are identified up to an invertible linear map of these if there are nk + 1 domains for which the matrix of
    differences of natural parameters :math:`L = (\lambda(u_1) - \lambda(u_0), …)` is invertible; with k ≥ 2 (means and
    variances: 2n + 1 domains) or a non-monotone statistic (variances alone: n + 1) up to order, scale and shift. The
    rank of L is the same for the truth and for every model that fits as well, so that it can be read off a fitted model.
    A measured matrix is never singular: the rank is decided against measurement noise, and the verdict rests on
    confidence limits for the weakest change (see :mod:`latentry.identifiability.sufficient_changes.weakest_change`).

    What the theorem takes for granted is tested on the rows: that they are independent, that latents are independent in each
    domain and of the model's family there, and that samples of the model look like rows of each domain. A refuted assumption
    leaves the answer open. That the rows were made so is not testable: other processes can make the same rows.

    Cost: one reading of the rows by the model, rows · latents² for the moments, and latents³ for each draw of the rank test.

    Args:
        model: A fitted model with ``latent_distributions()``, or LatentDistributions.
        data: Rows that the model was not fitted on, with their domain: a Dataset, or latents and domains as (z, u). Without
            them the model's own table is used. It can refute, not certify: it was fitted on the rows it is judged by, and
            a collapsed latent may have any distribution at all.
        tolerance: Smallest change that counts, in standard errors of one row: 0.15 is a mean that moves by 0.15 of its
            standard deviation, or a standard deviation that moves by a tenth. An imperfect fit feigns smaller changes.
        level: Probability of error of each limit.
        bootstrap: Draws of the domains, for the interval of the condition number; 0 for none.
        groups: A label for each row of (z, u), where rows of one group depend on each other; a Dataset brings its own.
        time: A moment for each row of (z, u), where rows that are near in time depend on each other; likewise.
        seed: Of these, and of samples and folds.

    Returns:
        Counts, ranks and changes, and a verdict on them.

    Raises:
        DataError: If the model has no distributions of its latents, rows and domains do not belong together, or latents
            are constant or copies of each other.

    >>> scale = np.array([[1, 1], [2, 1], [1, 3], [2, 2]])
    >>> print(sufficient_changes(LatentDistributions(0 * scale, scale, "variance", rows=[1000] * 4)).verdict)
    certified: distributions such as these identify latents up to order, scale and shift, as components ...
    >>> audit = sufficient_changes(LatentDistributions(scale[:, ::-1] ** 2, 1 + 0 * scale, "gaussian", rows=[1000] * 4))
    >>> audit.identifiable, audit.proved_impossible, audit.means_only
    (False, True, True)
    >>> audit.verdict.change
    'domains in which variances change, each by a factor of its own'
    """
    _check_settings(tolerance, level, bootstrap)
    try:
        return _audit(model, _with_units(data, groups, time), tolerance, level, bootstrap, seed)
    except np.linalg.LinAlgError:
        raise DataError(
            "data: the latents are degenerate: in some domain two of them are copies of each other, or have only a few "
            "distinct values. Check collapse(model, data), and fit fewer latents or longer."
        ) from None


def _audit(
    model: Source, data: Rows | None, tolerance: float, level: float, bootstrap: int, seed: int
) -> SufficientChanges:
    table = _distributions_of(model)
    measured = _measured(table, model, data, level, seed)
    if measured.latents != table.latents:
        raise DataError(
            f"data has {measured.latents} latents and the distributions {table.latents}. Give latents of this model."
        )
    facts = _facts(table, measured, tolerance, level, stated=measured.held_out or table is model)
    facts = replace(
        facts,
        given=table is model and data is None,
        assumed=_assumed(table, measured, model, data, level, seed),
        names=names_of(model, measured.latents),
    )
    values, noise, rows = facts.values, facts.noise, measured.rows
    condition, interval, full_rank = _conditions(values, noise, rows, tolerance, bootstrap, seed)
    return SufficientChanges(
        **conclude(facts)._asdict(),
        present=measured.domains,
        needed=facts.needed,
        rank=rank_of_changes(values, noise, rows, level, seed=seed),
        statistics=values.shape[1],
        condition=condition,
        condition_interval=interval,
        full_rank_share=full_rank,
        weakest=facts.weakest,
        without_one=_without_one(facts, measured, level),
        mean_changes=facts.mean_changes,
        variance_changes=facts.variance_changes,
        unchanged=facts.unchanged,
        inseparable=facts.inseparable,
        means_only=facts.means_only,
        dependence=measured.dependence,
        tolerance=tolerance,
        level=level,
    )


def _plain(value: object) -> object:
    if isinstance(value, Verdict):
        return value.to_json()
    if isinstance(value, Change):
        return {"value": value.value, "low": value.low, "high": value.high, "direction": value.direction.tolist()}
    if isinstance(value, (tuple, list)):
        return [_plain(part) for part in value]
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _with_units(data: Rows | None, groups: LabelsLike | None, time: ArrayLike | None) -> Rows | None:
    """Return rows as a Dataset where their dependence is said; latents of (z, u) then stand for themselves."""
    if groups is None and time is None:
        return data
    if data is None:
        raise DataError("groups, time: are of rows, and there are none. Give data too.")
    rows = data if isinstance(data, Dataset) else Dataset({_LATENTS: as_columns("z", data[0])}, data[1])
    return rows.with_groups(groups, time)


def _assumed(
    table: LatentDistributions, measured: MeasuredMoments, model: Source, data: Rows | None, level: float, seed: int
) -> tuple[Assumption, ...]:
    """Return what the theorem takes for granted: tested where rows allow it, else named."""
    if not measured.groups:
        return UNTESTABLE
    rows = None if isinstance(data, Dataset) and data.names == (_LATENTS,) else data
    tested = tested_assumptions(measured.groups, measured.counts, table.family, model, rows, level, seed)
    return (*measured.assumed, *tested)


def _measured(table: LatentDistributions, model: Source, data: Rows | None, level: float, seed: int) -> MeasuredMoments:
    if data is None:
        return from_table(table)
    z, u, scale = _latents_of(model, data)
    units = data.units if isinstance(data, Dataset) else None
    numbers = numbers_of_rows(data) if isinstance(data, Dataset) else None
    seen = from_rows(z, u, scale=scale, units=units, level=PART_OF_LEVEL * level, seed=seed, table=numbers)
    if table.family != "natural":
        return seen
    # Moments of rows do not give natural parameters beyond mean and variance: those are read off the table, which was
    # learned, so that the rows can refute but not certify.
    return replace(
        from_table(table),
        dependence=seen.dependence,
        follows=seen.follows,
        groups=seen.groups,
        counts=seen.counts,
        assumed=seen.assumed,
    )


def _check_settings(tolerance: float, level: float, bootstrap: int) -> None:
    if not (isinstance(tolerance, (int, float)) and 0 < tolerance < np.inf):
        raise DataError(f"tolerance={tolerance!r}: is no size. Give a number above 0, the smallest change that counts.")
    if not (isinstance(level, (int, float)) and 0 < level < 0.5):
        raise DataError(f"level={level!r}: is out of range. Give a probability between 0 and 0.5.")
    if not (isinstance(bootstrap, (int, np.integer)) and bootstrap >= 0):
        raise DataError(f"bootstrap={bootstrap!r}: is no number of draws. Give a whole number of at least 0.")


def _distributions_of(model: Source) -> LatentDistributions:
    if isinstance(model, LatentDistributions):
        return model
    if not isinstance(model, HasLatentDistributions):
        raise DataError(
            f"model={type(model).__name__}: has no distributions of its latents given a domain. Use a model with "
            "latent_distributions(), such as IFlow or IVAE, or pass LatentDistributions."
        )
    return model.latent_distributions()


def _latents_of(model: Source, data: Rows) -> tuple[Columns, Domain | ArrayLike, np.ndarray | None]:
    """Return latents of the rows, their domains, and the posterior standard deviations of an encoder."""
    if isinstance(data, tuple) and len(data) == 2:
        return *data, None
    if not isinstance(data, Dataset) or data.domain is None:
        raise DataError(
            f"data={type(data).__name__}: has no domain. Give a Dataset with a domain, or latents and their domains as (z, u)."
        )
    if data.names == (_LATENTS,):
        return np.asarray(data[_LATENTS]), data.domain, None
    if not isinstance(model, HasChannel):
        raise DataError(
            f"model={type(model).__name__}: cannot encode a Dataset. Give a fitted model, or latents and their domains as (z, u)."
        )
    record = model.fit_record() if isinstance(model, KeepsFitRecord) else None
    if record is not None and record.fingerprint == data.fingerprint:
        warnings.warn(
            "data: the model was fitted on these very rows, so that errors come out too small. Give held-out rows.",
            DataWarning,
            stacklevel=4,
        )
    channel = model.channel(data)
    if not isinstance(channel, GaussianChannel):
        raise DataError(
            f"model={type(model).__name__}: has latents that are categories. Give a model with a Gaussian channel."
        )
    return channel.mean, data.domain, channel.scale


def _facts(
    table: LatentDistributions, measured: MeasuredMoments, tolerance: float, level: float, *, stated: bool
) -> Facts:
    size = measured.latents
    power = 1.0 if table.family == "laplace" else 2.0
    means, variances = _each_change(measured, level / size)
    low, high = (
        np.flatnonzero([_moves(change, tolerance, cautious) for change in means]) for cautious in (False, True)
    )
    if table.family == "variance" and not measured.held_out:
        low = high = np.array([], dtype=int)
    pairs = _inseparable(measured, tolerance, level)
    facts = Facts(table, measured, means, variances, pairs, tolerance, level, stated)
    if table.family == "natural":
        return replace(facts, candidates=(_candidate(measured, *_general(table, measured), level),))
    choices = {tuple(moving): natural_parameters(measured, moving, power=power) for moving in (low, high)}
    return replace(facts, candidates=tuple(_candidate(measured, *choice, level) for choice in choices.values()))


def _general(table: LatentDistributions, measured: MeasuredMoments) -> tuple[np.ndarray, np.ndarray]:
    """Return natural parameters of any family, (domains, p), and the covariance they would have from one row of data."""
    kept = table.take([table.labels.index(label) for label in measured.labels])
    if kept.natural is None or kept.fisher is None:
        raise DataError(f"family={table.family!r}: has no natural parameters. Give natural and fisher.")
    domains, size, count = kept.natural.shape
    noise = np.zeros((domains, size * count, size * count))
    for latent in range(size):
        own = slice(latent * count, (latent + 1) * count)
        noise[:, own, own] = np.linalg.pinv(kept.fisher[:, latent], hermitian=True)
    return kept.natural.reshape(domains, -1), noise


def _moves(change: Change, tolerance: float, cautious: bool) -> bool:
    exceeds = change.exceeds(tolerance)
    return cautious if exceeds is None else exceeds


def _candidate(measured: MeasuredMoments, values: np.ndarray, noise: np.ndarray, level: float) -> Candidate:
    weakest = weakest_change(values, noise, measured.rows, level) if measured.domains > values.shape[1] else None
    return Candidate(values, noise, weakest)


def _each_change(measured: MeasuredMoments, level: float) -> tuple[tuple[Change, ...], tuple[Change, ...]]:
    """Return changes of each latent's mean (in its deviations) and of the logarithm of its variance."""
    size, rows = measured.latents, measured.rows
    own = np.diagonal(measured.noise, axis1=1, axis2=2)
    means = tuple(change_along(measured.mean[:, i], own[:, i], rows, level) for i in range(size))
    logs, spread = np.log(measured.variance), own[:, size:] / measured.variance**2
    return means, tuple(change_along(logs[:, i], spread[:, i], rows, level) for i in range(size))


def _inseparable(measured: MeasuredMoments, tolerance: float, level: float) -> tuple[tuple[int, int], ...]:
    """Return the pairs whose variances keep one ratio, at a level shared by all pairs."""
    size = measured.latents
    pairs = [(i, j) for i in range(size) for j in range(i + 1, size)]
    logs = np.log(measured.variance)
    noise = measured.noise[:, size:, size:] / (measured.variance[:, :, None] * measured.variance[:, None, :])
    constant = []
    for i, j in pairs:
        spread = noise[:, i, i] + noise[:, j, j] - 2 * noise[:, i, j]
        change = change_along(logs[:, i] - logs[:, j], spread, measured.rows, level / len(pairs))
        if change.exceeds(tolerance) is False:
            constant.append((i, j))
    return tuple(constant)


def _conditions(
    values: np.ndarray, noise: np.ndarray, rows: np.ndarray, tolerance: float, draws: int, seed: int
) -> tuple[float, tuple[float, float], float]:
    rng = stream("identifiability/domains", seed)
    all_of_them = _ratio(spectrum(values, noise, rows), len(rows))
    ratios, full = [], 0
    for _ in range(draws):
        chosen = rng.integers(len(rows), size=len(rows))
        changes = spectrum(values[chosen], noise[chosen], rows[chosen])
        ratios.append(_ratio(changes, len(np.unique(chosen))))
        full += bool(np.isfinite(ratios[-1]) and changes[-1] > tolerance)
    if not draws:
        return all_of_them, (np.nan, np.nan), np.nan
    low, high = np.quantile(ratios, [0.025, 0.975], method="inverted_cdf")  # no arithmetic with infinity
    return all_of_them, (float(low), float(high)), full / draws


def _ratio(changes: np.ndarray, domains: int) -> float:
    return float(changes[0] / changes[-1]) if domains > len(changes) and changes[-1] > 0 else np.inf


def _without_one(facts: Facts, measured: MeasuredMoments, level: float) -> tuple[float, object]:
    """Return the weakest change when the domain that matters most is taken away; 0 if every domain is needed."""
    weakest, values, noise, rows = facts.weakest, facts.values, facts.noise, measured.rows
    if weakest is None or len(rows) <= values.shape[1] + 1:
        return 0.0, measured.labels[0]
    left = []
    for out in range(len(rows)):
        keep = np.arange(len(rows)) != out
        start = weakest.direction[None]
        left.append(weakest_change(values[keep], noise[keep], rows[keep], level, starts=start).value)
    worst = int(np.argmin(left))
    return float(left[worst]), measured.labels[worst]
