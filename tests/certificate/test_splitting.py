import numpy as np
import pytest

import latentry as lt
from latentry.certificate.splitting import rows_to_audit, unseen_rows, without_trained_units

QUICK = {"epochs": 2, "hidden": (4,), "progress": False}


@pytest.fixture(scope="module")
def wide():
    rng = np.random.default_rng(0)
    return lt.Dataset(rng.normal(size=(600, 4)), domain=rng.integers(0, 3, 600))


def test_rows_that_were_set_aside_are_found_and_proved(wide):
    training, fresh = wide.split(0.8, 0.2, seed=7)
    model = lt.VAE().set_params(**QUICK, seed=7).fit(training)
    split = rows_to_audit(model, wide)
    assert split.origin == "set aside"
    assert wide.take(split.rows).fingerprint == fresh.fingerprint


def test_rows_of_the_fit_leave_what_it_held_out(wide):
    model = lt.VAE().set_params(**QUICK, seed=3, validation=0.2).fit(wide)
    split = rows_to_audit(model, wide)
    assert (split.origin, len(split.rows)) == ("validation", 120)
    assert "chose its epoch" in split.sentence
    # the very rows that the fit held out: its statistics come from the others
    others = np.setdiff1d(np.arange(600), split.rows)
    assert np.allclose(model.record_.statistics.shift["x"], np.asarray(wide["x"])[others].mean(axis=0))
    assert not np.allclose(model.record_.statistics.shift["x"], np.asarray(wide["x"]).mean(axis=0))


def test_other_rows_are_known_to_be_new(wide):
    training, fresh = wide.split(0.5, 0.5)
    model = lt.VAE().set_params(**QUICK).fit(training)
    split = rows_to_audit(model, fresh)
    assert (split.origin, len(split.rows)) == ("new", 300)
    split = rows_to_audit(lt.GaussianChannel(np.zeros((300, 2)), np.ones((300, 2))), fresh)  # of which nothing is known
    assert (split.origin, len(split.rows)) == ("trust", 300)
    assert "on trust" in split.sentence


def reversed_rows(data):
    return data.take(np.arange(len(data))[::-1])


DISGUISES = {
    "without the domain": lambda d: d.with_domain(None),
    "another domain": lambda d: d.with_domain(np.arange(len(d)) % 2),
    "another order": reversed_rows,
    "one row less": lambda d: d.take(np.arange(1, len(d))),
    "single precision": lambda d: lt.Dataset(np.asarray(d["x"], np.float32)),
    "half precision": lambda d: lt.Dataset(np.asarray(d["x"], np.float16).astype(float)),
    "four digits": lambda d: lt.Dataset(np.round(np.asarray(d["x"]), 4)),
    "some rounded": lambda d: lt.Dataset(np.where(np.arange(len(d))[:, None] % 2, d["x"], np.round(d["x"], 4))),
}


@pytest.mark.parametrize("disguise", DISGUISES.values(), ids=DISGUISES)
@pytest.mark.parametrize("shares", [(2 / 3, 1 / 3), (0.8, 0.2)])
def test_rows_of_the_fit_are_known_wherever_they_stand(wide, disguise, shares, tmp_path):
    training, fresh = wide.split(*shares, seed=11)
    model = lt.VAE().set_params(**QUICK, validation=0.0).fit(training)
    model.save(tmp_path / "run")
    for each in (model, lt.load(tmp_path / "run")):
        split = rows_to_audit(each, disguise(wide))
        assert split.origin == "set aside"
        audited = {tuple(row) for row in np.asarray(disguise(wide)["x"]).round(2)[split.rows]}
        assert not audited & {tuple(row) for row in np.asarray(training["x"]).round(2)}
        assert abs(len(split.rows) - len(fresh)) <= 1
    with pytest.raises(lt.DataError, match="every row of these data trained the model"):
        rows_to_audit(model, disguise(training))


def test_a_row_whose_modality_was_hidden_since_is_known():
    rng = np.random.default_rng(1)
    both = lt.Dataset({"a": rng.normal(size=(300, 3)), "b": rng.normal(size=(300, 5))})
    nodes = lt.CausalPIMA(nodes=(2,), latent_dim=2).set_params(**QUICK, validation=0.0, restarts=1)
    model = nodes.fit(both.take(np.arange(200)))
    half = lt.Dataset(both.values, observed={"a": np.arange(300) == 299})
    assert rows_to_audit(model, half).rows.tolist() == list(range(200, 300))


def test_numbers_that_single_precision_cannot_tell_apart_are_other_rows():
    stamps = 1.7e9 + np.arange(400.0)[:, None] * [1.0, 3.0]
    model = lt.VAE(latent_dim=1).set_params(**QUICK, validation=0.0).fit(stamps[::2])
    assert rows_to_audit(model, lt.Dataset(stamps[1::2])).origin == "new"


def test_held_out_rows_are_named_as_such(wide):
    model = lt.VAE().set_params(**QUICK, validation=0.2).fit(wide)
    split = rows_to_audit(model, reversed_rows(wide))
    assert (split.origin, len(split.rows)) == ("validation", 120)
    assert "chose its epoch" in split.sentence


