"""The audit of recovered mixings, on strengths made by hand."""

import json

import numpy as np
import pytest

import latentry as lt
from latentry.contracts import HasChannel, MixingSupport, PenalisesMixing
from latentry.data import GaussianChannel
from latentry.generators import sparse_law
from latentry.identifiability import sparsity
from latentry.identifiability.mixing_reading import share_latents

CYCLE = np.array([[0.8, 0.6, 0, 0], [0, 0.7, 0.7, 0], [0, 0, 0.6, 0.8], [0.5, 0, 0, 0.9]])


def test_known_supports_are_decided():
    assert sparsity(sparse_law(mixing="cyclic").support).verdict.certified
    chain = sparsity(sparse_law(mixing="chain").support)
    assert chain.verdict.refuted
    assert "leaves latent z1 open: latent z2 acts on every variable that it acts on" in chain.verdict.sentence
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
    assert sparsity(CYCLE, edge=0.1).companions[0] == ()
    assert sparsity(table, edge=0.1).companions[0] == (1, 2)
    assert sparsity(table, edge=0.1).verdict.refuted


def test_an_edge_begins_where_strengths_leave_a_gap():
    """Between 0.09 and 0.5 nothing: what lies below is no edge, though 0.09 is near 0.1. Without a gap 0.1 counts."""
    table = CYCLE.copy()
    table[0, 2] = table[1, 0] = table[3, 1] = table[3, 2] = 0.09
    found = sparsity(table)
    assert found.edge == pytest.approx(np.sqrt(0.09 * 0.3))
    assert found.accepted
    even = np.geomspace(0.02, 0.9, 16).reshape(4, 4)
    assert sparsity(even).edge == 0.1
    shifted = np.where(
        CYCLE > 0, 0.15 + 0.5 * CYCLE, 0.055
    )  # a gap of a factor of more than 2 within a fixed doubt of 4
    assert sparsity(shifted).accepted
    assert not sparsity(shifted, edge=0.1).accepted


def test_a_latent_in_one_variable_may_hide_others():
    table = np.array([[0.9, 0, 0, 0], [0, 0.7, 0.7, 0], [0, 0.6, 0, 0.5], [0, 0, 0.8, 0.5]])
    found = sparsity(table)
    assert found.pinned == (True,) * 4
    assert found.single == (0,)
    assert found.verdict.status == "cannot say"
    assert "latent z1 is seen in one variable only" in found.verdict.sentence
    assert "others may hide" in found.notes[0]


def test_a_staircase_shows_nothing():
    """Any law has a triangular explanation, so that one that was learned is no evidence; one that is known is."""
    stairs = np.array([[0.9, 0, 0, 0], [0.5, 0.7, 0, 0], [0, 0.6, 0.6, 0], [0, 0, 0.6, 0.6]])
    found = sparsity([stairs, stairs])
    assert found.staircase == (0, 1, 2, 3)
    assert found.verdict.refuted
    assert found.verdict.sentence == (
        "sparsity does not help here: the recovered mixing is a staircase, as some explanation of any data is; "
        "it leaves latent z4 open."
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
    assert "latent z4: pinned" in str(found)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: sparsity([]), "models: .* at least one"),
        (lambda: sparsity(CYCLE, edge=2), "edge=2: .* between 0 and 1"),
        (lambda: sparsity(CYCLE, stable=0), "stable=0:"),
        (lambda: sparsity(-CYCLE), "strengths of restart 0 .* finite"),
        (lambda: sparsity([CYCLE, CYCLE[:3]]), r"restart 1 has shape \(3, 4\) and restart 0 has \(4, 4\)"),
        (lambda: sparsity(lt.VAE()), "VAE: has no mixing"),
        (lambda: sparsity(lt.CGVAE()), "data=None: .* rows"),
    ],
)
def test_bad_input(call, sentence):
    with pytest.raises(lt.DataError, match=sentence):
        call()


