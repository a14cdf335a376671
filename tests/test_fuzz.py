"""Mutated files of every kind, a few of each; make fuzz reads a hundred thousand."""

import json
import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import latentry as lt

from hostile_files import KINDS, WORDS, outcome, page, rows_of, wrong

TRIES = {"h5ad": 2, "run folder": 6, "zarr": 6}  # 20 of the others


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.filterwarnings("ignore")  # of libraries, about what they read
def test_mutated_files_are_sentences(tmp_path, name):
    kind = KINDS[name](tmp_path)
    expected = kind.whole()
    assert outcome(kind, expected) == "read, same content"

    @given(st.integers(0, 2**32))
    @settings(max_examples=TRIES.get(name, 20), deadline=None, suppress_health_check=list(HealthCheck))
    def read(seed):
        kind.mutate(random.Random(seed))
        assert outcome(kind, expected) not in wrong(name)

    read()


def test_the_page_of_counts_is_read_as_it_was_written():
    counts = dict.fromkeys((*WORDS, "crash"), 0)
    rows = {"csv": {**counts, WORDS[0]: 12, WORDS[2]: 3}, "csv, guided by coverage": {**counts, WORDS[1]: 7}}
    assert rows_of(page(rows)) == rows
    assert "22 mutated inputs" in page(rows)


@pytest.mark.parametrize("name", ["certificate, fields", "manifest, fields"])
def test_a_guided_forger_makes_the_checksum_fit(tmp_path, name):
    """The checksum is no wall to what is behind it: a changed field is refused for what it is, not for its checksum."""
    kind = KINDS[name](tmp_path)
    expected = kind.whole()
    kind.place(kind.seed())
    assert outcome(kind, expected) == "read, same content"
    document = json.loads(kind.seed())
    document["another"] = "x"
    kind.place(json.dumps(document).encode())
    assert outcome(kind, expected) in ("refused with a sentence", "read, other content", "read, same content")
    document[next(key for key in document if key not in ("checksum", "another"))] = [1]
    kind.place(json.dumps(document).encode())
    with pytest.raises(lt.errors.LatentryError) as problem:
        kind.read()
    assert "checksum" not in str(problem.value)
    for content in (b"", b"[1]", b"\xff\x00", b'{"a": NaN}', b"[" * 100_000):
        kind.place(content)
        assert outcome(kind, expected) == "refused with a sentence"