def test_rows_that_repeat_are_not_taken_for_the_same():
    coins = np.random.default_rng(0).integers(0, 2, size=(400, 3)).astype(float)
    model = lt.VAE().set_params(**QUICK).fit(coins[:200])
    assert rows_to_audit(model, lt.Dataset(coins[200:])).origin == "trust"


def test_rows_that_repeat_are_left_out_as_often_as_they_trained_and_not_called_the_same():
    coins = np.random.default_rng(0).integers(0, 2, size=(1200, 3)).astype(float)
    model = lt.VAE().set_params(**QUICK).fit(coins[:200])
    split = rows_to_audit(model, lt.Dataset(coins[200:]))  # none of which the fit had
    assert (split.origin, len(split.rows)) == ("set aside", 800)
    assert "exactly" not in split.sentence


def test_a_certificate_on_trust_says_how_many_rows_equal_trained_ones(wide):
    model = lt.VAE().set_params(**QUICK, validation=0.0).fit(wide.take(np.tile(np.arange(300), 2)))
    split = rows_to_audit(model, wide.take(np.arange(400)))
    assert split.origin == "trust"
    assert "300 of 400 rows equal rows that trained" in split.sentence


def test_a_row_held_out_that_equals_a_trained_one_is_not_audited(wide):
    data = wide.take(np.append(np.arange(600), np.arange(50)))  # few rows come twice: an equal row is the same row
    model = lt.VAE().set_params(**QUICK, validation=0.2).fit(data)
    trained = np.setdiff1d(np.arange(650), model.record_.held_out)
    for rows in (data, reversed_rows(data)):
        split = rows_to_audit(model, rows)
        assert not np.isin(np.asarray(rows["x"])[split.rows, 0], np.asarray(data["x"])[trained, 0]).any()
    assert "held out and that equal no row that trained it" in rows_to_audit(model, data).sentence


def test_held_out_rows_that_equal_trained_ones_are_counted_where_rows_repeat(wide):
    twice = wide.take(np.tile(np.arange(600), 2))
    model = lt.VAE().set_params(**QUICK, validation=0.2).fit(twice)
    split = rows_to_audit(model, twice)
    values, held = np.asarray(twice["x"])[:, 0], model.record_.held_out
    equal = np.isin(values[held], np.delete(values, held)).sum()
    assert split.rows.tolist() == held.tolist()
    assert f"{equal} of them equal rows that trained it" in split.sentence


def test_of_equal_rows_those_of_every_domain_are_audited():
    rng, lab = np.random.default_rng(0), np.repeat([0, 1, 2], 300)  # sorted by domain, as files often are
    coins = (rng.random((900, 4)) < 0.5).astype(float)
    data = lt.Dataset(coins, domain=lab)
    training, _ = data.split(0.75, 0.25)
    split = rows_to_audit(lt.VAE().set_params(**QUICK).fit(training), data)
    assert (split.origin, len(split.rows)) == ("set aside", 225)
    assert np.bincount(lab[split.rows]).min() > 50


def test_nothing_is_left_when_every_row_trained(wide):
    with pytest.raises(lt.DataError, match="every row of these data trained the model: nothing is left to audit"):
        rows_to_audit(lt.VAE().set_params(**QUICK, validation=0.0).fit(wide), wide)


def test_too_few_rows_are_a_sentence(wide):
    small = wide.take(np.arange(100))
    with pytest.raises(lt.DataError, match="10 rows are left to audit, and at least 40 are needed"):
        rows_to_audit(lt.VAE().set_params(**QUICK).fit(small), small)


def test_named_rows_are_left_out(wide):
    assert len(unseen_rows(wide, np.arange(500)).rows) == 100
    assert len(unseen_rows(wide, np.arange(600) < 200).rows) == 400
    for wrong in (np.arange(600) % 2, [-1, -2]):
        with pytest.raises(lt.DataError, match="a mask of rows must be booleans"):
            unseen_rows(wide, wrong)
    with pytest.raises(lt.DataError, match="seen: .*row numbers below 600"):
        unseen_rows(wide, [700])


def test_groups_that_trained_are_not_audited():
    rng = np.random.default_rng(2)
    whose = np.repeat(np.arange(60), 10)
    data = lt.Dataset(rng.normal(size=(600, 3)), groups=whose)
    half = np.flatnonzero((whose < 40) & (np.arange(600) % 2 == 0))
    model = lt.VAE().set_params(**QUICK, validation=0.0).fit(data.take(half))
    split = without_trained_units(rows_to_audit(model, data), data)
    assert set(whose[split.rows]) == set(range(40, 60))
    assert "200 of these rows are of groups" in split.sentence
    few = data.take(np.arange(420))  # twenty rows of other groups: too few to leave the rest out
    split = without_trained_units(rows_to_audit(model, few), few)
    assert "not said of new groups" in split.sentence
