"""Draw the pictures of the documentation: `make docs`."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent / "pictures"


def browser() -> str | None:
    """A Chromium, under one of its names."""
    return next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def photograph(page: Path, picture: Path, width: int, height: int) -> None:
    """A picture of a page as a browser shows it."""
    program = browser()
    if program is None:
        sys.exit("pictures of pages need Chromium; install it (Debian: apt-get install chromium) and run again.")
    with tempfile.TemporaryDirectory() as profile:
        quiet = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-background-networking"]
        size = [f"--window-size={width},{height}", f"--user-data-dir={profile}", f"--screenshot={picture}"]
        subprocess.run([program, *quiet, *size, page.as_uri()], check=True, stderr=subprocess.DEVNULL)


def found_and_lost(folder: Path) -> Path:
    """A page: sources in five segments, what is observed, and what an identifiable and a plain model make of it."""
    import numpy as np

    import latentry as lt
    from latentry.certificate.chart import Series, scatter_chart
    from latentry.certificate.report import STYLE

    data = lt.generators.segments(**lt.generators.SEGMENTS["picture"], seed=3)
    training, held_out = data.split(0.8, 0.2)
    true = np.column_stack([*held_out.factors.values()])
    settings = {"latent_dim": 2, "progress": False}
    flow, vae = lt.IFlow(**settings, epochs=300).fit(training), lt.VAE(**settings, epochs=100).fit(training)
    panels = {"true sources": true, "observed": held_out["x"]}
    for name, model in (("IFlow, which sees the segments", flow), ("VAE, which does not", vae)):
        found = model.transform(held_out)
        pairs = lt.identifiability.match(found, true).found
        panels[f"{name}: mcc {lt.mcc(found, true):.3f}"] = found[:, pairs]
    charts = []
    for title, rows in panels.items():
        series = [
            Series(f"segment {u + 1}", rows[held_out.domain.values == u, 0], rows[held_out.domain.values == u, 1])
            for u in range(5)
        ]
        chart = scatter_chart(series, "first", "second", legend=False)
        charts.append(f"<div class='card'><h2>{title}</h2>{chart}</div>")
    page = folder / "latents.html"
    page.write_text(f"<meta charset=utf-8><style>{STYLE}</style><div class='cards'>{''.join(charts)}</div>")
    return page


def main() -> None:
    """All pictures."""
    HERE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        photograph(found_and_lost(Path(folder)), HERE / "found-and-lost.png", 1100, 800)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "latentry", "demo", "--out", folder], check=True)
        photograph(Path(folder) / "report.html", HERE / "demo.png", 1200, 580)


if __name__ == "__main__":
    main()
