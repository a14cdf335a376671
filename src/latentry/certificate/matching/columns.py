"""Latents of any source as named columns: numbers, or categories."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from latentry.contracts import HasChannel, HasGraph, NamesLatents
from latentry.data import CategoricalChannel, Channel, DataLike, GaussianChannel, channel_from_array, counted_names
from latentry.identifiability import as_columns

__all__ = ["LatentColumns", "LatentsElsewhere", "LatentsToMatch", "as_given", "encoded"]


@runtime_checkable
class NamedColumns(Protocol):
    """A dictionary or a data frame of latents."""

    def items(self) -> Iterable[tuple[object, ArrayLike]]:
        """Return names and columns."""


LatentsElsewhere: TypeAlias = Channel | ArrayLike | NamedColumns
LatentsToMatch: TypeAlias = HasChannel | LatentsElsewhere


@dataclass(frozen=True, eq=False)
class LatentColumns:
    """The latents of some rows.

    Args:
        names: One for each latent.
        table: Numbers, or whole numbers of outcomes, (rows, latents).
        categories: Whether the numbers stand for outcomes.
    """

    names: tuple[str, ...]
    table: np.ndarray
    categories: bool = False

    def take(self, rows: np.ndarray) -> LatentColumns:
        """Return the latents of some rows.

        Args:
            rows: Their numbers.

        Returns:
            The same latents of fewer rows.
        """
        return LatentColumns(self.names, self.table[rows], self.categories)


def encoded(model: HasChannel, data: DataLike) -> LatentColumns:
    """Return the latents that a model gives: its nodes where it has a graph, else what its channel says.

    Args:
        model: That was fitted.
        data: The rows that it encodes.

    Returns:
        Posterior means, or the most probable outcomes.
    """
    if isinstance(model, HasGraph):
        nodes = model.node_probabilities(data)
        outcomes = np.column_stack([np.asarray(table).argmax(axis=1) for table in nodes.values()])
        return LatentColumns(tuple(nodes), outcomes, categories=True)
    columns = _of_channel(model.channel(data))
    return replace(columns, names=model.latents_) if isinstance(model, NamesLatents) else columns


def as_given(latents: LatentsElsewhere) -> LatentColumns:
    """Return latents that were made elsewhere.

    Args:
        latents: A channel, an array, or columns by name.

    Returns:
        The same as columns; a single column of labels holds categories.

    >>> as_given({"size": [1.0, 2.0, 4.0], "tilt": [0.0, 5.0, 1.0]}).names
    ('size', 'tilt')
    """
    if isinstance(latents, GaussianChannel | CategoricalChannel):
        return _of_channel(latents)
    if not isinstance(latents, NamedColumns):
        return _of_channel(channel_from_array(latents))
    if len(getattr(latents, "shape", ())) == 1:  # the items of a series are its rows
        return _of_channel(channel_from_array(np.asarray(latents)))
    named = {str(name): column for name, column in latents.items()}
    return LatentColumns(tuple(named), as_columns("latents", named))


def _of_channel(channel: Channel) -> LatentColumns:
    if isinstance(channel, CategoricalChannel):
        return LatentColumns(counted_names(1), channel.most_likely[:, None], categories=True)
    return LatentColumns(counted_names(channel.mean.shape[1]), channel.mean)
