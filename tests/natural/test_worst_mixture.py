"""Worst mixtures against dense grids, over the simplex, boxes and balls."""

import itertools
import math

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from latentry.errors import DataError
from latentry.generators import random_family, xor_across_domains
from latentry.natural import Family, Region, ball, box, simplex, worst_mediation, worst_redundancy


def grid(k, steps):
    cells = itertools.product(range(steps + 1), repeat=k - 1)
    return np.array([[*c, steps - sum(c)] for c in cells if sum(c) <= steps]) / steps


def drawn(k, seed, shape=(2, 2)):
    family = random_family(shape, 2, k, seed, concentration=0.5)
    return Family(family.laws, family.channel)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("k", "steps"), [(2, 2000), (3, 120), (4, 36)])
def test_against_a_dense_grid(k, steps, seed):
    family = drawn(k, seed)
    points = grid(k, steps)
    for best, supremum, slack in [
        (family.mediation(points).max(), worst_mediation(family, tolerance=1e-6), 5e-3),
        (family.redundancy([0], points).max(), worst_redundancy(family, [0]), 5e-3),
    ]:
        assert best <= supremum.upper.value
        assert supremum.lower.value <= supremum.upper.value
        assert supremum.interval.gap <= 2e-6
        assert supremum.upper.value <= best + slack
    assert family.mediation(worst_mediation(family).weights) == pytest.approx(
        worst_mediation(family).lower.value, abs=1e-9
    )


def test_a_tie_between_the_corners_of_the_counterexample():
    drawn_family = xor_across_domains(0.4)
    family = Family(drawn_family.laws, drawn_family.channel)
    assert worst_mediation(family).interval.upper.value == pytest.approx(0.36806, abs=2e-5)


def test_corners_do_not_bound_mixtures():
    """Each domain is exactly redundant, yet the mixture is not: what X_1 says of Λ changes with the domain."""
    law = np.zeros((2, 2, 2))
    law[0, 0, 0] = law[0, 1, 0] = 0.5
    law[1, 0, 1] = law[1, 1, 1] = 0.5
    channel = np.eye(2)[np.array([[0, 1], [0, 1]])]  # Λ = X_2, constant in each domain
    family = Family(law, channel)
    assert max(float(family.redundancy([0], e)) for e in np.eye(2)) == 0.0
    assert worst_redundancy(family, [0]).lower.value == pytest.approx(np.log(2), abs=1e-6)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_boxes_and_balls(k):
    family = drawn(k, 11, (2, 3))
    centre = np.random.default_rng(k).dirichlet(np.ones(k))
    low, high = np.clip(centre - 0.15, 0, 1), np.clip(centre + 0.1, 0, 1)
    points = np.random.default_rng(0).dirichlet(np.ones(k), size=40_000)
    insides = {
        box(low, high): lambda a: ((a >= low - 1e-9) & (a <= high + 1e-9)).all(axis=-1),
        ball(centre, 0.12): lambda a: np.abs(a - centre).sum(axis=-1) / 2 <= 0.12 + 1e-9,
    }
    for region, inside in insides.items():
        for evaluate, supremum in [
            (family.mediation, worst_mediation(family, region, tolerance=1e-6)),
            (lambda a: family.redundancy([1], a), worst_redundancy(family, [1], region)),
        ]:
            assert evaluate(points[inside(points)]).max() <= supremum.upper.value
            assert inside(supremum.weights)
            assert evaluate(supremum.weights) == pytest.approx(supremum.upper.value, abs=2e-6)


def test_vertices_of_a_ball_in_three_domains():
    region = ball([1 / 3, 1 / 3, 1 / 3], 0.1)
    assert len(region.vertices) == 6
    np.testing.assert_allclose(np.abs(region.vertices - 1 / 3).sum(axis=1) / 2, 0.1)


def test_triangulation_covers_the_region():
    region = ball([0.3, 0.3, 0.4], 0.1)
    area = sum(abs(np.linalg.det(piece[1:, :2] - piece[0, :2])) / 2 for piece in region.triangulate())
    # A hexagon of total-variation radius r in the plane of three weights has area 3 r².
    assert area == pytest.approx(3 * 0.1**2)


