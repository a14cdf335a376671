import numpy as np
import pytest

import latentry as lt
from latentry.identifiability import dci, mig, sap
from latentry.identifiability.metrics.disentanglement import concentration, entropy_of_counts, information_of_codes


def halves(z, s):
    cut = len(z) // 2
    return z[:cut], s[:cut], (z[cut:], s[cut:])


@pytest.mark.parametrize("learner", ["forest", "boosted", "lasso"])
def test_latents_that_are_the_factors_score_one(rng, learner):
    s = rng.normal(size=(1000, 3))
    z, truth, other = halves(s[:, [2, 0, 1]] * [1, -3, 0.01], s)
    found = dci(z, truth, fit_on=other, learner=learner)
    assert found.disentanglement > 0.95
    assert found.completeness > 0.95
    assert found.informativeness > 0.9
    assert np.allclose(found.importance.sum(axis=0), 1)
    assert found.importance.argmax(axis=0).tolist() == [1, 2, 0]


def test_a_rotation_informs_but_does_not_disentangle(rng):
    s = rng.normal(size=(2000, 2))
    z, truth, other = halves(s @ np.array([[1, 1], [-1, 1]]), s)
    found = dci(z, truth, fit_on=other, learner="lasso")
    assert found.informativeness > 0.99
    assert found.disentanglement < 0.01
    assert found.completeness < 0.01


def test_one_latent_for_two_factors_is_complete_but_not_disentangled(rng):
    s = rng.normal(size=(2000, 1))
    z = np.column_stack([s, rng.normal(size=2000)])
    latents, truth, other = halves(z, np.column_stack([s, -s]))
    found = dci(latents, truth, fit_on=other, learner="lasso")
    assert found.completeness > 0.9
    assert found.disentanglement < 0.1


def test_concentration_has_its_closed_form():
    importance = np.array([[1.0, 0, 0, 0], [1, 1, 1, 1], [1, 1, 0, 0], [0, 0, 0, 0]])
    assert np.allclose(concentration(importance), [1, 0, 0.5, 0])  # 1 - H/log 4


def test_informativeness_is_measured_on_other_rows(rng):
    """Noise fits its own rows and no others: the score is not above 0."""
    z, s = rng.normal(size=(400, 5)), rng.normal(size=(400, 2))
    latents, truth, other = halves(z, s)
    assert dci(latents, truth, fit_on=other).informativeness < 0.05


@pytest.mark.parametrize("learner", ["forest", "boosted", "lasso"])
def test_discrete_factors_are_classified(rng, learner):
    shape = rng.choice(["disc", "ring", "star"], size=900)
    size = rng.normal(size=900)
    place = np.where(shape == "disc", 0.0, np.where(shape == "ring", 1.0, 2.0))
    z = np.column_stack([size, place == 0, place == 2]) + 0.01 * rng.normal(size=(900, 3))
    cut = {"shape": shape[:450], "size": size[:450]}
    other = (z[450:], {"shape": shape[450:], "size": size[450:]})
    found = dci(z[:450], cut, fit_on=other, learner=learner)
    assert found.informed[0] > 0.95
    assert found.importance[0, 0] < 0.1  # size says nothing of shape


def test_the_gap_is_the_share_of_the_entropy():
    """z1 equals a fair bit, z2 a copy that is right three times in four: the gap is h(1/4) / log 2."""
    bit = np.repeat([0, 1], 4000)
    noisy = np.where(np.arange(8000) % 4 == 0, 1 - bit, bit)
    flipped = -(0.25 * np.log(0.25) + 0.75 * np.log(0.75))
    assert np.isclose(mig(np.column_stack([bit, noisy]) + 0.0, bit), flipped / np.log(2), atol=2e-3)


def test_a_copied_latent_has_no_gap(rng):
    s = rng.normal(size=(3000, 1))
    assert abs(mig(np.column_stack([s, s]), s)) < 1e-9
    assert mig(np.column_stack([s, rng.normal(size=3000)]), s) > 0.9


def test_entropy_and_information_of_known_tables():
    assert np.isclose(entropy_of_counts(np.array([50, 50])), np.log(2) + 1 / 200)
    ten = np.tile([0, 0, 1, 1], 2500), np.tile([0, 1, 0, 1], 2500)
    assert information_of_codes(*ten) < 1e-3
    assert np.isclose(information_of_codes(ten[0], ten[0]), np.log(2), atol=1e-3)


def test_the_gap_of_straight_lines_is_the_gap_of_squared_correlations(rng):
    s = rng.normal(size=(40_000, 1))
    z = np.column_stack([s[:, 0] + rng.normal(size=40_000), s[:, 0] + 3 * rng.normal(size=40_000)])
    latents, truth, other = halves(z, s)
    assert np.isclose(sap(latents, truth, fit_on=other), 1 / 2 - 1 / 10, atol=0.02)


def test_the_gap_of_labels_is_the_gap_of_accuracies(rng):
    bit = rng.integers(0, 2, size=4000)
    z = np.column_stack([bit, rng.normal(size=4000)]) + 0.0
    assert np.isclose(sap(z[:2000], bit[:2000], fit_on=(z[2000:], bit[2000:])), 0.5, atol=0.05)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda z, s: dci(z, s, fit_on=(z, s), learner="lazo"), "did you mean 'lasso'"),
        (lambda z, s: dci(z, s, fit_on=z), "fit_on: .* Give \\(z, s\\) of rows other"),
        (lambda z, s: dci(z, s[:5], fit_on=(z, s)), "z has 20 rows and factor 's1' has 5"),
        (lambda z, s: dci(z, s, fit_on=(z[:, :1], s)), "the latents and factors of z and s"),
        (lambda z, s: dci(z, 0 * s, fit_on=(z, s)), "factor 's1' is constant"),
        (lambda z, s: sap(z, s, fit_on=(z, s[:4])), "fit_on: z has 20 rows and factor 's1' has 4"),
        (lambda z, s: mig(z, s, bins=1), "bins=1:"),
        (lambda z, s: mig(z, {}), "s has no factor"),
        (lambda z, s: mig(z, {"a": np.full(20, np.nan)}), "factor 'a' has values that are neither finite numbers"),
        (lambda z, s: mig(z, {"a": np.zeros((20, 2))}), "factor 'a' has shape"),
        (lambda z, s: mig(z, np.zeros((2, 2, 2))), "one column per factor"),
    ],
)
def test_bad_input(rng, call, sentence):
    with pytest.raises(lt.DataError, match=sentence):
        call(rng.normal(size=(20, 2)), rng.normal(size=(20, 2)))
