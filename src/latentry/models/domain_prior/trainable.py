"""Which parts of a module a phase trains."""

from __future__ import annotations

from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import equinox as eqx
import jax

__all__ = ["all_but_seen", "only"]


def all_but_seen(module: Any) -> Any:
    """Everything is trained but the domains as they occurred."""
    return eqx.tree_at(lambda tree: tree.seen, jax.tree.map(eqx.is_inexact_array, module), replace=False)


def only(*parts: str) -> Any:
    """Some parts of the module, such as ``"networks"`` or ``"inner.flow"``, are trained; the rest is frozen."""
    return _Only(parts)


@dataclass(frozen=True)
class _Only:
    parts: tuple[str, ...]

    def __call__(self, module: Any) -> Any:
        frozen = jax.tree.map(lambda leaf: False, module)
        for name in self.parts:
            part = attrgetter(name)
            frozen = eqx.tree_at(part, frozen, replace=jax.tree.map(eqx.is_inexact_array, part(module)))
        return frozen
