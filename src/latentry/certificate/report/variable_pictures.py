"""What each hidden variable does, in images: averages of rows for each value of a node, decoded steps along a latent."""

from __future__ import annotations

import numpy as np

from latentry.certificate.report.decoding import Decoder, decoder_of
from latentry.certificate.report.row_images import Look, look_of
from latentry.certificate.report.strips import average, strips
from latentry.certificate.subject import Subject

__all__ = ["looks_of", "variable_pictures"]

_STEPS = 7
_LATENTS = 6
_VALUES = 12
_DECODED = "Decoded by the model while this latent takes the values that rows have; the others stay at their medians."
_AVERAGED = "Averages of the rows in seven equal parts of this latent."
_BY_VALUE = "Average of the rows with each value."


def looks_of(subject: Subject) -> dict[str, Look]:
    """Return how each modality is drawn.

    Args:
        subject: Rows and their latents.

    Returns:
        By the name of the modality.
    """
    data = subject.data
    return {name: look_of(name, np.asarray(data[name]), data.columns.get(name)) for name in data.names}


def variable_pictures(subject: Subject) -> dict[str, str]:
    """Return an image of what each hidden variable does, by its name.

    Args:
        subject: Rows and their latents.

    Returns:
        HTML for each of the first few variables; nothing where the only one is a cluster, which has a card of its own.
    """
    looks = looks_of(subject)
    if len(subject.nodes) > 1:
        return {
            f"node {name}": _values(subject, channel.probabilities, looks) for name, channel in subject.nodes.items()
        }
    if subject.clusters is not None or subject.latents is None:
        return {}
    mean, decode = subject.latents.mean, decoder_of(subject.model)
    shown = range(min(mean.shape[1], _LATENTS))
    return {subject.variables[i]: _steps(subject, mean, i, decode, looks) for i in shown}


def _values(subject: Subject, weight: np.ndarray, looks: dict[str, Look]) -> str:
    rows = np.arange(len(weight))
    used = [k for k in range(weight.shape[1]) if weight[:, k].sum() >= 1][:_VALUES]
    means = {name: np.stack([average(subject, name, rows, weight[:, k]) for k in used]) for name in subject.data.names}
    return f'<p class="note">{_BY_VALUE}</p>{strips(means, looks, [f"value {k}" for k in used])}'


def _steps(subject: Subject, mean: np.ndarray, latent: int, decode: Decoder | None, looks: dict[str, Look]) -> str:
    how = _AVERAGED if decode is None else _DECODED
    names = _step_names(mean[:, latent], decode is not None)
    return f'<p class="note">{how}</p>{strips(_along(subject, mean, latent, decode), looks, names)}'


def _values_along(column: np.ndarray) -> np.ndarray:
    low, high = np.quantile(column, (0.02, 0.98))
    return np.linspace(low, high, _STEPS)


def _step_names(column: np.ndarray, decoded: bool) -> list[str]:
    return [f"{v:.2g}" for v in _values_along(column)] if decoded else [f"part {i + 1}" for i in range(_STEPS)]


def _along(subject: Subject, mean: np.ndarray, latent: int, decode: Decoder | None) -> dict[str, np.ndarray]:
    if decode is not None:
        points = np.repeat(np.median(mean, axis=0)[None], _STEPS, axis=0)
        points[:, latent] = _values_along(mean[:, latent])
        return decode(points)
    parts = np.array_split(np.argsort(mean[:, latent]), _STEPS)
    return {name: np.stack([average(subject, name, part) for part in parts]) for name in subject.data.names}
