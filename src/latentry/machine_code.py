"""Kernels of loops over numbers, compiled by numba. Importing this loads numba: import it only where a kernel is run."""

from __future__ import annotations

from collections.abc import Callable

from numba import njit

__all__ = ["Kernel", "compiled"]

Kernel = Callable[..., None]


def compiled(signature: str) -> Callable[[Kernel], Kernel]:
    """Compile at once for these types; keep the machine code on disk where a folder can be written to.

    Args:
        signature: Types of the arguments, as numba writes them.

    Returns:
        A decorator.

    >>> import numpy as np
    >>> @compiled("void(f8[::1])")
    ... def double(x):
    ...     for i in range(len(x)):
    ...         x[i] *= 2
    >>> x = np.ones(3)
    >>> double(x)
    >>> x.tolist()
    [2.0, 2.0, 2.0]
    """

    def compile_now(function: Kernel) -> Kernel:
        try:
            kernel: Kernel = njit(signature, nogil=True, error_model="numpy", cache=True)(function)
        except (RuntimeError, OSError):  # no folder for the cache: compile anew in each process
            kernel = njit(signature, nogil=True, error_model="numpy")(function)
        return kernel

    return compile_now
