r"""The laws of the latents in each domain, as a model learned them: :math:`p(z \mid u) = \prod_i p(z_i \mid u)`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from latentry.errors import DataError, nearest

__all__ = ["FAMILIES", "LatentDistributions"]

# what changes with u, in the order of nets.prior; "natural" has its own table of natural parameters
FAMILIES = ("gaussian", "variance", "mean", "laplace", "natural")


@dataclass(frozen=True, eq=False)
class LatentDistributions:
    r"""Location and scale (standard deviation) of each latent in each domain, and how well each was measured.

    For a continuous u a domain is one value of u, and its rows are its share of all rows.

    Args:
        location: Means, (domains, latents).
        scale: Standard deviations, (domains, latents), above 0.
        family: "gaussian" (mean and variance change), "variance", "mean", "laplace", or "natural".
        labels: A name for each domain; their numbers by default.
        rows: Rows each domain's law was learned from; None when the laws are exact.
        promise: True if the observation model is one the identifiability theorems cover; otherwise a sentence
            that says why they promise nothing.
        natural: For the family "natural" only, natural parameters (domains, latents, k).
        fisher: Covariance of the k sufficient statistics under each law, (domains, latents, k, k).

    >>> laws = LatentDistributions(np.zeros((3, 2)), np.array([[1, 1], [2, 1], [1, 3]]), "variance", rows=[100, 100, 80])
    >>> laws
    LatentDistributions(3 domains, 2 latents, variance)
    >>> LatentDistributions(np.zeros((3, 2)), np.zeros((3, 2)), "variance")
    Traceback (most recent call last):
    latentry.errors.DataError: scale of domain 0, latent 0 is 0.0: a standard deviation is finite and above 0.
    """

    location: np.ndarray
    scale: np.ndarray
    family: str
    labels: tuple[Any, ...] = ()
    rows: np.ndarray | None = None
    promise: bool | str = True
    natural: np.ndarray | None = None
    fisher: np.ndarray | None = None

    def __post_init__(self) -> None:
        if self.family not in FAMILIES:
            raise DataError(f"family = {self.family!r} is not known{nearest(str(self.family), FAMILIES)}")
        location, scale = (np.asarray(part, dtype=np.float64) for part in (self.location, self.scale))
        _check_table(location, scale)
        labels = tuple(self.labels) if _given(self.labels) else tuple(range(len(location)))
        self._keep(location=location, scale=scale, labels=labels)
        if len(labels) != len(location):
            raise DataError(f"{len(labels)} labels for {len(location)} domains: give one each.")
        if self.rows is not None:
            self._keep(rows=_checked_rows(self.rows, labels))
        self._check_natural()

    def _check_natural(self) -> None:
        if (self.family == "natural") != (self.natural is not None) or (self.natural is None) != (self.fisher is None):
            raise DataError('natural and fisher are given together, and for the family "natural" only.')
        if self.natural is None:
            return
        natural, fisher = (np.asarray(part, dtype=np.float64) for part in (self.natural, self.fisher))
        if natural.ndim != 3 or natural.shape[:2] != self.location.shape:
            raise DataError(
                f"natural has shape {natural.shape}: give (domains, latents, k) = {self.location.shape} + (k,)."
            )
        if fisher.shape != (*natural.shape, natural.shape[2]):
            raise DataError(f"fisher has shape {fisher.shape}: give (domains, latents, k, k).")
        if not (np.isfinite(natural).all() and np.isfinite(fisher).all()):
            raise DataError("natural and fisher must be finite.")
        self._keep(natural=natural, fisher=fisher)

    def _keep(self, **checked: Any) -> None:
        for name, value in checked.items():
            if isinstance(value, np.ndarray):
                value = value.view()
                value.flags.writeable = False
            object.__setattr__(self, name, value)

    @property
    def domains(self) -> int:
        """Number of domains."""
        return len(self.location)

    @property
    def latents(self) -> int:
        """Number of latents."""
        return self.location.shape[1]

    def take(self, domains: Any) -> LatentDistributions:
        """The laws of chosen domains."""
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


def _given(labels: Iterable[Any] | None) -> bool:
    return labels is not None and len(tuple(labels)) > 0


def _check_table(location: np.ndarray, scale: np.ndarray) -> None:
    if location.ndim != 2 or location.shape != scale.shape or 0 in location.shape:
        raise DataError(f"location {location.shape} and scale {scale.shape} must both be (domains, latents).")
    for name, table, fine in (
        ("location", location, np.isfinite(location)),
        ("scale", scale, np.isfinite(scale) & (scale > 0)),
    ):
        if not fine.all():
            domain, latent = np.argwhere(~fine)[0]
            rule = "a mean is finite" if name == "location" else "a standard deviation is finite and above 0"
            raise DataError(f"{name} of domain {domain}, latent {latent} is {table[domain, latent]}: {rule}.")


def _checked_rows(rows: Any, labels: tuple[Any, ...]) -> np.ndarray:
    counts = np.asarray(rows, dtype=np.float64)
    if counts.shape != (len(labels),):
        raise DataError(f"rows has shape {counts.shape}: give one count for each of the {len(labels)} domains.")
    if not (np.isfinite(counts) & (counts > 0)).all():
        bad = int(np.flatnonzero(~(np.isfinite(counts) & (counts > 0)))[0])
        raise DataError(f"domain {labels[bad]!r} has {counts[bad]:g} rows: a law is learned from at least 1.")
    return counts
