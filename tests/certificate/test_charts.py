import base64
import struct
import xml.etree.ElementTree as ElementTree
import zlib

import numpy as np

from latentry.certificate.line_charts import Series, line_chart, scatter_chart
from latentry.certificate.report.html_pieces import number_words
from latentry.certificate.report.interval_charts import Bar, Span, bars, spans
from latentry.certificate.report.row_images import drawing, look_of, png, shrunk, sprite
from latentry.evidence import Estimate


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


def test_bars_are_drawn_to_scale():
    root = ElementTree.fromstring(bars([Bar("a & b", 1.0, 0.8, 1.2), Bar("c", 0.5, np.nan, np.nan)], "nats"))
    widths = [float(e.get("width")) for e in root.iter() if e.tag == "rect"]
    assert np.isclose(widths[0] / widths[1], 2, atol=0.01)
    ElementTree.fromstring(bars([Bar("a", 1.0, 0.9, np.inf)], "nats"))


def test_spans_show_the_limit_and_what_has_no_bound():
    svg = spans([Span("m", None, None, "not refuted"), Span("r", 0.02, 0.08, "cannot say")], 0.1, "nats")
    root = ElementTree.fromstring(svg)
    limit = next(e for e in root.iter() if e.get("class") == "limit")
    certain = next(e for e in root.iter() if e.get("class") == "span cannot-say")
    start, end = float(certain.get("d")[1:].split(" ")[0]), float(certain.get("d").split("H")[1])
    assert start < end < float(limit.get("x1"))
    assert "no upper bound" in svg


def test_png_bytes_are_those_of_the_image():
    image = np.random.default_rng(0).integers(0, 256, (5, 7, 3)).astype(np.uint8)
    raw = base64.b64decode(png(image).split(",")[1])
    assert raw[:8] == b"\x89PNG\r\n\x1a\n"
    assert struct.unpack(">II", raw[16:24]) == (7, 5)
    start = raw.index(b"IDAT")
    length = struct.unpack(">I", raw[start - 4 : start])[0]
    lines = np.frombuffer(zlib.decompress(raw[start + 4 : start + 4 + length]), np.uint8).reshape(5, 22)
    assert (lines[:, 0] == 0).all()
    assert (lines[:, 1:].reshape(5, 7, 3) == image).all()
    assert struct.unpack(">I", raw[start + 4 + length : start + 8 + length])[0] == zlib.crc32(
        raw[start : start + 4 + length]
    )


def test_looks():
    rng = np.random.default_rng(0)
    kinds = {(32, 32): "image", (28, 28, 3): "image", (100,): "curve", (50, 1): "curve", (4,): "table", (1,): "table"}
    for shape, kind in kinds.items():
        look = look_of("m", rng.normal(size=(6, *shape)), None)
        assert look.kind == kind, shape
        assert drawing(look, rng.normal(size=shape)).startswith("<")
    assert look_of("m", rng.normal(size=(6, 40)), tuple(map(str, range(40)))).kind == "table"


def test_small_images_keep_their_mean_and_their_place():
    images = np.random.default_rng(0).random((10, 32, 32))
    assert np.isclose(shrunk(images, 8).mean(), images.mean())
    look = look_of("m", images, None)
    sheet = sprite(look, images, budget=10 * 64)
    assert (sheet["side"], sheet["tall"], sheet["across"]) == (8, 8, 4)


def test_a_number_that_the_rows_do_not_give_is_a_dash():
    assert number_words(Estimate(float("nan"))) == "–"
    assert number_words(Estimate(0.5)) == "≈ 0.5"
