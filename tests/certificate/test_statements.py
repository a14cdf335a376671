"""What a certificate says: sentences made from its numbers, and none that its numbers do not carry."""

import json
import re

import numpy as np
import pytest

import latentry as lt
from latentry.certificate.audits.explained_variance import bins, explained, jackknife_blocks, shared_entropy


def of_topic(certificate, topic):
    return [one for one in certificate.statements if one.topic == topic]


@pytest.fixture(scope="module")
def views():
    """Two views that share a coin, each with noise; a laboratory that shifts the left one."""
    rng = np.random.default_rng(5)
    coin, lab = rng.integers(0, 2, 900), rng.integers(0, 2, 900)
    left = 4.0 * coin[:, None] + rng.normal(size=(900, 3)) + 3.0 * lab[:, None]
    right = 4.0 * coin[:, None] + rng.normal(size=(900, 2))
    data = lt.Dataset(
        {"left": left, "right": right}, domain=np.array(["Oslo", "Rome"])[lab], columns={"right": ["weight", "length"]}
    )
    return data, coin, lab, rng


QUICK = ["variables", "informative", "domains"]


@pytest.fixture(scope="module")
def told(views):
    data, coin, _, _ = views
    return lt.certify(coin, data, only=QUICK)


def test_a_natural_latent_has_an_error_with_two_ends(certificate):
    whole = next(one for one in of_topic(certificate, "natural") if "naturality error" in one.sentence)
    assert whole.grade == "certified"
    assert 0.0 <= whole.low <= whole.high < 0.05
    assert whole.of == pytest.approx(np.log(2), abs=0.03)
    assert f"{np.ceil(100 * whole.high) / 100:.2f} nats" in whole.sentence  # a bound is rounded outwards


def test_other_thresholds_are_asked_afterwards(certificate):
    high = next(one for one in of_topic(certificate, "natural") if "naturality error" in one.sentence).high
    assert certificate.natural_within(1.01 * high)["Λ"].certified
    assert certificate.natural_within(0.5 * high)["Λ"].status == "cannot say"
    with pytest.raises(lt.DataError, match="epsilon=0"):
        certificate.natural_within(0)


def test_a_variable_says_what_it_moves(told):
    (sentence,) = (one.sentence for one in of_topic(told, "variable"))
    assert "2 values" in sentence
    assert "weight" in sentence
    assert "length" in sentence


def test_the_domain_shows_where_it_shows(views, told):
    data, coin, lab, _ = views
    told_of, beyond = of_topic(told, "domain")
    assert told_of.low == 0.0
    assert "No sign of the domain" in told_of.sentence
    assert beyond.low > 0.2  # the shifted view tells the laboratory
    leak = lt.certify(np.column_stack([coin + 2.0 * lab, coin]), data, only=["domains"])
    shows, _ = of_topic(leak, "domain")
    assert shows.low > 0.3
    assert "latent z1" in shows.sentence


def test_noise_is_called_worthless_and_is_not_quoted_as_anything_else(views):
    data, _, _, rng = views
    for latent in (rng.integers(0, 5, 900), rng.normal(size=(900, 2))):
        worthless = lt.certify(latent, data, only=QUICK)
        assert worthless.statements[0].topic == "worth"
        assert "worthless" in worthless.statements[0].sentence
        assert not of_topic(worthless, "information")
        assert "of any use" in worthless.may_not_say[0]


def test_copies_and_silent_nodes_are_said(collider):
    model, data = collider
    codes = np.asarray(data["codes"]).copy()
    codes[:, 1], codes[:, 2] = codes[:, 0], 0
    twins = lt.certify(model, lt.Dataset({"codes": codes, "image": np.asarray(data["image"])}), only=["variables"])
    assert any("copies of each other" in one.sentence for one in of_topic(twins, "dependence"))
    assert any("holds nothing" in one.sentence for one in of_topic(twins, "variable"))
    sound = lt.certify(model, data, only=["variables"])
    assert not any("copies" in one.sentence for one in sound.statements)


def test_what_a_model_doubts_is_carried_onto_the_page():
    class Doubting(lt.contracts.HasChannel, lt.contracts.HasDoubts):
        def channel(self, data, y=None):
            return lt.data.GaussianChannel(np.asarray(data["x"])[:, :1], np.ones((len(data), 1)))

        def doubts(self):
            return ("nodes N1 and N2 are copies.",)

    rows = lt.Dataset({"x": np.random.default_rng(0).normal(size=(80, 2))})
    certificate = lt.certify(Doubting(), rows, only=["variables"])
    assert any("nodes N1 and N2 are copies." in words for words in certificate.may_not_say)
    assert "nodes N1 and N2 are copies." in certificate.to_html()


