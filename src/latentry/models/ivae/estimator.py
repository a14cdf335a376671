"""The identifiable variational autoencoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, final

import jax
import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from latentry.contracts import (
    DecodesLatents,
    HasLatentDistributions,
    HasLikelihood,
    Imputes,
    LatentDistributions,
    ModelFacts,
    SamplesByDomain,
)
from latentry.data import DataLike, Dataset, DomainLike
from latentry.models.domain_prior import (
    PRIOR_RULES,
    Conditional,
    DomainModelFacts,
    DomainPrior,
    FlowMap,
    NegativeBound,
    Priors,
    Stages,
    domains_of,
    drawn_by_domain,
    refuse_sparse_settings,
)
from latentry.models.estimator import (
    COMMON,
    EVIDENCE_BOUND,
    HIDDEN_LAYERS,
    Choice,
    Group,
    LatentModel,
    Rule,
    Training,
    Values,
    auxiliary,
    decoded,
    imputed,
    mean_score,
    reconstructed,
    refuse,
    scores,
)
from latentry.models.ivae.losses import WeightedSplit
from latentry.models.ivae.settings import Bound
from latentry.models.networks import Design, Networks, observe
from latentry.nets import Build
from latentry.training import Phase

__all__ = ["IVAE"]


@final
@dataclass(eq=False, repr=False)
class IVAE(
    LatentModel[Conditional, DomainModelFacts],
    HasLikelihood,
    HasLatentDistributions,
    SamplesByDomain,
    Imputes,
    DecodesLatents,
):
    r"""Identifiable VAE: :math:`p(x, z \mid u) = p(x \mid z)\prod_i p(z_i \mid u)`, a distribution of each latent in each domain.

    Where those distributions change enough from domain to domain, the latents are determined up to order, scale and sign
    (Khemakhem et al., *Variational autoencoders and nonlinear ICA*, 2020): with means and variances that change,
    2n + 1 domains suffice for n latents. ``latentry.identifiability.sufficient_changes(model, held_out)``
    says whether they did.

    What it cannot do: when only means change, latents stay mixed, however good the fit; for discrete observations
    nothing is promised; and the evidence lower bound alone (``estimation="elbo"``) rarely reaches the optimum that the
    theorem speaks of. The staged fit does much better: it finds the manifold without domains, identifies its
    coordinates by the exact likelihood of an invertible map, and refines all of it under the bound.

    Cost: linear in rows, epochs and the weights of the networks, which grow with the columns. The exact flow of the stage
    that identifies is cubic in the latents.

    Args:
        estimation: "staged", or "elbo" for the bound from start to end.
        prior: What changes with the domain: "gaussian" (mean and variance), "variance", "mean", "laplace", or
            "exponential" (mean, variance and further statistics).
        domain_prior: How it changes: see :class:`DomainPrior`.
        flow: The map between coordinates and latents, in a staged fit: see :class:`FlowMap`.
        bound: What the bound sees and weighs: see :class:`Bound`.

    For the other arguments see :class:`VAE` and :class:`LatentModel`.

    >>> from latentry.generators import segments
    >>> from latentry.models import FlowMap
    >>> data = segments(domains=5, rows_per_domain=40, latents=2, observed=4, noise=0.1)
    >>> model = IVAE(latent_dim=2, epochs=4, hidden=(8,), flow=FlowMap(blocks=1, components=2)).fit(data)
    >>> model.transform(data).shape, model.latent_distributions()
    ((200, 2), LatentDistributions(5 domains, 2 latents, gaussian))
    """

    latent_dim: int = 2
    epochs: int = 150
    batch_size: int = 128
    learning_rate: float = 2e-3
    validation: float = 0.1
    restarts: int = 1
    seed: int = 0
    progress: bool | str = "auto"
    likelihood: str | Mapping[str, str] = "gaussian"
    hidden: Sequence[int] = field(default=(128, 128))
    encoder: str | Build = "auto"
    decoder: str | Build = "auto"
    estimation: str = "staged"
    prior: str = "gaussian"
    training: Training = Training()
    networks: Networks = Networks()
    domain_prior: DomainPrior = DomainPrior()
    flow: FlowMap = FlowMap()
    bound: Bound = Bound()

    name: ClassVar[str] = "ivae"
    constraints: ClassVar[Mapping[str, Rule]] = {
        **COMMON,
        **HIDDEN_LAYERS,
        **PRIOR_RULES,
        "estimation": Choice(("staged", "elbo")),
        "networks": Group(Networks),
        "domain_prior": Group(DomainPrior),
        "flow": Group(FlowMap),
        "bound": Group(Bound),
    }
    facts_class: ClassVar[type[ModelFacts]] = DomainModelFacts
    least_domains: ClassVar[int] = 2
    encodes_subsets: ClassVar[bool] = True
    takes_missing_cells: ClassVar[bool] = True

    def learn_facts(self, data: Dataset) -> DomainModelFacts:
        """Note likelihoods and domains.

        Args:
            data: Rows.

        Returns:
            What the fit must know of the data.

        Raises:
            DataError: If the data cannot be learned from.
        """
        self._check_bound()
        refuse_sparse_settings(self.domain_prior, "IVAE")
        observations = observe(self.likelihood, data)
        domains = domains_of(data, self.prior, self.domain_prior, latents=self.latent_dim, seed=self.seed, model="IVAE")
        return DomainModelFacts(observations, domains, exact=False, starts=np.zeros((0, 0, 0)))

    def _check_bound(self) -> None:
        bound = self.bound
        if self._staged and bound.encoder_sees != "product":
            problem = 'a staged posterior sees data alone. Use it with estimation="elbo".'
            raise refuse("bound__encoder_sees", bound.encoder_sees, problem)
        if self.training.beta != 1 and (bound.importance > 1 or bound.split is not None):
            problem = "it weighs the divergence of the plain bound. Leave it at 1 with importance or split."
            raise refuse("training__beta", self.training.beta, problem)
        if bound.split is not None and (self._staged or bound.importance > 1):
            problem = 'it weighs the evidence lower bound. Use it with estimation="elbo" and importance=1.'
            raise refuse("bound__split", bound.split, problem)

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
        """
        return self.priors.prepared(data)

    @property
    def _staged(self) -> bool:
        return self.estimation == "staged"

    @property
    def reads_domain(self) -> bool:
        """Return whether the posterior sees the domain; a staged one sees data alone."""
        return not self._staged and self.bound.encoder_sees != "data"

    @property
    def domain_for(self) -> str | None:
        """Return "encoder" where it sees data and domain, and cannot do without the domain."""
        return "encoder" if not self._staged and self.bound.encoder_sees == "joint" else None

    def build(self, key: jax.Array) -> Conditional:
        """Return networks, priors, and a map between them if the fit is staged.

        Args:
            key: Of random numbers.

        Returns:
            An untrained module.
        """
        sight = "data" if self._staged else self.bound.encoder_sees
        design = Design.of(self.hidden, self.encoder, self.decoder, self.networks)
        design = replace(design, beside=self.record_.layout.domain_size if sight == "joint" else 0)
        flow, draws = self.flow if self._staged else None, self.bound.importance
        return self.priors.conditional(design, self.latent_dim, flow=flow, sight=sight, draws=draws, key=key)

    def phases(self) -> tuple[Phase, ...]:
        """Return three stages, or one phase of the bound."""
        stages = Stages(self.epochs, self.learning_rate, self.training, self.flow, self.domain_prior.shrink)
        hide = self.networks.hide(len(self.record_.layout.shapes))
        if self._staged:
            return stages.staged(draws=self.bound.importance, hide=hide)
        if self.bound.split is None:
            return stages.single(NegativeBound(self.training.beta, self.bound.importance, hide))
        a, b, c, d = map(float, self.bound.split)
        return stages.single(WeightedSplit((a, b, c, d), self.record_.rows, hide))

    @property
    def score_name(self) -> str:
        """Return what the score is."""
        draws = self.bound.importance if self.fit_record() is None else self.module_.draws
        return EVIDENCE_BOUND if draws == 1 else f"importance-weighted lower bound ({draws} draws per row)"

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
        return self.priors.distributions(self.module_.prior, u)

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
