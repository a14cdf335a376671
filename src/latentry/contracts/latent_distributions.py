r"""The distributions of the latents in each domain, as a model learned them: :math:`p(z \mid u) = \prod_i p(z_i \mid u)`."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from latentry.errors import DataError, nearest

__all__ = ["FAMILIES", "LatentDistributions"]

# what changes with u, in the order of nets.prior; "natural" has its own table of natural parameters
FAMILIES = ("gaussian", "variance", "mean", "laplace", "natural")


@dataclass(frozen=True, eq=False)
class LatentDistributions:
    r"""Location and scale (standard deviation) of each latent in each domain, and how well each was measured.

    For a continuous u a domain is one value of u, and its rows are its fraction of all rows.

    Args:
        location: Means, (domains, latents).
        scale: Standard deviations, (domains, latents), above 0.
        family: "gaussian" (mean and variance change), "variance", "mean", "laplace", or "natural".
        labels: A name for each domain; their numbers by default.
        rows: Rows that each domain's distribution was learned from; None when the distributions are exact.
        promise: True if the observation model is one the identifiability theorems cover; otherwise a sentence
            that says why they promise nothing.
        natural: For the family "natural" only, natural parameters (domains, latents, k).
        fisher: Covariance of the k sufficient statistics in each domain, (domains, latents, k, k).

    >>> LatentDistributions(np.zeros((3, 2)), np.array([[1, 1], [2, 1], [1, 3]]), "variance", rows=[100, 100, 80])
    LatentDistributions(3 domains, 2 latents, variance)
    >>> LatentDistributions(np.zeros((3, 2)), np.zeros((3, 2)), "variance")
    Traceback (most recent call last):
    latentry.errors.DataError: scale=0.0 of domain 0, latent 0: no standard deviation. Give one that is finite and above 0.
    """

    location: np.ndarray
    scale: np.ndarray
    family: str
    labels: tuple[Hashable, ...] = ()
    rows: np.ndarray | None = None
    promise: bool | str = True
    natural: np.ndarray | None = None
    fisher: np.ndarray | None = None

    def __post_init__(self) -> None:
        if self.family not in FAMILIES:
            raise DataError(f"family={self.family!r}: not known{nearest(str(self.family), FAMILIES)}")
        location, scale = (np.asarray(part, dtype=np.float64) for part in (self.location, self.scale))
        _check_table(location, scale)
        labels = _named(self.labels, len(location))
        self._keep(location=location, scale=scale, labels=labels)
        if self.rows is not None:
            self._keep(rows=_checked_rows(self.rows, labels))
        self._check_natural()

    def _check_natural(self) -> None:
        if (self.family == "natural") != (self.natural is not None) or (self.natural is None) != (self.fisher is None):
            raise DataError(
                f'family={self.family!r}: natural and fisher are given together, and for the family "natural" only. '
                "Give both with it, and neither with another."
            )
        if self.natural is None:
            return
        natural, fisher = (np.asarray(part, dtype=np.float64) for part in (self.natural, self.fisher))
        if natural.ndim != 3 or natural.shape[:2] != self.location.shape:
            raise DataError(
                f"natural of shape {natural.shape}: not (domains, latents, k). Give {self.location.shape} + (k,)."
            )
        if fisher.shape != (*natural.shape, natural.shape[2]):
            raise DataError(
                f"fisher of shape {fisher.shape}: not (domains, latents, k, k). Give {(*natural.shape, natural.shape[2])}."
            )
        _check_finite("natural", natural)
        _check_finite("fisher", fisher)
        self._keep(natural=natural, fisher=fisher)

    def _keep(self, **checked: object) -> None:
        for name, value in checked.items():
            if isinstance(value, np.ndarray):
                value = value.view()
                value.flags.writeable = False
            object.__setattr__(self, name, value)

    @property
    def domains(self) -> int:
        """Return the number of domains."""
        return len(self.location)

    @property
    def latents(self) -> int:
        """Return the number of latents."""
        return int(self.location.shape[1])

    def take(self, domains: ArrayLike) -> LatentDistributions:
        """Return the distributions of chosen domains.

        Args:
            domains: Numbers of the domains, or a truth value for each.

        Returns:
            Their distributions, in the order of the numbers.
        """
        chosen = np.arange(self.domains)[np.asarray(domains)]

        def part(table: np.ndarray | None) -> np.ndarray | None:
            return None if table is None else table[chosen]

        return LatentDistributions(
            self.location[chosen],
            self.scale[chosen],
            self.family,
            tuple(self.labels[i] for i in chosen),
            part(self.rows),
            self.promise,
            part(self.natural),
            part(self.fisher),
        )

    def __repr__(self) -> str:
        return f"LatentDistributions({self.domains} domains, {self.latents} latents, {self.family})"


def _named(labels: Sequence[Hashable] | None, domains: int) -> tuple[Hashable, ...]:
    names = () if labels is None else tuple(labels)
    if names and len(names) != domains:
        raise DataError(f"labels={names!r}: {len(names)} labels for {domains} domains. Give one for each domain.")
    return names or tuple(range(domains))


def _check_table(location: np.ndarray, scale: np.ndarray) -> None:
    if location.ndim != 2 or location.shape != scale.shape or 0 in location.shape:
        raise DataError(
            f"location of shape {location.shape}, scale of shape {scale.shape}: not the same table. "
            "Give (domains, latents) for both."
        )
    _check_entries("location", location, np.isfinite(location), "no mean. Give one that is finite.")
    remedy = "no standard deviation. Give one that is finite and above 0."
    _check_entries("scale", scale, np.isfinite(scale) & (scale > 0), remedy)


def _check_entries(name: str, table: np.ndarray, fine: np.ndarray, remedy: str) -> None:
    if not fine.all():
        domain, latent = np.argwhere(~fine)[0]
        raise DataError(f"{name}={table[domain, latent]} of domain {domain}, latent {latent}: {remedy}")


def _check_finite(name: str, table: np.ndarray) -> None:
    bad = np.argwhere(~np.isfinite(table))
    if len(bad):
        domain, latent = bad[0][:2]
        raise DataError(
            f"{name}={table[tuple(bad[0])]} of domain {domain}, latent {latent}: not finite. Give finite numbers."
        )


def _checked_rows(rows: ArrayLike, labels: tuple[Hashable, ...]) -> np.ndarray:
    counts = np.asarray(rows, dtype=np.float64)
    if counts.shape != (len(labels),):
        raise DataError(
            f"rows of shape {counts.shape}: not one count per domain. Give one count for each of the {len(labels)} domains."
        )
    if not (np.isfinite(counts) & (counts > 0)).all():
        bad = int(np.flatnonzero(~(np.isfinite(counts) & (counts > 0)))[0])
        raise DataError(
            f"rows={counts[bad]:g} for domain {labels[bad]!r}: a distribution is learned from at least 1 row. "
            "Leave the domain out."
        )
    return counts
