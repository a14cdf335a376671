"""What models with a density answer in the same words: scores, samples, decoded latents, reconstructions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from sklearn.utils.validation import check_is_fitted

from latentry.contracts import decode_rows, score_evidence
from latentry.data import Batch, Dataset
from latentry.models.estimator.constraints import Whole, require
from latentry.models.estimator.reading import outward, ready
from latentry.models.estimator.values import check_latents
from latentry.training import map_rows

if TYPE_CHECKING:
    from latentry.models.estimator.latent_model import LatentModel

__all__ = ["EVIDENCE_BOUND", "check_draws", "decoded", "drawn", "reconstructed", "scores"]

EVIDENCE_BOUND = "evidence lower bound (one draw per row)"


def scores(model: LatentModel, X: Any, y: Any, seed: int) -> np.ndarray:
    """Return the log evidence of each row in nats and in the units of the data."""
    data = ready(model, X, y, what="score" if model.least_domains else None)
    found = map_rows(score_evidence, model.module_, data, seed=seed).astype(np.float64)
    for name in data.names:
        found -= data.observed[name] * model.record_.statistics.log_volume(name, model.record_.layout.shape(name))
    return found


def check_draws(model: LatentModel, n: Any, seed: Any) -> None:
    """Refuse to draw from a model that is not fitted, or a number of rows or a seed that is none."""
    check_is_fitted(model)
    require("n", n, Whole(1))
    require("seed", seed, Whole(0))


def drawn(model: LatentModel, n: int, seed: int) -> Any:
    """Draw new rows, in the units of the data."""
    check_draws(model, n, seed)
    return outward(model, model.module_.generate(jax.random.key(seed), n))


def decoded(model: LatentModel, latents: Any) -> Any:
    """Return expected data given latents (rows, latents), in the units of the data."""
    check_is_fitted(model)
    values = check_latents(latents, model.n_features_out)
    return outward(model, map_rows(decode_rows, model.module_, Dataset({"latents": values})))


def reconstructed(model: LatentModel, X: Any, y: Any) -> Any:
    """Return expected values of every modality given what was observed, in the units of the data."""
    return outward(model, map_rows(_reconstruct, model.module_, ready(model, X, y, what=model.domain_for)))


def _reconstruct(module: Any, batch: Batch, key: jax.Array) -> dict[str, jax.Array]:
    return module.reconstruct(batch)
