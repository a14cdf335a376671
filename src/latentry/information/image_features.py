"""Features of images: a small classifier trained here, or a network from a file that you have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Float, Int, PRNGKeyArray, PyTree
from numpy.typing import ArrayLike

from latentry.data import Batch, Dataset
from latentry.errors import DataError, LatentryError
from latentry.nets import EqualLinear, augment, leaky, trunk_for
from latentry.precision import single_precision, single_precision_methods
from latentry.training import Feed, Phase, Task, map_rows, run

__all__ = ["PictureClassifier", "train_classifier", "torchscript_features"]

_FEATURES = 64
_RATE = 1e-2  # of weights that start at unit scale
_CHANGED = 0.7  # fraction of the images


class _Classifier(eqx.Module):
    trunk: Callable[[jax.Array], jax.Array]
    dense: EqualLinear
    outputs: EqualLinear

    def features(self, x: Float[jax.Array, "rows h w c"]) -> Float[jax.Array, "rows features"]:
        """Return the last hidden layer."""
        values = self.trunk(x)
        return leaky(self.dense(values.reshape(len(values), -1)))


@dataclass(frozen=True)
class _Plain:
    """Adam, a step at a time: within compiled loops convolutions are slow on processors."""

    def start(self, module: _Classifier) -> PyTree:
        """Return Adam's state before the first step."""
        return optax.scale_by_adam().init(eqx.filter(module, eqx.is_inexact_array))

    def __call__(
        self, module: _Classifier, optimiser: PyTree, batch: Batch, key: jax.Array, step: int, rate: jax.Array
    ) -> tuple[_Classifier, PyTree, dict[str, jax.Array]]:
        return _step(module, optimiser, batch, key, rate)


@eqx.filter_jit
def _step(
    module: _Classifier, optimiser: PyTree, batch: Batch, key: jax.Array, rate: jax.Array
) -> tuple[_Classifier, PyTree, dict[str, jax.Array]]:
    (loss, metrics), gradient = eqx.filter_value_and_grad(_loss, has_aux=True)(module, batch, key)
    direction, optimiser = optax.scale_by_adam().update(gradient, optimiser)
    return eqx.apply_updates(module, jax.tree.map(lambda d: -rate * d, direction)), optimiser, {"loss": loss, **metrics}


def _loss(
    module: _Classifier, batch: Batch, key: PRNGKeyArray
) -> tuple[Float[jax.Array, ""], dict[str, Float[jax.Array, ""]]]:
    """Cross-entropy on images that are shifted and scaled a little."""
    moved = augment(batch.values["picture"], jnp.float32(_CHANGED), ("shift", "scale"), key)
    logits, label = module.outputs(module.features(moved)), batch.values["label"][:, 0].astype(jnp.int32)
    lost = optax.softmax_cross_entropy_with_integer_labels(logits, label)
    loss = (lost * batch.weight).sum() / batch.weight.sum()
    return loss, {"wrong": ((logits.argmax(1) != label) * batch.weight).sum() / batch.weight.sum()}


@single_precision_methods
@dataclass(frozen=True, eq=False)
class PictureClassifier:
    """A trained classifier of images. Distances in its features are named after it: they are no FID.

    Args:
        name: What it is and what it was trained on.
        labels: Its classes.
        accuracy: On the rows that were set aside.
    """

    name: str
    labels: np.ndarray
    accuracy: float
    module: _Classifier

    def features(self, pictures: ArrayLike) -> np.ndarray:
        """Return the last hidden layer.

        Args:
            pictures: (rows, size, size[, channels]) on about 0 to 1.

        Returns:
            (rows, 64).
        """
        features: np.ndarray = map_rows(_features, self.module, Dataset({"picture": _as_pictures(pictures)}))
        return features.astype(np.float64)

    def classify(self, pictures: ArrayLike) -> np.ndarray:
        """Return the most probable class of each image.

        Args:
            pictures: (rows, size, size[, channels]) on about 0 to 1.

        Returns:
            A label for each.
        """
        codes: np.ndarray = map_rows(_codes, self.module, Dataset({"picture": _as_pictures(pictures)}))
        classes: np.ndarray = self.labels[codes]
        return classes


def _features(module: _Classifier, batch: Batch, key: PRNGKeyArray) -> Float[jax.Array, "rows features"]:
    return module.features(batch.values["picture"])


def _codes(module: _Classifier, batch: Batch, key: PRNGKeyArray) -> Int[jax.Array, " rows"]:
    return module.outputs(module.features(batch.values["picture"])).argmax(1)


