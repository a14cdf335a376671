"""Best latents: closed forms, certificates, brute force, and the classical common informations."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from latentry.errors import DataError
from latentry.generators import noisy_copies, planted_natural, random_family
from latentry.natural import (
    Family,
    check,
    entropy,
    functional_common_information,
    gacs_korner,
    gaussian_pair,
    gaussian_total_correlation,
    mediation_error,
    mutual_information,
    redundancy_error,
    resampling,
    search,
    search_shared,
    two_by_two,
    weighted_score,
    wyner,
)
from latentry.natural.search.envelope import concave_envelope
from latentry.natural.search.local_descent import descend, score_and_gradient
from latentry.natural.search.partitions import Cells
from latentry.natural.search.pricing import Crossed, IndependentComponents, NaturalComponents, Tilted
from latentry.natural.worst_mixture import worst_score


def random_law(shape, seed, concentration=1.0):
    return np.random.default_rng(seed).dirichlet(np.full(int(np.prod(shape)), concentration)).reshape(shape)


@pytest.mark.parametrize("seed", range(12))
def test_two_bits_match_the_closed_form(seed):
    law = random_law((2, 2), seed, (0.3, 1.0, 3.0)[seed % 3])
    exact, channel = two_by_two(law)
    found = search(law)
    assert weighted_score(law, channel) == pytest.approx(exact, abs=1e-10)
    assert found.score.value == pytest.approx(exact, abs=1e-6)
    assert found.lower.value <= exact + 1e-12
    assert found.gap <= 1e-6


def test_the_two_bit_fixture():
    assert two_by_two([[0.6, 0.05], [0.05, 0.3]])[0] == pytest.approx(0.1756294, abs=5e-8)
    flip = two_by_two([[0.475, 0.025], [0.025, 0.475]])[0] / np.log(2)
    assert flip == pytest.approx(0.1984, abs=5e-5)
    for law in ([[0.5, 0], [0, 0.5]], [[0.25, 0.25], [0.25, 0.25]]):
        assert two_by_two(law)[0] == pytest.approx(0.0, abs=1e-12)
    anti = [[0.05, 0.6], [0.3, 0.05]]
    assert two_by_two(anti)[0] == pytest.approx(0.1756294, abs=5e-8)


@pytest.mark.parametrize("shape", [(2, 3), (2, 2, 2), (3, 3)])
def test_no_descent_from_random_channels_beats_the_lower_bound(shape):
    """An independent optimiser (L-BFGS on logits with numerical gradients) never gets below the certificate."""
    law = random_law(shape, 7, 0.5)
    found = search(law, tolerance=1e-4)
    assert found.gap <= 1e-4
    rng = np.random.default_rng(0)
    for _ in range(2):
        start = rng.normal(size=(*shape, 3))

        def score(logits, shape=start.shape):
            rows = np.exp(logits.reshape(shape))
            return weighted_score(law, rows / rows.sum(axis=-1, keepdims=True))

        best = minimize(score, start.ravel(), method="L-BFGS-B", options={"maxiter": 30}).fun
        assert best >= found.lower.value - 1e-9


def test_weights_and_the_gradient():
    law = random_law((2, 3), 3)
    channel = np.random.default_rng(1).dirichlet(np.ones(3), size=(2, 3))
    w = (0.7, 1.5, 0.2)
    score, gradient = score_and_gradient(law, channel, w)
    assert score == pytest.approx(weighted_score(law, channel, w), abs=1e-12)
    move = np.random.default_rng(2).normal(size=channel.shape)
    move -= move.mean(axis=-1, keepdims=True)
    ahead, behind = (weighted_score(law, channel + s * 1e-6 * move, w) for s in (1, -1))
    assert (ahead - behind) / 2e-6 == pytest.approx(float((gradient * move).sum()), abs=1e-7)
    found = search(law, w)
    assert found.gap <= 1e-6
    assert found.score.value <= min(found.baselines.values()) + 1e-9


def test_the_true_cause_is_not_the_best_latent():
    copies = noisy_copies(3, 0.05)
    law = copies.laws[0]
    found = search(law, tolerance=1e-4)
    majority = np.eye(2)[(np.indices((2, 2, 2)).sum(axis=0) > 1).astype(int)]
    assert weighted_score(law, copies.channel) == pytest.approx(0.507, abs=1e-3)
    assert weighted_score(law, majority) == pytest.approx(0.580, abs=1e-3)
    assert found.baselines["constant"] == pytest.approx(0.820, abs=1e-3)
    assert found.score.value < 0.4
    assert found.gap < 1e-4


def test_an_exact_natural_latent_scores_zero_and_is_found():
    law = planted_natural(domains=1).laws[0]
    found = search(law, tolerance=1e-4)
    assert found.score.value < 1e-4
    assert search(law, deterministic=True).score.value == pytest.approx(0.0, abs=1e-12)


def all_partitions(size):
    def grow(prefix):
        if len(prefix) == size:
            yield np.array(prefix)
            return
        for label in range(max(prefix, default=-1) + 2):
            yield from grow([*prefix, label])

    return grow([])


@pytest.mark.parametrize(("shape", "seed"), [((2, 2), 2), ((2, 3), 5), ((2, 2, 2), 3)])
def test_deterministic_search_against_every_partition(shape, seed):
    """The best partition of these has two blocks."""
    law = random_law(shape, seed, 0.3)
    law.ravel()[7:] = 0.0  # 877 partitions of seven cells
    law, n = law / law.sum(), len(shape)

    def score(channel):
        guesses = sum(redundancy_error(law, channel, i, deterministic=True) for i in range(n))
        return mediation_error(law, channel) + guesses

    padding = np.zeros(np.count_nonzero(law == 0), dtype=int)
    partitions = (np.append(labels, padding) for labels in all_partitions(law.size - len(padding)))
    best = min(score(np.eye(law.size)[labels].reshape(*shape, -1)) for labels in partitions)
    found = search(law, deterministic=True)
    assert found.score.value == pytest.approx(best, abs=1e-10)
    assert score(found.channel) == pytest.approx(best, abs=1e-10)
    assert search(law).score.value <= best + 1e-9


@pytest.mark.parametrize("shape", [(2, 3), (2, 2, 2), (2, 2, 2, 2)])
def test_block_costs_add_up_to_the_score(shape):
    law = random_law(shape, 8)
    n, w, cells = len(shape), (0.7, *np.linspace(0.5, 1.5, len(shape))), Cells.of(law)
    labels = np.random.default_rng(1).integers(0, 3, law.size)
    labels = np.unique(labels, return_inverse=True)[1]
    channel = cells.channel(labels)
    guesses = [redundancy_error(law, channel, i, deterministic=True) for i in range(n)]
    score = w[0] * mediation_error(law, channel) + sum(a * g for a, g in zip(w[1:], guesses, strict=True))
    total = cells.natural_cost(np.eye(labels.max() + 1)[labels].T, w).sum()
    constant = w[0] * entropy(law) + sum(w[i + 1] * entropy(law, [i]) for i in range(n))
    assert total - constant == pytest.approx(score, abs=1e-12)


PRICINGS = [
    (shape, kind) for shape in [(2, 2), (3, 2), (3, 3), (2, 2, 2), (2, 3, 2)] for kind in ("natural", "independent")
]


@pytest.mark.parametrize(("shape", "kind"), PRICINGS)
def test_prices_are_bounded_globally(shape, kind):
    """No distribution of many beats the bound, the bound is nearly reached, and a cut budget leaves it valid."""
    rng = np.random.default_rng(sum(shape))
    size = int(np.prod(shape))
    support = np.ones(size, dtype=bool)
    weights = (1.3, *rng.uniform(0.4, 1.2, len(shape)))
    natural = kind == "natural"
    pricing = NaturalComponents(shape, weights, support) if natural else IndependentComponents(shape, support)
    prices = rng.normal(size=size)
    found = pricing.ceiling(prices, known=-np.inf, tolerance=1e-3, nodes=100_000)
    starts = tuple(rng.dirichlet(np.full(d, 0.4), size=4000) for d in shape)
    climbed = pricing.climb(prices, tuple(f[:50] for f in starts))
    best = (pricing.worth(climbed) - climbed @ prices).max()
    assert best <= found.value
    assert found.value <= best + 2e-3
    if natural:
        tried = np.vstack([rng.dirichlet(np.full(size, a), size=3000) for a in (0.1, 0.5, 2.0)])
        assert (pricing.worth(tried) - tried @ prices).max() <= found.value
    cut = pricing.ceiling(prices, known=-np.inf, tolerance=1e-9, nodes=5)
    assert cut.value >= best


@pytest.mark.parametrize("kind", ["natural", "independent"])
def test_relaxations_lie_above_what_they_relax(kind):
    rng = np.random.default_rng(5)
    table = rng.uniform(0.2, 2.0, size=(2, 3, 2))
    relaxed = Tilted(table, (0.6, 0.5, 0.7), 1.7) if kind == "natural" else Crossed(table)
    for _ in range(50):
        corners = tuple(rng.dirichlet(np.ones(d), size=(1, d)) for d in (2, 3))
        upper = relaxed.upper(corners)[0]
        for _ in range(20):
            inside = tuple(rng.dirichlet(np.ones(c.shape[1])) @ c[0] for c in corners)
            assert relaxed.exact(tuple(p[None] for p in inside))[0] <= upper + 1e-12


@pytest.mark.parametrize("seed", range(4))
def test_a_search_that_is_cut_short_still_has_a_valid_lower_bound(seed):
    law = random_law((2, 2), seed)
    exact = two_by_two(law)[0]
    for options in ({"rounds": 1}, {"rounds": 2}, {"nodes": 1}):
        found = search(law, **options)
        assert found.lower.value <= exact + 1e-12
        assert found.score.value >= exact - 1e-9
    envelope = concave_envelope(law, NaturalComponents((2, 2), (1.0, 1.0, 1.0), np.ones(4, dtype=bool)), rounds=1)
    ceiling = 2 * entropy(law) - entropy(law, [0]) - entropy(law, [1])
    assert envelope.value <= ceiling - exact + 1e-9
    assert envelope.upper >= ceiling - exact - 1e-9


def test_large_deterministic_search_finds_planted_blocks():
    """Four blocks of two rows and two columns, 16 cells with mass: more than all partitions are tried for."""
    law = np.kron(np.eye(4) / 4, np.full((2, 2), 0.25))
    found = search(law, deterministic=True)
    assert found.score.value == pytest.approx(0.0, abs=1e-9)
    assert found.latent_entropy.value == pytest.approx(np.log(4))
    assert found.lower.direction == "lower"


@pytest.mark.parametrize("seed", range(4))
def test_gacs_korner_is_determined_by_every_observable(seed):
    rng = np.random.default_rng(seed)
    law = np.kron(np.diag(rng.dirichlet(np.ones(3))), rng.dirichlet(np.ones(4)).reshape(2, 2))
    found = gacs_korner(law)
    assert all(redundancy_error(law, found.channel, i, deterministic=True) < 1e-12 for i in (0, 1))
    assert found.channel.shape[-1] == 3
    noisy = 0.999 * law + 0.001 / law.size
    assert gacs_korner(noisy).score.value == pytest.approx(0.0, abs=1e-12)
    assert gacs_korner(noisy, ignore=0.0005).channel.shape[-1] >= 3
    with pytest.raises(DataError, match="drops every cell"):
        gacs_korner(law, ignore=1.0)


def test_gacs_korner_of_three_variables():
    law = np.zeros((2, 2, 2))
    law[0, 0, 0] = law[1, 1, 1] = 0.5
    assert gacs_korner(law).score.value == pytest.approx(np.log(2))
    law[0, 1, 1] = 0.1
    assert gacs_korner(law / law.sum()).score.value == pytest.approx(0.0)


@pytest.mark.parametrize("crossover", [0.05, 0.2, 0.4])
def test_wyner_of_a_symmetric_pair(crossover):
    def h(t):
        return -t * np.log(t) - (1 - t) * np.log(1 - t)

    law = np.array([[1 - crossover, crossover], [crossover, 1 - crossover]]) / 2
    inner = (1 - np.sqrt(1 - 2 * crossover)) / 2
    found = wyner(law)
    assert found.score.value == pytest.approx(np.log(2) + h(crossover) - 2 * h(inner), abs=1e-5)
    assert found.gap <= 2e-5
    assert mediation_error(law, found.channel) < 1e-7


def test_wyner_lies_between_mutual_information_and_functional():
    """Where the common part is exact all four coincide; elsewhere GK ≤ I ≤ Wyner ≤ functional."""
    law = np.kron(np.diag([0.3, 0.7]), np.outer([0.5, 0.5], [0.4, 0.6]))
    values = [gacs_korner(law), wyner(law), functional_common_information(law)]
    assert [v.score.value for v in values] == pytest.approx([entropy(np.array([0.3, 0.7]))] * 3, abs=2e-5)
    law = random_law((2, 3), 1)
    information = entropy(law, [0]) + entropy(law, [1]) - entropy(law)
    assert information <= wyner(law).score.value + 1e-9
    assert wyner(law).score.value <= functional_common_information(law).score.value + 1e-6


def test_functional_needs_few_cells():
    with pytest.raises(DataError, match="law.*16 cells with mass.*up to 14"):
        functional_common_information(random_law((4, 4), 0))


def test_resampling_by_hand():
    law = random_law((2, 3), 2)
    channel = resampling(law)
    for x, y in itertools.product(range(2), range(3)):
        first = law[:, y] / law[:, y].sum()
        second = law[x] / law[x].sum()
        np.testing.assert_allclose(channel[x, y], np.outer(first, second).ravel())
    exact = planted_natural(domains=1, observables=3).laws[0]
    assert weighted_score(exact, resampling(exact)) < 1.0
    blocks = np.kron(np.diag([0.3, 0.7]), np.outer([0.5, 0.5], [0.4, 0.6]))
    assert mediation_error(blocks, resampling(blocks)) == pytest.approx(0.0, abs=1e-12)


def test_shared_search_is_certified_and_beats_the_baselines():
    family = random_family((2, 2), 2, 2, seed=4, concentration=0.5)
    found = search_shared(family.laws)
    assert found.score.direction == "upper"
    assert found.lower.value <= found.score.value
    assert found.score.value <= min(found.baselines.values()) + 1e-4
    report = check(family.laws, found.channel)
    for alpha in np.random.default_rng(0).dirichlet(np.ones(2), size=50):
        member = Family(family.laws, found.channel)
        total = member.mediation(alpha) + sum(member.redundancy([i], alpha) for i in range(2))
        assert total <= found.score.value + 1e-9
    assert report.worst.mediation.upper.value <= found.score.value + 1e-4
    with pytest.raises(DataError, match="at least two domains"):
        search_shared(family.laws[:1])


@pytest.mark.parametrize("rho", [-0.9, -0.2, 0.3, 0.5, 0.6, 0.8, 0.99])
def test_gaussian_pair_against_numerical_optimisation(rho):
    """Minimise over every 2×2 conditional covariance below the given one."""
    sigma = np.array([[1.0, rho], [rho, 1.0]])
    root = np.linalg.cholesky(sigma)

    def score(theta):
        a = np.array([[theta[0], 0.0], [theta[1], theta[2]]])
        inner = np.linalg.inv(np.eye(2) + a @ a.T)  # between 0 and 1
        c = root @ inner @ root.T
        det = np.linalg.det(c)
        return np.log(c[0, 0] * c[1, 1]) - 1.5 * np.log(det) + np.log(np.linalg.det(sigma))

    starts = np.random.default_rng(0).normal(size=(6, 3))
    best = min(minimize(score, s, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12}).fun for s in starts)
    assert gaussian_pair(rho).score == pytest.approx(best, abs=1e-6)


def test_gaussian_pair_reaches_its_score():
    """Λ = X + Y + noise with the stated conditional distribution has the stated score by the determinant formula."""
    pair = gaussian_pair(0.8)
    c = pair.conditional_variance * np.array([[1, pair.conditional_correlation], [pair.conditional_correlation, 1]])
    sigma = np.array([[1, 0.8], [0.8, 1]])
    # S − C = S g gᵀ S / v for a scalar latent with direction g.
    gain = sigma - c
    direction = np.linalg.eigh(gain)[1][:, -1] * np.sqrt(np.linalg.eigh(gain)[0][-1])
    joint = np.block([[sigma, direction[:, None]], [direction[None], np.ones((1, 1))]])
    total = gaussian_total_correlation(joint, [[0], [1]], [2])
    total += gaussian_total_correlation(joint, [[2], [0]], [1]) + gaussian_total_correlation(joint, [[2], [1]], [0])
    assert total == pytest.approx(pair.score, abs=1e-10)


def test_singular_covariances_are_refused():
    with pytest.raises(DataError, match="the information is infinite.*noise"):
        gaussian_total_correlation(np.ones((2, 2)), [[0], [1]])
    with pytest.raises(DataError, match="strictly between -1 and 1"):
        gaussian_pair(1.0)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: search(np.full((2, 2), 0.25), [1, 1]), r"weights=\[1.0, 1.0\].*2 entries.*expected 3"),
        (lambda: search(np.full((2, 2), 0.25), [1, 0, 0]), "at least one redundancy"),
        (lambda: search(np.full((2, 2), 0.25), [1, -1, 1]), r"weights=\[1.0, -1.0, 1.0\].*≥ 0"),
        (lambda: search(np.full(4, 0.25)), "at least two observables"),
        (lambda: search(np.full((17, 17), 1 / 289)), "289 cells with mass, more than the 256.*deterministic=True"),
        (lambda: two_by_two(np.full((2, 3), 1 / 6)), r"law.*\(2, 3\).*two bits"),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(DataError, match=words):
        call()


def test_a_search_says_what_it_found():
    text = str(search([[0.6, 0.05], [0.05, 0.3]]))
    assert text.startswith("score 0.175629 nats with 2 values")
    assert "no latent scores below 0.17562" in text
    assert "constant" in text


def test_a_light_block_must_be_as_independent_as_a_heavy_one():
    """Two perfectly tied cells of mass 1e-10 cannot share a block: the functional common information is H(X_1)."""
    law = np.diag([1 - 2e-10, 1e-10, 1e-10])
    found = functional_common_information(law)
    assert found.score.value == pytest.approx(entropy(law, [0]), rel=1e-9)
    assert found.channel.shape[-1] == 3


def test_wyner_is_never_below_what_the_observables_share():
    """Almost all mass on a few cells: the dual bound gives up, the mutual information does not."""
    law = np.array([[0.5, 1e-9, 0.0], [0.0, 0.3, 1e-9], [1e-9, 0.0, 0.2 - 3e-9]])
    law[2, 2] = 1 - law.sum() + law[2, 2]
    found = wyner(law, nodes=2000, rounds=30)
    shared = mutual_information(law, [0], [1])
    assert shared - 1e-9 <= found.lower.value <= found.score.value + 1e-9


def test_scores_in_large_units_keep_their_certificate():
    found = search([[0.6, 0.05], [0.05, 0.3]], [1e6, 1e6, 1e6])
    exact, _ = two_by_two([[0.6, 0.05], [0.05, 0.3]])
    assert found.lower.low <= 1e6 * exact <= found.score.high


def test_too_many_observables():
    law = np.zeros((2,) * 11)
    law[(0,) * 11] = law[(1,) * 11] = 0.5
    with pytest.raises(DataError, match="11 observables, more than the 10 of the exact search.*Join"):
        search(law)
    assert search(law, deterministic=True).score.value == pytest.approx(0.0, abs=1e-9)
    with pytest.raises(DataError, match="law.*11 observables.*Common information"):
        wyner(law)


@pytest.mark.parametrize("seed", range(12))
def test_no_descent_goes_below_the_lower_bound(seed):
    """Zero cells, almost deterministic distributions, unequal alphabets, weights of zero: from six starts each."""
    rng = np.random.default_rng(seed)
    shape = [(2, 3), (3, 3), (2, 2, 2), (1, 4)][seed % 4]
    law = rng.dirichlet(np.full(np.prod(shape), [1.0, 0.1, 0.02][seed % 3])).reshape(shape)
    law = np.where(rng.random(shape) < 0.3, 0.0, law) + 1e-3 * (np.arange(law.size).reshape(shape) == 0)
    law /= law.sum()
    weights = [[1.0, 0.0, 3.0, 1.0], [0.0, 1.0, 1.0, 1.0], [1.0] * 4][seed % 3][: len(shape) + 1]
    found = search(law, weights, nodes=5000, rounds=40)
    for _ in range(6):
        start = rng.dirichlet(np.full(4, 0.3), size=shape)
        other = weighted_score(law, descend(law[None], start, weights, steps=150), weights)
        assert other >= found.lower.value - 1e-10


def test_a_matrix_with_two_negative_variances_is_no_covariance():
    with pytest.raises(DataError, match="it is not a covariance"):
        gaussian_total_correlation(np.kron(np.eye(2), [[1.0, 2.0], [2.0, 1.0]]), [[0], [1], [2], [3]])


@pytest.mark.parametrize("seed", [2, 7])
def test_no_random_descent_beats_the_shared_latent(seed):
    """Three almost deterministic domains: the score at the worst mixture has many valleys."""
    rng = np.random.default_rng(seed)
    laws = np.stack([rng.dirichlet(np.full(4, 0.3)).reshape(2, 2) for _ in range(3)])
    found = search_shared(laws, tolerance=1e-3, rounds=6)
    mixtures = np.vstack([np.eye(3), rng.dirichlet(np.ones(3), size=9)])
    for _ in range(2):
        start = rng.dirichlet(np.full(4, 0.5), size=(2, 2))
        other = Family(laws, descend(laws, start, (1.0,) * 3, mixtures, steps=150))
        reached = worst_score(other, (1.0,) * 3).upper.value
        assert found.lower.value <= reached
        assert found.score.value <= reached + 2e-3
