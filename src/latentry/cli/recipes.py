"""What `latentry demo` shows: data, a model that suits them, and what is declared before looking."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from latentry import datasets, generators
from latentry.data import Dataset
from latentry.models import VAE, AnyModel, CausalPIMA, FlowMap, IFlow, Training
from latentry.nets import two_piece_linear

__all__ = ["RECIPES", "Recipe"]


class _MakesModel(Protocol):
    def __call__(self, seed: int, progress: bool | str) -> AnyModel: ...


@dataclass(frozen=True)
class Recipe:
    """Data and model of a demonstration.

    Args:
        title: of the report.
        data: makes or loads the rows, from a seed.
        model: makes the model, from a seed and whether to show progress.
        aside: fraction of the rows that are set aside for the audit.
        options: of `certify`.
    """

    title: str
    data: Callable[[int], Dataset]
    model: _MakesModel
    aside: float = 0.3
    options: Mapping[str, Any] = field(default_factory=dict)


def _lattices(seed: int, progress: bool | str) -> CausalPIMA:
    """Return a model whose curve is decoded by physics: two straight pieces whose kink and steepness depend on the nodes."""
    expert = two_piece_linear(np.linspace(0, 1, 100))
    return CausalPIMA(
        nodes=(2, 2),
        latent_dim=2,
        experts={"curve": expert},
        encoder="dense",
        decoder="dense",
        epochs=60,
        seed=seed,
        progress=progress,
    )


def _circles(seed: int, progress: bool | str) -> CausalPIMA:
    return CausalPIMA(
        nodes=(2, 2, 2), latent_dim=3, encoder="dense", decoder="dense", epochs=40, seed=seed, progress=progress
    )


def _penguins(seed: int, progress: bool | str) -> CausalPIMA:
    return CausalPIMA(nodes=(3,), latent_dim=2, hidden=(32,), epochs=150, validation=0.0, seed=seed, progress=progress)


def _digits(seed: int, progress: bool | str) -> VAE:
    """Return a model of eight latents; the certificate rounds them to ten values."""
    return VAE(latent_dim=8, epochs=60, seed=seed, progress=progress)


def _segments(seed: int, progress: bool | str) -> IFlow:
    training, flow = Training(patience=None), FlowMap(blocks=6, components=6)
    return IFlow(epochs=150, training=training, flow=flow, seed=seed, progress=progress)


def _birds(seed: int) -> Dataset:
    """Return four measurements in two blocks: the bill, and the body."""
    whole = datasets.penguins(domain="year")
    table = np.asarray(whole["x"])
    names = whole.columns["x"]
    return Dataset(
        {"bill": table[:, :2], "body": table[:, 2:]},
        whole.domain,
        factors=whole.factors,
        columns={"bill": names[:2], "body": names[2:]},
    ).shuffled(0)  # birds are independent of each other; the file is sorted by species


RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {
        "lattices": Recipe(
            "Lattices from two laboratories: images and curves",
            lambda seed: generators.lattices(rows=2400, labs=2, seed=seed),
            _lattices,
            aside=0.5,
            options={"epsilon": 0.2},  # 300 rows of each laboratory bound an error of zero to some 0.1 to 0.17 nats
        ),
        "circles": Recipe(
            "Circles: colour, size and place",
            lambda seed: generators.circles(rows=3000, seed=seed),
            _circles,
        ),
        "penguins": Recipe("Penguins of three years: bill and body", _birds, _penguins, 0.4, {"epsilon": 0.1}),
        "digits": Recipe(
            "Handwritten digits in six views",
            lambda seed: datasets.digit_views().shuffled(0),  # the file is sorted by digit
            _digits,
            options={"epsilon": 0.1, "blocks": ("fourier", "pixels", "zernike"), "quantiser": 10},
        ),
        "segments": Recipe(
            "Two sources behind two measurements, in twelve segments",
            lambda seed: generators.segments(domains=12, rows_per_domain=600, latents=2, layers=2, seed=seed),
            _segments,
        ),
    }
)
