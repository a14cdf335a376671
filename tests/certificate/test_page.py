import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import latentry as lt
from latentry.certificate.chart import Series, line_chart, scatter_chart
from latentry.certificate.page import model_page, write_page


def points(svg):
    root = ElementTree.fromstring(svg)
    line = next(e for e in root.iter() if e.tag == "polyline")
    return np.array([[float(v) for v in pair.split(",")] for pair in line.get("points").split()])


def test_a_line_is_drawn_to_scale():
    drawn = points(line_chart([Series("a", np.array([0.0, 1, 4]), np.array([10.0, 20, 40]))], "x", "y"))
    run, rise = np.diff(drawn[:, 0]), np.diff(drawn[:, 1])
    assert np.isclose(run[1] / run[0], 3, atol=0.01)
    assert np.isclose(rise[1] / rise[0], 2, atol=0.01)
    assert (rise < 0).all()  # up is up


def test_nan_and_constant_series_are_drawn():
    svg = line_chart([Series("a", np.arange(3.0), np.array([np.nan, 1.0, 1.0]))], "x", "y")
    assert len(points(svg)) == 2
    ElementTree.fromstring(scatter_chart([Series("<b>", np.zeros(3), np.zeros(3))], "x & y", "<y>"))


def test_the_page_is_whole_and_needs_no_network(curved, tmp_path):
    model = lt.VAE(epochs=2, hidden=(4,), progress=False).fit(curved)
    page = model_page(model, curved, "a <title> & more")
    assert page.count("<svg") == 2
    assert "a &lt;title&gt; &amp; more" in page
    assert "http" not in page.replace("https", "http").split("</style>")[1]
    write_page(tmp_path / "p.html", page)
    assert [p.name for p in tmp_path.iterdir()] == ["p.html"]


def test_a_page_that_cannot_be_written_is_a_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(lt.DataError, match="could not be written"):
        write_page(tmp_path / "file" / "p.html", "x")
