from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA, FastICA

import latentry as lt
from latentry.certificate.audits.identifiable import with_refits
from latentry.certificate.subject import Settings, Subject
from latentry.contracts import HasChannel, HasGraph
from latentry.evidence import Assumption, Verdict, assumptions_in_words
from latentry.generators import finite_laws


def test_a_natural_latent_is_certified_in_every_mixture(certificate):
    part = certificate["natural"]
    assert part.verdict.certified
    assert set(part.claims) == {"domain 0", "domain 1", "each domain", "every mixture", "all rows pooled"}
    assert "in every mixture" in part.verdict.sentence
    assert certificate.reached("mixtures")
    assert {row["place"] for row in part.details["table"]} == {
        "domain 0",
        "domain 1",
        "every mixture",
        "all rows pooled",
    }
    assert certificate.trusted
    assert certificate["controls"].verdict.certified


def test_failure_that_only_domains_show_is_refuted(finite):
    data, latent = finite(finite_laws.xor_across_domains(0.4, shared=True))
    part = lt.certify(latent, data, only=["natural"])["natural"]
    assert part.verdict.refuted
    assert part.claims["domain 0"].refuted
    assert part.claims["all rows pooled"].status != "refuted"
    assert any("seen only domain by domain" in note for note in part.notes)


@pytest.fixture(scope="module")
def marked():
    """A coin told by both observables, each of which also shows the laboratory: natural in each, in no mixture."""
    rng = np.random.default_rng(0)
    lab, coin = rng.integers(0, 2, 6000), rng.integers(0, 2, 6000)
    codes = 2 * coin + lab
    return lt.Dataset({"left": codes[:, None], "right": codes[:, None]}, domain=lab), coin


def test_a_domain_that_marks_its_rows_ends_the_answer_at_the_domains(marked):
    """Given coin and laboratory both observables are constant; given the coin alone they share the log 2 of the laboratory."""
    data, coin = marked
    found = lt.certify(coin, data, only=["natural"])
    part = found["natural"]
    assert part.verdict.certified
    assert "in each of the 2 domains" in part.verdict.sentence
    assert "With the domains mixed it is not: the domain changes several of them at once" in part.verdict.sentence
    assert part.claims["all rows pooled"].refuted
    assert found.reached("natural")
    assert not found.reached("mixtures")
    size = float(part.verdict.sentence.rpartition("≥ ")[2].rstrip(")."))
    assert 0.6 < size < np.log(2)


def test_each_node_has_its_answer(marked):
    """Of two nodes one is told by both observables, the other is private to one of them."""
    data, coin = marked
    rng = np.random.default_rng(1)
    private = rng.integers(0, 2, len(coin))
    rows = lt.Dataset({"left": coin[:, None], "right": (2 * coin + private)[:, None]}, domain=data.domain)
    nodes = {"shared": np.eye(2)[coin], "private": np.eye(2)[private]}
    part = lt.certify(Nodes(nodes), rows, only=["natural"])["natural"]
    assert part.verdict.certified
    assert part.verdict.sentence.startswith("node shared is natural")
    assert part.details["lines"] == ["the cluster", "node private"]
    assert part.claims["node private"].refuted
    assert part.claims["node private"].sentence.endswith(
        "By itself left may leave nearly all of it open, right tells it."
    )


class Nodes(HasChannel, HasGraph):
    """A model as the certificate sees one that has nodes and nothing else."""

    name, graph_ = "nodes", None

    def __init__(self, nodes):
        self.nodes = nodes

    def node_probabilities(self, data, y=None):
        return self.nodes

    def channel(self, data, y=None):
        one, two = self.nodes.values()
        return lt.CategoricalChannel((one[:, :, None] * two[:, None]).reshape(len(one), -1))


def test_leaked_noise_is_refuted(finite):
    data, latent = finite(finite_laws.leaked_noise())
    part = lt.certify(latent, data, only=["natural"])["natural"]
    assert part.verdict.refuted
    assert "redundancy" in part.verdict.sentence


