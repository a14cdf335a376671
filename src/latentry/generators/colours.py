"""Hues as red, green and blue, and back."""

from __future__ import annotations

import numpy as np

__all__ = ["hue_of", "rgb_of"]


def rgb_of(hue: np.ndarray) -> np.ndarray:
    """Return red, green and blue of fully saturated hues.

    Args:
        hue: In turns of the colour wheel, of any shape.

    Returns:
        The same shape with a last axis of 3, on [0, 1].

    >>> rgb_of(np.array([0.0, 1 / 3, 0.5])).round(3).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 1.0]]
    """
    return np.asarray(np.clip(np.abs((6 * hue[..., None] + np.array([0, 4, 2])) % 6 - 3) - 1, 0, 1))


def hue_of(colour: np.ndarray) -> np.ndarray:
    """Return the hue of mean colours: the angle of red, green and blue as three directions 120° apart.

    Args:
        colour: (rows, 3).

    Returns:
        Turns of the colour wheel.

    >>> hue_of(np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 2.0]])).round(3).tolist()
    [0.0, 0.667]
    """
    red, green, blue = colour.T
    return np.asarray(np.arctan2(np.sqrt(3) * (green - blue), 2 * red - green - blue) / (2 * np.pi) % 1.0)
