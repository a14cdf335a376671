"""The one style of the plots of these pages: colours that the colour-blind tell apart, ink that follows the page by night too."""

from __future__ import annotations

import io
import re

import matplotlib as mpl
from IPython.display import HTML
from matplotlib.figure import Figure

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")  # Okabe and Ito, without black and yellow
MARKERS = ("o", "^", "s", "D", "v", "P")
INK = "#010203"  # stands for the colour of the page's text, which the page puts in its place

mpl.use("agg")
mpl.rcParams.update(
    {
        "figure.facecolor": "none",
        "axes.facecolor": "none",
        "savefig.facecolor": "none",
        "svg.fonttype": "path",
        "svg.hashsalt": "latentry",
        "axes.prop_cycle": mpl.cycler(color=COLOURS, marker=MARKERS),
        "axes.spines.top": False,
        "axes.spines.right": False,
        "lines.markersize": 5,
        "legend.frameon": False,
        "font.size": 11,
        "figure.constrained_layout.use": True,
        **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), INK),
    }
)


def figure(columns: int = 1, rows: int = 1, *, width: float = 3.9, height: float = 3.2, **options: object) -> tuple:
    """Return a figure and its axes; each panel is as large as the others."""
    made = Figure((width * columns, height * rows))
    return made, made.subplots(rows, columns, **options)


def show(made: Figure, words: str) -> HTML:
    """Show a figure within the page, in the page's own ink.

    Args:
        made: The figure.
        words: What it shows, for those who do not see it.

    Returns:
        SVG that scales with the page.
    """
    text = io.StringIO()
    made.savefig(text, format="svg", metadata={"Date": None})
    svg = text.getvalue()
    svg = svg[svg.index("<svg") :].replace(INK, "currentColor")
    svg = re.sub(r'(<svg[^>]*?) width="[^"]*"', rf'\1 role="img" aria-label="{words}"', svg, count=1)
    svg = re.sub(
        r'(<svg[^>]*?) height="[^"]*"', rf"\1 style='max-width: {made.get_figwidth() * 72:.0f}pt'", svg, count=1
    )
    return HTML(f"<div class='figure'>{svg}</div>")
