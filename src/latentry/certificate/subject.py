"""What is certified: latents of some rows, as channels, with the model that made them if there is one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from latentry.certificate.splitting import FEWEST
from latentry.contracts import HasChannel, HasClusters, HasGraph
from latentry.data import (
    CategoricalChannel,
    Channel,
    Dataset,
    GaussianChannel,
    channel_from_array,
    column_scales,
    nearest_centres,
)
from latentry.errors import DataError, nearest

__all__ = ["Settings", "Subject", "subject_of"]

Blocks = Mapping[str, Sequence[int]] | Sequence[str] | None


@dataclass(frozen=True)
class Settings:
    """What was declared before looking."""

    epsilon: float
    level: float = 0.05
    seed: int = 0
    noise: float = 0.25
    quantiser: int | None = None
    blocks: Blocks = None
    restarts: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.epsilon < math.inf:
            raise DataError(
                f"epsilon = {self.epsilon:g} must be positive and finite: it is the largest error that counts as natural."
            )
        if not 0 < self.level < 0.5:
            raise DataError(f"level = {self.level:g} must lie between 0 and 0.5.")
        if not self.noise > 0:
            raise DataError(
                f"noise = {self.noise:g} must be positive: without noise a continuous latent is never redundant."
            )
        if self.quantiser is not None and self.quantiser < 2:
            raise DataError(f"quantiser = {self.quantiser}: give at least 2 values.")
        if self.restarts < 0:
            raise DataError(f"restarts = {self.restarts}: give the number of further fits, 0 for none.")

    def to_json(self) -> dict[str, Any]:
        """Plain data for a JSON file."""
        blocks = self.blocks
        plain = {k: list(map(int, v)) for k, v in blocks.items()} if isinstance(blocks, Mapping) else blocks
        return {**vars(self), "blocks": list(plain) if isinstance(plain, Sequence) else plain}


@dataclass(frozen=True, eq=False)
class Subject:
    """Rows and their latents.

    Args:
        data: the audited rows.
        latents: the continuous latent as a channel with noise, if there is one.
        clusters: the latent with finitely many values, if there is one.
        nodes: the values of each node of a graph, by name.
        settings: what was declared.
        model: what made the latents; None for latents from elsewhere.
        others: the same rows, seen by other fits of the same model.
        definition: what Λ is, in words.
    """

    data: Dataset
    latents: GaussianChannel | None
    clusters: CategoricalChannel | None
    nodes: Mapping[str, CategoricalChannel]
    settings: Settings
    model: Any = None
    others: tuple[Subject, ...] = ()
    definition: str = ""

    @property
    def channel(self) -> Channel:
        """The latent whose naturality is judged: the one with finitely many values if there is one."""
        return self.clusters if self.clusters is not None else self.latents  # type: ignore[return-value]

    @property
    def domain(self) -> np.ndarray | None:
        """A label for each row, if the domain has labels."""
        place = self.data.domain
        return None if place is None or place.labels is None else place.as_labels()

    @property
    def candidates(self) -> dict[str, Channel]:
        """Every latent that may be natural: the cluster and its nodes, or the continuous latent."""
        if self.clusters is None or len(self.nodes) < 2:
            return {"Λ": self.channel}
        return {"the cluster": self.clusters, **{f"node {name}": channel for name, channel in self.nodes.items()}}

    @cached_property
    def observables(self) -> Dataset:
        """The blocks whose relation to the latent is judged: modalities, or chosen columns of a table."""
        return blocks_of(self.data, self.settings.blocks)

    def take(self, rows: np.ndarray) -> Subject:
        """The same latents of fewer rows."""
        return replace(
            self,
            data=self.data.take(rows),
            latents=None if self.latents is None else self.latents.take(rows),
            clusters=None if self.clusters is None else self.clusters.take(rows),
            nodes={name: channel.take(rows) for name, channel in self.nodes.items()},
            others=tuple(other.take(rows) for other in self.others),
        )


def subject_of(source: Any, data: Dataset, settings: Settings, others: Sequence[Any] = ()) -> Subject:
    """Latents of the rows, from a model, a channel, or an array."""
    blocks_of(data, settings.blocks)  # a mistyped block is noticed before anything is computed
    if isinstance(source, HasChannel):
        return _from_model(source, data, settings, others)
    if others:
        raise DataError("others: give fits of the same model; latents from elsewhere have none.")
    if isinstance(source, CategoricalChannel):
        return Subject(data, None, source, {}, settings, definition="a latent with finitely many values, as given")
    channel = source if isinstance(source, GaussianChannel) else channel_from_array(source)
    if isinstance(channel, CategoricalChannel):
        return Subject(data, None, channel, {}, settings, definition="labels, as given")
    latents, words = _declared(channel, settings, "the embedding")
    return _quantised(Subject(data, latents, None, {}, settings, definition=words))


def _from_model(model: Any, data: Dataset, settings: Settings, others: Sequence[Any]) -> Subject:
    found = _seen_by(model, data, settings)
    found = replace(found, others=tuple(_seen_by(one, data, settings) for one in others))
    return found if found.clusters is not None else _quantised(found)


def _seen_by(model: Any, data: Dataset, settings: Settings) -> Subject:
    channel = model.channel(data)
    name = type(model).__name__
    latents, words = None, ""
    if isinstance(channel, GaussianChannel):
        latents, words = _declared(channel, settings, f"the posterior of the {name}")
    clusters = channel if isinstance(channel, CategoricalChannel) else _clusters(model, data)
    if clusters is not None:
        words = f"the cluster of the {name}" + (f"; beside it {words}" if words else "")
    return Subject(data, latents, clusters, _nodes(model, data), settings, model, definition=words)


def _clusters(model: Any, data: Dataset) -> CategoricalChannel | None:
    """The probability of each cluster in each row, where a model has clusters."""
    if not isinstance(model, HasClusters):
        return None
    return CategoricalChannel(_normal(model.cluster_probabilities(data)))


def _nodes(model: Any, data: Dataset) -> dict[str, CategoricalChannel]:
    """The probability of each value of each node, where a model has a graph."""
    if not isinstance(model, HasGraph):
        return {}
    return {name: CategoricalChannel(_normal(table)) for name, table in model.node_probabilities(data).items()}


def _normal(table: Any) -> np.ndarray:
    """Rows that sum to one in double precision too."""
    values = np.maximum(np.asarray(table, dtype=np.float64), 0.0)
    return values / values.sum(axis=1, keepdims=True)


def _declared(channel: GaussianChannel, settings: Settings, what: str) -> tuple[GaussianChannel, str]:
    """A latent without noise has infinite information about its input: noise is declared as part of what it is."""
    if (channel.scale > 0).all():
        return channel, what
    mean = channel.mean / column_scales(channel.mean)
    words = f"{what}, each latent divided by its spread, plus Gaussian noise of {settings.noise:g}"
    return GaussianChannel(mean, np.full_like(mean, settings.noise)), words


def _quantised(subject: Subject) -> Subject:
    """The continuous latent rounded to a few values, if that was declared; the centres come from a fifth of the rows."""
    count, latents = subject.settings.quantiser, subject.latents
    if count is None or latents is None:
        return subject
    scaled = latents.mean / column_scales(latents.mean)
    if len(scaled) < 5 * count or len(scaled) - max(len(scaled) // 5, 2 * count) < FEWEST:
        raise DataError(
            f"quantiser = {count}: {len(scaled)} rows are too few to place {count} values and audit the rest."
        )
    some = np.random.default_rng(subject.settings.seed).permutation(len(scaled))[: max(len(scaled) // 5, 2 * count)]
    kept = np.setdiff1d(np.arange(len(scaled)), some)  # rows that defined the latent are not audited
    codes = nearest_centres(scaled, count, fit=some, seed=subject.settings.seed)
    words = f"{subject.definition}, rounded to the nearest of {count} centres"
    whole = replace(subject, clusters=CategoricalChannel(np.eye(count)[codes]), definition=words)
    return whole.take(kept)


def blocks_of(data: Dataset, blocks: Blocks) -> Dataset:
    """Modalities by name, or columns of the only modality, as a Dataset of their own."""
    if blocks is None:
        return data
    if not isinstance(blocks, Mapping):
        unknown = [name for name in blocks if name not in data.names]
        if unknown:
            raise DataError(f"blocks: no modality is called {unknown[0]!r}{nearest(str(unknown[0]), data.names)}")
        return data.select(*blocks)
    name = data.names[0]
    if len(data.names) > 1 or data[name].ndim != 2:
        raise DataError(
            f"blocks of columns are for data with one table; name modalities instead: blocks={list(data.names[:2])}."
        )
    width = data[name].shape[1]
    for block, columns in blocks.items():
        strange = [c for c in columns if not 0 <= int(c) < width]
        if strange:
            raise DataError(f"block {block!r} names column {strange[0]}, and there are {width}.")
    used = [int(column) for columns in blocks.values() for column in columns]
    if len(set(used)) < len(used):
        twice = next(column for column in used if used.count(column) > 1)
        raise DataError(f"blocks: column {twice} is in two blocks, which would then share it; give each column once.")
    table = np.asarray(data[name])
    mask = data.observed[name]
    return Dataset(
        {block: table[:, list(columns)] for block, columns in blocks.items()},
        data.domain,
        observed=dict.fromkeys(blocks, mask),
        factors=data.factors,
    )
