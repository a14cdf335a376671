"""From data to the model that suits them, with a certificate."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from numpy.typing import ArrayLike

from latentry.certificate import FEWEST, Certificate, certify
from latentry.data import DataLike, Dataset
from latentry.discovery.budget import Budget, budget_of
from latentry.discovery.candidates import candidates, variants
from latentry.discovery.compare import FINAL_FITS, Comparison, compare
from latentry.discovery.discovery import Discovery
from latentry.discovery.fits import Fits
from latentry.discovery.latents import count_latents
from latentry.discovery.plan import plan
from latentry.discovery.repeats import repeat
from latentry.discovery.shape import shape_of
from latentry.errors import DataError

__all__ = ["discover"]

_ASIDE = 0.3  # fraction of the rows that no fit sees
_MOST_ASIDE = 4000  # rows
_COUNT = 0.35  # of a budget, for the number of latents
_CERTIFY = 0.2  # of a budget in time, for the certificate


def discover(
    data: DataLike | Mapping[str, ArrayLike],
    *,
    budget: str | int = "10 min",
    seed: int = 0,
    folder: str | Path | None = None,
    progress: bool | Callable[[str], None] = True,
) -> Discovery:
    """Count latents, compare the models that apply, fit the best again, match the fits, and certify it.

    A part of the rows is set aside before anything is fitted; the certificate and the matching of latents look at those rows
    alone. The others count latents and compare models by parts of their own, and then train the model that is kept.

    Cost: as many fits as the budget allows, each linear in rows and epochs, and a certificate; candidates are compared on at
    most 10 000 rows.

    Args:
        data: A Dataset, or what one can be made of.
        budget: A time, such as "10 min", or a whole number of fits, which makes the result depend on the seed alone. What the
            budget does not reach is left out in this order: fits to halves of the rows, further restarts, other priors of the best
            model, candidates that could identify least.
        seed: Of every split and fit.
        folder: Where every fit is kept. A discovery that was stopped goes on from there.
        progress: Whether to say what is being done on the error stream, where somebody is watching; or a function that is called
            with each phrase.

    Returns:
        The model, its certificate, and each decision as a sentence with its number.

    Raises:
        DataError: If the budget is none, rows are too few, or no model applies.
        KeyboardInterrupt: If it was interrupted; with a folder, what was fitted stays there.
    """
    limit = budget_of(budget)
    rows = data if isinstance(data, Dataset) else Dataset(data)
    rows.refuse_missing_cells("Discover")
    training = _training(rows, seed)
    about: dict[str, object] = {"data": rows.fingerprint, "seed": seed}
    fits = Fits(limit, about, None if folder is None else Path(folder), _speaker(progress))
    shape = shape_of(rows)
    count = count_latents(training, fits.fit, seed=seed, shape=shape_of(training), spent=lambda: _counted(fits))
    planned = plan(shape, count.latents)
    tried = candidates(shape, planned, count.latents, seed)
    if not tried:
        raise DataError("data: no model applies. Give at least one modality that varies.")
    end = _for_certificate(limit)
    compared = compare(training, tried, fits, seed=seed, end=end)
    compared = _with_variants(training, compared, fits, seed, end)
    repeats = repeat(compared.best, training, rows, fits, seed=seed, end=end)
    fits.say("certificate")
    certificate: Certificate = certify(repeats.model, rows, others=repeats.restarts, seed=seed)
    return Discovery(shape, count, planned, compared, repeats, certificate, training, dict(fits.seconds))


def _training(rows: Dataset, seed: int) -> Dataset:
    """Return the rows that fits may see."""
    fraction = min(_ASIDE, _MOST_ASIDE / len(rows))
    if fraction * len(rows) < FEWEST:
        least = round(FEWEST / _ASIDE) + 1
        raise DataError(
            f"data: {len(rows)} rows are too few to set {FEWEST} aside and learn from the others. Give at least {least}."
        )
    training, aside = rows.split(1 - fraction, fraction, seed=seed)
    if min(len(training), len(aside)) < FEWEST:
        raise DataError(
            f"data: rows that belong together leave {len(training)} to learn from and {len(aside)} to set aside, and each needs "
            f"{FEWEST}. Give more groups, or smaller ones."
        )
    return training


def _counted(fits: Fits) -> bool:
    """Say whether the count has taken its part of the budget."""
    whole = fits.budget.fits or fits.budget.seconds or 0.0
    return fits.left < (1 - _COUNT) * whole


def _for_certificate(budget: Budget) -> float:
    return 0.0 if budget.seconds is None else _CERTIFY * budget.seconds


def _with_variants(training: Dataset, compared: Comparison, fits: Fits, seed: int, end: float) -> Comparison:
    """Compare the best with other priors of the same model, where the budget reaches."""
    best, others = compared.best, variants(compared.best)
    if not others:
        return compared
    kept = FINAL_FITS if fits.budget.fits is not None else 2 * fits.first(best.name)
    if not fits.rounds(compared.folds * len(others) * fits.first(best.name), 1, end + kept):
        said = f"Other priors of {best.name} were left out: the budget does not reach."
        return replace(compared, sentences=(said, *compared.sentences))
    again = compare(training, (best, *others), fits, seed=seed, end=end, folds=compared.folds or None)
    scores = (*compared.scores, *(one for one in again.scores if one.name != best.name))
    return replace(again, scores=scores, sentences=(*compared.sentences, *again.sentences))


def _speaker(progress: bool | Callable[[str], None]) -> Callable[[str], None]:
    if callable(progress):
        return progress
    if not progress or not sys.stderr.isatty():
        return lambda words: None
    return lambda words: print(f"discover: {words}", file=sys.stderr)
