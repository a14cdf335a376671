"""Directed acyclic graphs over categorical nodes: gradients, search, equivalence, interventions, drawings."""

from latentry.graphs.counts import Counts
from latentry.graphs.drawing import to_svg, to_text, write_svg
from latentry.graphs.equivalence import CPDAG, cpdag, equivalent, members, v_structures
from latentry.graphs.finding import Found, search
from latentry.graphs.graph import Graph, all_dags
from latentry.graphs.hodge import (
    Hodge,
    annealed,
    edge_matrix,
    edge_weights,
    expected_edges,
    hodge_graph,
    hodge_init,
    hodge_of,
)
from latentry.graphs.joint import cpt_tensors, downselect, log_joint, normalised_tensors
from latentry.graphs.knowledge import Knowledge
from latentry.graphs.metrics import Agreement, Comparison, compare, shd
from latentry.graphs.names import as_names, as_outcomes, as_values, find_cycle
from latentry.graphs.orienting import orient
from latentry.graphs.posterior import Posterior, graph_posterior
from latentry.graphs.sampling import counterfactual, sample
from latentry.graphs.scores import Scorer, edge_support, graph_score
from latentry.graphs.separation import d_separated
from latentry.graphs.strength import EdgeFrequencies, bootstrap, edge_frequencies, edge_strengths
from latentry.graphs.tables import fit_cpts, intervene, joint_table, random_cpts

__all__ = [
    "CPDAG",
    "Agreement",
    "Comparison",
    "Counts",
    "EdgeFrequencies",
    "Found",
    "Graph",
    "Hodge",
    "Knowledge",
    "Posterior",
    "Scorer",
    "all_dags",
    "annealed",
    "as_names",
    "as_outcomes",
    "as_values",
    "bootstrap",
    "compare",
    "counterfactual",
    "cpdag",
    "cpt_tensors",
    "d_separated",
    "downselect",
    "edge_frequencies",
    "edge_matrix",
    "edge_strengths",
    "edge_support",
    "edge_weights",
    "equivalent",
    "expected_edges",
    "find_cycle",
    "fit_cpts",
    "graph_posterior",
    "graph_score",
    "hodge_graph",
    "hodge_init",
    "hodge_of",
    "intervene",
    "joint_table",
    "log_joint",
    "members",
    "normalised_tensors",
    "orient",
    "random_cpts",
    "sample",
    "search",
    "shd",
    "to_svg",
    "to_text",
    "v_structures",
    "write_svg",
]
