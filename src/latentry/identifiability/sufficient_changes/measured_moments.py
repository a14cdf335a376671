r"""Means and variances of the latents in each domain, with the error of each: from a model's table or from rows."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from latentry.contracts import LatentDistributions
from latentry.data import Domain
from latentry.errors import DataError, DataWarning
from latentry.evidence import Assumption
from latentry.identifiability.assumptions import dependence, independent_rows
from latentry.identifiability.collapse import fraction_that_follows
from latentry.identifiability.metrics.matching import Columns, as_columns
from latentry.identifiability.rows_per_domain import LEAST_ROWS, groups_of, levelled
from latentry.streams import stream

__all__ = ["MeasuredMoments", "from_rows", "from_table", "natural_parameters"]


@dataclass(frozen=True, eq=False)
class MeasuredMoments:
    r"""What is known of :math:`\theta_u = (\mu_{u1} … \mu_{un}, \sigma^2_{u1} … \sigma^2_{un})` in each domain.

    ``noise[u]`` is the covariance that an estimate of :math:`\theta_u` from one row would have; from N rows it has
    1/N of it.
    """

    mean: np.ndarray  # (domains, n)
    variance: np.ndarray  # (domains, n)
    noise: np.ndarray  # (domains, 2n, 2n)
    rows: np.ndarray  # (domains,); where rows depend on each other, as many as would tell as much if they did not
    labels: tuple[object, ...]
    held_out: bool
    grouped: bool = False  # whether domains are groups of neighbouring values of a continuous u
    dependence: float = np.nan  # of two latents within domains: a root mean square correlation, noise taken off
    groups: tuple[np.ndarray, ...] = ()  # draws of the latents of each domain, where rows were given
    counts: np.ndarray = field(default_factory=lambda: np.zeros(0))  # independent rows of each of these
    assumed: tuple[Assumption, ...] = ()  # what was tested of the rows
    # fraction of each latent's variance within domains that follows x; None if not known
    follows: np.ndarray | None = None

    @property
    def domains(self) -> int:
        """Return the number of domains."""
        return len(self.mean)

    @property
    def latents(self) -> int:
        """Return the number of latents."""
        return int(self.mean.shape[1])


def from_table(table: LatentDistributions) -> MeasuredMoments:
    """Return a model's own table, with the errors that means and variances of Gaussian (or Laplace) rows have.

    Args:
        table: The distribution of each latent in each domain, and the rows behind it.

    Returns:
        Moments of the domains with enough rows.

    Raises:
        DataError: If the rows are not known, or fewer than 2 domains have enough of them.
    """
    if table.rows is None:
        raise DataError(
            "rows=None: the distributions do not say how many rows they were learned from. "
            "Give LatentDistributions(rows=...), or data."
        )
    _require_domains(table.domains)
    variance, size = table.scale**2, table.latents
    excess = 5.0 if table.family == "laplace" else 2.0  # variance of a squared deviation, in squared variances
    noise = np.zeros((table.domains, 2 * size, 2 * size))
    each = np.arange(size)
    noise[:, each, each] = variance
    noise[:, size + each, size + each] = excess * variance**2
    kept = _enough(table.rows, table.labels)
    labels = tuple(table.labels[i] for i in kept)
    return MeasuredMoments(table.location[kept], variance[kept], noise[kept], table.rows[kept], labels, held_out=False)


def from_rows(
    z: Columns,
    u: Domain | ArrayLike,
    *,
    scale: np.ndarray | None = None,
    units: np.ndarray | None = None,
    level: float = 0.05,
    seed: int = 0,
    table: np.ndarray | None = None,
) -> MeasuredMoments:
    """Estimate means and variances of latents in each domain, with errors from the rows, whatever their distribution.

    A continuous u is cut into groups of neighbouring values, which then count as domains; a mean that moves within a group is
    followed by a straight line, so that it does not look like spread.

    Args:
        z: Latents, (rows, latents).
        u: The domain of each row.
        scale: Posterior standard deviations of an encoder, (rows, latents).
        units: The number of each row's group or block of time, where rows of one depend on each other.
        level: Of the test of independent rows.
        seed: Of the groups of a continuous u, and of draws from posteriors.
        table: Numbers of the rows, in which copies are looked for; by default the latents.

    Returns:
        Moments of the domains with enough rows.

    Raises:
        DataError: If rows differ, fewer than 2 domains have enough of them, each domain is one unit, or a latent is constant
            or a copy.
    """
    latents, domain = as_columns("z", z), Domain.of(u)
    if len(latents) != len(domain):
        raise DataError(f"z has {len(latents)} rows and u has {len(domain)}. Give the same rows of both.")
    codes, labels = groups_of(domain, latents.shape[1], seed)
    if domain.labels is None:
        latents = levelled(latents, domain.values, codes)
    present = np.unique(codes)
    effective = np.array([_independent(latents[codes == code], _of(units, codes == code)) for code in present])
    _refuse_domains_as_groups(codes, units)
    enough = _enough(effective, tuple(labels[code] for code in present))
    kept, rows = present[enough], effective[enough]
    places = [codes == code for code in kept]
    parts = [_moments(latents[own], labels[code]) for code, own in zip(kept, places, strict=True)]
    mean, variance, noise = (np.array(part) for part in zip(*parts, strict=True))
    noisy = 0.0 if scale is None else scale * stream("identifiability/draws", seed).normal(size=scale.shape)
    groups = tuple((latents + noisy)[own] for own in places)
    inside = np.isin(codes, kept)
    follows = None if scale is None else fraction_that_follows(latents[inside], scale[inside], codes[inside])
    names = tuple(labels[code] for code in kept)
    return MeasuredMoments(
        mean,
        variance,
        noise,
        rows,
        names,
        held_out=True,
        grouped=domain.labels is None,
        dependence=dependence(groups, rows).size if latents.shape[1] > 1 else 0.0,
        groups=groups,
        counts=rows,
        assumed=independent_rows(
            [latents[inside]], codes[inside], units, level, None if table is None else table[inside]
        ),
        follows=follows,
    )


def natural_parameters(moments: MeasuredMoments, moving: np.ndarray, *, power: float) -> tuple[np.ndarray, np.ndarray]:
    r"""Compute natural parameters :math:`\mu/\sigma^2` of the latents in ``moving`` and :math:`\sigma^{-p}` of all.

    Constant factors are left out. The noise follows by the delta method.

    Args:
        moments: Of each domain.
        moving: Numbers of the latents whose means move.
        power: p, 2 for Gaussian latents and 1 for Laplace ones.

    Returns:
        Parameters (domains, p) and the covariance that they would have from one row, (domains, p, p).
    """
    size = moments.latents
    # a shift of z does not change the rank
    centre = moments.mean - np.average(moments.mean, axis=0, weights=moments.rows)
    first, second = centre[:, moving] / moments.variance[:, moving], moments.variance ** (-power / 2)
    jacobian = np.zeros((moments.domains, len(moving) + size, 2 * size))
    row = np.arange(len(moving))
    jacobian[:, row, moving] = 1 / moments.variance[:, moving]
    jacobian[:, row, size + moving] = -centre[:, moving] / moments.variance[:, moving] ** 2
    each = np.arange(size)
    jacobian[:, len(moving) + each, size + each] = -power / 2 * moments.variance ** (-power / 2 - 1)
    return np.column_stack([first, second]), jacobian @ moments.noise @ jacobian.transpose(0, 2, 1)


def _enough(rows: np.ndarray, labels: tuple[object, ...]) -> np.ndarray:
    counts = np.asarray(rows)
    few = np.flatnonzero(counts < LEAST_ROWS)
    if few.size:
        others = f", and {few.size - 1} more domains" if few.size > 1 else ""
        warnings.warn(
            f"domain {labels[few[0]]!r} has {counts[few[0]]:.0f} independent rows, fewer than {LEAST_ROWS}{others}: a "
            "distribution from so few says little and is left out.",
            DataWarning,
            stacklevel=4,
        )
    kept = np.flatnonzero(counts >= LEAST_ROWS)
    _require_domains(len(kept))
    return kept


def _refuse_domains_as_groups(codes: np.ndarray, units: np.ndarray | None) -> None:
    """Refuse groups that are the domains: what differs between domains then cannot be told from what differs between groups."""
    if units is None:
        return
    single = [len(np.unique(units[codes == code])) == 1 for code in np.unique(codes)]
    if all(single) and len(single) > 1:
        raise DataError(
            f"groups: each of the {len(single)} domains is a single group (or block of time), so that a change between domains "
            "cannot be told from chance between groups. Give groups within domains, or leave groups out if rows of a domain are "
            "independent of each other."
        )


def _require_domains(count: int) -> None:
    if count < 2:
        raise DataError(
            f"{count} domain{'s' * (count != 1)} with at least {LEAST_ROWS} rows: changes between domains need 2. "
            "Give more domains, or more rows of each."
        )


def _moments(z: np.ndarray, label: object) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    mean = z.mean(axis=0)
    away = z - mean
    variance = (away**2).sum(axis=0) / (len(z) - 1)
    if not (variance > 0).all():
        flat = int(np.flatnonzero(~(variance > 0))[0])
        raise DataError(
            f"latent {flat} is constant in domain {label!r}: it has no distribution to compare. "
            "Check collapse(model, data)."
        )
    few = next((i for i, column in enumerate(z.T) if len(np.unique(column)) < 5), None)
    if few is not None:
        raise DataError(
            f"latent {few} has fewer than 5 distinct values in domain {label!r}: it has no density to compare. "
            "Give continuous latents, or more rows."
        )
    copies = np.argwhere(np.triu(np.abs(np.atleast_2d(np.corrcoef(z.T))) > 1 - 1e-9, 1))
    if len(copies):
        i, j = copies[0]
        raise DataError(f"latents {i} and {j} are copies of each other in domain {label!r}. Fit fewer latents.")
    influence = np.column_stack([away, away**2 - variance])
    return mean, variance, influence.T @ influence / (len(z) - 1)


def _of(units: np.ndarray | None, own: np.ndarray) -> np.ndarray | None:
    return None if units is None else units[own]


def _independent(z: np.ndarray, units: np.ndarray | None) -> float:
    """Return how many independent rows would tell as much about means and variances: all of them, or fewer in units.

    The variance of a mean over rows that come in units is that of sums over units (Liang and Zeger 1986). With few units it is
    badly known, and each counts as one row.
    """
    if units is None:
        return float(len(z))
    codes = np.unique(units, return_inverse=True)[1]
    count = int(codes.max()) + 1
    if count < LEAST_ROWS:
        return float(count)
    away = z - z.mean(axis=0)
    away = np.column_stack([away, away**2 - (away**2).mean(axis=0)])
    sums = np.zeros((count, away.shape[1]))
    np.add.at(sums, codes, away)
    effect = (sums**2).sum(axis=0) / np.maximum((away**2).sum(axis=0), 1e-300) * count / (count - 1)
    return len(z) / max(1.0, float(effect.max()))
