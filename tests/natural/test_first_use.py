"""What a first user met: verdicts that must not mislead."""

import numpy as np
import pytest

import latentry as lt


def test_bits_that_arrive_as_floats_are_labels(rng):
    """One empty cell turns a column of 0 and 1 into floats; the verdict must not change."""
    bit = rng.integers(0, 2, 500)
    copies = {name: np.where(rng.random(500) < 0.02, 1 - bit, bit) for name in "ABC"}
    majority = (sum(copies.values()) > 1).astype(int)
    whole = lt.natural.audit(copies, majority, epsilon=0.2, drift=False)
    floats = {name: column.astype(float) for name, column in copies.items()}
    loose = lt.natural.audit(floats, majority.astype(float), epsilon=0.2, drift=False)
    assert loose.verdict.status == whole.verdict.status
    assert [c.upper.value for c in loose.claims] == [c.upper.value for c in whole.claims]
    assert any("taken as labels" in note for note in loose.notes)


def test_one_table_says_how_to_make_blocks(rng):
    with pytest.raises(lt.DataError, match="blocks="):
        lt.natural.audit(lt.Dataset(rng.normal(size=(100, 3))), rng.integers(0, 2, 100), epsilon=0.1)


def test_the_order_of_rows_buys_no_certificate(rng):
    """Sorted losses once gave an upper bound of .006 for a mean of .2."""
    losses = np.sort((rng.random(4000) < 0.2).astype(float))
    for order in (losses, losses[::-1]):
        assert lt.natural.mean_upper(order, 1.0, 0.05) > losses.mean()


def test_independent_labels_are_not_refuted_by_their_ties(rng):
    """Ties broken by row number in both columns made independent labels dependent. Fails by chance about once in 20 runs
    of other seeds at p < .05; this seed is fixed."""
    columns = {name: rng.integers(0, 2, 400) for name in "AB"}
    found = lt.natural.audit(columns, rng.integers(0, 2, 400), epsilon=0.1, family="general", drift=False)
    assert all(c.verdict.status != "refuted" for c in found.claims if c.error == "mediation error")


def test_many_blocks_that_lean_in_the_same_direction_have_a_wider_interval():
    from latentry.natural.from_samples.likelihood_ratio import gaussian_ratio

    covariance = np.full((6, 6), 0.3) + 0.7 * np.eye(6)
    six = gaussian_ratio(covariance, 1000, [[i] for i in range(6)], [])
    assert np.isclose(six.variance, 0.5 * 30 * 0.3**2)  # ½ tr((R − I)²), R = the correlations
    two = gaussian_ratio(covariance[:2, :2], 1000, [[0], [1]], [])
    assert two.variance >= 0.3**2


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"blocks": ["a", "b", "C"]}, "no column is called 'C'"),
        ({"latent": np.array([0.0, 1.0] * 49 + [np.nan, 1.0])}, "not finite in row 98"),
        ({"domain": np.array([0.0, 1.0] * 49 + [np.nan, 1.0])}, "domain.*missing in row 98"),
        ({"noise": 3.0}, "noise=3.0.*a latent of numbers"),
    ],
)
def test_what_would_have_been_taken_in_silence(rng, change, sentence):
    columns = {name: rng.integers(0, 2, 100) for name in "abc"}
    settings = {"latent": rng.integers(0, 2, 100)} | change
    latent = settings.pop("latent")
    with pytest.raises(lt.DataError, match=sentence):
        lt.natural.audit(columns, latent, epsilon=0.1, **settings)


def test_text_with_holes_drops_rows(rng):
    text = np.array(["x", "y"] * 100, dtype=object)
    text[7] = None
    found = lt.natural.audit(
        {"a": text, "b": rng.integers(0, 2, 200)}, rng.integers(0, 2, 200), epsilon=0.1, drift=False
    )
    assert "1 rows with a missing block were left out." in found.notes
