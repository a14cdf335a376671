"""Audits of planted samples: the right verdict for the right reason, and refusals in words."""

import json

import numpy as np
import pytest

from latentry.data import CategoricalChannel, Dataset, GaussianChannel
from latentry.errors import DataError
from latentry.generators import finite_laws
from latentry.natural import as_rows, audit, check, noise_curve, redundancy_error
from latentry.natural.from_samples.independence_tests import neighbour_test, residual_power, residual_test
from latentry.natural.from_samples.observables import Block
from latentry.natural.from_samples.redundancy_bounds import teach


def run(family, n=6000, seed=0, **options):
    sample = family.sample(n, seed)
    observed = {f"x{i}": sample.observables[:, i] for i in range(sample.observables.shape[1])}
    options = {"epsilon": 0.05, "domain": sample.domain, "drift": False, "seed": seed, **options}
    return audit(observed, CategoricalChannel(sample.channel_rows), **options)


def test_a_planted_natural_latent_is_certified():
    found = run(finite_laws.planted_natural())
    assert found.verdict.certified
    assert list(found.verdicts) == ["domain 0", "domain 1", "every mixture"]
    assert len(found.simultaneous) == 9
    bound = found.claims[0].upper
    assert (bound.direction, bound.confidence) == ("upper", 0.95)
    assert "no levels beyond those seen" in bound.assumptions


@pytest.mark.parametrize(
    ("family", "reason"),
    [
        (finite_laws.near_miss(0.09), "mediation error"),
        (finite_laws.xor_across_domains(shared=True), "mediation error"),
        (finite_laws.leaked_noise(), "redundancy error of x1"),
        (finite_laws.synergy(), "error"),
        (finite_laws.constant_latent(), "mediation error"),
    ],
    ids=lambda x: getattr(x, "planted", x),
)
def test_planted_failures_are_refuted(family, reason):
    found = run(family)
    assert found.verdict.refuted
    assert reason in found.verdict.sentence


def test_domains_that_mediate_do_not_make_mixtures_that_do():
    """Λ constant; the bits are independent in each domain but mostly 0 in one and mostly 1 in the other."""
    rng = np.random.default_rng(0)
    domain = np.arange(8000) % 2
    bits = (rng.random((8000, 2)) < np.where(domain, 0.95, 0.05)[:, None]).astype(int)
    observed = {"a": bits[:, 0], "b": bits[:, 1]}
    found = audit(observed, np.zeros(8000, dtype=int), domain=domain, epsilon=0.05, drift=False)
    assert found.verdicts["domain 0"].certified
    assert found.verdicts["domain 1"].certified
    mixture = next(c for c in found.claims if c.name == "mediation error in every mixture")
    assert not found.verdict.certified
    laws = [np.outer([1 - p, p], [1 - p, p]) for p in (0.05, 0.95)]
    assert mixture.upper.value >= check(laws, np.ones((2, 2, 1))).worst.mediation.lower.value


def test_numbers_whose_squares_overflow_are_refused():
    x = 1e200 * np.random.default_rng(0).normal(size=(200, 2))
    with pytest.raises(DataError, match="block 'a': numbers beyond 1e.151"):
        audit({"a": x[:, 0], "b": x[:, 1]}, np.arange(200) % 2, epsilon=0.1)


def test_numbers_of_four_bytes_are_no_cause_for_a_warning():
    """Which would be an error here: the largest number whose square is finite is none of four bytes."""
    rows = np.random.default_rng(0).normal(size=(200, 2)).astype(np.float32)
    options = {"blocks": None, "domain": None, "noise": None, "quantiser": None, "fit": 0.5, "seed": 0}
    found = as_rows({"a": rows[:, 0], "b": rows[:, 1]}, np.arange(200) % 2, **options)
    assert [block.name for block in found.blocks] == ["a", "b"]


def test_few_rows_say_so_instead_of_certifying():
    found = run(finite_laws.planted_natural(), n=300)
    assert found.verdict.status == "cannot say"
    assert "lies between 0 and" in found.verdict.sentence
    assert "more rows" in found.verdict.change


