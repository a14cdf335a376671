"""Controls must notice machinery that is broken; each test breaks one thing."""

import numpy as np
import pytest

import latentry as lt
from latentry.errors import DataError
from latentry.evidence import Bound, Estimate, Verdict
from latentry.generators import finite_laws
from latentry.natural import Claim

CONTROLS = {"only": ["controls"]}


@pytest.fixture(scope="module")
def natural(finite):
    return finite(finite_laws.planted_natural(), 2000)


def run(natural):
    data, latent = natural
    return lt.certify(latent, data, **CONTROLS)


def test_all_controls_hold(natural):
    found = run(natural)
    names = set(found["controls"].claims)
    assert {"shuffled domains, information", "constant latent", "copy latent", "a coin"} <= names
    assert {"permuted x1, information", "permuted x1, redundancy"} <= names
    assert {"row number", "every row twice", "domain as the latent", "planted dependence"} <= names
    assert found.trusted


def test_information_from_nowhere_is_noticed(natural, monkeypatch):
    leaking = lambda *args, **kwargs: Estimate(0.5, low=0.4, high=0.6, confidence=0.999)  # noqa: E731
    monkeypatch.setattr("latentry.certificate.audits.controls.mutual_information", leaking)
    found = run(natural)
    assert not found.trusted
    assert "cannot be trusted" in found["controls"].verdict.sentence
    assert found.verdict.status == "cannot say"
    assert not found.reached("controls")


def test_students_that_know_everything_are_noticed(natural, monkeypatch):
    monkeypatch.setattr("latentry.certificate.audits.natural_controls.redundancy_bound", lambda *args: 0.0)
    failed = {name for name, claim in run(natural)["controls"].claims.items() if claim.refuted}
    assert failed == {"permuted x1, redundancy", "permuted x2, redundancy", "a coin", "row number", "constant latent"}


def test_students_that_learn_nothing_are_noticed(natural, monkeypatch):
    monkeypatch.setattr("latentry.certificate.audits.natural_controls.redundancy_bound", lambda *args: 9.0)
    failed = {name for name, claim in run(natural)["controls"].claims.items() if claim.refuted}
    assert failed == {"constant latent", "copy latent"}


def test_rows_that_repeat_do_not_fool_the_controls(natural):
    """Every row twice: a student meets half of its exam in its lessons, and must still not know a coin."""
    data, latent = natural
    twice = data.take(np.repeat(np.arange(len(data)), 2))
    assert lt.certify(np.repeat(latent, 2), twice, **CONTROLS).trusted


def test_rows_in_an_order_that_shows_are_noticed():
    """Numbers that drift: a modality tells which half of the file a row is in."""
    rng = np.random.default_rng(0)
    drift = np.linspace(-6, 6, 400)[:, None]
    data = lt.Dataset({name: drift + 0.3 * rng.standard_normal((400, 2)) for name in "ab"})
    found = lt.certify(rng.integers(0, 2, 400), data, **CONTROLS)
    assert found["controls"].claims["row number"].refuted
    assert not found.trusted


@pytest.mark.parametrize(
    ("name", "broken", "control"),
    [
        ("independence", lambda rows: [], "every row twice"),
        ("reasons_to_call_it_empty", lambda rows: (), "domain as the latent"),
    ],
)
def test_checks_that_notice_nothing_are_noticed(natural, monkeypatch, name, broken, control):
    monkeypatch.setattr(f"latentry.certificate.audits.natural_controls.{name}", broken)
    assert run(natural)["controls"].claims[control].refuted


def test_dependence_that_is_certified_away_is_noticed(natural, monkeypatch):
    judge = "latentry.certificate.audits.natural_controls.Judge.mediation"
    claim = lambda *args: Claim("mediation error", "all rows", Verdict("certified", "", {"M": Bound(0.0)}))  # noqa: E731
    monkeypatch.setattr(judge, claim)
    assert run(natural)["controls"].claims["planted dependence"].refuted


def test_chance_does_not_break_the_trust(finite):
    """Twenty certificates, eight controls each at one in a thousand: more than one failure has probability 0.01."""
    broken = 0
    for seed in range(20):
        data, latent = finite(finite_laws.planted_natural(seed=seed), 600, seed=seed)
        broken += not lt.certify(latent, data, seed=seed, **CONTROLS).trusted
    assert broken <= 1


def test_bounds_of_controls_are_numbers(natural):
    for claim in run(natural)["controls"].claims.values():
        assert all(isinstance(b, Bound) and np.isfinite(b.value) for b in claim.evidence.values())


def test_numbers_that_repeat_are_not_taken_for_information():
    """Rounded measurements and a label that has nothing to do with them."""
    rng = np.random.default_rng(0)
    data = lt.Dataset(
        {"mass": np.round(rng.normal(size=(342, 2)), 1), "length": np.round(rng.normal(size=(342, 1)), 1)}
    )
    found = lt.certify(rng.integers(0, 3, 342), data, only=["informative", "controls"])
    assert found.trusted
    assert found["informative"].numbers["I(Λ; mass)"].low <= 0


def test_few_rows_say_what_they_cannot_reach_and_what_was_left_out(finite):
    data, latent = finite(finite_laws.planted_natural(), 150)
    few = lt.certify(latent, data.with_domain(None), only=["controls"], epsilon=0.01)["controls"]
    assert "even a constant leaves up to" in few.verdict.sentence
    holes = lt.Dataset(
        {name: data[name] for name in data.names},
        observed={name: np.arange(150) % len(data.names) != place for place, name in enumerate(data.names)},
    )
    left = lt.certify(latent, holes, only=["controls"])["controls"]
    assert any("were left out" in note for note in left.notes)
    assert left.verdict.status == "cannot say"
    assert "could not be run" in left.verdict.sentence


def test_what_could_not_run_is_not_trusted(natural, monkeypatch):
    def refuses(*args, **kwargs):
        raise DataError("values: too few.")

    monkeypatch.setattr("latentry.certificate.audits.controls.mutual_information", refuses)
    found = run(natural)
    assert found["controls"].verdict.status == "cannot say"
    assert not found.trusted