@pytest.mark.usefixtures("quick_students")
def test_embeddings_of_another_tool(curved):
    rows = np.asarray(curved["x"])
    blocks = {"left": [0, 1, 2], "right": [3, 4, 5]}
    for tool in (PCA(1), FastICA(1, random_state=0, whiten="unit-variance")):
        latents = tool.fit(rows[:100]).transform(rows)
        found = lt.certify(
            latents, curved, blocks=blocks, seen=np.arange(100), only=["informative", "natural", "controls"]
        )
        assert found.split["origin"] == "named"
        assert found.split["audited"] == 200
        assert not found["natural"].verdict.certified  # continuous mediation never is
        assert found["informative"].numbers["I(Λ; left)"].low > 0.2
        assert found.trusted
        assert "plus Gaussian noise of 0.25" in found.subject["latent"]


def test_a_quantised_embedding_is_not_audited_on_the_rows_that_defined_it(curved):
    latents = PCA(1).fit_transform(np.asarray(curved["x"]))
    found = lt.certify(latents, curved, quantiser=3, only=["informative"])
    assert found.split["audited"] == 240
    assert found.subject["values"] == 3


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(1000, 2)) @ rng.normal(size=(2, 8)) + 0.1 * rng.normal(size=(1000, 8))
    training, fresh = lt.Dataset(rows, domain=np.arange(1000) % 2).split(0.6, 0.4)
    return lt.VAE(latent_dim=2, epochs=60, hidden=(16,), progress=False).fit(training), fresh


def test_a_model_is_scored_on_rows_it_has_not_seen(fitted):
    model, fresh = fitted
    found = lt.certify(model, fresh, only=["fit", "identifiable"], others=[model])
    fit = found["fit"]
    assert np.isclose(float(fit.numbers["held-out score"]), model.score(fresh), rtol=1e-6)
    assert fit.claims["better than independent Gaussian entries"].certified
    assert fit.claims["restarts agree"].status == "cannot say"
    assert "there is one fit" in fit.claims["restarts agree"].sentence  # given twice, it agrees with itself
    assert 0.5 < fit.numbers["reconstruction of x (R²)"].value < 1
    assert len(fit.details["history"]) == len(model.history_)
    assert "VAE assumes nothing that changes between domains" in found["identifiable"].verdict.sentence


def test_restarts_are_fitted_on_the_rows_of_the_fit(fitted):
    """Latents of a plain VAE turn freely, so that fits of other seeds do not agree."""
    model, _ = fitted
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(1000, 2)) @ rng.normal(size=(2, 8)) + 0.1 * rng.normal(size=(1000, 8))
    whole = lt.Dataset(rows, domain=np.arange(1000) % 2)
    said = []
    found = lt.certify(model, whole, only=["fit"], restarts=2, progress=said.append)
    assert found.split["origin"] == "set aside"
    assert said == ["restart 1 of 2", "restart 2 of 2", "fit"]
    assert "the 3 restarts" in found["fit"].claims["restarts agree"].sentence
    assert found.settings["restarts"] == 2
    assert not any("One fit" in note for note in found["fit"].notes)


@pytest.mark.long
def test_refits_test_what_is_untested_without_them(monkeypatch):
    """Fits are short: only the place of their answers matters."""
    rng = np.random.default_rng(0)
    u = np.repeat(np.arange(7), 120)
    data = lt.Dataset((rng.uniform(0.5, 3, size=(7, 2))[u] * rng.normal(size=(840, 2))) @ rng.normal(size=(2, 2)), u)
    quick = {"epochs": 6, "flow__blocks": 1, "flow__components": 2, "flow__optimiser": "adam", "progress": False}
    model = lt.IFlow().set_params(**quick).fit(data.split(0.5, 0.5)[0])
    monkeypatch.setattr("latentry.identifiability.refits.MOST_DOMAINS", 1)
    plain = lt.certify(model, data, only=["identifiable"])["identifiable"].claims["sufficient changes"]
    asked = {one.name: one for one in plain.assumptions if "refits=True" in one.note}
    assert set(asked) == {"one mixing serves all domains", "there are as many latents as the model has"}
    assert all(one.outcome == "untested" for one in asked.values())
    said = []
    found = lt.certify(model, data, only=["identifiable"], refits=True, progress=said.append)
    assert [phrase[:20] for phrase in said[:-1]] == ["refit without domain"]
    assert found.settings["refits"] is True
    after = {one.name: one for one in found["identifiable"].claims["sufficient changes"].assumptions}
    assert after["one mixing serves all domains"].outcome != "untested"
    assert "invertible map" in after["there are as many latents as the model has"].note