def test_crowded_tables_fall_back_on_permutations():
    rng = np.random.default_rng(0)
    x = rng.integers(0, 8, 200)
    found = audit({"a": x, "b": (x + rng.integers(0, 2, 200)) % 8}, np.zeros(200, dtype=int), epsilon=0.1)
    assert found.claims[0].lower is None
    assert "too few rows per cell" in " ".join(found.notes)
    assert "p = 0.005 for an error of zero" in " ".join(found.notes)


def test_the_student_bounds_the_true_error_from_above():
    """The held-out mean loss is ε plus the student's own regret, so on average it lies above ε = 0.149."""
    family = finite_laws.noisy_copies(2, 0.1)
    sample = family.sample(8000, 0)
    rows = as_rows(
        {"a": sample.observables[:, 0], "b": sample.observables[:, 1]},
        CategoricalChannel(sample.channel_rows),
        blocks=None,
        domain=None,
        noise=None,
        quantiser=None,
        fit=0.5,
        seed=0,
    )
    lesson = teach(rows, rows.blocks[0], rows.fit, rows.audit, 0)
    truth = redundancy_error(family.laws[0], family.channel, 0)
    assert truth < lesson.losses.mean() + 4 * lesson.losses.std() / 60 < truth + 0.03
    assert lesson.losses.max() <= lesson.top
    assert lesson.upper(0.05, "betting", 0) > truth


def gaussian_views(n, seed=0, spread=0.3, names=("a", "b")):
    rng = np.random.default_rng(seed)
    z = rng.standard_normal((n, 1))
    return z, {name: z + spread * rng.standard_normal((n, 1)) for name in names}


@pytest.mark.usefixtures("quick_students")
def test_gaussian_family_certifies_and_refutes():
    z, views = gaussian_views(4000)
    # Λ = Z itself plus noise leaves the views dependent; with little noise it mediates.
    channel = GaussianChannel(z, np.full_like(z, 0.05))
    found = audit(views, channel, epsilon=0.08, family="gaussian")
    assert found.claims[0].verdict.certified
    assert "Gaussian rows" in found.claims[0].upper.assumptions
    noisy = audit(views, GaussianChannel(z, np.full_like(z, 1.0)), epsilon=0.08, family="gaussian")
    assert noisy.claims[0].verdict.refuted
    assert noisy.latent_entropy is None


def test_continuous_data_are_never_certified_for_mediation():
    z, views = gaussian_views(600)
    found = audit(views, GaussianChannel(z, np.full_like(z, 0.05)), epsilon=0.2)
    mediation = found.claims[0]
    assert found.family == "general"
    assert mediation.verdict.status == "supported"
    assert mediation.verdict.power > 0.9
    assert mediation.upper is None
    assert mediation.class_gain.assumptions[0] == "speaks of these predictors only"
    assert found.verdict.status != "certified"


@pytest.mark.usefixtures("quick_students")
def test_continuous_xor_across_domains_is_refuted_though_pooling_hides_it():
    """Independent when pooled, correlated by ±0.8 in the two domains."""
    rng = np.random.default_rng(0)
    n = 1200
    sign = np.where(np.arange(n) % 2 == 0, 0.8, -0.8)[:, None]
    x = rng.standard_normal((n, 1))
    y = sign * x + 0.6 * rng.standard_normal((n, 1))
    found = audit(
        {"x": x, "y": y},
        np.zeros(n, dtype=int),
        domain=np.where(sign[:, 0] > 0, "plus", "minus"),
        epsilon=0.2,
        drift=False,
    )
    assert found.verdicts["domain plus"].refuted
    assert found.verdict.refuted
    assert "almost constant" in " ".join(found.notes)


def test_residuals_and_neighbours_complement_each_other():
    """Linear dependence is seen by both, quadratic only by neighbours; the null is left alone (p > 0.01)."""
    rng = np.random.default_rng(1)
    z = rng.standard_normal((700, 1))
    noise = rng.standard_normal((700, 1))
    x = np.sin(z) + noise
    null = z**2 + rng.standard_normal((700, 1))
    linear, square = null + noise, null + noise**2
    assert min(residual_test(x, null, z).p_value, neighbour_test(x, null, z).p_value) > 0.01
    assert residual_test(x, linear, z).p_value < 1e-6
    assert neighbour_test(x, linear, z, draws=49).p_value <= 0.02
    assert neighbour_test(x, square, z, draws=49).p_value <= 0.02
    assert residual_power(700, 0.05, 0.05) > residual_power(70, 0.05, 0.05)


