"""Which candidate is taken, by planted scores; and what a budget reaches, by planted clocks."""

import json

import numpy as np
import pytest

import latentry as lt
from latentry.discovery import Fits, Score, budget_of, decide

ROWS = np.random.default_rng(0).normal(size=200)


def score(name, rank, kind, lift, wobble=0.1):
    noise = np.random.default_rng([rank, len(name)]).normal(scale=wobble, size=200)
    return Score(name, rank, kind, ROWS + lift + noise - noise.mean())


def test_of_equals_the_one_that_identifies_most_is_taken():
    taken, why = decide([score("VAE", 0, "bound of x", 0.005), score("IVAE", 3, "bound of x", 0.0)])
    assert taken.name == "IVAE"
    assert "could identify more" in why[0]


def test_a_better_description_wins_over_what_could_be_identified():
    taken, why = decide([score("VAE", 0, "bound of x", 1.0), score("IVAE", 3, "bound of x", 0.0)])
    assert taken.name == "VAE"
    assert "-1.000 ±" in why[0]


def test_a_bound_above_a_likelihood_wins_and_one_below_says_nothing():
    exact = score("IFlow", 3, "log likelihood of x gaussian", 0.0)
    higher, why = decide([exact, score("VAE", 0, "bound of x", 1.0)])
    assert (higher.name, "even a lower bound" in why[-1]) == ("VAE", True)
    lower, why = decide([exact, score("VAE", 0, "bound of x", -1.0)])
    assert (lower.name, "not higher" in why[-1]) == ("IFlow", True)


@pytest.mark.parametrize(("rank", "taken"), [(0, "NaturalLatents"), (1, "other")])
def test_a_model_without_a_likelihood_is_taken_if_it_could_identify_more(rank, taken):
    natural = Score("NaturalLatents", 1, "", np.zeros(0))
    found, why = decide([natural, score("other", rank, "bound of x", 0.0)])
    assert found.name == taken
    assert "no likelihood" in why[-1]


def test_groups_count_as_one_row():
    """Ten groups that differ as a whole: a difference that 200 rows would decide, ten groups do not."""
    group = np.repeat(np.arange(10), 20)
    shift = np.repeat(np.random.default_rng(0).normal(size=10), 20)
    plain, changing = Score("VAE", 0, "b", ROWS), Score("IVAE", 3, "b", ROWS - 0.15 - shift + shift.mean())
    assert decide([plain, changing])[0].name == "VAE"
    assert decide([plain, changing], group)[0].name == "IVAE"


class Planted:
    """A clock that a fit moves."""

    now = 0.0

    def __call__(self):
        return self.now


def small(seed=0):
    return lt.VAE(latent_dim=1, hidden=(4,), epochs=1, seed=seed, progress=False)


@pytest.fixture(scope="module")
def rows():
    return lt.Dataset(np.random.default_rng(0).normal(size=(40, 2)))


def test_time_that_passed_is_no_longer_there(rows):
    clock = Planted()
    fits = Fits(budget_of("100 s"), {}, None, lambda words: setattr(clock, "now", clock.now + 30), clock)
    fits.seconds["first"] = 30.0
    clock.now = 30.0
    assert fits.left == 70
    assert fits.rounds(fits.cost("first"), 5) == 2
    assert fits.rounds(fits.cost("first"), 5, reserve=20) == 1
    assert fits.rounds(0.0, 5) == 5


def test_fits_are_counted_and_none_is_fitted_twice(rows):
    said = []
    fits = Fits(budget_of(4), {}, None, said.append)
    assert fits.fit("one", small(), rows) is fits.fit("one", small(), rows)
    assert (fits.left, fits.cost("any"), len(said)) == (3, 1, 1)
    assert "of at most 4" in said[0]


def test_a_folder_goes_on_where_it_was(rows, tmp_path, same):
    about = {"data": rows.fingerprint, "seed": 0}
    first = Fits(budget_of(4), about, tmp_path, lambda words: None).fit("a fit", small(), rows)
    kept = json.loads((tmp_path / "discovery.json").read_text())
    assert list(kept["fits"]) == ["a fit"]
    again = Fits(budget_of(4), about, tmp_path, lambda words: None).fit(
        "a fit", None, None
    )  # nothing to fit: it is read
    assert same(first.module_, again.module_)
    with pytest.raises(lt.DataError, match=r"folder=.*another seed \(0, not 1\)"):
        Fits(budget_of(4), about | {"seed": 1}, tmp_path, lambda words: None)
    (tmp_path / "discovery.json").write_text("{")
    with pytest.raises(lt.DataError, match=r"discovery.json.*Choose another"):
        Fits(budget_of(4), about, tmp_path, lambda words: None)
