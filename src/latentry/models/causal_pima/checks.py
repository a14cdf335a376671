"""Sentences for parameters of causalPIMA that cannot be right."""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping
from typing import TYPE_CHECKING

from latentry.data import Dataset
from latentry.errors import DataError, nearest
from latentry.graphs import Knowledge, as_names, as_outcomes, as_values
from latentry.models.estimator import refuse
from latentry.models.estimator.values import likelihoods
from latentry.nets import Expert

if TYPE_CHECKING:
    from latentry.models.causal_pima.estimator import CausalPIMA

__all__ = ["AUTOMATIC", "check_causal_pima", "parse_nodes"]

AUTOMATIC = "auto"  # nodes that the fit chooses
_MOST_CLUSTERS = 4096


def parse_nodes(given: object) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Read names and outcomes of nodes.

    Args:
        given: Outcomes of each node, or a mapping from name to outcomes.

    Returns:
        Names, and a number of outcomes for each.

    Raises:
        DataError: If a number is below 2, or there are too many clusters.

    >>> parse_nodes((2, 3)), parse_nodes({"lattice": 2})
    ((('N1', 'N2'), (2, 3)), (('lattice',), (2,)))
    """
    if not isinstance(given, (Mapping, tuple, list)) or not len(given):
        raise DataError(
            f"nodes={given!r}: no outcomes of nodes. Give them as (2, 2, 3), as a mapping from names, or as {AUTOMATIC!r}."
        )
    sizes = tuple(given.values()) if isinstance(given, Mapping) else tuple(given)
    if not all(isinstance(size, numbers.Integral) and not isinstance(size, bool) for size in sizes):
        raise DataError(f"nodes={given!r}: outcomes are whole numbers. Give numbers of at least 2.")
    names = as_names(tuple(given) if isinstance(given, Mapping) else None, len(sizes))
    outcomes = as_outcomes(sizes, names)
    if math.prod(outcomes) > _MOST_CLUSTERS:
        raise DataError(
            f"nodes={given!r}: this makes {math.prod(outcomes):,} clusters, more than {_MOST_CLUSTERS:,}. Ask for fewer nodes or "
            "outcomes."
        )
    return names, outcomes


def check_causal_pima(model: CausalPIMA, data: Dataset, names: tuple[str, ...], outcomes: tuple[int, ...]) -> None:
    """Check every parameter of the model's own against the data.

    Args:
        model: With its parameters.
        data: The rows of a fit.
        names: Of the nodes.
        outcomes: Of each node.

    Raises:
        DataError: If one of them cannot be right.
    """
    _check_means(model, len(outcomes))
    known = model.graph_search
    Knowledge(names, known.tiers, tuple(known.required), tuple(known.forbidden))
    if math.prod(outcomes) > len(data):
        raise DataError(
            f"nodes={model.nodes!r}: this makes {math.prod(outcomes)} clusters, but n_samples = {len(data)}, "
            "more clusters than rows. Ask for fewer nodes or outcomes."
        )
    _check_experts(model, data, names)
    _check_per_cluster(model, data)
    _check_interventions(model, data, names, outcomes)


def _check_means(model: CausalPIMA, nodes: int) -> None:
    mixture = model.mixture
    if mixture.means == "axes" and model.latent_dim < nodes:
        problem = f"it needs a latent for each of the {nodes} nodes, and latent_dim={model.latent_dim}. "
        raise refuse("mixture__means", "axes", f'{problem}Raise latent_dim, or take "additive".')
    if mixture.means == "axes" and mixture.covariance == "full":
        problem = 'it keeps latents independent within a cluster. Take mixture__covariance="diagonal".'
        raise refuse("mixture__means", "axes", problem)


def _check_experts(model: CausalPIMA, data: Dataset, names: tuple[str, ...]) -> None:
    if model.experts is None:
        return
    if not isinstance(model.experts, Mapping):
        raise DataError(f"experts={model.experts!r}: not a mapping. Give one from modality to expert.")
    for modality, expert in model.experts.items():
        if modality not in data.names:
            raise DataError(f"experts names {modality!r}, which is no modality{nearest(str(modality), data.names)}")
        if not isinstance(expert, Expert):
            raise DataError(f"experts[{modality!r}] = {expert!r}: make it with latentry.nets.expert(function, ...).")
        kind = likelihoods(model.likelihood, data.names)[modality]
        if kind != "gaussian":
            raise DataError(
                f"experts[{modality!r}]: an expert's rows have Gaussian noise, but likelihood says {kind!r}. Leave it out there."
            )
        expert.checked(modality, data.layout.shape(modality))
        if modality in data.partial:
            data.select(modality).refuse_missing_cells(f"the expert of {modality!r}")
        for name, parameter in expert.parameters.items():
            if parameter.per not in ("cluster", "all", *names):
                known = nearest(str(parameter.per), ("cluster", "all", *names))
                raise DataError(
                    f"experts[{modality!r}]: parameter {name!r} is per {parameter.per!r}, which is not known{known}"
                )
    if set(model.experts) == set(data.names):
        raise DataError(
            "experts stand for every modality: at least one must have a network, or the latents mean nothing."
        )


def _check_per_cluster(model: CausalPIMA, data: Dataset) -> None:
    for modality in model.mixture.per_cluster:
        if modality not in data.names:
            problem = f"{modality!r} is no modality{nearest(str(modality), data.names)}"
            raise refuse("mixture__per_cluster", model.mixture.per_cluster, problem)
        if modality in (model.experts or {}):
            problem = f"{modality!r} is in experts too, and an expert is its decoder. Name it in one."
            raise refuse("mixture__per_cluster", model.mixture.per_cluster, problem)


def _check_interventions(model: CausalPIMA, data: Dataset, names: tuple[str, ...], outcomes: tuple[int, ...]) -> None:
    if model.interventions is None:
        return
    if not isinstance(model.interventions, Mapping):
        raise DataError('interventions: give a mapping such as {"treated": {"N1": 1}}, from labels of the domain.')
    if data.domain is None or data.domain.labels is None:
        raise DataError("interventions names labels of the domain: give each row its label, as Dataset(..., domain=).")
    labels = [str(label) for label in data.domain.labels]
    for label, do in model.interventions.items():
        if str(label) not in labels:
            raise DataError(
                f"interventions names {label!r}, which is no label of the domain{nearest(str(label), labels)}"
            )
        if not isinstance(do, Mapping):
            raise DataError(f"interventions[{label!r}] = {do!r}: give the nodes that were set, such as {{'N1': 1}}.")
        as_values(do, names, outcomes, f"interventions[{label!r}]")
