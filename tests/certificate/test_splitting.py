import numpy as np
import pytest

import latentry as lt
from latentry.certificate.splitting import rows_to_audit, unseen_rows

QUICK = {"epochs": 2, "hidden": (4,), "progress": False}


@pytest.fixture(scope="module")
def wide():
    rng = np.random.default_rng(0)
    return lt.Dataset(rng.normal(size=(600, 4)), domain=rng.integers(0, 3, 600))


def test_rows_that_were_set_aside_are_found_and_proved(wide):
    training, fresh = wide.split(0.8, 0.2, seed=7)
    model = lt.VAE(**QUICK, seed=7).fit(training)
    split = rows_to_audit(model, wide)
    assert split.origin == "set aside"
    assert wide.take(split.rows).fingerprint == fresh.fingerprint


def test_rows_of_the_fit_leave_what_it_held_out(wide):
    model = lt.VAE(**QUICK, seed=3, validation=0.2).fit(wide)
    split = rows_to_audit(model, wide)
    assert (split.origin, len(split.rows)) == ("validation", 120)
    assert "chose its epoch" in split.sentence
    # the very rows that the fit held out: its statistics come from the others
    others = np.setdiff1d(np.arange(600), split.rows)
    assert np.allclose(model.statistics_.shift["x"], np.asarray(wide["x"])[others].mean(axis=0))
    assert not np.allclose(model.statistics_.shift["x"], np.asarray(wide["x"]).mean(axis=0))


def test_other_rows_are_taken_on_trust_and_it_is_said(wide):
    training, fresh = wide.split(0.5, 0.5)
    split = rows_to_audit(lt.VAE(**QUICK).fit(training), fresh)
    assert (split.origin, len(split.rows)) == ("trust", 300)
    assert "on trust" in split.sentence


def test_nothing_is_left_when_every_row_trained(wide):
    with pytest.raises(lt.DataError, match="every row of these data trained the model: nothing is left to audit"):
        rows_to_audit(lt.VAE(**QUICK, validation=0.0).fit(wide), wide)


def test_too_few_rows_are_a_sentence(wide):
    small = wide.take(np.arange(100))
    with pytest.raises(lt.DataError, match="10 rows are left to audit, and at least 40 are needed"):
        rows_to_audit(lt.VAE(**QUICK).fit(small), small)


def test_named_rows_are_left_out(wide):
    assert len(unseen_rows(wide, np.arange(500)).rows) == 100
    assert len(unseen_rows(wide, np.arange(600) < 200).rows) == 400
    with pytest.raises(lt.DataError, match="seen: give row numbers below 600"):
        unseen_rows(wide, [700])
