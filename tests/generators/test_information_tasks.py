import numpy as np
import pytest
from scipy import integrate, special, stats

from latentry.errors import DataError
from latentry.generators import information_tasks as it

PUBLISHED = {  # table of truths in "Beyond Normal" (nats)
    "normal 1x1": 0.4133, "additive uniform 0.1": 1.7094, "additive uniform 0.75": 0.3333, "Student 1x1 df=1": 0.2242,
    "dense normal 2x2": 0.2939, "dense normal 3x3": 0.4133, "dense normal 5x5": 0.5928, "dense normal 25x25": 1.2922,
    "dense normal 50x50": 1.6243, "two-pair normal 25x25": 1.0217, "Student 2x2 df=1": 0.4319, "Student 2x2 df=2": 0.1931,
    "Student 3x3 df=2": 0.2909, "Student 3x3 df=3": 0.1787, "Student 5x5 df=2": 0.4482, "Student 5x5 df=3": 0.2985,
}  # fmt: skip


@pytest.mark.parametrize("task", it.tasks(), ids=lambda t: t.name)
def test_shapes_seeds_and_finiteness(task):
    x, y = task.sample(50, seed=3)
    assert x.shape == (50, task.dim_x)
    assert y.shape == (50, task.dim_y)
    assert np.all(np.isfinite(x))
    assert np.all(np.isfinite(y))
    again = task.sample(50, seed=3)
    assert np.array_equal(x, again[0])
    assert not np.array_equal(x, task.sample(50, seed=4)[0])


def test_forty_distinct_tasks_with_the_published_truths():
    tasks = {t.name: t.truth for t in it.tasks()}
    assert len(tasks) == 40
    for name, truth in PUBLISHED.items():
        assert tasks[name] == pytest.approx(truth, abs=5.1e-5), name


def test_student_truth_is_the_average_log_ratio():
    # independent of the entropy formula; 60,000 rows, sd of the log-ratio < 1: fails once in 10^8 draws at 6 sigma
    rng = np.random.default_rng(0)
    x, y = it.task("Student 2x2 df=2").draw(rng, 60_000)
    joint, half = (stats.multivariate_t(shape=np.eye(d), df=2) for d in (4, 2))
    ratio = joint.logpdf(np.hstack([x, y])) - half.logpdf(x) - half.logpdf(y)
    assert abs(ratio.mean() - it.student_truth(2, 2, 2)) < 6 * ratio.std() / np.sqrt(60_000)


@pytest.mark.parametrize("width", [0.1, 0.3, 0.75, 2.0])
def test_uniform_truth_by_integration(width):
    def density(y):
        return (min(1.0, y + width) - max(0.0, y - width)) / (2 * width)

    points = sorted({-width, min(width, 1 - width), max(width, 1 - width), 1 + width})
    h = sum(
        integrate.quad(lambda y: special.entr(density(y)), a, b)[0] for a, b in zip(points, points[1:], strict=False)
    )
    assert it.uniform_truth(width) == pytest.approx(h - np.log(2 * width), abs=1e-8)


def test_maps_are_injective_where_it_matters():
    x = np.linspace(-6, 6, 4001)[:, None]
    waves = [it.wiggle(x, w) for w in (it.WAVES_X, it.WAVES_Y)]
    for image in (*waves, it.half_cube(x), it.mixture_quantile(special.ndtr(x), (0.3, 0.7), (0.0, 5.0))):
        assert np.all(np.diff(image[:, 0]) > 0)


def test_the_spiral_is_a_rotation_that_the_norm_undoes():
    x = np.random.default_rng(0).standard_normal((100, 3))
    image = it.spiral(x, first=1)
    np.testing.assert_allclose(np.linalg.norm(image, axis=1), np.linalg.norm(x, axis=1))
    angle = -np.sum(image**2, axis=1) / 3
    back = np.cos(angle) * image[:, 1] + np.sin(angle) * image[:, 2]
    np.testing.assert_allclose(back, x[:, 1])


def test_bimodal_quantile_inverts_its_distribution_function():
    u = np.linspace(1e-6, 1 - 1e-6, 101)
    x = it.mixture_quantile(u, (0.3, 0.7), (0.0, 5.0))
    np.testing.assert_allclose(0.3 * special.ndtr(x) + 0.7 * special.ndtr(x - 5), u, atol=1e-12)


def test_variants_change_the_rows_and_not_the_truth():
    base = it.task("two-pair normal 3x3")
    x, y = base.sample(20, seed=1)
    sx, sy = it.scaled(base, 1e-12, 1e12).sample(20, seed=1)
    np.testing.assert_allclose(sx, 1e-12 * x)
    np.testing.assert_allclose(sy, 1e12 * y)
    np.testing.assert_allclose(it.anisotropic(base, 100).sample(20, seed=1)[0], x * [1, 10, 100])
    wide = it.padded(base, 2, 5, size=0.1)
    assert (wide.dim_x, wide.dim_y) == (5, 8)
    assert wide.sample(20)[1].shape == (20, 8)
    assert it.scaled(base, 2).truth == wide.truth == base.truth
    assert it.independent(base).truth == 0


def test_conditional_truths_match_the_chain_rule():
    # I(X;Y|Z) = I(X;YZ) - I(X;Z), both from log-determinants
    for task in it.conditional_tasks():
        order = [0, 1, *range(2, len(task.covariance))]
        both = it.gaussian_truth(task.covariance[np.ix_(order, order)], 1)
        only = it.gaussian_truth(np.delete(np.delete(task.covariance, 1, 0), 1, 1), 1)
        assert task.truth == pytest.approx(both - only, abs=1e-12)
        assert [part.shape[0] for part in task.sample(7)] == [7, 7, 7]


def test_mixed_truths():
    truths = {t.name: t.truth for t in it.mixed_tasks()}
    ones = np.arange(1, 200)
    series = 2 * np.log(2) - np.euler_gamma - np.sum(np.log(ones) * 0.5**ones)  # Gao et al. 2017, no inflation
    assert truths["zero-inflated Poisson p=0"] == pytest.approx(series, abs=1e-8)
    assert truths["labelled uniform m=3"] == pytest.approx(np.log(3) - 2 / 3 * np.log(2))
    assert 0 < truths["zero-inflated Poisson p=0.15"] < series
    x, y = it.mixed_tasks()[0].sample(10)
    assert x.dtype.kind == "i"
    assert y.dtype.kind == "f"


def test_a_wrong_name_is_answered_with_the_right_one():
    with pytest.raises(DataError, match="did you mean 'normal 1x1'"):
        it.task("normal 1x")
