import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import latentry as lt
from latentry.identifiability import match, mcc, r_squared, unmix


@given(st.integers(0, 1000), st.integers(1, 6))
def test_order_scale_and_sign_do_not_matter(seed, size):
    rng = np.random.default_rng(seed)
    s = rng.normal(size=(50, size))
    order = rng.permutation(size)
    z = s[:, order] * rng.choice([-1, 1], size) * rng.uniform(1e-6, 1e6, size) + rng.normal(size=size)
    assert np.isclose(mcc(z, s), 1)
    assert (order[match(z, s).estimated] == np.arange(size)).all()


@pytest.mark.parametrize("size", [1e-310, 1e-300, 1e-160, 1e150])
def test_units_of_any_size_do_not_matter(size):
    s = np.random.default_rng(0).laplace(size=(400, 2))
    z = s @ [[1.0, 1.0], [-1.0, 1.0]]
    (seen, known), (rows, true) = (z[200:], s[200:]), (z[:200], s[:200])
    assert np.isclose(mcc(size * rows, true), mcc(rows, true))
    assert np.isclose(mcc(size * rows, true, weak_on=(size * seen, known)), 1)
    assert np.allclose(r_squared(rows, size * true, fit_on=(seen, size * known)), 1)
    assert np.allclose(r_squared(size * rows, true, fit_on=(size * seen, known)), 1)
    assert np.isclose(mcc(unmix(size * rows, fit_on=size * seen), true), mcc(unmix(rows, fit_on=seen), true))
    with pytest.raises(lt.DataError, match="z has numbers beyond 1e.151"):
        mcc(1e200 * rows, true)


def test_monotone_maps_do_not_matter_to_ranks(rng):
    s = rng.normal(size=(200, 2))
    assert np.isclose(mcc(np.exp(3 * s), s, "spearman"), 1)
    assert mcc(np.exp(3 * s), s) < 0.8


def test_the_pairing_is_the_best_one(rng):
    from itertools import permutations

    z, s = rng.normal(size=(30, 4)), rng.normal(size=(30, 4))
    table = np.abs(np.corrcoef(z.T, s.T)[:4, 4:])
    best = max(np.mean([table[p[i], i] for i in range(4)]) for p in permutations(range(4)))
    assert np.isclose(mcc(z, s), best)


def test_a_rotation_is_low_strong_and_high_weak(rng):
    s = rng.laplace(size=(4000, 2))
    z = s @ (np.array([[1, 1], [-1, 1]]) / np.sqrt(2))
    held, other = slice(0, 2000), slice(2000, 4000)
    assert mcc(z[held], s[held]) < 0.75
    assert mcc(z[held], s[held], weak_on=(z[other], s[other])) > 0.99
    assert (r_squared(z[held], s[held], fit_on=(z[other], s[other])) > 0.99).all()


def test_canonical_variates_are_those_of_scikit_learn(rng):
    from sklearn.cross_decomposition import CCA

    from latentry.identifiability.metrics.matching import canonical_scores

    s = rng.normal(size=(300, 3))
    z = s @ rng.normal(size=(3, 4)) + rng.normal(size=(300, 4))
    ours = canonical_scores(z, s, (z, s))
    theirs = CCA(3, max_iter=5000, tol=1e-12).fit(z, s).transform(z, s)
    for one, other in zip(ours, theirs, strict=True):
        turned = np.abs(np.corrcoef(one.T, other.T)[:3, 3:])
        assert np.allclose(turned, np.eye(3), atol=1e-4)


def test_a_constant_or_copied_latent_does_not_spoil_the_weak_score(rng):
    s = rng.normal(size=(400, 2))
    z = np.column_stack([s @ [[1, 1], [-1, 1]], s[:, 0], np.ones(400)])
    assert np.isclose(mcc(z[:200], s[:200], weak_on=(z[200:], s[200:])), 1)


def test_noise_scores_low_out_of_sample(rng):
    z, s = rng.normal(size=(2000, 5)), rng.normal(size=(2000, 5))
    assert (r_squared(z[:1000], s[:1000], fit_on=(z[1000:], s[1000:])) < 0.02).all()
    assert mcc(z, s) < 0.1


def test_constant_and_missing_latents_count_as_nothing(rng):
    s = rng.normal(size=(50, 3))
    assert np.isclose(mcc(np.column_stack([s[:, 0], np.ones(50), s[:, 2]]), s), 2 / 3)
    assert np.isclose(mcc(s[:, :1], s), 1 / 3)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: mcc(np.ones((5, 2)), np.ones((6, 2))), "5 rows and s has 6"),
        (lambda: mcc(np.ones((5, 2)), np.ones((5, 2)), "person"), "did you mean 'pearson'"),
        (lambda: mcc(np.full((5, 2), np.nan), np.ones((5, 2))), "NaN or infinity at row 0"),
        (lambda: mcc(np.ones((2, 2)), np.ones((2, 2))), "at least 3 rows"),
    ],
)
def test_bad_input(call, sentence):
    with pytest.raises(lt.DataError, match=sentence):
        call()
