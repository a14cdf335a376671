"""The pendulum: its projection, its pictures, its interventions."""

import numpy as np
import pytest

import latentry as lt
from latentry.generators import measure_pendulum, pendulum, pendulum_graph, project_shadow

NAMES = ("angle", "light", "position", "length")


def test_a_shadow_lies_where_the_rays_meet_the_ground():
    """Independent of the closed form: walk each ray down until it crosses the ground."""
    rng = np.random.default_rng(0)
    angle, light = rng.uniform(-50, 50, 20), rng.uniform(1, 40, 20)
    position, length = project_shadow(angle, light)
    for row in range(20):
        a, b = np.radians(angle[row]), np.radians(light[row])
        ends = np.array([[0, 14], [9 * np.sin(a), 14 - 9 * np.cos(a)]])
        ray = np.array([-np.sin(b), -np.cos(b)])  # the sun stands to the right
        hits = [(end + ray * end[1] / np.cos(b)) for end in ends]
        assert np.allclose([hit[1] for hit in hits], 0)
        low, high = sorted(hit[0] for hit in hits)
        assert position[row] == pytest.approx((low + high) / 2)
        assert length[row] == pytest.approx(max(high - low, 4.4))


def test_observed_shadows_obey_the_projection_and_set_ones_do_not():
    data = pendulum(rows=300, size=1)
    position, length = project_shadow(data.factors["angle"], data.factors["light"])
    assert np.array_equal(position, data.factors["position"])
    assert np.array_equal(length, data.factors["length"])
    broken = pendulum(rows=300, size=1, do={"position": 1})
    assert (broken.factors["position_state"] == 1).all()
    expected = project_shadow(broken.factors["angle"], broken.factors["light"])[0]
    assert abs(np.corrcoef(expected, broken.factors["position"])[0, 1]) < 0.3  # 5 standard errors


def test_setting_a_shadow_keeps_its_law_and_leaves_its_causes():
    seen, done = pendulum(rows=20_000, size=1, seed=1), pendulum(rows=20_000, size=1, seed=2, do={"length": 1})
    long = seen.factors["length"][seen.factors["length_state"] == 1]
    assert np.quantile(done.factors["length"], [0.1, 0.5, 0.9]) == pytest.approx(
        np.quantile(long, [0.1, 0.5, 0.9]), abs=0.15
    )
    for name in ("angle_state", "light_state"):
        assert done.factors[name].mean() == pytest.approx(0.5, abs=0.018)  # 5 standard errors
    assert abs(np.corrcoef(done.factors["angle"], done.factors["length"])[0, 1]) < 0.036


@pytest.mark.parametrize("do", [None, {"angle": 1}, {"light": 0}, {"length": 1}])
def test_features_can_be_read_off_the_pictures(do):
    data = pendulum(rows=300, seed=3, do=do)
    found = measure_pendulum(data["image"])
    inside = np.abs(data.factors["position"]) + data.factors["length"] / 2 < 15
    inside &= np.abs(20 * np.sin(np.radians(data.factors["light"]))) < 13
    for name, error in (("angle", 1.5), ("light", 0.5), ("position", 0.1), ("length", 0.2)):
        assert np.abs(found[name] - data.factors[name])[inside].max() < error, name
    for name in NAMES:
        assert (found[f"{name}_state"] == data.factors[f"{name}_state"]).mean() > 0.95


def test_readings_are_the_values_with_noise():
    data = pendulum(rows=5000, size=1)
    rest = data["readings"] - np.column_stack([data.factors[name] for name in NAMES])
    assert rest.std(axis=0) == pytest.approx([2, 2, 0.3, 0.3], rel=0.05)  # 5 standard errors
    assert data.columns["readings"] == NAMES == pendulum_graph().names


def test_each_cause_moves_each_effect():
    means = {}
    for cause in ("angle", "light"):
        for state in (0, 1):
            data = pendulum(rows=4000, size=1, do={cause: state})
            assert (data.factors[f"{cause}_state"] == state).all()
            means[cause, state] = np.array([data.factors["position_state"].mean(), data.factors["length_state"].mean()])
    # a difference of two shares of 4000 rows has a standard error of at most 0.011
    assert (np.abs(means["angle", 1] - means["angle", 0]) > 0.2).all()
    assert (np.abs(means["light", 1] - means["light", 0]) > 0.2).all()


def test_seeds_and_noise():
    assert pendulum(rows=9, seed=1).fingerprint == pendulum(rows=9, seed=1).fingerprint
    assert pendulum(rows=9, seed=1).fingerprint != pendulum(rows=9, seed=2).fingerprint
    assert (pendulum(rows=40, noise=0.1)["image"] - pendulum(rows=40)["image"]).std() == pytest.approx(0.1, rel=0.02)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: pendulum(rows=-1), "rows=-1"),
        (lambda: pendulum(rows=5, do={"lihgt": 1}), "do={'lihgt': 1}: 'lihgt' is no node; did you mean 'light'"),
        (lambda: pendulum(rows=5, do={"light": 7}), "'light' has no outcome 7. Give 0 or 1"),
        (lambda: measure_pendulum(np.zeros((2, 8, 9, 3))), "images: they have shape"),
    ],
)
def test_bad_parameters(call, sentence):
    with pytest.raises(lt.DataError, match=sentence):
        call()
