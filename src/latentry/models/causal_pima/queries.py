"""What a fitted causalPIMA answers: clusters, graphs, and rows of other worlds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from latentry.contracts import PhysicalParameter
from latentry.data import Batch, Dataset
from latentry.graphs import EdgeFrequencies, Graph, as_values, edge_frequencies, hodge_graph
from latentry.graphs import counterfactual as other_world
from latentry.graphs import sample as draw_nodes
from latentry.models.causal_pima.checks import parse_nodes
from latentry.models.causal_pima.expert_updates import UNKNOWN
from latentry.models.causal_pima.latent_graph import LatentGraph, latent_graph, warn_reversible
from latentry.models.causal_pima.mixture import HodgeTable, solve_rows
from latentry.models.causal_pima.module import Pima
from latentry.models.causal_pima.node_updates import Nodes, numbers_of
from latentry.models.causal_pima.restart_graphs import matched_names, renamed
from latentry.models.estimator import Whole, check_draws, completed, outward, read, ready, require
from latentry.training import map_rows

if TYPE_CHECKING:
    from latentry.models.causal_pima.estimator import CausalPIMA

__all__ = [
    "cluster_probabilities",
    "experts_table",
    "imagined_rows",
    "imputed",
    "learned_graph",
    "node_probabilities",
    "physical_parameters",
    "resampled_graphs",
    "restarted_graphs",
    "rows_of_worlds",
]


def cluster_probabilities(model: CausalPIMA, data: Dataset) -> np.ndarray:
    """Return the probability of each cluster, (rows, clusters), of rows as the module sees them."""
    return map_rows(_probabilities, model.module_, data).astype(np.float64)


def node_probabilities(gamma: np.ndarray, names: Sequence[str], outcomes: Sequence[int]) -> dict[str, np.ndarray]:
    """Return, for each node, the probability of its values, from probabilities of clusters."""
    table = gamma.reshape(-1, *outcomes)
    axes = range(1, len(outcomes) + 1)
    return {n: table.sum(axis=tuple(a for a in axes if a != i + 1)) for i, n in enumerate(names)}


def learned_graph(module: Pima, nodes: Nodes) -> LatentGraph:
    """Return the graph of the nodes: its class, one member with tables, strengths of the edges."""
    table = module.table
    if isinstance(table, HodgeTable):
        heat, known = float(table.temperature), nodes.knowledge
        graph = hodge_graph(table.hodge, nodes.names, nodes.outcomes, temperature=heat, knowledge=known)
    else:
        graph = Graph.from_adjacency(np.asarray(table.adjacency), nodes.names, nodes.outcomes)
    counts = nodes.experiments.counts(np.asarray(module.counts, np.float64))
    return latent_graph(graph, counts, nodes.knowledge, nodes.experiments.targets)


def resampled_graphs(model: CausalPIMA, data: Dataset, replicates: int, seed: int) -> EdgeFrequencies:
    """Count how often edges come back when rows are drawn with replacement; the latents stay as they are."""
    nodes, found = model.node_design(), model.graph_
    gamma, codes = cluster_probabilities(model, data), numbers_of(data).experiments
    require("replicates", replicates, Whole(1))
    rng, graphs = np.random.default_rng(seed), []
    for _ in range(replicates):
        chosen = rng.integers(0, len(gamma), len(gamma))
        counts = np.zeros((len(nodes.experiments.free), gamma.shape[1]))
        np.add.at(counts, codes[chosen], gamma[chosen])
        graphs.append(found.find(nodes.experiments.counts(counts)))
    return edge_frequencies(graphs)


def restarted_graphs(model: CausalPIMA, X: Any, y: Any, restarts: int) -> EdgeFrequencies:
    """Count how often edges come back when the whole model is fitted again to these rows, with other seeds."""
    require("restarts", restarts, Whole(1))
    outcomes = parse_nodes(model.nodes)[1]
    mine, patterns = _cells(model.clusters(X, y), outcomes), [model.graph_.cpdag]
    known = model.graph_search
    named = bool(model.interventions or known.required or known.forbidden or known.tiers)  # then names are no accident
    for again in range(1, restarts + 1):
        other = clone(model).set_params(seed=model.seed + again).fit(X, y)
        columns = matched_names(mine, _cells(other.clusters(X, y), outcomes), outcomes)
        patterns.append(other.graph_.cpdag if named else renamed(other.graph_.cpdag, columns))
    return edge_frequencies(patterns)


def imputed(model: CausalPIMA, X: Any, y: Any) -> Any:
    """Return every modality of every row: as measured where it was, expected values where it was not."""
    check_is_fitted(model)
    data = completed(model, read(model, X, y, fitting=False))
    filled = model.reconstruct(X, y)
    found = {}
    for name, guess in (filled if isinstance(filled, dict) else {"x": filled}).items():
        seen = data.observed[name]
        found[name] = np.array(guess)
        found[name][seen] = np.asarray(data[name])[seen]
    return found if isinstance(filled, dict) else found["x"]


def rows_of_worlds(model: CausalPIMA, n: int, do: Mapping[str, int] | None, *, noise: bool, seed: int) -> Any:
    """Draw new rows in the units of the data; with ``do``, of the world in which those nodes are set."""
    check_draws(model, n, seed)
    cluster_key, row_key = jax.random.split(jax.random.key(seed))
    room = max(64, 1 << (n - 1).bit_length())  # powers of two: few sizes to compile for
    clusters = _set_clusters(model, room, do, seed) if do else model.module_.draw_clusters(room, cluster_key)
    drawn = _drawn(model.module_, clusters, row_key, noise=noise)
    return outward(model, {name: np.asarray(array)[:n] for name, array in drawn.items()})


def _set_clusters(model: CausalPIMA, n: int, do: Mapping[str, int], seed: int) -> jax.Array:
    found = model.graph_
    do = as_values(do, found.graph.names, found.graph.outcomes)
    labels = draw_nodes(found.graph, n, seed, do=do)
    warn_reversible(found, do)
    return _cluster_of(labels, found.graph.outcomes)


def imagined_rows(model: CausalPIMA, X: Any, y: Any, do: Mapping[str, int], seed: int, coupling: str) -> Any:
    """Return what rows would have looked like had the nodes been set: expected values, in the units of the data."""
    found = model.graph_
    require("seed", seed, Whole(0))
    data = ready(model, X, y)
    mean, gamma = map_rows(_place, model.module_, data)
    outcomes = found.graph.outcomes
    labels = _cells(gamma.argmax(axis=1), outcomes)
    do = as_values(do, found.graph.names, outcomes)
    imagined, codes = labels.copy(), numbers_of(data).experiments
    for code in np.unique(codes):  # what an experiment had set stays set
        rows, held = codes == code, [*model.facts.experiments, {}][code]
        own = np.random.default_rng((seed, code + 1)).integers(2**31)
        imagined[rows] = other_world(found.graph, labels[rows], {**held, **do}, int(own), coupling=coupling)  # type: ignore[arg-type]
    warn_reversible(found, do)
    moved = _moved(model.module_, jnp.asarray(mean), _cluster_of(labels, outcomes), _cluster_of(imagined, outcomes))
    return outward(model, moved)


def _cluster_of(labels: np.ndarray, outcomes: Sequence[int]) -> jax.Array:
    return jnp.asarray(np.ravel_multi_index(tuple(labels.T), tuple(outcomes)))


def experts_table(module: Pima) -> dict[str, dict[str, np.ndarray]]:
    """Return, for each expert, its parameters with their standard errors, and the noise."""
    return {name: _expert_table(decoder) for name, decoder in module.experts.items()}


def physical_parameters(module: Pima) -> list[PhysicalParameter]:
    """Return every parameter of every expert decoder."""
    found = []
    for modality, decoder in module.experts.items():
        table = _expert_table(decoder)
        for name, parameter in decoder.expert.parameters.items():
            found.append(PhysicalParameter(modality, name, parameter.per, table[name], table[f"{name}_error"]))
    return found


def _cells(clusters: np.ndarray, outcomes: Sequence[int]) -> np.ndarray:
    """Value of each node, (rows, nodes), from clusters."""
    return np.stack(np.unravel_index(clusters, tuple(outcomes)), axis=1)


@eqx.filter_jit
def _drawn(module: Pima, clusters: jax.Array, key: jax.Array, *, noise: bool) -> dict[str, jax.Array]:
    return module.draw(clusters, key, noise=noise)


def _probabilities(module: Pima, batch: Batch, key: jax.Array) -> jax.Array:
    return module.probabilities(batch)


def _place(module: Pima, batch: Batch, key: jax.Array) -> tuple[jax.Array, jax.Array]:
    return module.encode(batch)[0], module.probabilities(batch)


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
