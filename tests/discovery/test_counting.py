"""How many latents: the rule on planted scores, densities against closed forms, and the count on generators."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import latentry as lt
from latentry.discovery import Tried, count_latents, fit_planes, is_worth, smallest_enough


def planted(truth, noise=0.0, seed=0):
    """Scores that rise by 1 nat for each latent up to the true number."""

    def score(n):
        asked.append(n)
        drawn = np.random.default_rng([seed, n]).normal(scale=noise, size=400)
        return Tried(n, "planes", min(n, truth) + drawn)

    asked = []
    return score, asked


@pytest.mark.parametrize("truth", [1, 2, 3, 5, 8, 16])
def test_the_smallest_number_beyond_which_nothing_is_gained(truth):
    # a difference of pure noise exceeds its bar of one standard error plus nothing: here the bar is 5 % of 1 nat, which is
    # 0.05 / (0.2 √2 / 20) = 3.5 standard errors away: fails once in 4000 runs
    score, asked = planted(truth, noise=0.2)
    found, tried = smallest_enough(score, 1, 16, np.zeros(400))
    assert found.latents == truth
    assert len(asked) <= 6
    assert [one.latents for one in tried] == sorted(set(asked))


def test_a_gain_counts_beyond_its_error_and_beyond_a_part_of_the_gains_before():
    none = np.zeros(100)
    five = Tried(5, "planes", np.full(100, 10.0))  # 2 nats a latent, of which 5 % are 0.1
    assert not is_worth(five, Tried(6, "planes", np.full(100, 10.09)), none)
    assert is_worth(five, Tried(6, "planes", np.full(100, 10.11)), none)
    noisy = np.random.default_rng(0).normal(size=100)
    bumps = 10.2 + 5 * (noisy - noisy.mean())  # mean gain 0.2, standard error 0.5
    assert not is_worth(five, Tried(6, "planes", bumps), none)


def test_groups_widen_the_error():
    rng = np.random.default_rng(0)
    group = np.repeat(np.arange(10), 40)
    fewer = Tried(1, "planes", np.zeros(400))
    more = Tried(2, "planes", 0.1 + np.repeat(rng.normal(size=10), 40))
    lifted = Tried(2, "planes", more.rows - more.rows.mean() + 0.1)
    assert is_worth(fewer, lifted, None)
    assert not is_worth(fewer, lifted, None, group)


def test_one_plane_is_probabilistic_principal_component_analysis():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(300, 4)) @ rng.normal(size=(4, 4))
    planes = fit_planes(rows, 1, seed=0)
    spread, axes = np.linalg.eigh(np.cov(rows.T, bias=True))
    for kept in range(1, 5):
        cut = spread.copy()
        cut[: 4 - kept] = spread[: 4 - kept].mean() if kept < 4 else 0
        normal = multivariate_normal(rows.mean(axis=0), axes @ np.diag(cut) @ axes.T)
        assert planes.log_density(rows, kept) == pytest.approx(normal.logpdf(rows), abs=1e-3)


def test_a_linear_surface_has_the_density_of_its_plane():
    """A decoder that is exactly linear: the density on its surface is that of a Gaussian, whatever the units of its codes."""
    from latentry.discovery.curved_surface import real_values, surface_density

    class Linear:
        """As much of a fitted autoencoder as the density asks for: codes are twice the first two columns."""

        class record_:  # noqa: N801
            held_out = np.zeros(0, int)

        def transform(self, rows):
            return 2 * np.asarray(rows["x"] if isinstance(rows, lt.Dataset) else rows)[:, :2]

        def decode(self, codes):
            return np.hstack([codes / 2, np.zeros((len(codes), 1))])

    rng = np.random.default_rng(0)
    rows = lt.Dataset(rng.normal(size=(4000, 3)) * [2, 1, 0.1])
    found = surface_density(Linear(), real_values(rows), rows, rows, 1)
    values = real_values(rows).of(rows)
    exact = multivariate_normal(np.zeros(3), np.cov(values.T, bias=True)).logpdf(values)
    # units are those of the columns, so that the third is as wide as the others and is all noise: J'J + σ² is then 2 of 1
    assert found.mean() == pytest.approx(exact.mean() - np.log(2), abs=0.01)


def no_fit(name, model, rows):
    raise AssertionError(f"{name} was fitted")


def test_few_rows_are_counted_without_a_network():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 2)) @ rng.normal(size=(2, 6)) + 0.2 * rng.normal(size=(300, 6))
    found = count_latents(lt.Dataset(rows), no_fit)
    assert found.latents == 2
    assert "300 rows" in found.sentences[0]
    assert "1 lose" in found.sentences[0]


def test_noise_of_its_own_in_each_column_is_no_latent():
    rng = np.random.default_rng(3)
    signal = rng.normal(size=(400, 2)) @ rng.normal(size=(2, 8))
    found = count_latents(lt.Dataset(signal + rng.normal(size=(400, 8)) * np.linspace(0.1, 1.5, 8)), no_fit)
    assert found.latents == 2


def test_every_column_of_a_mixing_without_noise_is_a_latent(monkeypatch):
    """With many components one direction is nearly as good as four: what components bring is not credited to a latent.

    No surface of one latent fewer stands against planes here: it loses a whole direction.
    """
    monkeypatch.setattr("latentry.discovery.latents._COMPONENTS", (1, 64))
    monkeypatch.setattr("latentry.discovery.plane_mixture._STEPS", 10)

    def poor(name, model, rows):
        return model.set_params(epochs=2, hidden=(8,)).fit(rows)

    found = count_latents(lt.generators.sparse_mixing(rows_per_domain=3000, seed=11), poor)
    assert found.latents == 4
    assert "does not describe them as well" in found.sentences[-1]


def test_rows_of_counts_are_counted_by_bounds():
    rng = np.random.default_rng(0)
    rates = np.exp(rng.normal(size=(120, 1)) @ np.ones((1, 2)))
    quick = lambda name, model, rows: model.set_params(epochs=2, hidden=(4,)).fit(rows)  # noqa: E731
    found = count_latents(lt.Dataset(rng.poisson(rates)), quick)
    assert 1 <= found.latents <= 2
    assert {one.by for one in found.tried} == {"autoencoder"}


def test_a_search_ends_when_its_part_of_the_budget_is_spent():
    score, asked = planted(3)
    found, _ = smallest_enough(score, 1, 16, np.zeros(400), spent=lambda: len(asked) >= 2)
    assert (found.latents, asked) == (8, [16, 8])
