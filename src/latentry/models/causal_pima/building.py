"""What causalPIMA trains, and in which phases, from its parameters and the record of a fit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from latentry.graphs import Knowledge, hodge_init
from latentry.models.causal_pima.expert_updates import new_expert
from latentry.models.causal_pima.losses import JointBound
from latentry.models.causal_pima.mixture import BLOCKED, HodgeTable, Table, standard_mixture
from latentry.models.causal_pima.mixture_updates import shape_of
from latentry.models.causal_pima.module import ExpertDecoder, Pima
from latentry.models.causal_pima.node_updates import Nodes, UpdateNodes
from latentry.models.causal_pima.structural_em import Experiments, complete_graph
from latentry.models.domain_prior import only
from latentry.models.networks import Design, NegativeElbo
from latentry.nets import Expert, Network
from latentry.training import Loss, Module, Phase, filled_rows

if TYPE_CHECKING:
    from latentry.models.causal_pima.estimator import CausalPIMA

__all__ = ["node_design", "phases", "untrained"]

_GRAPH_EVERY = 5  # epochs between two looks at other graphs
_ALONG_AN_AXIS = 3  # values that have room along one latent
_PRETRAINING = 0.5  # fraction of the epochs
_NUMBERS_AS_ONE = 24  # of pixels and other entries that networks decode


def untrained(model: CausalPIMA, key: jax.Array) -> Pima:
    """Return networks, a mixture that is standard normal until nodes are read, and a table without edges.

    Args:
        model: With the record of a fit.
        key: Of random numbers.

    Returns:
        An untrained module.
    """
    nodes = node_design(model)
    clusters = nodes.values.shape[1]
    net_key, table_key = jax.random.split(key)
    return Pima(
        networks=_design(model).build(model.record_.layout, model.facts.observations, model.latent_dim, net_key),
        mixture=standard_mixture(clusters, model.latent_dim),
        table=_table(model, nodes, table_key),
        experts={name: _expert(model, name, expert, nodes) for name, expert in (model.experts or {}).items()},
        own=_own_decoders(model, clusters, jax.random.fold_in(key, 2)),
        counts=jnp.ones((len(nodes.experiments.free), clusters)),
        labels=jnp.full(filled_rows(model.record_.rows, 64), -1, jnp.int32),
        age=jnp.zeros((), jnp.int32),
        sampled=model.mixture.gamma == "sample",
    )


def _design(model: CausalPIMA) -> Design:
    return Design.of(model.hidden, model.encoder, model.decoder, model.networks)


def _expert(model: CausalPIMA, name: str, expert: Expert, nodes: Nodes) -> ExpertDecoder:
    statistics = model.record_.statistics
    shift, scale = statistics.shift.get(name, np.zeros(())), statistics.scale.get(name, np.ones(()))
    return new_expert(expert, shift, scale, nodes.values, nodes.names)


def _own_decoders(model: CausalPIMA, clusters: int, key: jax.Array) -> dict[str, Network]:
    """For each modality named in ``per_cluster``, as many decoders as clusters, stacked."""
    if not model.mixture.per_cluster:
        return {}

    def decoders(cluster_key: jax.Array) -> dict[str, Network]:
        built = (
            _design(model).build(model.record_.layout, model.facts.observations, model.latent_dim, cluster_key).decoders
        )
        return {name: built[name] for name in model.mixture.per_cluster}

    stacked: dict[str, Network] = eqx.filter_vmap(decoders)(jax.random.split(key, clusters))
    return stacked


def _table(model: CausalPIMA, nodes: Nodes, key: jax.Array) -> Table | HodgeTable:
    free, blocked = (jnp.asarray(a, jnp.float32) for a in (nodes.experiments.free, nodes.experiments.blocked))
    flat = -np.log(np.asarray(nodes.outcomes, float))[:, None] * np.ones_like(nodes.values, float)
    if model.graph == "search":
        whole = complete_graph(nodes.names, nodes.outcomes, nodes.knowledge)
        return Table(jnp.asarray(flat, jnp.float32), jnp.asarray(whole.adjacency, jnp.float32), free, blocked)
    blank = tuple(jnp.zeros(nodes.outcomes) for _ in nodes.names)
    first = jnp.asarray(model.graph_search.cooling[0], jnp.float32)
    return HodgeTable(hodge_init(len(nodes.names), key), blank, first, 0.3 * first, free, blocked, nodes.knowledge)


def node_design(model: CausalPIMA) -> Nodes:
    """Return names, outcomes, experiments and what is known of the nodes.

    Args:
        model: With the record of a fit.

    Returns:
        What the nodes are.
    """
    names, outcomes = model.facts.nodes.names, model.facts.nodes.outcomes
    means, known = _means(model, outcomes), model.graph_search
    done = [*model.facts.experiments, {}]  # the last is mere observation
    values = np.stack(np.unravel_index(np.arange(int(np.prod(outcomes))), outcomes))
    free = np.array([[name not in do for name in names] for do in done], float)
    excluded = [
        [any(values[names.index(n), c] != v for n, v in do.items()) for c in range(values.shape[1])] for do in done
    ]
    experiments = Experiments(names, outcomes, free, BLOCKED * np.array(excluded, float))
    knowledge = Knowledge(names, known.tiers, tuple(known.required), tuple(known.forbidden))
    shape = shape_of(outcomes, model.latent_dim, means=means, full=model.mixture.covariance == "full")
    return Nodes(names, outcomes, experiments, knowledge, shape, unmix=means == "axes")


def _means(model: CausalPIMA, outcomes: Sequence[int]) -> str:
    if model.mixture.means != "auto":
        return model.mixture.means
    roomy = model.latent_dim >= len(outcomes) and max(outcomes) <= _ALONG_AN_AXIS
    return "axes" if roomy and model.mixture.covariance == "diagonal" else "additive"


def phases(model: CausalPIMA) -> tuple[Phase, ...]:
    """Return two phases: coordinates first, then nodes and everything together.

    Args:
        model: With the record of a fit.

    Returns:
        How it is trained.
    """
    hide, rates = model.networks.hide(len(model.record_.layout.shapes)), model.training.rates
    mixture, search = model.mixture, model.graph_search
    first = max(1, round(_PRETRAINING * model.epochs))
    rest = max(1, model.epochs - first)
    guided = mixture.pretraining == "guided"
    hook = UpdateNodes(
        node_design(model),
        rounds=mixture.mixture_updates,
        every=_GRAPH_EVERY,
        graph_steps=search.graph_steps,
        penalty=search.graph_penalty,
        cooling=(float(search.cooling[0]), float(search.cooling[1]), rest),
        seed=model.seed,
        scales=model.record_.statistics.scale,
        look=not guided,
    )
    weight = model.training.beta * _balance(model)
    before: Loss = NegativeElbo(weight if mixture.pretraining == "vae" else 1e-3, hide)
    if guided:
        before = JointBound(weight, hide, search.graph_penalty, guided=True)
    joint = JointBound(weight, hide, search.graph_penalty)
    moving = only("networks", "own") if model.graph == "search" else trained_graph
    reads = replace(hook, guided=True) if guided else None
    return (
        Phase(
            "coordinates",
            before,
            first,
            model.learning_rate,
            trainable=only("networks", "own"),
            after_epoch=reads,
            **rates,
        ),
        Phase("nodes", joint, rest, model.learning_rate, trainable=moving, after_epoch=hook, **rates),
    )


def _balance(model: CausalPIMA) -> float:
    if model.mixture.balance is not None:
        return float(model.mixture.balance)
    entries = sum(math.prod(shape) for name, shape in model.record_.layout.shapes if name not in (model.experts or {}))
    return max(1.0, entries / _NUMBERS_AS_ONE)


def trained_graph(module: Module) -> Module:
    """Train networks and the graph's own parameters; the rest is updated in blocks."""
    chosen = only("networks", "own")(module)
    parts = jax.tree.map(eqx.is_inexact_array, (module.table.hodge, module.table.logits))
    return eqx.tree_at(lambda m: (m.table.hodge, m.table.logits), chosen, replace=parts)
