"""What a parameter that there is not is called here: names of other libraries, and parts of grouped settings."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from latentry.errors import DataError, nearest

__all__ = ["UnknownParameter", "unknown_parameter"]

# Names that other libraries have for the same, and habits of the hand.
_SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "latent_dim": (
        "latents", "n_latents", "num_latents", "latent_size", "n_components", "components", "z_dim", "zdim", "dim", "n_dims",
        "ndim", "d", "k", "n_factors", "factors", "embedding_dim", "bottleneck",
    ),
    "epochs": ("n_epochs", "num_epochs", "max_epochs", "epoch", "n_iter", "max_iter", "iterations", "passes", "num_train_epochs"),
    "batch_size": ("batch", "batchsize", "bs", "minibatch", "mini_batch", "train_batch_size"),
    "learning_rate": ("lr", "rate", "step_size", "eta", "alpha", "learning_rate_init"),
    "validation": ("val", "validation_fraction", "validation_split", "held_out", "holdout", "val_size", "test_size"),
    "restarts": ("n_init", "runs", "n_restarts", "repeats"),
    "seed": ("random_state", "rng", "random_seed", "key"),
    "progress": ("verbose", "verbosity", "silent", "quiet", "show_progress", "progress_bar", "bar"),
    "hidden": ("hidden_layer_sizes", "layers", "hidden_dims", "hidden_dim", "hidden_size", "widths", "width", "n_hidden", "units"),
    "training__patience": ("early_stopping", "early_stop", "n_iter_no_change"),
    "training__clip": ("grad_clip", "gradient_clip", "clip_norm", "max_norm"),
    "training__schedule": ("lr_schedule", "scheduler", "learning_rate_schedule"),
    "training__beta": ("kl_weight", "beta_vae"),
    "networks__modality_dropout": ("dropout",),
    "networks__observation_scale": ("sigma", "noise", "observation_noise"),
    "nodes": ("n_nodes", "num_nodes", "n_clusters", "clusters"),
    "values": ("n_values", "n_clusters", "n_classes", "clusters", "categories"),
}  # fmt: skip


class UnknownParameter(DataError, TypeError):
    """A parameter that a model does not have; also a TypeError, as Python has it."""


def unknown_parameter(owner: str, name: str, known: Iterable[str], grouped: Mapping[str, str]) -> UnknownParameter:
    """Return the error of a parameter that there is not, with what it is called here.

    Args:
        owner: Class of the model or settings.
        name: That was given.
        known: Parameters of the constructor.
        grouped: For each group of settings, its class.

    Returns:
        The error, to be raised.

    >>> print(unknown_parameter("VAE", "lr", ["epochs", "learning_rate"], {}))
    lr: VAE has no such parameter; did you mean 'learning_rate'? Known: epochs, learning_rate
    """
    known = list(known)
    top = [one for one in known if "__" not in one]
    meant = _meant(name, known)
    if meant is None:
        return UnknownParameter(f"{name}: {owner} has no such parameter{nearest(name, top)}")
    group, _, part = meant.partition("__")
    if part:
        form = f"{group}=latentry.models.{grouped[group]}({part}=...)" if group in grouped else meant
        return UnknownParameter(f"{name}: {owner} has no such parameter; it is one of {group}. Give {form}.")
    return UnknownParameter(
        f"{name}: {owner} has no such parameter; did you mean {meant!r}? Known: {', '.join(sorted(top))}"
    )


def _meant(name: str, known: list[str]) -> str | None:
    """Return the full name of the parameter that somebody means, if it is certain enough."""
    parts = [one for one in known if one.partition("__")[2] == name]
    if len(parts) == 1:
        return parts[0]
    plain = name.lower().replace("-", "_")
    for here, there in _SYNONYMS.items():
        if plain in there and (here in known or here.partition("__")[2] in known):
            return here if here in known else here.partition("__")[2]
    return None
