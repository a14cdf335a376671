"""Images whose domain changes one attribute and nothing else."""

from __future__ import annotations

import numpy as np

from latentry.data import Dataset
from latentry.generators.checks import check_choice, check_counts, check_positive, check_seed
from latentry.generators.colours import rgb_of

__all__ = ["domain_images"]

ATTRIBUTES = ("colour", "tilt", "size")
# centres of the attribute in the domains and its standard deviation within one: turns of the wheel, radians, pixels of 32
_DISTRIBUTIONS = {"colour": (0.0, 2 / 3, 0.03), "tilt": (-0.6, 0.6, 0.15), "size": (4.0, 7.0, 0.5)}
_COMMON = {"colour": (1 / 3, 0.03), "tilt": (0.0, 0.15), "size": (5.5, 0.5)}


def domain_images(
    *,
    attribute: str = "colour",
    domains: int = 2,
    rows_per_domain: int = 2000,
    size: int = 32,
    noise: float = 0.0,
    seed: int = 0,
) -> Dataset:
    """Draw ellipses on black, ``size`` × ``size`` × 3 on [0, 1]; an attribute has another distribution in each domain.

    Five factors: place (across and down, uniform within 5 pixels of the middle), colour (hue in turns), tilt (radians) and
    size (the longer half-axis in pixels; the shorter is 0.55 of it). The chosen attribute is Gaussian with a centre of its
    own in each domain, evenly spaced from 0 to 2/3 of a turn (colour, standard deviation 0.03), −0.6 to 0.6 (tilt, 0.15) or
    4 to 7 (size, 0.5); the other two keep the centre 1/3, 0 or 5.5 and these deviations in all domains. Pixels are those
    of an image with size 32; others scale.

    Cost: rows · pixels.

    Args:
        attribute: "colour", "tilt" or "size".
        domains: Their number.
        rows_per_domain: Images in each.
        size: Height and width in pixels.
        noise: Standard deviation of Gaussian noise added to each pixel.
        seed: Of everything.

    Returns:
        A dataset with the modality "image".

    Raises:
        DataError: If a parameter cannot be used.

    >>> data = domain_images(attribute="tilt", rows_per_domain=3)
    >>> data["image"].shape, list(data.factors)
    ((6, 32, 32, 3), ['across', 'down', 'colour', 'tilt', 'size'])
    """
    check_choice("attribute", attribute, ATTRIBUTES)
    check_counts(domains=domains, rows_per_domain=rows_per_domain, size=size)
    check_positive("noise", noise, zero=True)
    check_seed(seed)
    rng = np.random.default_rng(seed)
    domain = np.repeat(np.arange(domains), rows_per_domain)
    factors = {name: rng.uniform(-5, 5, size=len(domain)) for name in ("across", "down")}
    for name in ATTRIBUTES:
        factors[name] = _drawn(name, domain, domains, rng, changes=name == attribute)
    image = _ellipses(factors, size)
    if noise:
        image = image + noise * rng.standard_normal(image.shape, dtype=np.float32)
    return Dataset({"image": image}, domain, factors=factors)


def _drawn(name: str, domain: np.ndarray, domains: int, rng: np.random.Generator, *, changes: bool) -> np.ndarray:
    low, high, deviation = _DISTRIBUTIONS[name]
    centres = np.linspace(low, high, domains) if changes else np.full(domains, _COMMON[name][0])
    drawn = centres[domain] + deviation * rng.standard_normal(len(domain))
    if name == "colour":
        return np.asarray(drawn % 1.0)
    return np.asarray(np.maximum(drawn, 1.5) if name == "size" else drawn)


def _ellipses(factors: dict[str, np.ndarray], size: int) -> np.ndarray:
    """Return the coverage with an edge about one pixel soft, times the colour."""
    grid = (np.arange(size, dtype=np.float32) - (size - 1) / 2) * np.float32(32 / size)
    column = {name: values.astype(np.float32)[:, None, None] for name, values in factors.items()}
    x, y = grid[None, None, :] - column["across"], grid[None, :, None] - column["down"]
    cosine, sine = np.cos(column["tilt"]), np.sin(column["tilt"])
    along, beside = x * cosine + y * sine, y * cosine - x * sine
    long, short = column["size"], 0.55 * column["size"]
    reach = np.sqrt((along / long) ** 2 + (beside / short) ** 2)
    cover = np.clip((1 - reach) * short * np.float32(size / 32) + 0.5, 0, 1)
    return np.asarray((cover[..., None] * rgb_of(column["colour"])).astype(np.float32))
