"""Images of rows: the latent space, traversals, clusters and interventions."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from functools import partial

import numpy as np

from latentry.certificate.audits.causal import graph_of
from latentry.certificate.leading_components import flat, leading_columns, some_rows
from latentry.certificate.question import Fields
from latentry.certificate.report.decoding import sampled, with_warnings
from latentry.certificate.report.html_pieces import card
from latentry.certificate.report.latent_space import BOX, plot
from latentry.certificate.report.row_images import Look, scaled, short, sprite, thinned
from latentry.certificate.report.strips import average, strips
from latentry.certificate.report.variable_pictures import looks_of
from latentry.certificate.subject import Subject
from latentry.contracts import CanBeIntervenedOn, HasGraph
from latentry.html_text import embedded_json, escaped
from latentry.streams import stream

__all__ = ["gallery"]

_POINTS = 1500
_BYTES = 1_500_000  # of one sheet of small images, before compression
_DRAWS = 32  # of a cluster, averaged
_LATENTS, _CLUSTERS = 6, 12


def gallery(subject: Subject) -> Iterator[str]:
    """Yield cards, each an image of what the latents are.

    Args:
        subject: Rows and their latents.

    Returns:
        An iterator over HTML.
    """
    looks = looks_of(subject)
    yield _explorer(subject, looks)
    yield from _clusters(subject, looks)


# The latent space ---------------------------------------------------------------------------


def _explorer(subject: Subject, looks: dict[str, Look]) -> str:
    shown = subject.take(some_rows(len(subject.data), _POINTS, subject.settings.seed))
    axes, colours = _axes(shown), list(_colours(shown, looks))
    payload = {"axes": axes, "colours": colours, "rows": _row_names(shown), "box": BOX, **_contents(shown, looks)}
    choices = _select("colour", "coloured by", [c["name"] for c in colours], 0)
    if len(axes) > 2:
        names = [axis["name"] for axis in axes]
        choices = _select("x-axis", "across", names, 0) + _select("y-axis", "up", names, 1) + choices
    body = (
        f'<div class="row controls">{choices}</div><div class="explorer"><div>{plot(axes, colours[0])}'
        f'<div id="legend" class="row note">{_legend(colours[0])}</div></div>'
        '<div id="panel" class="panel" aria-live="polite">Hover or tap a point to see its row.</div></div>'
        f'<script type="application/json" id="points">{_record(payload)}</script>'
    )
    what = "Posterior means" if subject.latents is not None else "The two leading components of the data"
    count = (
        f"{len(shown.data)} of {len(subject.data)} audited rows"
        if len(shown.data) < len(subject.data)
        else "all audited rows"
    )
    return card("Latent space", f"{what} of {count}.", body, wide=True)


def _record(payload: Fields) -> str:
    return embedded_json(json.dumps(payload, ensure_ascii=False, allow_nan=False))


def _axes(subject: Subject) -> list[Fields]:
    if subject.latents is not None:
        table = subject.latents.mean[:, :_LATENTS]
        names = [f"latent {name}" for name in subject.names[:_LATENTS]]
    else:
        whole = [
            leading_columns(np.nan_to_num(np.asarray(subject.data[n], dtype=float)), 5) for n in subject.data.names
        ]
        table = leading_columns(np.hstack(whole), 2)
        names = [f"component {i + 1} of the data" for i in range(table.shape[1])]
    if table.shape[1] == 1:
        table = np.column_stack([table, stream("certificate/gallery", 0).normal(size=len(table))])
        names = [*names, "(spread at random)"]
    return [
        {"name": n, "values": [float(f"{v:.4g}") for v in column]} for n, column in zip(names, table.T, strict=True)
    ]


def _colours(subject: Subject, looks: dict[str, Look]) -> Iterator[Fields]:
    """Yield colours by cluster, nodes, domain, known factors, and columns of tables."""
    if subject.clusters is not None:
        yield _labels("cluster", subject.clusters.most_likely)
    for name, channel in subject.nodes.items():
        yield _labels(f"node {name}", channel.most_likely)
    if subject.domain is not None:
        yield _labels("domain", subject.domain)
    for name, values in subject.data.factors.items():
        if values.ndim == 1:
            yield (
                _labels(name, values)
                if len(np.unique(values)) <= 8 or values.dtype.kind == "U"
                else _numbers(name, values)
            )
    for look in looks.values():
        if look.kind == "table":
            table = flat(np.asarray(subject.data[look.name]))
            for i, column in enumerate(look.columns):
                yield _numbers(column, table[:, i])
    yield {"name": "nothing", "labels": ["row"], "codes": [0] * len(subject.data), "ordered": False}


def _labels(name: str, values: np.ndarray) -> Fields:
    levels, codes = np.unique(np.asarray(values), return_inverse=True)
    return {"name": name, "labels": [str(level) for level in levels], "codes": codes.tolist(), "ordered": False}


def _numbers(name: str, values: np.ndarray) -> Fields:
    """Return eight steps of equally many rows."""
    known = np.nan_to_num(np.asarray(values, dtype=float))
    edges = np.unique(np.quantile(known, np.arange(9) / 8))
    codes = np.clip(np.searchsorted(edges, known, side="right") - 1, 0, max(len(edges) - 2, 0))
    pairs = zip(edges[:-1], edges[1:], strict=True) if len(edges) > 1 else [(edges[0], edges[0])]
    return {"name": name, "labels": [f"{a:.3g} to {b:.3g}" for a, b in pairs], "codes": codes.tolist(), "ordered": True}


def _row_names(subject: Subject) -> list[str]:
    names = subject.data.rows
    return list(names) if names is not None else [str(i + 1) for i in range(len(subject.data))]


def _contents(subject: Subject, looks: dict[str, Look]) -> Fields:
    """Return what is shown of a row under the pointer."""
    result: dict[str, list[Fields]] = {"sprites": [], "curves": [], "tables": []}
    images = max(sum(look.kind == "image" for look in looks.values()), 1)
    for look in looks.values():
        values = np.asarray(subject.data[look.name])
        if look.kind == "image":
            result["sprites"].append(sprite(look, values, _BYTES // images))
        elif look.kind == "curve":
            lines = np.array([scaled(look, thinned(row)) for row in values])
            sheet = base64.b64encode(lines.tobytes()).decode()
            limits = {"low": f"{look.low:.3g}", "high": f"{look.high:.3g}"}
            result["curves"].append({"name": look.name, "length": lines.shape[1], "bytes": sheet, **limits})
        else:
            cells = [short(v) for row in flat(values)[:, : len(look.columns)] for v in row]
            result["tables"].append({"columns": list(look.columns), "values": cells})
    return result


def _select(name: str, label: str, options: list[str], chosen: int) -> str:
    marks = [" selected" if i == chosen else "" for i in range(len(options))]
    items = "".join(f'<option value="{i}"{marks[i]}>{escaped(option)}</option>' for i, option in enumerate(options))
    return f'<label>{escaped(label)} <select id="{name}">{items}</select></label>'


def _legend(colour: Fields) -> str:
    kind = "s" if colour["ordered"] else "c"
    keys = [f'<svg width="14" height="10"><path class="key {kind}{i % 8}" d="M4 5h6"/></svg>' for i in range(8)]
    return "".join(
        f'<span class="row">{keys[i % 8]}{escaped(label)}</span>' for i, label in enumerate(colour["labels"])
    )


# Clusters -------------------------------------------------------------------------------------


def _clusters(subject: Subject, looks: dict[str, Look]) -> Iterator[str]:
    if subject.clusters is None:
        return
    weight = subject.clusters.probabilities
    largest = np.argsort(-weight.sum(axis=0), kind="stable")[:_CLUSTERS]
    largest = np.sort([k for k in largest if weight[:, k].sum() >= 1])
    rows = np.arange(len(weight))
    means = {
        name: np.stack([average(subject, name, rows, weight[:, k]) for k in largest]) for name in subject.data.names
    }
    names = [f"{k} ({weight[:, k].mean():.0%})" for k in largest]
    body = strips(means, looks, names)
    drawn = _drawn_clusters(subject, largest)
    if drawn:
        body = f"<h3>as measured</h3>{body}<h3>as the model draws them</h3>{strips(drawn, looks, names)}"
    yield card("Average row of each cluster", "Number of the cluster, and its fraction of the audited rows.", body)


def _drawn_clusters(subject: Subject, clusters: np.ndarray) -> dict[str, np.ndarray]:
    """Return what the model expects in each cluster: every node set to its value there."""
    model = subject.model
    if not subject.nodes or not isinstance(model, CanBeIntervenedOn) or not isinstance(model, HasGraph):
        return {}
    graph, _ = graph_of(model)
    cells = np.stack(np.unravel_index(clusters, graph.outcomes), axis=1)
    every = [dict(zip(graph.names, map(int, cell), strict=True)) for cell in cells]
    seed, first = subject.settings.seed, subject.data.names[0]
    drawn = [with_warnings(partial(sampled, model, _DRAWS, do, seed, first))[0] for do in every]
    return {name: np.stack([np.mean(one[name], axis=0) for one in drawn]) for name in drawn[0]}
