"""The pages: what they link to, what the reference lists, the numbers of the README, and the site that is built of them."""

import inspect
import re
import subprocess
import sys
from functools import cache
from importlib import import_module
from urllib.parse import unquote, urlsplit

import pytest

from pages import DOCS, PAGES, ROOT, named

ROOMS = sorted(page.stem for page in (DOCS / "api").glob("*.md") if page.stem not in ("index", "command-line"))


@cache
def prose(path):
    """A page without its code."""
    return re.sub(r"^ *```.*?^ *```|`[^`\n]+`", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)


@cache
def anchors(path):
    """What a link into a page may name: its headings, as repositories and the site spell them, and anchors in HTML."""
    text = re.sub(r"^ *```.*?^ *```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = (re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", line) for line in re.findall(r"^#+ +(.*)$", text, re.MULTILINE))
    slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return slugs | set(re.findall(r'<a id="([^"]+)"', text))


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_links_lead_somewhere(page):
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if "://" in link:
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


def listed():
    """Yield the pages that tables of contents name."""
    for page in DOCS.rglob("*.md"):
        for table in re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            for entry in re.findall(r"^[^:\s].*$", table, re.MULTILINE):
                yield (ROOT / entry[1:] if entry.startswith("/") else page.parent / entry).with_suffix(".md")


def test_every_page_is_in_a_table_of_contents():
    missing = set(DOCS.rglob("*.md")) - set(listed()) - {DOCS / "index.md"}
    assert not missing, "name these in a toctree, of docs/index.md or of the page above them"


@pytest.mark.parametrize("room", ROOMS)
def test_the_reference_lists_every_public_name_of_a_room(room):
    door = import_module(f"latentry.{room}")
    text = (DOCS / "api" / f"{room}.md").read_text(encoding="utf-8")
    tables = set(re.findall(r"^   (\w+)$", text, re.MULTILINE))
    names = {name for name in door.__all__ if documented(getattr(door, name))}
    if room != "errors":
        assert names <= tables, f"list them in docs/api/{room}.md: {sorted(names - tables)}"
    assert tables <= set(door.__all__)


def documented(thing):
    """Whether the reference shows it: a class or function of ours, no constant and no alias of a type."""
    return (inspect.isclass(thing) or inspect.isfunction(thing)) and thing.__module__.startswith("latentry")


def test_every_room_with_a_door_for_users_is_in_the_reference():
    rooms = {path.parent.name for path in (ROOT / "src" / "latentry").glob("*/__init__.py")}
    assert rooms - {"cli"} <= set(ROOMS)


def comparison():
    """Yield peer, ours, ratio and table of each row of the README's comparison."""
    for line in (ROOT / "README.md").read_text(encoding="utf-8").splitlines():
        row = re.fullmatch(r"\|.*\| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \| \[[^]]+\]\(([^)]+)\) \|", line)
        if row:
            yield pytest.param(*row.groups(), id=line.split("|")[1].strip())


@pytest.mark.parametrize(("peer", "ours", "ratio", "table"), list(comparison()))
def test_numbers_of_the_readme_are_those_of_the_tables(peer, ours, ratio, table):
    text = (ROOT / table).read_text(encoding="utf-8")
    for number in (peer, ours):
        assert re.search(rf"(?<![\d.]){re.escape(number)}(?![\d]|\.\d)", text), number
    ends = (float(peer) / float(ours), float(ours) / float(peer))
    assert any(abs(end - float(ratio)) <= 0.06 * max(end, 1) for end in ends)


def test_the_readme_also_says_where_a_peer_wins():
    assert sum(float(row.values[2]) < 1 for row in comparison()) >= 2


def test_the_readme_names_the_version_of_every_peer():
    rows = re.findall(
        r"^\|(.*)\| \[[^]]+\]\([^)]+\) \|$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    peers = [row.split("|")[2].strip() for row in rows]
    assert len(peers) >= 12
    assert [peer for peer in peers if not re.search(r"\d\.\d", peer)] == []


def broken(site):
    """Links of built pages, by page, whose page or anchor is not in the site."""
    anchors = {page: set(re.findall(r'\b(?:id|name)="?([^"\s>]+)', text)) for page, text in site.items()}
    found = []
    for page, text in site.items():
        for link in re.findall(r'<a\b[^>]*?\bhref="([^"]+)"', text):
            address = urlsplit(link)
            if address.scheme or "_sources" in address.path:
                continue
            target = (page.parent / unquote(address.path)).resolve() if address.path else page
            missing = target not in site and not target.exists()
            if missing or (target in site and address.fragment and unquote(address.fragment) not in anchors[target]):
                found.append(f"{page.name}: {link}")
    return found


@pytest.mark.parametrize("page", [*PAGES, ROOT / "CHANGELOG.md"], ids=named)
def test_outside_addresses_are_well_formed(page):
    for address in outside(page):
        parts = urlsplit(address)
        assert parts.scheme == "https", address
        assert re.fullmatch(r"([a-z0-9-]+\.)+[a-z]{2,}", parts.netloc), (
            f"{address}: a host in lower case, without a port or a user"
        )
        assert re.fullmatch(r"[\w.~!$&'()*+,;=:@%/-]*", parts.path), address
        assert "//" not in parts.path, address


def test_each_outside_address_is_spelled_in_one_way():
    """Two spellings of one page, with a last stroke, www or other capitals, are two pages to whoever checks or counts them."""
    spellings = {}
    for page in (*PAGES, ROOT / "CHANGELOG.md", *sorted((ROOT / "benchmarks" / "results").glob("*.md"))):
        for address in outside(page):
            plain = re.sub(r"^https?://(www\.)?", "", address.split("#")[0]).rstrip("/").lower()
            spellings.setdefault(plain, set()).add(address.split("#")[0])
    assert {plain: seen for plain, seen in spellings.items() if len(seen) > 1} == {}


def outside(page):
    """Addresses that a page links to, without those inside its code."""
    text = re.sub(r"^ *```.*?^ *```|`[^`\n]+`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return re.findall(r"\bhttps?://[^\s)>\]\"'|]+", text)


@pytest.mark.long
def test_the_site_is_built_without_a_warning_and_read_without_a_network(tmp_path):
    """Notebooks are not run here: `make docs` does."""
    pytest.importorskip("myst_nb")
    options = [
        "-q",
        "-W",
        "--keep-going",
        "-b",
        "html",
        "-c",
        "docs",
        "-d",
        str(tmp_path / "trees"),
        "-D",
        "nb_execution_mode=off",
    ]
    made = subprocess.run(
        [sys.executable, "-m", "sphinx", *options, ".", str(tmp_path / "html")],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert made.returncode == 0, made.stderr[-3000:]
    home = (tmp_path / "html" / "docs" / "index.html").read_text(encoding="utf-8")
    assert "which-model.html" in home
    maths = (tmp_path / "html" / "docs" / "theory" / "mixtures.html").read_text(encoding="utf-8")
    assert maths.count("<math") > 20
    site = {page.resolve(): page.read_text(encoding="utf-8") for page in (tmp_path / "html").rglob("*.html")}
    assert broken(site) == []
    for page, text in site.items():
        assert not re.search(r'<(script|link|img|iframe)[^>]+(src|href)="(https?:)?//', text), page.name
        for file in re.findall(r'<(?:script|link|img)[^>]+(?:src|href)="([^"#?:]+)', text):
            assert (page.parent / file).exists(), f"{page.name}: {file}"
