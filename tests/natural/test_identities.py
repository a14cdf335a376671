"""Every identity of the mixture theory over random distributions, to 1e-12; both counterexamples."""

import itertools

import numpy as np
import pytest

from latentry.generators import random_family, xor_across_domains
from latentry.natural import (
    Family,
    check,
    conditional_entropy,
    mediation_error,
    mutual_information,
    redundancy_error,
    total_correlation,
)

CASES = [
    (shape, latents, domains, seed)
    for (shape, latents, domains), seeds in {
        ((2, 2), 2, 2): 8,
        ((3, 2), 3, 3): 8,
        ((2, 2, 2), 2, 4): 8,
        ((2, 3, 2), 3, 2): 6,
        ((2, 2, 2, 2), 2, 3): 5,
    }.items()
    for seed in range(seeds)
]


@pytest.fixture(params=CASES, ids=str)
def case(request):
    shape, latents, domains, seed = request.param
    drawn = random_family(shape, latents, domains, seed, concentration=0.5)
    alpha = np.random.default_rng(seed).dirichlet(np.ones(domains))
    return Family(drawn.laws, drawn.channel), alpha


def with_domain(family, alpha):
    """P(J, X, Λ) as one plain table: axis 0 is the domain, the last is the latent."""
    return family.joint * alpha.reshape([-1] + [1] * (family.joint.ndim - 1))


def mediated(joint):
    """P(Λ) Π_i P(X_i|Λ) of a joint with the latent on the last axis."""
    n = joint.ndim - 1
    share = joint.sum(axis=tuple(range(n)))
    product = share.copy()
    for i in range(n):
        pair = joint.sum(axis=tuple(a for a in range(n) if a != i), keepdims=True)
        product = product * pair / share
    return product


def same(a, b):
    np.testing.assert_allclose(a, b, atol=1e-12, rtol=0)


def test_errors_are_the_divergences_of_the_definitions(case):
    family, alpha = case
    pooled = np.tensordot(alpha, family.laws, axes=1)
    n = family.observables
    joint = pooled[..., None] * family.channel
    product = mediated(joint)
    same(family.mediation(alpha), np.sum(joint * np.log(joint / product)))
    same(family.mediation(alpha), mediation_error(pooled, family.channel))
    for i in range(n):
        others = tuple(a for a in range(n) if a != i)
        guess = joint.sum(axis=others)
        guess = guess / guess.sum(axis=-1, keepdims=True)
        shape = [1] * (n + 1)
        shape[i], shape[n] = joint.shape[i], joint.shape[n]
        divergence = np.sum(joint * np.log(family.channel / guess.reshape(shape)))
        same(family.redundancy([i], alpha), divergence)
        same(redundancy_error(pooled, family.channel, i), divergence)


def test_redundancy_gap_is_the_domain_information(case):
    family, alpha = case
    table, n = with_domain(family, alpha), family.observables
    for kept in [(i,) for i in range(n)] + [tuple(j for j in range(n) if j != i) for i in range(n)]:
        corners = [float(family.redundancy(kept, e)) for e in np.eye(family.domains)]
        gap = mutual_information(table, [n + 1], [0], [i + 1 for i in kept])
        same(family.redundancy(kept, alpha), alpha @ corners + gap)


def test_redundancy_gradient(case):
    family, alpha = case
    joint = np.tensordot(alpha, family.joint, axes=1)
    for i in range(family.observables):
        gradients = family.redundancy_gradient([i], alpha)
        guess = joint.sum(axis=tuple(a for a in range(family.observables) if a != i), keepdims=True)
        guess = guess / guess.sum(axis=-1, keepdims=True)
        by_hand = [np.sum(q * np.log(family.channel / guess)) for q in family.joint]
        same(gradients, by_hand)
        same(alpha @ gradients, family.redundancy([i], alpha))
        truth = np.array([float(family.redundancy([i], e)) for e in np.eye(family.domains)])
        assert (truth <= gradients + 1e-12).all()
        gap = float(family.redundancy([i], alpha)) - alpha @ truth
        assert (truth <= (float(family.redundancy([i], alpha)) - gap) / alpha + 1e-12).all()


def test_redundancy_is_concave(case):
    family, alpha = case
    other = np.roll(alpha, 1)
    middle = family.redundancy([0], (alpha + other) / 2)
    assert middle >= (family.redundancy([0], alpha) + family.redundancy([0], other)) / 2 - 1e-12