def test_bounds_of_dependent_rows_are_not_quoted():
    rng = np.random.default_rng(0)
    coin = np.repeat(rng.integers(0, 2, 60), 20)
    rows = {"left": coin + 0, "right": coin + 0}
    certificate = lt.certify(coin, rows, only=["natural"])
    assert {one.grade for one in of_topic(certificate, "natural")} == {"cannot say"}
    assert not certificate.may_say
    assert certificate.natural_within(0.5)["Λ"].status == "cannot say"
    assert any("intervals hold" in words for words in certificate.may_not_say)


def test_nothing_may_be_said_where_a_control_failed(certificate, resealed):
    document = json.loads(certificate.to_json())
    controls = next(part for part in document["parts"] if part["name"] == "controls")
    controls["verdict"] |= {"status": "refuted", "sentence": "a coin came out as if worth something."}
    failed = lt.Certificate.from_json(resealed(document))
    assert failed.may_say == ()
    assert "a coin came out" in failed.may_not_say[0]
    controls["verdict"] |= {"status": "cannot say", "sentence": "controls of naturality could not be run."}
    unasked = lt.Certificate.from_json(resealed(document))
    assert not any("natural" in words for words in unasked.may_say)
    assert any("has 2 values" in words for words in unasked.may_say)
    assert "could not be run" in unasked.may_not_say[0]


def test_terminal_record_and_page_say_the_same(certificate):
    record, page, text = json.loads(certificate.to_json()), certificate.to_html(), str(certificate)
    for one in record["statements"]:
        assert one["sentence"] in text
        assert one["sentence"].replace("'", "&#x27;") in page
    order = [text.index(words) for words in (*record["may_say"], *record["may_not_say"])]
    assert order == sorted(order)
    assert len(str(certificate["fit"]).splitlines()) <= 4


def test_several_latents_are_compared_on_the_same_rows(planted):
    data, latent = planted
    rng = np.random.default_rng(1)
    both = lt.certify(
        {"planted": latent, "coin": rng.integers(0, 2, len(latent))}, data, only=["informative", "natural"]
    )
    pair = next(one for one in both.pairs if one.topic == "natural")
    assert pair.grade == "certified"
    assert pair.sentence.startswith("planted is more natural than coin")
    assert pair.low > 0.3
    assert both["planted"].split["rows"] == both["coin"].split["rows"]
    page = both.to_html()
    assert "planted" in page
    assert set(re.findall(r'href="#([^"]+)"', page)) <= set(re.findall(r'id="([^"]+)"', page))
    assert set(json.loads(both.to_json())["certificates"]) == {"planted", "coin"}
    with pytest.raises(lt.DataError, match="is none of those compared"):
        both["coins"]
    with pytest.raises(lt.DataError, match="1 were given"):
        lt.certify([latent], data)


def test_explained_variance_covers():
    """Intervals of 95 % hold the truth in 9 of 10 draws at least: 80 draws, so that 72 is 3.6 standard errors below 95 %."""
    held = 0
    for seed in range(80):
        rng = np.random.default_rng(seed)
        node = rng.integers(0, 3, 400)
        table = node[:, None] + rng.normal(size=(400, 1)) * np.sqrt(2.0)
        whole, _ = explained(node, table, jackknife_blocks(400, None, seed))
        held += whole.low <= 0.25 <= whole.high  # Var(node) = 2/3 of 2/3 + 2
    assert held >= 68


