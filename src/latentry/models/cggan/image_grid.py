"""Images side by side, as PNG files written with nothing but the standard library."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from latentry.errors import DataError

__all__ = ["picture_grid", "write_png"]


def picture_grid(pictures: ArrayLike, *, columns: int, gap: int = 1) -> np.ndarray:
    """Lay out images row by row on white.

    Cost: linear in the pixels.

    Args:
        pictures: Images (rows, height, width[, channels]) on [0, 1].
        columns: Images side by side.
        gap: Pixels between them.

    Returns:
        One image (height, width, channels).

    Raises:
        DataError: If there are none, or they have another shape.

    >>> picture_grid(np.zeros((4, 5, 5, 3)), columns=2).shape
    (13, 13, 3)
    """
    images = np.asarray(pictures, dtype=np.float64)
    if images.ndim not in (3, 4) or not len(images):
        raise DataError(
            f"pictures has shape {images.shape}: give (rows, height, width) or (rows, height, width, channels)."
        )
    images = images[..., None] if images.ndim == 3 else images
    count, height, width, channels = images.shape
    lines = -(-count // columns)
    whole = np.ones((gap + lines * (height + gap), gap + columns * (width + gap), channels))
    for index, image in enumerate(images):
        top, left = (gap + at * (side + gap) for at, side in zip(divmod(index, columns), (height, width), strict=True))
        whole[top : top + height, left : left + width] = image
    return whole


def write_png(path: str | Path, picture: ArrayLike, *, enlarge: int = 1) -> None:
    """Write an image as a PNG file.

    Cost: linear in the pixels.

    Args:
        path: Of the file.
        picture: An image (height, width, 1 or 3) on [0, 1].
        enlarge: Pixels of the file along a side of each pixel of the image.

    Raises:
        DataError: If it has another shape.
    """
    values = np.round(255 * np.clip(np.asarray(picture, dtype=np.float64), 0, 1)).astype(np.uint8)
    values = values.repeat(enlarge, axis=0).repeat(enlarge, axis=1)
    if values.ndim != 3 or values.shape[2] not in (1, 3):
        raise DataError(f"picture has shape {np.shape(picture)}: give (height, width, 1) or (height, width, 3).")
    height, width, channels = values.shape
    lines = b"".join(b"\0" + line.tobytes() for line in values)
    header = struct.pack(">IIBBBBB", width, height, 8, 0 if channels == 1 else 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    Path(path).write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, content) for kind, content in parts))


def _chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
