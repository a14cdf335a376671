"""The option that says on which kind of device to compute."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Annotated, Any

import jax
import typer

from latentry.errors import DataError, nearest

__all__ = ["Device", "use_device"]

KINDS = ("cpu", "gpu", "cuda", "rocm", "tpu")


def use_device(name: str | None) -> str | None:
    """Compute on devices of one kind from here on, in processes that are started here too.

    Args:
        name: Of the kind; None leaves the choice to JAX.

    Returns:
        The name.

    Raises:
        DataError: If there is no such kind, or no such device here.
    """
    if name is None:
        return None
    if name not in KINDS:
        raise DataError(f"--device {name}: there is no such kind of device{nearest(name, KINDS)}")
    config: Any = jax.config  # without types
    asked = config.jax_platforms
    config.update("jax_platforms", name)
    try:
        jax.devices(name)
    except (RuntimeError, AssertionError):  # as JAX has it, without a word on what to do
        config.update("jax_platforms", asked)
        raise DataError(
            f"--device {name}: no such device can be used here; JAX sees {_seen()}. Leave --device out, or install JAX for it "
            "(for NVIDIA: pip install 'latentry[gpu]')."
        ) from None
    os.environ["JAX_PLATFORMS"] = name
    return name


def _seen() -> str:
    """Name the devices that there are."""
    with suppress(RuntimeError, AssertionError):
        return ", ".join(f"{device.platform}:{device.id}" for device in jax.devices())
    return "none"


Device = Annotated[
    str | None,
    typer.Option(
        "--device",
        callback=use_device,
        help=f"Compute on this kind of device, one of: {', '.join(KINDS)}; by default JAX chooses.",
    ),
]
