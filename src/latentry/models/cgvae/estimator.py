"""Sufficient changes and sparse mixing together: latents from few domains."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import ClassVar, final

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from latentry.contracts import (
    DecodesLatents,
    HasLatentDistributions,
    HasLikelihood,
    Imputes,
    LatentDistributions,
    MixingSupport,
    ModelFacts,
    PenalisesMixing,
    SamplesByDomain,
)
from latentry.data import Batch, DataLike, Dataset, DomainLike
from latentry.errors import DataError
from latentry.models.cgvae.linear_start import groups_of, linear_unmixings, on_standardised
from latentry.models.cgvae.losses import (
    AnchoredManifold,
    Penalties,
    SparseBound,
    SparseIdentify,
    SparseLikelihood,
    changes,
    mixing_strengths,
)
from latentry.models.cgvae.module import SparseModule, all_but_given, weighted
from latentry.models.cgvae.settings import MixingPenalty
from latentry.models.domain_prior import (
    PRIOR_RULES,
    STAGES,
    DomainModelFacts,
    DomainPrior,
    FlowMap,
    NegativeBound,
    Priors,
    check_columns,
    domains_of,
    drawn_by_domain,
    only,
)
from latentry.models.estimator import (
    COMMON,
    EVIDENCE_BOUND,
    HIDDEN_LAYERS,
    Choice,
    Group,
    LatentModel,
    Rates,
    Real,
    Rule,
    Training,
    Values,
    Whole,
    auxiliary,
    decoded,
    imputed,
    mean_score,
    ready,
    reconstructed,
    refuse,
    refuse_beta,
    scores,
)
from latentry.models.networks import Design, NegativeElbo, Networks, observe
from latentry.nets import Build, SparsityTerm, penalty
from latentry.training import Loss, Module, Phase, map_rows

__all__ = ["CGVAE"]

_EXACT = "CGVAE with an exact likelihood (as many latents as columns)"

_MOVES = 0.15  # change of a distribution above which its latent is said to change with the domain
_LOOK = 2000  # rows at which the mixing is read
_START, _STARTS = 20_000, 3  # rows from which linear unmixings are estimated, and how many are begun with
_LIGHT = 0.02  # largest weight of an edge in that search: what a bent map bears, a linear one may not
_GENTLE = 0.4  # of the learning rate, without the penalty at the end
_LARGEST = 50  # latents above which the search for them would take minutes


@final
@dataclass(eq=False, repr=False)
class CGVAE(
    LatentModel[SparseModule, DomainModelFacts],
    HasLikelihood,
    HasLatentDistributions,
    PenalisesMixing,
    SamplesByDomain,
    Imputes,
    DecodesLatents,
):
    r"""Latents from few domains: distributions that change with the domain, and a mixing in which each variable needs few latents.

    The loss is minus the log likelihood (or its lower bound) plus
    :math:`\lambda\sum_{ij} \mathbb E\,|\partial x_i/\partial z_j|\,\sigma(z_j)/\sigma(x_i)`, an L1 penalty on the mixing
    that does not depend on units. With changes alone n latents need 2n + 1 domains; where the mixing is structurally
    sparse, two may do (Li et al., *Synergy between sufficient changes and sparse mixing procedure for disentangled
    representation learning*, 2025; Zheng, Ng and Zhang, 2022). ``latentry.identifiability.sparsity(model)`` says for
    which latents the condition holds in the recovered mixing.

    An L1 penalty alone also shrinks the edges that are there, and so prefers mixings unlike the true one that have
    smaller ones; at the end of the fit edges are therefore counted (``relax`` of :class:`MixingPenalty`). Both have many local
    minima: on a table restarts begin in turn at the best few sparse linear unmixings of the columns' ranks (an exact fit
    also at a rotation).

    As many latents as columns of one table, without noise: exact maximum likelihood of an invertible map. Otherwise the
    fit is staged as in :class:`IVAE`, with the penalty on the decoder, or follows the bound from the start
    (``estimation="elbo"``).

    What it cannot do: a dense mixing is not made sparse. A penalty on it chooses one explanation of many, sparser
    than the truth; so it does for a latent that the true pattern leaves together with another.

    Cost: linear in rows, epochs and the weights of the networks, which grow with the columns; the penalty takes the
    derivatives of every column by every latent. Exact fits are cubic in the latents.

    Args:
        sparsity: Weight λ of the penalty, in nats a row for each unit of strength, or for each edge.
            ``models.choose_sparsity`` compares weights on rows set aside.
        mixing_penalty: Which penalty, and where it is computed: see :class:`MixingPenalty`.
        domain_prior: How the latents' distributions change with the domain: see :class:`DomainPrior`.
        flow: The invertible map: see :class:`FlowMap`.
        estimation: "auto" (exact where possible, staged otherwise), "staged", or "elbo".

    For the other arguments see :class:`IFlow`, :class:`VAE` and :class:`LatentModel`; ``latent_dim=None`` takes as many
    latents as columns.

    >>> from latentry.generators import sparse_mixing
    >>> from latentry.models import FlowMap
    >>> data = sparse_mixing(latents=3, rows_per_domain=100)
    >>> model = CGVAE(epochs=2, flow=FlowMap(blocks=1, components=2), restarts=1).fit(data)
    >>> model.transform(data).shape, model.mixing(data).shape
    ((200, 3), (3, 3))
    """

    latent_dim: int | None = None
    epochs: int = 150
    batch_size: int = 256
    learning_rate: float = 5e-3
    validation: float = 0.1
    restarts: int = 4
    seed: int = 0
    progress: bool | str = "auto"
    likelihood: str | Mapping[str, str] = "gaussian"
    hidden: Sequence[int] = field(default=(128, 128))
    encoder: str | Build = "auto"
    decoder: str | Build = "auto"
    estimation: str = "auto"
    prior: str = "gaussian"
    sparsity: float = 0.02
    mixing_penalty: MixingPenalty = MixingPenalty()
    training: Training = Training(
        patience=None
    )  # an early end would cut the cooling short, in which maps become sparse
    networks: Networks = Networks()
    domain_prior: DomainPrior = DomainPrior()
    flow: FlowMap = FlowMap(blocks=6)

    name: ClassVar[str] = "cgvae"
    constraints: ClassVar[Mapping[str, Rule]] = {
        **COMMON,
        **HIDDEN_LAYERS,
        **PRIOR_RULES,
        "latent_dim": Whole(1, none=True),
        "estimation": Choice(("auto", "staged", "elbo")),
        "sparsity": Real(least=0),
        "mixing_penalty": Group(MixingPenalty),
        "networks": Group(Networks),
        "domain_prior": Group(DomainPrior),
        "flow": Group(FlowMap),
    }
    facts_class: ClassVar[type[ModelFacts]] = DomainModelFacts
    least_domains: ClassVar[int] = 2
    takes_latents_from_data: ClassVar[bool] = True
    encodes_subsets: ClassVar[bool] = True
    takes_missing_cells: ClassVar[bool] = True

    def learn_facts(self, data: Dataset) -> DomainModelFacts:
        """Note likelihoods and domains, whether the likelihood is exact, and where restarts begin.

        Args:
            data: Rows.

        Returns:
            What the fit must know of the data.

        Raises:
            DataError: If the data cannot be learned from.
        """
        self._check_prior()
        observations = observe(self.likelihood, data)
        domains = domains_of(
            data, self.prior, self.domain_prior, latents=self.latent_dim, seed=self.seed, model="CGVAE"
        )
        table = len(data.names) == 1 and len(data.layout.shape(data.names[0])) == 1
        if self.latent_dim is None and not table:
            problem = "it takes a latent for each column of one table. Give a number for these data."
            raise refuse("latent_dim", None, problem)
        square = self.latent_dim is None or self.latent_dim == data.layout.size
        gaussian = set(observations.likelihoods.values()) == {"gaussian"}
        exact = self.estimation == "auto" and table and square and gaussian and not self.mixing_penalty.noisy
        if exact:
            data.refuse_missing_cells(_EXACT)
            check_columns(data, data.names[0])
            refuse_beta(self.training, "an exact likelihood")
        linear = self.mixing_penalty.start == "linear" and self.estimation != "elbo" and table and gaussian
        starts = self._starts(data, exact=exact) if linear and data.domain is not None else np.zeros((0, 0, 0))
        return DomainModelFacts(observations, domains, exact=exact, starts=starts)

    def _check_prior(self) -> None:
        settings = self.domain_prior
        if settings.shrink:
            problem = "it is for IFlow and IVAE. Leave it at 0, and set sparsity or domain_prior__mask."
            raise refuse("domain_prior__shrink", settings.shrink, problem)
        if settings.targets is not None:
            problem = "its penalties ask which latents change. Leave it out, or use IFlow or IVAE."
            raise refuse("domain_prior__targets", settings.targets, problem)
        if settings.free_form and settings.moving is not None:
            problem = "distributions of free form move every mean. Leave it out."
            raise refuse("domain_prior__moving", settings.moving, problem)

    def _starts(self, data: Dataset, *, exact: bool) -> np.ndarray:
        """Linear unmixings of all rows given; with holes, constant columns, few rows or very many latents there are none."""
        assert data.domain is not None
        some = np.sort(np.random.default_rng(self.seed).permutation(len(data))[:_START])
        values, groups = np.asarray(data.take(some)[data.names[0]], np.float64), groups_of(data.domain)[some]
        latents = data.layout.size if self.latent_dim is None else self.latent_dim
        usable = data.observed[data.names[0]].all() and (np.ptp(values, axis=0) > 0).all()
        if not usable or len(np.unique(groups)) < 2 or not latents <= min(data.layout.size, _LARGEST) < len(values):
            return np.zeros((0, 0, 0))
        weight = min(float(self.sparsity), _LIGHT)
        unmixings = linear_unmixings(values, groups, weight=weight, most=_STARTS, seed=self.seed, latents=latents)
        return unmixings if exact else on_standardised(unmixings, values)

    def standardised(self, facts: DomainModelFacts) -> tuple[str, ...]:
        """Return the Gaussian modalities.

        Args:
            facts: What was noted of the data.

        Returns:
            Names of modalities.
        """
        return facts.gaussian

    @property
    def priors(self) -> Priors:
        """Return the prior in each domain of the data."""
        return Priors(self.prior, self.domain_prior, self.record_)

    def prepared(self, data: Dataset) -> Dataset:
        """Return the data with a continuous u in units of its own spread.

        Args:
            data: Rows.

        Returns:
            Rows as the module sees them.

        Raises:
            DataError: If a cell is missing where the likelihood is that of whole rows.
        """
        if self.priors.facts.exact:
            data.refuse_missing_cells(_EXACT)
        return self.priors.prepared(data)

    def build(self, key: jax.Array) -> SparseModule:
        """Return an invertible map, or networks with a map between them.

        Args:
            key: Of random numbers.

        Returns:
            An untrained module.
        """
        latents = self.record_.layout.size if self.latent_dim is None else self.latent_dim
        facts = self.priors.facts
        if facts.exact:
            return weighted(self.priors.exact_flow(latents, self.flow, key), self.sparsity)
        design = Design.of(self.hidden, self.encoder, self.decoder, self.networks)
        flow = None if self.estimation == "elbo" else self.flow
        inner = self.priors.conditional(design, latents, flow=flow, sight="data", draws=1, key=key)
        return weighted(inner, self.sparsity, np.zeros_like(facts.starts[0]) if len(facts.starts) else None)

    def begun(self, module: SparseModule, restart: int) -> SparseModule:
        """Return restarts at linear unmixings in turn, counted from the seed; an exact fit ends with a rotation.

        Args:
            module: As it was built.
            restart: Its number, from 0.

        Returns:
            A module.
        """
        facts, flow = self.priors.facts, module.inner.flow
        if flow is None or len(facts.starts) == 0:
            return module
        turn = (self.seed + restart) % (len(facts.starts) + facts.exact)
        chosen = jnp.asarray(facts.starts[turn], jnp.float32) if turn < len(facts.starts) else flow.last.weight
        last = chosen if facts.exact else jnp.eye(len(chosen))
        module = eqx.tree_at(lambda tree: tree.inner.flow, module, flow.straightened(last))
        return module if facts.exact else eqx.tree_at(lambda tree: tree.anchor, module, chosen)

    def phases(self) -> tuple[Phase, ...]:
        """Return phases in which sizes of edges are penalised, then their number; a staged fit begins with coordinates."""
        rates, beta = self.training.rates, self.training.beta
        fast: Rates = {**rates, "direction": self.flow.direction}
        if self.priors.facts.exact:
            fit = self._relaxed("fit", SparseLikelihood, self.epochs, self.learning_rate, all_but_given, fast)
            return (*fit, *self._released(SparseLikelihood, self.learning_rate, fast))
        hide = self.networks.hide(len(self.record_.layout.shapes))
        slow, bound = 0.4 * self.learning_rate, partial(SparseBound, NegativeBound(beta, 1, hide))
        if self.estimation == "elbo":
            fit = self._relaxed("fit", bound, self.epochs, slow, all_but_given, rates)
            return (*fit, *self._released(bound, slow, rates))
        epochs = {name: max(1, round(part * self.epochs)) for name, part in STAGES.items()}
        manifold = AnchoredManifold(NegativeElbo(beta, hide), anchored=len(self.priors.facts.starts) > 0)
        moving = only("inner.flow", "inner.prior")
        return (
            Phase("manifold", manifold, epochs["manifold"], slow, trainable=only("inner.networks"), **rates),
            *self._relaxed("identify", SparseIdentify, epochs["identify"], self.learning_rate, moving, fast),
            *self._relaxed("joint", bound, epochs["joint"], slow, all_but_given, rates, begun=True),
            *self._released(bound, slow, rates),
        )

    def _relaxed(
        self,
        name: str,
        loss: Callable[[Penalties], Loss],
        epochs: int,
        rate: float,
        trainable: Callable[[Module], Module],
        rates: Rates,
        *,
        begun: bool = False,
    ) -> tuple[Phase, ...]:
        """A phase with the chosen penalty and one that counts edges; ``begun`` ones go on counting."""
        term, relax = self.mixing_penalty.term, float(self.mixing_penalty.relax)
        fraction = 1.0 if begun and relax else relax
        counted = round(fraction * epochs) if self.sparsity and term.kind == "l1" else 0
        parts = ((name, term, epochs - counted), (f"{name}, counted", replace(term, kind="capped"), counted))
        return tuple(
            Phase(title, loss(self._penalties(part)), length, rate, trainable=trainable, **rates)
            for title, part, length in parts
            if length
        )

    def _released(self, loss: Callable[[Penalties], Loss], rate: float, rates: Rates) -> tuple[Phase, ...]:
        """A phase without the sparsity term, slower, so that it stays near what was found."""
        length = round(self.mixing_penalty.release * self.epochs)
        if not length:
            return ()
        without = replace(self._penalties(self.mixing_penalty.term), sparse=False)
        return (Phase("released", loss(without), length, _GENTLE * rate, trainable=all_but_given, **rates),)

    def _penalties(self, term: SparsityTerm) -> Penalties:
        return Penalties(self.sparsity > 0, float(self.domain_prior.mask), term, self.mixing_penalty.penalty_rows)

    @property
    def score_name(self) -> str:
        """Return what the score is."""
        exact = not self.mixing_penalty.noisy if self.fit_record() is None else self.priors.facts.exact
        return "log likelihood" if exact else EVIDENCE_BOUND

    # Answers ----------------------------------------------------------------------------------

    def likelihoods(self) -> Mapping[str, str]:
        """Return the name of the likelihood of each modality."""
        return self.priors.facts.observations.likelihoods

    def score_rows(self, X: DataLike, y: DomainLike | None = None, *, seed: int = 0) -> np.ndarray:
        """Return the log evidence of each row given its domain in nats, in the units of the data; see ``score_name``.

        Args:
            X: Rows, as for :meth:`fit`.
            y: Their domains, if ``X`` has none.
            seed: Of draws, where the score is a bound.

        Returns:
            One number a row.
        """
        return scores(self, X, y, seed)

    def score(
        self,
        X: DataLike,
        y: DomainLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        domain: DomainLike | None = None,
    ) -> float:
        """Return the mean of :meth:`score_rows`: higher is better.

        Args:
            X: Rows, as for :meth:`fit`.
            y: Their domains, if ``X`` has none.
            sample_weight: Of each row; all alike by default.
            domain: The same as y under its own name, as for :meth:`fit`.

        Returns:
            Nats per row.
        """
        return mean_score(self.score_rows(X, auxiliary(y, domain)), sample_weight)

    def sample(self, n: int = 1, domain: DomainLike | None = None, *, seed: int = 0) -> Values:
        """Draw new rows in the units of the data: an array, or a dictionary when there are several modalities.

        Args:
            n: How many.
            domain: Of all of them, or of each; by default domains occur as often as they did in the data.
            seed: Of the draws.

        Returns:
            An array, or one for each modality by name.
        """
        return drawn_by_domain(self, self.priors, n, domain, seed)

    def decode(self, latents: ArrayLike) -> Values:
        """Return expected data given latents (rows, latents), in the units of the data.

        Args:
            latents: (rows, latents).

        Returns:
            An array, or one for each modality by name.
        """
        return decoded(self, latents)

    def latent_distributions(self, u: ArrayLike | None = None) -> LatentDistributions:
        """Return the distribution of each latent in each domain, as it was learned: what the identifiability audit reads.

        Args:
            u: For a continuous u, the values (rows) at which they are wanted; some of the training rows by default.

        Returns:
            Means, scales and rows of each domain.
        """
        check_is_fitted(self)
        return self.priors.distributions(self.module_.inner.prior, u)

    def reconstruct(self, X: DataLike, y: DomainLike | None = None) -> Values:
        """Return expected values of every modality given what was observed: fills holes too.

        Args:
            X: Rows, as for :meth:`fit`.
            y: Their domains, if ``X`` has none.

        Returns:
            An array, or one for each modality by name.
        """
        return reconstructed(self, X, y)

    def impute(self, X: DataLike, y: DomainLike | None = None) -> Values:
        """Return every modality of every row: as measured where it was, expected values where it was not.

        Args:
            X: Rows, as for :meth:`fit`; single cells or whole modalities may be missing.
            y: Their domains, if ``X`` has none.

        Returns:
            An array, or one for each modality by name.
        """
        return imputed(self, X, y)

    @property
    def changing_(self) -> np.ndarray:
        """Return, for each latent, whether its distribution changes with the domain by more than a seventh of its deviation."""
        check_is_fitted(self)
        inner = self.module_.inner
        return np.asarray(changes(inner.prior, inner.seen)) > _MOVES

    # The mixing -------------------------------------------------------------------------------

    def mixing(self, X: DataLike) -> np.ndarray:
        r"""Return the mean over rows of :math:`|\partial x_i/\partial z_j|\,\sigma(z_j)/\sigma(x_i)`, (observed, latents).

        It is read at 2000 of the rows at most; several modalities come in the order of their names.

        Args:
            X: Rows, as for :meth:`fit`.

        Returns:
            (observed, latents).
        """
        mean: np.ndarray = self._strengths(X).astype(np.float64).mean(axis=0)
        return mean

    def support(self, X: DataLike, *, edge: float = 0.1) -> MixingSupport:
        """Return which variable depends on which latent: strengths above ``edge``, a hundredth of the variance by default.

        Args:
            X: Rows, as for :meth:`fit`.
            edge: Strength above which there is an edge, between 0 and 1.

        Returns:
            The edges.

        Raises:
            DataError: If ``edge`` is no such strength.
        """
        if not 0 < edge < 1:
            raise DataError(f"edge={edge!r}: not a strength between 0 and 1. Give one.")
        return MixingSupport(self.mixing(X) > edge)

    def penalised_rows(self, X: Dataset) -> np.ndarray:
        """Return, for 2000 rows at most, minus the score, plus λ times the kind of penalty with which the fit ended.

        Args:
            X: Rows, as for :meth:`fit`.

        Returns:
            One number a row.
        """
        losses = [phase.loss for phase in self.phases() if isinstance(phase.loss, (SparseLikelihood, SparseBound))]
        kind = next((loss.penalties.term.kind for loss in reversed(losses) if loss.penalties.sparse), "l1")
        some = X.take(_some(len(X)))
        price = self.sparsity * self._penalties_of(some, kind)
        penalised: np.ndarray = price - self.score_rows(some)
        return penalised

    def edge_count(self, X: DataLike) -> float:
        """Return the edges at a row, on average over rows; one weaker than ``threshold`` counts in part.

        Args:
            X: Rows, as for :meth:`fit`.

        Returns:
            A number of edges.
        """
        return float(self._penalties_of(X, "capped").mean())

    def _penalties_of(self, X: DataLike, kind: str) -> np.ndarray:
        def at_row(strength: jax.Array) -> jax.Array:
            return penalty(strength[None], kind, self.mixing_penalty.threshold)

        return np.asarray(jax.vmap(at_row)(jnp.asarray(self._strengths(X))), dtype=np.float64)

    def _strengths(self, X: DataLike) -> np.ndarray:
        data = ready(self, X, None)
        strengths: np.ndarray = map_rows(_strengths, self.module_, data.take(_some(len(data))))
        return strengths


def _some(rows: int) -> np.ndarray:
    return np.sort(np.random.default_rng(0).permutation(rows)[:_LOOK])


def _strengths(module: SparseModule, batch: Batch, key: jax.Array) -> jax.Array:
    return mixing_strengths(module, batch)
