"""causalPIMA: multimodal latents, clusters, and a causal graph over what the clusters mean."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, Self, final

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from latentry.contracts import (
    CanBeIntervenedOn,
    CanBeOriented,
    DecodesLatents,
    ExplainsChoices,
    FitRecord,
    HasDoubts,
    HasLatentMixture,
    HasLikelihood,
    HasPhysics,
    Imputes,
    LatentMixture,
    ModelFacts,
    PhysicalParameter,
)
from latentry.data import DataLike, Dataset, DomainLike
from latentry.errors import CheckpointError
from latentry.graphs import EdgeFrequencies, as_values
from latentry.models.causal_pima import building, queries
from latentry.models.causal_pima.checks import AUTOMATIC, check_causal_pima, parse_nodes
from latentry.models.causal_pima.choosing_nodes import check_automatic, choose_nodes
from latentry.models.causal_pima.facts import PimaFacts
from latentry.models.causal_pima.latent_graph import LatentGraph
from latentry.models.causal_pima.module import Pima
from latentry.models.causal_pima.node_choice import NodeChoice
from latentry.models.causal_pima.node_effects import modalities_by_effect, node_effects
from latentry.models.causal_pima.node_updates import Nodes
from latentry.models.causal_pima.orienting import checked_orientation, oriented_graph, oriented_module
from latentry.models.causal_pima.settings import GraphSearch, NodeMixture
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
    ready,
    reconstructed,
    scores,
)
from latentry.models.networks import Networks, observe
from latentry.nets import Build, Expert
from latentry.training import EngineLike, Phase

__all__ = ["CausalPIMA"]

_UNTIL_CHOSEN = (2,)  # nodes of a model that is described before a fit chooses them


@final
@dataclass(eq=False, repr=False)
class CausalPIMA(
    LatentModel[Pima, PimaFacts],
    HasLikelihood,
    HasLatentMixture,
    HasDoubts,
    ExplainsChoices,
    CanBeOriented,
    CanBeIntervenedOn,
    HasPhysics,
    Imputes,
    DecodesLatents,
):
    r"""Latents of many modalities, in clusters; clusters are configurations of nodes; the nodes have a causal graph.

    :math:`p(x, z, N) = \prod_m p(x_m \mid z, N)\; p(z \mid N) \prod_\ell p(N_\ell \mid \mathrm{Pa}(N_\ell))`, after Walker,
    Actor, Martinez and Trask (*Causal disentanglement of multimodal data*, 2023) and Trask et al. (2022). The posterior of
    z is a masked product of experts over whatever was observed; that of the nodes is the exact mean-field optimum.

    What it cannot do: observations determine a graph up to equivalence at most, so :attr:`graph_` shows arrows only where
    all equivalent graphs agree. Nodes mean something because each moves one latent (``means="axes"`` of
    :class:`NodeMixture`) or adds a part to the mean ("additive"); without that, any relabelling of the clusters fits as
    well. Features that are not bimodal, or overlap much, are missed. No hidden common cause of two nodes is allowed for.

    Cost: linear in rows, epochs and the weights of the networks, which grow with the columns, and in the configurations of
    the nodes, whose number is the product of their outcomes.

    Args:
        nodes: Outcomes of each node, such as (2, 2, 3), or a mapping from name to outcomes. Names are N1, N2, ... "auto" chooses
            them (:attr:`nodes_`, :attr:`choices_`): from the number of groups in each set of modalities, then by short fits.
        experts: For a modality, an expert in place of its decoder: ``{"curve": latentry.nets.two_piece_linear(grid)}``.
        graph: "search" (exact search and the bound of the whole mixture, after every few epochs), or "hodge" (the
            paper's differentiable graph, end to end).
        mixture: How clusters lie in the latents, and how they are learned: see :class:`NodeMixture`.
        graph_search: What is known of the graph, and how it is learned: see :class:`GraphSearch`.
        interventions: For a label of the domain, the nodes that were set in its rows: ``{"treated": {"N1": 1}}``.

    For the other arguments see :class:`VAE` and :class:`LatentModel`.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> bits = rng.integers(0, 2, size=(200, 2))
    >>> rows = 4 * bits @ rng.normal(size=(2, 5)) + 0.1 * rng.normal(size=(200, 5))
    >>> model = CausalPIMA(nodes=(2, 2), epochs=10, hidden=(16,), progress=False).fit(rows)
    >>> model.clusters(rows).shape, model.node_values(rows).shape
    ((200,), (200, 2))
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
    hidden: Sequence[int] = field(default=(64, 64))
    encoder: str | Build = "auto"
    decoder: str | Build = "auto"
    nodes: Sequence[int] | Mapping[str, int] | str = (2, 2)
    experts: Mapping[str, Expert] | None = None
    graph: str = "search"
    interventions: Mapping[Hashable, Mapping[str, int]] | None = None
    training: Training = Training()
    networks: Networks = Networks()
    mixture: NodeMixture = NodeMixture()
    graph_search: GraphSearch = GraphSearch()

    name: ClassVar[str] = "causal-pima"
    constraints: ClassVar[Mapping[str, Rule]] = {
        **COMMON,
        **HIDDEN_LAYERS,
        "graph": Choice(("search", "hodge")),
        "networks": Group(Networks),
        "mixture": Group(NodeMixture),
        "graph_search": Group(GraphSearch),
    }
    facts_class: ClassVar[type[ModelFacts]] = PimaFacts
    encodes_subsets: ClassVar[bool] = True
    takes_missing_cells: ClassVar[bool] = True

    # Learning -------------------------------------------------------------------------------

    @property
    def reads_domain(self) -> bool:
        """Return whether the domain says which nodes were set; it is read for nothing else."""
        return bool(self.interventions)

    def learn_facts(self, data: Dataset) -> PimaFacts:
        """Note likelihoods, and what was set in each domain.

        Args:
            data: Rows.

        Returns:
            What the fit must know of the data.

        Raises:
            DataError: If the data cannot be learned from.
        """
        if self.nodes == AUTOMATIC:
            check_automatic(self, data)
        nodes = NodeChoice(*parse_nodes(_UNTIL_CHOSEN if self.nodes == AUTOMATIC else self.nodes))
        names, outcomes = nodes.names, nodes.outcomes
        check_causal_pima(self, data, names, outcomes)
        given = {str(label): as_values(do, names, outcomes) for label, do in (self.interventions or {}).items()}
        labels = data.domain.labels if given and data.domain is not None else ()
        experiments = tuple(given.get(str(label), {}) for label in labels or ())
        return PimaFacts(observe(self.likelihood, data), experiments, nodes)

    def decided(self, record: FitRecord, data: Dataset, earlier: FitRecord | None) -> FitRecord:
        """Choose the nodes, if they are to be chosen.

        Args:
            record: What the rows and parameters say.
            data: Rows of the fit.
            earlier: The record of the run that goes on, if one does: its nodes stay, and what was said of its graph.

        Returns:
            The record of the fit.

        Raises:
            DataError: If the rows do not say which nodes there are.
        """
        if earlier is not None and isinstance(earlier.facts, PimaFacts):
            return replace(record, facts=earlier.facts)
        if self.nodes != AUTOMATIC:
            return record
        assert isinstance(record.facts, PimaFacts)
        nodes = choose_nodes(self, data, record.facts.observations.gaussian)
        return replace(record, facts=replace(record.facts, nodes=nodes))

    def chosen_params(self) -> Mapping[str, object]:
        """Return the nodes, where they were left to the fit."""
        return {"nodes": self.nodes_} if self.nodes == "auto" else {}

    @property
    def undecided(self) -> str | None:
        """Return that the nodes are chosen by a fit, if they are."""
        if self.nodes != AUTOMATIC:
            return None
        return "nodes                    chosen by the fit, in short fits before it; weights are those for one node of two values"

    def standardised(self, facts: PimaFacts) -> tuple[str, ...]:
        """Return the Gaussian modalities.

        Args:
            facts: What was noted of the data.

        Returns:
            Names of modalities.
        """
        return facts.observations.gaussian

    @property
    def facts(self) -> PimaFacts:
        """Return what the fit noted of the data."""
        assert isinstance(self.record_.facts, PimaFacts)
        return self.record_.facts

    def prepared(self, data: Dataset) -> Dataset:
        """Return the rows with their numbers and those of their experiments; the domain says nothing else.

        Args:
            data: Rows.

        Returns:
            Rows as the module sees them.
        """
        codes = None
        if self.reads_domain and data.domain is not None:
            layout = self.record_.layout
            codes = data.domain.recode(layout.domain_labels, layout.domain_size).values
        return data.with_domain(None).numbered(codes)

    def build(self, key: jax.Array) -> Pima:
        """Return networks, a mixture that is standard normal until nodes are read, and a table without edges.

        Args:
            key: Of random numbers.

        Returns:
            An untrained module.
        """
        return building.untrained(self, key)

    def node_design(self) -> Nodes:
        """Return names, outcomes, experiments and what is known of the nodes."""
        return building.node_design(self)

    def phases(self) -> tuple[Phase, ...]:
        """Return two phases: coordinates first, then nodes and everything together."""
        return building.phases(self)

    def in_use(self, module: Pima) -> Pima:
        """Return the module with its table as :meth:`orient` says.

        Args:
            module: Of the run.

        Returns:
            The module to ask.
        """
        return oriented_module(module, self.node_design(), self.facts.orientation)

    def check_loaded(self, folder: str) -> None:
        """Refuse an expert of the user that does not make the rows that were fitted: the folder holds none.

        Args:
            folder: The run folder.

        Raises:
            CheckpointError: If an expert makes other rows.
        """
        for name, decoder in self.module_.experts.items():
            if not np.allclose(
                decoder.rows(), decoder.fitted, rtol=1e-3, atol=1e-5 * float(jnp.abs(decoder.fitted).max())
            ):
                raise CheckpointError(
                    f"experts[{name!r}] makes other rows than the expert that {folder} was fitted with: another formula, or "
                    "another grid. Give the same."
                )

    # Answers --------------------------------------------------------------------------------

    @property
    def score_name(self) -> str:
        """Return what the score is."""
        return EVIDENCE_BOUND

    def likelihoods(self) -> Mapping[str, str]:
        """Return the name of the likelihood of each modality."""
        return self.facts.observations.likelihoods

    def score_rows(self, X: DataLike, y: DomainLike | None = None, *, seed: int = 0) -> np.ndarray:
        """Return the evidence lower bound of each row in nats, in the units of the data.

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

    def decode(self, latents: ArrayLike) -> Values:
        """Return expected data given latents; experts' rows by the probabilities of the clusters at that place.

        Args:
            latents: (rows, latents).

        Returns:
            An array, or one for each modality by name.
        """
        return decoded(self, latents)

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
            X: Rows, as for :meth:`fit`.
            y: Their domains, if ``X`` has none.

        Returns:
            An array, or one for each modality by name.
        """
        return imputed(self, X, y)

    def sample(self, n: int = 1, *, do: Mapping[str, int] | None = None, noise: bool = True, seed: int = 0) -> Values:
        """Draw new rows in the units of the data; with ``do``, of the world in which those nodes are set.

        Args:
            n: How many.
            do: Nodes and the values they are set to; by default nothing is set.
            noise: Whether observation noise is added; without it, rows are expected values given drawn latents.
            seed: Of the draws.

        Returns:
            An array, or one for each modality by name.
        """
        return queries.rows_of_worlds(self, n, do, noise=noise, seed=seed)

    def counterfactual(
        self,
        X: DataLike,
        y: DomainLike | None = None,
        *,
        do: Mapping[str, int],
        seed: int = 0,
        coupling: str = "monotone",
    ) -> Values:
        """Return what these rows would have looked like had the nodes been set: expected values, in the units of the data.

        The nodes' noise is kept (see :func:`latentry.graphs.counterfactual`), and so is a row's place within its cluster.

        Args:
            X: Rows, as for :meth:`fit`.
            y: Their domains, if ``X`` has none.
            do: Nodes and the values they are set to.
            seed: Of the nodes' noise, where a row does not determine it.
            coupling: As of :func:`latentry.graphs.counterfactual`.

        Returns:
            An array, or one for each modality by name.
        """
        check_is_fitted(self)
        return queries.imagined_rows(self, X, y, do, seed, coupling)

    # Clusters, nodes and their graph ----------------------------------------------------------

    def cluster_probabilities(self, X: DataLike, y: DomainLike | None = None) -> np.ndarray:
        """Return the probability of each cluster; clusters count through the nodes' values, the last node fastest.

        Args:
            X: Rows, as for :meth:`fit`.
            y: Their domains, if ``X`` has none.

        Returns:
            (rows, clusters).
        """
        return queries.cluster_probabilities(self, ready(self, X, y))

    def latent_mixture(self) -> LatentMixture:
        """Return the Gaussian of each cluster in the latents, weighted as its rows were in the fit."""
        check_is_fitted(self)
        return queries.latent_mixture(self)

    def clusters(self, X: DataLike, y: DomainLike | None = None) -> np.ndarray:
        """Return the most probable cluster of each row.

        Args:
            X: Rows, as for :meth:`fit`.
            y: Their domains, if ``X`` has none.

        Returns:
            Whole numbers.
        """
        likeliest: np.ndarray = self.cluster_probabilities(X, y).argmax(axis=1)
        return likeliest

    def node_probabilities(self, X: DataLike, y: DomainLike | None = None) -> dict[str, np.ndarray]:
        """Return, for each node, the probability of its values in each row.

        Args:
            X: Rows, as for :meth:`fit`.
            y: Their domains, if ``X`` has none.

        Returns:
            For each node, (rows, values).
        """
        gamma = self.cluster_probabilities(X, y)
        return queries.node_probabilities(gamma, tuple(self.nodes_), tuple(self.nodes_.values()))

    def node_values(self, X: DataLike, y: DomainLike | None = None) -> np.ndarray:
        """Return the most probable value of each node, (rows, nodes); see :meth:`node_probabilities` for how sure they are.

        Args:
            X: Rows, as for :meth:`fit`.
            y: Their domains, if ``X`` has none.

        Returns:
            Whole numbers.
        """
        probabilities = self.node_probabilities(X, y)
        return np.stack([part.argmax(axis=1) for part in probabilities.values()], axis=1)

    @property
    def nodes_(self) -> dict[str, int]:
        """Return the outcomes of each node by name, as given or chosen."""
        check_is_fitted(self)
        return dict(zip(self.facts.nodes.names, self.facts.nodes.outcomes, strict=True))

    @property
    def choices_(self) -> tuple[str, ...]:
        """Return a sentence with its numbers for each decision about the nodes; none where they were given."""
        check_is_fitted(self)
        return self.facts.nodes.sentences

    @property
    def modalities_of_nodes_(self) -> dict[str, tuple[str, ...]]:
        """Return on which modalities each node acts, as counted with ``nodes="auto"``; empty where the nodes were given.

        Nodes with as many outcomes as each other are told apart by what they change in decoded rows.
        """
        nodes = self.facts.nodes
        if not nodes.modalities:
            return {}
        effects = node_effects(self.module_, nodes.outcomes)
        matched = modalities_by_effect(effects, nodes.outcomes, nodes.modalities)
        return {name: nodes.modalities[j] for name, j in zip(nodes.names, matched, strict=True)}

    @property
    def graph_(self) -> LatentGraph:
        """Return the graph of the nodes: its class, one member with tables, strengths of the edges."""
        check_is_fitted(self)
        return oriented_graph(self.state_.result, self.node_design(), self.facts.orientation)

    def orient(
        self,
        directions: Iterable[tuple[str, str]] = (),
        *,
        required: Iterable[tuple[str, str]] = (),
        forbidden: Iterable[tuple[str, str]] = (),
    ) -> Self:
        """Give directions to reversible edges, or require and forbid edges, without a refit; ``do=`` then follows them.

        Directions stay within the class of graphs that the fit found. Other edges may leave it: the graph and its tables are
        then sought anew on the expected counts that the fit kept, and :attr:`graph_` says what that costs. Networks, clusters and
        nodes stay. A further call replaces this one; without arguments, the graph is again what the fit found.
        :meth:`save` keeps it, and so does a fit that is resumed.

        Args:
            directions: Of reversible edges, as (cause, effect).
            required: Edges that must be there.
            forbidden: Edges that must not be there.

        Returns:
            The model itself.

        Raises:
            DataError: If no graph of the class has these directions, or what is said contradicts itself or ``graph_search``.
        """
        check_is_fitted(self)
        before, found = self.record_, queries.learned_graph(self.state_.result, self.node_design())
        orientation = checked_orientation(found, directions, required, forbidden)
        self.record_ = replace(before, facts=replace(self.facts, orientation=orientation))
        try:
            self.module_ = self.in_use(self.state_.result)
        except BaseException:
            self.record_ = before
            raise
        return self

    def doubts(self) -> tuple[str, ...]:
        """Return what is doubtful about the nodes: one value in nearly all rows, or copies of each other."""
        return self.graph_.doubts

    def graph_frequencies(
        self, X: DataLike, y: DomainLike | None = None, *, replicates: int = 200, seed: int = 0
    ) -> EdgeFrequencies:
        """Count how often edges come back when rows are drawn with replacement; the latents stay as they are.

        Graphs are then sought by the nodes' expected counts alone: quicker than the fit's own comparison, and readier to join
        nodes that overlap.

        Args:
            X: Rows, as for :meth:`fit`.
            y: Their domains, if ``X`` has none.
            replicates: How many draws of all rows.
            seed: Of the draws.

        Returns:
            Fractions of the replicates, for each edge.
        """
        return queries.resampled_graphs(self, ready(self, X, y), replicates, seed)

    def restart_frequencies(
        self,
        X: DataLike,
        y: DomainLike | None = None,
        *,
        restarts: int = 5,
        executor: EngineLike = "here",
        workers: int | None = None,
    ) -> EdgeFrequencies:
        """Count how often edges come back when the whole model is fitted again to these rows, with other seeds.

        This fit counts as the first. A node of another fit is taken for the node of this one that it agrees with most.

        Args:
            X: Rows, as for :meth:`fit`.
            y: Their domains, if ``X`` has none.
            restarts: Further fits.
            executor: Where they are made, side by side but for "here": see :func:`latentry.fit_many`.
            workers: Processes, where the engine is started here.

        Returns:
            Fractions of the fits, for each edge.
        """
        check_is_fitted(self)
        return queries.restarted_graphs(self, X, y, restarts, executor, workers)

    # Physics --------------------------------------------------------------------------------

    @property
    def experts_(self) -> dict[str, dict[str, np.ndarray]]:
        """Return for each expert its parameters: ``{"x0": values, "x0_error": standard errors, ...}``, and the noise.

        An error is NaN where a group has one row or none.
        """
        check_is_fitted(self)
        return queries.experts_table(self.module_)

    def physical_parameters(self) -> Sequence[PhysicalParameter]:
        """Return every parameter of every expert, with its standard errors."""
        check_is_fitted(self)
        return queries.physical_parameters(self.module_)
