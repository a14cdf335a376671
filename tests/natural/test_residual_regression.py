"""Residual tests on distributions whose answer is known, and students that learn what trees cannot."""

import numpy as np
import pytest

from latentry.data import CategoricalChannel, GaussianChannel
from latentry.natural import as_rows
from latentry.natural.from_samples import redundancy_bounds
from latentry.natural.from_samples.independence_tests import residual_test
from latentry.natural.from_samples.residual_regression import Smoother

RUNS, ROWS = 150, 400


def bent(rng, extra):
    z, shared = rng.standard_normal((2, ROWS, 1))
    noise = 0.5 * rng.standard_normal((2, ROWS, 1)) + extra * shared
    return np.sin(2 * z) + noise[0], z**2 + noise[1], z


def widening(rng, extra):
    z, shared = rng.standard_normal((2, ROWS, 1))
    noise = (0.3 + np.abs(z)) * (rng.standard_normal((2, ROWS, 1)) + extra * shared)
    return z + noise[0], np.tanh(z) + noise[1], z


def crossed(rng, extra):
    z, shared = rng.standard_normal((ROWS, 2)), rng.standard_normal((ROWS, 1))
    noise = 0.5 * rng.standard_normal((2, ROWS, 1)) + extra * shared
    return np.sin(2 * z[:, :1]) * z[:, 1:] + noise[0], z[:, :1] * z[:, 1:] + noise[1], z


def grouped(rng, extra):
    value, shared = rng.integers(0, 3, ROWS), rng.standard_normal((ROWS, 1))
    noise = rng.standard_normal((2, ROWS, 1)) + extra * shared
    return value[:, None] + noise[0], (value[:, None] - 1.0) ** 2 + noise[1], np.eye(3)[value]


@pytest.mark.parametrize("draw", [bent, widening, crossed, grouped])
def test_residuals_reject_at_most_as_often_as_they_say(draw):
    """150 runs at level 0.1: a test of exactly that level rejects more than 26 times with probability 0.003.

    Two columns to condition on take ten times as long: 30 runs, more than 8 rejections with probability 0.002.
    """
    runs, limit, known = (RUNS, 26, 20) if draw is not crossed else (30, 8, 10)
    p = [residual_test(*draw(np.random.default_rng(seed), 0.0), seed=seed).p_value for seed in range(runs)]
    assert sum(value <= 0.1 for value in p) <= limit
    strong = [residual_test(*draw(np.random.default_rng(seed), 0.7), seed=seed).p_value for seed in range(known)]
    assert sum(value <= 0.1 for value in strong) >= 0.9 * known


def test_the_test_is_that_of_partial_correlation_when_nothing_bends():
    """One binary z: the smoother is the group mean, and the statistic tends to the square root of n times ρ."""
    rng = np.random.default_rng(0)
    z = rng.integers(0, 2, (4000, 1)).astype(float)
    x, y = z + rng.standard_normal((2, 4000, 1))
    left, right = (t - np.where(z == 1, t[z == 1].mean(), t[z == 0].mean()) for t in (x, y))
    score, correlation = Smoother.of(z).score(x[:, 0], y[:, 0])
    rho = np.corrcoef(left[:, 0], right[:, 0])[0, 1]
    assert correlation == pytest.approx(rho, abs=1e-3)
    assert score == pytest.approx(np.sqrt(4000) * rho, abs=0.1)


def test_a_column_that_z_determines_has_nothing_left():
    z = np.random.default_rng(0).integers(0, 3, 300)
    assert Smoother.of(np.eye(3)[z]).score(z * 1.0, np.random.default_rng(1).random(300))[0] == pytest.approx(0, abs=3)
    assert residual_test(np.zeros((300, 1)), np.ones((300, 1)), np.eye(3)[z]).p_value == 1.0


@pytest.mark.parametrize("kind", ["numbers", "labels"])
def test_a_net_learns_what_depends_on_all_columns_at_once(kind, monkeypatch):
    rng = np.random.default_rng(0)
    first = rng.standard_normal((1500, 4))
    wave = np.sin(first.sum(axis=1, keepdims=True))
    share = 1 / (1 + np.exp(-4 * wave))
    channel = (
        GaussianChannel(wave, np.full((1500, 1), 0.5))
        if kind == "numbers"
        else CategoricalChannel(np.hstack([share, 1 - share]))
    )
    views = {"a": first, "b": first + 0.05 * rng.standard_normal((1500, 4))}
    rows = as_rows(views, channel, blocks=None, domain=None, noise=None, quantiser=None, fit=0.5, seed=0)
    taught = redundancy_bounds.teach(rows, rows.blocks[1], rows.fit, rows.audit, 0)
    assert taught.student in ("net", "kernel")  # both are smooth functions of all columns
    monkeypatch.setattr(
        redundancy_bounds,
        "students_of_numbers",
        lambda block, rows: {"boosted trees": redundancy_bounds.tree_mean_student},
    )
    monkeypatch.setattr(
        redundancy_bounds, "students_of_labels", lambda block, rows: {"boosted trees": redundancy_bounds.tree_student}
    )
    before = redundancy_bounds.teach(rows, rows.blocks[1], rows.fit, rows.audit, 0)
    assert before.student == "boosted trees"
    assert taught.losses.mean() < 0.6 * before.losses.mean()
