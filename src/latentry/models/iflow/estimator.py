"""The identifiable flow: exact maximum likelihood of latents whose distribution changes with the domain."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
    KnownTargets,
    KnowsTargets,
    LatentDistributions,
    ModelFacts,
    SamplesByDomain,
)
from latentry.data import DataLike, Dataset, DomainLike
from latentry.errors import DataError
from latentry.models.domain_prior import (
    PRIOR_RULES,
    Conditional,
    DomainModelFacts,
    DomainPrior,
    FlowMap,
    IdentifiableFlow,
    Priors,
    Stages,
    check_columns,
    domains_of,
    drawn_by_domain,
    negative_log_likelihood,
    own_parts,
    refuse_sparse_settings,
    target_start,
    targets_table,
)
from latentry.models.estimator import (
    COMMON,
    EVIDENCE_BOUND,
    Flag,
    Group,
    LatentModel,
    Rule,
    Training,
    Values,
    Whole,
    Widths,
    auxiliary,
    decoded,
    mean_score,
    refuse_beta,
    scores,
)
from latentry.models.networks import Design, Observations
from latentry.nets import TargetedPrior
from latentry.training import Phase

__all__ = ["IFlow"]


@final
@dataclass(eq=False, repr=False)
class IFlow(
    LatentModel[IdentifiableFlow | Conditional, DomainModelFacts],
    HasLikelihood,
    HasLatentDistributions,
    SamplesByDomain,
    DecodesLatents,
    KnowsTargets,
):
    r"""Identifiable latents by exact maximum likelihood: :math:`z = g(x)`, :math:`z_i \mid u` in the exponential family.

    The noiseless limit of the identifiable VAE (Khemakhem et al., *Variational autoencoders and nonlinear ICA*, 2020),
    fitted without a bound. It needs domains in which the latents' distributions differ: with Gaussian latents whose means and
    variances change, 2n + 1 domains identify n latents up to order, scale and sign.

    With fewer latents than columns, or ``noisy=True``, an exact density of x does not exist or is the wrong one: then
    the fit is staged as in :class:`IVAE`, and the score is a bound.

    What it cannot do: when only means change between domains, the latents stay mixed, however good the fit, unless it is known
    which latents each domain changes (``domain_prior__targets``).

    Cost: linear in rows, epochs and the weights of the networks, which grow with the columns, and cubic in the latents: a
    layer of the flow is a full matrix and its determinant.

    Args:
        noisy: Whether the columns hold observation noise besides the latents.
        prior: What changes with the domain: "gaussian" (mean and variance), "variance", "mean", "laplace", or
            "exponential" (mean, variance and further statistics).
        domain_prior: How it changes: see :class:`DomainPrior`.
        flow: The invertible map: see :class:`FlowMap`.
        hidden: Widths of encoder and decoder, in a staged fit.

    For the other arguments see :class:`LatentModel`; ``latent_dim=None`` takes as many latents as columns.
    """

    latent_dim: int | None = None
    epochs: int = 100
    batch_size: int = 256
    learning_rate: float = 5e-3
    validation: float = 0.1
    restarts: int = 1
    seed: int = 0
    progress: bool | str = "auto"
    noisy: bool = False
    prior: str = "gaussian"
    hidden: Sequence[int] = field(default=(128, 128))
    training: Training = Training()
    domain_prior: DomainPrior = DomainPrior(shrink=0.1)
    flow: FlowMap = FlowMap()

    name: ClassVar[str] = "iflow"
    constraints: ClassVar[Mapping[str, Rule]] = {
        **COMMON,
        **PRIOR_RULES,
        "latent_dim": Whole(1, none=True),
        "noisy": Flag(),
        "hidden": Widths(),
        "domain_prior": Group(DomainPrior),
        "flow": Group(FlowMap),
    }
    facts_class: ClassVar[type[ModelFacts]] = DomainModelFacts
    least_domains: ClassVar[int] = 2
    takes_latents_from_data: ClassVar[bool] = True
    takes_one_table: ClassVar[bool] = True

    def learn_facts(self, data: Dataset) -> DomainModelFacts:
        """Note how often each domain occurs, and whether the fit is exact.

        Args:
            data: Rows.

        Returns:
            What the fit must know of the data.

        Raises:
            DataError: If the data cannot be learned from.
        """
        name = data.names[0]
        if len(data.names) > 1 or len(data.layout.shape(name)) != 1:
            raise DataError("IFlow takes one table of numbers: pass an array (rows, columns) as the only modality.")
        refuse_sparse_settings(self.domain_prior, "IFlow")
        domains = domains_of(
            data, self.prior, self.domain_prior, latents=self.latent_dim, seed=self.seed, model="IFlow"
        )
        exact = not self.noisy and (self.latent_dim is None or self.latent_dim >= data.layout.size)
        if exact:
            check_columns(data, name)
            refuse_beta(self.training, "an exact likelihood")
        starts = self._starts(data, name) if exact else np.zeros((0, 0, 0))
        return DomainModelFacts(Observations({name: "gaussian"}, {}), domains, exact=exact, starts=starts)

    def _starts(self, data: Dataset, name: str) -> np.ndarray:
        """Return where the map begins, if it is known which latents each domain changes."""
        if self.domain_prior.targets is None or data.domain is None:
            return np.zeros((0, 0, 0))
        labels = data.domain.labels or tuple(range(data.domain.size))
        targets = targets_table(self.domain_prior.targets, labels, data.layout.size)
        return target_start(data, name, targets, self.seed)[None]

    def begun(self, module: IdentifiableFlow | Conditional, restart: int) -> IdentifiableFlow | Conditional:
        """Return restarts of which every other one begins where domains differ, if it is known what they change.

        Args:
            module: As it was built.
            restart: Its number, from 0.

        Returns:
            A module.
        """
        starts = self.priors.facts.starts
        if len(starts) == 0 or restart % 2 or not isinstance(module, IdentifiableFlow):
            return module
        begun = module.flow.straightened(jnp.asarray(starts[0], jnp.float32))
        result: IdentifiableFlow = eqx.tree_at(lambda tree: tree.flow, module, begun)
        return result

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

    def build(self, key: jax.Array) -> IdentifiableFlow | Conditional:
        """Return a map that begins as a rotation, behind networks if the fit is staged.

        Args:
            key: Of random numbers.

        Returns:
            An untrained module.
        """
        latents = self.record_.layout.size if self.latent_dim is None else self.latent_dim
        if self.priors.facts.exact:
            return self.priors.exact_flow(latents, self.flow, key)
        design = Design(tuple(self.hidden))
        return self.priors.conditional(design, latents, flow=self.flow, sight="data", draws=1, key=key)

    def phases(self) -> tuple[Phase, ...]:
        """Return one phase, or three when staged."""
        stages = Stages(self.epochs, self.learning_rate, self.training, self.flow, self.domain_prior.shrink)
        if self.priors.facts.exact:
            return stages.single(negative_log_likelihood, direction=self.flow.direction)
        return stages.staged()

    @property
    def score_name(self) -> str:
        """Return what the score is."""
        exact = not self.noisy if self.fit_record() is None else self.priors.facts.exact
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
        """Return the data that have these latents (rows, latents), or what is expected of them, in the units of the data.

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

    def known_targets(self) -> KnownTargets | None:
        """Return which latents each domain changes and which cause which, as they were given; None if they were not."""
        check_is_fitted(self)
        if self.domain_prior.targets is None:
            return None
        return KnownTargets(tuple(self.priors.labels or ()), *self.priors.known(self.module_.prior.latents))

    def own_parts(self, X: DataLike, y: DomainLike | None = None, *, untargeted: bool = False) -> np.ndarray:
        """Return of each latent what its causes do not explain, in standard deviations: standard normals if the model is right.

        Args:
            X: Rows, as for :meth:`fit`.
            y: Their domains, if ``X`` has none.
            untargeted: By the mechanisms of domains that change nothing, whatever the row's domain.

        Returns:
            (rows, latents).

        Raises:
            DataError: If the model was not told which latents each domain changes.
        """
        prior = self.module_.prior if self.known_targets() is not None else None
        if not isinstance(prior, TargetedPrior):
            raise DataError(
                "own_parts: this model was not told which latents each domain changes. Fit it with targets."
            )
        return own_parts(self, self.priors, prior, X, y, untargeted=untargeted)
