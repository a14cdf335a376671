"""How natural a latent is, and how far others are from the most natural one."""

import numpy as np
import pytest

import latentry as lt
from latentry.generators import planted_natural


@pytest.fixture(scope="module")
def views():
    rng = np.random.default_rng(0)
    z = rng.integers(0, 3, size=900)
    loud = rng.integers(0, 3, size=900)  # private to one view, and most of its columns
    left = np.column_stack([2 * z, z == 1, np.eye(3)[loud], np.eye(3)[loud], np.eye(3)[loud]])
    left = left + 0.1 * rng.normal(size=left.shape)
    right = np.column_stack([(z == 0), 2 * z]) + 0.3 * rng.normal(size=(900, 2))
    return lt.Dataset({"left": left, "right": right}), z, loud


@pytest.fixture(scope="module")
def answer(views):
    data, z, loud = views
    model = lt.NaturalLatents(
        values=3, epochs=80, learning_rate=1e-2, hidden=(16,), batch_size=64, restarts=1, progress=False
    )
    numbers = np.column_stack([z, z]) + 0.01 * np.random.default_rng(1).normal(size=(900, 2))
    return lt.natural.best(data, {"truth": z, "loud": loud, "numbers": numbers}, model=model)


def test_what_is_private_is_far_from_the_best(answer):
    """k-means and principal components take what is loud; the learned latent takes what is shared."""
    assert answer.found.score.value == pytest.approx(-np.log(3), abs=0.25)
    assert abs(float(answer.gaps["truth"])) < 0.25
    for name in ("loud", "k-means", "principal components"):
        assert answer.gaps[name].low > 0.5
    assert answer.others["numbers"].score.value == pytest.approx(answer.others["truth"].score.value, abs=0.1)
    assert answer.others["loud"].errors["right"].value > 0.9


def test_rows_that_judge_trained_nothing(answer, views):
    assert not set(answer.trained) & set(answer.audited)
    assert len(answer.trained) + len(answer.audited) == len(views[0])
    assert len(answer.model.record_.marks["trained"]) + len(answer.model.record_.held_out) == len(answer.trained)


def test_it_says_all_of_it(answer):
    text = str(answer)
    assert all(name in text for name in ("most natural", "k-means", "principal components", "loud"))
    line = lt.natural.beside_the_best(answer.found, answer.others["loud"])
    assert f"{answer.found.worst.value:.2g} nats" in line
    assert f"{answer.others['loud'].worst.value:.2g}" in line
    other = lt.natural.beside_the_best(answer.others["loud"], answer.found)
    assert "no lower than yours" in other


def test_the_score_is_that_of_the_exact_table():
    """Planted tables: the score from rows is the exact weighted score less the total correlation, up to sampling.

    The plug-in information of 20,000 rows is off by about 1e-3; 0.03 is far beyond six of its standard errors.
    """
    family = planted_natural(domains=1)
    sample = family.sample(20_000, seed=0)
    data = lt.Dataset({"a": sample.observables[:, :1], "b": sample.observables[:, 1:]})
    law = family.laws[0]
    wanted = float(lt.natural.weighted_score(law, family.channel)) - float(lt.natural.total_correlation(law))
    channel = lt.CategoricalChannel(sample.channel_rows)
    found = lt.natural.naturalness(data, channel, labels=("a", "b"))
    assert found.score.value == pytest.approx(wanted, abs=0.03)
    exact = lt.natural.check(family.laws, family.channel).domains[0].redundancy
    for bound, error in zip(found.errors.values(), exact, strict=True):
        assert bound.value >= error.value - 1e-9  # fails in at most 1 of 20 runs of other seeds


def test_the_worst_domain_bounds_every_mixture_and_the_domain_is_no_information():
    """Both views tell the domain and a fair coin; a latent that adds the coin of one view fails in the domain where it does."""
    rng = np.random.default_rng(0)
    coin, own, domain = rng.integers(0, 2, size=(3, 4000))
    views = {"left": np.column_stack([coin, own, domain]) + 0.0, "right": np.column_stack([coin, domain, domain]) + 0.0}
    data = lt.Dataset(views, domain=domain)
    latent = 2 * domain + np.where(domain == 1, own, coin)
    found, pooled = (lt.natural.naturalness(d, latent) for d in (data, data.with_domain(None)))
    assert found.information.value == pytest.approx(np.log(2), abs=0.01)
    assert pooled.information.value == pytest.approx(2 * np.log(2), abs=0.01)
    assert found.errors["right"].value == pytest.approx(np.log(2), abs=0.1)
    assert pooled.errors["right"].value == pytest.approx(np.log(2) / 2, abs=0.1)


def test_bad_input(views):
    data, z, _ = views
    with pytest.raises(lt.DataError, match=r"latents\['short'\]: has 5 rows, the data have 900"):
        lt.natural.best(data, {"short": z[:5]}, model=lt.NaturalLatents(values=2, epochs=1, restarts=1, hidden=(4,)))
    with pytest.raises(lt.DataError, match="aside=0"):
        lt.natural.best(data, aside=0)
    with pytest.raises(lt.DataError, match="audited: .*some of the 900 rows"):
        lt.natural.best(data, audited=np.arange(900))
    with pytest.raises(lt.DataError, match="noise|quantiser|labels"):
        lt.natural.naturalness(data, np.random.default_rng(0).normal(size=(900, 2)))