@pytest.mark.usefixtures("quick_students")
def test_a_deterministic_continuous_encoder_is_refused_until_noise_or_a_quantiser_is_declared():
    _, views = gaussian_views(500)
    embedding = views["a"] + views["b"]
    with pytest.raises(DataError, match="deterministic function with continuous values.*noise=σ.*quantiser=m"):
        audit(views, embedding, epsilon=0.1)
    assert audit(views, embedding, epsilon=0.5, noise=2.0, family="gaussian").claims[1].upper.value < 0.5
    rounded = audit(views, embedding, epsilon=0.5, quantiser=2)
    assert rounded.latent_entropy.value == pytest.approx(np.log(2), abs=0.1)


def test_the_noise_curve_falls():
    _, views = gaussian_views(600)
    curve = noise_curve(views, views["a"], [0.2, 1.0, 4.0], epsilon=0.1)
    values = [curve[s]["redundancy error of b"].value for s in (0.2, 1.0, 4.0)]
    assert values[0] > values[1] > values[2]
    # I(Λ; A|B) for Λ = A + σ·noise is ½ ln(1 + Var(A|B)/σ²).
    variance = 1.09 - 1 / 1.09
    for scale, value in zip((0.2, 1.0, 4.0), values, strict=True):
        truth = 0.5 * np.log1p(variance / scale**2)
        assert truth * 0.9 - 0.005 < value < truth * 1.25 + 0.02
    with pytest.raises(DataError, match="scales=.*0 must be positive"):
        noise_curve(views, views["a"], [0], epsilon=0.1)


def test_the_noise_curve_counts_the_groups_of_a_dataset():
    rng = np.random.default_rng(1)
    z = rng.standard_normal((60, 1))[np.arange(480) % 60]
    views = {"a": z, "b": z + 0.1 * rng.standard_normal((480, 1))}
    curve = noise_curve(Dataset(views, groups=np.arange(480) % 60), z, [1.0], epsilon=0.1)
    assert {bound.n for bound in curve[1.0].values()} == {30}
    with pytest.raises(DataError, match="has 5 of them to fit students and 5 to audit, and at least 20"):
        noise_curve(Dataset(views, groups=np.arange(480) % 10), z, [1.0], epsilon=0.1)


@pytest.mark.usefixtures("quick_students")
def test_a_dataset_brings_its_blocks_domain_and_missing_rows():
    sample = finite_laws.planted_natural().sample(3000, seed=1)
    left = sample.observables[:, :1].astype(float)
    left[:30] = np.nan
    data = Dataset({"left": left, "right": sample.observables[:, 1:].astype(float)}, domain=sample.domain)
    found = audit(data, sample.latent, epsilon=0.2, drift=True)
    assert "30 rows with a missing block were left out." in found.notes
    assert len(found.verdicts) == 3
    assert found.family == "discrete"  # floats with so few values are labels
    assert audit(data, sample.latent, epsilon=0.2, family="general", drift=False).family == "general"
    assert all(b.direction == "estimate" for b in found.drift.values())
    assert "I(domain; X | Λ)" in found.drift
    assert "audited" in str(found)
    written = json.loads(json.dumps(found.to_json(), allow_nan=False))
    assert written["claims"][1]["upper"]["direction"] == "upper"
    assert written["verdicts"]["every mixture"]["status"] == found.verdict.status


def test_drift_sees_a_domain_that_shows_through():
    rng = np.random.default_rng(0)
    domain = rng.integers(0, 2, 1500)
    x = {"a": rng.integers(0, 2, 1500), "b": np.where(domain, 1, 0)}
    found = audit(x, rng.integers(0, 2, 1500), domain=domain, epsilon=0.1)
    assert found.drift["I(domain; X | Λ)"].value == pytest.approx(np.log(2), abs=0.02)
    assert found.drift["I(Λ; domain | a)"].value < 0.02