def test_refits_need_a_model_and_its_rows(fitted):
    model, fresh = fitted
    with pytest.raises(lt.DataError, match="refits=True: latents made elsewhere"):
        lt.certify(model.transform(fresh), fresh, refits=True)
    with pytest.raises(lt.DataError, match="refits=True: the rows of the fit are not among these data"):
        lt.certify(model, fresh, refits=True)


@pytest.mark.parametrize("outcome", ["refuted", "not refuted"])
def test_a_refit_that_refutes_an_assumption_opens_the_verdict(outcome):
    number = Assumption("there are as many latents as the model has", "untested", note="refits=True")
    rest = Assumption("latents are independent", "not refuted", "correlations", 0.4)
    said = f"identifiable: yes. {assumptions_in_words([rest, number])}"
    verdict = Verdict("supported", said, {}, "more rows", assumptions=(rest, number))
    tested = Assumption(number.name, outcome, "fits with 1 and 3 latents", 0.01, 0.9, "3 latents: +0.4")
    subject = Subject(None, None, None, {}, Settings(0.05), refits=(tested,))
    after = with_refits(verdict, subject)
    assert after.status == ("cannot say" if outcome == "refuted" else "supported")
    assert after.assumptions == (rest, tested)
    assert "Untested" not in after.sentence
    assert ("3 latents: +0.4" in after.sentence) == (outcome == "refuted")


def test_restarts_of_the_fit_itself_are_told():
    rows = np.random.default_rng(0).normal(size=(200, 4))
    model = lt.VAE(latent_dim=1, epochs=2, hidden=(4,), restarts=2, validation=0.25, progress=False).fit(rows)
    numbers = lt.certify(model, rows, only=["fit"])["fit"].numbers
    least, largest = (float(numbers[f"{word} held-out loss of 2 restarts"].value) for word in ("least", "largest"))
    best = [min(r["held_out_loss"] for r in model.history_ if r["restart"] == k) for k in (0, 1)]
    assert (least, largest) == (min(best), max(best))


def test_shuffled_rows_score_no_better_than_gaussians(fitted):
    """The comparison can fail: a model of other features' order is refuted."""
    model, fresh = fitted
    turned = lt.Dataset(-3 * np.asarray(fresh["x"])[:, ::-1], domain=fresh.domain)
    assert lt.certify(model, turned, only=["fit"])["fit"].claims["better than independent Gaussian entries"].refuted


@pytest.mark.long
def test_identifiable_latents_are_supported_and_shuffled_domains_are_not():
    data = lt.generators.segments(domains=12, rows_per_domain=400, latents=2, layers=1, seed=1)
    training, fresh = data.split(0.5, 0.5)
    model = lt.IFlow().set_params(epochs=40, flow__blocks=2, flow__components=3, progress=False).fit(training)
    found = lt.certify(model, fresh, only=["identifiable", "controls"])
    assert found["identifiable"].verdict.status == "supported"
    assert found.reached("identifiable")
    assert "shuffled domains, identifiability" in found["controls"].claims
    assert found.trusted
    shuffled = fresh.with_domain(np.random.default_rng(0).permutation(fresh.domain.values))
    answer = lt.certify(model, shuffled, only=["identifiable"])["identifiable"].verdict
    assert answer.status in ("refuted", "cannot say")


def test_a_graph_is_tested_on_new_rows(collider):
    model, data = collider
    part = lt.certify(model, data, only=["causal"])["causal"]
    assert part.verdict.status == "not refuted"
    assert part.verdict.power > 0.99
    assert part.details["cpdag"]["compelled"] == [["A", "C"], ["B", "C"]]
    wrong = type(model)(edges=[("A", "B")])
    refuted = lt.certify(wrong, data, only=["causal"])["causal"].verdict
    assert refuted.refuted
    assert "dependence that the graph denies" in refuted.sentence


def test_a_constant_node_decides_nothing(collider):
    model, data = collider
    still = type(model)(edges=[("A", "C"), ("B", "C")])
    first, zeros = still.node_probabilities, lambda p: np.eye(2)[np.zeros(len(p), int)]
    still.node_probabilities = lambda *rows: {n: zeros(p) if n == "A" else p for n, p in first(*rows).items()}
    found = lt.certify(still, data, only=["causal"])["causal"].verdict
    assert found.status == "cannot say"
    assert "node A has one value" in found.sentence


