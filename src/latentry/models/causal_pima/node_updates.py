"""After each epoch: the mixture, the experts and the graph, for the encoder as it is now."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, PRNGKeyArray
from numpy.typing import ArrayLike
from sklearn.decomposition import PCA

from latentry.data import Batch, Dataset, Numbering
from latentry.graphs import Graph, Knowledge, annealed
from latentry.models.causal_pima.expert_updates import updated_expert
from latentry.models.causal_pima.first_reading import aligned, rows_as_nodes
from latentry.models.causal_pima.mixture import HodgeTable, Mixture, Table
from latentry.models.causal_pima.mixture_updates import Encoded, Gaussians, Shape, m_step, moments
from latentry.models.causal_pima.module import Pima
from latentry.models.causal_pima.structural_em import (
    Climbed,
    Experiments,
    Latent,
    best_graph,
    by_experiment,
    climb,
    complete_graph,
    table_terms,
)
from latentry.training import Module, map_rows

__all__ = ["Nodes", "UpdateNodes"]

_REACH, _NARROW = 0.9, 0.35  # how far out clusters first sit, and their first standard deviation
_COMPONENTS = 30  # principal components in which rows are first read


@dataclass(frozen=True, eq=False)
class Nodes:
    """What the nodes are: names, outcomes, experiments, what is known of the graph, and the mixture's shape."""

    names: tuple[str, ...]
    outcomes: tuple[int, ...]
    experiments: Experiments
    knowledge: Knowledge
    shape: Shape
    unmix: bool  # whether a linear map brings the networks' coordinates to the axes

    @property
    def values(self) -> np.ndarray:
        """Return the value of each node in each cluster, (nodes, clusters)."""
        return np.stack(np.unravel_index(np.arange(int(np.prod(self.outcomes))), self.outcomes))


