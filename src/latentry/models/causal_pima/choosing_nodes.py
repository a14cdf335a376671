"""Nodes of causalPIMA from the rows themselves: counts first, then short fits from two starts, compared on held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from latentry.data import Dataset
from latentry.errors import DataError
from latentry.graphs import as_names
from latentry.models.causal_pima.node_candidates import Candidate, candidates, count_components, finer
from latentry.models.causal_pima.node_choice import NodeChoice
from latentry.models.causal_pima.node_effects import modalities_by_effect, node_effects
from latentry.models.causal_pima.restart_graphs import matched_names
from latentry.models.estimator import clone

if TYPE_CHECKING:
    from latentry.models.causal_pima.estimator import CausalPIMA

__all__ = ["Tried", "best_tried", "check_automatic", "choose_nodes", "counted_nodes", "shared_nodes"]

Labels = NDArray[np.int64]

_FEWEST_ROWS = 40
_ASIDE = 0.2  # fraction of the rows on which short fits are compared
_SHORT, _FEWEST_EPOCHS = 0.25, 20  # of the epochs
_SHARED = 0.5  # adjusted Rand index of a node that two starts share
_ERRORS = 2.0  # standard errors by which a bound must be better


@dataclass(frozen=True, eq=False)
class Tried:
    """A candidate after two short fits.

    Args:
        candidate: What was fitted.
        bounds: Evidence lower bound of each held-out row, of the better start.
        spread: By how much the mean bounds of the two starts differ.
        agreement: Adjusted Rand index of each node between the two starts.
    """

    candidate: Candidate
    bounds: NDArray[np.float64]
    spread: float
    agreement: tuple[float, ...]

    @property
    def shared(self) -> bool:
        """Return whether the two starts share every node."""
        return min(self.agreement) >= _SHARED


def check_automatic(model: CausalPIMA, data: Dataset) -> None:
    """Refuse what names nodes that are not known yet, and rows that are too few.

    Args:
        model: With ``nodes="auto"``.
        data: The rows of the fit.

    Raises:
        DataError: If nodes cannot be chosen.
    """
    known = model.graph_search
    names = {
        "interventions": bool(model.interventions),
        "graph_search": bool(known.required or known.forbidden or known.tiers),
        "experts": any(
            parameter.per not in ("cluster", "all")
            for expert in (model.experts or {}).values()
            for parameter in expert.parameters.values()
        ),
    }
    for parameter, does in names.items():
        if does:
            raise DataError(
                f"nodes='auto': {parameter} names nodes, which are not known yet. Give nodes=, or leave it out."
            )
    data.refuse_missing_cells("nodes='auto'")
    if len(data) < _FEWEST_ROWS:
        raise DataError(
            f"nodes='auto': n_samples = {len(data)} are too few to count groups in; at least {_FEWEST_ROWS} are needed. Give "
            "nodes=, such as (2, 2)."
        )


def counted_nodes(data: Dataset, gaussian: Sequence[str], seed: int) -> tuple[list[Candidate], tuple[str, ...]]:
    """Count components in every set of modalities, and list the nodes that have such counts.

    Args:
        data: Rows.
        gaussian: Modalities that are standardised.
        seed: Of what is random.

    Returns:
        Candidates, the nearest first, and a sentence about the counts.

    Raises:
        DataError: If the rows fall into one group.
    """
    strengths = count_components(data, gaussian, seed)
    near = candidates(strengths)
    counts = "; ".join(
        f"{'+'.join(chosen)} {found.count} (strength {found.values[found.count - 1]:.2f})"
        for chosen, found in strengths.items()
    )
    if not near:
        raise DataError(
            f"nodes='auto': no groups were counted in the rows ({counts}). Give nodes=, or use VAE, which needs no groups."
        )
    sentences = [
        f"Components counted: {counts}.",
        f"Nearest nodes: {near[0]} (strengths would change by {near[0].cost:.2f}).",
    ]
    return near, tuple(sentences)


def choose_nodes(model: CausalPIMA, data: Dataset, gaussian: Sequence[str]) -> NodeChoice:
    """Choose nodes: counts give candidates; of each, the finest that two starts share; of these, the best on held-out rows.

    Args:
        model: With ``nodes="auto"``.
        data: The rows of the fit.
        gaussian: Modalities that are standardised.

    Returns:
        The nodes, on which modalities each acts, and a sentence for each decision.

    Raises:
        DataError: If the rows fall into one group, or two starts share no node.
    """
    near, sentences = counted_nodes(data, gaussian, model.seed)
    training, aside = data.split(1 - _ASIDE, _ASIDE, seed=model.seed)
    tried: list[Tried] = []
    fits: dict[tuple[int, ...], list[CausalPIMA]] = {}  # candidates may differ in modalities alone
    for candidate in near:
        for one in finer(candidate):
            if one.outcomes not in fits:
                fits[one.outcomes] = [_short_fit(model, one.outcomes, training, start) for start in range(2)]
            tried.append(_compared(one, fits[one.outcomes], aside, data))
            sentences += (_said(tried[-1]),)
            if tried[-1].shared:
                break
    best = best_tried(tried)
    sentences += (f"Chosen: {best.candidate}.",)
    kept, dropped = shared_nodes(best)
    return NodeChoice(
        as_names(None, len(kept)),
        tuple(best.candidate.nodes[i].outcomes for i in kept),
        tuple(best.candidate.nodes[i].modalities for i in kept),
        sentences + dropped,
    )


def best_tried(tried: Sequence[Tried]) -> Tried:
    """Return what is nearest to the counts among those that held-out rows do not object to.

    Held-out rows object where the best bound is better by more than two standard errors, and by more than two starts differ.
    Candidates whose nodes two starts share come first.

    Args:
        tried: In the order of the counts' preference.

    Returns:
        One of them.
    """
    running = [one for one in tried if one.shared] or list(tried)
    best = max(running, key=lambda one: float(one.bounds.mean()))

    def as_good(one: Tried) -> bool:
        gap = best.bounds - one.bounds
        error = float(gap.std() / np.sqrt(len(gap)))
        return float(gap.mean()) <= max(_ERRORS * error, one.spread, best.spread)

    return next(one for one in running if as_good(one))


def shared_nodes(tried: Tried) -> tuple[list[int], tuple[str, ...]]:
    """Return which nodes two starts share, and a sentence for each that is dropped.

    Args:
        tried: After two fits.

    Returns:
        Numbers of nodes, and sentences.

    Raises:
        DataError: If none is shared.
    """
    nodes = tried.candidate.nodes
    kept = [i for i, same in enumerate(tried.agreement) if same >= _SHARED]
    if not kept:
        best = max(tried.agreement)
        raise DataError(
            f"nodes='auto': no node came back from another start (adjusted Rand index at most {best:.2f}, {_SHARED} is needed). "
            "Train longer (epochs=), give more rows, or give nodes=."
        )
    return kept, tuple(
        f"Dropped: the node of {nodes[i].outcomes} outcomes in {' and '.join(nodes[i].modalities)}, which another start does "
        f"not share (adjusted Rand index {tried.agreement[i]:.2f})."
        for i in range(len(nodes))
        if i not in kept
    )


def _said(tried: Tried) -> str:
    same = ", ".join(f"{value:.2f}" for value in tried.agreement)
    return (
        f"Tried {tried.candidate}: held-out bound {tried.bounds.mean():.4g} nats per row on {len(tried.bounds)} rows "
        f"(starts differ by {tried.spread:.2g}); the nodes of two starts agree with adjusted Rand indices {same}."
    )


def _compared(candidate: Candidate, fits: Sequence[CausalPIMA], aside: Dataset, every: Dataset) -> Tried:
    bounds = [fit.score_rows(aside) for fit in fits]
    means = [float(rows.mean()) for rows in bounds]
    first, other = (fit.node_values(every) for fit in fits)
    same = agreements(first, other, candidate.outcomes)
    effects = node_effects(fits[0].module_, candidate.outcomes)
    counted = modalities_by_effect(effects, candidate.outcomes, [node.modalities for node in candidate.nodes])
    agreement = tuple(same[counted.index(j)] for j in range(len(same)))
    return Tried(candidate, bounds[int(np.argmax(means))], abs(means[0] - means[1]), agreement)


def agreements(first: Labels, other: Labels, outcomes: Sequence[int]) -> tuple[float, ...]:
    """Return for each node of a fit the adjusted Rand index with the node of another fit that it is matched with.

    Args:
        first: Values of the nodes, (rows, nodes).
        other: Of another fit.
        outcomes: Of each node.

    Returns:
        One index for each node.

    >>> rows = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5)
    >>> agreements(rows, 1 - rows[:, ::-1], (2, 2))
    (1.0, 1.0)
    """
    columns = matched_names(first, other, outcomes)
    return tuple(float(adjusted_rand_score(first[:, i], other[:, columns.index(i)])) for i in range(len(outcomes)))


def _short_fit(model: CausalPIMA, outcomes: tuple[int, ...], training: Dataset, start: int) -> CausalPIMA:
    epochs = min(model.epochs, max(_FEWEST_EPOCHS, round(_SHORT * model.epochs)))
    fit = clone(model).set_params(nodes=outcomes, seed=model.seed + start, epochs=epochs, restarts=1, progress=False)
    fit.fit(training)
    if fit.state_.stopped == "interrupted":
        raise KeyboardInterrupt
    return fit