def test_slips_get_a_sentence(collider):
    from sklearn.decomposition import PCA

    with pytest.raises(lt.DataError, match=r"only='natural': .*list of parts, such as \['natural'\]"):
        lt.certify(np.zeros(50), {"x": np.zeros((50, 1))}, only="natural")
    with pytest.raises(lt.DataError, match="latents=PCA: .* another library.*its latents"):
        lt.certify(PCA(1).fit(np.eye(50)), {"x": np.eye(50)})


def test_misfit_is_the_divergence_from_the_graph(collider):
    from latentry.certificate.audits.causal import misfit

    law = np.random.default_rng(0).dirichlet(np.ones(8)).reshape(2, 2, 2)
    model, _ = collider
    a, b, c = law.sum((1, 2)), law.sum((0, 2)), law / law.sum(2, keepdims=True)
    product = a[:, None, None] * b[None, :, None] * c
    assert np.isclose(misfit(model.graph_, law), (law * np.log(law / product)).sum(), atol=1e-12)
    assert misfit(model.graph_, product) < 1e-12


BAD = {
    "epsilon": (lambda data, z: lt.certify(z, data, epsilon=0), "epsilon=0: .*positive"),
    "epsilon of text": (lambda data, z: lt.certify(z, data, epsilon="a"), "epsilon='a': is no number"),
    "level of text": (lambda data, z: lt.certify(z, data, level="b"), "level='b': is no number"),
    "half a restart": (lambda data, z: lt.certify(z, data, restarts=0.5), "restarts=0.5: is no whole number"),
    "half a value": (lambda data, z: lt.certify(z, data, quantiser=2.5), "quantiser=2.5: is no whole number"),
    "seed of text": (lambda data, z: lt.certify(z, data, seed="s"), "seed='s': is no whole number"),
    "number of blocks": (lambda data, z: lt.certify(z, data, blocks=5), "blocks=5: 5 is no list"),
    "block of a number": (lambda data, z: lt.certify(z, data, blocks={"a": 5}), "blocks={'a': 5}: 5 is no list"),
    "number of parts": (lambda data, z: lt.certify(z, data, only=5), "only=5: is no list"),
    "large": (lambda data, z: lt.certify(z, np.asarray(data["x"]) * 1e200), "modality 'x': .*e.199 at row 0"),
    "large latents": (lambda data, z: lt.certify(z * 1e200, data), "latents: .*at row 0, latent 0.*overflow"),
    "level": (lambda data, z: lt.certify(z, data, level=0.7), "level=0.7: .*between 0 and 0.5"),
    "noise": (lambda data, z: lt.certify(z, data, noise=0), "noise=0: .*positive"),
    "rows": (lambda data, z: lt.certify(z[:50], data), "latents: .*50 rows, and 300 of data"),
    "nan": (lambda data, z: lt.certify(z * np.nan, data), "latents: not finite in row 0, latent 0"),
    "blocks": (lambda data, z: lt.certify(z, data, blocks=["y"]), "blocks: no modality is called 'y'"),
    "columns": (lambda data, z: lt.certify(z, data, blocks={"a": [9]}), "block 'a' names column 9, and there are 6"),
    "part": (
        lambda data, z: lt.certify(z, data, only=["naturel"]),
        "there is no part 'naturel'; did you mean 'natural'?",
    ),
    "all seen": (lambda data, z: lt.certify(z, data, seen=np.ones(300, bool)), "0 rows are left to audit"),
    "restarts": (lambda data, z: lt.certify(z, data, restarts=2), "latents made elsewhere cannot be fitted again"),
    "negative": (lambda data, z: lt.certify(z, data, restarts=-1), "restarts=-1: .*number of further fits"),
    "unfitted": (lambda data, z: lt.certify(lt.VAE(), data), "latents=VAE: is not fitted.*fit first"),
    "nothing": (lambda data, z: lt.certify(np.array([None] * 300), data), "row 0.*every row needs"),
    "strange": (lambda data, z: lt.certify(np.zeros((300, 2, 2)), data), "(300, 2, 2.*a channel, labels (rows,"),
}


@pytest.mark.parametrize(("call", "words"), BAD.values(), ids=BAD)
def test_bad_input_is_a_sentence(curved, call, words):
    with pytest.raises(lt.DataError, match="(?s)" + words.replace("(", r"\(").replace("?", r"\?")):
        call(curved, np.asarray(curved["x"])[:, :2])


