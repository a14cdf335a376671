"""The page as text: whole, self-contained, and small."""

import json
import re

import numpy as np
import pytest

import latentry as lt
from latentry.data import GaussianChannel

ROWS = 150


@pytest.fixture(scope="module")
def page(collider):
    model, data = collider
    return lt.certify(model, data.take(np.arange(ROWS)), only=["fit", "causal", "informative"]).to_html(
        title="a <b> & c"
    )


def embedded(page, name):
    return json.loads(
        re.search(rf"<script type=['\"]application/json['\"] id=['\"]{name}['\"]>(.*?)</script>", page, re.S)[1]
    )


def test_nothing_is_fetched(page):
    outside = re.findall(r"(?:src|href|url)\s*[=(]\s*[\"']?(?!data:|\$\{|#)(\w+:[^\"')>\s]*)", page)
    assert outside == []
    assert "a &lt;b&gt; &amp; c" in page


def test_the_record_is_inside(page):
    record = lt.Certificate.from_json(embedded(page, "certificate"))
    assert list(record.parts) == ["fit", "informative", "causal"]
    assert record.to_html(title="again").count("<section") >= 6  # a page without pictures of rows


def test_points_know_their_rows(page, collider):
    found = embedded(page, "points")
    data = collider[1].take(np.arange(ROWS))
    axis = np.array(found["axes"][0]["values"])
    assert np.allclose(axis, np.asarray(data["codes"])[:, 0])
    colours = {c["name"]: c for c in found["colours"]}
    assert {"cluster", "node A", "domain"} <= set(colours)
    assert colours["node C"]["codes"] == np.asarray(data["codes"])[:, 2].astype(int).tolist()
    assert found["sprites"][0]["name"] == "image"
    assert len(found["tables"][0]["values"]) == 3 * ROWS


def test_interventions_are_there_for_every_value(page):
    titles = re.findall(r"data-do=\"\d+\"[^>]*>([^<]*)<", page)
    assert titles == ["nothing set", *(f"do({n} = {v})" for n in "ABC" for v in (0, 1))]
    assert page.count("data-shows=") == 7


def test_text_from_the_data_cannot_become_code():
    rows = np.random.default_rng(0).normal(size=(60, 2))
    nasty = "</script><script>alert(1)</script>"
    data = lt.Dataset({"m": rows}, domain=[nasty, "b"] * 30, columns={"m": [nasty, "<img src=x>"]})
    page = lt.certify(rows[:, :1], data, only=["informative"]).to_html(title=nasty)
    assert "<script>alert" not in page
    assert "<img src=x>" not in page


def test_five_thousand_rows_stay_under_five_megabytes():
    rng = np.random.default_rng(0)
    data = lt.Dataset({"image": rng.random((5000, 28, 28, 3), dtype=np.float32), "curve": rng.random((5000, 100))})
    latents = GaussianChannel(rng.normal(size=(5000, 4)), np.ones((5000, 4)))
    page = lt.certify(latents, data, only=["fit"]).to_html()
    assert len(page.encode()) < 5e6


def test_holes_are_drawn():
    rng = np.random.default_rng(0)
    image = rng.random((80, 8, 8))
    image[::3] = np.nan
    data = lt.Dataset({"image": image, "t": rng.normal(size=(80, 2))})
    page = lt.certify(rng.integers(0, 2, 80), data, only=["informative"]).to_html()
    assert "Average row of each cluster" in page


def test_an_alarm_stands_at_the_top_when_controls_fail(certificate, resealed):
    document = certificate.to_dict()
    controls = next(part for part in document["parts"] if part["name"] == "controls")
    controls["verdict"] |= {
        "status": "refuted",
        "sentence": "this certificate cannot be trusted: a coin came out as if worth something.",
    }
    page = lt.Certificate.from_json(resealed(document)).to_html()
    assert page.index('role="alert"') < page.index('id="verdicts"')
    assert 'role="alert"' not in certificate.to_html()


def test_latents_that_a_part_asked_about_stand_under_it(certificate, resealed):
    """One line for each of several latents, and the parameters of physics with their errors."""
    document = certificate.to_dict()
    parts = {part["name"]: part for part in document["parts"]}
    spoken = parts["natural"]["verdict"] | {"status": "cannot say", "sentence": "it may be <private>.", "power": None}
    parts["natural"]["claims"]["node N1"] = spoken
    parts["natural"]["details"]["lines"] = ["node N1"]
    slope = {"modality": "curve", "parameter": "slope", "per": "cluster", "values": [[-0.2, 0.003], [0.5, None]]}
    parts["fit"]["details"]["physics"] = [slope]
    page = lt.Certificate.from_json(resealed(document)).to_html()
    box = page[page.index('id="verdicts"') : page.index("</section>", page.index('id="verdicts"'))]
    assert "It may be &lt;private&gt;." in box
    assert box.index(">natural<") < box.index("node N1") < box.index(">controls<")
    assert "-0.2 ± 0.003" in page
    assert "<td class=number>0.5</td>" in page