class Fitted(PenalisesMixing):
    """A mixing, minus the log likelihood of each row, and what its edges cost."""

    def __init__(self, table, losses, price=0.0):
        self.table, self.losses, self.price = np.asarray(table, float), losses, price

    def mixing(self, data):
        return self.table

    def score_rows(self, data, y=None, *, seed=0):
        if self.losses is None:
            raise lt.DataError("a domain never seen")
        return -self.losses

    def penalised_rows(self, data):
        return self.losses + self.price


CYCLIC, OTHER = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]]), np.array([[1, 1, 1], [1, 0, 0], [1, 1, 0]])


@pytest.mark.parametrize(
    ("worse", "wobble", "price", "counts"),
    [
        (0.3, 0.1, 0.0, False),  # clearly worse
        (0.012, 0.01, 0.0, True),  # more than two standard errors, and slight: 0.015 is allowed for three columns
        (0.05, 1.0, 0.0, True),  # more than slight, and within two standard errors, 0.1
        (0.05, 0.1, 0.0, False),  # more than both
        (0.3, 0.1, -0.3, True),  # a worse likelihood for fewer edges is a rival
        (0.0, 0.1, 0.3, True),  # as good a likelihood at a higher price, with as many edges, is a rival
        (-0.3, 0.1, 0.0, True),  # a better one is
    ],
)
def test_restarts_that_ended_clearly_worse_do_not_count(rng, worse, wobble, price, counts):
    rows = lt.Dataset(rng.normal(size=(400, 3)), domain=np.arange(400) % 2)
    base = rng.normal(size=400)
    second = Fitted(OTHER, base + worse + wobble * (-1.0) ** np.arange(400), price)
    audit = sparsity([Fitted(CYCLIC, base), second], rows)
    assert audit.left_out == (not counts)
    expected = (
        "restarts find different mixings" if counts else "Of 2 restarts 1 ended worse or with more edges, and no second"
    )
    assert expected in audit.verdict.sentence
    assert audit.verdict.status == ("refuted" if counts else "cannot say")


DENSER = np.array([[1, 1, 1], [1, 1, 1], [1, 0, 1]])


def test_as_likely_with_more_edges_is_no_rival(rng):
    """Of explanations as likely as each other the sparsest is taken; a sparser one than the first is a rival."""
    rows = lt.Dataset(rng.normal(size=(400, 3)), domain=np.arange(400) % 2)
    base = rng.normal(size=400)
    sparse, dense = Fitted(CYCLIC, base), Fitted(DENSER, base)
    assert sparsity([sparse, dense], rows).left_out == 1
    assert sparsity([sparse, dense], rows).accepted
    assert sparsity([dense, sparse], rows).left_out == 0
    assert not sparsity([dense, sparse], rows).accepted


CHAIN = np.array([[0.6, 0.7, 0], [0, 0.7, 0.7], [0, 0, 0.9]])


@pytest.mark.parametrize(
    ("lost", "wobble", "accepted", "words"),
    [
        (0.0, 0.1, True, "pins all 3 latents, as structural diversity asks"),
        (0.008, 0.1, True, "structural diversity"),  # within two standard errors, 0.01
        (
            0.012,
            0.1,
            True,
            "structural diversity",
        ),  # more than that, and no more than two runs of a fit differ by: 0.015
        (0.018, 0.2, True, "structural diversity"),  # more than that, within two standard errors, 0.02
        (0.018, 0.1, False, "less likely by 0.018 ± 0.005 nats a row"),
        (-0.1, 0.1, True, "structural diversity"),
    ],
)
def test_fits_without_a_penalty_show_what_the_data_bear(rng, lost, wobble, accepted, words):
    """A chain is no evidence by its form; one that is as likely as any map, with fewer edges than a staircase, is."""
    rows = lt.Dataset(rng.normal(size=(400, 3)), domain=np.arange(400) % 2)
    base = rng.normal(size=400)
    loss = base + lost + wobble * (-1.0) ** np.arange(400)
    dense = [Fitted(np.ones((3, 3)), base), Fitted(np.ones((3, 3)), base + 1)]
    found = sparsity([Fitted(CHAIN, loss), Fitted(CHAIN, loss)], rows, free=dense)
    assert found.accepted == accepted
    assert words in found.verdict.sentence
    assert found.verdict.refuted != accepted
    alone = sparsity([Fitted(CHAIN, loss), Fitted(CHAIN, loss)], rows)
    assert not alone.accepted
    assert sparsity(dense[0], rows, free=dense[:1]).against is None  # not with itself


