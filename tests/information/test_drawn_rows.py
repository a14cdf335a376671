"""Many rows: `auto` counts neighbours around some of them, and says so."""

import numpy as np
import pytest

import latentry as lt
from latentry.information import automatic_choice, candidates, drawn_rows


@pytest.fixture
def few(monkeypatch):
    for module in (automatic_choice, drawn_rows):
        monkeypatch.setattr(module, "MOST_ROWS", 300)


def bent(rng, n, d=2):
    x = rng.standard_normal((n, d))
    return x, x**2 + 0.3 * rng.standard_normal((n, d))


def said(found):
    return any("300 of the 1000 rows, drawn by seed" in words for words in found.warnings)


def test_a_free_answer_says_how_many_rows_it_looked_at(few, rng):
    x, y = bent(rng, 1000)
    found = lt.mutual_information(x, y)
    assert "300 rows)" in found.method
    assert said(found)
    again = lt.mutual_information(x, y)
    assert (float(again), again.low, again.high) == (float(found), found.low, found.high)  # drawn by the seed alone
    assert float(lt.mutual_information(x, y, seed=1)) != float(found)


def test_a_copula_takes_all_rows_and_says_what_was_checked_on_how_many(few, rng):
    x = rng.standard_normal((1000, 2))
    y = x + rng.standard_normal((1000, 2))
    found = lt.mutual_information(x, y)
    assert found.method == "auto: gaussian"
    assert "300 rows)" in found.reason
    assert not said(found)  # the value and its interval stand on all rows


def test_rows_are_drawn_in_many_columns_only(few, rng):
    x, y = bent(rng, 1000, d=1)
    found = lt.mutual_information(x, y)
    assert "ksg1" in found.method
    assert "rows)" not in found.method


def test_drawn_rows_beside_labels_and_conditions(few, rng):
    x, y = bent(rng, 1000)
    labelled = lt.mutual_information(x, (y.sum(axis=1) > 2).astype(int), confidence=None)
    assert "mixed (Ross, k=5)" in labelled.method  # two columns and a label are searched fast
    wide = np.hstack([x, y])
    found = lt.mutual_information(wide, (y.sum(axis=1) > 2).astype(int))
    assert "Ross, k=5, 300 rows" in found.method
    assert said(found)
    conditional = lt.mutual_information(x, y, given=rng.standard_normal((1000, 1)))
    assert "300 rows)" in conditional.method
    assert said(conditional)
    assert "rows" not in lt.mutual_information(wide, (y.sum(axis=1) > 2).astype(int), estimator="mixed").method


def test_the_error_is_that_of_the_drawn_rows():
    # forty draws of 400 among 4000 rows; their standard deviation is known to 11 %, the bars are three times that away
    x, y = bent(np.random.default_rng(0), 4000)
    found = [
        candidates.neighbour_candidate("rows", x, y, k=5, rows=np.random.default_rng(i).permutation(4000)[:400])
        for i in range(40)
    ]
    spread, error = np.std([c.value for c in found], ddof=1), np.mean([c.error for c in found])
    assert 0.67 < spread / (error * np.sqrt(1 - 400 / 4000)) < 1.33
    every = candidates.neighbour_candidate("rows", x, y, k=5)
    assert abs(np.mean([c.value for c in found]) - every.value) < 4 * error / np.sqrt(
        40
    )  # no bias: one in 10⁴ by chance
