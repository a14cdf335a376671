"""The plot of the latent space as it stands before anybody touches it; the page's script redraws it."""

from __future__ import annotations

import numpy as np

from latentry.certificate.question import Fields
from latentry.html_text import escaped, shortened

__all__ = ["BOX", "plot"]

BOX = {"width": 640, "height": 440, "left": 52, "right": 628, "top": 12, "bottom": 392}


def plot(axes: list[Fields], colour: Fields) -> str:
    """Draw points by colour; axes are drawn by the script, and named here for a page without one.

    Args:
        axes: Name and values of each, at least two.
        colour: Labels, the code of each point, and whether they are ordered.

    Returns:
        SVG.
    """
    x = _placed(axes[0]["values"], BOX["left"], BOX["right"])
    y = _placed(axes[1]["values"], BOX["bottom"], BOX["top"])
    codes, kind = np.asarray(colour["codes"]), "s" if colour["ordered"] else "c"
    paths = []
    for i in range(len(colour["labels"])):
        marks = "".join(f"M{a:.1f} {b:.1f}h0" for a, b in zip(x[codes == i], y[codes == i], strict=True))
        paths.append(f'<path class="dots {kind}{i % 8}" d="{marks}"/>')
    middle = (BOX["left"] + BOX["right"]) / 2
    shown = escaped(shortened(axes[0]["name"], 60))
    name = f'<text class="label" x="{middle}" y="{BOX["bottom"] + 38}" text-anchor="middle">{shown}</text>'
    return (
        f'<svg id="plot" class="chart" viewBox="0 0 {BOX["width"]} {BOX["height"]}" role="img" aria-label="latent space">'
        f'<g id="axes">{name}</g><g id="dots">{"".join(paths)}</g><circle id="here" r="7" hidden=""/></svg>'
    )


def _placed(values: list[float], start: float, stop: float) -> np.ndarray:
    array = np.asarray(values)
    low, high = float(array.min()), float(array.max())
    margin = 0.03 * (high - low) or 0.5
    return start + (array - low + margin) / (high - low + 2 * margin) * (stop - start)
