"""What models with a density answer in the same words: scores, samples, decoded latents, reconstructions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

import jax
import numpy as np
from jaxtyping import Array, PRNGKeyArray
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from latentry.contracts import GenerativeModule, ModelFacts, decode_rows, score_evidence
from latentry.data import Batch, DataLike, Dataset, DomainLike, blocks
from latentry.errors import DataError
from latentry.models.estimator.constraints import Whole, require
from latentry.models.estimator.inputs import Values
from latentry.models.estimator.reading import completed, outward, read, ready
from latentry.models.estimator.values import check_latents
from latentry.training import map_rows

if TYPE_CHECKING:
    from latentry.models.estimator.latent_model import AnyModel, LatentModel

__all__ = ["EVIDENCE_BOUND", "check_draws", "decoded", "drawn", "imputed", "mean_score", "reconstructed", "scores"]

Density = TypeVar("Density", bound=GenerativeModule)
Facts = TypeVar("Facts", bound=ModelFacts)

EVIDENCE_BOUND = "evidence lower bound (one draw per row)"


class Reconstructing(Protocol):
    """A module that gives expected values of every modality for the rows of a batch."""

    def reconstruct(self, batch: Batch) -> dict[str, Array]:
        """Return expected values given what was observed."""


def scores(model: LatentModel[Density, Facts], X: DataLike, y: DomainLike | None, seed: int) -> np.ndarray:
    """Return the log evidence of each row in nats and in the units of the data.

    Args:
        model: Fitted.
        X: Rows, as for ``fit``.
        y: Their domains, if ``X`` has none.
        seed: Of draws, where the score is a bound.

    Returns:
        One number a row.
    """
    data = ready(model, X, y, what="score" if model.least_domains else None)
    evidence: np.ndarray = map_rows(score_evidence, model.module_, data, seed=seed).astype(np.float64)
    for name in data.names:
        evidence -= _log_volumes(model, data, name)
    return evidence


def _log_volumes(model: AnyModel, data: Dataset, name: str) -> np.ndarray:
    """Return what the density of each row loses on return to the units of the data: of the cells that were observed."""
    statistics, shape = model.record_.statistics, model.record_.layout.shape(name)
    if name not in data.partial or name not in statistics.scale:
        whole: np.ndarray = data.observed[name] * statistics.log_volume(name, shape)
        return whole
    logs = np.broadcast_to(np.log(statistics.scale[name]), shape).reshape(-1)
    sums = [(~np.isnan(piece.reshape(len(piece), -1))) @ logs for _, piece in blocks(data[name])]
    part: np.ndarray = data.observed[name] * np.concatenate(sums)
    return part


def check_draws(model: AnyModel, n: object, seed: object) -> None:
    """Refuse to draw from a model that is not fitted, or a number of rows or a seed that is none.

    Args:
        model: Fitted.
        n: Number of rows, at least 1.
        seed: A whole number of at least 0.

    Raises:
        DataError: If a number is not allowed.
    """
    check_is_fitted(model)
    require("n", n, Whole(1))
    require("seed", seed, Whole(0))


def drawn(model: LatentModel[Density, Facts], n: int, seed: int) -> Values:
    """Draw new rows, in the units of the data.

    Args:
        model: Fitted.
        n: How many.
        seed: Of the draws.

    Returns:
        An array, or one for each modality by name.
    """
    check_draws(model, n, seed)
    return outward(model, model.module_.generate(jax.random.key(seed), n))


def decoded(model: LatentModel[Density, Facts], latents: ArrayLike) -> Values:
    """Return expected data given latents, in the units of the data.

    Args:
        model: Fitted.
        latents: (rows, latents).

    Returns:
        An array, or one for each modality by name.
    """
    check_is_fitted(model)
    values = check_latents(latents, model.n_features_out)
    return outward(model, map_rows(decode_rows, model.module_, Dataset({"latents": values})))


def reconstructed(model: AnyModel, X: DataLike, y: DomainLike | None) -> Values:
    """Return expected values of every modality given what was observed, in the units of the data.

    Args:
        model: Fitted; its module can reconstruct.
        X: Rows, as for ``fit``.
        y: Their domains, if ``X`` has none.

    Returns:
        An array, or one for each modality by name.
    """
    rows = ready(model, X, y, what=model.domain_for)
    return outward(model, map_rows(_reconstruct, model.module_, rows))


def mean_score(rows: np.ndarray, sample_weight: ArrayLike | None) -> float:
    """Return the mean over rows, each with its weight if there are weights.

    Args:
        rows: A score for each.
        sample_weight: Of each row, at least 0; None for all alike.

    Returns:
        The mean.

    Raises:
        DataError: If there is no weight for each row, or none above 0.
    """
    if sample_weight is None:
        return float(rows.mean())
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != rows.shape or not (np.isfinite(weight) & (weight >= 0)).all() or not weight.any():
        raise DataError(
            f"sample_weight: has shape {weight.shape} for {len(rows)} rows, or numbers that are no weights. Give one for each row, "
            "of at least 0."
        )
    return float(np.average(rows, weights=weight))


def imputed(model: AnyModel, X: DataLike, y: DomainLike | None) -> Values:
    """Return every modality of every row: as measured where it was, expected values where it was not.

    Args:
        model: Fitted; its module can reconstruct.
        X: Rows, as for ``fit``.
        y: Their domains, if ``X`` has none.

    Returns:
        An array, or one for each modality by name.
    """
    check_is_fitted(model)
    data = completed(model, read(model, X, y, fitting=False))
    filled = reconstructed(model, data, None)
    complete = {}
    for name, guess in (filled if isinstance(filled, dict) else {"x": filled}).items():
        known = data.cells_observed(name)
        seen = data.observed[name] if known is None else known
        complete[name] = np.array(guess)
        complete[name][seen] = np.asarray(data[name])[seen]
    return complete if isinstance(filled, dict) else complete["x"]


def _reconstruct(module: Reconstructing, batch: Batch, key: PRNGKeyArray) -> dict[str, Array]:
    return module.reconstruct(batch)
