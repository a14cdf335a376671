r"""Losses with a penalty on the mixing: few edges from latents to data, few latents that change with the domain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray, Shaped

from latentry.data import Batch
from latentry.models.cgvae.module import SparseModule
from latentry.models.domain_prior import (
    Conditional,
    IdentifiableFlow,
    Identify,
    Metrics,
    NegativeBound,
    negative_log_likelihood,
)
from latentry.models.networks import NegativeElbo
from latentry.nets import Flow, SigmoidalPrior, SparsityTerm, jacobians, strengths

__all__ = [
    "AnchoredManifold",
    "Penalties",
    "SparseBound",
    "SparseIdentify",
    "SparseLikelihood",
    "changes",
    "mixing_strengths",
]

_FLAT = 0.05  # deviation below which a variable counts as if it had this one: a dark pixel has no edges


@runtime_checkable
class Located(Protocol):
    """A prior whose location and scale in a domain are known."""

    @property
    def latents(self) -> int:
        """Return how many there are."""

    def at(self, u: Array) -> tuple[Float[Array, " latents"], Float[Array, " latents"]]:
        """Return location and log-scale of each latent in a domain."""


@dataclass(frozen=True)
class Penalties:
    """What is added to a loss.

    Args:
        sparse: Whether there is a sparsity term; its weight is the module's.
        mask: Weight of the changes of the latents' distributions with the domain.
        term: The sparsity term.
        rows: Rows of a batch on which it is computed.
    """

    sparse: bool = False
    mask: float = 0.0
    term: SparsityTerm = SparsityTerm()
    rows: int = 64

    def added(
        self,
        module: SparseModule,
        batch: Batch,
        key: PRNGKeyArray,
        loss: Float[Array, ""],
        parts: dict[str, Float[Array, ""]],
    ) -> Metrics:
        """Return the loss with its penalties, each noted among the metrics.

        Args:
            module: Of CGVAE.
            batch: Standardised rows.
            key: Of random numbers.
            loss: Without them.
            parts: Metrics so far.

        Returns:
            The loss, and metrics.
        """
        if self.sparse:
            parts = parts | {"sparsity": _sparsity(module, batch, key, self.term, self.rows)}
            loss = loss + module.weight * parts["sparsity"]
        if self.mask:
            parts = parts | {"change": changes(module.inner.prior, module.inner.seen[:_POINTS]).sum()}
            loss = loss + self.mask * parts["change"]
        return loss, parts


_POINTS = 200  # rows over whose domains changes are taken


@dataclass(frozen=True)
class SparseLikelihood:
    """Minus the exact log likelihood, and the penalties."""

    penalties: Penalties = Penalties()

    def __call__(self, module: SparseModule, batch: Batch, key: PRNGKeyArray) -> Metrics:
        """Return the mean over the rows of a batch."""
        loss, _ = negative_log_likelihood(module, batch, key)
        return self.penalties.added(module, batch, key, loss, {"likelihood": -loss})


@dataclass(frozen=True)
class AnchoredManifold:
    r"""The stage that finds coordinates, held near linear ones: added is :math:`\frac w2 \|c(x) - A x\|^2`.

    Coordinates are free up to any smooth map as long as no domain is looked at. These begin where a linear unmixing is good,
    and none of them is left unused.
    """

    manifold: NegativeElbo
    pull: float = 2.0
    anchored: bool = True

    def __call__(self, module: SparseModule, batch: Batch, key: PRNGKeyArray) -> Metrics:
        """Return the mean over the rows of a batch."""
        loss, parts = self.manifold(_networked(module), batch, key)
        if not self.anchored:
            return loss, parts
        assert module.anchor is not None
        apart = _networked(module).networks.encode(batch)[0] - _only(batch) @ module.anchor.T
        far = (batch.weight[:, None] * apart**2).sum() / batch.weight.sum()
        return loss + 0.5 * self.pull * far, parts | {"apart": far}


@dataclass(frozen=True)
class SparseIdentify:
    """The stage that identifies coordinates, with the penalties on what decodes them; the decoder stays as it is."""

    penalties: Penalties = Penalties()

    def __call__(self, module: SparseModule, batch: Batch, key: PRNGKeyArray) -> Metrics:
        """Return minus log p(c | u) at the posterior means, and the penalties."""
        loss, parts = Identify()(_networked(module), batch, key)
        return self.penalties.added(module, batch, key, loss, parts)


@dataclass(frozen=True)
class SparseBound:
    """Minus the evidence lower bound, and the penalties."""

    bound: NegativeBound = NegativeBound()
    penalties: Penalties = Penalties()

    def __call__(self, module: SparseModule, batch: Batch, key: PRNGKeyArray) -> Metrics:
        """Return the mean over the rows of a batch."""
        loss, parts = self.bound(_networked(module), batch, key)
        return self.penalties.added(module, batch, key, loss, parts)


def _networked(module: SparseModule) -> Conditional:
    assert isinstance(module.inner, Conditional)  # phases of an exact flow have other losses
    return module.inner


def _sparsity(module: SparseModule, batch: Batch, key: PRNGKeyArray, term: SparsityTerm, rows: int) -> Float[Array, ""]:
    latents, basis, decode, data_scale = _mixing(module.inner, batch, rows)
    scale = _deviation(latents, batch)
    if decode is None:
        return term.of(strengths(basis, scale, data_scale))
    return term(decode, jnp.zeros(basis.shape[:2]), scale, data_scale, key)


def mixing_strengths(module: SparseModule, batch: Batch) -> Float[Array, "rows observed latents"]:
    r"""Return :math:`|\partial x_i/\partial z_j|\,\sigma(z_j)/\sigma(x_i)` at each row.

    Args:
        module: A flow, or networks.
        batch: Standardised rows.

    Returns:
        (rows, observed, latents).
    """
    latents, basis, decode, data_scale = _mixing(module.inner, batch, len(batch.weight))
    jacobian = basis if decode is None else jacobians(decode, jnp.zeros(basis.shape[:2]))
    return strengths(jacobian, _deviation(latents, batch), data_scale)


def _only(batch: Batch) -> Array:
    """Return the values of the only modality, whatever its name."""
    values: Array = next(iter(batch.values.values()))
    return values


def _mixing(
    module: IdentifiableFlow | Conditional, batch: Batch, rows: int
) -> tuple[Array, Array, Callable[[Array], Array] | None, Array]:
    r"""Latents, :math:`\partial c/\partial z` at some rows, the decoder around those rows, and the data's deviations.

    With a flow between coordinates c and latents z the derivative along z follows from the inverse of the flow's
    Jacobian: no inverse map is computed. An exact flow has the data themselves as coordinates, and no decoder.
    """
    if isinstance(module, IdentifiableFlow):
        points = _only(batch)
        latents, _ = module.flow.forward_rows(points)
        return latents, _inverse(module.flow, points[:rows]), None, _deviation(points, batch)
    points, _ = module.coordinates(batch)
    latents = points if module.flow is None else module.flow.forward_rows(points)[0]
    near = points[:rows]
    if module.flow is None:
        basis = jnp.broadcast_to(jnp.eye(near.shape[1]), (*near.shape, near.shape[1]))
    else:
        basis = _inverse(module.flow, near)

    def decode(step: Array) -> Array:
        return _flat(module.networks.means(near + jnp.einsum("rij,rj->ri", basis, step)))

    known = {name: batch.cells.get(name, jnp.ones_like(part)) for name, part in batch.values.items()}
    return latents, basis, decode, _deviation(_flat(batch.values), batch, _FLAT, _flat(known) if batch.cells else None)


def _inverse(flow: Flow, points: Float[Array, "rows n"]) -> Float[Array, "rows n n"]:
    inverse: Array = jnp.linalg.inv(jacobians(lambda rows: flow.forward_rows(rows)[0], points))
    return inverse


def _flat(modalities: dict[str, Float[Array, "rows ..."]]) -> Float[Array, "rows entries"]:
    return jnp.concatenate([part.reshape(len(part), -1) for _, part in sorted(modalities.items())], axis=1)


def _deviation(
    values: Float[Array, "rows n"],
    batch: Batch,
    floor: float = 1e-12,
    known: Float[Array, "rows n"] | None = None,
) -> Float[Array, " n"]:
    fraction = (batch.weight / batch.weight.sum())[:, None]
    if known is not None:  # of the cells that were observed
        weight = batch.weight[:, None] * known
        fraction = weight / jnp.maximum(weight.sum(axis=0), 1e-9)
    centred = values - (fraction * values).sum(axis=0)
    return jnp.sqrt((fraction * centred**2).sum(axis=0) + floor**2)


def changes(prior: Located, points: Shaped[Array, "points ..."]) -> Float[Array, " latents"]:
    r"""Measure how far each latent's distribution moves with u, in its own units.

    The root of the mean over rows of

    .. math:: \Big(\frac{m_i(u) - \bar m_i}{\bar\sigma_i}\Big)^2 + (\log\sigma_i(u) - \overline{\log\sigma_i})^2

    (and of the parameters of its sigmoidal flow, where it has one). Its sum over latents is a group lasso: latents that
    gain little from moving are held still.

    Args:
        prior: Learned.
        points: Domains of some rows.

    Returns:
        One number a latent.
    """
    location, log_scale = (jnp.broadcast_to(part, (len(points), prior.latents)) for part in jax.vmap(prior.at)(points))
    level = log_scale.mean(axis=0)
    squares = ((location - location.mean(axis=0)) * jnp.exp(-level)) ** 2 + (log_scale - level) ** 2
    if isinstance(prior, SigmoidalPrior):
        shape = jax.vmap(prior.parameters)(points).reshape(len(points), prior.latents, -1)
        squares = squares + ((shape - shape.mean(axis=0)) ** 2).sum(axis=2)
    return jnp.sqrt(squares.mean(axis=0) + 1e-8)
