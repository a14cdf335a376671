"""A self-contained page about a fitted model: learning curve and latent space."""

from __future__ import annotations

import html
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from latentry.certificate.chart import Series, line_chart, scatter_chart
from latentry.data import Dataset
from latentry.errors import DataError

__all__ = ["STYLE", "model_page", "write_page"]

_MOST_POINTS = 3000
_ENDINGS = {"epochs": "all of them", "patience": "until the held-out loss rose", "interrupted": "then interrupted"}
STYLE = """
:root{color-scheme:light dark;--ink:#1c2330;--soft:#5b6675;--paper:#fff;--rule:#e3e7ec;--card:#f7f9fb}
@media (prefers-color-scheme:dark){:root{--ink:#e8ecf2;--soft:#9aa6b5;--paper:#12161d;--rule:#2a313c;--card:#1a2029}}
body{font:16px/1.55 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:1180px;margin:0 auto;padding:24px}
h1{font-size:1.6rem;margin:0 0 4px}h2{font-size:1.05rem;margin:0 0 8px}p.lead{color:var(--soft);margin:0 0 20px}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,420px),1fr));gap:20px}
.card{background:var(--card);border:1px solid var(--rule);border-radius:10px;padding:16px;break-inside:avoid}
.card p{color:var(--soft);font-size:.9rem;margin:8px 0 0}
table{border-collapse:collapse;width:100%;font-size:.92rem}
td{padding:4px 8px 4px 0;border-bottom:1px solid var(--rule);vertical-align:top;overflow-wrap:anywhere}
td:first-child{color:var(--soft);width:34%}
.chart{width:100%;height:auto;display:block}.grid{stroke:var(--rule)}.tick{fill:var(--soft);font-size:11px}
.label{fill:var(--ink);font-size:12px}
.line{fill:none;stroke-width:2}.dots{fill:none;stroke-width:3.4;stroke-linecap:round;stroke-opacity:.55}.key{stroke-width:4}
.c0{stroke:#3b7dd8}.c1{stroke:#e07b39}.c2{stroke:#3aa17e}.c3{stroke:#b55fc4}.c4{stroke:#c9a227}.c5{stroke:#d1495b}
.c6{stroke:#5f7d95}.c7{stroke:#7a5c3e}
"""


def model_page(model: Any, data: Dataset, title: str) -> str:
    """HTML with the learning curve, the latent space of held-out or given rows, and what was fitted."""
    cards = "".join(_card(*card) for card in _cards(model, data))
    lead = f"{type(model).__name__}, fitted on {model.rows_} rows and shown on {len(data)}; seed {model.seed}."
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width,initial-scale=1'>"
        f"<title>{html.escape(title)}</title><style>{STYLE}</style></head><body>"
        f"<h1>{html.escape(title)}</h1><p class='lead'>{html.escape(lead)}</p>"
        f"<div class='cards'>{cards}</div></body></html>\n"
    )


def write_page(path: str | Path, page: str) -> None:
    """Write the page whole, or leave what was there."""
    path = Path(path)
    draft = path.with_name(f".{path.name}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(page, encoding="utf-8")
        os.replace(draft, path)
    except OSError as problem:
        raise DataError(f"{path} could not be written: {problem}.") from problem


def _card(title: str, body: str, words: str) -> str:
    return f"<section class='card'><h2>{html.escape(title)}</h2>{body}<p>{html.escape(words)}</p></section>"


def _cards(model: Any, data: Dataset) -> Iterator[tuple[str, str, str]]:
    yield (
        "Learning curve",
        _learning_curve(model),
        "Mean loss per row, in nats. The epoch with the lowest held-out loss is kept.",
    )
    yield "Latent space", _latent_space(model, data), _latent_words(model, data)
    yield (
        "What was fitted",
        _facts(model, data),
        "Figures without a confidence statement are descriptions, not certificates.",
    )


def _learning_curve(model: Any) -> str:
    history = model.history_
    epochs = np.arange(1, len(history) + 1)
    series = [Series("training", epochs, history["loss"])]
    if "held_out_loss" in history.columns:
        series.append(Series("held out", epochs, history["held_out_loss"]))
    return line_chart(series, "epoch", "loss (nats per row)")


def _latent_space(model: Any, data: Dataset) -> str:
    shown = data if len(data) <= _MOST_POINTS else data.take(_some(len(data)))
    z = model.transform(shown)
    across = z[:, 1] if z.shape[1] > 1 else np.zeros(len(z))
    groups = _groups(shown)
    series = [Series(name, z[rows, 0], across[rows]) for name, rows in groups]
    return scatter_chart(series, "latent 1", "latent 2" if z.shape[1] > 1 else "", legend=len(groups) <= 6)


def _some(count: int) -> np.ndarray:
    return np.sort(np.random.default_rng(0).permutation(count)[:_MOST_POINTS])


def _groups(data: Dataset) -> list[tuple[str, np.ndarray]]:
    if data.domain is None or data.domain.labels is None:
        return [("rows", np.arange(len(data)))]
    codes, labels = data.domain.values, data.domain.labels
    found = [(f"domain {label}", np.flatnonzero(codes == code)) for code, label in enumerate(labels)]
    return [(name, rows) for name, rows in found if rows.size]


def _latent_words(model: Any, data: Dataset) -> str:
    count = min(len(data), _MOST_POINTS)
    colour = "" if data.domain is None or data.domain.labels is None else ", coloured by domain"
    more = f" of {model.latent_dim}" if model.latent_dim > 2 else ""
    return f"Posterior means of {count} rows{colour}; the first two latents{more}."


def _facts(model: Any, data: Dataset) -> str:
    last = model.history_[-1]
    rows = {
        "model": repr(model),
        "data": data.describe(),
        model.score_name: f"{model.score(data):.4g} nats per row, on these {len(data)} rows",
        "epochs": f"{len(model.history_)}, {_ENDINGS.get(model.state_.stopped, model.state_.stopped)}",
    }
    if "held_out_loss" in last:
        rows["held-out loss"] = (
            f"{np.nanmin(model.history_['held_out_loss']):.4g} nats per row of standardised data, at its best epoch"
        )
    cells = "".join(
        f"<tr><td>{html.escape(name)}</td><td>{html.escape(value).replace(chr(10), '<br>')}</td></tr>"
        for name, value in rows.items()
    )
    return f"<table>{cells}</table>"
