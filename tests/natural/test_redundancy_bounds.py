"""The students of audits against closed forms and independent implementations."""

import ast
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge

import latentry as lt
from latentry.natural import mean_upper
from latentry.natural.from_samples import boosted_trees, prediction_gain
from latentry.natural.from_samples.boosted_trees import tree_labels, tree_numbers
from latentry.natural.from_samples.kernel_regression import PENALTIES as PENALTIES
from latentry.natural.from_samples.kernel_regression import Landmarks, fit_ridge, kernel_regression
from latentry.natural.from_samples.small_networks import Net, fit_net


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((900, 3))
    y = np.column_stack([np.sin(2 * x[:, 0]) + x[:, 1] ** 2, (x[:, 2] > 0.3) * 1.0])
    return x, y + 0.1 * rng.standard_normal(y.shape)


def test_leave_one_out_errors_are_those_of_leaving_one_out(rows):
    x, y = rows[0][:60], rows[1][:60]
    features = Landmarks.of(x[:20], 0.8)
    table, places = features(x), (0, 8, 16)
    found = fit_ridge(features, x, y).errors
    for place in places:
        missed = np.empty_like(y)
        for i in range(len(x)):
            rest = np.arange(len(x)) != i
            missed[i] = y[i] - Ridge(PENALTIES[place]).fit(table[rest], y[rest]).predict(table[[i]])[0]
        assert found[place] == pytest.approx((missed**2).mean(axis=0), rel=1e-6)


def test_the_kernel_is_that_of_kernel_regression_when_every_row_is_a_landmark(rows):
    """Features whose products are the kernel: exp(−w‖x − y‖²/d) + x·y/d."""
    x = rows[0][:50]
    features = Landmarks.of(x, 0.8)(x)
    squares = ((x[:, None] - x[None]) ** 2).sum(axis=2)
    assert features @ features.T == pytest.approx(np.exp(-0.8 / 3 * squares) + x @ x.T / 3, abs=1e-4)


@pytest.mark.parametrize(("soft", "hidden"), [(False, 0), (False, 5), (True, 0), (True, 5)])
def test_gradients_of_nets(rows, soft, hidden):
    rng = np.random.default_rng(1)
    x = rows[0][:30]
    target = rng.dirichlet([1, 1, 1], 30) if soft else rng.standard_normal((30, 3))
    shapes = [(4, hidden), (hidden + 1, 3)] if hidden else [(4, 3)]
    layers = tuple(rng.standard_normal(shape) for shape in shapes)
    value, gradients = Net(layers, soft).gradient(x, target)
    entropy = -(target * np.log(target)).sum() / 30 if soft else 0.0
    assert value == pytest.approx(Net(layers, soft).loss(x, target) + entropy)
    for i, gradient in enumerate(gradients):

        def moved(w, i=i):
            return Net((*layers[:i], w.reshape(layers[i].shape), *layers[i + 1 :]), soft).loss(x, target)

        assert gradient.ravel() == pytest.approx(approx_fprime(layers[i].ravel(), moved, 1e-6), abs=1e-4)


def test_a_net_without_hidden_layer_is_a_logistic_regression(rows):
    """scikit-learn leaves the intercept out of the penalty, which is small here."""
    x, labels = rows[0], (rows[0] @ [1.0, -1.0, 0.5] > 0).astype(int)
    ours = fit_net(x, np.eye(2)[labels], soft=True, decay=1e-2, patient=True)(x)
    # Two outputs with weights ±w share the penalty that scikit-learn puts on 2w.
    theirs = LogisticRegression(C=2 / (1e-2 * len(x)), max_iter=1000).fit(x, labels).predict_proba(x)
    assert ours == pytest.approx(theirs, abs=2e-3)


def test_soft_labels_are_learned_as_they_are(rows):
    x = rows[0]
    truth = 1 / (1 + np.exp(-x[:, :1]))
    guess = fit_net(x, np.hstack([truth, 1 - truth]), soft=True, decay=1e-6, patient=True)(x)
    assert guess[:, :1] == pytest.approx(truth, abs=1e-3)


def test_kernel_regression_learns_each_target_in_its_own_width(rows):
    x, y = rows
    guess = kernel_regression(x[:600], y[:600])(x[600:])
    left = ((guess - y[600:]) ** 2).mean(axis=0) / y[600:].var(axis=0)
    assert left[0] < 0.05
    assert left[1] < 0.5


