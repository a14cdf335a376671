"""The code of CONTRIBUTING.md, and the places that it names."""

import re

import numpy as np
import pytest

from latentry.certificate import PARTS
from latentry.certificate.audits import AUDITS
from latentry.certificate.subject import Settings, subject_of
from latentry.data import Dataset
from latentry.errors import DataError
from latentry.information.estimators import ESTIMATORS
from latentry.information.measure import mutual_information

from pages import ROOT, run_page

PAGES = ("CONTRIBUTING.md", "docs/adding-a-model.md", "docs/glossary.md", "README.md")


@pytest.fixture(scope="module")
def page():
    return run_page(ROOT / "CONTRIBUTING.md")


def test_the_estimator_agrees_with_the_closed_form(page, monkeypatch):
    """A Gaussian of correlation 0.75 has −½ ln(1 − 0.75²) nats; over 20,000 rows 0.05 is eight standard errors."""
    monkeypatch.setitem(ESTIMATORS, "rank", page["rank_answer"])
    rng = np.random.default_rng(0)
    x = rng.standard_normal((20_000, 1))
    y = np.exp(0.75 * x + np.sqrt(1 - 0.75**2) * rng.standard_normal((20_000, 1)))  # increasing maps change nothing
    wanted = -0.5 * np.log(1 - 0.75**2)
    answer = mutual_information(x, y, estimator="rank")
    assert abs(answer - wanted) < 0.05
    assert answer.low < answer < answer.high
    assert float(mutual_information(1e6 * x, y, estimator="rank", confidence=None)) == pytest.approx(float(answer))
    with pytest.raises(DataError, match="estimator='rank'"):
        mutual_information(x, y, x, estimator="rank")


@pytest.mark.parametrize(("rare", "status"), [(50, "certified"), (39, "refuted")])
def test_the_audit_gives_both_answers(page, rare, status):
    domain = np.repeat(["a", "b"], [100, rare])
    data = Dataset(np.random.default_rng(0).normal(size=(len(domain), 3)), domain)
    part = page["domain_sizes"](subject_of(np.arange(len(domain)) % 2, data, Settings(epsilon=0.05)))
    assert part.verdict.status == status
    assert part.numbers["rows of the smallest domain"].value == rare
    assert (
        page["domain_sizes"](
            subject_of(np.arange(100) % 2, data.take(np.arange(100)).with_domain(None), Settings(0.05))
        )
        is None
    )


def test_every_part_has_its_audit_and_its_own_place_on_the_page():
    assert {name: audit.question for name, audit in AUDITS.items()} == PARTS
    assert sorted(audit.place for audit in AUDITS.values()) == list(range(1, len(AUDITS) + 1))


@pytest.mark.parametrize("name", PAGES)
def test_files_and_links_of_the_page_exist(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#]+)", text):
        assert "://" in link or ((ROOT / name).parent / link).exists(), link
    invented = ("ppca", "rank_correlation", "domain_sizes", "NAME")
    for path in re.findall(r"`((?:[a-z_]+/)+[\w-]*\.?\w*)`", text):
        if not any(word in path for word in invented):
            assert any((ROOT / place / path).exists() for place in ("", "src/latentry", "src")), path