def test_other_features_are_refused(curved):
    model = lt.VAE(epochs=1, hidden=(4,), progress=False).fit(curved)
    with pytest.raises(lt.DataError, match="3"):
        lt.certify(model, np.asarray(curved["x"])[:, :3])


def test_one_block_cannot_be_natural(curved):
    part = lt.certify(np.asarray(curved["x"])[:, :2], curved, only=["natural"])["natural"]
    assert part.verdict.status == "cannot say"
    assert "'x' is the only one" in part.verdict.sentence


def test_a_domain_that_is_too_small_leaves_the_pooled_answer(finite):
    data, latent = finite(finite_laws.planted_natural())
    small = np.where(np.arange(len(data)) < 2, 9, data.domain.values)
    part = lt.certify(latent, data.with_domain(small), only=["natural"])["natural"]
    assert part.verdict.status == "cannot say"
    assert any("Not judged domain by domain" in note for note in part.notes)


def test_coins_learned_by_heart_are_no_certified_fit():
    """The only thing to judge would be collapse, which says nothing of new rows."""
    coins = np.random.default_rng(0).integers(0, 2, size=(200, 10)).astype(float)
    model = lt.VAE(likelihood="bernoulli", epochs=2, hidden=(4,), validation=0.0, progress=False).fit(coins[:100])
    assert lt.certify(model, coins[100:], only=["fit"])["fit"].verdict.status != "certified"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"epsilon": np.inf}, "epsilon=inf: "),
        ({"quantiser": 3000}, "too few to place 3000 values"),
        ({"blocks": {"a": [0], "b": [0, 1]}}, "column 0 is in two blocks"),
    ],
)
def test_declarations_that_cannot_be_right(options, sentence):
    rows = np.random.default_rng(0).normal(size=(200, 3))
    try:
        said = lt.certify(rows[:, :2], lt.Dataset(rows), only=["natural"], **options)["natural"].verdict.sentence
    except lt.DataError as error:
        said = str(error)
    assert sentence in said


def test_groups_count_in_the_comparison_with_independent_entries():
    """Gains with mean 0 that groups share: 20 groups of 50 rows, 60 runs; 3 are expected, more than 12 under 1e-4."""
    from latentry.certificate.audits.fit import by_unit, gain_verdict

    whose, wrong = np.repeat(np.arange(20), 50), 0
    data = lt.Dataset(np.zeros((1000, 1)), groups=whose)
    for seed in range(60):
        rng = np.random.default_rng([4, seed])
        gain = rng.normal(size=20)[whose] + 0.1 * rng.normal(size=1000)
        wrong += gain_verdict(by_unit(gain, data), 0.05).certified
    assert wrong <= 12


def test_a_dataset_of_one_table_is_latents_that_its_names_pair(rng):
    """As a frame is by its index; text in its only column is labels, and names that the rows do not have are refused."""
    rows, order = rng.normal(size=(300, 3)), rng.permutation(300)
    names = [f"w{i}" for i in range(300)]
    data = lt.Dataset(rows, rows=names)
    latents = lt.Dataset(rows[order, :2], rows=[names[i] for i in order])
    audit = partial(lt.certify, data=data, only=["variables"])
    shown = audit(latents).shown.channel.mean
    np.testing.assert_array_equal(shown, audit(rows[:, :2]).shown.channel.mean)
    np.testing.assert_array_equal(shown, audit(lt.Dataset(rows[:, :2])).shown.channel.mean)  # by place: no names
    labels = lt.Dataset(pd.DataFrame({"kind": np.array(["a", "b", "c"])[order % 3]}), rows=latents.rows)
    assert audit(labels).shown.channel.most_likely.tolist() == (np.arange(300) % 3).tolist()
    together = audit({"two": latents, "kind": labels})
    np.testing.assert_array_equal(together["two"].shown.channel.mean, shown)
    with pytest.raises(lt.DataError, match=r"latents: has no row 'w0'"):
        audit(lt.Dataset(rows, rows=["q" + name for name in names]))
    with pytest.raises(lt.DataError, match=r"latents: hold a, b\. Give one array"):
        audit(lt.Dataset({"a": rows, "b": rows}))
