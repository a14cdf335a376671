"""Planted laws: they are laws, and samples follow them."""

import numpy as np
import pytest
from scipy.stats import chisquare

from latentry.errors import DataError
from latentry.generators import finite_laws

FAMILIES = [
    finite_laws.planted_natural(domains=3, observables=3, symbols=3),
    finite_laws.xor_across_domains(0.4),
    finite_laws.xor_across_domains(0.4, shared=True),
    finite_laws.near_miss(0.1),
    finite_laws.leaked_noise(0.7),
    finite_laws.synergy(),
    finite_laws.constant_latent(),
    finite_laws.noisy_copies(3, 0.1),
    finite_laws.random_family((2, 3), 3, 2, seed=1),
]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.planted)
def test_they_are_laws_and_channels(family):
    np.testing.assert_allclose(family.laws.reshape(len(family.laws), -1).sum(axis=1), 1.0)
    np.testing.assert_allclose(family.channel.sum(axis=-1), 1.0)
    assert (family.laws >= 0).all()
    assert (family.channel >= 0).all()


def test_samples_follow_the_law():
    """A chi-square test per domain at level 1e-6: fails by chance less than once in 500,000 runs."""
    family = finite_laws.random_family((2, 3), 3, 2, seed=1)
    sample = family.sample([20_000, 30_000], seed=4)
    for j, law in enumerate(family.laws):
        rows = sample.domain == j
        joint = (law[..., None] * family.channel).ravel()
        cells = np.ravel_multi_index((*sample.observables[rows].T, sample.latent[rows]), (2, 3, 3))
        counts = np.bincount(cells, minlength=joint.size)
        assert chisquare(counts, counts.sum() * joint).pvalue > 1e-6
    np.testing.assert_array_equal(sample.channel_rows, family.channel[tuple(sample.observables.T)])


def test_seeds():
    family = finite_laws.noisy_copies()
    a, b, c = (family.sample(50, seed=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(a.observables, b.observables)
    assert (a.observables != c.observables).any()


def test_refused():
    with pytest.raises(DataError, match="there are 2 domains"):
        finite_laws.synergy().sample([1, 2, 3], seed=0)
    with pytest.raises(DataError, match="between 0 and ln 2"):
        finite_laws.near_miss(1.0)
