"""The relaxed edges and the joint table: acyclic at every temperature, normalised, equal to the sorted algorithm."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latentry import graphs
from latentry.errors import DataError
from latentry.graphs import Graph, find_cycle


@pytest.fixture(autouse=True)
def _double():
    with jax.enable_x64():
        yield


def sorted_form(tensors, edges, potentials):
    """Algorithm 1 of the paper, with E_kl for its E_lk: sort nodes by potential, then build A one node at a time."""
    order = np.argsort(potentials, kind="stable")
    edges = np.asarray(edges)[np.ix_(order, order)]
    tensors = [np.transpose(np.asarray(tensors[node]), order) for node in order]
    joint = np.ones(())
    for node, tensor in enumerate(tensors):
        tensor = tensor.mean(axis=tuple(range(node + 1, tensor.ndim)))
        for k in range(node):
            tensor = edges[k, node] * tensor + (1 - edges[k, node]) * tensor.mean(axis=k, keepdims=True)
        joint = tensor * joint[..., None]
    return np.transpose(joint, np.argsort(order))


SHAPES = [(3,), (2, 3), (3, 2, 2), (2, 3, 2, 4)]  # each is compiled once


@st.composite
def relaxed_graphs(draw):
    """Potentials with ties, weights with zeros, any temperature, several numbers of outcomes."""
    outcomes = draw(st.sampled_from(SHAPES))
    nodes, seed = len(outcomes), draw(st.integers(0, 10**6))
    rng = np.random.default_rng(seed)
    potentials = rng.integers(-2, 3, nodes) * draw(st.sampled_from([0.3, 1.0]))
    pairs = nodes * (nodes - 1) // 2
    gates = np.full(pairs, 6.0) if draw(st.booleans()) else rng.normal(scale=4, size=pairs)
    hodge = graphs.Hodge(*(jnp.asarray(each) for each in (potentials, rng.normal(size=pairs), gates)))
    tensors = [
        rng.dirichlet(np.full(c, 0.5), size=[o for j, o in enumerate(outcomes) if j != i])
        for i, c in enumerate(outcomes)
    ]
    tensors = [np.moveaxis(t, -1, i) for i, t in enumerate(tensors)]
    return hodge, tensors, draw(st.sampled_from([0.01, 0.3, 1.0, 10.0]))


edge_matrix = jax.jit(graphs.edge_matrix, static_argnames="knowledge")
log_joint = jax.jit(graphs.log_joint)


@settings(max_examples=100, deadline=None)
@given(relaxed_graphs())
def test_the_table_sums_to_one_and_equals_the_sorted_algorithm(case):
    hodge, tensors, temperature = case
    edges = edge_matrix(hodge, temperature)
    joint = np.exp(log_joint(tensors, edges, 0.0))
    assert abs(joint.sum() - 1) < 1e-12
    np.testing.assert_allclose(joint, sorted_form(tensors, edges, hodge.potentials), rtol=0, atol=1e-12)
    floored = np.exp(log_joint(tensors, edges, 0.1))
    assert abs(floored.sum() - 1) < 1e-12


@settings(max_examples=60, deadline=None)
@given(relaxed_graphs(), st.integers(0, 10**6))
def test_the_support_is_acyclic_with_noise_and_sampled_gates(case, seed):
    hodge, _, temperature = case
    edges = np.asarray(edge_matrix(hodge, temperature, key=jax.random.key(seed), noise=0.5))
    assert ((edges >= 0) & (edges <= 1)).all()
    assert find_cycle([(str(i), str(j)) for i, j in zip(*np.nonzero(edges), strict=True)]) is None


def test_every_graph_on_four_nodes_is_represented():
    everything = graphs.all_dags(4)
    assert len(everything) == 543
    assert len(set(everything)) == 543
    parameters = [graphs.hodge_of(graph) for graph in everything]
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *parameters)
    edges = np.asarray(jax.jit(jax.vmap(lambda h: graphs.edge_matrix(h, 1e-2)))(stacked))
    np.testing.assert_array_equal(edges, [graph.adjacency for graph in everything])
    for graph, hodge in list(zip(everything, parameters, strict=True))[::20]:
        assert graphs.hodge_graph(hodge) == graph


def test_the_relaxed_table_meets_the_tables_of_a_graph_in_the_limit():
    graph = graphs.random_cpts(graphs.Graph(4, [("N4", "N1"), ("N1", "N3"), ("N4", "N3")], (2, 3, 2, 4)), seed=3)
    joint = np.exp(log_joint(graphs.cpt_tensors(graph), graph.adjacency.astype(float), 0.0))
    np.testing.assert_allclose(joint, graphs.joint_table(graph), atol=1e-14)


def test_eq_7_by_hand():
    edges = graphs.edge_matrix(graphs.Hodge(jnp.array([0.2, 0.5]), jnp.array([np.log(np.expm1(2.0))])), 0.4)
    np.testing.assert_allclose(edges, [[0, np.tanh(2.0 * 0.3 / 0.4)], [0, 0]], atol=1e-12)


def test_softplus_weights_end_in_a_complete_graph_and_gates_do_not():
    hodge = graphs.hodge_init(5, jax.random.key(0), sparse=False)
    assert len(graphs.hodge_graph(hodge).edges) == 10
    shut = hodge._replace(gates=jnp.where(jnp.arange(10) < 7, -5.0, 5.0))
    assert len(graphs.hodge_graph(shut).edges) == 3
    assert np.count_nonzero(np.asarray(graphs.edge_weights(shut))) == 6  # exact zeros, symmetric


def test_expected_edges_is_the_chance_of_open_gates():
    """P(gate ≠ 0) against 20,000 draws: standard error 0.0035 a gate, so 0.02 fails once in 10^7 runs."""
    hodge = graphs.Hodge(jnp.zeros(3), jnp.zeros(3), jnp.array([-2.0, 0.0, 1.5]))
    drawn = jax.vmap(lambda k: graphs.edge_weights(hodge, k) > 0)(jax.random.split(jax.random.key(1), 20_000))
    share = np.asarray(drawn).mean(axis=0)[np.triu_indices(3, 1)]
    each = [float(graphs.expected_edges(graphs.Hodge(jnp.zeros(2), jnp.zeros(1), g[None]))) for g in hodge.gates]
    np.testing.assert_allclose(share, each, atol=0.02)
    assert float(graphs.expected_edges(hodge)) == pytest.approx(sum(each))


def test_gradients_are_finite_and_those_of_differences():
    hodge = graphs.hodge_init(3, jax.random.key(2))
    logits = [jax.random.normal(jax.random.key(i), (2, 3, 2)) for i in range(3)]
    target = jax.random.dirichlet(jax.random.key(9), jnp.ones(12)).reshape(2, 3, 2)

    @jax.jit
    def loss(hodge, logits):
        edges = graphs.edge_matrix(hodge, 0.7)
        return -(target * graphs.log_joint(graphs.normalised_tensors(logits), edges)).sum()

    gradient = jax.jit(jax.grad(loss, argnums=(0, 1)))(hodge, logits)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(gradient))
    step = jax.tree.map(lambda leaf: 1e-6 * jnp.ones_like(leaf), hodge)
    up, down = (jax.tree.map(lambda a, b, s=s: a + s * b, hodge, step) for s in (1, -1))
    numeric = (loss(up, logits) - loss(down, logits)) / 2
    exact = sum((g * s).sum() for g, s in zip(jax.tree.leaves(gradient[0]), jax.tree.leaves(step), strict=True))
    assert float(numeric) == pytest.approx(float(exact), rel=1e-6)


def test_gradients_find_the_distribution_of_a_collider():
    """Eight starts on a known distribution: the best comes within 10^-3 nats of its entropy. Deterministic given the key."""
    truth = graphs.random_cpts(Graph(3, [("N1", "N3"), ("N2", "N3")]), seed=1)
    law, steps, optimiser = jnp.asarray(graphs.joint_table(truth)), 1000, optax.adam(0.03)

    def bound(parameters, step, key, weight):
        hodge, logits = parameters
        edges = graphs.edge_matrix(hodge, graphs.annealed(step, steps), key=key)
        return -(
            law * graphs.log_joint(graphs.normalised_tensors(logits), edges)
        ).sum() + weight * graphs.expected_edges(hodge)

    def trained(key):
        def step(carry, at):
            gradient = jax.grad(bound)(carry[0], at, jax.random.fold_in(key, at), 0.003)
            change, state = optimiser.update(gradient, carry[1])
            return (optax.apply_updates(carry[0], change), state), None

        start = (graphs.hodge_init(3, key), list(jax.random.normal(key, (3, 2, 2, 2))))
        (parameters, _), _ = jax.lax.scan(step, (start, optimiser.init(start)), jnp.arange(steps))
        return bound(parameters, steps, None, 0.0)

    reached = jax.jit(jax.vmap(trained))(jax.random.split(jax.random.key(0), 8))
    excess = np.asarray(reached) + float((law * jnp.log(law)).sum())
    assert excess.min() > -1e-9  # no distribution is nearer to itself than itself
    assert excess.min() < 1e-3
    empty = graphs.joint_table(graphs.fit_cpts(Graph(3), law, pseudocount=0.0))
    assert (law * jnp.log(law / empty)).sum() > 0.03  # what a graph without edges would lack


def test_extreme_logits_give_no_infinity_in_single_precision():
    with jax.enable_x64(False):
        logits = [jnp.array([[200.0, -200.0], [-200.0, 200.0]])] * 2
        edges = jnp.array([[0.0, 0.5], [0.0, 0.0]])
        loss = jax.jit(jax.value_and_grad(lambda w: graphs.log_joint(graphs.normalised_tensors(w), edges).sum()))
        value, gradients = loss(logits)
        assert np.isfinite(value)
        assert all(np.isfinite(g).all() for g in gradients)


@settings(max_examples=15, deadline=None)
@given(relaxed_graphs(), st.integers(0, 10**6))
def test_knowledge_holds_whatever_the_parameters(case, seed):
    hodge, _, temperature = case
    nodes = hodge.potentials.shape[0]
    order = np.random.default_rng(seed).permutation(nodes)
    names = [f"N{i + 1}" for i in range(nodes)]
    required = [(names[a], names[b]) for a, b in zip(order, order[1:], strict=False)][:2]
    forbidden = [(names[order[-1]], names[order[0]])] if nodes > 1 else []
    knowledge = graphs.Knowledge(names, required=required, forbidden=forbidden)
    edges = np.asarray(graphs.edge_matrix(hodge, temperature, knowledge=knowledge))
    assert knowledge.allows(Graph.from_adjacency(edges).edges)
    assert all(edges[names.index(p), names.index(c)] > 0 for p, c in required)


def test_annealing_is_stepwise_and_stops():
    values = [float(graphs.annealed(s, 10, 2.0, 0.02, every=5)) for s in range(14)]
    assert values[:5] == [2.0] * 5
    assert values[5:10] == pytest.approx([0.2] * 5)
    assert values[10:] == pytest.approx([0.02] * 4)
    with pytest.raises(DataError, match="above zero"):
        graphs.annealed(0, 10, stop=0.0)


def test_wrong_shapes_are_named():
    with pytest.raises(DataError, match=r"edges: .*2 tensors need edges of shape \(2, 2\)"):
        graphs.log_joint([jnp.ones((2, 2))] * 2, jnp.zeros((3, 3)))
    with pytest.raises(DataError, match=r"tensors\[1\]: has shape \(2, 3\)"):
        graphs.log_joint([jnp.ones((2, 2)), jnp.ones((2, 3))], jnp.zeros((2, 2)))
