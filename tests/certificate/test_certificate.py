import json
import re

import numpy as np
import pytest

import latentry as lt
from latentry.certificate import SCHEMA, check
from latentry.certificate.citations import PAPERS, papers_for


def test_json_there_and_back(certificate, tmp_path):
    certificate.to_json(tmp_path / "c.json")
    again = lt.Certificate.from_json(tmp_path / "c.json")
    assert again.to_dict() == certificate.to_dict()
    assert [p.name for p in tmp_path.iterdir()] == ["c.json"]
    json.loads(certificate.to_json(), parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    assert again.verdict.status == certificate.verdict.status


BROKEN = {
    "version": (lambda d: d.update(version=9), "the certificate: version is 9, where 3 is expected"),
    "no parts": (lambda d: d.pop("parts"), "the certificate: 'parts' is missing"),
    "status": (
        lambda d: d["parts"][0]["verdict"].update(status="maybe"),
        r"parts\[0\].verdict.status is 'maybe', where 'certified', 'supported', 'refuted'",
    ),
    "type": (lambda d: d.update(split=3), "the certificate: split is int, where object is expected"),
}


@pytest.mark.parametrize(("damage", "words"), BROKEN.values(), ids=BROKEN)
def test_a_damaged_certificate_is_refused_by_place(certificate, damage, words):
    document = json.loads(certificate.to_json())
    damage(document)
    with pytest.raises(lt.DataError, match=words):
        lt.Certificate.from_json(document)


def test_files_that_are_no_certificates(tmp_path):
    (tmp_path / "x.json").write_text("{")
    with pytest.raises(lt.DataError, match="is not JSON"):
        lt.Certificate.from_json(tmp_path / "x.json")
    with pytest.raises(lt.DataError, match="could not be read"):
        lt.Certificate.from_json(tmp_path / "none.json")


def test_the_schema_speaks_of_every_field(certificate):
    assert set(certificate.to_dict()) == set(SCHEMA["properties"])


@pytest.fixture
def made_again(certificate, planted, monkeypatch):
    """What `check` makes again is the certificate itself, since it comes out again; see the next test."""
    data, latent = planted

    def again(latents, rows, **options):
        assert latents is latent
        assert rows is data
        assert (options["epsilon"], options["level"], options["seed"]) == (0.05, 0.05, 0)
        assert options["only"] == tuple(certificate.parts)
        return certificate

    monkeypatch.setattr("latentry.certificate.recheck.certify", again)


def test_a_certificate_comes_out_again(certificate, planted):
    data, latent = planted
    found = check(certificate, latent, data)
    assert found.same
    assert found.compared > 10
    assert "came out again" in str(found)


def test_a_forged_number_is_noticed(certificate, planted, made_again):
    data, latent = planted
    document = json.loads(certificate.to_json())
    natural = next(part for part in document["parts"] if part["name"] == "natural")
    name = next(iter(natural["numbers"]))
    natural["numbers"][name]["value"] = 0.5
    natural["verdict"]["status"] = "refuted"
    found = check(lt.Certificate.from_json(document), latent, data)
    assert not found.same
    assert any(name in sentence for sentence in found.numbers)
    assert found.verdicts[0] == "natural: refuted then, certified now."


def test_other_data_are_refused(certificate, planted):
    data, latent = planted
    with pytest.raises(lt.DataError, match="made from other data"):
        check(certificate, latent[1:], data.take(np.arange(1, len(data))))


def test_citations_are_those_of_the_methods_used(certificate):
    keys = set(re.findall(r"@\w+\{(\w+),", certificate.citations()))
    assert {"latentry", "wentworth2025", "waudbysmith2024"} <= keys
    assert not keys & {"shah2020", "runge2018", "khemakhem2020", "friedman1999", "kingma2014"}


def test_every_paper_can_be_called_for():
    assert len({paper.key for paper in PAPERS}) == len(PAPERS)
    assert papers_for(["across many rows"]) == ()
    for paper in PAPERS:
        assert paper.bibtex().count("{") == paper.bibtex().count("}")


def test_parts_by_name(certificate):
    with pytest.raises(lt.DataError, match="has no part 'natur'; did you mean 'natural'?"):
        certificate["natur"]
    assert certificate.reached("natural")
    assert not certificate.reached("identifiable")
    answers = str(certificate).split("Answers:")[1].splitlines()
    assert [line.split()[0] for line in answers[1:-1]] == list(certificate.parts)


FORGERIES = {
    "a sentence": lambda part: part["verdict"].update(sentence="natural within 0.000001 nats."),
    "a direction": lambda part: next(iter(part["numbers"].values())).update(direction="exact", confidence=1.0),
    "claims": lambda part: part["claims"].clear(),
    "a note": lambda part: part["notes"].append("Judged on a million rows."),
    "an assumption": lambda part: part["verdict"]["assumptions"].clear(),
    "what would change it": lambda part: part["verdict"].update(change="nothing"),
    "a table": lambda part: part["details"]["table"].pop(),
    "evidence": lambda part: next(iter(part["verdict"]["evidence"].values())).update(value=1e-9),
}


@pytest.mark.parametrize("forge", FORGERIES.values(), ids=FORGERIES)
def test_forgeries_are_noticed(certificate, planted, made_again, forge):
    data, latent = planted
    document = json.loads(certificate.to_json())
    assert check(lt.Certificate.from_json(document), latent, data).same
    forge(next(part for part in document["parts"] if part["name"] == "natural"))
    assert not check(lt.Certificate.from_json(document), latent, data).same


def test_what_was_not_asked_is_not_relied_on(planted):
    data, latent = planted
    found = lt.certify(latent, data, epsilon=0.1, only=["natural"])
    assert found.verdict.status == "cannot say"
    assert "was left out" in found.verdict.sentence


def test_a_domain_called_every_mixture_is_a_domain(planted):
    data, latent = planted
    named = data.with_domain(np.where(np.arange(len(data)) % 2, "every mixture", "other"))
    found = lt.certify(latent, named, epsilon=0.1, only=["natural"])
    assert found.status("mixtures") == found["natural"].claims["every mixture"].status
    alone = lt.certify(latent, data.with_domain(None), epsilon=0.1, only=["natural"])
    assert not alone.reached("mixtures")
