"""What a fitted CGGAN computes for rows: images of codes, codes behind images, grids of samples."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from latentry.data import Batch, Dataset, Domain
from latentry.models.cggan.image_grid import picture_grid, write_png
from latentry.models.cggan.module import Adversaries
from latentry.training import map_rows

__all__ = ["Decode", "Grids", "Sample", "Still", "codes_behind"]

_ACROSS, _DOWN = 8, 4  # images of a grid, for each domain


@dataclass(frozen=True)
class Sample:
    """Images of noise in its domain, with noise in the pixels."""

    def __call__(self, module: Adversaries, batch: Batch, key: PRNGKeyArray) -> Float[Array, "rows h w c"]:
        noise, generator = batch.values["rows"], module.average.generator
        pixels = generator.synthesis.noise(len(noise), key)
        return module.outward(generator(generator.codes(noise), batch.domain, pixels), flat=False)


@dataclass(frozen=True)
class Still:
    """Images of codes in their domain, and no noise."""

    def __call__(self, module: Adversaries, batch: Batch, key: PRNGKeyArray) -> Float[Array, "rows h w c"]:
        return module.outward(module.average.generator(batch.values["rows"], batch.domain), flat=False)


@dataclass(frozen=True)
class Decode:
    """Images of latents."""

    def __call__(self, module: Adversaries, batch: Batch, key: PRNGKeyArray) -> Float[Array, "rows h w c"]:
        return module.outward(module.average.generator.image(batch.values["rows"]), flat=False)


def codes_behind(module: Adversaries, batch: Batch, key: PRNGKeyArray) -> Float[Array, "rows latents"]:
    """Return the encoder's mean.

    Args:
        module: Trained.
        batch: Images in the data's own range.
        key: Not used.

    Returns:
        Codes.
    """
    return module.average.encoder(module.inward(batch.values[module.modality]))[0]


@dataclass(frozen=True)
class Grids:
    """After an epoch: the same noise in each domain, as a file named by the rows seen."""

    folder: str
    every: int

    def __call__(self, module: Adversaries, data: Dataset, key: PRNGKeyArray) -> Adversaries:
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
