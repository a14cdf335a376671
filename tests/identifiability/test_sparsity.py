"""The audit of recovered mixings, on strengths made by hand."""

import json

import numpy as np
import pytest

import latentry as lt
from latentry.data import MixingSupport
from latentry.generators import sparse_law
from latentry.identifiability import sparsity

CYCLE = np.array([[0.8, 0.6, 0, 0], [0, 0.7, 0.7, 0], [0, 0, 0.6, 0.8], [0.5, 0, 0, 0.9]])


def test_known_supports_are_decided():
    assert sparsity(sparse_law(mixing="cyclic").support).verdict.certified
    chain = sparsity(sparse_law(mixing="chain").support)
    assert chain.verdict.refuted
    assert "leaves latent 0 open: latent 1 acts on every variable that it acts on" in chain.verdict.sentence
    dense = sparsity(sparse_law(mixing="dense").support)
    assert "sparsity does not help here" in dense.verdict.sentence
    assert dense.needed == (9, 9, 9, 9)  # 2n + 1, as without sparsity


def test_domains_that_suffice_count_the_latents_on_shared_variables():
    assert sparsity(MixingSupport(CYCLE > 0)).needed == (7, 7, 7, 7)
    alone = sparsity(MixingSupport(np.eye(3)))
    assert alone.needed == (3, 3, 3)


def test_a_learned_pattern_is_never_certified():
    found = sparsity(CYCLE)
    assert found.pinned == (True,) * 4
    assert found.verdict.status == "cannot say"
    assert "pins all 4 latents" in found.verdict.sentence
    assert "fit again from other seeds" in found.verdict.sentence
    again = sparsity([CYCLE, CYCLE[:, [2, 0, 1, 3]], 0.9 * CYCLE])
    assert again.agreement == 1
    assert again.verdict.status == "cannot say"
    assert "All 3 restarts agree" in again.verdict.sentence
    assert np.isin(again.frequency, (0, 1)).all()


def test_restarts_that_disagree_show_that_sparsity_does_not_help():
    other = np.array([[0.9, 0, 0, 0.5], [0.5, 0.5, 0.5, 0.5], [0, 0.9, 0.4, 0], [0.3, 0, 0.4, 0.8]])
    found = sparsity([CYCLE, other])
    assert found.verdict.refuted
    assert "restarts find different mixings" in found.verdict.sentence


def test_unclear_edges_count_for_neither_side():
    """An entry near the threshold may be an edge or none: what rests on it is not pinned."""
    table = CYCLE.copy()
    table[0, 2] = table[1, 0] = table[3, 1] = table[3, 2] = 0.09
    assert sparsity(CYCLE).companions[0] == ()
    assert sparsity(table).companions[0] == (1, 2)
    assert sparsity(table).verdict.refuted


def test_a_latent_in_one_variable_may_hide_others():
    table = np.array([[0.9, 0, 0, 0], [0, 0.7, 0.7, 0], [0, 0.6, 0, 0.5], [0, 0, 0.8, 0.5]])
    found = sparsity(table)
    assert found.pinned == (True,) * 4
    assert found.single == (0,)
    assert found.verdict.status == "cannot say"
    assert "latent 0 is seen in one variable only" in found.verdict.sentence
    assert "others may hide" in found.notes[0]


def test_a_staircase_shows_nothing():
    """Any law has a triangular explanation, so that one that was learned is no evidence; one that is known is."""
    stairs = np.array([[0.9, 0, 0, 0], [0.5, 0.7, 0, 0], [0, 0.6, 0.6, 0], [0, 0, 0.6, 0.6]])
    found = sparsity([stairs, stairs])
    assert found.staircase == (0, 1, 2, 3)
    assert found.verdict.refuted
    assert found.verdict.sentence == (
        "sparsity does not help here: the recovered mixing is a staircase, as some explanation of any data is; "
        "it leaves latent 3 open."
    )
    assert sparsity(MixingSupport(stairs > 0)).staircase == ()
    both_ways = np.array([[0.9, 0, 0], [0, 0.9, 0], [0, 0, 0.9], [0.5, 0.5, 0.5]])
    assert sparsity(both_ways).verdict.status == "cannot say"
    assert "staircase" in sparsity(both_ways).verdict.sentence
    assert sparsity(CYCLE).staircase == ()


def test_a_latent_that_no_variable_shows():
    found = sparsity(np.column_stack([CYCLE[:, :3], np.zeros(4)]))
    assert "no variable depends on it" in found.notes[3]
    assert not found.pinned[3]


def test_it_can_be_written_down():
    found = sparsity([CYCLE, CYCLE])
    text = json.loads(json.dumps(found.to_json(), default=str))
    assert text["support"] == (CYCLE > 0.1).tolist()
    assert text["verdict"]["status"] == "cannot say"
    assert "latent 3: pinned" in str(found)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: sparsity([]), "models: give at least one"),
        (lambda: sparsity(CYCLE, edge=2), "edge = 2: give a number between 0 and 1"),
        (lambda: sparsity(CYCLE, stable=0), "stable = 0"),
        (lambda: sparsity(-CYCLE), "strengths of restart 0 are no finite table"),
        (lambda: sparsity([CYCLE, CYCLE[:3]]), r"restart 1 has shape \(3, 4\) and restart 0 has \(4, 4\)"),
        (lambda: sparsity(lt.VAE()), "VAE has no mixing to read"),
        (lambda: sparsity(lt.CGVAE()), "data: give the rows"),
    ],
)
def test_bad_input(call, sentence):
    with pytest.raises(lt.DataError, match=sentence):
        call()


class Fitted:
    """A mixing, and how badly each row is explained."""

    def __init__(self, table, losses):
        self.table, self.losses = np.asarray(table, float), losses

    def mixing(self, data):
        return self.table

    def penalised_rows(self, data):
        return self.losses


def test_restarts_that_ended_clearly_worse_do_not_count(rng):
    rows = lt.Dataset(rng.normal(size=(400, 3)), domain=np.arange(400) % 2)
    cyclic, other = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]]), np.array([[1, 1, 1], [1, 0, 0], [1, 1, 0]])
    base, wobble = rng.normal(size=400), 0.1 * (-1.0) ** np.arange(400)
    good, stuck = Fitted(cyclic, base), Fitted(other, base + 0.3)
    again, as_good = Fitted(cyclic[:, [1, 2, 0]], base + wobble + 0.005), Fitted(other, base + wobble + 0.005)
    audit = sparsity([stuck, good, again], rows)
    assert (audit.first, audit.left_out, audit.agreement) == (1, 1, 1.0)
    assert audit.pinned == (True, True, True)
    assert "1 more ended clearly worse" in str(audit)
    assert "All 2 restarts agree" in audit.verdict.sentence
    rivals = sparsity([good, as_good], rows)  # two explanations of the same worth
    assert rivals.left_out == 0
    assert rivals.verdict.status == "refuted"
    assert "restarts find different mixings" in rivals.verdict.sentence
    alone = sparsity([good, stuck], rows)
    assert "no second one confirms it" in alone.verdict.sentence
