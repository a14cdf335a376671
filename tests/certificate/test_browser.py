"""The report in a real browser, with the network off."""

import json

import numpy as np
import pytest

import latentry as lt

from browser import Browser, browser

pytestmark = [
    pytest.mark.skipif(
        browser() is None,
        reason="no Chromium found: install it (Debian: apt-get install chromium) to test the report in a browser",
    ),
    # The child only moves two descriptors before it becomes the browser; it never runs JAX.
    pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning"),
]


PARTS = ["variables", "fit", "identifiable", "informative", "domains", "causal"]


@pytest.fixture(scope="module")
def report(collider, tmp_path_factory):
    model, data = collider
    certificate = lt.certify(model, data.take(np.arange(150)), only=PARTS)
    path = tmp_path_factory.mktemp("page") / "report.html"
    certificate.to_html(path, title="A collider")
    return certificate, path


@pytest.fixture(scope="module")
def page(report):
    with Browser(1200, 900) as found:
        found.media()
        found.open(report[1])
        yield found


def point(page, number):
    """Where a row is drawn, in pixels of the window."""
    page.middle("#plot")
    return page.value(
        "(() => { const p = JSON.parse(document.getElementById('points').textContent), b = p.box;"
        " const at = (axis, low, high) => { const v = p.axes[axis].values, a = Math.min(...v), z = Math.max(...v),"
        f" m = 0.03 * (z - a); return low + (v[{number}] - a + m) / (z - a + 2 * m) * (high - low); }};"
        " const r = document.getElementById('plot').getBoundingClientRect(), k = r.width / b.width;"
        " return [r.left + k * at(0, b.left, b.right), r.top + k * at(1, b.bottom, b.top)]; })()"
    )


def test_the_verdicts_are_read(page, report):
    words = page.text("#verdicts")
    for name, part in report[0].parts.items():
        assert name in words.lower()
        assert part.verdict.sentence[1:60] in words
    assert page.text("h1") == "A collider"


def test_what_was_found_is_read_first(page, report):
    words, first = (
        page.value("document.getElementById('found').textContent"),
        page.value("document.querySelector('section').id"),
    )
    assert first == "found"
    for one in report[0].statements:
        assert one.sentence in words
    for sentence in report[0].may_not_say:
        assert sentence in page.text("#may-not")
    assert page.value("document.querySelector('#found a').hash") == "#grades"
    assert "nats" in page.text("#grades")
    assert page.value("document.querySelectorAll('#found .strip').length") >= 6  # two modalities of three nodes


def test_a_point_shows_its_row(page, collider):
    page.move(*point(page, 7))
    shown = page.text("#panel")
    same = np.asarray(collider[1]["codes"])[:150]
    row = int(shown.split("\n")[0].removeprefix("row ")) - 1  # rows with the same codes lie on one point
    assert (same[row] == same[7])[:2].all()
    assert page.value("document.querySelector('#panel [data-kind=image]').getBoundingClientRect().height") > 50
    assert "node A: " in shown


def test_colours_and_axes_can_be_chosen(page):
    before = page.value("document.getElementById('dots').innerHTML")
    for name, value in (("colour", 1), ("x-axis", 2)):
        page.value(
            f"(() => {{ const s = document.getElementById('{name}'); s.value = {value};"
            " s.dispatchEvent(new Event('change')); })()"
        )
        after = page.value("document.getElementById('dots').innerHTML")
        assert after != before
        before = after
    assert "latent z3" in page.value("document.getElementById('axes').textContent")


def test_an_intervention_is_chosen(page):
    assert page.value("document.querySelectorAll('[data-shows]:not([hidden])').length") == 1
    page.click("[data-do='2']")  # do(A = 1)
    assert page.value("document.querySelector('[data-shows]:not([hidden])').dataset.shows") == "2"
    assert page.value("document.querySelector('[data-do=\"2\"]').getAttribute('aria-pressed')") == "true"


def test_the_theme_switches(page):
    colour = "getComputedStyle(document.body).backgroundColor"
    light = page.value(colour)
    page.click("#theme")
    assert page.value(colour) != light
    page.click("#theme")
    assert page.value(colour) == light


def test_the_record_can_be_read_in_the_page(page, report):
    assert json.loads(page.value("document.getElementById('certificate').textContent")) == report[0].to_dict()


OVERLAPS = """(() => {
  const boxes = [...document.querySelectorAll('.chart text, .lt-graph text')].filter((t) => t.getBoundingClientRect().width)
    .map((t) => [t.closest('svg'), t.getBoundingClientRect(), t.textContent]);
  const bad = [];
  for (let i = 0; i < boxes.length; i++) for (let j = i + 1; j < boxes.length; j++) {
    const [s, a, x] = boxes[i], [t, b, y] = boxes[j];
    if (s === t && a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 3 && b.top < a.bottom - 3) bad.push([x, y]);
  }
  return bad;
})()"""


def test_no_words_lie_on_others(page):
    assert page.value(OVERLAPS) == []


def test_a_phone_needs_no_sideways_scrolling(report):
    with Browser() as page:
        page.size(390, 844, phone=True)
        page.open(report[1])
        assert page.value("document.documentElement.scrollWidth") <= 390
        assert page.value(OVERLAPS) == []
        for box in ("#verdicts", "#found"):
            size = f"parseFloat(getComputedStyle(document.querySelector('{box} p:not(.question):not(.note)')).fontSize)"
            assert page.value(size) >= 14


def test_printing_is_light_and_whole(report, tmp_path):
    with Browser() as page:
        page.media(kind="print", dark=True)
        page.open(report[1])
        assert page.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert page.value("getComputedStyle(document.getElementById('theme')).display") == "none"
        assert 1 <= page.printed(tmp_path / "page.pdf") <= 14
        assert page.value("[...document.querySelectorAll('#found details')].every((part) => part.open)")


def test_nothing_was_fetched_and_nothing_complained(page):
    assert [address for address in page.requests if not address.startswith(("file:", "data:", "blob:"))] == []
    assert page.problems == []
