import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from latentry.errors import DataError
from latentry.information import information_plane, twelve_bit_run, twelve_bit_task


def activations(rng, n=500):
    x = rng.standard_normal((n, 2))
    y = (x[:, 0] > 0).astype(int)
    early = {"first": x @ rng.standard_normal((2, 2)), "last": rng.standard_normal((n, 1))}
    late = {"first": x, "last": x[:, :1]}
    return {1: early, 10: late}, x, y


@pytest.mark.parametrize("estimator", ["ksg", "binned", "mixed", "auto"])
def test_a_layer_that_learns_moves_up(estimator):
    recorded, x, y = activations(np.random.default_rng(0))
    plane = information_plane(recorded, x, y, estimator=estimator, bins=8 if estimator == "binned" else None)
    table = plane.table()
    assert plane.layers == ("first", "last")
    assert table.shape == (2, 2, 2)
    assert table[0, 1, 1] < 0.25  # noise says nothing of y
    assert table[1, 1, 1] > 0.7  # x[:, 0] says all of it: one bit
    assert np.all(table[1, :, 0] > table[0, 1, 0])


def test_the_plane_does_not_depend_on_the_size_of_activations():
    recorded, x, y = activations(np.random.default_rng(0))
    tiny = {epoch: {name: 1e-9 * rows for name, rows in layers.items()} for epoch, layers in recorded.items()}
    np.testing.assert_allclose(
        information_plane(tiny, x, y).table(), information_plane(recorded, x, y).table(), atol=1e-9
    )


def test_the_picture_is_well_formed_and_has_every_point(tmp_path):
    recorded, x, y = activations(np.random.default_rng(0), n=100)
    plane = information_plane(recorded, x, y)
    text = plane.to_svg(tmp_path / "plane.svg")
    root = ElementTree.fromstring(text)
    assert (tmp_path / "plane.svg").read_text(encoding="utf-8") == text
    assert len(root.findall(".//{http://www.w3.org/2000/svg}circle")) == 4
    assert "I(X; T), bits" in text


def test_layers_in_order_get_names():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((60, 1))
    plane = information_plane({3: [x, x**3]}, x + rng.standard_normal((60, 1)), x + rng.standard_normal((60, 1)))
    assert plane.layers == ("layer 1", "layer 2")
    with pytest.raises(DataError, match="activations={}"):
        information_plane({}, x, x)


def test_the_twelve_bit_rule_is_a_rule_of_the_icosahedron():
    x, y = twelve_bit_task()
    assert x.shape == (4096, 12)
    assert set(np.unique(x)) == {-1.0, 1.0}
    assert 0.35 < y.mean() < 0.65
    # the twelve corners together have no quadrupole, so a subset and its rest agree
    code = ((x > 0) @ (1 << np.arange(12))).astype(int)
    rest = np.argsort(code)[4095 - code]
    np.testing.assert_array_equal(y, y[rest])


@pytest.mark.long
def test_the_twelve_bit_run_learns_and_is_recorded():
    found = twelve_bit_run(epochs=8, records=3, seed=0)
    assert sorted(found.activations) == [1, 3, 8]
    assert [rows.shape[1] for rows in found.activations[8].values()] == [10, 7, 5, 4, 3, 2]
    plane = information_plane(
        {e: found.activations[e] for e in (1, 8)},
        np.arange(4096),
        found.y,
        estimator="binned",
        bins=30,
        correction="plugin",
    )
    table = plane.table()
    assert np.all(
        table[:, :, 0] <= 12 + 1e-9
    )  # all inputs are there: the plug-in value is exact, and x has twelve bits
    assert np.all(table[:, :, 1] <= 1 + 1e-9)
    assert found.accuracy > 0.5


def test_the_layer_that_cannot_be_measured_is_named():
    recorded, x, y = activations(np.random.default_rng(0), n=60)
    recorded[10]["last"] = np.where(np.arange(60)[:, None] == 7, np.nan, recorded[10]["last"])
    with pytest.raises(DataError, match="last at epoch 10: .* nan at row 7"):
        information_plane(recorded, x, y)
    with pytest.raises(DataError, match="names no variable"):
        information_plane(recorded, x, y, discrete=("t",))
