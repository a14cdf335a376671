"""Draw the pictures of the documentation: `make pictures`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from browser import Browser, browser

HERE = Path(__file__).parent / "pictures"


def photograph(page: Path, picture: Path, width: int, height: int) -> None:
    """A picture of a page as a browser shows it."""
    with Browser(width, height) as window:
        window.media()
        window.open(page)
        window.picture(picture)


def photograph_report(page: Path) -> None:
    """The top of a report, what was found, by day; graph, information and naturality, by night."""
    with Browser(1240, 1200) as window:
        window.media()
        window.open(page)
        window.picture(HERE / "report.png")
        window.media(dark=True)
        top = "[...document.querySelectorAll('h2')].find((e) => e.textContent === 'Causal graph').closest('.card')"
        window.value(f"{top}.scrollIntoView()")
        window.picture(HERE / "report-dark.png")


def found_and_lost(folder: Path) -> Path:
    """A page: sources in five segments, what is observed, and what an identifiable and a plain model make of it."""
    import latentry as lt
    from latentry.certificate.line_charts import Series, scatter_chart
    from latentry.certificate.report import STYLE

    data = lt.generators.segments(**lt.generators.SEGMENTS["picture"], seed=3)
    training, held_out = data.split(0.8, 0.2)
    true = np.column_stack([*held_out.factors.values()])
    settings = {"latent_dim": 2, "progress": False}
    flow, vae = lt.IFlow(**settings, epochs=300).fit(training), lt.VAE(**settings, epochs=100).fit(training)
    panels = {"true sources": true, "observed": held_out["x"]}
    for name, model in (("IFlow, which sees the segments", flow), ("VAE, which does not", vae)):
        found = model.transform(held_out)
        pairs = lt.identifiability.match(found, true).estimated
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
    # Two by two, in words that can be read where the picture is as wide as a column of text.
    larger = ".grid{display:grid;grid-template-columns:1fr 1fr}svg text{font-size:17px!important}"
    page.write_text(f"<meta charset=utf-8><style>{STYLE}{larger}</style><div class='grid'>{''.join(charts)}</div>")
    return page


def frontier() -> str:
    """Digits in halves: score and information of a natural latent with one value to sixteen, as SVG."""
    import latentry as lt
    from latentry.certificate.line_charts import Series, line_chart

    halves = blocks_of_digits(2, 1)
    points = lt.NaturalLatents(naturality=lt.models.Naturality(noise=0.5), progress=False).fit(halves).frontier_
    sizes = np.array([point.size for point in points])
    lines = {
        "score": [point.score for point in points],
        "information": [point.information for point in points],
        "errors": [sum(point.errors.values()) for point in points],
    }
    chart = line_chart([Series(name, sizes, np.array(y)) for name, y in lines.items()], "values", "nats, held-out rows")
    style = (
        "text{font:12px sans-serif;fill:#7a7a7a}.grid{stroke:#9995;stroke-width:1}.line,.key{fill:none;stroke-width:2}"
        ".c0{stroke:#2a6f97}.c1{stroke:#b85c38}.c2{stroke:#5b8c5a}"
    )
    head = '<svg xmlns="http://www.w3.org/2000/svg" class="chart"'
    return chart.replace('<svg class="chart"', head, 1).replace(">", f"><style>{style}</style>", 1) + "\n"


def blocks_of_digits(across: int, down: int) -> dict:
    """Pixels of scikit-learn's digits, cut into blocks."""
    from sklearn.datasets import load_digits

    images = load_digits().images
    cut = [np.split(band, across, axis=2) for band in np.split(images, down, axis=1)]
    return {f"{r}{c}": part.reshape(len(part), -1) for r, band in enumerate(cut) for c, part in enumerate(band)}


def drawn_values(across: int, down: int) -> np.ndarray:
    """What each value of a natural latent looks like, most frequent first, as its decoder draws it, blocks put together."""
    import latentry as lt

    data = blocks_of_digits(across, down)
    model = lt.NaturalLatents(naturality=lt.models.Naturality(noise=0.5), progress=False).fit(data)
    often = np.argsort(-model.transform(data).mean(axis=0))
    drawn = model.decode(np.eye(model.n_features_out)[often])
    shape = (-1, 8 // down, 8 // across)
    bands = [np.concatenate([drawn[f"{r}{c}"].reshape(shape) for c in range(across)], axis=2) for r in range(down)]
    return 1 - np.concatenate(bands, axis=1) / 16


def natural_values() -> None:
    """Values of natural latents of digits in halves and in quarters."""
    from latentry.models import picture_grid, write_png

    for name, cut in {"halves": (2, 1), "quarters": (2, 2)}.items():
        images = drawn_values(*cut)
        write_png(HERE / f"natural-{name}.png", picture_grid(images, columns=len(images)), enlarge=6)


def main() -> None:
    """All pictures."""
    (HERE / "natural-frontier.svg").write_text(frontier())
    natural_values()
    if browser() is None:
        sys.exit("pictures of pages need Chromium; install it (Debian: apt-get install chromium) and run again.")
    HERE.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        photograph(found_and_lost(Path(folder)), HERE / "found-and-lost.png", 1100, 800)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "latentry", "demo", "--out", folder], check=True)
        photograph_report(Path(folder) / "report.html")


if __name__ == "__main__":
    main()
