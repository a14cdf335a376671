"""Simulators as modalities: those of causalchamber where it is installed, and one made by hand."""

import sys

import numpy as np
import pytest

import latentry as lt
from latentry.errors import MissingExtra
from latentry.generators import chamber, chamber_graph


class Lamp:
    inputs_names = ("power", "angle")

    def simulate_from_inputs(self, table):
        return table["power"].values * np.cos(table["angle"].values) ** 2, table["angle"].values


INPUTS = {"power": [1.0, 2.0, 3.0], "angle": [0.0, 0.5, 1.0], "unused": [7, 8, 9]}


def test_a_simulator_by_hand():
    data = chamber({"lamp": Lamp()}, INPUTS, domain=["a", "b", "b"])
    assert np.allclose(data["lamp"], np.column_stack([np.array([1, 2, 3]) * np.cos([0, 0.5, 1]) ** 2, [0, 0.5, 1]]))
    assert list(data.factors) == ["power", "angle", "unused"]
    assert data.domain.size == 2
    noisy = chamber({"lamp": Lamp()}, INPUTS, noise=0.1, seed=1)
    assert not np.allclose(noisy["lamp"], data["lamp"])


@pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors")  # the simulator's own
def test_the_light_tunnel(capsys):
    lt_simulators = pytest.importorskip("causalchamber.simulators.lt")
    light = lt_simulators.ModelF1(center_x=0.5, center_y=0.5, radius=0.4, offset=0, image_size=16)
    rng = np.random.default_rng(0)
    colours = {name: rng.uniform(0, 255, size=5) for name in ("red", "green", "blue")}
    data = chamber({"image": light}, colours | {"pol_1": np.zeros(5), "pol_2": np.linspace(0, 90, 5)})
    assert data["image"].shape == (5, 16, 16, 3)
    assert data["image"][-1].max() < 1e-6  # crossed polarisers let no light through
    assert ("red", "im") in chamber_graph().edges


def test_without_the_package_the_graph_says_what_to_install(monkeypatch):
    for name in ("causalchamber", "causalchamber.ground_truth", "causalchamber.ground_truth.main"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MissingExtra, match=r"pip install 'latentry\[chamber\]'"):
        chamber_graph()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: chamber({"lamp": Lamp()}, {"power": [1.0]}), "'lamp'.* needs the input 'angle'"),
        (lambda: chamber({"lamp": Lamp()}, {}), "inputs={}: .* one value per row"),
        (
            lambda: chamber({"lamp": Lamp()}, {"power": [1.0, 2.0], "angle": [1.0]}),
            r"inputs\['angle'\]: it has shape \(1,\)",
        ),
        (lambda: chamber({"lamp": Lamp()}, INPUTS, noise=-1), "noise=-1"),
    ],
)
def test_bad_input(call, sentence):
    with pytest.raises(lt.DataError, match=sentence):
        call()
