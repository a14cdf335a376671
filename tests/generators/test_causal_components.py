"""Latents that cause each other: moments of every domain by the equations, and what the truth says of itself."""

import numpy as np
import pytest

from latentry.errors import DataError
from latentry.generators import causal_components, causal_components_law


def test_each_domain_has_the_moments_of_its_equations():
    law = causal_components_law(latents=3, edges=1.0, seed=2)
    data = law.draw(20_000, 0)
    z, domains = np.column_stack([*data.factors.values()]), np.array(data.domain.labels)[data.domain.values]
    for changed, name in enumerate(law.domains, start=-1):
        weights, shift = law.weights.copy(), np.zeros(3)
        if changed >= 0:
            weights[changed], shift[changed] = 0.0, 2.0
        mixing = np.linalg.inv(np.eye(3) - weights)
        own = z[domains == name]
        np.testing.assert_allclose(own.mean(axis=0), mixing @ shift, atol=0.06)
        np.testing.assert_allclose(np.cov(own.T), mixing @ mixing.T, rtol=0.06, atol=0.06)


def test_the_mixing_is_one_to_one_and_the_same_everywhere():
    law = causal_components_law(seed=1)
    z = np.random.default_rng(0).normal(size=(200, 4))
    x = law.mix(z)
    for matrix in reversed(law.layers):
        assert abs(np.linalg.det(matrix)) >= 0.1
        level = x.copy()
        for _ in range(200):  # Newton's steps for tanh(v) + v/10 = x
            level = np.clip(level - (np.tanh(level) + 0.1 * level - x) / (1.1 - np.tanh(level) ** 2), -50, 50)
        x = np.linalg.solve(matrix, level.T).T
    assert np.abs(x - z).max() < 1e-3 or np.median(np.abs(x - z)) < 1e-6


def test_causes_and_targets_are_named_as_models_take_them():
    law = causal_components_law(latents=3, edges=1.0, seed=0)
    assert law.parents == {"z2": ["z1"], "z3": ["z1", "z2"]}
    assert law.targets["change of z3"] == ["z3"]
    assert causal_components_law(edges=0.0).parents is None
    assert causal_components(latents=2, rows_per_domain=5).domain.size == 3
    with pytest.raises(DataError, match="edges=2"):
        causal_components(edges=2)
