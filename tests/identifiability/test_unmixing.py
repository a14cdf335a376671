import numpy as np
import pytest
from sklearn.decomposition import PCA

import latentry as lt
from latentry.identifiability import agreement, mcc, unmix


def test_a_linear_mixture_of_laplace_sources_is_undone_on_other_rows(rng):
    s = rng.laplace(size=(6000, 3))
    z = s @ rng.normal(size=(3, 3)) + 5
    assert mcc(unmix(z[:3000], fit_on=z[3000:]), s[:3000]) > 0.99


def test_squares_are_unmixed(rng):
    """Squares of Gaussians with changing variances are far from Gaussian."""
    scale = np.repeat(rng.uniform(0.5, 3, size=(20, 2)), 300, axis=0)
    s = scale * rng.normal(size=scale.shape)
    squares = s**2
    mixed = np.sqrt(squares @ np.array([[1, 0.5], [0.4, 1]])) * rng.choice([-1, 1], size=scale.shape)
    order = rng.permutation(len(s))
    one, two = order[:3000], order[3000:]
    found = unmix(mixed[one], fit_on=mixed[two], statistics="squares")
    assert mcc(found, squares[one]) > mcc(mixed[one] ** 2, squares[one]) + 0.03
    assert mcc(found, squares[one]) > 0.97


def test_the_same_seed_gives_the_same_unmixing(rng):
    z = rng.laplace(size=(500, 3))
    assert (unmix(z, fit_on=z, seed=3) == unmix(z, fit_on=z, seed=3)).all()


def test_a_fit_that_does_not_settle_is_said_in_words(rng, monkeypatch):
    import latentry.identifiability.unmixing as place

    monkeypatch.setattr(place, "FastICA", lambda **kw: FastICAOnce(**kw))
    with pytest.warns(lt.DataWarning, match="two of them are Gaussian"):
        unmix(rng.normal(size=(300, 4)), fit_on=rng.normal(size=(300, 4)))


class FastICAOnce:
    def __new__(cls, **settings):
        from sklearn.decomposition import FastICA

        return FastICA(**settings | {"max_iter": 1, "tol": 1e-12})


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda z: unmix(z, fit_on=z, statistics="square"), "did you mean 'squares'"),
        (lambda z: unmix(z, fit_on=z[:, :1]), "z has 2 latents and fit_on has 1"),
        (lambda z: unmix(z[:3, [0, 1, 1]], fit_on=z[:3, [0, 1, 1]]), "3 rows for 3 latents"),
        (lambda z: unmix(z[:, [0, 0]], fit_on=z[:, [0, 0]]), "a copy of others"),
        (lambda z: unmix(0 * z, fit_on=0 * z), "constant"),
        (lambda z: agreement([z]), "latents: has 1 restart.*at least 2"),
        (lambda z: agreement([z, PCA()]), r"latents\[1\] is a model.*transform"),
        (lambda z: agreement([z, z[:5]]), "Give the same rows"),
        (lambda z: agreement([z, z], threshold=2), "threshold=2:"),
        (lambda z: agreement([z, z * np.nan]), "NaN or infinity at row 0"),
    ],
)
def test_bad_input(rng, call, sentence):
    with pytest.raises(lt.DataError, match=sentence):
        call(rng.normal(size=(40, 2)))


def test_agreement_knows_which_latent_is_unstable(rng):
    s = rng.normal(size=(500, 3))
    other = np.column_stack([s[:, 1], -s[:, 0], rng.normal(size=500)])
    found = agreement([s, other], threshold=0.8)
    assert found.table.shape == (2, 2)
    assert (found.per_latent[:2] > 0.99).all()
    assert found.per_latent[2] < 0.2
    assert found.verdict.refuted
    assert found.lowest == found.table.min() < 0.8


def test_agreement_is_never_certified(rng):
    s = rng.normal(size=(100, 2))
    assert agreement([s, s]).verdict.status == "cannot say"


def test_tables_with_names_agree_too(rng):
    import pandas as pd

    table = pd.DataFrame(rng.normal(size=(50, 2)), columns=["a", "b"])
    assert agreement([table, -table]).lowest > 0.99
