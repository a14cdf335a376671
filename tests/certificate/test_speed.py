"""What a certificate costs, counted in students and rows, and that threads change nothing but the time."""

import json
from dataclasses import dataclass

import numpy as np
import pytest

import latentry as lt
from latentry.certificate import Stage

pytestmark = pytest.mark.usefixtures("quick_students_in_module")


@pytest.fixture(scope="module")
def embedding():
    rng = np.random.default_rng(0)
    z = rng.standard_normal((300, 2))
    views = {name: np.tanh(z @ rng.standard_normal((2, 3))) + 0.1 * rng.standard_normal((300, 3)) for name in "ab"}
    return lt.Dataset(views, domain=rng.integers(0, 3, 300)), z


@dataclass(frozen=True)
class Watched:
    """A certificate, what its progress said, every lesson, and the rows of every test of neighbours with the part it served."""

    certificate: lt.Certificate
    said: list
    taught: list
    tested: list


@pytest.fixture(scope="module")
def watched(embedding):
    from latentry.natural.from_samples import judge

    data, z = embedding
    said, taught, tested = [], [], []
    teach, test = judge.teach, judge.neighbour_test

    def count_lesson(rows, block, fit, audit, seed):
        latent = np.asarray(rows.channel.sample(0))
        taught.append((block.name, latent.tobytes(), block.features.tobytes(), fit.tobytes()))
        return teach(rows, block, fit, audit, seed)

    def count_test(x, *rest, **named):
        tested.append((str(said[-1]), len(x)))
        return test(x, *rest, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judge, "teach", count_lesson)
        patch.setattr(judge, "neighbour_test", count_test)
        found = lt.certify(z, data, only=["natural", "controls", "fit"], progress=said.append)
    return Watched(found, said, taught, tested)


def test_every_student_is_fitted_once(watched):
    """One for each block in each domain and in all rows, which serves mixtures and pool; one for each control."""
    blocks, domains = 2, 3
    controls = blocks + 5  # permuted modalities, a coin, a row number, a hash, a constant, a copy
    assert len(watched.taught) == blocks * (domains + 1) + controls
    assert len(set(watched.taught)) == len(watched.taught)
    assert any(name.endswith("all rows pooled, upper") for name in watched.certificate["natural"].numbers)


def test_the_tests_of_all_rows_serve_mixtures_and_pool(watched):
    ran = sorted(rows for part, rows in watched.tested if part == "natural")
    assert ran[-1] == 300
    assert len(ran) == 4
    assert sum(ran) == 600


@pytest.mark.parametrize("kind", ["numbers", "labels"])
def test_threads_change_nothing(embedding, kind, monkeypatch):
    data, z = embedding[0].take(np.arange(150)).with_domain(np.arange(150) % 2), embedding[1][:150]
    latents = z if kind == "numbers" else (z[:, 0] > 0).astype(int)
    records = []
    for threads in (1, 4):
        monkeypatch.setattr("latentry.threads.cores", lambda threads=threads: threads)
        record = json.loads(lt.certify(latents, data).to_json())
        records.append({name: value for name, value in record.items() if name not in ("made", "checksum")})
    assert records[0] == records[1]


def test_a_sample_of_the_rows_is_named():
    rng = np.random.default_rng(0)
    label = rng.integers(0, 2, 4600)
    rows = {"a": label.copy(), "b": np.where(rng.random(4600) < 0.05, 1 - label, label)}
    found = lt.certify(label, rows)
    assert not [note for note in found["natural"].notes if "Judged on" in note]  # tables of labels are counted whole
    assert "Measured on 1,000 of 4,600 rows" in " ".join(found["informative"].notes)
    assert "Run on 760 of 4,600 rows" in " ".join(found["controls"].notes)
    assert sum(found["natural"].details["rows"]) == 4600
    whole = lt.certify(label[:700], {name: column[:700] for name, column in rows.items()})
    assert not [note for note in whole["natural"].notes if "Judged on" in note]
    assert "Measured on all 700 rows" in whole["informative"].notes[0]


def test_progress_names_parts_and_says_how_much_is_left(watched):
    said = watched.said
    assert said == ["fit", "natural", "controls"]
    assert all(isinstance(stage, Stage) for stage in said)
    assert said[0].done == 0.0
    assert [b.done - a.done for a, b in zip(said, said[1:], strict=False)] == pytest.approx([s.own for s in said[:-1]])
    assert said[-1].left == pytest.approx(said[-1].own)
