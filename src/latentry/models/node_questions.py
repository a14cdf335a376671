"""What a fitted causalPIMA is asked: clusters, graphs, and rows of other worlds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from latentry.data import Batch
from latentry.graphs import EdgeFrequencies, Graph, as_values, edge_frequencies, hodge_graph
from latentry.graphs import counterfactual as other_world
from latentry.graphs import sample as draw_nodes
from latentry.models.checks import whole_number
from latentry.models.expert_updates import UNKNOWN
from latentry.models.latent_graph import LatentGraph, latent_graph, warn_reversible
from latentry.models.mixture import HodgeTable, solve_rows
from latentry.models.node_updates import Nodes
from latentry.models.pima_checks import parse_nodes
from latentry.models.pima_module import Pima
from latentry.models.restart_graphs import matched_names, renamed
from latentry.models.vae import VAE
from latentry.training import map_rows

__all__ = ["NodeQuestions"]


class NodeQuestions(VAE):
    """Questions to a model whose latents lie in clusters, and whose clusters are configurations of nodes."""

    interventions: Mapping[Any, Mapping[str, int]] | None
    required: Sequence[tuple[str, str]]
    forbidden: Sequence[tuple[str, str]]
    tiers: Sequence[Sequence[str]]

    def _nodes(self) -> Nodes:
        """Names, outcomes, experiments and what is known of the nodes."""
        raise NotImplementedError

    def cluster_probabilities(self, X: Any, y: Any = None) -> np.ndarray:
        """Of each cluster, (rows, clusters); clusters count through the nodes' values, the last node fastest."""
        check_is_fitted(self)
        return map_rows(_probabilities, self.module_, self._ready(X, y)).astype(np.float64)

    def clusters(self, X: Any, y: Any = None) -> np.ndarray:
        """The most probable cluster of each row."""
        return self.cluster_probabilities(X, y).argmax(axis=1)

    def node_probabilities(self, X: Any, y: Any = None) -> dict[str, np.ndarray]:
        """For each node, the probability of its values in each row."""
        names, outcomes = parse_nodes(self.__dict__["nodes"])
        table = self.cluster_probabilities(X, y).reshape(-1, *outcomes)
        axes = range(1, len(outcomes) + 1)
        return {n: table.sum(axis=tuple(a for a in axes if a != i + 1)) for i, n in enumerate(names)}

    @property
    def graph_(self) -> LatentGraph:
        """The graph of the nodes: its class, one member with tables, strengths of the edges."""
        check_is_fitted(self)
        nodes, table = self._nodes(), self.module_.table
        if isinstance(table, HodgeTable):
            heat, known = float(table.temperature), nodes.knowledge
            graph = hodge_graph(table.hodge, nodes.names, nodes.outcomes, temperature=heat, knowledge=known)
        else:
            graph = Graph.from_adjacency(np.asarray(table.adjacency), nodes.names, nodes.outcomes)
        counts = nodes.experiments.counts(np.asarray(self.module_.counts, np.float64))
        return latent_graph(graph, counts, nodes.knowledge, nodes.experiments.targets)

    def graph_frequencies(self, X: Any, y: Any = None, *, replicates: int = 200, seed: int = 0) -> EdgeFrequencies:
        """How often edges come back when rows are drawn with replacement; the latents stay as they are.

        Graphs are then sought by the nodes' expected counts alone: quicker than the fit's own comparison, and readier to join
        nodes that overlap.
        """
        nodes, found = self._nodes(), self.graph_
        gamma, codes = self.cluster_probabilities(X, y), self._experiment_of(X, y)
        whole_number("replicates", replicates, least=1)
        rng, graphs = np.random.default_rng(seed), []
        for _ in range(replicates):
            chosen = rng.integers(0, len(gamma), len(gamma))
            counts = np.zeros((len(nodes.experiments.free), gamma.shape[1]))
            np.add.at(counts, codes[chosen], gamma[chosen])
            graphs.append(found.find(nodes.experiments.counts(counts)))
        return edge_frequencies(graphs)

    def _experiment_of(self, X: Any, y: Any) -> np.ndarray:
        """Of each row; -1, the last, is mere observation."""
        numbering = self._ready(X, y).numbering
        assert numbering is not None
        return numbering.experiments

    def restart_frequencies(self, X: Any, y: Any = None, *, restarts: int = 5) -> EdgeFrequencies:
        """How often edges come back when the whole model is fitted again to these rows, with other seeds.

        This fit counts as the first. A node of another fit is taken for the node of this one that it agrees with most.
        """
        whole_number("restarts", restarts, least=1)
        outcomes = parse_nodes(self.__dict__["nodes"])[1]
        mine, patterns = _cells(self.clusters(X, y), outcomes), [self.graph_.cpdag]
        named = bool(self.interventions or self.required or self.forbidden or self.tiers)  # then names are no accident
        for again in range(1, restarts + 1):
            other = clone(self).set_params(seed=self.seed + again).fit(X, y)
            columns = matched_names(mine, _cells(other.clusters(X, y), outcomes), outcomes)
            patterns.append(other.graph_.cpdag if named else renamed(other.graph_.cpdag, columns))
        return edge_frequencies(patterns)

    @property
    def experts_(self) -> dict[str, dict[str, np.ndarray]]:
        """For each expert its parameters: ``{"x0": values, "x0_error": standard errors, ...}``, and the noise.

        An error is NaN where a group has one row or none.
        """
        check_is_fitted(self)
        return {name: _expert_table(decoder) for name, decoder in self.module_.experts.items()}

    def impute(self, X: Any, y: Any = None) -> Any:
        """Every modality of every row: as measured where it was, expected values where it was not."""
        check_is_fitted(self)
        data = self._complete(self._read(X, y, fitting=False))
        filled = self.reconstruct(X, y)
        found = {}
        for name, guess in (filled if isinstance(filled, dict) else {"x": filled}).items():
            seen = data.observed[name]
            found[name] = np.array(guess)
            found[name][seen] = np.asarray(data[name])[seen]
        return found if isinstance(filled, dict) else found["x"]

    def sample(
        self, n: int = 1, *, do: Mapping[str, int] | None = None, noise: bool = True, seed: int = 0
    ) -> Any:
        """New rows in the data's own units; with ``do``, of the world in which those nodes are set.

        Args:
            n: How many.
            do: Nodes and the values they are set to; by default nothing is set.
            noise: Whether observation noise is added; without it, rows are expected values given drawn latents.
            seed: Of the draws.
        """
        check_is_fitted(self)
        whole_number("n", n, least=1)
        whole_number("seed", seed, least=0)
        one, two = jax.random.split(jax.random.key(seed))
        room = max(64, 1 << (n - 1).bit_length())  # powers of two: few sizes to compile for
        clusters = self._set_clusters(room, do, seed) if do else self.module_.draw_clusters(room, one)
        drawn = _drawn(self.module_, clusters, two, noise=noise)
        return self._outward({name: np.asarray(array)[:n] for name, array in drawn.items()})

    def _set_clusters(self, n: int, do: Mapping[str, int], seed: int) -> jax.Array:
        found = self.graph_
        do = as_values(do, found.graph.names, found.graph.outcomes)
        labels = draw_nodes(found.graph, n, seed, do=do)
        warn_reversible(found, do)
        return self._cluster_of(labels)

    def counterfactual(
        self, X: Any, y: Any = None, *, do: Mapping[str, int], seed: int = 0, coupling: str = "monotone"
    ) -> Any:
        """What these rows would have looked like had the nodes been set: expected values, in the data's own units.

        The nodes' noise is kept (see :func:`latentry.graphs.counterfactual`), and so is a row's place within its cluster.
        """
        found = self.graph_
        whole_number("seed", seed, least=0)
        data = self._ready(X, y)
        mean, gamma = map_rows(_place, self.module_, data)
        labels = _cells(gamma.argmax(axis=1), found.graph.outcomes)
        do = as_values(do, found.graph.names, found.graph.outcomes)
        imagined, codes = labels.copy(), self._experiment_of(X, y)
        for code in np.unique(codes):  # what an experiment had set stays set
            rows, held = codes == code, [*self.facts_["experiments"], {}][code]
            own = np.random.default_rng((seed, code + 1)).integers(2**31)
            imagined[rows] = other_world(found.graph, labels[rows], {**held, **do}, int(own), coupling=coupling)  # type: ignore[arg-type]
        warn_reversible(found, do)
        before, after = self._cluster_of(labels), self._cluster_of(imagined)
        moved = _moved(self.module_, jnp.asarray(mean), before, after)
        return self._outward({name: np.asarray(array) for name, array in moved.items()})

    def _cluster_of(self, labels: np.ndarray) -> jax.Array:
        outcomes = parse_nodes(self.__dict__["nodes"])[1]
        return jnp.asarray(np.ravel_multi_index(tuple(labels.T), outcomes))


