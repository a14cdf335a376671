"""What a fitted CGGAN computes for rows: pictures of codes, codes behind pictures, grids of samples."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import jax
import numpy as np

from latentry.data import Batch, Dataset, Domain
from latentry.models.cggan.image_grid import picture_grid, write_png
from latentry.models.cggan.module import Adversaries
from latentry.training import map_rows

__all__ = ["Decode", "Grids", "Sample", "Still", "codes_behind"]

_ACROSS, _DOWN = 8, 4  # pictures of a grid, for each domain


@dataclass(frozen=True)
class Sample:
    """Pictures of noise in its domain, with noise in the pixels."""

    def __call__(self, module: Adversaries, batch: Batch, key: jax.Array) -> jax.Array:
        noise, generator = batch.values["rows"], module.average.generator
        pixels = generator.synthesis.noise(len(noise), key)
        return module.outward(generator(generator.codes(noise), batch.domain, pixels), flat=False)


@dataclass(frozen=True)
class Still:
    """Pictures of codes in their domain, and no noise."""

    def __call__(self, module: Adversaries, batch: Batch, key: jax.Array) -> jax.Array:
        return module.outward(module.average.generator(batch.values["rows"], batch.domain), flat=False)


@dataclass(frozen=True)
class Decode:
    """Pictures of latents."""

    def __call__(self, module: Adversaries, batch: Batch, key: jax.Array) -> jax.Array:
        return module.outward(module.average.generator.picture(batch.values["rows"]), flat=False)


def codes_behind(module: Adversaries, batch: Batch, key: jax.Array) -> jax.Array:
    """The encoder's mean."""
    return module.average.encoder(module.inward(batch.values[module.modality]))[0]


@dataclass(frozen=True)
class Grids:
    """After an epoch: the same noise in each domain, as a file named by the rows seen."""

    folder: str
    every: int

    def __call__(self, module: Adversaries, data: Dataset, key: jax.Array) -> Adversaries:
        rows = round(float(module.rows))
        if round(rows / len(data)) % self.every:
            return module
        domains = module.domains
        noise = np.random.default_rng(0).standard_normal((_ACROSS * _DOWN, module.average.generator.domains.latents))
        labels = Domain(np.repeat(np.arange(domains, dtype=np.int32), len(noise)), tuple(range(domains)))
        wanted = Dataset({"rows": np.tile(noise, (domains, 1)).astype(np.float32)}, labels)
        made = (map_rows(Sample(), module, wanted) - module.low) / (module.high - module.low)
        Path(self.folder).mkdir(parents=True, exist_ok=True)
        write_png(Path(self.folder) / f"rows-{rows:09d}.png", picture_grid(made, columns=_ACROSS), enlarge=2)
        return module
