"""What is certified: latents of some rows, as channels, with the model that made them if there is one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from latentry.certificate.declared import check_blocks
from latentry.certificate.question import Fields
from latentry.certificate.splitting import FEWEST
from latentry.contracts import HasChannel, HasClusters, HasGraph, HasLatentMixture, NamesLatents, names_of
from latentry.data import (
    CategoricalChannel,
    Channel,
    Dataset,
    GaussianChannel,
    channel_from_array,
    column_scales,
    counted_names,
    nearest_centres,
)
from latentry.errors import DataError, nearest
from latentry.evidence import Assumption
from latentry.streams import stream

__all__ = ["Blocks", "Settings", "Subject", "blocks_of", "subject_of"]

Blocks: TypeAlias = Mapping[str, Sequence[int]] | Sequence[str] | None


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
    refits: bool = False
    best: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.epsilon < math.inf:
            raise DataError(
                f"epsilon={self.epsilon:g}: is no size of an error. Give a positive, finite number of nats, the largest error that "
                "counts as natural."
            )
        if not 0 < self.level < 0.5:
            raise DataError(f"level={self.level:g}: is out of range. Give a probability between 0 and 0.5.")
        if not self.noise > 0:
            raise DataError(
                f"noise={self.noise:g}: without noise a continuous latent is never redundant. Give a positive number."
            )
        if self.quantiser is not None and self.quantiser < 2:
            raise DataError(f"quantiser={self.quantiser}: is too few values. Give at least 2.")
        if self.seed < 0:
            raise DataError(f"seed={self.seed}: is below 0. Give a whole number of at least 0.")
        if self.restarts < 0:
            raise DataError(f"restarts={self.restarts}: is below 0. Give the number of further fits, 0 for none.")

    def to_json(self) -> Fields:
        """Return plain data for a JSON file."""
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
        refits: what further fits of the model said about assumptions, where they were asked for.
    """

    data: Dataset
    latents: GaussianChannel | None
    clusters: CategoricalChannel | None
    nodes: Mapping[str, CategoricalChannel]
    settings: Settings
    model: HasChannel | None = None
    others: tuple[Subject, ...] = ()
    definition: str = ""
    refits: tuple[Assumption, ...] = ()

    @property
    def channel(self) -> Channel:
        """Return the latent whose naturality is judged: the one with finitely many values if there is one."""
        channel = self.clusters if self.clusters is not None else self.latents
        if channel is None:
            raise DataError(
                "latents: there are none, neither continuous ones nor clusters. Give a model that has some."
            )
        return channel

    @property
    def called(self) -> str:
        """Return what the latent is called in sentences."""
        if self.model is None and self.definition.startswith("labels"):
            return "the label"
        own = self.model.latents_ if isinstance(self.model, NamesLatents) and not self.nodes else ()
        if len(own) == 1 and own != counted_names(1):
            return own[0]
        if self.clusters is not None:
            return "the cluster of all nodes" if len(self.nodes) > 1 else "the cluster"
        return "the latents" if self.latents is not None and self.latents.mean.shape[1] > 1 else "the latent"

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the continuous latents, as the model has them."""
        return () if self.latents is None else names_of(self.model, self.latents.mean.shape[1])

    @property
    def variables(self) -> tuple[str, ...]:
        """Return what sentences call each continuous latent: a single one without a name of its own is Λ."""
        return ("Λ",) if self.names == counted_names(1) else tuple(f"latent {name}" for name in self.names)

    @property
    def domain(self) -> np.ndarray | None:
        """Return a label for each row, if the domain has labels."""
        place = self.data.domain
        return None if place is None or place.labels is None else place.as_labels()

    @property
    def candidates(self) -> dict[str, Channel]:
        """Return every latent that may be natural: the cluster and its nodes, or the continuous latent."""
        if self.clusters is None or len(self.nodes) < 2:
            return {"Λ": self.channel}
        return {"the cluster": self.clusters, **{f"node {name}": channel for name, channel in self.nodes.items()}}

    @cached_property
    def observables(self) -> Dataset:
        """Return the blocks whose relation to the latent is judged: modalities, or chosen columns of a table."""
        return blocks_of(self.data, self.settings.blocks)

    def take(self, rows: np.ndarray) -> Subject:
        """Return the same latents of fewer rows.

        Args:
            rows: Their numbers.

        Returns:
            A new subject.
        """
        return replace(
            self,
            data=self.data.take(rows),
            latents=None if self.latents is None else self.latents.take(rows),
            clusters=None if self.clusters is None else self.clusters.take(rows),
            nodes={name: channel.take(rows) for name, channel in self.nodes.items()},
            others=tuple(other.take(rows) for other in self.others),
        )


def subject_of(
    source: HasChannel | Channel | ArrayLike, data: Dataset, settings: Settings, others: Sequence[HasChannel] = ()
) -> Subject:
    """Return the latents of the rows, from a model, a channel, or an array.

    Args:
        source: The model, or latents of these rows.
        data: The rows.
        settings: What was declared.
        others: Fits of the same model from other seeds.

    Returns:
        Rows and their latents, with noise where they had none.

    Raises:
        DataError: If a block is not known, or latents that are no model come with `others`.
    """
    blocks_of(data, settings.blocks)  # a mistyped block is noticed before anything is computed
    if isinstance(source, HasChannel):
        return _from_model(source, data, settings, others)
    if others:
        raise DataError("others: latents from elsewhere have no other fits. Leave it out, or give a model.")
    if isinstance(source, CategoricalChannel):
        return Subject(data, None, source, {}, settings, definition="a latent with finitely many values, as given")
    channel = source if isinstance(source, GaussianChannel) else channel_from_array(source)
    if isinstance(channel, CategoricalChannel):
        return Subject(data, None, channel, {}, settings, definition="labels, as given")
    latents, words = _declared(channel, settings, "the embedding")
    return _quantised(Subject(data, latents, None, {}, settings, definition=words))


def _from_model(model: HasChannel, data: Dataset, settings: Settings, others: Sequence[HasChannel]) -> Subject:
    subject = _seen_by(model, data, settings)
    subject = replace(subject, others=tuple(_seen_by(other, data, settings) for other in others))
    return subject if subject.clusters is not None else _quantised(subject)


def _seen_by(model: HasChannel, data: Dataset, settings: Settings) -> Subject:
    channel = model.channel(data)
    name = type(model).__name__
    latents, words = None, ""
    if isinstance(channel, GaussianChannel):
        latents, words = _declared(channel, settings, f"the posterior of the {name}")
    clusters = channel if isinstance(channel, CategoricalChannel) else _clusters(model, data)
    if clusters is not None:
        words = f"the cluster of the {name}" + (f"; beside it {words}" if words else "")
    return Subject(data, latents, clusters, _nodes(model, data), settings, model, definition=words)


def _clusters(model: HasChannel, data: Dataset) -> CategoricalChannel | None:
    """Return the probability of each cluster in each row, where a model has clusters beside its continuous latents."""
    if not (isinstance(model, HasClusters) and isinstance(model, HasGraph | HasLatentMixture)):
        return None  # NaturalLatents has either clusters or columns
    return CategoricalChannel(_normal(model.cluster_probabilities(data)))


def _nodes(model: HasChannel, data: Dataset) -> dict[str, CategoricalChannel]:
    """Return the probability of each value of each node, where a model has a graph."""
    if not isinstance(model, HasGraph):
        return {}
    return {name: CategoricalChannel(_normal(table)) for name, table in model.node_probabilities(data).items()}


def _normal(table: ArrayLike) -> np.ndarray:
    """Return rows that sum to one in double precision too."""
    values = np.maximum(np.asarray(table, dtype=np.float64), 0.0)
    rows: np.ndarray = values / values.sum(axis=1, keepdims=True)
    return rows


def _declared(channel: GaussianChannel, settings: Settings, what: str) -> tuple[GaussianChannel, str]:
    """Add the declared noise to a latent that has none, which would hold infinite information about its input."""
    if (channel.scale > 0).all():
        return channel, what
    mean = channel.mean / column_scales(channel.mean)
    words = f"{what}, each latent divided by its spread, plus Gaussian noise of {settings.noise:g}"
    return GaussianChannel(mean, np.full_like(mean, settings.noise)), words


def _quantised(subject: Subject) -> Subject:
    """Round the continuous latent to a few values, if that was declared; the centres come from a fifth of the rows."""
    count, latents = subject.settings.quantiser, subject.latents
    if count is None or latents is None:
        return subject
    scaled = latents.mean / column_scales(latents.mean)
    if len(scaled) < 5 * count or len(scaled) - max(len(scaled) // 5, 2 * count) < FEWEST:
        raise DataError(
            f"quantiser={count}: {len(scaled)} rows are too few to place {count} values and audit the rest. Give more rows."
        )
    some = stream("certificate/centres", subject.settings.seed).permutation(len(scaled))[
        : max(len(scaled) // 5, 2 * count)
    ]
    kept = np.setdiff1d(np.arange(len(scaled)), some)  # rows that defined the latent are not audited
    codes = nearest_centres(scaled, count, fit=some, seed=subject.settings.seed)
    words = f"{subject.definition}, rounded to the nearest of {count} centres"
    whole = replace(subject, clusters=CategoricalChannel(np.eye(count)[codes]), definition=words)
    return whole.take(kept)


def blocks_of(data: Dataset, blocks: Blocks) -> Dataset:
    """Return modalities by name, or columns of the only modality, as a Dataset of their own.

    Args:
        data: The rows.
        blocks: Names of modalities; or columns of the only one, by the name of the block; None for all modalities.

    Returns:
        A dataset with a modality for each block.

    Raises:
        DataError: If a modality or column does not exist, or is in two blocks.
    """
    check_blocks(blocks)
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
            f"blocks: columns are for data with one table. Name modalities instead: blocks={list(data.names[:2])}."
        )
    width = data[name].shape[1]
    for block, columns in blocks.items():
        strange = [c for c in columns if not 0 <= int(c) < width]
        if strange:
            raise DataError(
                f"blocks: block {block!r} names column {strange[0]}, and there are {width}. Count columns from 0."
            )
    used = [int(column) for columns in blocks.values() for column in columns]
    if len(set(used)) < len(used):
        twice = next(column for column in used if used.count(column) > 1)
        raise DataError(f"blocks: column {twice} is in two blocks, which would then share it. Give each column once.")
    table = np.asarray(data[name])
    mask = data.observed[name]
    return Dataset(
        {block: table[:, list(columns)] for block, columns in blocks.items()},
        data.domain,
        groups=data.groups,
        time=data.time,
        observed=dict.fromkeys(blocks, mask),
        factors=data.factors,
    )
