"""Circles: their probabilities, their pictures, and what an intervention does to them."""

import colorsys

import numpy as np
import pytest

import latentry as lt
from latentry.generators import circles, circles_graph, measure_circles
from latentry.graphs import cpdag, joint_table

NODES = ("hue", "radius", "shift")


def joint(data):
    table = np.zeros((2, 2, 2))
    np.add.at(table, tuple(data.factors[name] for name in NODES), 1)
    return table / len(data)


@pytest.mark.parametrize("do", [None, {"radius": 1}, {"hue": 0, "radius": 1}, {"shift": 1}])
def test_outcomes_follow_the_graph_observed_and_set(do):
    # 40,000 rows: a cell has a standard error below 0.0025, and 8 cells pass 5 of them once in 200,000 runs
    data = circles(rows=40_000, size=1, do=do)
    assert np.abs(joint(data) - joint_table(circles_graph(), do)).max() < 0.0125


def test_setting_the_effect_leaves_the_causes_alone():
    table = joint_table(circles_graph(), {"shift": 1})
    assert table.sum(axis=(0, 2)).tolist() == pytest.approx([0.6, 0.4])
    assert cpdag(circles_graph()).directed == (("hue", "shift"), ("radius", "shift"))  # a collider can be oriented


def test_values_scatter_as_published():
    # standard errors of a deviation: below 1 % of it at 16,000 rows; 5 of them allowed
    data = circles(rows=40_000, size=1, seed=3)
    for name, centres, deviation in (("radius", (3.5, 6.0), 0.6), ("shift", (-3.0, 3.0), 1.1)):
        for outcome, centre in enumerate(centres):
            values = data.factors[f"{name}_value"][data.factors[name] == outcome]
            assert values.mean() == pytest.approx(centre, abs=5 * deviation / 120)
            assert values.std() == pytest.approx(deviation, rel=0.05)
    cut = (data.factors["radius_value"] > 4.75) == data.factors["radius"]
    assert 1 - cut.mean() == pytest.approx(0.0186, abs=0.0035)  # Φ(−1.25/0.6), 5 standard errors


def test_pictures_show_their_values():
    data = circles(rows=500, seed=2)
    image = data["image"]
    assert image.dtype == np.float32
    assert (image.min(), image.max()) == (0, 1)
    found = measure_circles(image)
    # the area of an anti-aliased disc is πr² to a pixel or so; its centroid is exact by symmetry up to the raster
    assert np.abs(found["radius_value"] - data.factors["radius_value"]).max() < 0.1
    assert np.abs(found["shift_value"] - data.factors["shift_value"])[data.factors["radius_value"] < 5].max() < 0.1
    for row in range(20):
        middle = image[row, 13, round(13.5 + data.factors["shift_value"][row])]
        assert np.allclose(middle, colorsys.hsv_to_rgb(data.factors["hue_value"][row], 1, 1), atol=1e-6)


def test_outcomes_can_be_read_off_pictures_without_scatter():
    data = circles(rows=300, spread=0, seed=0)
    found = measure_circles(data["image"])
    assert all((found[name] == data.factors[name]).all() for name in NODES)
    assert len(np.unique(data["image"].reshape(300, -1), axis=0)) == 8


def test_a_larger_picture_is_the_same_scene():
    small, large = circles(rows=100, seed=1), circles(rows=100, size=56, seed=1)
    assert (small.factors["shift_value"] == large.factors["shift_value"]).all()
    found = measure_circles(large["image"])
    assert np.abs(found["radius_value"] - large.factors["radius_value"]).max() < 0.05
    assert np.abs(found["shift_value"] - large.factors["shift_value"])[large.factors["radius_value"] < 5].max() < 0.05


def test_seeds_and_noise():
    assert circles(rows=9, seed=1).fingerprint == circles(rows=9, seed=1).fingerprint
    assert circles(rows=9, seed=1).fingerprint != circles(rows=9, seed=2).fingerprint
    clear, noisy = circles(rows=50), circles(rows=50, noise=0.1)
    assert (noisy["image"] - clear["image"]).std() == pytest.approx(0.1, rel=0.02)  # 120,000 pixels


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: circles(rows=0), "rows=0: .* whole number of at least 1"),
        (lambda: circles(spread=-1), "spread=-1"),
        (lambda: circles(noise=float("nan")), "noise=nan"),
        (lambda: circles(rows=5, do={"colour": 1}), "colour"),
        (lambda: circles(rows=5, do={"hue": 2}), "hue"),
        (
            lambda: measure_circles(np.zeros((2, 28, 28))),
            r"images: .* shape \(2, 28, 28\)\. Give \(rows, size, size, 3\)",
        ),
    ],
)
def test_bad_parameters(call, sentence):
    with pytest.raises(lt.DataError, match=sentence):
        call()
