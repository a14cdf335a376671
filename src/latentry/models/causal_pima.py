"""causalPIMA: multimodal latents, clusters, and a causal graph over what the clusters mean."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from latentry.data import Batch, Dataset
from latentry.errors import CheckpointError
from latentry.graphs import Knowledge, as_values, hodge_init
from latentry.models.conditional import Manifold, only
from latentry.models.expert_updates import new_expert
from latentry.models.mixture import BLOCKED, HodgeTable, Table, standard_mixture
from latentry.models.mixture_updates import shape_of
from latentry.models.node_labels import NodesParameter
from latentry.models.node_questions import NodeQuestions
from latentry.models.node_updates import Nodes, UpdateNodes
from latentry.models.pima_checks import check_causal_pima, parse_nodes
from latentry.models.pima_module import JointBound, Pima
from latentry.models.structural_em import Experiments, complete_graph
from latentry.nets import Expert
from latentry.training import Phase

__all__ = ["CausalPIMA"]

_ALONG_AN_AXIS = 3  # values that have room along one latent
_PRETRAINING = 0.5  # share of the epochs
_ROWS_BETWEEN_UPDATES = 2000  # few rows are passed over several times first: an update costs as much as on many
_GRAPH_EVERY = 5  # epochs between two looks at other graphs
_NUMBERS_AS_ONE = 24  # of pixels and other entries that networks decode


@dataclass(eq=False, repr=False)
class CausalPIMA(NodeQuestions):
    r"""Latents of many modalities, in clusters; clusters are configurations of nodes; the nodes have a causal graph.

    :math:`p(x, z, N) = \prod_m p(x_m \mid z, N)\; p(z \mid N) \prod_\ell p(N_\ell \mid \mathrm{Pa}(N_\ell))`, after Walker,
    Actor, Martinez and Trask (*Causal disentanglement of multimodal data*, 2023) and Trask et al. (2022). The posterior of
    z is a masked product of experts over whatever was observed; that of the nodes is the exact mean-field optimum.

    What it cannot do: observations determine a graph up to equivalence at most, so :attr:`graph_` shows arrows only where
    all equivalent graphs agree. Nodes mean something because each moves one latent (``means="axes"``) or adds a part to
    the mean ("additive"); without that, any relabelling of the clusters fits as well. Features that are not bimodal,
    or overlap much, are not found. No hidden common cause of two nodes is allowed for.

    Args:
        nodes: Outcomes of each node, such as (2, 2, 3), or a mapping from name to outcomes. Names are N1, N2, ...
        experts: For a modality, an expert in place of its decoder: ``{"curve": latentry.nets.two_piece_linear(grid)}``.
        per_cluster: Modalities whose decoder is another network in each cluster; the others share one.
        graph: "search" (exact search and the bound of the whole mixture, after every few epochs), or "hodge" (the
            paper's differentiable graph, end to end).
        means: "axes" (node ℓ moves latent ℓ), "additive" (parts add up), "free" (the paper: every cluster its own), or
            "auto": axes where there are enough latents, and no node has more than three values to lie along its own.
        covariance: "diagonal", or "full" for a covariance in each cluster.
        gamma: "exact", or "sample" for the paper's probabilities at one drawn z.
        pretraining: "guided" (rows are first read as nodes from the data themselves, and the latents are trained to that
            reading), "vae" (standard normal prior; rows are read from data and latents) or "reconstruction".
        balance: How many numbers of a row count as one. Pixels do not err independently; counted one by one they outvote
            the prior, and nodes drift off their meaning. None takes one for 24; 1 trains by the bound itself. It weighs
            the training loss alone: ``score`` is the bound.
        mixture_updates: Rounds of EM after each epoch.
        required: Edges that must be in the graph, as (parent, child).
        forbidden: Edges that must not be.
        tiers: Groups of nodes, causes first: no edge leads back into an earlier group.
        interventions: For a label of the domain, the nodes that were set in its rows: ``{"treated": {"N1": 1}}``.
        graph_penalty: For each edge, in nats per row, in "hodge" mode.
        graph_steps: Further gradient steps on the graph after each epoch, in "hodge" mode.
        cooling: First and last temperature of the graph, in "hodge" mode.

    For the other arguments see :class:`VAE` and :class:`LatentModel`.

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> bits = rng.integers(0, 2, size=(200, 2))
    >>> rows = 4 * bits @ rng.normal(size=(2, 5)) + 0.1 * rng.normal(size=(200, 5))
    >>> model = CausalPIMA(nodes=(2, 2), epochs=10, hidden=(16,), progress=False).fit(rows)
    >>> model.clusters(rows).shape, model.nodes(rows).shape
    ((200,), (200, 2))
    """

    epochs: int = 150
    nodes: Any = NodesParameter((2, 2))
    experts: Mapping[str, Expert] | None = None
    per_cluster: Sequence[str] = ()
    graph: str = "search"
    means: str = "auto"
    covariance: str = "diagonal"
    gamma: str = "exact"
    pretraining: str = "guided"
    balance: float | None = None
    mixture_updates: int = 5
    required: Sequence[tuple[str, str]] = ()
    forbidden: Sequence[tuple[str, str]] = ()
    tiers: Sequence[Sequence[str]] = ()
    interventions: Mapping[Any, Mapping[str, int]] | None = None
    graph_penalty: float = 0.01
    graph_steps: int = 20
    cooling: Sequence[float] = (1.0, 0.1)

    name: ClassVar[str] = "causal-pima"

    # What the contract asks for ---------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: FBT002 (scikit-learn's signature)
        """Parameters as they were given."""
        return super().get_params(deep) | {"nodes": self.__dict__["nodes"]}

    @property
    def score_name(self) -> str:
        """What the score is."""
        return "evidence lower bound (one draw per row)"

    @property
    def reads_domain(self) -> bool:
        """Only to know which nodes were set."""
        return bool(self.interventions)

    def learn_facts(self, data: Dataset) -> dict[str, Any]:
        """Likelihoods, and what was set in each domain."""
        check_causal_pima(self, data)
        names, outcomes = parse_nodes(self.__dict__["nodes"])
        given = {str(label): as_values(do, names, outcomes) for label, do in (self.interventions or {}).items()}
        labels = data.domain.labels if given and data.domain is not None else ()
        experiments = [given.get(str(label), {}) for label in labels or ()]
        return super().learn_facts(data) | {"experiments": experiments}

    def prepared(self, data: Dataset) -> Dataset:
        """Return the rows with their numbers and those of their experiments; the domain says nothing else."""
        codes = None
        if self.reads_domain and data.domain is not None:
            codes = data.domain.recode(self.layout_.domain_labels, self.layout_.domain_size).values
        return data.with_domain(None).numbered(codes)

    def build(self, key: jax.Array) -> Any:
        """Networks, a mixture that is standard normal until nodes are found, and a table without edges."""
        nodes = self._nodes()
        clusters = nodes.values.shape[1]
        one, two = jax.random.split(key)
        experts = {
            name: new_expert(
                expert,
                self.statistics_.shift.get(name, np.zeros(())),
                self.statistics_.scale.get(name, np.ones(())),
                nodes.values,
                nodes.names,
            )
            for name, expert in (self.experts or {}).items()
        }
        return Pima(
            networks=super().build(one),
            mixture=standard_mixture(clusters, self.latent_dim),
            table=self._table(nodes, two),
            experts=experts,
            own=self._own_decoders(clusters, jax.random.fold_in(key, 2)),
            counts=jnp.ones((len(nodes.experiments.free), clusters)),
            labels=jnp.full(self.rows_, -1, jnp.int32),
            age=jnp.zeros((), jnp.int32),
            sampled=self.gamma == "sample",
        )

    def _own_decoders(self, clusters: int, key: jax.Array) -> dict[str, Any]:
        """For each modality named in ``per_cluster``, as many decoders as clusters, stacked."""
        if not self.per_cluster:
            return {}

        def decoders(one: jax.Array) -> dict[str, Any]:
            built = self.design().build(self.layout_, self.facts_, self.latent_dim, one).decoders
            return {name: built[name] for name in self.per_cluster}

        stacked: dict[str, Any] = eqx.filter_vmap(decoders)(jax.random.split(key, clusters))
        return stacked

    def _table(self, nodes: Nodes, key: jax.Array) -> Table | HodgeTable:
        free, blocked = (jnp.asarray(a, jnp.float32) for a in (nodes.experiments.free, nodes.experiments.blocked))
        flat = -np.log(np.asarray(nodes.outcomes, float))[:, None] * np.ones_like(nodes.values, float)
        if self.graph == "search":
            whole = complete_graph(nodes.names, nodes.outcomes, nodes.knowledge)
            return Table(jnp.asarray(flat, jnp.float32), jnp.asarray(whole.adjacency, jnp.float32), free, blocked)
        blank = tuple(jnp.zeros(nodes.outcomes) for _ in nodes.names)
        first = jnp.asarray(self.cooling[0], jnp.float32)
        return HodgeTable(hodge_init(len(nodes.names), key), blank, first, 0.3 * first, free, blocked, nodes.knowledge)

    def _nodes(self) -> Nodes:
        """Names, outcomes, experiments and what is known of the nodes."""
        names, outcomes = parse_nodes(self.__dict__["nodes"])
        means = self._means(outcomes)
        done = [*self.facts_["experiments"], {}]  # the last is mere observation
        values = np.stack(np.unravel_index(np.arange(int(np.prod(outcomes))), outcomes))
        free = np.array([[name not in do for name in names] for do in done], float)
        excluded = [[any(values[names.index(n), c] != v for n, v in do.items()) for c in range(values.shape[1])] for do in done]
        experiments = Experiments(names, outcomes, free, BLOCKED * np.array(excluded, float))
        knowledge = Knowledge(names, self.tiers, tuple(self.required), tuple(self.forbidden))
        shape = shape_of(outcomes, self.latent_dim, means=means, full=self.covariance == "full")
        return Nodes(names, outcomes, experiments, knowledge, shape, unmix=means == "axes")

    def _means(self, outcomes: Sequence[int]) -> str:
        if self.means != "auto":
            return self.means
        roomy = self.latent_dim >= len(outcomes) and max(outcomes) <= _ALONG_AN_AXIS
        return "axes" if roomy and self.covariance == "diagonal" else "additive"

    def passes(self) -> int:
        """Return how many passes over the rows are taken before nodes and graph are updated."""
        return max(1, _ROWS_BETWEEN_UPDATES // self.rows_)

    def phases(self) -> tuple[Phase, ...]:
        """Coordinates first, then nodes and everything together."""
        hide = self.modality_dropout if len(self.layout_.shapes) > 1 else 0.0
        rates: dict[str, Any] = {"schedule": self.schedule, "clip": self.clip, "patience": self.patience}
        first = max(1, round(_PRETRAINING * self.epochs))
        rest = max(1, self.epochs - first)
        guided = self.pretraining == "guided"
        hook = UpdateNodes(
            self._nodes(),
            rounds=self.mixture_updates,
            every=max(1, round(_GRAPH_EVERY / self.passes())),
            graph_steps=self.graph_steps,
            penalty=self.graph_penalty,
            cooling=(float(self.cooling[0]), float(self.cooling[1]), -(-rest // self.passes())),
            seed=self.seed,
            scales=self.statistics_.scale,
            look=not guided,
        )
        weight = self.beta * self._balance()
        before: Any = Manifold(weight if self.pretraining == "vae" else 1e-3, hide)
        if guided:
            before = JointBound(weight, hide, self.graph_penalty, guided=True)
        joint = JointBound(weight, hide, self.graph_penalty)
        moving = only("networks", "own") if self.graph == "search" else trained_graph
        reads = replace(hook, guided=True) if guided else None
        return (
            Phase("coordinates", before, first, self.learning_rate, trainable=only("networks", "own"), after_epoch=reads, **rates),
            Phase("nodes", joint, rest, self.learning_rate, trainable=moving, after_epoch=hook, **rates),
        )

    def _balance(self) -> float:
        if self.balance is not None:
            return float(self.balance)
        decoded = sum(math.prod(shape) for name, shape in self.layout_.shapes if name not in (self.experts or {}))
        return max(1.0, decoded / _NUMBERS_AS_ONE)

    @staticmethod
    def posterior(module: Any, batch: Batch, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Of each latent."""
        return module.posterior(batch)

    @staticmethod
    def evidence(module: Any, batch: Batch, key: jax.Array) -> jax.Array:
        """The evidence lower bound of each row."""
        fit, rest = module.bound(batch, key)
        return fit + rest

    @staticmethod
    def generate(module: Any, key: jax.Array, count: int) -> dict[str, jax.Array]:
        """Clusters as often as the table says, then latents, then data."""
        one, two = jax.random.split(key)
        return module.draw(module.draw_clusters(count, one), two)

    @staticmethod
    def rebuild(module: Any, batch: Batch, key: jax.Array) -> dict[str, jax.Array]:
        """Expected values of every modality."""
        return module.means(batch)

    def check_loaded(self, folder: str) -> None:
        """An expert of your own is not in the folder: the one given must make the rows that were fitted."""
        for name, decoder in self.module_.experts.items():
            if not np.allclose(decoder.rows(), decoder.fitted, rtol=1e-3, atol=1e-5 * float(jnp.abs(decoder.fitted).max())):
                raise CheckpointError(
                    f"experts[{name!r}] makes other rows than the expert that {folder} was fitted with: another formula, or "
                    "another grid. Give the same."
                )


def trained_graph(module: Any) -> Any:
    """Networks and the graph's own parameters are trained; the rest is updated in blocks."""
    chosen = only("networks", "own")(module)
    parts = jax.tree.map(eqx.is_inexact_array, (module.table.hodge, module.table.logits))
    return eqx.tree_at(lambda m: (m.table.hodge, m.table.logits), chosen, replace=parts)
