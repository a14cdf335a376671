"""What a model can answer, as types: an audit asks with ``isinstance``, and a model says in its list of bases.

Each is an abstract class without fields and without code. A new model, or a toy one in a test, declares those that it has.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from latentry.contracts.fit_record import FitRecord
from latentry.contracts.latent_distributions import LatentDistributions
from latentry.data import Channel

__all__ = [
    "CanBeIntervenedOn",
    "DecodesLatents",
    "HasChannel",
    "HasClusters",
    "HasGraph",
    "HasLatentDistributions",
    "HasLikelihood",
    "HasMixing",
    "HasPhysics",
    "KeepsFitRecord",
    "PenalisesMixing",
    "PhysicalParameter",
    "Reconstructs",
    "Samples",
    "SamplesByDomain",
]


class HasChannel(ABC):
    """A model whose latents can be certified: it gives a distribution over latents for every row."""

    @abstractmethod
    def channel(self, X: Any, y: Any = None) -> Channel:
        """Return the distribution of the latent given each row."""


class KeepsFitRecord(ABC):
    """A model that knows which rows trained it."""

    @abstractmethod
    def fit_record(self) -> FitRecord | None:
        """Return what was recorded of the last fit; None before a fit."""

    @abstractmethod
    def fit_history(self) -> Sequence[Mapping[str, Any]]:
        """Return one row of metrics for each epoch of the last fit."""


class HasLikelihood(ABC):
    """A model that scores rows."""

    @property
    @abstractmethod
    def score_name(self) -> str:
        """What the score is: a log likelihood, or which bound on it."""

    @abstractmethod
    def score_rows(self, X: Any, y: Any = None, *, seed: int = 0) -> np.ndarray:
        """Return the log evidence of each row in nats, in the units of the data."""

    @abstractmethod
    def likelihoods(self) -> Mapping[str, str]:
        """Return the name of the likelihood of each modality."""


class Reconstructs(ABC):
    """A model that gives expected values of every modality for rows, missing ones among them."""

    @abstractmethod
    def reconstruct(self, X: Any, y: Any = None) -> Any:
        """Return expected values given what was observed, in the units of the data."""


class Samples(ABC):
    """A model that draws new rows."""

    @abstractmethod
    def sample(self, n: int = 1, *, seed: int = 0) -> Any:
        """Draw rows, in the units of the data: an array, or a dictionary when there are several modalities."""


class SamplesByDomain(Samples):
    """A model that draws new rows of a chosen domain."""

    @abstractmethod
    def sample(self, n: int = 1, domain: Any = None, *, seed: int = 0) -> Any:
        """Draw rows of one domain, or of one domain each; None lets domains occur as often as they did in the data."""


class DecodesLatents(ABC):
    """A model that gives expected data for latents alone."""

    @abstractmethod
    def decode(self, latents: Any) -> Any:
        """Return expected data given latents (rows, latents), in the units of the data."""


class HasLatentDistributions(ABC):
    """A model whose latents have a distribution in each domain."""

    @abstractmethod
    def latent_distributions(self, u: Any = None) -> LatentDistributions:
        """Return the distribution of each latent in each domain, as it was learned."""


class HasMixing(ABC):
    """A model that says how strongly each observed variable depends on each latent."""

    @abstractmethod
    def mixing(self, X: Any) -> np.ndarray:
        """Return strengths (observed, latents) at some rows."""


class PenalisesMixing(HasMixing):
    """A model whose loss has a price for the edges of its mixing, so that restarts can be compared by it."""

    @abstractmethod
    def penalised_rows(self, X: Any) -> np.ndarray:
        """Return minus the score of each row, plus the penalty that the fit ended with."""

    @abstractmethod
    def score_rows(self, X: Any, y: Any = None, *, seed: int = 0) -> np.ndarray:
        """Return the log evidence of each row in nats, in the units of the data."""


class HasClusters(ABC):
    """A model that reads rows as clusters."""

    @abstractmethod
    def cluster_probabilities(self, X: Any, y: Any = None) -> np.ndarray:
        """Return the probability of each cluster, (rows, clusters)."""


class HasGraph(ABC):
    """A model with nodes of finitely many values, and a graph over them."""

    @property
    @abstractmethod
    def graph_(self) -> Any:
        """The graph: one member with tables, or that beside its equivalence class."""

    @abstractmethod
    def node_probabilities(self, X: Any, y: Any = None) -> Mapping[str, np.ndarray]:
        """Return, for each node, the probability of its values in each row."""


class CanBeIntervenedOn(Samples):
    """A model that draws rows of the world in which some nodes are set."""

    @abstractmethod
    def sample(self, n: int = 1, *, do: Mapping[str, int] | None = None, noise: bool = True, seed: int = 0) -> Any:
        """Draw rows with nodes set, with or without the noise of measurement."""


@dataclass(frozen=True, eq=False)
class PhysicalParameter:
    """A parameter of an expert decoder, as it was fitted.

    Args:
        modality: That the expert decodes.
        name: Of the parameter.
        per: "all", "cluster", or the node on whose value it depends.
        values: One for each group of rows.
        errors: Their standard errors; not finite where the rows do not determine them.
    """

    modality: str
    name: str
    per: str
    values: np.ndarray
    errors: np.ndarray


class HasPhysics(ABC):
    """A model with fitted parameters that a scientist can look up."""

    @abstractmethod
    def physical_parameters(self) -> Sequence[PhysicalParameter]:
        """Return every parameter of every expert decoder."""
