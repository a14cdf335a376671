"""Natural latents: trained for what a certificate of naturality asks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, final

import equinox as eqx
import jax
import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from latentry.contracts import DecodesLatents, FrontierPoint, HasClusters, HasFrontier, Imputes, ModelFacts
from latentry.data import CategoricalChannel, Channel, DataLike, Dataset, DomainLike, GaussianChannel
from latentry.errors import DataError
from latentry.models.domain_prior import only
from latentry.models.estimator import (
    COMMON,
    HIDDEN_LAYERS,
    Group,
    LatentModel,
    Rule,
    Training,
    Values,
    check_latents,
    imputed,
    outward,
    reconstructed,
    refuse_beta,
)
from latentry.models.natural_latents.checks import AutoWhole, check_data, check_size
from latentry.models.natural_latents.conclude import concluded_module
from latentry.models.natural_latents.drawing import Drawing
from latentry.models.natural_latents.frontier import Weights
from latentry.models.natural_latents.latent_kinds import CategoricalLatent, GaussianLatent, LatentKind
from latentry.models.natural_latents.losses import NaturalityScore, full_weight
from latentry.models.natural_latents.module import Conclusion, NaturalModule, draw_rows
from latentry.models.natural_latents.networks import Plan
from latentry.models.natural_latents.settings import Naturality
from latentry.models.networks import Observations, observe, visible_shape
from latentry.nets import Build, Head, head_for
from latentry.training import Phase, RunState, Task, map_rows

__all__ = ["NaturalLatents"]

_MANY = 16  # values that are learned before they are merged to as many as are needed
_MANY_COLUMNS = 8  # columns that are learned before they are dropped to as many as are needed
_TURNS = (1.0, 0.5, 0.0)  # powers of the first factor, one restart after the other
_FIRST_WIDTH = -1.0  # logarithm of the noise of a column at the beginning
_FIRST = 0.25  # fraction of the epochs in which values spread


@final
@dataclass(eq=False, repr=False)
class NaturalLatents(LatentModel[NaturalModule, Observations], HasClusters, HasFrontier, Imputes, DecodesLatents):
    r"""A latent that all modalities share and that makes them independent: the most natural one that training finds.

    A latent is natural (Wentworth and Lorell, 2025) where it mediates, :math:`M = TC(X \mid \Lambda) \approx 0`, and is redundant,
    :math:`\epsilon_i = I(\Lambda; X_{-i} \mid X_i) \approx 0` for each modality. For every channel
    :math:`M = TC(X) + \sum_i \epsilon_i - (n - 1) I(X; \Lambda)`, so that both errors are descended together without a decoder: one
    student for each modality bounds its error from above, and the information is read from the channel.

    What it cannot do: show that a latent is natural (:func:`latentry.certify` does, on rows that it has not seen); name values or
    columns, which are known up to order, or up to any map that keeps them natural; find what only three modalities together tell.

    Cost: linear in rows, epochs and the weights of the networks, which grow with the columns, and in the modalities: each
    has a student.

    Args:
        values: Number of values of the latent, or "auto": so many as held-out rows can tell apart. Also meant if nothing is given.
        latent_dim: Number of columns of a latent of numbers with Gaussian noise, in place of ``values``; or "auto".
        likelihood: What kind of numbers a modality holds, as for :class:`VAE`: "gaussian" ones are standardised, "categorical"
            ones are codes.
        hidden: Widths of the dense layers of the channel and of each student.
        encoder: As for :class:`VAE`.
        naturality: Weights of the errors: see :class:`Naturality`.

    For the other arguments see :class:`LatentModel`.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> shared = rng.integers(0, 2, size=(200, 1))
    >>> views = {name: 4 * shared + rng.normal(size=(200, 3)) for name in ("left", "right")}
    >>> model = NaturalLatents(values=2, epochs=20, hidden=(8,), restarts=1, progress=False).fit(views)
    >>> model.transform(views).shape, len(model.frontier_)
    ((200, 2), 2)
    """

    values: int | str | None = None
    latent_dim: int | str | None = None
    epochs: int = 200
    batch_size: int = 128
    learning_rate: float = 2e-3
    validation: float = 0.2
    restarts: int = 3
    seed: int = 0
    progress: bool | str = "auto"
    likelihood: str | Mapping[str, str] = "gaussian"
    hidden: Sequence[int] = field(default=(128,))
    encoder: str | Build = "auto"
    training: Training = Training()
    naturality: Naturality = Naturality()

    name: ClassVar[str] = "natural"
    constraints: ClassVar[Mapping[str, Rule]] = {
        **COMMON,
        "latent_dim": AutoWhole(1),
        "values": AutoWhole(2),
        "hidden": HIDDEN_LAYERS["hidden"],
        "encoder": HIDDEN_LAYERS["encoder"],
        "naturality": Group(Naturality),
    }
    facts_class: ClassVar[type[ModelFacts]] = Observations
    least_modalities: ClassVar[int] = 2
    encodes_subsets: ClassVar[bool] = True
    takes_missing_cells: ClassVar[bool] = True
    compares_restarts: ClassVar[bool] = True

    # Learning -------------------------------------------------------------------------------

    def learn_facts(self, data: Dataset) -> Observations:
        """Check that something can be shared, and note what kind of numbers each modality holds.

        Args:
            data: Rows.

        Returns:
            What the fit must know of the data.

        Raises:
            DataError: If the data cannot be learned from.
        """
        refuse_beta(self.training, "the sum of both errors")
        check_size(self.values, self.latent_dim, self.validation)
        check_data(data, self.values if isinstance(self.values, int) else None)
        return observe(self.likelihood, data)

    def standardised(self, facts: Observations) -> tuple[str, ...]:
        """Return the modalities of numbers.

        Args:
            facts: What was noted of the data.

        Returns:
            Names of modalities.
        """
        return facts.gaussian

    @property
    def observations(self) -> Observations:
        """Return what the fit noted of the data."""
        assert isinstance(self.record_.facts, Observations)
        return self.record_.facts

    @property
    def _kind(self) -> LatentKind:
        if self.latent_dim is not None:
            # No more columns than the smallest modality has numbers: each is to tell them all.
            most = min(_MANY_COLUMNS, *(math.prod(shape) for _, shape in self.record_.layout.shapes))
            return GaussianLatent(self.latent_dim if isinstance(self.latent_dim, int) else most)
        return CategoricalLatent(self.values if isinstance(self.values, int) else self._most)

    @property
    def _most(self) -> int:
        return max(2, min(_MANY, self.record_.rows // 4))

    @property
    def _chooses(self) -> bool:
        return not isinstance(self.values if self.latent_dim is None else self.latent_dim, int)

    def build(self, key: jax.Array) -> NaturalModule:
        """Return a channel and students for the layout of the data.

        Args:
            key: Of random numbers.

        Returns:
            An untrained module.
        """
        kind, layout = self._kind, self.record_.layout
        names = layout.modalities
        heads = {name: self._head(name) for name in names}
        blank = Conclusion.blank(kind.size, len(names), max(1, layout.domain_size), self.restarts)
        start = jax.device_put(np.asarray(self.naturality.start, dtype=np.float32))
        prior = jax.device_put(np.zeros(kind.size, dtype=np.float32))
        width = jax.device_put(np.full(kind.size, _FIRST_WIDTH, dtype=np.float32))
        together = jax.device_put(np.zeros((), dtype=np.float32))
        outputs = {name: math.prod(layout.shape(name)) * heads[name].parameters for name in names}
        drawing = Drawing.blank(kind.size, outputs, values=isinstance(kind, CategoricalLatent))
        shapes = {name: self._features(name, head) for name, head in heads.items()}
        channel, students = Plan(kind, shapes, self.hidden, self.encoder).built(key)
        masked = self.observations.partial
        return NaturalModule(
            channel, students, prior, width, together, heads, start, blank, drawing, kind, layout.shapes, masked
        )

    def _head(self, name: str) -> Head:
        kind, levels = self.observations.likelihoods[name], self.observations.levels.get(name, 0)
        return head_for(kind, self.record_.layout.shape(name), levels=levels, scale=1.0)

    def _features(self, name: str, head: Head) -> tuple[int, ...]:
        return visible_shape(head, self.record_.layout.shape(name), masked=name in self.observations.partial)

    def begun(self, module: NaturalModule, restart: int) -> NaturalModule:
        """Return the module with a beginning of its own: what helps one latent to be found loses another.

        Args:
            module: As it was built.
            restart: Its number, from 0.

        Returns:
            The module; its factor is the start, its square root, 1, and so on in turn, and rows have noise of their own every
            other time.
        """
        factor = self.naturality.start ** _TURNS[restart % len(_TURNS)]
        numbers = (np.float32(factor), np.float32(restart % 2))
        begun: NaturalModule = eqx.tree_at(
            lambda tree: (tree.factor, tree.apart), module, tuple(jax.device_put(np.asarray(n)) for n in numbers)
        )
        return begun

    def phases(self) -> tuple[Phase, ...]:
        """Return two phases: values spread first, and are then held to each modality."""
        aim, first = self.naturality, max(1, round(_FIRST * self.epochs))
        loss = NaturalityScore(
            aim.mediation,
            aim.mediation + aim.redundancy,
            aim.mixtures,
            aim.worst,
            aim.noise,
            max(1, self.record_.layout.domain_size),
            self.observations.gaussian,
        )
        moving = only("channel", "students", "prior", "width")
        spread = Phase("spread", loss, first, self.learning_rate, trainable=moving, **self.training.rates)
        rest = max(1, self.epochs - first)
        return spread, replace(spread, name="settle", epochs=rest, after_epoch=full_weight)

    def concluded(self, task: Task, state: RunState) -> NaturalModule:
        """Note the frontier, the errors of each domain, and whether restarts agree, on the rows held out.

        Args:
            task: Of the run, with its rows.
            state: Finished.

        Returns:
            The best module.
        """
        aside = task.training if task.held_out is None else task.held_out
        weights = Weights(self.naturality.mediation, self.naturality.redundancy)
        return concluded_module(
            state.result, state.ended, task.training.data, aside.data, weights, choose=self._chooses
        )

    # Answers --------------------------------------------------------------------------------

    @property
    def n_features_out(self) -> int:
        """Return the number of values or columns."""
        if isinstance(self.latent_dim, int):
            return self.latent_dim
        check_is_fitted(self)
        return int(self.module_.conclusion.kept)

    def transform(self, X: DataLike, y: DomainLike | None = None, *, domain: DomainLike | None = None) -> np.ndarray:
        """Return the probability of each value, or the mean of each column.

        Args:
            X: Rows, as for :meth:`fit`; a row may lack modalities.
            y: Not needed.
            domain: Not needed.

        Returns:
            (rows, values or columns).
        """
        return super().transform(X, y, domain=domain)

    def _posterior_means(self, X: DataLike, y: DomainLike | None) -> np.ndarray:
        return super()._posterior_means(X, y)[:, : self.n_features_out]

    @property
    def has_columns(self) -> bool:
        """Return whether the latent has columns: otherwise it is a single one, with values."""
        return self.latent_dim is not None

    def channel(self, X: DataLike, y: DomainLike | None = None) -> Channel:
        """Return the latent as a distribution for each row.

        Args:
            X: Rows, as for :meth:`fit`; a row may lack modalities.
            y: Not needed.

        Returns:
            A categorical channel, or a Gaussian one if the latent has columns.
        """
        if self.latent_dim is not None:
            whole = super().channel(X, y)
            assert isinstance(whole, GaussianChannel)
            return GaussianChannel(whole.mean[:, : self.n_features_out], whole.scale[:, : self.n_features_out])
        table = self._posterior_means(X, y).astype(np.float64)
        return CategoricalChannel(table / table.sum(axis=1, keepdims=True))

    def cluster_probabilities(self, X: DataLike, y: DomainLike | None = None) -> np.ndarray:
        """Return the probability of each value.

        Args:
            X: Rows, as for :meth:`fit`.
            y: Not needed.

        Returns:
            (rows, values).

        Raises:
            DataError: If the latent has columns.
        """
        if self.latent_dim is not None:
            raise DataError(f"latent_dim={self.latent_dim!r}: a latent of numbers has no clusters. Fit with values=.")
        return self._posterior_means(X, y)

    @property
    def frontier_(self) -> tuple[FrontierPoint, ...]:
        """Return how natural the latent is with each number of values or columns, fewest first."""
        check_is_fitted(self)
        table, names = np.asarray(self.module_.conclusion.frontier), self.record_.layout.modalities
        if not self.module_.conclusion.measured:
            return ()  # an interrupted fit has no frontier yet
        return tuple(
            FrontierPoint(
                number,
                dict(zip(names, map(float, errors), strict=True)),
                float(kept),
                float(score),
                float(gap),
                number == self.n_features_out,
            )
            for number, (kept, score, gap, *errors) in enumerate(table, start=1)
        )

    @property
    def domain_errors_(self) -> Mapping[str, Mapping[str, float]]:
        """Return, for each domain, the redundancy error of each modality on held-out rows, in nats, and the information kept."""
        check_is_fitted(self)
        layout = self.record_.layout
        columns = ("information", *layout.modalities)
        labels = layout.domain_labels or ("all rows",)
        table = np.asarray(self.module_.conclusion.domains)
        return {
            str(label): dict(zip(columns, map(float, row), strict=True))
            for label, row in zip(labels, table, strict=True)
        }

    @property
    def restart_scores_(self) -> np.ndarray:
        """Return the score of each restart on held-out rows; lower is better."""
        check_is_fitted(self)
        return np.asarray(self.module_.conclusion.scores)

    @property
    def agreement_(self) -> np.ndarray:
        """Return how much each restart agrees with each other: 1 where they give the same latent, up to names of values."""
        check_is_fitted(self)
        return np.asarray(self.module_.conclusion.agreement)

    def decode(self, latents: ArrayLike) -> Values:
        """Return expected data given latents, by a decoder that was fitted when the latent was there already.

        Args:
            latents: Probabilities of the values, or columns, (rows, latents).

        Returns:
            An array for each modality by name, in the units of the data; of codes the most probable.
        """
        check_is_fitted(self)
        values = check_latents(latents, self.n_features_out)
        padded = np.pad(values, ((0, 0), (0, self._kind.size - self.n_features_out)))
        return outward(self, map_rows(draw_rows, self.module_, Dataset({"latents": padded})))

    def reconstruct(self, X: DataLike, y: DomainLike | None = None) -> Values:
        """Return expected data given the latent of each row: what its modalities share of them, and no more.

        Args:
            X: Rows, as for :meth:`fit`; a row may lack modalities.
            y: Not needed.

        Returns:
            An array for each modality by name, in the units of the data.
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

    def prototypes(self, X: DataLike) -> dict[str, np.ndarray]:
        """Return the mean of each modality for each value of the latent: what the values look like.

        Args:
            X: Rows, as for :meth:`fit`.

        Returns:
            (values, ...) by modality, in the units of the data.
        """
        data = X if isinstance(X, Dataset) else Dataset(X)
        probability = self.cluster_probabilities(data).astype(np.float64)
        result = {}
        for name in data.names:
            known = data.cells_observed(name)
            seen = (data.observed[name][:, None] if known is None else known).reshape(len(data), -1)
            rows = np.where(seen, np.asarray(data[name]).reshape(len(data), -1), 0.0)
            mean = probability.T @ rows / np.maximum(probability.T @ seen, 1e-12)
            result[name] = mean.reshape(-1, *data.layout.shape(name))
        return result
