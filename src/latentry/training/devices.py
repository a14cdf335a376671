"""Where arrays live: one device, or batches spread over all of them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import equinox as eqx
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxtyping import PyTree
from platformdirs import user_cache_dir

from latentry.data import Batch
from latentry.errors import DataError

__all__ = ["Placement", "compile_anew", "usable_devices", "use_compilation_cache"]


def usable_devices() -> list[jax.Device]:
    """Return the devices that JAX finds here.

    Returns:
        At least one.

    Raises:
        DataError: If ``JAX_PLATFORMS`` asks for such as there are not.
    """
    try:
        return list(jax.devices())
    except (RuntimeError, AssertionError) as problem:  # as JAX has it, without a word on what to do
        platforms = os.environ.get("JAX_PLATFORMS")
        if not platforms:
            raise
        raise DataError(
            f"JAX_PLATFORMS={platforms}: no such device can be used here. Unset it, or set JAX_PLATFORMS=cpu, before latentry "
            "is imported."
        ) from problem


class Placement:
    """Batches are split by rows over as many devices as divide the batch; the module is on each of them."""

    def __init__(self, batch: int, devices: list[jax.Device] | None = None) -> None:
        available = usable_devices() if devices is None else devices
        count = max(n for n in range(1, len(available) + 1) if batch % n == 0)
        self.count = count
        self.mesh = Mesh(np.array(available[:count]), ("rows",)) if count > 1 else None

    def window(self, window: Batch) -> Batch:
        """Put a window on the devices, split over its second axis.

        Args:
            window: Of shape (steps, batch, ...).

        Returns:
            The same values on the devices.
        """
        split = None if self.mesh is None else NamedSharding(self.mesh, _spec(None, "rows"))
        placed: Batch = jax.device_put(window, split)
        return placed

    def copies(self, tree: PyTree) -> PyTree:
        """Put every array of a tree on every device.

        Args:
            tree: Of arrays and other leaves.

        Returns:
            The same tree; other leaves are untouched.
        """
        if self.mesh is None:
            return tree
        arrays, rest = eqx.partition(tree, eqx.is_array)
        return eqx.combine(jax.device_put(arrays, NamedSharding(self.mesh, _spec())), rest)


# JAX has no types for these.
_spec: Callable[..., PartitionSpec] = PartitionSpec
_configure: Callable[[str, str | float], None] = jax.config.update


def compile_anew() -> None:
    """Leave out programs that earlier runs kept, in this process: what compiling takes is then seen."""
    kept = False
    _configure("jax_enable_compilation_cache", kept)


def use_compilation_cache() -> None:
    """Keep compiled programs in the user's cache folder, so that a second run starts fast.

    A folder that the user has set (``JAX_COMPILATION_CACHE_DIR``) is left as it is.
    """
    if getattr(jax.config, "jax_compilation_cache_dir", None) is not None:
        return
    folder = Path(user_cache_dir("latentry")) / "compiled"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return  # a home that cannot be written costs time, not results
    # A fit runs dozens of tiny programs: together they take as long to compile as the large ones.
    settings: dict[str, str | float] = {
        "jax_compilation_cache_dir": str(folder),
        "jax_persistent_cache_min_compile_time_secs": 0.0,
        "jax_persistent_cache_min_entry_size_bytes": 0,
    }
    for name, value in settings.items():
        _configure(name, value)
