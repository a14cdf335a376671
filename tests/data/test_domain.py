import numpy as np
import pytest

from latentry.data import Domain
from latentry.errors import DataError


@pytest.mark.parametrize("raw", [["b", "a", "b"], [2, 1, 2], np.array([True, False, True]), np.array([[2], [1], [2]])])
def test_labels(raw):
    domain = Domain.of(raw)
    assert domain.values.tolist() == [1, 0, 1]
    assert domain.size == 2


def test_one_hot_rows_are_labels_and_other_floats_are_columns():
    assert Domain.of(np.eye(3)[[2, 0, 2]]).values.tolist() == [2, 0, 2]
    continuous = Domain.of([[0.5, 1.0], [1.0, 0.0]])
    assert continuous.is_continuous
    assert continuous.size == 2


def test_recode_to_the_codes_of_a_fit():
    fitted = ("a", "b", "c")
    assert Domain.of(["c", "b"]).recode(fitted, 3).values.tolist() == [2, 1]
    with pytest.raises(DataError, match="domain='d': not among the 3 domains"):
        Domain.of(["d", "a"]).recode(fitted, 3)
    with pytest.raises(DataError, match="continuous here"):
        Domain.of([0.5, 0.7]).recode(fitted, 3)


def test_a_continuous_domain_keeps_its_width():
    one_row = Domain.of([[1.0, 0.0]])  # one-hot by chance
    assert one_row.recode(None, 2).values.tolist() == [[1.0, 0.0]]
    with pytest.raises(DataError, match="has 3 columns, but the model was fitted with 2"):
        Domain.of(np.full((4, 3), 0.5)).recode(None, 2)
    with pytest.raises(DataError, match="labels here"):
        Domain.of(["a", "b"]).recode(None, 2)


def test_a_label_that_no_row_has_is_no_obstacle():
    """One-hot rows with a column of zeros, as other tools write them."""
    given = Domain.of(np.eye(4)[[0, 1, 3, 3]])
    assert (given.recode((0, 1, 3), 3).values == [0, 1, 2, 2]).all()
    with pytest.raises(DataError, match=r"domain=3: not among the 2 domains .* Known: 0, 1\.$"):
        given.recode((0, 1), 2)
