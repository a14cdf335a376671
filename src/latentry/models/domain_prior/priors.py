"""Priors that change with the domain: built, read as distributions, and drawn from in a chosen domain."""

from __future__ import annotations

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike

from latentry.contracts import FitRecord, LatentDistributions
from latentry.data import Dataset, Domain, DomainLike
from latentry.errors import DataError
from latentry.models.domain_prior.conditional import Conditional, Prior
from latentry.models.domain_prior.domains import DomainFacts
from latentry.models.domain_prior.exact_flow import IdentifiableFlow
from latentry.models.domain_prior.facts import DomainModelFacts
from latentry.models.domain_prior.known_targets import parents_table, targets_table
from latentry.models.domain_prior.settings import DomainPrior, FlowMap
from latentry.models.networks import Design
from latentry.nets import DISCRETE, ConditionalPrior, Flow, prior_for, sigmoidal_prior, targeted_prior

__all__ = ["Priors"]

_GRID = 200  # values of a continuous u at which distributions are read
_DISCRETE = (
    "the observations are discrete, and the published proof for them was withdrawn: the theorems promise nothing here"
)
_FREE_FORM = (
    "the latents' distributions are of free form, of which means and variances say only a part: nothing is promised"
)
_CAUSES = "the latents cause each other, which this theorem excludes; known targets are asked about by another one"


