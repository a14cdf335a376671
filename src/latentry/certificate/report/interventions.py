"""Choose a node's value and see what the model then generates."""

from __future__ import annotations

from functools import partial

import numpy as np

from latentry.certificate.audits.causal import graph_of
from latentry.certificate.report.decoding import sampled, with_warnings
from latentry.certificate.report.row_images import Look, drawing, look_of
from latentry.certificate.subject import Subject
from latentry.contracts import CanBeIntervenedOn, HasGraph
from latentry.html_text import escaped

__all__ = ["interventions"]

_SETTINGS = 24
_DRAWS = 48


def interventions(subject: Subject) -> str:
    """Draw what the model generates for each value of each node; computed here, shown by the page.

    Args:
        subject: Rows and their latents.

    Returns:
        HTML; empty for a model without nodes that can be set.
    """
    model = subject.model
    if not subject.nodes or not isinstance(model, CanBeIntervenedOn) or not isinstance(model, HasGraph):
        return ""
    looks = {n: look_of(n, np.asarray(subject.data[n]), subject.data.columns.get(n)) for n in subject.data.names}
    graph, _ = graph_of(model)
    choices = [(name, value) for name, size in zip(graph.names, graph.outcomes, strict=True) for value in range(size)]
    buttons, views = [], []
    for number, (name, value) in enumerate([("", 0), *choices[:_SETTINGS]]):
        done = {name: value} if name else None
        first = subject.data.names[0]
        drawn, said = with_warnings(partial(sampled, model, _DRAWS, done, subject.settings.seed, first))
        words = "".join(f'<p class="note">{escaped(w[:1].upper() + w[1:])}</p>' for w in said)
        title = f"do({name} = {value})" if name else "nothing set"
        buttons.append(
            f'<button data-do="{number}" aria-pressed="{str(number == 0).lower()}">{escaped(title)}</button>'
        )
        hidden = "" if number == 0 else " hidden"
        views.append(f'<div data-shows="{number}"{hidden}>{_generated(drawn, looks)}{words}</div>')
    words = "What the model draws. It predicts an experiment only if the links are causes and point as drawn."
    return f'<h3>Set a node</h3><p class="note">{words}</p><div class="row controls">{"".join(buttons)}</div>{"".join(views)}'


def _generated(arrays: dict[str, np.ndarray], looks: dict[str, Look]) -> str:
    parts = []
    for look in looks.values():
        if look.name not in arrays:
            continue
        rows = np.asarray(arrays[look.name], dtype=float)
        average = drawing(look, rows.mean(axis=0), rows[:12] if look.kind == "curve" else None)
        some = (
            "" if look.kind != "image" else "".join(f"<figure>{drawing(look, row)}sample</figure>" for row in rows[:5])
        )
        parts.append(f'<div class="strip"><figure>{average}average {escaped(look.name)}</figure>{some}</div>')
    return "".join(parts)
