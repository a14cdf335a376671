"""latentry demo."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from latentry.certificate.page import model_page, write_page
from latentry.cli.options import AsJson, Quiet, answer
from latentry.generators import segments
from latentry.models import VAE, load_model

__all__ = ["demo"]


def demo(
    out: Annotated[Path, typer.Option(help="Folder for the run and the page.")] = Path("latentry-demo"),
    seed: Annotated[int, typer.Option(help="The same seed gives the same result.")] = 0,
    quiet: Quiet = False,
    json: AsJson = False,
) -> None:
    """Train a model on built-in data, save it, load it again, and write a page that shows what it found."""
    data = segments(domains=5, rows_per_domain=1000, latents=2, observed=10, layers=2, noise=0.05, seed=seed)
    training, fresh = data.split(0.8, 0.2, seed=seed)
    VAE(latent_dim=2, epochs=40, seed=seed, progress=not quiet).fit(training).save(out / "run")
    model = load_model(out / "run")
    page = out / "report.html"
    write_page(page, model_page(model, fresh, "latentry demo: two latents behind ten measurements"))
    score = model.score(fresh)
    result = {"run": str(out / "run"), "page": str(page), "rows": len(fresh), "score": score}
    words = (
        f"Fitted on {len(training)} rows, saved, loaded, and scored on {len(fresh)} fresh rows: {score:.3f} nats a row"
    )
    answer(result, f"{words} ({model.score_name}).\nRun folder: {out / 'run'}\nOpen {page} in a browser.", as_json=json)
