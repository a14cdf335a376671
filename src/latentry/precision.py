"""Single precision on the device, whichever precision JAX is set to.

Weights, batches and files of weights are of 32 bits. In JAX's 64-bit mode every number without a type of its own would be of
64 bits, and a run would neither train nor load. So what learns or reads latents turns that mode off while it runs, for its own
thread; everything around it keeps the mode.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import ParamSpec, TypeVar

import jax

__all__ = ["single_precision", "single_precision_methods"]

Given = ParamSpec("Given")
Out = TypeVar("Out")
Kind = TypeVar("Kind", bound=type)


def single_precision(function: Callable[Given, Out]) -> Callable[Given, Out]:
    """Return the function, computed in single precision also where JAX is in 64-bit mode.

    Args:
        function: Of any arguments.

    Returns:
        A function of the same arguments.

    >>> import jax.numpy as jnp
    >>> with jax.enable_x64(True):
    ...     jnp.zeros(1).dtype, single_precision(lambda: jnp.zeros(1).dtype)()
    (dtype('float64'), dtype('float32'))
    """

    @wraps(function)
    def computed(*values: Given.args, **named: Given.kwargs) -> Out:
        if not jax.config.x64_enabled:  # type: ignore[attr-defined]
            return function(*values, **named)
        with jax.enable_x64(False):  # noqa: FBT003
            return function(*values, **named)

    return computed


def single_precision_methods(kind: Kind) -> Kind:
    """Let the public methods and properties that a class itself defines compute in single precision.

    Args:
        kind: A class.

    Returns:
        The same class.
    """
    for name, member in list(vars(kind).items()):
        if name.startswith("_"):
            continue
        if isinstance(member, FunctionType):
            setattr(kind, name, single_precision(member))
        elif isinstance(member, property) and member.fget is not None:
            setattr(kind, name, property(single_precision(member.fget), member.fset, member.fdel, member.__doc__))
    return kind