def test_mediation_gap(case):
    family, alpha = case
    table, n = with_domain(family, alpha), family.observables
    corners = np.array([float(family.mediation(e)) for e in np.eye(family.domains)])
    whole = mutual_information(table, [0], list(range(1, n + 1)), [n + 1])
    parts = sum(mutual_information(table, [0], [i], [n + 1]) for i in range(1, n + 1))
    same(family.mediation(alpha), alpha @ corners + parts - whole)
    report = check(family.laws, family.channel, alpha)
    same(report.drift.mechanism.value, whole)
    same(report.drift.synergy.value, whole - parts)
    assert alpha @ corners <= family.mediation(alpha) + max(0.0, whole - parts) + 1e-12


def test_mediation_gradient_and_ceiling(case):
    family, alpha = case
    n = family.observables
    gradient = family.mediation_gradient(alpha)
    same(alpha @ gradient, family.mediation(alpha))
    step = 1e-6
    for j, e in enumerate(np.eye(family.domains)):
        # M is homogeneous of degree one, so plain partial derivatives exist off the simplex.
        ahead, behind = alpha + step * e, alpha - step * e
        numerical = (family.mediation(ahead) - family.mediation(behind)) / (2 * step)
        assert numerical == pytest.approx(gradient[j], abs=1e-7)
    joint = np.tensordot(alpha, family.joint, axes=1)
    for j, q in enumerate(family.joint):
        whole = conditional_divergence(q, joint, list(range(n)), n)
        parts = sum(conditional_divergence(q, joint, [i], n) for i in range(n))
        truth = family.mediation(np.eye(family.domains)[j])
        same(truth, gradient[j] + whole - parts)
        same(family.mediation_ceiling(alpha)[j], gradient[j] + whole)
        assert truth <= family.mediation_ceiling(alpha)[j] + 1e-12


def conditional_divergence(q, p, axes, latent):
    """E_q D(q(X_axes|Λ) ‖ p(X_axes|Λ))."""
    drop = tuple(a for a in range(latent) if a not in axes)
    a, b = q.sum(axis=drop), p.sum(axis=drop)
    rows = tuple(range(a.ndim - 1))
    return np.sum(a * np.log(a / a.sum(axis=rows) / (b / b.sum(axis=rows))))


def test_the_jensen_step_goes_in_the_other_direction(case):
    """Σ_j α_j D(Q_j‖R_α) = M(α) + JSD_α(Q_1, ..., Q_k) ≥ M(α)."""
    family, alpha = case
    mixed = np.tensordot(alpha, family.joint, axes=1)
    reference = mediated(mixed)
    total = sum(a * np.sum(q * np.log(q / reference)) for a, q in zip(alpha, family.joint, strict=True))
    spread = sum(a * np.sum(q * np.log(q / mixed)) for a, q in zip(alpha, family.joint, strict=True))
    same(total, family.mediation(alpha) + spread)
    assert spread > 0


def test_an_invariant_mechanism_makes_mediation_linear():
    rng = np.random.default_rng(3)
    given_latent = rng.dirichlet(np.ones(8), size=2)
    shares = rng.dirichlet(np.ones(2), size=3)
    joint = shares[:, None, :] * given_latent.T[None]
    laws = joint.sum(axis=-1).reshape(3, 2, 2, 2)
    # X must be the same given Λ, and Λ given X must be one channel: true when the supports are disjoint.
    given_latent[0, 4:], given_latent[1, :4] = 0.0, 0.0
    given_latent /= given_latent.sum(axis=1, keepdims=True)
    joint = shares[:, None, :] * given_latent.T[None]
    laws = joint.sum(axis=-1).reshape(3, 2, 2, 2)
    channel = (given_latent > 0).T.astype(float).reshape(2, 2, 2, 2)
    family = Family(laws, channel)
    corners = np.array([float(family.mediation(e)) for e in np.eye(3)])
    for alpha in rng.dirichlet(np.ones(3), size=5):
        same(family.mediation(alpha), alpha @ corners)


