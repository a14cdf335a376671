"""What a model can answer, as types: an audit asks with ``isinstance``, and a model says in its list of bases.

Each is an abstract class without fields and without code. A new model, or a toy one in a test, declares those that it has.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from latentry.contracts.fit_record import FitRecord
from latentry.contracts.frontier import FrontierPoint
from latentry.contracts.latent_distributions import LatentDistributions
from latentry.contracts.latent_mixture import LatentMixture
from latentry.data import Channel, DataLike, Dataset, DomainLike, counted_names

__all__ = [
    "CanBeIntervenedOn",
    "DecodesLatents",
    "HasChannel",
    "HasClusters",
    "HasFrontier",
    "ExplainsChoices",
    "HasDoubts",
    "HasGraph",
    "HasLatentDistributions",
    "HasLatentMixture",
    "HasLikelihood",
    "HasMixing",
    "HasPhysics",
    "KeepsFitRecord",
    "ModalityArrays",
    "NamesLatents",
    "PenalisesMixing",
    "PhysicalParameter",
    "Reconstructs",
    "Samples",
    "SamplesByDomain",
    "ShowsGraph",
    "names_of",
]

# What comes out of a model, in the units of the data: one array, or arrays by the names of several modalities.
ModalityArrays: TypeAlias = np.ndarray | Mapping[str, np.ndarray]


class HasChannel(ABC):
    """A model whose latents can be certified: it gives a distribution over latents for every row."""

    @abstractmethod
    def channel(self, X: DataLike, y: DomainLike | None = None) -> Channel:
        """Return the distribution of the latent given each row.

        Args:
            X: Rows, as :class:`latentry.Dataset` takes them.
            y: Their domain, where X does not hold it.

        Returns:
            A Gaussian or categorical channel, row by row.
        """


class NamesLatents(ABC):
    """A model whose latents have names."""

    @property
    @abstractmethod
    def latents_(self) -> tuple[str, ...]:
        """Return a name for each latent: z1, z2, ... or those that a user gave."""


def names_of(source: object, count: int) -> tuple[str, ...]:
    """Return the names of a source's latents; those of a source without names are counted.

    Args:
        source: A model, or what stands for one.
        count: Of its latents.

    Returns:
        A name for each.

    >>> names_of(None, 2)
    ('z1', 'z2')
    """
    names = source.latents_ if isinstance(source, NamesLatents) else ()
    return names if len(names) == count else counted_names(count)


class KeepsFitRecord(ABC):
    """A model that knows which rows trained it."""

    @abstractmethod
    def fit_record(self) -> FitRecord | None:
        """Return what was recorded of the last fit; None before a fit."""

    @abstractmethod
    def fit_history(self) -> Sequence[Mapping[str, object]]:
        """Return one row of metrics for each epoch of the last fit."""

    def chosen_params(self) -> Mapping[str, object]:
        """Return the parameters that were left to the fit, as it chose them: for further fits that are compared with it."""
        return {}


class HasLikelihood(ABC):
    """A model that scores rows."""

    @property
    @abstractmethod
    def score_name(self) -> str:
        """Return what the score is: a log likelihood, or which bound on it."""

    @abstractmethod
    def score_rows(self, X: DataLike, y: DomainLike | None = None, *, seed: int = 0) -> np.ndarray:
        """Return the log evidence of each row in nats, in the units of the data.

        Args:
            X: Rows, as :class:`latentry.Dataset` takes them.
            y: Their domain, where X does not hold it.
            seed: Of the draws, where the evidence is estimated by draws.

        Returns:
            One number for each row, (rows,).
        """

    @abstractmethod
    def score(self, X: DataLike, y: DomainLike | None = None) -> float:
        """Return the mean of :meth:`score_rows`, as scikit-learn asks for it: higher is better.

        Args:
            X: Rows, as :class:`latentry.Dataset` takes them.
            y: Their domain, where X does not hold it.

        Returns:
            Nats per row.
        """

    @abstractmethod
    def likelihoods(self) -> Mapping[str, str]:
        """Return the name of the likelihood of each modality."""


class Reconstructs(ABC):
    """A model that gives expected values of every modality for rows, missing ones among them."""

    @abstractmethod
    def reconstruct(self, X: DataLike, y: DomainLike | None = None) -> ModalityArrays:
        """Return expected values given what was observed, in the units of the data.

        Args:
            X: Rows, as :class:`latentry.Dataset` takes them.
            y: Their domain, where X does not hold it.

        Returns:
            An array (rows, ...), or one for each of several modalities.
        """


class Samples(ABC):
    """A model that draws new rows."""

    @abstractmethod
    def sample(self, n: int = 1, *, seed: int = 0) -> ModalityArrays:
        """Draw rows, in the units of the data.

        Args:
            n: Number of rows.
            seed: Of the draws.

        Returns:
            An array (n, ...), or a dictionary of them when there are several modalities.
        """


class SamplesByDomain(Samples):
    """A model that draws new rows of a chosen domain."""

    @abstractmethod
    def sample(self, n: int = 1, domain: DomainLike | None = None, *, seed: int = 0) -> ModalityArrays:
        """Draw rows of chosen domains.

        Args:
            n: Number of rows.
            domain: One domain, or one for each row; None lets domains occur as often as they did in the data.
            seed: Of the draws.

        Returns:
            An array (n, ...), or a dictionary of them when there are several modalities.
        """


class DecodesLatents(ABC):
    """A model that gives expected data for latents alone."""

    @abstractmethod
    def decode(self, latents: ArrayLike) -> ModalityArrays:
        """Return expected data given latents, in the units of the data.

        Args:
            latents: Values of the latents, (rows, latents).

        Returns:
            An array (rows, ...), or one for each of several modalities.
        """


class HasLatentDistributions(ABC):
    """A model whose latents have a distribution in each domain."""

    @abstractmethod
    def latent_distributions(self, u: ArrayLike | None = None) -> LatentDistributions:
        """Return the distribution of each latent in each domain, as it was learned.

        Args:
            u: For a continuous domain, the values (points, columns) at which the distributions are wanted.

        Returns:
            Location and scale of each latent in each domain.
        """


class HasMixing(ABC):
    """A model that says how strongly each observed variable depends on each latent."""

    @abstractmethod
    def mixing(self, X: DataLike) -> np.ndarray:
        """Return how strongly each observed variable depends on each latent, at some rows.

        Args:
            X: Rows, as :class:`latentry.Dataset` takes them.

        Returns:
            Strengths, (observed, latents).
        """


class PenalisesMixing(HasMixing):
    """A model whose loss has a price for the edges of its mixing, so that restarts can be compared by it."""

    @abstractmethod
    def penalised_rows(self, X: Dataset) -> np.ndarray:
        """Return minus the score of each row, plus the penalty that the fit ended with.

        Args:
            X: The rows.

        Returns:
            One number for each row, (rows,).
        """

    @abstractmethod
    def score_rows(self, X: DataLike, y: DomainLike | None = None, *, seed: int = 0) -> np.ndarray:
        """Return the log evidence of each row in nats, in the units of the data.

        Args:
            X: Rows, as :class:`latentry.Dataset` takes them.
            y: Their domain, where X does not hold it.
            seed: Of the draws, where the evidence is estimated by draws.

        Returns:
            One number for each row, (rows,).
        """


class HasClusters(ABC):
    """A model that reads rows as clusters."""

    @abstractmethod
    def cluster_probabilities(self, X: DataLike, y: DomainLike | None = None) -> np.ndarray:
        """Return the probability of each cluster given each row.

        Args:
            X: Rows, as :class:`latentry.Dataset` takes them.
            y: Their domain, where X does not hold it.

        Returns:
            Probabilities, (rows, clusters).
        """


class HasLatentMixture(HasClusters):
    """A model whose latents are a mixture of Gaussians, one for each cluster."""

    @abstractmethod
    def latent_mixture(self) -> LatentMixture:
        """Return the mixture that was learned."""


class HasFrontier(ABC):
    """A model that knows how natural its latent would be with fewer values or columns."""

    @property
    @abstractmethod
    def frontier_(self) -> Sequence[FrontierPoint]:
        """Return one point for each size, the smallest first; none before the fit has ended."""


class ShowsGraph(Protocol):
    """A graph that can be written down."""

    def to_json(self) -> Mapping[str, object]:
        """Return plain lists, numbers and text."""

    def to_text(self) -> str:
        """Return a few lines for a terminal."""


class HasGraph(ABC):
    """A model with nodes of finitely many values, and a graph over them."""

    @property
    @abstractmethod
    def graph_(self) -> ShowsGraph:
        """Return the graph: one member with tables, or that beside its equivalence class."""

    @abstractmethod
    def node_probabilities(self, X: DataLike, y: DomainLike | None = None) -> Mapping[str, np.ndarray]:
        """Return, for each node, the probability of its values in each row.

        Args:
            X: Rows, as :class:`latentry.Dataset` takes them.
            y: Their domain, where X does not hold it.

        Returns:
            Probabilities (rows, values) by the name of the node.
        """


class ExplainsChoices(ABC):
    """A model that chooses some of its own settings, and says why."""

    @property
    @abstractmethod
    def choices_(self) -> tuple[str, ...]:
        """Return a sentence with its numbers for each decision of the last fit; none where nothing was left open."""


class HasDoubts(ABC):
    """A model that can warn of its own fit."""

    @abstractmethod
    def doubts(self) -> tuple[str, ...]:
        """Return sentences about what is not as it was asked for; none where all is well."""


class CanBeIntervenedOn(Samples):
    """A model that draws rows of the world in which some nodes are set."""

    @abstractmethod
    def sample(
        self, n: int = 1, *, do: Mapping[str, int] | None = None, noise: bool = True, seed: int = 0
    ) -> ModalityArrays:
        """Draw rows with nodes set, with or without the noise of measurement.

        Args:
            n: Number of rows.
            do: Nodes by name, and the values that they are set to.
            noise: Whether the noise of measurement is added.
            seed: Of the draws.

        Returns:
            An array (n, ...), or a dictionary of them when there are several modalities.
        """


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
