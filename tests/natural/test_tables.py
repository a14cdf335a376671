"""Columns become the distributions and the channel that wrote them."""

import numpy as np
import pytest

from latentry.errors import DataError
from latentry.generators import random_family
from latentry.natural import from_columns


def columns(family):
    """One row per cell of P_j(x) K(λ|x)."""
    joint = family.laws[..., None] * family.channel
    index = np.indices(joint.shape).reshape(joint.ndim, -1)
    names = [f"X{i}" for i in range(joint.ndim - 2)]
    return dict(zip(names, index[1:-1], strict=True)), index[-1], index[0], joint.ravel()


def test_probabilities_round_trip():
    family = random_family((2, 3), 2, 3, seed=1)
    observables, latent, domain, mass = columns(family)
    order = np.random.default_rng(0).permutation(len(mass))
    shuffled = {name: column[order] for name, column in observables.items()}
    tables = from_columns(shuffled, latent[order], domain=domain[order], mass=mass[order])
    np.testing.assert_allclose(tables.laws, family.laws)
    np.testing.assert_allclose(tables.channel, family.channel)
    np.testing.assert_allclose(tables.weights, 1 / 3)
    assert tables.rows is None
    assert tables.channel_drift < 1e-12
    assert tables.notes == ()
    joint_mass = from_columns(shuffled, latent[order], domain=domain[order], mass=mass[order] / 3)
    np.testing.assert_allclose(joint_mass.laws, family.laws)


def test_counts_and_observations_agree():
    sample = random_family((2, 2), 2, 2, seed=3).sample(400, seed=1)
    named = {"A": sample.observables[:, 0], "B": sample.observables[:, 1]}
    rows = from_columns(named, sample.latent, domain=sample.domain)
    cells, count = np.unique(
        np.column_stack([sample.observables, sample.latent, sample.domain]), axis=0, return_counts=True
    )
    counted = from_columns({"A": cells[:, 0], "B": cells[:, 1]}, cells[:, 2], domain=cells[:, 3], mass=count)
    np.testing.assert_allclose(rows.laws, counted.laws)
    np.testing.assert_allclose(rows.channel, counted.channel)
    assert rows.rows == counted.rows == 400


def test_domains_that_disagree_about_the_channel_show_drift():
    tables = from_columns({"A": [0, 0], "B": [0, 0]}, ["u", "v"], domain=["north", "south"])
    assert tables.channel_drift == pytest.approx(np.log(2))
    assert tables.domains == ("north", "south")
    assert "counts of 2 rows" in tables.notes[0]
    assert "I(Λ; domain|X) = 0.693 nats" in tables.notes[1]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: from_columns({"A": [0]}, [0]), "at least two observables"),
        (lambda: from_columns({"A": [0], "B": [0, 1]}, [0]), r"column 'B'.*\(2,\).*1 rows"),
        (lambda: from_columns({"A": [], "B": []}, []), "no rows"),
        (lambda: from_columns({"A": [0.0, np.nan], "B": [0, 1]}, [0, 1]), "column 'A'.*empty in row 1"),
        (lambda: from_columns({"A": [0], "B": [0]}, [0], mass=[0.7]), "sums to 0.7 .*counts .* or probabilities"),
        (lambda: from_columns({"A": [0], "B": [0]}, [0], mass=[-1]), "mass=-1.0 in row 0"),
        (lambda: from_columns({"A": [0], "B": [0]}, [0], mass=[1, 2]), r"mass.*\(2,\)"),
        (
            lambda: from_columns({"A": [0, 1], "B": [0, 1]}, [0, 1], domain=["a", "b"], mass=[0, 3]),
            "domain 'a'.*no mass",
        ),
    ],
)
def test_bad_columns(call, words):
    with pytest.raises(DataError, match=words):
        call()


def test_too_many_cells_are_refused_before_they_are_made():
    many = np.arange(9000)
    with pytest.raises(DataError, match="81,000,000 cells.*audit the rows"):
        from_columns({"A": many, "B": many}, np.zeros(9000, dtype=int))


def test_empty_cells_of_text_are_named():
    with pytest.raises(DataError, match="column 'A'.*empty in row 1"):
        from_columns({"A": np.array(["x", None, "y"], dtype=object), "B": [0, 1, 1]}, ["u", "u", "v"])
    mixed = from_columns({"A": np.array(["x", 2, "y"], dtype=object), "B": [0, 1, 1]}, ["u", "u", "v"])
    assert mixed.observables["A"] == ("2", "x", "y")


def test_certainties_are_probabilities():
    """One cell of mass one in each domain is a distribution, not two rows."""
    found = from_columns({"A": [0, 1], "B": [0, 1]}, [0, 1], domain=["a", "b"], mass=[1.0, 1.0])
    assert found.rows is None
    assert found.notes == ()
