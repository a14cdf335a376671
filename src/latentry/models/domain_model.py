"""What models of latents whose laws change with the domain have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import optax
from sklearn.utils.validation import check_is_fitted

from latentry.data import Batch, Dataset, Domain, LatentLaws
from latentry.errors import DataError, nearest
from latentry.models.base import LatentModel
from latentry.models.checks import check_hidden, whole_number
from latentry.models.conditional import Conditional, Identify, Manifold, NegativeBound, Shrunk, all_but_seen, only
from latentry.models.domains import check_domain, domain_facts
from latentry.models.networks import Design
from latentry.nets import FAMILIES, ConditionalPrior, Flow, prior_for
from latentry.training import Phase, scale_by_soap

__all__ = ["OPTIMISERS", "DomainModel"]

_SHARES = {"manifold": 0.25, "identify": 0.35, "joint": 0.4}  # of the epochs
OPTIMISERS = {"soap": scale_by_soap, "adam": optax.scale_by_adam}  # of flows
_LAWS = 0.1  # further epochs for the laws alone, after a shrunk fit
_GRID = 200  # values of a continuous u at which the laws are read
_DISCRETE = (
    "the observations are discrete, and the published proof for them was withdrawn: the theorems promise nothing here"
)


@dataclass(eq=False, repr=False)
class DomainModel(LatentModel):
    """Latents with a law in each domain; see IVAE and IFlow."""

    prior: str = "gaussian"
    statistics: int = 3
    moving: int | None = None
    shrink: float = 0.0
    prior_table: bool | None = None
    prior_hidden: Sequence[int] = field(default=(32, 32))
    blocks: int = 16
    components: int = 8
    optimiser: str = "soap"

    least_domains: ClassVar[int] = 2

    def domain_facts(self, data: Dataset) -> dict[str, Any]:
        """Check what concerns the domains, and note how often each occurs."""
        if self.prior not in FAMILIES:
            raise DataError(f"prior {self.prior!r} is not known{nearest(self.prior, FAMILIES)}")
        whole_number("statistics", self.statistics, least=3 if self.prior == "exponential" else 2)
        if isinstance(self.shrink, bool) or not isinstance(self.shrink, Real) or not 0 <= self.shrink < np.inf:
            raise DataError(f"shrink = {self.shrink!r}: give a weight of zero or more.")
        if self.moving is not None:
            self._check_moving(self.moving, data)
        for name in ("blocks", "components"):
            whole_number(name, getattr(self, name), least=1)
        check_hidden(self.prior_hidden)
        if self.optimiser not in OPTIMISERS:
            raise DataError(f"optimiser {self.optimiser!r} is not known{nearest(str(self.optimiser), OPTIMISERS)}")
        if self.prior_table and data.domain is not None and data.domain.is_continuous:
            raise DataError(
                "prior_table = True, but u is continuous: a table has one row for each label. Leave it out, so that a "
                "network in u is learned, or give u as labels."
            )
        check_domain(data, type(self).__name__)
        return domain_facts(data, self.seed)

    def _check_moving(self, moving: int, data: Dataset) -> None:
        whole_number("moving", moving, least=0)
        latents = data.layout.size if self.latent_dim is None else self.latent_dim
        family = FAMILIES[self.prior]
        if not family.moves:
            raise DataError(f"moving = {moving}, but under prior = {self.prior!r} no location moves: leave it out.")
        if family.tilts:
            raise DataError(f"moving = {moving}, but further statistics move every mean: leave it out, or use 'gaussian'.")
        if moving == 0 and not family.stretches:
            raise DataError("moving = 0 under prior = 'mean' leaves nothing that changes with u: give at least 1.")
        if moving > latents:
            raise DataError(f"moving = {moving}, but there are {latents} latents: give {latents} or fewer.")

    def prepared(self, data: Dataset) -> Dataset:
        """A continuous u in units of its own spread, so that years and volts are learned from equally well."""
        if data.domain is None or not data.domain.is_continuous:
            return data
        return data.with_domain(Domain(self._standard_u(data.domain.values), None))

    def _standard_u(self, u: np.ndarray) -> np.ndarray:
        return (u - np.asarray(self.facts_["domain_shift"])) / np.asarray(self.facts_["domain_scale"])

    def build_prior(self, latents: int, key: jax.Array) -> ConditionalPrior:
        """The latents' laws before training."""
        return prior_for(
            self.prior,
            latents,
            domains=self.layout_.domain_size,
            continuous=self.layout_.domain_labels is None,
            hidden=self.prior_hidden,
            key=key,
            table=self.prior_table is not False,
            statistics=self.statistics,
            moving=self.moving,
        )

    def seen(self) -> jax.Array:
        """Domains as they occurred."""
        seen = np.asarray(self.facts_["seen"])
        if self.layout_.domain_labels is None and len(seen):
            return jnp.asarray(self._standard_u(seen), jnp.float32)
        return jnp.asarray(seen, jnp.int32)

    def build_conditional(
        self, design: Design, latents: int, *, flow: bool, sight: str, draws: int, key: jax.Array
    ) -> Conditional:
        """Networks with a prior, and a flow between them if the fit is staged."""
        one, two, three = jax.random.split(key, 3)
        labels = self.layout_.domain_labels
        return Conditional(
            networks=design.build(self.layout_, self.facts_, latents, one),
            flow=Flow(latents, blocks=self.blocks, components=self.components, key=two) if flow else None,
            prior=self.build_prior(latents, three),
            seen=self.seen(),
            draws=draws,
            sight=sight,
            labels=0 if labels is None else len(labels),
        )

    def shrunk(self, loss: Any) -> Any:
        """The loss, with the weight that ``shrink`` asks for on the spread of the scales over domains."""
        return Shrunk(loss, float(self.shrink)) if self.shrink else loss

    def laws_phase(self, loss: Any, **rates: Any) -> tuple[Phase, ...]:
        """After a shrunk fit, the laws alone by the plain loss, so that they are those of the latents that were found."""
        if not self.shrink:
            return ()
        epochs = max(1, round(_LAWS * self.epochs))
        rate = 4 * self.learning_rate  # few, well-conditioned parameters
        return (Phase("laws", loss, epochs, rate, trainable=only("prior"), **rates),)

    def staged_phases(self, *, beta: float = 1.0, draws: int = 1, hide: float = 0.0) -> tuple[Phase, ...]:
        """Find the manifold without domains, identify its coordinates with them, then refine all together."""
        epochs = {name: max(1, round(share * self.epochs)) for name, share in _SHARES.items()}
        rates = {"schedule": self.schedule, "clip": self.clip, "patience": self.patience}
        slow, fast = self.learning_rate, 2.5 * self.learning_rate
        bound = NegativeBound(beta, draws, hide)
        return (
            Phase("manifold", Manifold(beta, hide), epochs["manifold"], slow, trainable=only("networks"), **rates),
            Phase(
                "identify",
                self.shrunk(Identify()),
                epochs["identify"],
                fast,
                direction=OPTIMISERS[self.optimiser],
                trainable=only("flow", "prior"),
                **rates,
            ),
            Phase("joint", self.shrunk(bound), epochs["joint"], slow, trainable=all_but_seen, **rates),
            *self.laws_phase(bound, **rates),
        )

    def latent_laws(self, u: Any = None) -> LatentLaws:
        """The law of each latent in each domain, as it was learned: what the identifiability audit reads.

        Args:
            u: For a continuous u, the values (rows) at which the laws are wanted; some of the training rows by default.
        """
        check_is_fitted(self)
        labels = self.layout_.domain_labels
        points, names, rows = self._points(u)
        prior: ConditionalPrior = self.module_.prior
        means, scales = (np.asarray(part, np.float64) for part in jax.vmap(prior.moments)(points))
        shape = (len(points), prior.latents)
        further = {}
        if prior.tilt is not None:
            natural, fisher = (np.asarray(part, np.float64) for part in jax.vmap(prior.natural)(points))
            further = {"natural": natural, "fisher": fisher}
        share = None if labels is not None else np.full(len(points), self.rows_ / len(points))
        return LatentLaws(
            np.broadcast_to(means, shape),
            np.broadcast_to(scales, shape),
            "natural" if further else self.prior,
            names,
            rows if share is None else share,
            promise=self.promise(),
            **further,
        )

    def _points(self, u: Any) -> tuple[jax.Array, tuple[Any, ...], np.ndarray | None]:
        labels = self.layout_.domain_labels
        if labels is None:
            few = int(np.clip(self.rows_ // 50, 2, _GRID))  # each stands for enough rows to be measured
            values = np.atleast_1d(np.asarray(self.facts_["seen"][:few] if u is None else u, dtype=np.float64))
            values = values.reshape(len(values), -1)
            if values.shape[1] != self.layout_.domain_size:
                raise DataError(
                    f"u has {values.shape[1]} columns, but the model was fitted with {self.layout_.domain_size}."
                )
            return jnp.asarray(self._standard_u(values), jnp.float32), (), None
        if u is not None:
            raise DataError("u is for models of a continuous u; this one has a law for each label, in the order of .labels.")
        return jnp.arange(len(labels)), tuple(labels), np.asarray(self.facts_["domain_rows"])

    def promise(self) -> bool | str:
        """Whether the observation model is one that the theorems cover."""
        kinds = set(self.facts_.get("likelihoods", {}).values())
        return _DISCRETE if kinds & {"bernoulli", "categorical", "poisson"} else True

    @staticmethod
    def posterior(module: Any, batch: Batch, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        """As the module says."""
        return module.posterior(batch, key)

    @staticmethod
    def evidence(module: Any, batch: Batch, key: jax.Array) -> jax.Array:
        """The log likelihood of each row given its domain, or a bound."""
        return module.evidence(batch, key)

    @staticmethod
    def generate(module: Any, key: jax.Array, count: int) -> dict[str, jax.Array]:
        """Domains as often as they were seen, latents from their priors, mapped to data."""
        one, two = jax.random.split(key)
        u = module.seen[jax.random.randint(one, (count,), 0, len(module.seen))]
        return module.generate_at(u, two)

    def sample(self, n: int = 1, u: Any = None, *, seed: int = 0) -> Any:
        """New rows, in the data's own units: an array, or a dictionary when there are several modalities.

        Args:
            n: How many.
            u: The domain of all of them, or of each; by default domains occur as often as they did in the data.
            seed: Of the draws.
        """
        if u is None:
            return super().sample(n, seed=seed)
        check_is_fitted(self)
        whole_number("n", n, least=1)
        whole_number("seed", seed, least=0)
        drawn = self.module_.generate_at(self._domains_wanted(u, n), jax.random.key(seed))
        return self._outward({name: np.asarray(array) for name, array in drawn.items()})

    def _domains_wanted(self, u: Any, n: int) -> jax.Array:
        labels, columns = self.layout_.domain_labels, self.layout_.domain_size
        if labels is None:
            return jnp.asarray(self._standard_u(_points_wanted(u, n, columns)), jnp.float32)
        wanted = u if isinstance(u, Domain) else Domain.of(np.atleast_1d(np.asarray(u)))
        codes = wanted.recode(labels, columns).values
        if len(codes) not in (1, n):
            raise DataError(f"u has {len(codes)} entries, but n = {n}: give one domain for all rows, or one for each.")
        return jnp.asarray(np.broadcast_to(codes, n), jnp.int32)

    def __sklearn_tags__(self) -> Any:
        """Fit needs the auxiliary variable."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _points_wanted(u: Any, n: int, columns: int) -> np.ndarray:
    """One point of a continuous u for each of n rows."""
    raw = u.values if isinstance(u, Domain) else u
    try:
        points = np.asarray(raw, dtype=np.float64)
    except (TypeError, ValueError):
        raise DataError(f"u = {u!r}: the model was fitted with a continuous u; give numbers.") from None
    points = points.reshape(-1, columns) if points.size == columns or (columns == 1 and points.ndim == 1) else points
    if points.ndim != 2 or points.shape[1] != columns or len(points) not in (1, n):
        raise DataError(
            f"u has shape {points.shape}: the model was fitted with {columns} continuous columns; give one point for all rows, "
            f"or ({n}, {columns}) numbers."
        )
    if not np.isfinite(points).all():
        raise DataError(f"u is NaN or infinite at row {int(np.argwhere(~np.isfinite(points))[0, 0])}.")
    return np.broadcast_to(points, (n, columns))