@pytest.mark.parametrize("k", [3, 4, 5, 6])
@pytest.mark.parametrize("radius", [0.004, 0.1, 0.35])
def test_triangulations_cover_balls_and_boxes_once(k, radius):
    """Delaunay's overlaps here, or fails: the corners of a ball lie on spheres. Six domains have up to 150 corners."""
    rng = np.random.default_rng(k)
    centre = rng.dirichlet(np.ones(k))
    for region in (ball(centre, radius), box(np.clip(centre - radius, 0, 1), np.clip(centre + 2 * radius, 0, 1))):
        pieces = np.stack(region.triangulate())
        volume = np.abs(np.linalg.det(pieces[:, 1:, :-1] - pieces[:, :1, :-1])).sum() / math.factorial(k - 1)
        assert volume == pytest.approx(
            ConvexHull(region.vertices[:, :-1] / radius).volume * radius ** (k - 1), rel=1e-4
        )
        points = rng.dirichlet(np.full(len(region.vertices), 0.1), size=50) @ region.vertices
        shares = np.linalg.solve(pieces.transpose(0, 2, 1)[:, None], points[None, :, :, None])[..., 0]
        assert shares.min(axis=2).max(axis=0).min() > -1e-8


def test_corners_of_a_box_are_those_of_the_definition():
    low, high = np.array([0.1, 0.0, 0.2, 0.05]), np.array([0.4, 0.3, 0.6, 0.5])
    region = box(low, high)
    ends = [[*c[:i], None, *c[i:]] for i in range(4) for c in itertools.product((0, 1), repeat=3)]
    corners = set()
    for end in ends:
        free = end.index(None)
        point = np.array([0.0 if e is None else (low, high)[e][j] for j, e in enumerate(end)])
        point[free] = 1 - point.sum()
        if low[free] - 1e-12 <= point[free] <= high[free] + 1e-12:
            corners.add(tuple(np.round(point, 9)))
    assert {tuple(np.round(v, 9)) for v in region.vertices} == corners


def test_a_box_may_fix_a_weight():
    family = drawn(3, 4)
    supremum = worst_mediation(family, box([0.2, 0.2, 0.2], [0.2, 0.5, 0.8]), tolerance=1e-7)
    line = np.linspace(0.2, 0.5, 2001)
    reached = family.mediation(np.column_stack([np.full_like(line, 0.2), line, 0.8 - line])).max()
    assert reached <= supremum.upper.value <= reached + 1e-5


def test_a_domain_without_weight_does_not_spoil_the_bound():
    """The third domain has cells of its own, and the worst mixture of the first two is at neither end nor middle."""
    laws = np.zeros((3, 3, 3))
    laws[0, 0, 0] = 1.0
    laws[1, :2, :2] = [[0.1, 0.1], [0.1, 0.7]]
    laws[2, 2, 2] = 1.0
    family = Family(laws, np.ones((3, 3, 1)))
    share = np.linspace(0, 1, 4001)
    reached = family.mediation(np.column_stack([share, 1 - share, np.zeros_like(share)])).max()
    supremum = worst_mediation(family, Region(np.eye(3)[:2], "the first two"), tolerance=1e-7)
    assert reached <= supremum.upper.value <= reached + 1e-6
    assert supremum.weights[2] == 0


@pytest.mark.parametrize("k", [5, 6])
def test_many_domains(k):
    family = drawn(k, 2)
    supremum = worst_mediation(family, tolerance=1e-4)
    points = np.random.default_rng(0).dirichlet(np.full(k, 0.5), size=20_000)
    assert family.mediation(points).max() <= supremum.upper.value
    assert supremum.interval.gap <= 2e-4
    assert "branch and bound" in supremum.upper.method


def test_a_bound_survives_running_out_of_nodes():
    family = drawn(5, 2)
    cut = worst_mediation(family, tolerance=1e-7, nodes=3)
    full = worst_mediation(family, tolerance=1e-5)
    assert cut.upper.value >= full.lower.value
    assert cut.interval.gap > full.interval.gap


def test_bad_regions():
    with pytest.raises(DataError, match="no mixture"):
        box([0.6, 0.6], [1, 1])
    with pytest.raises(DataError, match="radius=0: must be positive"):
        ball([0.5, 0.5], 0)
    with pytest.raises(DataError, match="low has shape"):
        box([0.5], [0.5, 1.0])
    with pytest.raises(DataError, match=r"vertices\[1\]=\[0.5, 0.6\].*sum to 1"):
        Region(np.array([[1.0, 0.0], [0.5, 0.6]]), "by hand")
    with pytest.raises(DataError, match=r"vertices.*\(2,\)"):
        Region(np.array([1.0, 0.0]), "by hand")
    with pytest.raises(DataError, match="too many corners"):
        box(np.zeros(20), np.ones(20))
    assert simplex(3).vertices.shape == (3, 3)