@pytest.mark.usefixtures("quick_students")
def test_wide_blocks_are_seen_by_their_leading_components():
    """200 pixels that show one number, beside a curve that shows it too; a constant latent is refuted."""
    rng = np.random.default_rng(0)
    z = rng.standard_normal((600, 1))
    image = (z @ rng.standard_normal((1, 200)) + 0.3 * rng.standard_normal((600, 200))).reshape(600, 20, 10)
    curve = z @ rng.standard_normal((1, 8)) + 0.3 * rng.standard_normal((600, 8))
    found = audit({"image": image, "curve": curve}, np.zeros(600, dtype=int), epsilon=0.3)
    assert found.claims[0].verdict.refuted
    assert "12 leading components and 12 random directions of image, not at all of it" in " ".join(found.notes)
    rows = as_rows(
        {"image": image, "curve": curve},
        np.zeros(600, dtype=int),
        blocks=None,
        domain=None,
        noise=None,
        quantiser=None,
        fit=0.5,
        seed=0,
    )
    assert [b.features.shape[1] for b in rows.blocks] == [30, 8]
    assert [b.summary.shape[1] for b in rows.blocks] == [5, 5]
    assert abs(np.corrcoef(rows.blocks[0].summary[:, 0], z[:, 0])[0, 1]) > 0.98


def test_many_labels_are_seen_by_the_common_ones():
    codes = np.concatenate([np.arange(40), np.repeat(7, 60)])
    block = Block.of_labels("x", codes)
    assert block.summary.shape == (100, 12)
    np.testing.assert_allclose(block.summary.sum(axis=1), 1.0)
    np.testing.assert_array_equal(block.summary[:, 0], codes == 7)


def test_a_quantiser_is_judged_on_rows_it_did_not_see():
    _, views = gaussian_views(600)
    options = {"blocks": None, "domain": None, "noise": None, "fit": 0.5, "seed": 0}
    rows = as_rows(views, views["a"] + views["b"], quantiser=3, **options)
    np.testing.assert_array_equal(rows.untouched, rows.audit)
    plain = as_rows(views, GaussianChannel(views["a"], np.ones((600, 1))), quantiser=None, **options)
    assert len(plain.untouched) == 600


@pytest.mark.usefixtures("quick_students")
def test_measurements_with_few_values_may_be_numbers():
    """Rounded measurements: labels unless they are named, and the notes say so."""
    rng = np.random.default_rng(0)
    z = rng.standard_normal((300, 1))
    views = {name: np.clip(np.round(2 * (z + rng.standard_normal((300, 1)))), -8, 8) / 2 for name in "ab"}
    channel = GaussianChannel(z, np.full((300, 1), 0.5))
    with pytest.raises(DataError, match=r"'a' holds labels \(so few different.*pass numbers=\['a', 'b'\]"):
        audit(views, channel, epsilon=0.5, family="gaussian")
    found = audit(views, channel, epsilon=0.5, family="gaussian", numbers=["a", "b"])
    assert found.claims[0].upper is not None
    taken = audit(views, channel, epsilon=0.5)
    assert any(note.startswith("a, b: so few") and "numbers=[...]" in note for note in taken.notes)


def test_a_latent_of_few_floats_is_named():
    found = audit(ROWS, LATENT * 1.0, epsilon=0.1)
    assert any("taken as labels; declare noise" in note for note in found.notes)
    assert not any("taken as labels" in note for note in audit(ROWS, LATENT, epsilon=0.1).notes)