@single_precision
def train_classifier(
    pictures: ArrayLike,
    labels: ArrayLike,
    *,
    name: str,
    epochs: int = 12,
    aside: float = 0.2,
    channels: int = 8,
    seed: int = 0,
) -> PictureClassifier:
    """Train a small residual network on images and their classes.

    Cost: linear in images, pixels and epochs.

    Args:
        pictures: (rows, size, size[, channels]) on about 0 to 1; the size is 4 to 7 times a power of two.
        labels: The class of each.
        name: What the classifier is called where its features are used.
        epochs: Passes over the rows.
        aside: Fraction of the rows on which the accuracy is measured.
        channels: Of the convolutions at full resolution.
        seed: Of everything random.

    Returns:
        The classifier, with its accuracy on the rows set aside.

    Raises:
        DataError: If images and labels do not go together.

    >>> rng = np.random.default_rng(0)
    >>> dark = rng.uniform(0, 0.4, size=(40, 8, 8))
    >>> classifier = train_classifier(np.concatenate([dark, 1 - dark]), np.repeat(["dark", "light"], 40), name="light", epochs=8)
    >>> classifier.accuracy, classifier.classify(dark[:2]).tolist(), classifier.features(dark[:3]).shape
    (1.0, ['dark', 'dark'], (3, 64))
    """
    x = _as_pictures(pictures)
    known, codes = np.unique(np.asarray(labels), return_inverse=True)
    if len(codes) != len(x):
        raise DataError(f"labels: there are {len(codes)} labels and {len(x)} images. Give a label for each image.")
    if len(known) < 2:
        raise DataError(f"labels: all labels are {str(known[0])!r}. Give at least two classes.")
    data = Dataset({"picture": x, "label": codes.astype(np.float32)[:, None]})
    training, rest = data.split(1 - aside, aside, seed=seed)

    def make(key: PRNGKeyArray) -> _Classifier:
        first, dense, last = jax.random.split(key, 3)
        trunk, size = trunk_for(x.shape[1], x.shape[3], width=channels, most=8 * channels, key=first)
        outputs = EqualLinear(_FEATURES, len(known), key=last)
        return _Classifier(trunk, EqualLinear(size, _FEATURES, key=dense), outputs)

    phase = Phase("classify", _loss, epochs, _RATE, update=_Plain())
    end = run(Task(make, (phase,), Feed(training, 64), None, seed), progress=False)
    plain = PictureClassifier(name, known, float("nan"), end.result)
    right = plain.classify(rest["picture"]) == known[np.asarray(rest["label"]).astype(int).ravel()]
    return PictureClassifier(name, known, float(right.mean()), end.result)


def torchscript_features(path: str | Path, *, size: int = 299, batch: int = 50) -> Callable[[ArrayLike], np.ndarray]:
    """Compute features by a TorchScript network in a file that you have, such as the Inception network of the published FID.

    Images on [0, 1] are resized to ``size`` and given as (rows, 3, size, size) bytes on 0 to 255, as that file wants them.
    PyTorch must be installed; nothing is fetched.

    Cost: reads the file; the function that is returned is linear in the images.

    Args:
        path: The file.
        size: Height and width that the network wants.
        batch: Images at a time.

    Returns:
        A function from images to (rows, features).

    Raises:
        DataError: If there is no such file.
        LatentryError: If PyTorch is not installed.
    """
    if not Path(path).is_file():
        raise DataError(
            f"path={str(path)!r}: there is no such file. Give the file of the network's weights; nothing is fetched."
        )
    try:
        import torch  # type: ignore[import-not-found]
    except ImportError:
        raise LatentryError("a TorchScript network needs PyTorch: pip install torch.") from None
    network = torch.jit.load(str(path)).eval()

    def features(pictures: ArrayLike) -> np.ndarray:
        x, values = _as_pictures(pictures), []
        for start in range(0, len(x), batch):
            part = torch.as_tensor(np.moveaxis(x[start : start + batch], -1, 1))
            part = torch.nn.functional.interpolate(part, (size, size), mode="bilinear").expand(-1, 3, -1, -1)
            with torch.no_grad():
                values.append(network((255 * part).round().clamp(0, 255).to(torch.uint8)).numpy())
        return np.concatenate(values)

    return features


def _as_pictures(pictures: ArrayLike) -> np.ndarray:
    x = np.asarray(pictures, dtype=np.float32)
    x = x[..., None] if x.ndim == 3 else x
    if x.ndim != 4 or x.shape[1] != x.shape[2]:
        raise DataError(
            f"pictures: they have shape {np.shape(pictures)}. Give (rows, size, size) or (rows, size, size, channels)."
        )
    return x