@pytest.mark.parametrize(("strength", "shared", "error"), [(0.5, False, np.log(2)), (0.4, True, 0.3680642071684971)])
def test_counterexamples(strength, shared, error):
    """Zero error and zero gradient at the mixture; a large mediation error in each domain."""
    family = xor_across_domains(strength, shared=shared)
    report = check(family.laws, family.channel, [0.5, 0.5], epsilon=0.1)
    assert report.pooled.mediation.value == pytest.approx(0.0, abs=1e-12)
    assert all(b.value <= 1e-12 for b in report.pooled.redundancy)
    assert report.stationary
    assert np.ptp(report.mediation_gradient) < 1e-12
    for domain, theorem in zip(report.domains, report.theorem, strict=True):
        assert domain.mediation.value == pytest.approx(error, abs=1e-9)
        assert theorem.ratio_fails
        assert theorem.mediation_ceiling.value >= domain.mediation.value - 1e-12
    assert report.pooled.latent_entropy.value == pytest.approx(np.log(2) if shared else 0.0, abs=1e-12)
    assert report.verdicts["pooled"].certified
    assert report.verdicts["domain 0"].refuted
    assert report.verdict.refuted
    assert "although the gradient is zero" in report.notes[0]


@pytest.mark.parametrize("radius", [0.05, 0.1])
def test_a_ball_of_weights_hides_the_corners_by_a_quarter_of_its_inverse_square(radius):
    """Small strength s: M = 2s² in the domains and 8 (radius s)² at the edge of the ball."""
    drawn = xor_across_domains(0.01)
    family = Family(drawn.laws, drawn.channel)
    edge = family.mediation(np.array([0.5 + radius, 0.5 - radius]))
    assert family.mediation(np.array([1.0, 0.0])) / edge == pytest.approx(1 / (4 * radius**2), rel=0.01)


def test_binary_entropy_of_the_second_counterexample():
    h = -(0.9 * np.log(0.9) + 0.1 * np.log(0.1))
    assert np.log(2) - h == pytest.approx(0.36806, abs=1e-5)


def test_deletion_budgets_interpolate(case):
    family, alpha = case
    report = check(family.laws, family.channel, alpha)
    errors, n = report.pooled, family.observables
    assert errors.deletion[1].value == pytest.approx(max(b.value for b in errors.weak), abs=1e-12)
    assert errors.deletion[n - 1].value == pytest.approx(max(b.value for b in errors.redundancy), abs=1e-12)
    assert all(a.value <= b.value + 1e-12 for a, b in itertools.pairwise(errors.deletion[m] for m in range(1, n)))
    pooled = np.tensordot(alpha, family.joint, axes=1)
    for i in range(n):
        noise = conditional_entropy(pooled, [n], list(range(n)))
        same(errors.deterministic[i].value, errors.redundancy[i].value + noise)


def test_deterministic_latents_and_the_sum_of_informations(case):
    """For Λ = f(X): TC(X|Λ) = TC(X) + H(Λ) − Σ_i I(X_i; Λ)."""
    family, alpha = case
    hard = np.eye(family.channel.shape[-1])[family.channel.argmax(axis=-1)]
    law = np.tensordot(alpha, family.laws, axes=1)
    joint = law[..., None] * hard
    n = family.observables
    shared = sum(mutual_information(joint, [i], [n]) for i in range(n))
    entropy = conditional_entropy(joint, [n])
    same(mediation_error(law, hard), total_correlation(law) + entropy - shared)


def test_replacement_theorem_in_total_variation_and_jensen_shannon():
    """Γ ~ P[Λ|X_1] on its own: linear in total variation, (2√a + √b)² in Jensen–Shannon."""
    for seed in range(40):
        drawn = random_family((3, 3), 2, 1, seed, concentration=0.4)
        law = drawn.laws[0]
        pair = np.einsum("xy,xyl->xl", law, drawn.channel)
        gamma = np.broadcast_to((pair / pair.sum(axis=1, keepdims=True))[:, None, :], drawn.channel.shape)
        for kind, bound in [("tv", lambda a, b: 2 * a + b), ("js", lambda a, b: (2 * a**0.5 + b**0.5) ** 2)]:
            first, second = (redundancy_error(law, drawn.channel, i, kind=kind) for i in (0, 1))
            medial = mediation_error(law, drawn.channel, kind=kind)
            assert redundancy_error(law, gamma, 0, kind=kind) == pytest.approx(0.0, abs=1e-12)
            assert redundancy_error(law, gamma, 1, kind=kind) <= bound(first, second) + 1e-12
            assert mediation_error(law, gamma, kind=kind) <= bound(first, medial) + 1e-12