def _cells(clusters: np.ndarray, outcomes: Sequence[int]) -> np.ndarray:
    """Value of each node, (rows, nodes), from clusters."""
    return np.stack(np.unravel_index(clusters, tuple(outcomes)), axis=1)


@eqx.filter_jit
def _drawn(module: Pima, clusters: jax.Array, key: jax.Array, *, noise: bool) -> dict[str, jax.Array]:
    return module.draw(clusters, key, noise=noise)


def _probabilities(module: Pima, batch: Batch, key: jax.Array) -> jax.Array:
    return module.probabilities(batch)


def _place(module: Pima, batch: Batch, key: jax.Array) -> tuple[jax.Array, jax.Array]:
    return module.posterior(batch)[0], module.probabilities(batch)


@eqx.filter_jit
def _moved(module: Pima, latents: jax.Array, before: jax.Array, after: jax.Array) -> dict[str, jax.Array]:
    """Rows with the same place within another cluster, decoded."""
    mixture = module.mixture
    inner = jnp.einsum("rij,rj->ri", mixture.factors[before], latents - mixture.means[before])
    there = mixture.means[after] + solve_rows(mixture.factors[after], inner)
    return module.decoded(mixture.coordinates(there), jax.nn.one_hot(after, len(mixture.means)))


def _expert_table(decoder: Any) -> dict[str, np.ndarray]:
    found = {}
    for name, _ in decoder.groups:
        found[name] = np.asarray(decoder.values[name], np.float64)
        errors = np.asarray(decoder.errors[name], np.float64)
        found[f"{name}_error"] = np.where(errors == UNKNOWN, np.nan, errors)
    return found | {"noise": np.exp(np.asarray(decoder.log_scale, np.float64))}
