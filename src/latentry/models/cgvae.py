"""Sufficient changes and sparse mixing together: latents from few domains."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from sklearn.utils.validation import check_is_fitted

from latentry.data import Batch, Dataset, MixingSupport
from latentry.errors import DataError, nearest
from latentry.models.checks import whole_number
from latentry.models.conditional import Conditional, Manifold, NegativeBound, only
from latentry.models.domain_model import OPTIMISERS, DomainModel
from latentry.models.domains import check_columns
from latentry.models.iflow import IdentifiableFlow
from latentry.models.linear_start import groups_of, linear_unmixings, on_standardised
from latentry.models.sparse import (
    AnchoredManifold,
    Penalties,
    SparseBound,
    SparseIdentify,
    SparseLikelihood,
    all_but_given,
    changes,
    mixing_strengths,
    weighted,
)
from latentry.models.vae import VAE
from latentry.nets import PENALTIES, Flow, SparsityTerm, penalty, sigmoidal_prior
from latentry.training import Phase, map_rows

__all__ = ["CGVAE"]

ESTIMATIONS = ("auto", "staged", "elbo")
STARTS = ("linear", "random")
_SHARES = {"manifold": 0.25, "identify": 0.35, "joint": 0.4}  # of the epochs
_MOVES = 0.15  # change of a law above which its latent is said to change with the domain
_LOOK = 2000  # rows at which the mixing is read
_START, _STARTS = 20_000, 3  # rows from which linear unmixings are found, and how many are begun with
_LIGHT = 0.02  # largest weight of an edge in that search: what a bent map bears, a linear one may not
_LARGEST = 50  # latents above which the search for them would take minutes


@dataclass(eq=False, repr=False)
class CGVAE(DomainModel, VAE):
    r"""Latents from few domains: laws that change with the domain, and a mixing in which each variable needs few latents.

    The loss is minus the log likelihood (or its lower bound) plus
    :math:`\lambda\sum_{ij} \mathbb E\,|\partial x_i/\partial z_j|\,\sigma(z_j)/\sigma(x_i)`, an L1 penalty on the mixing
    that does not depend on units. With changes alone n latents need 2n + 1 domains; where the mixing is structurally
    sparse, two may do (Li et al., *Synergy between sufficient changes and sparse mixing procedure for disentangled
    representation learning*, 2025; Zheng, Ng and Zhang, 2022). ``latentry.identifiability.sparsity(model)`` says for
    which latents the condition holds in the recovered mixing.

    An L1 penalty alone also shrinks the edges that are there, and so prefers mixings unlike the true one that have
    smaller ones; at the end of the fit edges are therefore counted (see ``relax``). Both have many local minima: on a table
    restarts begin in turn at the best few sparse linear unmixings of the columns' ranks (an exact fit also at a rotation).

    As many latents as columns of one table, without noise: exact maximum likelihood of an invertible map. Otherwise the
    fit is staged as in :class:`IVAE`, with the penalty on the decoder, or follows the bound from the start
    (``estimation="elbo"``).

    What it cannot do: a dense mixing is not made sparse. A penalty on it chooses one explanation of many, sparser
    than the truth; so it does for a latent that the true pattern leaves together with another.

    Args:
        sparsity: Weight λ of the penalty, in nats a row for each unit of strength, or for each edge.
            ``models.choose_sparsity`` compares weights on rows set aside.
        penalty: "l1"; "l2" (no sparsity, for comparison); "capped" (counts strengths above ``threshold``).
        relax: Share of the epochs, at the end, in which an "l1" penalty becomes a "capped" one: how many edges there are,
            no longer how strong they are. Of a staged fit, of the stage that identifies; its joint stage counts throughout.
        threshold: Strength from which an edge counts whole under "capped".
        derivative: "exact", "random" (a few axes a row, for images) or "differences"; see ``nets.SparsityTerm``.
        directions: Axes drawn for each row under the latter two, or worked on at once under "exact".
        penalty_rows: Rows of each batch on which the penalty is computed.
        mask: Weight of a group lasso on how far each latent's law changes with the domain: latents that need not change
            are held still, and ``changing_`` says which do.
        prior_flow: Free-form laws: a conditional deep sigmoidal flow for each latent on top of ``prior``.
        start: "linear", as above, or "random": rotations, as :class:`IFlow` begins.
        noisy: Whether a square table holds observation noise besides the latents; then the fit is staged.
        estimation: "auto" (exact where possible, staged otherwise), "staged", or "elbo".

    For the other arguments see :class:`IFlow`, :class:`VAE` and :class:`LatentModel`; ``latent_dim=None`` takes as many
    latents as columns.

    >>> from latentry.generators import sparse_mixing
    >>> data = sparse_mixing(latents=3, rows_per_domain=100)
    >>> model = CGVAE(epochs=2, blocks=1, components=2, restarts=1).fit(data)
    >>> model.transform(data).shape, model.mixing(data).shape
    ((200, 3), (3, 3))
    """

    latent_dim: Any = None
    epochs: int = 150
    batch_size: int = 256
    learning_rate: float = 5e-3
    patience: int | None = None  # an early end would cut the cooling short, in which sparse maps are found
    restarts: int = 4
    blocks: int = 6
    sparsity: float = 0.02
    penalty: str = "l1"
    relax: float = 0.5
    threshold: float = 0.1
    derivative: str = "exact"
    directions: int | None = None
    penalty_rows: int = 64
    mask: float = 0.0
    prior_flow: bool = False
    start: str = "linear"
    noisy: bool = False
    estimation: str = "auto"
    hidden: Sequence[int] = field(default=(128, 128))

    name: ClassVar[str] = "cgvae"
    takes_latents_from_data: ClassVar[bool] = True

    @property
    def score_name(self) -> str:
        """What the score is."""
        exact = isinstance(self.module_, IdentifiableFlow) if hasattr(self, "module_") else not self.noisy
        return "log likelihood" if exact else "evidence lower bound (one draw per row)"

    def learn_facts(self, data: Dataset) -> dict[str, Any]:
        """Likelihoods and domains, and whether the likelihood is exact."""
        self._check_sparsity()
        facts = super().learn_facts(data) | self.domain_facts(data)
        table = data.names == ("x",) and len(data.layout.shape("x")) == 1
        if self.latent_dim is None and not table:
            raise DataError("latent_dim = None takes a latent for each column of one table: for these data give a number.")
        square = self.latent_dim is None or self.latent_dim == data.layout.size
        gaussian = set(facts["likelihoods"].values()) == {"gaussian"}
        facts["exact"] = self.estimation == "auto" and table and square and gaussian and not self.noisy
        if facts["exact"]:
            check_columns(data, "x")
        linear = self.start == "linear" and self.estimation != "elbo" and table and gaussian and data.domain is not None
        facts["starts"] = self._starts(data, exact=facts["exact"]) if linear else []
        return facts

    def _starts(self, data: Dataset, *, exact: bool) -> list[list[list[float]]]:
        """Linear unmixings of all rows given; with holes, constant columns, few rows or very many latents there are none."""
        some = np.sort(np.random.default_rng(self.seed).permutation(len(data))[:_START])
        values, groups = np.asarray(data.take(some)["x"], np.float64), groups_of(data.domain)[some]
        latents = data.layout.size if self.latent_dim is None else self.latent_dim
        usable = data.observed["x"].all() and np.isfinite(values.std(axis=0)).all() and (values.std(axis=0) > 0).all()
        if not usable or len(np.unique(groups)) < 2 or not latents <= min(data.layout.size, _LARGEST) < len(values):
            return []
        weight = min(float(self.sparsity), _LIGHT)
        found = linear_unmixings(values, groups, weight=weight, most=_STARTS, seed=self.seed, latents=latents)
        return (found if exact else on_standardised(found, values)).tolist()

    def _check_sparsity(self) -> None:
        if self.shrink:
            raise DataError(f"shrink = {self.shrink!r} is for IFlow and IVAE: leave it at 0, and set sparsity or mask.")
        if self.prior_flow and self.moving is not None:
            raise DataError(f"moving = {self.moving!r}, but laws of free form move every mean: leave it out.")
        if isinstance(self.threshold, numbers.Real) and self.threshold == 0:
            raise DataError("threshold = 0: give the strength, above 0, from which an edge counts whole.")
        for name in ("sparsity", "mask", "threshold"):
            value = getattr(self, name)
            if not isinstance(value, numbers.Real) or isinstance(value, bool) or not 0 <= float(value) < np.inf:
                raise DataError(f"{name} = {value!r}: give a finite number of at least 0.")
        for name, known in (("estimation", ESTIMATIONS), ("start", STARTS), ("penalty", PENALTIES)):
            if (value := getattr(self, name)) not in known:
                raise DataError(f"{name} = {value!r} is not known{nearest(str(value), known)}")
        if not isinstance(self.relax, numbers.Real) or isinstance(self.relax, bool) or not 0 <= float(self.relax) <= 1:
            raise DataError(f"relax = {self.relax!r}: give a share of the epochs, from 0 to 1.")
        whole_number("penalty_rows", self.penalty_rows, least=1)
        if self.directions is not None:
            whole_number("directions", self.directions, least=1)
        self._term()

    def _term(self) -> SparsityTerm:
        return SparsityTerm(self.penalty, self.threshold, self.derivative, self.directions)

    def _latents(self) -> int:
        return self.layout_.size if self.latent_dim is None else self.latent_dim

    def build_prior(self, latents: int, key: jax.Array) -> Any:
        """The latents' laws before training, with sigmoidal flows if they are asked for."""
        plain = super().build_prior(latents, key)
        if not self.prior_flow:
            return plain
        return sigmoidal_prior(
            plain,
            domains=self.layout_.domain_size,
            continuous=self.layout_.domain_labels is None,
            hidden=self.prior_hidden,
            key=jax.random.fold_in(key, 1),
        )

    def build(self, key: jax.Array) -> IdentifiableFlow | Conditional:
        """An invertible map, or networks with a map between them."""
        if self.facts_["exact"]:
            one, two = jax.random.split(key)
            flow = Flow(self._latents(), blocks=self.blocks, components=self.components, key=one)
            plain: Any = IdentifiableFlow(flow, self.build_prior(self._latents(), two), self.seen())
            return weighted(plain, self.sparsity)
        staged = self.estimation != "elbo"
        plain = self.build_conditional(self.design(), self._latents(), flow=staged, sight="data", draws=1, key=key)
        starts = self.facts_.get("starts", ())
        return weighted(plain, self.sparsity, np.zeros_like(starts[0]) if len(starts) else None)

    def begun(self, module: Any, restart: int) -> Any:
        """Restarts begin at linear unmixings in turn, counted from the seed; an exact fit ends with a rotation."""
        starts = self.facts_.get("starts", ())
        if module.flow is None or len(starts) == 0:
            return module
        exact = self.facts_["exact"]
        turn = (self.seed + restart) % (len(starts) + exact)
        chosen = jnp.asarray(starts[turn], jnp.float32) if turn < len(starts) else module.flow.last.weight
        last = chosen if exact else jnp.eye(len(chosen))
        module = eqx.tree_at(lambda tree: tree.flow, module, module.flow.straightened(last))
        return module if exact else eqx.tree_at(lambda tree: tree.anchor, module, chosen)

    def phases(self) -> tuple[Phase, ...]:
        """First sizes of edges are penalised, then their number; a staged fit looks for the manifold before."""
        rates = {"schedule": self.schedule, "clip": self.clip, "patience": self.patience}
        fast = {"direction": OPTIMISERS[self.optimiser], **rates}
        if self.facts_["exact"]:
            return self._relaxed("fit", SparseLikelihood, self.epochs, self.learning_rate, all_but_given, fast)
        hide = self.modality_dropout if len(self.layout_.shapes) > 1 else 0.0
        slow, bound = 0.4 * self.learning_rate, partial(SparseBound, NegativeBound(self.beta, 1, hide))
        if self.estimation == "elbo":
            return self._relaxed("fit", bound, self.epochs, slow, all_but_given, rates)
        epochs = {name: max(1, round(share * self.epochs)) for name, share in _SHARES.items()}
        manifold: Any = Manifold(self.beta, hide)
        manifold = AnchoredManifold(manifold) if self.facts_.get("starts") else manifold
        return (
            Phase("manifold", manifold, epochs["manifold"], slow, trainable=only("networks"), **rates),
            *self._relaxed(
                "identify", SparseIdentify, epochs["identify"], self.learning_rate, only("flow", "prior"), fast
            ),
            *self._relaxed("joint", bound, epochs["joint"], slow, all_but_given, rates, begun=True),
        )

    def _relaxed(
        self, name: str, loss: Any, epochs: int, rate: float, trainable: Any, rates: dict[str, Any], *, begun: bool = False
    ) -> tuple[Phase, ...]:
        """A phase with the chosen penalty and one that counts edges; ``begun`` ones go on counting."""
        counts = replace(self._term(), kind="capped")
        share = 1.0 if begun and self.relax else float(self.relax)
        counted = round(share * epochs) if self.sparsity and self.penalty == "l1" else 0
        parts = ((name, self._term(), epochs - counted), (f"{name}, counted", counts, counted))
        return tuple(
            Phase(title, loss(self._penalties(term)), length, rate, trainable=trainable, **rates)
            for title, term, length in parts
            if length
        )

    def _penalties(self, term: SparsityTerm) -> Penalties:
        return Penalties(self.sparsity > 0, float(self.mask), term, self.penalty_rows)

    def promise(self) -> bool | str:
        """Whether the laws and the observation model are ones that the theorems of changes cover."""
        if self.prior_flow:
            return "the latents' laws are of free form, of which means and variances say only a part: nothing is promised"
        return super().promise()

    @property
    def changing_(self) -> np.ndarray:
        """For each latent, whether its learned law changes with the domain by more than a seventh of its deviation."""
        check_is_fitted(self)
        return np.asarray(changes(self.module_.prior, self.module_.seen)) > _MOVES

    def penalised_rows(self, X: Dataset) -> np.ndarray:
        """For 2000 rows of a Dataset at most: minus the score, and λ times the kind of penalty with which the fit ended."""
        ended: Any = self.phases()[-1].loss
        some = X.take(_some(len(X)))
        return self.sparsity * self._penalties_of(some, ended.penalties.term.kind) - self.score_rows(some)

    def edge_count(self, X: Any) -> float:
        """Edges at a row, on average over rows; one weaker than ``threshold`` counts in part."""
        return float(self._penalties_of(X, "capped").mean())

    def _penalties_of(self, X: Any, kind: str) -> np.ndarray:
        one = lambda strength: penalty(strength[None], kind, self.threshold)  # noqa: E731
        return np.asarray(jax.vmap(one)(jnp.asarray(self._strengths(X))), dtype=np.float64)

    def mixing(self, X: Any) -> np.ndarray:
        r"""Mean over rows of :math:`|\partial x_i/\partial z_j|\,\sigma(z_j)/\sigma(x_i)`, (observed, latents).

        It is read at 2000 of the rows at most; several modalities come in the order of their names.
        """
        return self._strengths(X).astype(np.float64).mean(axis=0)

    def _strengths(self, X: Any) -> np.ndarray:
        data = self._ready(X, None)
        return map_rows(_strengths, self.module_, data.take(_some(len(data))))

    def support(self, X: Any, *, edge: float = 0.1) -> MixingSupport:
        """Which variable depends on which latent: strengths above ``edge``, a hundredth of the variance by default."""
        if not 0 < edge < 1:
            raise DataError(f"edge = {edge!r}: give a strength between 0 and 1.")
        return MixingSupport(self.mixing(X) > edge)

    @staticmethod
    def rebuild(module: Any, batch: Batch, key: jax.Array) -> dict[str, jax.Array]:
        """Expected values of every modality; an exact map loses nothing."""
        return {"x": batch.values["x"]} if isinstance(module, IdentifiableFlow) else module.reconstruction(batch)


def _some(rows: int) -> np.ndarray:
    return np.sort(np.random.default_rng(0).permutation(rows)[:_LOOK])


def _strengths(module: Any, batch: Batch, key: jax.Array) -> jax.Array:
    return mixing_strengths(module, batch)
