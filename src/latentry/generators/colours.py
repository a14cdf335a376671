"""Hues as red, green and blue, and back."""

from __future__ import annotations

import numpy as np

__all__ = ["hue_of", "rgb_of"]


def rgb_of(hue: np.ndarray) -> np.ndarray:
    """Red, green and blue of fully saturated hues, given in turns of the colour wheel.

    >>> rgb_of(np.array([0.0, 1 / 3, 0.5])).round(3).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 1.0, 1.0]]
    """
    return np.clip(np.abs((6 * hue[..., None] + np.array([0, 4, 2])) % 6 - 3) - 1, 0, 1)


def hue_of(colour: np.ndarray) -> np.ndarray:
    """Hue in turns of a mean colour: the angle of red, green and blue as three directions 120° apart.

    >>> hue_of(np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 2.0]])).round(3).tolist()
    [0.0, 0.667]
    """
    red, green, blue = colour.T
    return np.arctan2(np.sqrt(3) * (green - blue), 2 * red - green - blue) / (2 * np.pi) % 1.0