@dataclass(frozen=True, eq=False)
class Priors:
    """The prior of a model in each domain of its data.

    Args:
        family: What changes with the domain.
        settings: How it changes.
        record: Of the fit.
    """

    family: str
    settings: DomainPrior
    record: FitRecord

    @property
    def facts(self) -> DomainModelFacts:
        """Return what the fit noted of the data."""
        assert isinstance(self.record.facts, DomainModelFacts)
        return self.record.facts

    @property
    def domains(self) -> DomainFacts:
        """Return what the fit noted of the domains."""
        return self.facts.domains

    @property
    def labels(self) -> tuple[str | int, ...] | None:
        """Return the names of the domains; None for a continuous u."""
        return self.record.layout.domain_labels

    def prepared(self, data: Dataset) -> Dataset:
        """Return the data with a continuous u in units of its own spread.

        Args:
            data: Rows.

        Returns:
            Rows as the module sees them.
        """
        if data.domain is None or not data.domain.is_continuous:
            return data
        return data.with_domain(Domain(self.domains.standard(data.domain.values), None))

    # Building -------------------------------------------------------------------------------

    def build(self, latents: int, key: jax.Array) -> Prior:
        """Return the latents' distributions before training.

        Args:
            latents: How many.
            key: Of random numbers.

        Returns:
            An untrained module.
        """
        if self.settings.targets is not None:
            return targeted_prior(*self.known(latents), key)
        size, continuous = self.record.layout.domain_size, self.labels is None
        plain = prior_for(
            self.family,
            latents,
            domains=size,
            continuous=continuous,
            hidden=self.settings.hidden,
            key=key,
            table=self.settings.table is not False,
            statistics=self.settings.statistics,
            moving=self.settings.moving,
        )
        if not self.settings.free_form:
            return plain
        flow_key = jax.random.fold_in(key, 1)
        return sigmoidal_prior(plain, domains=size, continuous=continuous, hidden=self.settings.hidden, key=flow_key)

    def known(self, latents: int) -> tuple[np.ndarray, np.ndarray]:
        """Return which latents each domain changes, and which cause which, as they were given.

        Args:
            latents: How many.

        Returns:
            Truth values (domains, latents), and (latents, latents).
        """
        targets = targets_table(self.settings.targets or {}, self.labels or (), latents)
        return targets, parents_table(self.settings.parents, latents)

    def seen(self) -> jax.Array:
        """Return domains as they occurred, as the module holds them."""
        seen = self.domains.seen
        if self.labels is None and len(seen):
            return jnp.asarray(self.domains.standard(seen), jnp.float32)
        return jnp.asarray(seen, jnp.int32)

    def exact_flow(self, latents: int, flow: FlowMap, key: jax.Array) -> IdentifiableFlow:
        """Return an invertible map that begins as a rotation, with its prior.

        Args:
            latents: How many.
            flow: Its settings.
            key: Of random numbers.

        Returns:
            The module.
        """
        flow_key, prior_key = jax.random.split(key)
        map_ = Flow(latents, blocks=flow.blocks, components=flow.components, key=flow_key)
        return IdentifiableFlow(map_, self.build(latents, prior_key), self.seen(), self.record.layout.modalities[0])

    def conditional(
        self, design: Design, latents: int, *, flow: FlowMap | None, sight: str, draws: int, key: jax.Array
    ) -> Conditional:
        """Return networks with a prior, and a map between them if one is asked for.

        Args:
            design: Of the networks.
            latents: How many.
            flow: Settings of a map, or None.
            sight: What the posterior sees.
            draws: Of the bound that scores rows.
            key: Of random numbers.

        Returns:
            The module.
        """
        net_key, flow_key, prior_key = jax.random.split(key, 3)
        between = None if flow is None else Flow(latents, blocks=flow.blocks, components=flow.components, key=flow_key)
        return Conditional(
            networks=design.build(self.record.layout, self.facts.observations, latents, net_key),
            flow=between,
            prior=self.build(latents, prior_key),
            seen=self.seen(),
            draws=draws,
            sight=sight,
            labels=0 if self.labels is None else len(self.labels),
        )

    # Reading --------------------------------------------------------------------------------

    def distributions(self, prior: Prior, u: ArrayLike | None = None) -> LatentDistributions:
        """Return the distribution of each latent in each domain under a learned prior.

        Args:
            prior: Learned.
            u: For a continuous u, the values (rows) at which they are wanted; some of the training rows by default.

        Returns:
            Means, scales and rows of each domain.
        """
        points, names, rows = self._points(u)
        means, scales = (np.asarray(part, np.float64) for part in jax.vmap(prior.moments)(points))
        shape = (len(points), prior.latents)
        natural, fisher = None, None
        if isinstance(prior, ConditionalPrior) and prior.tilt is not None:
            natural, fisher = (np.asarray(part, np.float64) for part in jax.vmap(prior.natural)(points))
        return LatentDistributions(
            np.broadcast_to(means, shape),
            np.broadcast_to(scales, shape),
            self.family if natural is None else "natural",
            names,
            rows,
            promise=self.promise(),
            natural=natural,
            fisher=fisher,
        )

    def _points(self, u: ArrayLike | None) -> tuple[jax.Array, tuple[str | int, ...], np.ndarray]:
        if self.labels is not None:
            if u is not None:
                raise DataError(
                    "u is for models of a continuous u: this one has a distribution for each label. Leave it out."
                )
            return jnp.arange(len(self.labels)), tuple(self.labels), self.domains.rows
        few = int(np.clip(self.record.rows // 50, 2, _GRID))  # each stands for enough rows to be measured
        values = np.atleast_1d(np.asarray(self.domains.seen[:few] if u is None else u, dtype=np.float64))
        values = values.reshape(len(values), -1)
        size = self.record.layout.domain_size
        if values.shape[1] != size:
            raise DataError(f"u has {values.shape[1]} columns, but the model was fitted with {size}.")
        each = np.full(len(values), self.record.rows / len(values))
        return jnp.asarray(self.domains.standard(values), jnp.float32), (), each

    def promise(self) -> bool | str:
        """Return True if the theorems cover the observation model and the distributions, else why they do not."""
        if self.settings.free_form:
            return _FREE_FORM
        if self.settings.parents:
            return _CAUSES
        kinds = set(self.facts.observations.likelihoods.values())
        return _DISCRETE if kinds & DISCRETE else True

    def wanted(self, domain: DomainLike, n: int) -> jax.Array:
        """Return the domains of n rows to be drawn, as the module takes them: one for all, or one for each.

        Args:
            domain: Of all rows, or of each.
            n: How many.

        Returns:
            Codes, or standardised columns.

        Raises:
            DataError: If a domain is not one of the fit, or there are not as many as rows.
        """
        size = self.record.layout.domain_size
        if self.labels is None:
            return jnp.asarray(self.domains.standard(_points_wanted(domain, n, size)), jnp.float32)
        given = domain if isinstance(domain, Domain) else Domain.of(np.atleast_1d(np.asarray(domain)))
        codes = given.recode(self.labels, size).values
        if len(codes) not in (1, n):
            raise DataError(
                f"domain has {len(codes)} entries, but n = {n}: give one domain for all rows, or one for each."
            )
        return jnp.asarray(np.broadcast_to(codes, n), jnp.int32)


def _points_wanted(domain: DomainLike, n: int, columns: int) -> np.ndarray:
    """One point of a continuous u for each of n rows."""
    raw = domain.values if isinstance(domain, Domain) else domain
    try:
        points = np.asarray(raw, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"domain={domain!r}: the model was fitted with a continuous u. Give numbers.") from None
    points = points.reshape(-1, columns) if points.size == columns or (columns == 1 and points.ndim == 1) else points
    if points.ndim != 2 or points.shape[1] != columns or len(points) not in (1, n):
        raise DataError(
            f"domain has shape {points.shape}: the model was fitted with {columns} continuous columns; give one point for all "
            f"rows, or ({n}, {columns}) numbers."
        )
    if not np.isfinite(points).all():
        raise DataError(f"domain is NaN or infinite at row {int(np.argwhere(~np.isfinite(points))[0, 0])}.")
    return np.broadcast_to(points, (n, columns))