def test_trees_do_as_well_as_a_library_of_them(rows):
    """Held-out squared error and log-loss within a tenth of scikit-learn's with as many rounds, leaves and levels."""
    x, y = rows
    same = {"max_iter": 40, "learning_rate": 0.25, "max_leaf_nodes": 8, "max_bins": 20, "early_stopping": False}
    together = tree_numbers(x[:600], y[:600])(x[600:])
    for column, shared in zip(y.T, together.T, strict=True):
        ours = tree_numbers(x[:600], column[:600, None])(x[600:])[:, 0]
        theirs = HistGradientBoostingRegressor(**same).fit(x[:600], column[:600]).predict(x[600:])
        least = np.mean((theirs - column[600:]) ** 2)
        assert np.mean((ours - column[600:]) ** 2) < 1.1 * least
        assert np.mean((shared - column[600:]) ** 2) < 1.3 * least  # trees that serve two columns at once
    labels = (y[:, 0] > 1).astype(int) + (y[:, 1] > 0.5)
    q = tree_labels(x[:600], np.eye(3)[labels[:600]])(x[600:])
    known = HistGradientBoostingClassifier(**same).fit(x[:600], labels[:600]).predict_proba(x[600:])
    place = np.arange(300), labels[600:]
    assert q.sum(axis=1) == pytest.approx(1.0)
    assert -np.log(q[place] + 1e-3).mean() < 1.1 * -np.log(known[place] + 1e-3).mean()


def test_trees_of_too_few_rows_know_the_averages():
    truth = np.array([[0.2, 0.8]] * 10)
    assert tree_labels(np.arange(10.0)[:, None], truth)(np.zeros((2, 1))) == pytest.approx(truth[:2], abs=1e-6)


def test_no_leaf_of_a_tree_has_fewer_rows_than_it_must(rng):
    for count in (30, 60, 133, 400):
        codes = boosted_trees.quantile_cuts(x := rng.standard_normal((count, 3)))(x)
        ones = np.ones((count, 1), dtype=np.int64)
        grown = boosted_trees._Grower(codes, ones).grow(rng.standard_normal((count, 2)), ones.astype(float))
        sizes = np.bincount(grown.leaves(codes), minlength=2**boosted_trees._DEPTH)
        assert sizes[sizes > 0].min() >= min(boosted_trees._FEWEST, count)


def test_two_odd_rows_of_thirty_are_too_few_for_a_leaf():
    x, y = np.arange(30.0)[:, None], (np.arange(30) > 27)[:, None] * 1.0
    guessed = boosted_trees.tree_numbers(x, y)(x)
    assert np.ptp(guessed) < 1e-12


@pytest.mark.parametrize("rare", [0.0, 1.0])
def test_a_rare_value_is_seen_whether_it_is_large_or_small(rng, rare):
    column = np.where(rng.random(2000) < 0.04, rare, 1 - rare)
    truth = np.eye(2)[column.astype(int)]
    assert np.abs(boosted_trees.tree_labels(column[:, None], truth)(column[:, None]) - truth).mean() < 0.02


def test_a_constant_column_adds_nothing_and_hides_nothing(rng):
    z = rng.standard_normal((400, 1))
    features, numbers = z, z + 0.3 * rng.standard_normal((400, 1))
    plain = prediction_gain.number_losses(features, numbers, 0)
    beside = prediction_gain.number_losses(features, np.hstack([numbers, np.zeros((400, 1))]), 0)
    assert np.isfinite(beside).all()
    assert np.allclose(plain.mean(), beside.mean(), atol=0.1)
    assert (prediction_gain.number_losses(features, np.zeros((400, 1)), 0) == 0).all()


def test_no_draw_repeats_those_of_the_caller_s_generator():
    """Data are often made by default_rng(0): the library draws from streams of its own."""
    for file in Path(lt.__file__).parent.glob("natural/from_samples/*.py"):
        called = [node.func for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Call)]
        assert not [f for f in called if isinstance(f, ast.Attribute) and f.attr == "default_rng"], file.name


def test_a_mean_of_numbers_that_are_not_finite_has_no_bound():
    with pytest.raises(lt.DataError, match="1 of 3 values are not finite"):
        mean_upper(np.array([0.1, np.nan, 0.2]), np.inf, 0.05, "t")


def test_rows_with_the_same_levels_are_added_up_and_change_nothing(monkeypatch):
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.integers(0, 3, (400, 2)), rng.random(400) < 0.05]).astype(float)
    truth, numbers = np.eye(3)[(x[:, 0] + rng.integers(0, 2, 400)).astype(int) % 3], x[:, :2] + rng.random((400, 2))
    together = [tree_labels(x, truth)(x[::3]), tree_numbers(x, numbers)(x[::3])]
    monkeypatch.setattr(boosted_trees, "_cells", lambda codes: (codes, np.arange(len(codes))))
    for one, other in zip(together, (tree_labels(x, truth)(x[::3]), tree_numbers(x, numbers)(x[::3])), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)
