"""Settings of the mixture and of the graph that few users touch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from latentry.models.estimator import Choice, Names, Real, Reals, Rule, Settings, Whole

__all__ = ["GraphSearch", "NodeMixture"]


@dataclass(frozen=True)
class NodeMixture(Settings):
    """How clusters lie in the latents, and how they are learned.

    Args:
        means: "axes" (node ℓ moves latent ℓ), "additive" (parts add up), "free" (the paper: every cluster its own), or
            "auto": axes where there are enough latents, and no node has more than three values to lie along its own.
        covariance: "diagonal", or "full" for a covariance in each cluster.
        gamma: "exact", or "sample" for the paper's probabilities at one drawn z.
        pretraining: "guided" (rows are first read as nodes from the data themselves, and the latents are trained to that
            reading), "vae" (standard normal prior; rows are read from data and latents) or "reconstruction".
        balance: How many numbers of a row count as one. Pixels do not err independently; counted one by one they outvote
            the prior, and nodes drift off their meaning. None takes one for 24; 1 trains by the bound itself. It weighs
            the training loss alone: ``score`` is the bound.
        mixture_updates: Rounds of EM after each epoch.
        per_cluster: Modalities whose decoder is another network in each cluster; the others have one in common.
    """

    means: str = "auto"
    covariance: str = "diagonal"
    gamma: str = "exact"
    pretraining: str = "guided"
    balance: float | None = None
    mixture_updates: int = 5
    per_cluster: Sequence[str] = ()

    constraints: ClassVar[Mapping[str, Rule]] = {
        "means": Choice(("auto", "axes", "additive", "free")),
        "covariance": Choice(("diagonal", "full")),
        "gamma": Choice(("exact", "sample")),
        "pretraining": Choice(("guided", "vae", "reconstruction")),
        "balance": Real(above=0, none=True),
        "mixture_updates": Whole(1),
        "per_cluster": Names('("curve",)'),
    }


@dataclass(frozen=True)
class GraphSearch(Settings):
    """What is known of the graph, and how it is learned.

    Args:
        required: Edges that must be in the graph, as (parent, child).
        forbidden: Edges that must not be.
        tiers: Groups of nodes, causes first: no edge leads back into an earlier group.
        graph_penalty: For each edge, in nats per row, under ``graph="hodge"``.
        graph_steps: Further gradient steps on the graph after each epoch, under ``graph="hodge"``.
        cooling: First and last temperature of the graph, under ``graph="hodge"``.
    """

    required: Sequence[tuple[str, str]] = ()
    forbidden: Sequence[tuple[str, str]] = ()
    tiers: Sequence[Sequence[str]] = ()
    graph_penalty: float = 0.01
    graph_steps: int = 20
    cooling: Sequence[float] = (1.0, 0.1)

    constraints: ClassVar[Mapping[str, Rule]] = {
        "graph_penalty": Real(least=0),
        "graph_steps": Whole(0),
        "cooling": Reals(2, Real(above=0), "the first and the last temperature, such as (1.0, 0.1)"),
    }
