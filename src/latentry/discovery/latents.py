"""How many latents: the smallest number beyond which held-out rows gain no more."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import final

import numpy as np

from latentry.data import Dataset
from latentry.discovery.curved_surface import RealValues, real_values, surface_density
from latentry.discovery.held_out import parts, some_rows
from latentry.discovery.plane_mixture import factor_density, fit_planes
from latentry.discovery.shape import Shape, shape_of
from latentry.errors import DataError
from latentry.identifiability import mean_gain
from latentry.models import VAE, AnyModel, Training

__all__ = ["PART", "LatentCount", "Tried", "count_latents", "is_worth", "smallest_enough", "steepest_end"]

PART = 0.05  # of what a latent before it brought on average, that a further latent must bring
_MOST_ROWS = 12_000  # by which latents are counted
_FEW_ROWS = 1000  # below which networks are no match for planes
_MOST_COLUMNS = 30  # of a table, up to which planes are fitted
_MOST_LATENTS = 64
_COMPONENTS = (1, 2, 4, 8, 16, 32, 64)
_MOST_FACTORS = 15  # of factor analysis, which takes seconds for more
_ROWS_EACH = 4  # rows that a component needs for each column
_FOLDS = 5

Fit = Callable[[str, AnyModel, Dataset], AnyModel]


@dataclass(frozen=True, eq=False)
class Tried:
    """One number of latents that was tried.

    Args:
        latents: The number.
        by: "planes" or "autoencoder".
        rows: Log density of each row set aside, nats.
    """

    latents: int
    by: str
    rows: np.ndarray

    @property
    def mean(self) -> float:
        """Return nats per row."""
        return float(self.rows.mean())


@dataclass(frozen=True, eq=False)
class LatentCount:
    """How many latents, and why.

    Args:
        latents: The number.
        columns: Columns of the data that vary.
        tried: All that were tried.
        sentences: Each decision, with its number.
    """

    latents: int
    columns: int
    tried: tuple[Tried, ...]
    sentences: tuple[str, ...]


def is_worth(fewer: Tried, more: Tried, none: np.ndarray | None, units: np.ndarray | None = None) -> bool:
    """Say whether further latents bring more than one standard error, and more than a part of what latents before them brought.

    Cost: linear in the rows.

    Args:
        fewer: The smaller number.
        more: The larger one.
        none: Log density of the same rows without any latent; None where there is no such density.
        units: The unit that each row belongs to.

    Returns:
        True where they do.

    >>> none, one = np.zeros(100), Tried(1, "planes", np.full(100, 2.0))
    >>> is_worth(one, Tried(2, "planes", np.full(100, 2.05)), none), is_worth(one, Tried(2, "planes", np.full(100, 2.2)), none)
    (False, True)
    """
    gain = mean_gain(more.rows - fewer.rows, units)
    return gain.mean > max(gain.error, _least_gain(fewer, none) * max(1, more.latents - fewer.latents))


def _least_gain(fewer: Tried, none: np.ndarray | None) -> float:
    """Return what each further latent must bring: a part of the mean gain of the latents so far."""
    return 0.0 if none is None else PART * (fewer.mean - float(none.mean())) / max(fewer.latents, 1)


def smallest_enough(
    score: Callable[[int], Tried],
    least: int,
    most: int,
    none: np.ndarray | None,
    units: np.ndarray | None = None,
    spent: Callable[[], bool] = lambda: False,
) -> tuple[Tried, tuple[Tried, ...]]:
    """Find the smallest number of latents that ``most`` latents are not worth replacing by, in about log2(most) trials.

    Cost: about log2 of the largest number in calls of the score.

    Args:
        score: Fits and scores a number of latents.
        least: The smallest number to be tried.
        most: The largest.
        none: Log density without latents, if there is one.
        units: The unit of each row.
        spent: Whether the search must end; what it has then is the smallest so far.

    Returns:
        The smallest, and all that were tried, ascending.

    >>> planted = lambda n: Tried(n, "planes", np.full(100, float(min(n, 5))))
    >>> smallest_enough(planted, 1, 12, np.zeros(100))[0].latents
    5
    """
    tried = {most: score(most)}
    low, high = least, most
    while low < high and not spent():
        middle = (low + high) // 2
        tried[middle] = score(middle)
        if any(is_worth(tried[middle], other, none, units) for n, other in tried.items() if n > middle):
            low = middle + 1
        else:
            high = middle
    return tried[high], tuple(tried[n] for n in sorted(tried))


def steepest_end(
    score: Callable[[int], Tried],
    start: int,
    most: int,
    units: np.ndarray | None = None,
    spent: Callable[[], bool] = lambda: False,
) -> tuple[int, tuple[Tried, ...]]:
    """Double the number of latents until that brings nothing: an upper end for the search.

    Args:
        score: Fits and scores a number of latents.
        start: The first number.
        most: The largest.
        units: The unit of each row.
        spent: Whether the search must end.

    Returns:
        The upper end, and what was tried.
    """
    tried = [score(min(start, most))]
    while tried[-1].latents < most and not spent():
        tried.append(score(min(2 * tried[-1].latents, most)))
        if not is_worth(tried[-2], tried[-1], None, units):
            return tried[-2].latents, tuple(tried)
    return tried[-1].latents, tuple(tried)


def count_latents(
    data: Dataset,
    fit: Fit,
    *,
    seed: int = 0,
    shape: Shape | None = None,
    spent: Callable[[], bool] = lambda: False,
) -> LatentCount:
    """Count latents by rows that no fit saw.

    A table is first described by planes, which need no training; where rows are many, autoencoders with a curved surface then
    try to describe the same rows as well with fewer latents. Both are densities of the same rows.

    Cost: about log2 of the largest number of latents in fits, each linear in rows and epochs.

    Args:
        data: Rows that may be fitted.
        fit: Fits a model under a name: ``lambda name, model, rows: model.fit(rows)``.
        seed: Of splits and starts.
        shape: Of the data, if it is known.
        spent: Whether the search must end with what it has.

    Returns:
        The number, and each decision.

    >>> from latentry.generators import sparse_mixing
    >>> count_latents(sparse_mixing(rows_per_domain=400), lambda name, model, rows: model.fit(rows)).latents
    4
    """
    form = shape_of(data) if shape is None else shape
    rows = some_rows(data, _MOST_ROWS, seed)
    if form.flat and form.columns <= _MOST_COLUMNS:
        planes = _by_planes(rows, seed)
        return planes if len(rows) < _FEW_ROWS else _fewer_by_surface(planes, _Surface(rows, form, fit, seed), spent)
    score = _Surface(rows, form, fit, seed) if form.all_real else _Bound(rows, form, fit, seed)
    return _by_networks(score, form, spent)


# Planes -------------------------------------------------------------------------------------------


def _by_planes(rows: Dataset, seed: int) -> LatentCount:
    """Count by mixtures of planes, their number chosen by the same rows."""
    folds = parts(rows, _FOLDS if len(rows) < 5 * _FEW_ROWS / 2 else 1, seed)
    units = None if rows.units is None else np.concatenate([rows.units[aside] for _, aside in folds])
    scores: dict[tuple[int, int], list[np.ndarray]] = {}
    for fitted, aside in folds:
        for key, density in _plane_scores(fitted, rows.take(aside), seed).items():
            scores.setdefault(key, []).append(density)
    whole = {key: np.concatenate(found) for key, found in scores.items() if len(found) == len(folds)}
    columns = max(n for n, _ in whole)
    counts = sorted({n for n, _ in whole})
    best = {n: max((d for (m, _), d in whole.items() if m == n), key=np.mean) for n in counts}
    tried = [Tried(n, "planes", best[n]) for n in counts[1:]]
    found = next(
        one
        for one in tried
        if not any(is_worth(one, more, best[0], units) for more in tried if more.latents > one.latents)
    )
    words = (
        f"Planes describe {len(found.rows)} rows set aside as well as more would with {_number(found.latents, columns)}"
    )
    return LatentCount(found.latents, columns, tuple(tried), (f"{words}: {_beyond(found, tried, units)}.",))


def _plane_scores(fitted: Dataset, aside: Dataset, seed: int) -> dict[tuple[int, int], np.ndarray]:
    """Return the density of rows by number of directions and of components; without directions a component is a ball.

    Few rows are described by one plane: several would take clusters for themselves, and leave no latent to tell them apart.
    """
    units = real_values(fitted)
    if not units.columns:
        raise DataError("data: no column varies. Give at least one modality that does.")
    values, new = units.of(fitted), units.of(aside)
    scores = {(0, 1): -0.5 * (new**2 + np.log(2 * np.pi)).sum(axis=1)}
    for components in _COMPONENTS:
        if components == 1:
            scores |= {(n, 1): factor_density(values, new, n) for n in range(1, min(units.columns, _MOST_FACTORS + 1))}
            scores[units.columns, 1] = fit_planes(values, 1, seed).log_density(new, units.columns)
        elif len(values) >= max(_FEW_ROWS // 2, _ROWS_EACH * components * units.columns):
            planes = fit_planes(values, components, seed)
            scores |= {(n, components): planes.log_density(new, n) for n in range(units.columns + 1)}
    return scores


def _number(latents: int, columns: int) -> str:
    return f"{latents} direction{'s' * (latents > 1)} of {columns}"


def _beyond(found: Tried, tried: list[Tried] | tuple[Tried, ...], units: np.ndarray | None) -> str:
    """Say what one latent fewer loses, and what more would bring."""
    fewer = [one for one in tried if one.latents < found.latents]
    more = [one for one in tried if one.latents > found.latents]
    said = [f"{found.mean:.2f} nats a row"]
    if fewer:
        said.append(f"{fewer[-1].latents} lose {mean_gain(found.rows - fewer[-1].rows, units)}")
    if more:
        said.append(f"{more[0].latents} bring {mean_gain(more[0].rows - found.rows, units)}")
    return "; ".join(said)


# Autoencoders -------------------------------------------------------------------------------------


def _fewer_by_surface(planes: LatentCount, score: _Surface, spent: Callable[[], bool]) -> LatentCount:
    """Ask whether a curved surface with fewer latents describes the rows as well as planes do."""
    same = next(
        (one for one in planes.tried if one.latents == planes.latents and len(one.rows) == len(score.aside)), None
    )
    flat = score.planes(planes.latents) if same is None else same  # one part set aside is the same for both
    most = min(planes.latents, planes.columns - 1)
    first = score(most) if most else None
    if first is None or is_worth(Tried(planes.latents - 1, first.by, first.rows), flat, score.none, score.units):
        worse = "" if first is None else f": {mean_gain(first.rows - flat.rows, score.units)} nats a row against planes"
        words = f"A curved surface with fewer latents does not describe them as well{worse}, so that it stays at {planes.latents}."
        tried = planes.tried if first is None else (*planes.tried, first)
        return LatentCount(planes.latents, planes.columns, tried, (*planes.sentences, words))
    found, tried = smallest_enough(score, 1, most, score.none, score.units, spent)
    words = f"On a curved surface {found.latents} latents suffice: {_beyond(found, tried, score.units)}."
    if is_worth(Tried(planes.latents - 1, found.by, found.rows), flat, score.none, score.units):
        words = f"{words} Planes describe them better, so that it stays at {planes.latents}."
        return LatentCount(planes.latents, planes.columns, (*planes.tried, *tried), (*planes.sentences, words))
    return LatentCount(found.latents, planes.columns, (*planes.tried, *tried), (*planes.sentences, words))


def _by_networks(score: _Split, form: Shape, spent: Callable[[], bool]) -> LatentCount:
    """Count by autoencoders alone: rows are images, several modalities, many columns, or not real values."""
    most = min(form.columns, _MOST_LATENTS)
    end, first = steepest_end(score, min(4, most), most, score.units, spent)
    least = 1 if end == first[0].latents else end // 2 + 1  # half of it was not enough
    found, tried = smallest_enough(score, least, end, score.none, score.units, spent)
    every = {one.latents: one for one in (*first, *tried)}
    ordered = tuple(every[n] for n in sorted(every))
    words = f"{found.latents} latents describe {len(found.rows)} rows set aside as well as more do"
    return LatentCount(found.latents, form.columns, ordered, (f"{words}: {_beyond(found, ordered, score.units)}.",))


class _Split(ABC):
    """Rows to fit and rows to score, and every number of latents that was scored."""

    def __init__(self, rows: Dataset, form: Shape, fit: Fit, seed: int) -> None:
        ((self.fitted, aside),) = parts(rows, 1, seed)
        self.aside, self.form, self.fit, self.seed = rows.take(aside), form, fit, seed
        self.units = self.aside.units
        self.none: np.ndarray | None = None
        self._known: dict[int, Tried] = {}

    def __call__(self, latents: int) -> Tried:
        if latents not in self._known:
            self._known[latents] = Tried(latents, "autoencoder", self.density(latents))
        return self._known[latents]

    @abstractmethod
    def density(self, latents: int) -> np.ndarray:
        """Return the log density of each row set aside, or a bound on it."""

    def network(self, latents: int, beta: float) -> VAE:
        """Return an autoencoder that is trained for about three thousand steps."""
        batch = 128 if len(self.fitted) < 5000 else 256
        epochs = int(np.clip(3000 * batch // len(self.fitted), 30, 200))
        return VAE(
            latent_dim=latents, hidden=(128, 128), epochs=epochs, batch_size=batch, learning_rate=4e-3, seed=self.seed,
            likelihood=self.form.likelihood, training=Training(beta=beta), encoder="dense", decoder="dense",
            progress=False,
        )  # fmt: skip


@final
class _Surface(_Split):
    """Densities on the surface of an autoencoder, of rows of real values."""

    def __init__(self, rows: Dataset, form: Shape, fit: Fit, seed: int) -> None:
        super().__init__(rows, form, fit, seed)
        self.columns: RealValues = real_values(self.fitted)
        new = self.columns.of(self.aside)
        self.none = -0.5 * (new**2 + np.log(2 * np.pi)).sum(axis=1)

    def density(self, latents: int) -> np.ndarray:
        model = self.fit(f"autoencoder with {latents} latents", self.network(latents, 0.0), self.fitted)
        assert isinstance(model, VAE)
        components = int(np.clip(len(self.fitted) // (4 * _ROWS_EACH * latents), 1, 32))
        return surface_density(model, self.columns, self.fitted, self.aside, components)

    def planes(self, directions: int) -> Tried:
        scores: Mapping[tuple[int, int], np.ndarray] = _plane_scores(self.fitted, self.aside, self.seed)
        best = max((density for (n, _), density in scores.items() if n == directions), key=np.mean)
        return Tried(directions, "planes", best)


@final
class _Bound(_Split):
    """Evidence lower bounds, where values are counts, labels or binary."""

    def density(self, latents: int) -> np.ndarray:
        model = self.fit(f"VAE with {latents} latents", self.network(latents, 1.0), self.fitted)
        assert isinstance(model, VAE)
        return model.score_rows(self.aside)
