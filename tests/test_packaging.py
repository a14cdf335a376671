"""What is shipped and what it stands on: wheels, licences, exact versions, and no network."""

import datetime
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.utils import canonicalize_name

import latentry

from licences import closure, licence

ROOT = Path(__file__).resolve().parents[1]
PERMISSIVE = re.compile(r"\b(apache|mit|bsd|isc|psf|python software foundation|zlib|0bsd|mpl|mozilla)\b", re.IGNORECASE)
TEXT = (ROOT / "constraints.txt").read_text()
EXACT = {canonicalize_name(name) for name in re.findall(r"^([\w.-]+)==\S+$", TEXT, re.MULTILINE)}


def test_every_constraint_is_exact_and_none_is_missing():
    lines = [line for line in TEXT.splitlines() if line and not line.startswith("#")]
    assert len(EXACT) == len(lines), "each line is name==version"
    needed = set(closure("latentry", ("lint", "test"))) - {"latentry"}
    assert needed - EXACT == set()


def test_licences_are_listed_and_permissive():
    listed = dict(re.findall(r"^\| ([\w.-]+) \| (.+) \|$", (ROOT / "docs" / "licences.md").read_text(), re.MULTILINE))
    listed.pop("package")
    found = {package.metadata["Name"]: licence(package) for package in closure("latentry").values()}
    assert set(listed) == set(found), "python tools/licences.py > docs/licences.md"
    assert [name for name, words in listed.items() if not PERMISSIVE.search(words)] == []


def wheel(place, umask):
    """Build from a copy whose files have other times and modes."""
    place.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copyfile(ROOT / name, place / name)
    shutil.copytree(
        ROOT / "src", place / "src", ignore=shutil.ignore_patterns("__pycache__"), copy_function=shutil.copyfile
    )
    for path in place.rglob("*.py"):
        os.utime(path, (umask * 10**6, umask * 10**6))
    words = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(place / "out")]
    subprocess.run(words, cwd=place, check=True, capture_output=True, umask=umask)
    return next((place / "out").iterdir())


def test_two_builds_are_one_wheel(tmp_path):
    pytest.importorskip("hatchling")
    first, second = wheel(tmp_path / "a", 0o22), wheel(tmp_path / "b", 0o27)
    assert first.name == second.name
    assert hashlib.sha256(first.read_bytes()).digest() == hashlib.sha256(second.read_bytes()).digest()


# Every attempt to reach another machine, or to ask for its name, is an error in the child.
OFFLINE = """
import sys
def refuse(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "urllib.Request"):
        raise RuntimeError(f"{event} {arguments}")
sys.addaudithook(refuse)
import numpy as np
import latentry as lt
rng = np.random.default_rng(0)
x = rng.normal(size=(120, 3))
data = lt.Dataset({"a": x, "b": x + rng.normal(size=x.shape)}, domain=np.arange(120) % 2)
model = lt.VAE(latent_dim=1, hidden=(4,), epochs=1, validation=0.5, progress=False).fit(data)
model.save(sys.argv[1] + "/run")
lt.certify(lt.load(sys.argv[1] + "/run"), data, only=["fit", "informative"]).to_html(sys.argv[1] + "/report.html")
lt.mutual_information(x[:, 0], x[:, 1])
print("whole")
"""


def test_nothing_asks_for_the_network(tmp_path):
    words = [sys.executable, "-W", "ignore", "-c", OFFLINE, str(tmp_path)]
    apart = ["unshare", "-rn", *words]  # without any network at all, where that is allowed
    allowed = shutil.which("unshare") and subprocess.run(["unshare", "-rn", "true"], check=False).returncode == 0
    done = subprocess.run(apart if allowed else words, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "whole", done.stderr[-2000:]


# Citation File Format 1.2.0, of which the keys that a citation of software has; the whole schema was applied to the file by hand.
CITED = {
    *(
        "abstract",
        "authors",
        "cff-version",
        "commit",
        "contact",
        "date-released",
        "doi",
        "identifiers",
        "keywords",
        "license",
    ),
    *(
        "license-url",
        "message",
        "preferred-citation",
        "references",
        "repository",
        "repository-artifact",
        "repository-code",
    ),
    *("title", "type", "url", "version"),
}
ENTITY = {
    *("address", "alias", "city", "country", "date-end", "date-start", "email", "fax", "location", "name", "orcid"),
    *("post-code", "region", "tel", "website"),
}
PERSON = ENTITY - {"date-end", "date-start", "location", "name"} | {
    *("affiliation", "family-names", "given-names", "name-particle", "name-suffix")
}


def test_the_citation_is_valid_and_names_this_version():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    cited = yaml.load(text, yaml.BaseLoader)  # every scalar as it is written: 1.10 is no number here
    assert {"authors", "cff-version", "message", "title"} <= set(cited) <= CITED
    assert cited["cff-version"] == "1.2.0"
    assert cited.get("type", "software") in ("software", "dataset")
    for author in cited["authors"]:
        assert "name" in author or {"family-names", "given-names", "alias"} & set(author)
        assert set(author) <= (ENTITY if "name" in author else PERSON)
    assert all(
        isinstance(cited[key], str) and cited[key] for key in cited if key not in ("authors", "keywords", "identifiers")
    )
    if "date-released" in cited:
        datetime.date.fromisoformat(cited["date-released"])
    for key in set(cited) & {"url", "repository", "repository-code", "repository-artifact", "license-url"}:
        assert cited[key].startswith("https://"), key
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    assert cited["license"] == project["license"]
    assert cited["version"] == latentry.__version__
    assert latentry.__version__ in (ROOT / "docs" / "citation.md").read_text(encoding="utf-8")