ROWS = {"a": np.arange(100) % 2, "b": np.arange(100) % 3}
LATENT = np.arange(100) % 2


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: audit(ROWS, LATENT, epsilon=0), "epsilon=0: must be positive"),
        (lambda: audit(ROWS, LATENT, epsilon=0.1, level=0.7), "level=0.7: must lie between"),
        (lambda: audit(ROWS, LATENT, epsilon=0.1, fit=1), "fit=1: must lie between"),
        (lambda: audit(ROWS, LATENT, epsilon=0.1, mean="hoping"), "mean='hoping'.*Known: bernstein"),
        (lambda: audit(ROWS, LATENT, epsilon=0.1, family="gausian"), "did you mean 'gaussian'"),
        (lambda: audit(ROWS, LATENT, epsilon=0.1, family="gaussian"), "needs blocks of numbers, and .* holds labels"),
        (
            lambda: audit(ROWS, LATENT * 1.0, epsilon=0.1, family="gaussian", numbers=["a", "b"]),
            "family='gaussian'.*noise=σ",
        ),
        (lambda: audit(ROWS, LATENT, epsilon=0.1, numbers=["c"]), "numbers: no block is called 'c'"),
        (lambda: audit(ROWS, LATENT, epsilon=0.1, numbers=["a"], labels=["a"]), "in labels and in numbers"),
        (lambda: audit(ROWS, LATENT, epsilon=0.1, domain=[*"x" * 98, "y", "y"]), "domain 'y' has too few.*: 1 to fit"),
        (
            lambda: audit(ROWS, LATENT, epsilon=0.1, numbers=["a"], domain=[*"x" * 70, *"y" * 30]),
            "domain 'y' has too few complete rows: 15 to fit students and 15 to audit, where at least 20",
        ),
        (lambda: audit(ROWS, LATENT, epsilon=0.1, labels=["c"]), "labels: no block is called 'c'.*Known: a, b"),
        (lambda: audit(ROWS, LATENT[:50], epsilon=0.1), "channel.*50 rows.*100"),
        (lambda: audit(ROWS, LATENT, epsilon=0.1, domain=[1, 2]), r"domain.*\(2,\).*100 rows"),
        (lambda: audit({"a": LATENT}, LATENT, epsilon=0.1), r"blocks=\['a'\].*at least two observables"),
        (lambda: audit({"a": LATENT, "b": LATENT[:9]}, LATENT, epsilon=0.1), "different numbers of rows"),
        (lambda: audit({k: v[:20] for k, v in ROWS.items()}, LATENT[:20], epsilon=0.1), "20 complete rows are too few"),
        (lambda: audit(np.zeros((100, 2)), LATENT, epsilon=0.1), "blocks=None.*Give .*blocks="),
        (
            lambda: audit({"a": np.linspace(0, 1, 100), "b": LATENT}, LATENT, epsilon=0.1, family="discrete"),
            "family='discrete': needs labels everywhere",
        ),
        (lambda: audit(ROWS, np.full((100, 1), np.inf), epsilon=0.1), "not finite in row 0"),
        (lambda: audit(ROWS, np.zeros((100, 1)), epsilon=0.1, quantiser=1), "quantiser=1: must be at least 2"),
        (
            lambda: audit(Dataset({"left": np.zeros((50, 1))}), np.zeros(50, int), epsilon=0.1, blocks=["lef"]),
            "no modality is called 'lef'; did you mean 'left'",
        ),
    ],
)
def test_bad_input(call, words):
    with pytest.raises(DataError, match=words):
        call()


def test_of_very_many_rows_with_numbers_some_are_drawn(monkeypatch):
    """Parts shrink, a rare domain keeps enough, a note says so; tables of labels take all rows."""
    from latentry.natural.from_samples import audit_rows
    from latentry.natural.from_samples.judge import drift

    monkeypatch.setattr(audit_rows, "_MOST", 400)
    rng = np.random.default_rng(0)
    latent = rng.integers(0, 2, 4000)
    blocks = {
        "a": latent[:, None] + 0.1 * rng.normal(size=(4000, 1)),
        "b": latent[:, None] + 0.1 * rng.normal(size=(4000, 1)),
    }
    domain = (np.arange(4000) % 10 == 0).astype(int)
    rows = audit_rows.as_rows(blocks, latent, blocks=None, domain=domain, noise=None, quantiser=None, fit=0.5, seed=0)
    fewer = audit_rows.fewer_rows(rows, 0)
    assert fewer.drawn
    assert len(fewer.fit) + len(fewer.audit) < 2500
    for part, whole in ((fewer.fit, rows.fit), (fewer.audit, rows.audit)):
        assert set(part) < set(whole)
        assert min(np.bincount(domain[part])) >= 40
    assert {bound.n for bound in drift(fewer, 0).values()} == {len(fewer.fit) + len(fewer.audit)}
    labels = {name: (block > 0.5).astype(int) for name, block in blocks.items()}
    counted = audit_rows.as_rows(
        labels, latent, blocks=None, domain=domain, noise=None, quantiser=None, fit=0.5, seed=0
    )
    assert audit_rows.fewer_rows(counted, 0) is counted
