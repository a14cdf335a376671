"""What a fitted causalPIMA answers: clusters, graphs, and rows of other worlds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from latentry.contracts import LatentMixture, PhysicalParameter, Variant, Where, fit_variants
from latentry.data import Batch, DataLike, Dataset, DomainLike
from latentry.errors import DataError
from latentry.graphs import EdgeFrequencies, Graph, as_values, edge_frequencies, hodge_graph
from latentry.graphs import counterfactual as other_world
from latentry.graphs import sample as draw_nodes
from latentry.models.causal_pima.expert_updates import UNKNOWN
from latentry.models.causal_pima.latent_graph import LatentGraph, latent_graph, warn_reversible
from latentry.models.causal_pima.mixture import HodgeTable, solve_rows
from latentry.models.causal_pima.module import ExpertDecoder, Pima
from latentry.models.causal_pima.node_updates import Nodes, numbers_of
from latentry.models.causal_pima.restart_graphs import matched_names, renamed
from latentry.models.estimator import (
    Values,
    Whole,
    check_draws,
    clone,
    outward,
    read,
    ready,
    require,
)
from latentry.training import EngineLike, map_rows

if TYPE_CHECKING:
    from latentry.models.causal_pima.estimator import CausalPIMA

__all__ = [
    "cluster_probabilities",
    "experts_table",
    "imagined_rows",
    "learned_graph",
    "node_probabilities",
    "physical_parameters",
    "resampled_graphs",
    "restarted_graphs",
    "rows_of_worlds",
]


def cluster_probabilities(model: CausalPIMA, data: Dataset) -> np.ndarray:
    """Return the probability of each cluster, (rows, clusters), of rows as the module sees them.

    Args:
        model: Fitted.
        data: Standardised rows.

    Returns:
        (rows, clusters).
    """
    gamma: np.ndarray = map_rows(_probabilities, model.module_, data).astype(np.float64)
    return gamma


def node_probabilities(gamma: np.ndarray, names: Sequence[str], outcomes: Sequence[int]) -> dict[str, np.ndarray]:
    """Return, for each node, the probability of its values, from probabilities of clusters.

    Args:
        gamma: (rows, clusters).
        names: Of the nodes.
        outcomes: Of each node.

    Returns:
        For each node, (rows, values).
    """
    table = gamma.reshape(-1, *outcomes)
    axes = range(1, len(outcomes) + 1)
    return {n: table.sum(axis=tuple(a for a in axes if a != i + 1)) for i, n in enumerate(names)}


def learned_graph(module: Pima, nodes: Nodes) -> LatentGraph:
    """Return the graph of the nodes: its class, one member with tables, strengths of the edges.

    Args:
        module: Trained.
        nodes: What they are.

    Returns:
        The graph.
    """
    table = module.table
    if isinstance(table, HodgeTable):
        heat, known = float(table.temperature), nodes.knowledge
        graph = hodge_graph(table.hodge, nodes.names, nodes.outcomes, temperature=heat, knowledge=known)
    else:
        graph = Graph.from_adjacency(np.asarray(table.adjacency), nodes.names, nodes.outcomes)
    counts = nodes.experiments.counts(np.asarray(module.counts, np.float64))
    return latent_graph(graph, counts, nodes.knowledge, nodes.experiments.targets)


def resampled_graphs(model: CausalPIMA, data: Dataset, replicates: int, seed: int) -> EdgeFrequencies:
    """Count how often edges come back when rows are drawn with replacement; the latents stay as they are.

    Args:
        model: Fitted.
        data: Rows as the module sees them.
        replicates: How many draws of all rows.
        seed: Of the draws.

    Returns:
        Fractions of the replicates, for each edge.
    """
    nodes, learned = model.node_design(), model.graph_
    gamma, codes = cluster_probabilities(model, data), numbers_of(data).experiments
    require("replicates", replicates, Whole(1))
    rng, graphs = np.random.default_rng(seed), []
    for _ in range(replicates):
        chosen = rng.integers(0, len(gamma), len(gamma))
        counts = np.zeros((len(nodes.experiments.free), gamma.shape[1]))
        np.add.at(counts, codes[chosen], gamma[chosen])
        graphs.append(learned.find(nodes.experiments.counts(counts)))
    return edge_frequencies(graphs)


def restarted_graphs(
    model: CausalPIMA,
    X: DataLike,
    y: DomainLike | None,
    restarts: int,
    executor: EngineLike = "here",
    workers: int | None = None,
) -> EdgeFrequencies:
    """Count how often edges come back when the whole model is fitted again to these rows, with other seeds.

    Args:
        model: Fitted; it counts as the first.
        X: Rows, as for ``fit``.
        y: Their domains, if ``X`` has none.
        restarts: Further fits.
        executor: Where they are made.
        workers: Processes, where the engine is started here.

    Returns:
        Fractions of the fits, for each edge.
    """
    require("restarts", restarts, Whole(1))
    outcomes = tuple(model.nodes_.values())
    mine = _cells(model.clusters(X, y), outcomes)
    patterns = [learned_graph(model.state_.result, model.node_design()).cpdag]  # whatever a user has said since
    known = model.graph_search
    named = bool(model.interventions or known.required or known.forbidden or known.tiers)  # then names are no accident
    rows = read(clone(model), X, y, fitting=True)
    seeds = [{"nodes": model.nodes_, "seed": model.seed + again} for again in range(1, restarts + 1)]
    for other in fit_variants(model, [Variant(changes, rows) for changes in seeds], Where(executor, workers)):
        if isinstance(other, DataError):
            raise other
        columns = matched_names(mine, _cells(other.clusters(X, y), outcomes), outcomes)
        patterns.append(other.graph_.cpdag if named else renamed(other.graph_.cpdag, columns))
    return edge_frequencies(patterns)


def rows_of_worlds(model: CausalPIMA, n: int, do: Mapping[str, int] | None, *, noise: bool, seed: int) -> Values:
    """Draw new rows in the units of the data; with ``do``, of the world in which those nodes are set.

    Args:
        model: Fitted.
        n: How many.
        do: Nodes and the values they are set to.
        noise: Whether observation noise is added.
        seed: Of the draws.

    Returns:
        An array, or one for each modality by name.
    """
    check_draws(model, n, seed)
    cluster_key, row_key = jax.random.split(jax.random.key(seed))
    room = max(64, 1 << (n - 1).bit_length())  # powers of two: few sizes to compile for
    clusters = _set_clusters(model, room, do, seed) if do else model.module_.draw_clusters(room, cluster_key)
    drawn = _drawn(model.module_, clusters, row_key, noise=noise)
    return outward(model, {name: np.asarray(array)[:n] for name, array in drawn.items()})


def _set_clusters(model: CausalPIMA, n: int, do: Mapping[str, int], seed: int) -> jax.Array:
    learned = model.graph_
    do = as_values(do, learned.graph.names, learned.graph.outcomes)
    labels = draw_nodes(learned.graph, n, seed, do=do)
    warn_reversible(learned, do)
    return _cluster_of(labels, learned.graph.outcomes)


def imagined_rows(
    model: CausalPIMA, X: DataLike, y: DomainLike | None, do: Mapping[str, int], seed: int, coupling: str
) -> Values:
    """Return what rows would have looked like had the nodes been set: expected values, in the units of the data.

    Args:
        model: Fitted.
        X: Rows, as for ``fit``.
        y: Their domains, if ``X`` has none.
        do: Nodes and the values they are set to.
        seed: Of the nodes' noise, where a row does not determine it.
        coupling: As of :func:`latentry.graphs.counterfactual`.

    Returns:
        An array, or one for each modality by name.
    """
    learned = model.graph_
    require("seed", seed, Whole(0))
    data = ready(model, X, y)
    mean, gamma = map_rows(_place, model.module_, data)
    outcomes = learned.graph.outcomes
    labels = _cells(gamma.argmax(axis=1), outcomes)
    do = as_values(do, learned.graph.names, outcomes)
    imagined, codes = labels.copy(), numbers_of(data).experiments
    for code in np.unique(codes):  # what an experiment had set stays set
        rows, held = codes == code, [*model.facts.experiments, {}][code]
        own = np.random.default_rng((seed, code + 1)).integers(2**31)
        imagined[rows] = other_world(learned.graph, labels[rows], {**held, **do}, int(own), coupling=coupling)  # type: ignore[arg-type]
    warn_reversible(learned, do)
    moved = _moved(model.module_, jnp.asarray(mean), _cluster_of(labels, outcomes), _cluster_of(imagined, outcomes))
    return outward(model, moved)


def _cluster_of(labels: np.ndarray, outcomes: Sequence[int]) -> jax.Array:
    return jnp.asarray(np.ravel_multi_index(tuple(labels.T), tuple(outcomes)))


def experts_table(module: Pima) -> dict[str, dict[str, np.ndarray]]:
    """Return, for each expert, its parameters with their standard errors, and the noise.

    Args:
        module: Trained.

    Returns:
        Arrays by expert and parameter.
    """
    return {name: _expert_table(decoder) for name, decoder in module.experts.items()}


def physical_parameters(module: Pima) -> list[PhysicalParameter]:
    """Return every parameter of every expert decoder.

    Args:
        module: Trained.

    Returns:
        One entry a parameter.
    """
    parameters = []
    for modality, decoder in module.experts.items():
        table = _expert_table(decoder)
        for name, parameter in decoder.expert.parameters.items():
            errors = table[f"{name}_error"]
            parameters.append(PhysicalParameter(modality, name, parameter.per, table[name], errors))
    return parameters


def latent_mixture(model: CausalPIMA) -> LatentMixture:
    """Return the mixture of the latents, and whether the decoders are piecewise affine.

    Args:
        model: Fitted.

    Returns:
        Weights, means and covariances of the clusters.
    """
    mixture, counts = model.module_.mixture, np.asarray(model.module_.counts, np.float64).sum(axis=0)
    factors = np.asarray(mixture.factors, np.float64)
    covariances = np.linalg.inv(np.einsum("kji,kjl->kil", factors, factors))
    means = np.asarray(mixture.means, np.float64)
    return LatentMixture(counts / counts.sum(), means, covariances, _piecewise_affine(model))


def _piecewise_affine(model: CausalPIMA) -> bool | str:
    if model.experts or model.mixture.per_cluster:
        return "some modalities are decoded by experts, or by each cluster for itself"
    if not isinstance(model.decoder, str):
        return "the decoder is of the user's own making"
    if model.networks.activation != "leaky relu":
        return f'decoders have smooth activations ({model.networks.activation}); fit with networks__activation="leaky relu"'
    return True


def _cells(clusters: np.ndarray, outcomes: Sequence[int]) -> np.ndarray:
    """Value of each node, (rows, nodes), from clusters."""
    return np.stack(np.unravel_index(clusters, tuple(outcomes)), axis=1)


@eqx.filter_jit
def _drawn(
    module: Pima, clusters: Int[Array, " rows"], key: PRNGKeyArray, *, noise: bool
) -> dict[str, Float[Array, "rows ..."]]:
    return module.draw(clusters, key, noise=noise)


def _probabilities(module: Pima, batch: Batch, key: PRNGKeyArray) -> Float[Array, "rows clusters"]:
    return module.probabilities(batch)


def _place(
    module: Pima, batch: Batch, key: PRNGKeyArray
) -> tuple[Float[Array, "rows latents"], Float[Array, "rows clusters"]]:
    return module.encode(batch)[0], module.probabilities(batch)


@eqx.filter_jit
def _moved(
    module: Pima, latents: Float[Array, "rows latents"], before: Int[Array, " rows"], after: Int[Array, " rows"]
) -> dict[str, Float[Array, "rows ..."]]:
    """Rows with the same place within another cluster, decoded."""
    mixture = module.mixture
    inner = jnp.einsum("rij,rj->ri", mixture.factors[before], latents - mixture.means[before])
    there = mixture.means[after] + solve_rows(mixture.factors[after], inner)
    return module.decoded(mixture.coordinates(there), jax.nn.one_hot(after, len(mixture.means)))


def _expert_table(decoder: ExpertDecoder) -> dict[str, np.ndarray]:
    table = {}
    for name, _ in decoder.groups:
        table[name] = np.asarray(decoder.values[name], np.float64)
        errors = np.asarray(decoder.errors[name], np.float64)
        table[f"{name}_error"] = np.where(errors == UNKNOWN, np.nan, errors)
    return table | {"noise": np.exp(np.asarray(decoder.log_scale, np.float64))}
