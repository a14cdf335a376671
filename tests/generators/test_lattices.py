"""Lattices: geometry of the slices, curves of the expert, laboratories, missing modalities."""

import numpy as np
import pytest

import latentry as lt
from latentry.generators import LATTICE_CURVES, lattices, lattices_graph
from latentry.generators.lattices import octet, two_pieces
from latentry.graphs import cpdag, joint_table


def test_outcomes_follow_the_graph_whose_arrow_cannot_be_seen():
    data = lattices(rows=4000, size=1, points=2)
    found = np.zeros((2, 2))
    np.add.at(found, (data.factors["lattice"], data.factors["profile"]), 1)
    # standard error below 0.008: four cells pass 5 of them once in 400,000 runs
    assert np.abs(found / 4000 - joint_table(lattices_graph())).max() < 0.04
    assert cpdag(lattices_graph()).undirected == (("lattice", "profile"),)


def test_a_curve_passes_through_its_kink():
    t = np.array([0.0, 0.2, 0.4, 0.7, 1.0])
    assert two_pieces(t, np.array([0.4]), np.array([0.6]), np.array([0.5]))[0] == pytest.approx(
        [0, 0.3, 0.6, 0.75, 0.9]
    )


def test_curves_are_the_experts_plus_noise():
    data = lattices(rows=300, size=1, seed=1)
    parameters = {name: data.factors[name] for name in ("x0", "y0", "slope")}
    rest = data["curve"] - two_pieces(np.linspace(0, 1, 100), **parameters)
    assert rest.std() == pytest.approx(0.02, rel=0.03)  # 30,000 points: 7 standard errors
    for pair, centre in LATTICE_CURVES.items():
        rows = (data.factors["lattice"] == pair[0]) & (data.factors["profile"] == pair[1])
        for name, scatter in (("x0", 0.01), ("y0", 0.02), ("slope", 0.03)):
            assert parameters[name][rows].mean() == pytest.approx(centre[name], abs=5 * scatter / np.sqrt(rows.sum()))


def test_the_picture_tells_the_lattice_and_nothing_else():
    data = lattices(rows=400, seed=2)
    flat, lattice, profile = data["image"].reshape(400, -1), data.factors["lattice"], data.factors["profile"]
    means = np.array([flat[:200][lattice[:200] == k].mean(axis=0) for k in (0, 1)])
    nearest = ((flat[200:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    assert (nearest == lattice[200:]).all()
    for kind in (0, 1):  # within a lattice, pictures of both profiles have the same law
        groups = [flat[(lattice == kind) & (profile == k)].mean(axis=1) for k in (0, 1)]
        error = np.sqrt(sum(g.var() / len(g) for g in groups))
        assert abs(groups[0].mean() - groups[1].mean()) < 5 * error


def test_struts_join_each_node_with_its_twelve_neighbours():
    """Independent of the direction table: points on segments between nearest nodes are material, at any cell."""
    rng = np.random.default_rng(0)
    nodes = np.array([[i, j, k] for i in range(5) for j in range(5) for k in range(5) if (i + j + k) % 2 == 0]) / 2
    apart = np.linalg.norm(nodes[:, None] - nodes[None], axis=2)
    pairs = np.argwhere(np.isclose(apart, np.sqrt(0.5)))
    a, b = nodes[pairs].transpose(1, 0, 2)
    share = rng.random((len(pairs), 1))
    points = a + share * (b - a)
    inside = np.array([octet(np.array([[x]]), np.array([[y]]), z, 1.0)[0, 0] for x, y, z in points])
    assert inside == pytest.approx(0.09)
    # and elsewhere the distance is that to the nearest segment
    probes = 0.5 + rng.random((50, 3))
    along = np.clip(((probes[:, None] - a) * (b - a)).sum(axis=2) / 0.5, 0, 1)
    distance = np.linalg.norm(probes[:, None] - a - along[..., None] * (b - a), axis=2).min(axis=1)
    inside = np.array([octet(np.array([[x]]), np.array([[y]]), z, 1.0)[0, 0] for x, y, z in probes])
    assert inside == pytest.approx(0.09 - distance)


def test_laboratories_differ_as_published():
    data = lattices(rows=600, labs=2, seed=0)
    lab = data.domain.values
    assert np.bincount(lab).tolist() == [300, 300]
    rest = [data["curve"][lab == k, -1] for k in (0, 1)]
    assert rest[1].mean() / rest[0].mean() == pytest.approx(0.9, abs=0.15)
    dark = [np.quantile(data["image"][lab == k], 0.1) for k in (0, 1)]
    assert dark[1] - dark[0] > 0.05
    assert lattices(rows=5).domain is None


@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 1.0])
def test_missing_rows_keep_one_modality(share):
    data = lattices(rows=200, size=2, missing=share)
    absent = np.array([~data.observed[name] for name in ("image", "curve")])
    assert absent.sum() == round(200 * share)
    assert not absent.all(axis=0).any()


def test_setting_the_lattice_moves_the_profile():
    assert lattices(rows=2000, size=1, points=2, do={"lattice": 1}).factors["profile"].mean() == pytest.approx(
        0.2, abs=0.045  # 5 standard errors
    )  # fmt: skip


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: lattices(labs=3), "labs=3: there are only 2 laboratories"),
        (lambda: lattices(missing=1.5), "missing=1.5: .* fraction of the rows"),
        (lambda: lattices(points=1), "points=1: .* whole number of at least 2"),
        (lambda: lattices(do={"profil": 0}), "profil"),
    ],
)
def test_bad_parameters(call, sentence):
    with pytest.raises(lt.DataError, match=sentence):
        call()
