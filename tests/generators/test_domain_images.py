"""Pictures with one changing attribute: only that attribute changes, and the picture shows every factor."""

import numpy as np
import pytest

import latentry as lt
from latentry.generators import domain_images

CENTRES = {"colour": (1 / 3, 0.03), "tilt": (0.0, 0.15), "size": (5.5, 0.5)}


@pytest.mark.parametrize("attribute", ["colour", "tilt", "size"])
def test_only_the_attribute_changes(attribute):
    data = domain_images(attribute=attribute, domains=3, rows_per_domain=2000, size=4)
    for name, (centre, deviation) in CENTRES.items():
        values = np.array([(data.factors[name][data.domain.values == k] + 0.25) % 1 - 0.25 if name == "colour" else
                           data.factors[name][data.domain.values == k] for k in range(3)])  # fmt: skip
        means = values.mean(axis=1)
        if name == attribute:
            assert np.diff(means).min() > 2.5 * deviation
        else:  # 5 standard errors
            assert means == pytest.approx(np.full(3, centre), abs=5 * deviation / np.sqrt(2000))


def test_the_picture_shows_place_size_and_tilt():
    """Moments of the coverage: centroid, area π·a·0.55a, and the axis of greatest spread."""
    data = domain_images(attribute="tilt", rows_per_domain=200, size=96, seed=1)
    cover = data["image"].max(axis=3).astype(float)
    grid = (np.arange(96) - 47.5) / 3
    area = cover.sum(axis=(1, 2))
    across, down = cover.sum(axis=1) @ grid / area, cover.sum(axis=2) @ grid / area
    assert np.abs(across - data.factors["across"]).max() < 0.05
    assert np.abs(down - data.factors["down"]).max() < 0.05
    assert area / 9 == pytest.approx(np.pi * 0.55 * data.factors["size"] ** 2, rel=0.06)
    x, y = grid[None, None, :] - across[:, None, None], grid[None, :, None] - down[:, None, None]
    xx, yy, xy = ((cover * part).sum(axis=(1, 2)) for part in (x**2, y**2, x * y))
    assert np.abs(0.5 * np.arctan2(2 * xy, xx - yy) - data.factors["tilt"]).max() < 0.05


def test_seeds_noise_and_range():
    one = domain_images(rows_per_domain=20, seed=1)
    assert one.fingerprint == domain_images(rows_per_domain=20, seed=1).fingerprint
    assert one.fingerprint != domain_images(rows_per_domain=20, seed=2).fingerprint
    assert one["image"].dtype == np.float32
    assert one["image"].min() == 0
    assert one["image"].max() <= 1
    noisy = domain_images(rows_per_domain=20, noise=0.1, seed=1)
    assert (noisy["image"] - one["image"]).std() == pytest.approx(0.1, rel=0.02)  # 120,000 pixels


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: domain_images(attribute="color"), "attribute='color' is not known; did you mean 'colour'"),
        (lambda: domain_images(domains=0), "domains=0"),
        (lambda: domain_images(noise=-1), "noise=-1"),
    ],
)
def test_bad_parameters(call, sentence):
    with pytest.raises(lt.DataError, match=sentence):
        call()
