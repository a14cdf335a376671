"""What certificates take on trust, and what they look at where no audit does."""

import numpy as np
import pytest

import latentry as lt

TRUST = "none of these rows had a part in making the latents"


def coin(rng, n=3000):
    label = rng.integers(0, 2, n)
    views = {name: np.where(rng.random(n) < 0.01, 1 - label, label) for name in "ab"}
    return label, views


def test_latents_from_elsewhere_are_taken_on_trust_and_the_sentence_says_so(rng):
    label, views = coin(rng)
    found = lt.certify(label, views, only=["natural"], epsilon=0.2)
    assert found["natural"].verdict.status == "certified"
    assert TRUST in found["natural"].verdict.sentence.split("Untested: ")[1]
    assert any("which rows had a part in making the label" in words for words in found.may_not_say)
    for seen in ([], np.arange(100)):
        named = lt.certify(label, views, only=["natural"], epsilon=0.2, seen=seen)
        assert TRUST not in named["natural"].verdict.sentence
        assert not any("had a part in making" in words for words in named.may_not_say)
    both = lt.certify({"one": label, "other": 1 - label}, views, only=["natural"], epsilon=0.2, seen=[])
    assert TRUST not in both["one"]["natural"].verdict.sentence


def test_copies_of_rows_of_counts_are_found_where_naturality_sees_one_label(rng):
    """Six columns of sixty levels are one label to an audit of naturality; each row four times, in random order."""
    views = {name: rng.integers(0, 60, size=(200, 6)) for name in "ab"}
    order = rng.permutation(np.repeat(np.arange(200), 4))
    copied = {name: view[order] for name, view in views.items()}
    found = lt.certify(rng.integers(0, 2, 200)[order], copied, only=["natural", "informative"], epsilon=0.3)
    assert found["natural"].verdict.status == "cannot say"
    assert found.may_say == ()


@pytest.mark.parametrize("rows", ["in turn", "copied"])
def test_rows_are_looked_at_where_no_other_part_does(rows, rng):
    """One table, a latent from elsewhere: nothing but the certificate itself asks whether rows depend on each other."""
    sound = rng.normal(size=(600, 3))
    dependent = np.repeat(sound[:150], 4, axis=0)
    if rows == "copied":
        dependent = rng.permutation(dependent).round(1)
    only = ["variables", "informative"]
    assert lt.certify(sound[:, :1], sound, only=only).may_say
    found = lt.certify(dependent[:, :1], dependent, only=only)
    assert found.may_say == ()
    assert "rows contradict" in found.may_not_say[0] or any("rows contradict" in one for one in found.may_not_say)
