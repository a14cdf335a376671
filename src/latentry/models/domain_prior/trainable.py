"""Which parts of a module a phase trains."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter

import equinox as eqx
import jax

from latentry.training import Module

__all__ = ["all_but_seen", "only"]


def all_but_seen(module: Module) -> Module:
    """Train everything but the domains as they occurred.

    Args:
        module: With a field ``seen``.

    Returns:
        The same tree of booleans.
    """
    return eqx.tree_at(lambda tree: tree.seen, jax.tree.map(eqx.is_inexact_array, module), replace=False)


def only(*parts: str) -> Callable[[Module], Module]:
    """Train some parts of the module; the rest is frozen.

    Args:
        parts: Names of fields, such as ``"networks"`` or ``"inner.flow"``.

    Returns:
        A function from a module to a tree of booleans.
    """
    return _Only(parts)


@dataclass(frozen=True)
class _Only:
    parts: tuple[str, ...]

    def __call__(self, module: Module) -> Module:
        frozen = jax.tree.map(lambda leaf: False, module)
        for name in self.parts:
            part = attrgetter(name)
            frozen = eqx.tree_at(part, frozen, replace=jax.tree.map(eqx.is_inexact_array, part(module)))
        return frozen
