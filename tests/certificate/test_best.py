"""The most natural latent of the rows in a certificate, and how far other latents are from it."""

import json

import numpy as np
import pytest

import latentry as lt
from latentry.certificate.question import ABOVE_BEST, BESIDE_BEST, BEST_FOUND

SMALL = {"only": ["natural"], "epsilon": 0.1}


@pytest.fixture(scope="module")
def rows():
    """Both views tell one of three values; the left one also has a private one, which is what is certified."""
    rng = np.random.default_rng(0)
    z, private = rng.integers(0, 3, size=(2, 700))
    left = np.hstack([3 * np.eye(3)[z], 3 * np.eye(3)[private]]) + 0.2 * rng.normal(size=(700, 6))
    right = 3 * np.eye(3)[z] + 0.2 * rng.normal(size=(700, 3))
    return {"left": left, "right": right}, private


@pytest.fixture(scope="module")
def certificate(rows):
    return lt.certify(rows[1], rows[0], best=True, **SMALL)


def test_a_private_latent_is_far_from_the_most_natural_one(certificate):
    """The right view says nothing of it: its error is ln 3, and the sum of all errors is higher by 2 ln 3."""
    numbers = certificate["natural"].numbers
    assert numbers[BEST_FOUND].value < 0.15
    assert numbers[BESIDE_BEST].value == pytest.approx(np.log(3), abs=0.15)
    assert float(numbers[ABOVE_BEST]) == pytest.approx(2 * np.log(3), abs=0.4)
    said = [str(one) for one in certificate.statements if "most natural latent" in one.sentence]
    assert said == [
        "certified: The most natural latent that was learned from these rows has 3 values and redundancy errors of at most "
        f"{np.ceil(100 * numbers[BEST_FOUND].value) / 100:.2f} nats, the label of at most "
        f"{np.ceil(100 * numbers[BESIDE_BEST].value) / 100:.2f}."
    ]
    assert any("The label is less natural than it" in one.sentence for one in certificate.statements)


def test_all_bounds_hold_at_once(certificate):
    """Two latents, two modalities: each bound has a quarter of the level."""
    for name in (BEST_FOUND, BESIDE_BEST):
        assert certificate["natural"].numbers[name].confidence == pytest.approx(1 - 0.05 / 4)


def test_it_is_asked_for_and_the_default_says_how(rows, certificate):
    plain = lt.certify(rows[1], rows[0], **SMALL)
    assert not any("most natural" in one.sentence for one in plain.statements)
    assert any("best=True (--best)" in step for step in plain.next_steps)
    assert not any("best=True" in step for step in certificate.next_steps)
    assert certificate.settings["best"] is True
    assert "NaturalLatents" in certificate.methods


def test_it_is_read_back(certificate, tmp_path):
    certificate.to_json(tmp_path / "certificate.json")
    again = lt.Certificate.from_json(tmp_path / "certificate.json")
    assert [str(one) for one in again.statements] == [str(one) for one in certificate.statements]
    older = json.loads((tmp_path / "certificate.json").read_text())
    del older["settings"]["best"], older["checksum"]  # as certificates were before
    older["version"] = 3
    (tmp_path / "older.json").write_text(json.dumps(older))
    assert lt.Certificate.from_json(tmp_path / "older.json").statements


def test_rows_that_allow_no_fit_are_said(rows):
    views, private = rows
    copied = {"left": views["right"], "right": views["right"]}
    found = lt.certify(private, copied, best=True, **SMALL)
    assert any("was not learned: modalities 'left', 'right': copies" in note for note in found["natural"].notes)
    with pytest.raises(lt.DataError, match=r"best=True: is a question about one latent. Use natural.best"):
        lt.certify({"one": private, "other": private}, views, best=True, **SMALL)


def test_nothing_is_said_on_rows_that_repeat_each_other(rows):
    views, private = rows
    twice = {name: np.repeat(view[:350], 2, axis=0) for name, view in views.items()}
    found = lt.certify(np.repeat(private[:350], 2), twice, best=True, **SMALL)
    assert found["natural"].details["best"]
    assert not any("most natural" in one.sentence for one in found.statements)


def test_domains_are_judged_in_every_mixture(rows):
    """The label is the left view's private value in the second domain alone: there its error is ln 3, of all rows half of it."""
    views, private = rows
    domain = np.arange(len(private)) % 2
    shared = views["right"].argmax(axis=1)
    latent = np.where(domain == 1, private, shared)
    found = lt.certify(latent, lt.Dataset(views, domain=domain), best=True, **SMALL)
    assert found["natural"].numbers[BESIDE_BEST].value > 0.9
    said = [one.sentence for one in found.statements]
    assert any("has 3 values, in every mixture of the domains, redundancy errors of at" in line for line in said)


def test_domains_without_labels_are_said_to_be_pooled(rows):
    views, private = rows
    data = lt.Dataset(views, domain=np.linspace(0, 1, len(private))[:, None])
    said = [one.sentence for one in lt.certify(private, data, best=True, **SMALL).statements]
    assert any("learned from these rows, all domains together, has" in sentence for sentence in said)