@dataclass(frozen=True, eq=False)
class UpdateNodes:
    """A phase's hook: block-coordinate updates on all training rows, deterministic for a given module and data.

    Args:
        nodes: what they are.
        rounds: of EM after each epoch.
        every: epochs between two looks at other graphs.
        graph_steps: gradient steps on the graph's own parameters after each epoch, where gradients move it.
        penalty: for each edge, in those steps.
        cooling: first temperature, last temperature, epochs between them.
        seed: of the first reading.
        scales: by which images and curves were divided, channel by channel, when they were standardised.
        guided: whether rows count as what they were first read as: then only experts are updated.
        look: whether the first reading looks at the latents too, because they have been trained.
    """

    nodes: Nodes
    rounds: int
    every: int
    graph_steps: int
    penalty: float
    cooling: tuple[float, float, int]
    seed: int
    scales: Mapping[str, np.ndarray]
    guided: bool = False
    look: bool = False

    def __call__(self, module: Pima, data: Dataset, key: PRNGKeyArray) -> Pima:
        """Return the module with everything updated but its networks."""
        if int(module.labels.max()) < 0:
            module = self._read(module, data)
        if not self.guided:
            module = self._updated(module, data, key)
        older: Pima = eqx.tree_at(lambda m: m.age, module, module.age + (not self.guided))
        return older

    def _updated(self, module: Pima, data: Dataset, key: PRNGKeyArray) -> Pima:
        for _ in range(2 if module.experts else 1):
            reached = self._climbed(module, data)
            module = self._with(module, reached)
            module = _with_experts(module, data, reached.gamma, first=False)
        return self._with_graph_steps(module, key) if isinstance(module.table, HodgeTable) else module

    def _read(self, module: Pima, data: Dataset) -> Pima:
        """The first reading of the rows, tables and experts that follow from it, and a place for each cluster."""
        nodes, rows = self.nodes, principal(data, self.scales)
        spaces = [rows]
        if self.look:
            mean = map_rows(_coordinates, module, data)[0].astype(np.float64)
            spaces.append((mean - mean.mean(axis=0)) / (mean.std(axis=0) + 1e-9))
        cells = rows_as_nodes(spaces, rows, nodes.outcomes, self.seed)
        cells = aligned(cells, nodes.experiments.blocked[numbers_of(data).experiments] == 0, nodes.outcomes)
        gamma = np.eye(math.prod(nodes.outcomes))[cells]
        encoded = _encoded(module, data, beside_too=False)
        counts = by_experiment(encoded, gamma, nodes.experiments)
        graph = complete_graph(nodes.names, nodes.outcomes, nodes.knowledge)
        places = _grid(nodes) if nodes.unmix else _spread(nodes, gamma, rows)
        eye, origin = np.eye(places.means.shape[1]), np.zeros(places.means.shape[1])
        latent = Latent(eye, origin, places, graph, table_terms(graph, counts, nodes.experiments.free))
        if self.look:  # the latents are there already: the mixture goes to them
            latent = replace(
                latent, gaussians=m_step(moments(latent.encoded(encoded), gamma), nodes.shape, latent.gaussians)
            )
        module = self._with(module, Climbed(latent, counts, gamma, 0.0))
        labels = np.array(module.labels)  # in NumPy: no program to be compiled for each number of rows
        labels[numbers_of(data).rows] = cells
        module = eqx.tree_at(lambda m: m.labels, module, jnp.asarray(labels))
        return _with_experts(module, data, gamma, first=True)

    def _climbed(self, module: Pima, data: Dataset) -> Climbed:
        nodes, rows = self.nodes, _encoded(module, data, beside_too=True)
        moving = isinstance(module.table, Table)
        latent, shape, experiments = self._latent(module), nodes.shape, nodes.experiments
        reached = climb(rows, latent, shape, experiments, steps=self.rounds, tables=moving, unmix=nodes.unmix)
        if moving and int(module.age) % self.every == 0:
            reached = best_graph(rows, reached, shape, experiments, nodes.knowledge, unmix=nodes.unmix)
        return reached

    def _latent(self, module: Pima) -> Latent:
        nodes, mixture, table = self.nodes, module.mixture, module.table
        if isinstance(table, Table):
            graph = Graph.from_adjacency(np.asarray(table.adjacency), nodes.names, nodes.outcomes)
            terms = np.asarray(table.terms, np.float64)
        else:
            graph, terms = complete_graph(nodes.names, nodes.outcomes), np.asarray(table.terms(), np.float64)
        parts = (mixture.unmixing, mixture.centre, mixture.means, mixture.factors)
        unmixing, centre, means, factors = (np.asarray(part, np.float64) for part in parts)
        return Latent(unmixing, centre, Gaussians(means, factors), graph, terms)

    def _with(self, module: Pima, reached: Climbed) -> Pima:
        latent = _standardised(reached.latent, self.nodes, reached)
        mixture = Mixture(*(_single(part) for part in (
            latent.gaussians.means, latent.gaussians.factors, latent.unmixing, latent.centre,
        )))  # fmt: skip
        module = eqx.tree_at(lambda m: (m.mixture, m.counts), module, (mixture, _single(reached.counts)))
        if isinstance(module.table, HodgeTable):
            return module
        fresh = (_single(latent.terms), _single(latent.graph.adjacency.astype(float)))
        updated: Pima = eqx.tree_at(lambda m: (m.table.terms, m.table.adjacency), module, fresh)
        return updated

    def _with_graph_steps(self, module: Pima, key: PRNGKeyArray) -> Pima:
        """Gradient steps on the graph alone, for the expected counts as they are; then a lower temperature."""
        start, stop, epochs = self.cooling
        assert isinstance(module.table, HodgeTable)
        table = module.table
        if int(module.age) == 0:  # begin at the complete graph's own tables
            whole = complete_graph(self.nodes.names, self.nodes.outcomes)
            terms = table_terms(whole, np.asarray(module.counts, np.float64), self.nodes.experiments.free)
            logits = tuple(_single(term.reshape(self.nodes.outcomes)) for term in terms)
            table = eqx.tree_at(lambda t: t.logits, table, logits)
        temperature = _single(annealed(int(module.age), epochs, start, stop))
        table = eqx.tree_at(lambda t: (t.temperature, t.noise), table, (temperature, 0.3 * temperature))
        for step in range(self.graph_steps):
            table = _graph_step(table, module.counts, jnp.float32(self.penalty), jax.random.fold_in(key, step))
        updated: Pima = eqx.tree_at(lambda m: m.table, module, table)
        return updated


def _coordinates(module: Pima, batch: Batch, key: PRNGKeyArray) -> tuple[jax.Array, jax.Array, jax.Array]:
    mean, scale = module.coordinates(batch)
    return mean, scale, module.beside(batch, mean)


def _encoded(module: Pima, data: Dataset, *, beside_too: bool) -> Encoded:
    mean, scale, beside = map_rows(_coordinates, module, data)
    return Encoded(
        mean.astype(np.float64),
        scale.astype(np.float64) ** 2,
        beside.astype(np.float64) if beside_too and (module.experts or module.own) else 0.0,
        numbers_of(data).experiments.astype(np.int64),
    )


def numbers_of(data: Dataset) -> Numbering:
    """Return the numbers of rows and experiments, which the model gave the rows before training."""
    assert data.numbering is not None
    return data.numbering


