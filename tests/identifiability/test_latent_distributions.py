import numpy as np
import pytest

import latentry as lt
from latentry.contracts import LatentDistributions


def test_laws_are_read_only_and_taken_by_domain():
    laws = LatentDistributions(np.arange(6.0).reshape(3, 2), np.ones((3, 2)), "gaussian", ("a", "b", "c"), [10, 20, 30])
    with pytest.raises(ValueError):
        laws.location[0, 0] = 1
    fewer = laws.take([2, 0])
    assert fewer.labels == ("c", "a")
    assert fewer.rows.tolist() == [30, 10]
    assert fewer.location.tolist() == [[4, 5], [0, 1]]


def test_making_laws_leaves_the_caller_array_alone():
    mine = np.zeros((2, 1))
    LatentDistributions(mine, np.ones((2, 1)), "mean")
    mine[0, 0] = 1


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"family": "gausian"}, "did you mean 'gaussian'"),
        ({"location": np.zeros(3)}, "location of shape \\(3,\\).*\\(domains, latents\\)"),
        ({"location": np.full((3, 2), np.nan)}, "location=nan of domain 0, latent 0"),
        ({"scale": np.array([[1, 1], [1, -1], [1, 1.0]])}, "scale=-1.0 of domain 1, latent 1"),
        ({"labels": ("a",)}, "1 labels for 3 domains"),
        ({"rows": [1, 2]}, "one count for each of the 3"),
        ({"rows": [1, 0, 2], "labels": ("a", "b", "c")}, "rows=0 for domain 'b'"),
        ({"family": "natural"}, "given together"),
        ({"family": "natural", "natural": np.zeros((3, 1, 2)), "fisher": np.zeros((3, 1, 2, 2))}, "natural of shape"),
        ({"family": "natural", "natural": np.zeros((3, 2, 2)), "fisher": np.zeros((3, 2, 2))}, "fisher of shape"),
    ],
)
def test_bad_laws(fields, sentence):
    good = {"location": np.zeros((3, 2)), "scale": np.ones((3, 2)), "family": "gaussian"}
    with pytest.raises(lt.DataError, match=sentence):
        LatentDistributions(**(good | fields))
