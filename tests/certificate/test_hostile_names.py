"""Pages drawn of hostile names: whatever a text says, a page shows it and does nothing that it asks for."""

import copy
import json
from html.parser import HTMLParser

import numpy as np
import pytest

import latentry as lt
from latentry.certificate.opening import Opening, OpeningTable
from latentry.html_text import escaped, whole_page

from browser import Browser, browser

HIT = "window.hit=1"
HOSTILE = {
    "script": f"<script>{HIT}</script>",
    "end of data": f"</script><script>{HIT}</script><!--",
    "handler": f'"><img src=x onerror="{HIT}">',
    "attribute": f"' onmouseover='{HIT}' x=\" onfocus={HIT} autofocus ",
    "ends of elements": "</title></style></text></svg></option></select></table></details>",
    "turned": "\u202egnp.\u2066exe\u2069\u200f",
    "unseen": "\x00\x1b[31m\x07\ud800",
    "long": "m" * 10_000,
    "long words": "word " * 2_000,
    "template": "${window.hit=1}{{7*7}}`",
}
EVERYTHING = " ".join(text for name, text in HOSTILE.items() if "long" not in name and name != "unseen") + "\x1b"

in_browser = [
    pytest.mark.skipif(browser() is None, reason="no Chromium found: install it (Debian: apt-get install chromium)"),
    # The child only moves two descriptors before it becomes the browser; it never runs JAX.
    pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning"),
]


class Disguised(int):
    """A whole number that is a text when it is shown."""

    def __str__(self):
        return EVERYTHING


class Elements(HTMLParser):
    """Every element with the names of its attributes."""

    def __init__(self, page):
        super().__init__()
        self.found = set()
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.found.add((tag, *sorted({name for name, _ in attributes} - {"selected", "hidden", "class"})))


def hostile_rows(text):
    """Rows of two laboratories in which every name that a user gives holds the text."""
    rng = np.random.default_rng(0)
    rows, name = 40, text.replace("/", "").replace(":", "")  # which names of modalities cannot hold
    place = rng.integers(0, 2, rows)
    image = rng.normal(size=(rows, 6, 6)) + place[:, None, None]
    table = rng.normal(size=(rows, 2))
    return lt.Dataset(
        {f"image {name}": image, f"table {name}": table},
        domain=[f"lab {k} {text}" for k in place],
        columns={f"table {name}": [f"first {text}", f"second {text}"]},
        factors={f"factor {text}": [f"level {k} {text}" for k in place]},
        rows=[f"row {i} {text}" for i in range(rows)],
    ), table


def page_of(text):
    data, latents = hostile_rows(text)
    opening = Opening(f"Opening {text}", text, (text,), (OpeningTable(text, (text, "b"), ((text, text),)),))
    return lt.certify(latents, data, only=["informative"]).to_html(title=f"Title {text}", opening=opening)


@pytest.fixture(scope="module")
def harmless():
    return Elements(page_of("harmless")).found


@pytest.mark.parametrize("kind", ["end of data", "handler", "attribute", "ends of elements", "turned", "unseen"])
def test_names_make_no_elements(kind, harmless):
    page = page_of(HOSTILE[kind])
    assert Elements(page).found <= harmless
    assert page.encode(), "a lone surrogate is written as a code"