class Encoding(Fitted, HasChannel):
    """The same, with latents for each row."""

    def __init__(self, table, losses, latents):
        super().__init__(table, losses)
        self.latents = latents

    def channel(self, X, y=None):
        return GaussianChannel(self.latents, np.full_like(self.latents, 0.1))


def test_latents_that_no_fit_without_a_penalty_shares_are_refused(rng):
    """Fits without a penalty agree by about 0.98; as likely a pattern with latents farther from all of them is not borne."""
    rows = lt.Dataset(rng.normal(size=(400, 3)), domain=np.arange(400) % 2)
    base, z = rng.normal(size=400), rng.normal(size=(400, 3))

    def wobbled(by):
        return z + by * rng.normal(size=(400, 3))

    free = [Encoding(np.ones((3, 3)), base, wobbled(0.15)) for _ in range(3)]
    near, far = (sparsity([Encoding(CHAIN, base, wobbled(by))] * 2, rows, free=free) for by in (0.02, 0.5))
    assert near.accepted
    assert not far.accepted
    assert far.against.astray
    assert "do not bear this pattern: its latents agree by 0.8" in far.verdict.sentence
    other = CHAIN[:, [0, 1, 2]].copy()
    other[1, 0], other[0, 1] = 0.6, 0.0  # F1 0.8 with the chain
    pair = [Encoding(CHAIN, base, z), Encoding(other, base, wobbled(0.02))]
    agreeing = sparsity(pair, rows, free=free)  # on the latents, not on the edges
    assert agreeing.agreement == pytest.approx(0.8)
    assert agreeing.accepted
    without = sparsity(pair, rows, free=[Fitted(np.ones((3, 3)), base)])
    assert "restarts find different mixings (F1 0.80" in without.verdict.sentence
    assert share_latents(pair[0], pair[1:], rows, 0.9)
    assert not share_latents(pair[0], [*pair[1:], Encoding(CHAIN, base, wobbled(3))], rows, 0.9)
    assert not share_latents(pair[0], pair[1:], rows, np.nan)
    lost = [*free[:1], Encoding(np.ones((3, 3)), base + 1, rng.normal(size=(400, 3)))]  # far worse: not compared with
    assert np.isnan(sparsity([Encoding(CHAIN, base, z)] * 2, rows, free=lost).against.steady)


def test_a_whole_staircase_or_two_alike_are_refused_however_likely(rng):
    rows = lt.Dataset(rng.normal(size=(400, 3)), domain=np.arange(400) % 2)
    base = rng.normal(size=400)
    for table in (np.tril(np.ones((3, 3))), np.array([[0.9, 0.8, 0], [0.5, 0.5, 0.0], [0, 0, 0.9]])):
        assert not sparsity([Fitted(table, base)] * 2, rows, free=[Fitted(np.ones((3, 3)), base)]).accepted


def test_those_that_count_are_counted(rng):
    rows = lt.Dataset(rng.normal(size=(400, 3)), domain=np.arange(400) % 2)
    base = rng.normal(size=400)
    audit = sparsity([Fitted(CYCLIC, base), Fitted(OTHER, base + 1), Fitted(CYCLIC[:, [1, 2, 0]], base)], rows)
    assert "Of 3 restarts 1 ended worse or with more edges, the 2 that count agree." in audit.verdict.sentence
    assert "1 more ended worse or with more edges" in str(audit)
    assert "2 restarts, 1 left out" in audit.verdict.evidence["pinned latents"].method


def test_fits_that_cannot_score_the_rows_all_count(rng):
    rows = lt.Dataset(rng.normal(size=(400, 3)), domain=np.arange(400) % 2)
    assert sparsity([Fitted(CYCLIC, rng.normal(size=400)), Fitted(OTHER, None)], rows).left_out == 0
    assert sparsity([Fitted(CYCLIC, np.zeros(400)), Fitted(OTHER, np.ones(400))], rows.with_domain(None)).left_out == 0
