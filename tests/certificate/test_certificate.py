import json
import re

import numpy as np
import pytest

import latentry as lt
from latentry.certificate import SCHEMA, check
from latentry.certificate.citations import PAPERS, papers_for
from latentry.certificate.schema import CERTIFICATE

from wrong_kinds import wrong_documents


def test_json_there_and_back(certificate, tmp_path):
    certificate.to_json(tmp_path / "c.json")
    again = lt.Certificate.from_json(tmp_path / "c.json")
    assert again.to_dict() == certificate.to_dict()
    assert [p.name for p in tmp_path.iterdir()] == ["c.json"]
    json.loads(certificate.to_json(), parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    assert again.verdict.status == certificate.verdict.status


BROKEN = {
    "version": (lambda d: d.update(version=9), "the certificate, version: 9 is not 3 or 4"),
    "missing": (lambda d: d.pop("parts"), "the certificate: 'parts' is missing"),
    "no parts": (lambda d: d["parts"].clear(), "the certificate, parts: 0 parts, not 1 to"),
    "status": (
        lambda d: d["parts"][0]["verdict"].update(status="maybe"),
        r"parts\[0\].verdict.status: 'maybe' is not 'certified' or 'supported' or 'refuted'",
    ),
    "type": (lambda d: d.update(split=3), "the certificate, split: 3 is not an object"),
    "not finite": (lambda d: d["settings"].update(epsilon=float("nan")), "NaN is no number of JSON"),
    "table": (lambda d: part(d, "natural")["details"].update(table=[{}]), "its parts cannot be shown"),
    "deep": (lambda d: d["parts"][0]["details"].update(deep=nested(40)), "nested more than 32 deep"),
    "very deep": (lambda d: d["parts"][0]["details"].update(deep=nested(100_000)), "no plain data"),
}


def part(document, name):
    return next(one for one in document["parts"] if one["name"] == name)


def nested(levels):
    inner = []
    for _ in range(levels):
        inner = [inner]
    return inner


@pytest.mark.parametrize(("damage", "words"), BROKEN.values(), ids=BROKEN)
def test_a_damaged_certificate_is_refused_by_place(certificate, damage, words, resealed):
    document = json.loads(certificate.to_json())
    damage(document)
    with pytest.raises(lt.DataError, match=words):
        lt.Certificate.from_json(resealed(document))


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"format": NaN}', '{"a": 1, "a": 2}', '"\\ud800"', "9" * 5000, "[1e999]"]
)
def test_texts_that_break_readers_of_json_are_sentences(tmp_path, text):
    (tmp_path / "x.json").write_text(text)
    with pytest.raises(lt.DataError, match=r"x\.json"):
        lt.Certificate.from_json(tmp_path / "x.json")


def test_numbers_that_were_changed_are_found_when_they_are_read(certificate, tmp_path):
    """A digit of a number is another in 60 places: the checksum is wrong in all of them."""
    text = certificate.to_json()
    numbers = [found.start() for found in re.finditer(r"(?<=\d\.\d)\d", text)]
    for place in numbers[:: max(1, len(numbers) // 60)]:
        changed = text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1 :]
        (tmp_path / "c.json").write_text(changed)
        with pytest.raises(lt.DataError, match=r"c\.json"):
            lt.Certificate.from_json(tmp_path / "c.json")
    document = json.loads(text)
    del document["checksum"]
    with pytest.raises(lt.DataError, match="checksum: it is not that of the other fields"):
        lt.Certificate.from_json(document)


def test_every_field_refuses_every_wrong_kind(certificate):
    document = json.loads(certificate.to_json())
    document |= {"parts": [part(document, "natural")], "statements": document["statements"][:2]}
    kept = document["parts"][0]
    for name, count in {"claims": 1, "numbers": 60}.items():  # bounds and estimates
        kept[name] = dict(list(kept[name].items())[::-1][:count])
    kept["numbers"] = {one["kind"]: one for one in kept["numbers"].values()}
    kept["details"] = {"table": [{}], "epsilon": 0.1}
    tried = 0
    for place, kind, wrong in wrong_documents(document, SCHEMA):
        with pytest.raises(lt.DataError) as refused:
            CERTIFICATE.require(wrong, "c.json")
        assert f"c.json, {place}" in str(refused.value) or not place, kind
        tried += 1
    assert tried > 500


def test_certificates_of_version_3_have_no_checksum_and_are_read(certificate):
    document = json.loads(certificate.to_json())
    del document["checksum"]
    again = lt.Certificate.from_json({**document, "version": 3})
    assert again.to_dict() == certificate.to_dict()


def test_files_that_are_no_certificates(tmp_path):
    (tmp_path / "x.json").write_text("{")
    with pytest.raises(lt.DataError, match="no JSON"):
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


def test_a_forged_number_is_noticed(certificate, planted, made_again, resealed):
    data, latent = planted
    document = json.loads(certificate.to_json())
    natural = next(part for part in document["parts"] if part["name"] == "natural")
    name = next(iter(natural["numbers"]))
    natural["numbers"][name]["value"] = 0.5
    natural["verdict"]["status"] = "refuted"
    found = check(lt.Certificate.from_json(resealed(document)), latent, data)
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
def test_forgeries_are_noticed(certificate, planted, made_again, forge, resealed):
    data, latent = planted
    document = json.loads(certificate.to_json())
    assert check(lt.Certificate.from_json(resealed(document)), latent, data).same
    forge(next(part for part in document["parts"] if part["name"] == "natural"))
    assert not check(lt.Certificate.from_json(resealed(document)), latent, data).same


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


def test_a_certificate_is_read_from_its_text_and_a_wrong_path_is_not_repeated_at_length(certificate):
    text = certificate.to_json()
    assert lt.Certificate.from_json(text).to_json() == text
    with pytest.raises(lt.DataError, match="the certificate: it is damaged, no JSON") as problem:
        lt.Certificate.from_json(text[:-1])
    assert len(str(problem.value)) < 300
    with pytest.raises(lt.DataError, match=r"x… \(100000 characters\): it could not be read") as problem:
        lt.Certificate.from_json("x" * 100_000)
    assert len(str(problem.value)) < 300


@pytest.mark.parametrize("name", ["{x}.json", "{}.json", "{0} of {1}"])
def test_a_certificate_may_be_in_a_file_whose_name_has_braces(certificate, tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    certificate.to_json(name)
    assert lt.Certificate.from_json(name).to_json() == certificate.to_json()
    with pytest.raises(lt.DataError, match="No such file"):
        lt.Certificate.from_json("other" + name)
