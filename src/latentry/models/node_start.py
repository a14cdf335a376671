"""Where nodes begin: directions of the encoded rows along which they fall into groups.

Independent components with the contrast of bimodal laws (Hyvärinen and Oja 1997), the coordinates themselves and random
directions each give a first split of the rows for every node; EM of the whole mixture then runs from each, and the
one with the highest bound is kept. Nothing here looks at a reconstruction, which would swamp the mixture's part.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import FastICA
from sklearn.exceptions import ConvergenceWarning

from latentry.graphs import Graph
from latentry.models.mixture_updates import Encoded, Gaussians, Shape, m_step, moments
from latentry.models.structural_em import Experiments, Found, Latent, climb, table_terms

__all__ = ["find_nodes", "split_along"]

Array = NDArray[np.float64]

_SHORT, _LONG = 30, 150  # rounds of EM from every start, and from the best ones
_BEST = 3
_MOST_ROWS = 5000  # that the short runs look at


def find_nodes(
    rows: Encoded, shape: Shape, experiments: Experiments, graph: Graph, *, unmix: bool, starts: int, seed: int
) -> Found:
    """The best of several starts by the bound of the mixture.

    Args:
        rows: in the networks' coordinates.
        shape: of the mixture.
        experiments: which nodes were set where.
        graph: that the tables factorise over while nodes are sought; a complete one assumes nothing.
        unmix: whether a linear map to the axes is sought too.
        starts: number of sets of directions to begin from.
        seed: of the random ones.
    """
    rng = np.random.default_rng(seed)
    few = _some(rows, rng)
    begun = [_begin(few, d, shape, experiments, graph, unmix) for d in _directions(few, len(graph.names), starts, rng)]
    short = [climb(few, latent, shape, experiments, steps=_SHORT, unmix=unmix) for latent in begun]
    best = sorted(short, key=lambda found: -found.bound)[:_BEST]
    long = [climb(rows, found.latent, shape, experiments, steps=_LONG, unmix=unmix) for found in best]
    return max(long, key=lambda found: found.bound)


def _some(rows: Encoded, rng: np.random.Generator) -> Encoded:
    if len(rows.mean) <= _MOST_ROWS:
        return rows
    chosen = np.sort(rng.choice(len(rows.mean), _MOST_ROWS, replace=False))
    beside = rows.beside if isinstance(rows.beside, float) else rows.beside[chosen]
    experiment = None if rows.experiment is None else rows.experiment[chosen]
    return Encoded(rows.mean[chosen], rows.variance[chosen], beside, experiment)


def _directions(rows: Encoded, nodes: int, starts: int, rng: np.random.Generator) -> Iterator[Array]:
    """Square matrices of directions (rows), in the order of how bimodal the rows are along them."""
    centred = rows.mean - rows.mean.mean(axis=0)
    values, vectors = np.linalg.eigh(centred.T @ centred / len(centred))
    whitening = (vectors / np.sqrt(np.maximum(values, 1e-8 * values.max()))).T
    white = centred @ whitening.T
    size = len(whitening)
    for start in range(starts):
        if start == 0:
            turn = np.eye(size)
        elif start % 2 and size > 1:
            turn = _independent(white, start)
        else:
            turn = np.linalg.qr(rng.standard_normal((size, size)))[0]
        found = turn @ whitening
        gains = [split_along(centred @ direction, 2)[1] for direction in found]
        yield found[np.argsort(gains)[::-1]]


def _independent(white: Array, seed: int) -> Array:
    """The rotation of independent component analysis; cubes are the contrast of bimodal components."""
    analysis = FastICA(whiten=False, fun="cube" if seed % 4 == 1 else "logcosh", max_iter=200, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        analysis.fit(white)
    turn: Array = np.linalg.qr(analysis.components_)[0]
    return turn


def split_along(values: Array, groups: int, rounds: int = 30) -> tuple[NDArray[np.int64], float]:
    """Labels by a one-dimensional mixture of Gaussians, and its gain over one Gaussian in nats per row.

    >>> labels, gain = split_along(np.array([0.0, 0.1, -0.1, 5.0, 5.1, 4.9]), 2)
    >>> labels.tolist(), gain > 0.5
    ([0, 0, 0, 1, 1, 1], True)
    """
    spread = values.std() + 1e-12
    x = (values - values.mean()) / spread
    centre = np.quantile(x, (np.arange(groups) + 0.5) / groups)
    variance, share = np.full(groups, 0.25), np.full(groups, 1 / groups)
    for _ in range(rounds):
        logs = np.log(share) - 0.5 * np.log(variance) - 0.5 * (x[:, None] - centre) ** 2 / variance
        top = logs.max(axis=1, keepdims=True)
        total = top[:, 0] + np.log(np.exp(logs - top).sum(axis=1))
        gamma = np.exp(logs - total[:, None])
        weight = gamma.sum(axis=0) + 1e-6
        centre = gamma.T @ x / weight
        variance = np.maximum((gamma * (x[:, None] - centre) ** 2).sum(axis=0) / weight, 1e-3)
        share = weight / weight.sum()
    order = np.argsort(np.argsort(centre))
    return order[logs.argmax(axis=1)], float(total.mean() + 0.5)


def _begin(
    rows: Encoded, directions: Array, shape: Shape, experiments: Experiments, graph: Graph, unmix: bool
) -> Latent:
    """First parameters from a split along each of the first directions."""
    size = directions.shape[1]
    centre = rows.mean.mean(axis=0) if unmix else np.zeros(size)
    unmixing = directions if unmix else np.eye(size)
    lines = (rows.mean - rows.mean.mean(axis=0)) @ directions.T
    labels = [split_along(lines[:, node % size], count)[0] for node, count in enumerate(graph.outcomes)]
    gamma = np.eye(shape.design.shape[0])[np.ravel_multi_index(labels, graph.outcomes)]
    blank = Gaussians(np.zeros((gamma.shape[1], size)), np.tile(np.eye(size), (gamma.shape[1], 1, 1)))
    latent = Latent(unmixing, centre, blank, graph, np.zeros((len(graph.names), gamma.shape[1])))
    gaussians = m_step(moments(latent.encoded(rows), gamma), shape, blank)
    counts = np.zeros((len(experiments.free), gamma.shape[1]))
    counts[-1] = gamma.sum(axis=0)
    terms = table_terms(graph, counts, np.ones_like(experiments.free))
    return Latent(unmixing, centre, gaussians, graph, terms)