def leaves(value, path=()):
    """Every text of plain data, by its place; keys too, as far as they are names."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from leaves(one, (*path, key))
    elif isinstance(value, list):
        for i, one in enumerate(value):
            yield from leaves(one, (*path, i))
    elif isinstance(value, str):
        yield path


def planted(record, paths, text):
    changed = copy.deepcopy(record)
    for path in paths:
        place = changed
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = text
    return changed


def is_read(record):
    try:
        return lt.Certificate.from_json(record) is not None
    except lt.DataError:
        return False


def test_every_text_of_a_certificate_is_escaped(certificate):
    """A few texts at a time are hostile; what is a word of a fixed list is refused when it is read."""
    record = {**certificate.to_dict(), "version": 3}  # which has no checksum
    record.pop("checksum")
    clean = Elements(lt.Certificate.from_json(record).to_html()).found
    free = [path for path in leaves(record) if is_read(planted(record, [path], EVERYTHING))]
    assert len(free) > 100
    apart = len(free) // 12 + 1  # texts that stand near each other come on different pages
    for first in range(apart):
        paths = free[first::apart]
        page = lt.Certificate.from_json(planted(record, paths, EVERYTHING)).to_html()
        assert Elements(page).found <= clean, paths


def test_counts_and_kinds_of_a_certificate_are_escaped(certificate):
    """Two places of the JSON that are no text when we write them."""
    shown = lt.Certificate.from_json(certificate.to_dict())
    clean = Elements(shown.to_html()).found
    part = next(part for part in shown.parts.values() if any(n.n for n in part.numbers.values()))
    number = next(n for n in part.numbers.values() if n.n)
    object.__setattr__(number, "n", Disguised(number.n))
    for row in shown["natural"].details["table"]:
        row["status"] = EVERYTHING
    assert Elements(shown.to_html()).found <= clean


@pytest.fixture(scope="module")
def certificate(planted_small):
    data, latent = planted_small
    return lt.certify(latent, data, only=["informative", "natural", "controls"])


@pytest.fixture(scope="module")
def planted_small(finite):
    from latentry.generators import finite_laws

    return finite(finite_laws.planted_natural(), 800)


def inert(page):
    """Nothing ran, nothing was fetched, and the page has only its own scripts."""
    assert page.value("window.hit") is None
    assert page.value("document.querySelectorAll('script:not([type])').length") <= 1
    assert page.value("document.querySelectorAll('img:not([alt]), iframe, object, embed, base, form').length") == 0
    assert [one for one in page.requests if not one.startswith(("file:", "data:", "blob:"))] == []
    assert page.problems == []


class TestBrowser:
    pytestmark = in_browser

    def test_hostile_names_are_read_and_not_run(self, tmp_path):
        with Browser(1200, 900) as chromium:
            self.read(chromium, tmp_path)

    def read(self, chromium, tmp_path):
        (tmp_path / "page.html").write_text(page_of(EVERYTHING), encoding="utf-8")
        chromium.open(tmp_path / "page.html")
        chromium.value(  # every row under the pointer, every colour and every axis
            "(() => { for (const s of document.querySelectorAll('select')) for (let i = 0; i < s.options.length; i++)"
            " { s.value = i; s.dispatchEvent(new Event('change')); }"
            " const r = document.getElementById('plot').getBoundingClientRect();"
            " for (let x = 0; x < r.width; x += 8) for (let y = 0; y < r.height; y += 8) document.getElementById('plot')"
            ".dispatchEvent(new MouseEvent('mousemove', {clientX: r.left + x, clientY: r.top + y})); })()"
        )
        inert(chromium)
        panel = chromium.text("#panel")
        assert HIT in panel, "the name is read"
        assert "\\u202e" in panel
        body = chromium.value("document.body.innerText")
        assert not {"\u202e", "\u2066", "\u200f"} & set(body)
        assert f"Title {HOSTILE['script']}" in chromium.text("h1")
        record = json.loads(chromium.value("document.getElementById('certificate').textContent"))
        assert HIT in next(iter(record["data"]["modalities"]))

    @pytest.mark.parametrize("kind", ["long", "long words"])
    def test_long_names_leave_the_page_its_width(self, kind, tmp_path):
        (tmp_path / "page.html").write_text(page_of(HOSTILE[kind]), encoding="utf-8")
        with Browser(1200, 900) as chromium:
            chromium.open(tmp_path / "page.html")
            inert(chromium)
            assert chromium.value("document.documentElement.scrollWidth") <= 1200

    def test_several_latents_with_hostile_names(self, tmp_path):
        data, latents = hostile_rows("x")
        found = lt.certify({f"a {EVERYTHING}": latents, f"b {EVERYTHING}": latents[::-1]}, data, only=["informative"])
        found.to_html(tmp_path / "beside.html", title=EVERYTHING)
        with Browser(1200, 900) as chromium:
            chromium.open(tmp_path / "beside.html")
            inert(chromium)
            assert HIT in chromium.value("document.body.innerText")

    def test_the_policy_stops_what_was_not_escaped(self, tmp_path):
        """As if a text had been forgotten: the browser refuses the script, the handler, the image and the frame."""
        image = f"<img src='http://example.org/x.png' onerror='{HIT}'>"
        forgotten = f"<p>{HOSTILE['script']}{image}<iframe src='data:text/html,x'></iframe>"
        page = whole_page("t", "", f"{forgotten}<p id=own>{escaped('<b>')}</p>", "document.title = 'ran';")
        (tmp_path / "page.html").write_text(page, encoding="utf-8")
        with Browser() as chromium:
            chromium.open(tmp_path / "page.html")
            assert chromium.value("window.hit") is None
            assert chromium.value("document.title") == "ran", "its own script runs"
            assert chromium.value("document.querySelector('img').naturalWidth") == 0
            assert sum("Content Security Policy" in one for one in chromium.problems) >= 3, chromium.problems
