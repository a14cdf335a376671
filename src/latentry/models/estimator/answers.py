"""What models with a density answer in the same words: scores, samples, decoded latents, reconstructions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

import jax
import numpy as np
from jaxtyping import Array, PRNGKeyArray
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from latentry.contracts import GenerativeModule, ModelFacts, decode_rows, score_evidence
from latentry.data import Batch, DataLike, Dataset, DomainLike
from latentry.models.estimator.constraints import Whole, require
from latentry.models.estimator.inputs import Values
from latentry.models.estimator.reading import outward, ready
from latentry.models.estimator.values import check_latents
from latentry.training import map_rows

if TYPE_CHECKING:
    from latentry.models.estimator.latent_model import AnyModel, LatentModel

__all__ = ["EVIDENCE_BOUND", "check_draws", "decoded", "drawn", "reconstructed", "scores"]

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
        evidence -= data.observed[name] * model.record_.statistics.log_volume(name, model.record_.layout.shape(name))
    return evidence


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


def _reconstruct(module: Reconstructing, batch: Batch, key: PRNGKeyArray) -> dict[str, Array]:
    return module.reconstruct(batch)