def test_shared_entropy_of_nothing_and_of_all():
    rng = np.random.default_rng(0)
    a, b, blocks = rng.integers(0, 3, 3000), rng.integers(0, 4, 3000), np.arange(3000) % 20
    assert shared_entropy(a, b, blocks).value < 0.01
    assert shared_entropy(b, b // 2, blocks).value == pytest.approx(1.0, abs=0.01)
    assert len(np.unique(bins(rng.normal(size=1000)))) == 10


def test_of_several_plans_for_rows_the_largest_is_given(certificate, resealed):
    document = json.loads(certificate.to_json())
    natural = next(part for part in document["parts"] if part["name"] == "natural")
    plans = [
        f"more rows, about {n} where there are 22 now, or a larger declared threshold" for n in ("460", "6,100", "90")
    ]
    natural["verdict"] |= {"status": "cannot say", "change": "; ".join([*plans, "another latent"])}
    step = next(words for words in lt.Certificate.from_json(resealed(document)).next_steps if "natural" in words)
    assert "6,100" in step
    assert "460" not in step
    assert "another latent" in step


def test_missing_rows_do_not_end_the_question_about_domains(views):
    data, coin, _, _ = views
    left = np.asarray(data["left"]).repeat(4, axis=1)
    left[:250] = np.nan
    holes = lt.Dataset({"left": left, "right": np.asarray(data["right"])}, domain=data.domain)
    _, beyond = of_topic(lt.certify(coin, holes, only=["domains"]), "domain")
    assert beyond.low > 0.1


def test_groups_of_unequal_size_tell_no_more_than_there_is():
    lab = np.repeat([0, 1], [1000, 100])
    groups = np.concatenate([np.repeat(np.arange(5), 200), np.repeat(np.arange(5, 55), 2)])
    rows = np.random.default_rng(0).normal(size=(1100, 2))
    told, _ = of_topic(lt.certify(lab, lt.Dataset(rows, domain=lab, groups=groups), only=["domains"]), "domain")
    assert told.high <= 1.05 * told.of


def test_a_coarser_variable_is_no_copy():
    a, blocks = np.random.default_rng(0).integers(0, 4, 2000), np.arange(2000) % 20
    assert shared_entropy(a, a > 1, blocks).value > 0.99
    assert shared_entropy(a, a > 1, blocks, of_larger=True).high < 0.6


def test_an_undecided_latent_is_not_called_determined():
    rng = np.random.default_rng(0)
    side = rng.normal(size=800)
    chance = 0.5 + 0.02 * np.sign(side)
    latent = lt.data.CategoricalChannel(np.column_stack([chance, 1 - chance]))
    rows = {"a": np.column_stack([side, rng.normal(size=800)]), "b": rng.normal(size=(800, 2))}
    certificate = lt.certify(latent, rows, only=["natural"])
    assert not any("determines" in one.sentence for one in certificate.statements)


def test_questions_about_one_model_are_not_asked_of_several(planted):
    data, latent = planted
    with pytest.raises(lt.DataError, match="questions about one model"):
        lt.certify({"a": latent, "b": latent}, data, restarts=2)


def test_rare_values_and_row_numbers():
    rng = np.random.default_rng(0)
    flag = (rng.random(1000) < 0.95).astype(float)
    assert len(np.unique(bins(flag))) == 2
    whole, _ = explained(np.arange(1000), rng.normal(size=(1000, 2)), np.arange(1000) % 20)
    assert (whole.low, whole.high) == (0.0, 1.0)


def test_a_weak_leak_of_the_domain_is_not_denied():
    rng = np.random.default_rng(11)
    lab = rng.integers(0, 2, 400)
    latents = rng.normal(size=(400, 2)) + lab[:, None]
    shows, _ = of_topic(lt.certify(latents, {"x": rng.normal(size=(400, 2))}, domain=lab, only=["domains"]), "domain")
    assert "shows in" in shows.sentence
    assert shows.low <= 0.19 <= shows.high  # by simulation, with the declared noise


def test_labels_of_many_values_share_nothing_by_chance():
    rng = np.random.default_rng(0)
    data = lt.Dataset(
        {"x": rng.integers(0, 30, 400)[:, None], "id": rng.integers(0, 100_000, 400)[:, None]},
        factors={"f": rng.integers(0, 30, 400)},
    )
    chance = lt.certify(rng.integers(0, 30, 400), data, only=["variables", "informative"])
    assert not of_topic(chance, "information")
    assert "No variable" in of_topic(chance, "factor")[0].sentence


def test_ends_of_a_statement_are_those_of_its_sentence():
    coin = np.random.default_rng(0).integers(0, 2, 600)
    other = np.random.default_rng(2).integers(0, 2, 600)
    found = lt.certify(coin, {"x": other, "y": coin.copy()}, only=["natural"])
    shows = next(one for one in found.statements if "determines" in one.sentence)
    assert shows.high < 0.1
    assert any("every modality shows" in words for words in found.may_not_say)
    assert not any("have in common" in words for words in found.may_not_say)


def test_sparse_latents_are_no_copies():
    rng = np.random.default_rng(0)
    seldom = rng.random(500) < 0.08
    pair = np.column_stack([seldom * rng.exponential(size=500), seldom * rng.exponential(size=500)])
    found = lt.certify(pair, {"x": pair[:, :1] + 0.0}, only=["variables"])
    assert not any("copies" in one.sentence for one in found.statements)


def test_a_contradicted_assumption_leaves_naturality_open_and_not_lost():
    rng = np.random.default_rng(5)
    coin = rng.integers(0, 2, 400)
    right = (coin + 0.3 * rng.normal(size=400))[:, None]
    left = np.where(coin == 1, np.nan, coin + 0.2 * rng.normal(size=400))[:, None]
    part = lt.certify(coin, {"left": left, "right": right}, only=["natural"])["natural"]
    assert part.details["table"]
    assert "status=" not in part.verdict.sentence
