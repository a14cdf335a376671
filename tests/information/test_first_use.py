"""What a first user met: answers that must not mislead."""

import numpy as np

import latentry as lt


def test_a_variable_with_itself_has_no_upper_limit(rng):
    x = rng.normal(size=300)
    found = lt.mutual_information(x, x, estimator="ksg")
    assert found.high == np.inf
    assert "infinite" in found.warnings[0]


def test_measured_whole_numbers_are_not_labels_without_a_word(rng):
    x = rng.normal(size=400)
    found = lt.mutual_information(np.round(10 * x).astype(int), x + rng.normal(size=400))
    assert any("measured whole numbers" in words for words in found.warnings)
    labels = lt.mutual_information(rng.integers(0, 3, 400), x)
    assert not any("measured" in words for words in labels.warnings)


def test_auto_does_not_advise_what_it_did(rng):
    x = np.round(rng.normal(size=400), 1)
    found = lt.mutual_information(x, x + rng.normal(size=400))
    assert "ties were broken at random" in found.reason
    assert not any("use estimator='mixed'" in words for words in found.warnings)
