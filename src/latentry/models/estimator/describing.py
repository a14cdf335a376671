"""A model in words, before it is fitted: which networks it would use for some data, and what an epoch would cost."""

from __future__ import annotations

import math
from typing import TypeAlias

import equinox as eqx
import jax
from jaxtyping import PyTree

from latentry.nets import ConvolutionDecoder, ConvolutionEncoder, FlatDecoder, FlatEncoder
from latentry.training import Task, in_words, operations_per_row, seconds_per_epoch

__all__ = ["describe_task"]

Net: TypeAlias = ConvolutionDecoder | ConvolutionEncoder | FlatDecoder | FlatEncoder
_NETS = (ConvolutionDecoder, ConvolutionEncoder, FlatDecoder, FlatEncoder)


def describe_task(name: str, task: Task, rows: int) -> str:
    """Say networks, weights and cost of a fit.

    Args:
        name: Of the model.
        task: What would be trained.
        rows: Of the data, held-out rows among them.

    Returns:
        Lines of text.
    """
    module = task.make(jax.random.key(task.seed))
    weights = sum(leaf.size for leaf in jax.tree.leaves(module) if eqx.is_inexact_array(leaf))
    lines = [f"{name} on {rows:,} rows"]
    lines += [f"  {where:<24} {net.in_words()}" for where, net in _networks(module)]
    lines.append(f"  {'weights':<24} {weights:,}")
    return "\n".join([*lines, *_cost(task, rows)])


def _cost(task: Task, rows: int) -> list[str]:
    operations = operations_per_row(task)
    epochs = f"at most {task.restarts * sum(phase.epochs for phase in task.phases)} epochs"
    if operations is None:
        return [f"  {'cost':<24} not known before a fit: its steps have loops or are of its own making; {epochs}"]
    seconds = seconds_per_epoch(operations, rows, task.training.plan.batch)
    whole = in_words(seconds * task.restarts * sum(phase.epochs for phase in task.phases))
    return [
        f"  {'operations':<24} {_rounded(operations)} a row and step, forwards and backwards",
        f"  {'cost':<24} about {_rounded(seconds)} s an epoch on one core (a rough estimate), {epochs}: {whole}, and compiling",
    ]


def _networks(module: PyTree) -> list[tuple[str, Net]]:
    """Networks anywhere in a module, each with the modality or field that holds it."""
    leaves = jax.tree_util.tree_leaves_with_path(module, is_leaf=lambda node: isinstance(node, _NETS))
    return [(_place(path), node) for path, node in leaves if isinstance(node, _NETS)]


def _place(path: tuple[object, ...]) -> str:
    names = [str(part).strip(".[]'") for part in path]
    kind = next((name for name in reversed(names) if name in ("encoders", "decoders")), "")
    return f"{kind.removesuffix('s')} of {names[-1]}" if kind else ".".join(names)


def _rounded(number: float) -> str:
    """Two digits.

    >>> _rounded(14281404.0), _rounded(0.4761)
    ('14,000,000', '0.48')
    """
    if number <= 0:
        return "0"
    digits = 1 - math.floor(math.log10(number))
    return f"{round(number, digits):,.{max(digits, 0)}f}"
