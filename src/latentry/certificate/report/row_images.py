"""Rows as small drawings: images as PNG, curves as SVG, tables as numbers; no drawing library."""

from __future__ import annotations

import base64
import struct
import zlib
from dataclasses import dataclass

import numpy as np

from latentry.html_text import escaped

__all__ = ["Look", "look_of", "drawing", "png", "scaled", "short", "shrunk", "sprite", "thinned"]


@dataclass(frozen=True)
class Look:
    """How a modality is shown, and the range of its values, so that all its images have one scale."""

    name: str
    kind: str  # "image", "curve" or "table"
    low: float
    high: float
    columns: tuple[str, ...] = ()


def look_of(name: str, values: np.ndarray, columns: tuple[str, ...] | None) -> Look:
    """Choose how to show a modality: an image has two axes and perhaps colours, a curve one long axis, a table the rest.

    Args:
        name: Of the modality.
        values: (rows, ...).
        columns: Their names, if there are any.

    Returns:
        Kind and range.
    """
    shape = values.shape[1:]
    finite = values[np.isfinite(values)] if values.dtype.kind == "f" else values
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    high = high if high > low else low + 1.0
    channels = len(shape) > 1 and shape[-1] <= 4
    if len(shape) == 3 or (len(shape) == 2 and not channels):
        return Look(name, "image", low, high)
    if len(shape) == 2 or (len(shape) == 1 and shape[0] >= 16 and columns is None):
        return Look(name, "curve", low, high)
    named = columns or tuple(
        f"{name} {i + 1}" if len(shape) == 1 and shape[0] > 1 else name for i in range(int(np.prod(shape)))
    )
    return Look(name, "table", low, high, tuple(named[:12]))


def drawing(look: Look, row: np.ndarray, beside: np.ndarray | None = None) -> str:
    """Draw one row.

    Args:
        look: Of its modality.
        row: Without the axis of rows.
        beside: For curves, others that are drawn faintly.

    Returns:
        HTML.
    """
    if look.kind == "image":
        return f'<img class="picture" alt="{escaped(look.name)}" src="{png(scaled(look, row))}">'
    if look.kind == "curve":
        others = "" if beside is None else "".join(f'<path class="faint" d="{_curve(look, one)}"/>' for one in beside)
        line = f'<path d="{_curve(look, row)}"/>'
        return f'<svg class="spark" viewBox="-2 -2 104 44" preserveAspectRatio="none" role="img">{others}{line}</svg>'
    values = np.asarray(row, dtype=float).ravel()[: len(look.columns)]
    cells = "".join(
        f"<tr><td>{escaped(n)}</td><td>{short(v)}</td></tr>" for n, v in zip(look.columns, values, strict=True)
    )
    return f'<table class="means">{cells}</table>'


def short(value: float) -> str:
    """Write a number with three digits, without a power of ten where none is needed.

    Args:
        value: The number.

    Returns:
        Text.

    >>> short(5112.4), short(0.01234), short(3e-7)
    ('5112', '0.0123', '3e-07')
    """
    return f"{value:.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.3g}"


def scaled(look: Look, values: np.ndarray) -> np.ndarray:
    """Return values as bytes, on the modality's own scale.

    Args:
        look: Of the modality.
        values: Of any shape.

    Returns:
        Bytes of the same shape.
    """
    fraction = (np.asarray(values, dtype=float) - look.low) / (look.high - look.low)
    pixels: np.ndarray = np.round(255 * np.clip(np.nan_to_num(fraction), 0, 1)).astype(np.uint8)
    return pixels


def thinned(row: np.ndarray, points: int = 64) -> np.ndarray:
    """Return the first channel of a curve at so many points.

    Args:
        row: (length,) or (length, channels).
        points: At most so many.

    Returns:
        (points,).
    """
    line = np.asarray(row, dtype=float)
    line = line[:, 0] if line.ndim == 2 else line
    along = np.linspace(0, len(line) - 1, min(points, len(line)))
    thin: np.ndarray = np.interp(along, np.arange(len(line)), line)
    return thin


def _curve(look: Look, row: np.ndarray) -> str:
    heights = 40 - scaled(look, thinned(row)) / 255 * 40
    along = np.linspace(0, 100, len(heights))
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in zip(along, heights, strict=True))


def png(image: np.ndarray) -> str:
    """Encode an image as a data address.

    Args:
        image: Bytes (h, w) or (h, w, 1 | 3 | 4).

    Returns:
        A PNG in base64.

    >>> png(np.zeros((2, 2), np.uint8))[:22]
    'data:image/png;base64,'
    """
    pixels = image[..., 0] if image.ndim == 3 and image.shape[2] in (1, 2) else image
    colour = {2: 0}.get(pixels.ndim, 6 if pixels.shape[-1] == 4 else 2)
    height, width = pixels.shape[:2]
    lines = np.ascontiguousarray(pixels).reshape(height, -1)
    filtered = np.hstack([np.zeros((height, 1), np.uint8), lines])  # filter type 0 before each line
    header = struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)
    body = _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(filtered.tobytes(), 9)) + _chunk(b"IEND", b"")
    return "data:image/png;base64," + base64.b64encode(b"\x89PNG\r\n\x1a\n" + body).decode()


def _chunk(name: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))


def shrunk(images: np.ndarray, side: int) -> np.ndarray:
    """Average images down so that neither side is longer than that.

    Args:
        images: (rows, h, w) or (rows, h, w, channels).
        side: The longest side, in pixels.

    Returns:
        Images with sides of at most so many pixels.

    >>> shrunk(np.ones((3, 64, 32, 1)), 16).shape
    (3, 16, 8, 1)
    """
    step = int(np.ceil(max(images.shape[1:3]) / side))
    if step <= 1:
        return images
    high, wide = (images.shape[1] // step) * step, (images.shape[2] // step) * step
    cut = images[:, :high, :wide]
    parts = cut.reshape(len(cut), high // step, step, wide // step, step, *cut.shape[3:])
    means: np.ndarray = parts.mean(axis=(2, 4))
    return means


def sprite(look: Look, images: np.ndarray, budget: int) -> dict[str, object]:
    """Put all images on one sheet, small enough that the raw sheet has at most so many bytes.

    Args:
        look: Of the modality.
        images: (rows, h, w) or (rows, h, w, channels).
        budget: In bytes.

    Returns:
        The sheet, and how many images it has across and of which size.
    """
    colours = images.shape[3] if images.ndim == 4 else 1
    side = int(np.clip(np.sqrt(budget / (len(images) * colours)), 8, 64))
    small = scaled(look, shrunk(images, side))
    across = int(np.ceil(np.sqrt(len(small))))
    down = int(np.ceil(len(small) / across))
    blank = np.zeros((across * down - len(small), *small.shape[1:]), np.uint8)
    tiles = np.concatenate([small, blank]).reshape(down, across, *small.shape[1:])
    sheet = np.concatenate(np.concatenate(tiles, axis=1), axis=1)  # rows of tiles, then tiles side by side
    return {"name": look.name, "source": png(sheet), "across": across, "side": small.shape[2], "tall": small.shape[1]}