def principal(data: Dataset, scales: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return principal components of all modalities beside each other, each of the same total variance; what is missing is zero.

    Columns of a table have units of their own and stay standardised; channels of an image or curve have one in common, so that
    a channel in which little happens counts for little. A single missing cell counts as the mean of its column.
    """
    parts = []
    for name in data.names:
        own = scales.get(name, 1.0) if len(data.layout.shape(name)) > 1 else 1.0
        flat = (np.asarray(data[name], np.float32) * np.asarray(own, np.float32)).reshape(len(data), -1)
        seen = data.observed[name]
        if name in data.partial:
            flat = np.where(np.isnan(flat), np.nanmean(flat[seen], axis=0), flat)
        flat = np.where(seen[:, None], flat - flat[seen].mean(axis=0), 0.0)
        parts.append(flat / (np.sqrt((flat**2).sum(axis=1).mean()) + 1e-12))
    joined = np.concatenate(parts, axis=1)
    size = min(_COMPONENTS, *joined.shape)
    if not joined.any():  # nothing changes in any modality
        return joined[:, :size].astype(np.float64)
    analysis = PCA(size, svd_solver="full" if min(joined.shape) <= 2 * size else "randomized", random_state=0)
    components: np.ndarray = analysis.fit_transform(joined).astype(np.float64)
    return components


def _grid(nodes: Nodes) -> Gaussians:
    """Clusters on a grid: a node's values lie evenly along its own axis."""
    latents = nodes.shape.open.shape[1]
    means = np.zeros((nodes.values.shape[1], latents))
    for node, count in enumerate(nodes.outcomes):
        means[:, node] = np.linspace(-_REACH, _REACH, count)[nodes.values[node]]
    return _around(means)


def _spread(nodes: Nodes, gamma: np.ndarray, rows: np.ndarray) -> Gaussians:
    """Clusters where the groups' mean rows differ most, as far as the shape of the means allows; all directions alike."""
    latents, count = nodes.shape.open.shape[1], gamma.shape[1]
    groups = gamma.T @ rows / np.maximum(gamma.sum(axis=0), 1e-9)[:, None]
    design = nodes.shape.design
    allowed = design @ np.linalg.lstsq(design, groups, rcond=None)[0]
    left, size, _ = np.linalg.svd(allowed - allowed.mean(axis=0), full_matrices=False)
    used = min(latents, int((size > 1e-6 * size.max(initial=1e-300)).sum()))
    means = np.zeros((count, latents))
    means[:, :used] = _REACH * np.sqrt(count) * left[:, :used]
    return _around(means)


def _around(means: np.ndarray) -> Gaussians:
    """Narrow along the latents that tell clusters apart, standard along the others."""
    apart = means.std(axis=0) > 0
    factors = np.tile(np.diag(np.where(apart, 1 / _NARROW, 1.0)), (len(means), 1, 1))
    return Gaussians(means, factors)


def _with_experts(module: Pima, data: Dataset, gamma: np.ndarray, *, first: bool) -> Pima:
    fresh = {n: updated_expert(decoder, data, n, gamma, first=first) for n, decoder in module.experts.items()}
    if fresh:
        module = eqx.tree_at(lambda m: m.experts, module, fresh)
    return module


def _standardised(latent: Latent, nodes: Nodes, reached: Climbed) -> Latent:
    """The same model with latents of unit variance: their scale is free, and free things drift."""
    if not nodes.unmix:
        return latent
    weight = reached.counts.sum(axis=0) / reached.counts.sum()
    means, factors = latent.gaussians.means, latent.gaussians.factors
    variance = weight @ (means**2 + 1 / np.diagonal(factors, axis1=1, axis2=2) ** 2) - (weight @ means) ** 2
    scale = np.sqrt(variance)
    gaussians = Gaussians(means / scale, factors * scale)
    return Latent(latent.unmixing / scale[:, None], latent.centre, gaussians, latent.graph, latent.terms)


def _single(array: ArrayLike) -> jax.Array:
    return jnp.asarray(array, jnp.float32)


@eqx.filter_jit
def _graph_step(
    table: HodgeTable, counts: Float[Array, "experiments clusters"], penalty: Float[Array, ""], key: PRNGKeyArray
) -> HodgeTable:
    """One normalised gradient step up the expected log-likelihood of the nodes, less the penalty."""
    moving, rest = eqx.partition(table, _graph_parts(table))

    def loss(part: HodgeTable) -> Array:
        whole: HodgeTable = eqx.combine(part, rest)
        return -(counts * whole.log_table(key)).sum() / counts.sum() + penalty * whole.edges().sum()

    gradient = eqx.filter_grad(loss)(moving)
    size = optax.tree.norm(gradient)
    step = 0.3 / jnp.maximum(size, 1.0)
    moved: HodgeTable = eqx.combine(jax.tree.map(lambda value, by: value - step * by, moving, gradient), rest)
    return moved


def _graph_parts(table: HodgeTable) -> Module:
    blank = jax.tree.map(lambda _: False, table)
    chosen = jax.tree.map(lambda _: True, (table.hodge, table.logits))
    return eqx.tree_at(lambda t: (t.hodge, t.logits), blank, chosen)
