import numpy as np
import pytest
import scipy.linalg

import latentry as lt
from latentry.identifiability import attribute_leakage, content_agreement, frechet_distance, kernel_distance
from latentry.information import torchscript_features, train_classifier


def test_frechet_distance_of_gaussians_with_one_basis(rng):
    """|difference of means|² + Σ (difference of deviations)², since the sample covariances commute."""
    x = rng.normal(size=(200, 3))
    x = (x - x.mean(0)) @ np.linalg.inv(np.linalg.cholesky(np.cov(x, rowvar=False))).T  # covariance exactly 1
    y = x * [1, 2, 3] + [1, 0, 0]
    assert frechet_distance(x, y) == pytest.approx(1 + 1 + 4)
    assert frechet_distance(x, x) == pytest.approx(0, abs=1e-9)


def test_frechet_distance_beside_the_matrix_root_of_scipy(rng):
    x, y = rng.normal(size=(80, 4)) @ rng.normal(size=(4, 4)), rng.normal(size=(90, 4)) @ rng.normal(size=(4, 4))
    one, two = np.cov(x, rowvar=False), np.cov(y, rowvar=False)
    wanted = ((x.mean(0) - y.mean(0)) ** 2).sum() + np.trace(one + two - 2 * scipy.linalg.sqrtm(one @ two).real)
    assert frechet_distance(x, y) == pytest.approx(wanted, rel=1e-6)
    assert frechet_distance(x, y) == pytest.approx(frechet_distance(y, x), rel=1e-9)


def test_frechet_distance_takes_fewer_rows_than_features(rng):
    assert frechet_distance(rng.normal(size=(5, 20)), rng.normal(size=(5, 20))) > 0


def test_kernel_distance_is_the_double_sum(rng):
    x, y = rng.normal(size=(7, 2)), rng.normal(size=(5, 2))

    def k(a, b):
        return (a @ b / 2 + 1) ** 3

    within = [np.mean([k(a, b) for i, a in enumerate(p) for j, b in enumerate(p) if i != j]) for p in (x, y)]
    across = np.mean([k(a, b) for a in x for b in y])
    assert kernel_distance(x, y) == pytest.approx(sum(within) - 2 * across)


def test_kernel_distance_is_unbiased(rng):
    """Mean over 400 pairs of 20 rows of one law: four standard errors, so it fails once in 16,000 seeds."""
    found = [kernel_distance(*rng.normal(size=(2, 20, 3))) for _ in range(400)]
    assert abs(np.mean(found)) < 4 * np.std(found) / 20
    assert min(found) < 0


def test_features_are_applied_to_both():
    pictures = np.random.default_rng(0).uniform(size=(50, 4, 4))
    bright = frechet_distance(pictures, pictures + 0.5, features=lambda x: x.mean((1, 2))[:, None])
    assert bright == pytest.approx(0.25)


def test_agreement_and_leakage():
    digit = np.tile(np.arange(5), 200)
    after = digit.copy()
    after[:100] = (after[:100] + 1) % 5
    assert content_agreement(digit, after[:, None], lambda x: x[:, 0]) == 0.9
    assert content_agreement(digit[:, None], after[:, None], lambda x: x[:, 0]) == 0.9
    asked = np.repeat([0, 1], 500)
    found = attribute_leakage(asked, {"kept": digit, "lost": np.where(asked == 1, 0, digit)})
    assert float(found["kept"]) < 0.01
    named = attribute_leakage(np.where(asked == 1, "red", "green"), {"kept": digit.astype(str)})
    assert float(named["kept"]) == float(found["kept"])
    # H(asked) − H(asked | lost): a 0 was asked from domain 0 in one case of six
    share = 1 / 6
    left = 0.6 * -(share * np.log(share) + (1 - share) * np.log(1 - share))
    assert float(found["lost"]) == pytest.approx(np.log(2) - left, abs=0.02)


def test_sentences(tmp_path):
    with pytest.raises(lt.DataError, match=r"real gives features of shape \(3,\).*at least 2 rows"):
        frechet_distance(np.ones(3), np.ones((3, 1)))
    with pytest.raises(lt.DataError, match="made has features that are NaN or infinite at row 1"):
        kernel_distance(np.ones((3, 1)), np.array([[0.0], [np.nan]]))
    with pytest.raises(lt.DataError, match="real has 2 features a row, made 3"):
        frechet_distance(np.ones((3, 2)), np.ones((3, 3)))
    with pytest.raises(lt.DataError, match="before has 2 rows, after 3"):
        content_agreement(np.ones(2), np.ones((3, 1)), lambda x: x[:, 0])
    with pytest.raises(lt.DataError, match="Give the file of the network's weights"):
        torchscript_features(tmp_path / "inception.pt")
    with pytest.raises(lt.DataError, match="all labels are 'a'"):
        train_classifier(np.ones((4, 8, 8)), ["a"] * 4, name="none")
    with pytest.raises(lt.DataError, match="3 labels and 4 images"):
        train_classifier(np.ones((4, 8, 8)), [0, 1, 0], name="none")
