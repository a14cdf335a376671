import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from latentry.errors import DataError
from latentry.nets import head_for
from latentry.nets.heads import NegativeBinomial

SHAPE = (3,)
SIZES = np.array([0.3, 2.0, 50.0])


def cases():
    rng = np.random.default_rng(0)
    mean = rng.normal(size=SHAPE)
    logits = rng.normal(size=(3, 4))
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    codes = np.array([0.0, 3, 1])
    counts = np.array([0.0, 2, 7])
    ones = np.array([0.0, 1, 1])
    x = rng.normal(size=SHAPE)
    grey = np.array([0.02, 0.5, 0.9])
    return {
        "gaussian": (head_for("gaussian", SHAPE, scale=0.3), mean[:, None], x, stats.norm(mean, 0.3).logpdf(x)),
        "bernoulli": (
            head_for("bernoulli", SHAPE),
            mean[:, None],
            ones,
            stats.bernoulli(1 / (1 + np.exp(-mean))).logpmf(ones),
        ),
        "poisson": (head_for("poisson", SHAPE), mean[:, None], counts, stats.poisson(np.exp(mean)).logpmf(counts)),
        "negative_binomial": (  # scipy counts failures before n successes of probability n / (n + mean)
            NegativeBinomial(jnp.log(jnp.array([0.3, 2.0, 50.0]))),
            mean[:, None],
            counts,
            stats.nbinom(SIZES, SIZES / (SIZES + np.exp(mean))).logpmf(counts),
        ),
        "concrete": (  # a logistic variable around f / T with scale 1 / T, squashed
            head_for("concrete", SHAPE, temperature=0.4),
            mean[:, None],
            grey,
            stats.logistic(mean / 0.4, 1 / 0.4).logpdf(np.log(grey / (1 - grey))) - np.log(grey * (1 - grey)),
        ),
        "categorical": (head_for("categorical", SHAPE, levels=4), logits, codes, np.log(p[[0, 1, 2], [0, 3, 1]])),
    }


@pytest.mark.parametrize("name", ["gaussian", "bernoulli", "poisson", "negative_binomial", "categorical", "concrete"])
def test_log_density_agrees_with_scipy(name):
    head, outputs, x, want = cases()[name]
    found = head.log_density(jnp.asarray(outputs, jnp.float32), jnp.asarray(x, jnp.float32))
    assert np.allclose(found, want, atol=1e-5)


@pytest.mark.parametrize("name", ["gaussian", "bernoulli", "poisson", "negative_binomial"])
def test_draws_have_the_mean_they_claim(name):
    # Each of the 3 entries fails by chance less than once in 10^8: six standard errors.
    head, outputs, _, _ = cases()[name]
    outputs = jnp.asarray(outputs, jnp.float32)
    drawn = jax.vmap(lambda key: head.draw(outputs, key))(jax.random.split(jax.random.key(0), 20_000))
    error = np.asarray(drawn).std(axis=0) / np.sqrt(20_000)
    assert (np.abs(np.asarray(drawn).mean(axis=0) - head.mean(outputs)) < 6 * error).all()


@pytest.mark.parametrize("temperature", [2.0, 0.5, 0.01])
def test_relaxed_coins_fall_on_one_side_as_coins_do_at_every_temperature(temperature):
    # Six standard errors: each of the 3 entries fails by chance less than once in 10^8.
    _, outputs, _, _ = cases()["bernoulli"]
    head, outputs = head_for("concrete", SHAPE, temperature=temperature), jnp.asarray(outputs, jnp.float32)
    drawn = jax.vmap(lambda key: head.draw(outputs, key))(jax.random.split(jax.random.key(0), 20_000))
    share = (np.asarray(drawn) > 0.5).mean(axis=0)
    assert np.abs(share - jax.nn.sigmoid(outputs[:, 0])).max() < 6 * 0.5 / np.sqrt(20_000)
    assert drawn.min() > 0
    assert drawn.max() < 1


def test_categorical_draws_follow_their_probabilities():
    head, outputs, _, _ = cases()["categorical"]
    outputs = jnp.asarray(outputs, jnp.float32)
    drawn = jax.vmap(lambda key: head.draw(outputs, key))(jax.random.split(jax.random.key(1), 20_000))
    share = np.stack([(np.asarray(drawn) == level).mean(axis=0) for level in range(4)], axis=1)
    assert np.abs(share - jax.nn.softmax(outputs, axis=-1)).max() < 6 * 0.5 / np.sqrt(20_000)


def test_a_fixed_scale_gets_no_gradient_and_a_learned_one_does():
    def density(head):
        return head.log_density(jnp.zeros((3, 1)), 2 * jnp.ones(3)).sum()

    assert (jax.grad(density)(head_for("gaussian", SHAPE, scale=1.0)).log_scale == 0).all()
    assert (jax.grad(density)(head_for("gaussian", SHAPE)).log_scale > 0).all()


def test_extreme_outputs_stay_finite():
    for name in ("bernoulli", "poisson", "negative_binomial"):
        head = head_for(name, (1,))
        for output in (-1e4, 1e4):
            assert jnp.isfinite(head.log_density(jnp.full((1, 1), output), jnp.ones(1))).all()


def test_unknown_likelihood():
    with pytest.raises(DataError, match="did you mean 'poisson'"):
        head_for("poison", (1,))


@pytest.mark.parametrize("temperature", [0.5, 0.05, 0.01])
def test_the_odds_of_relaxed_coins_are_found_at_every_temperature(temperature):
    """Maximum likelihood over a grid, 4000 coins with log-odds 1.5: standard error .04, eight of them allowed."""
    head = head_for("concrete", (4000,), temperature=temperature)
    x = head.draw(jnp.full((4000, 1), 1.5), jax.random.key(0))
    odds = jnp.linspace(0, 3, 61)
    found = odds[jnp.argmax(jax.vmap(lambda f: head.log_density(jnp.full((4000, 1), f), x).sum())(odds))]
    assert abs(found - 1.5) < 0.32


@pytest.mark.parametrize("size", [1.0, 4.0])
def test_sizes_of_counts_are_found_by_maximum_likelihood(size):
    """2,000 counts of mean 5: eight standard errors of the logarithm, about .05, and of the variance are allowed."""
    outputs = jnp.full((2000, 1), np.log(5.0, dtype=np.float32))
    x = NegativeBinomial(jnp.log(size)).draw(outputs, jax.random.key(0))
    sizes = np.exp(np.linspace(-1.5, 3.0, 46))
    fits = jax.vmap(lambda at: NegativeBinomial(at).log_density(outputs, x).sum())(jnp.asarray(np.log(sizes)))
    assert abs(np.log(sizes[np.argmax(fits)] / size)) < 0.4
    assert float(x.var()) == pytest.approx(5 + 25 / size, rel=0.5)
