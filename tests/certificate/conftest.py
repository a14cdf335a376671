import numpy as np
import pytest

import latentry as lt
from latentry import graphs
from latentry.certificate.schema import sealed
from latentry.contracts import CanBeIntervenedOn, HasChannel, HasClusters, HasGraph
from latentry.data import GaussianChannel
from latentry.generators import finite_laws


@pytest.fixture(scope="module", autouse=True)
def quick_information(few_features):
    """What information a certificate quotes is tested elsewhere."""


@pytest.fixture(scope="session")
def finite():
    """Rows of a planted family: a Dataset of two columns of labels, and the latent."""

    def draw(family, rows=3000, seed=0):
        sample = family.sample(rows, seed=seed)
        columns = {f"x{i + 1}": sample.observables[:, [i]] for i in range(sample.observables.shape[1])}
        return lt.Dataset(columns, domain=sample.domain), sample.latent

    return draw


@pytest.fixture(scope="session")
def resealed():
    """The same fields with a checksum that fits them: what a forger would do."""

    def seal(document):
        try:
            return sealed({name: value for name, value in document.items() if name != "checksum"})
        except (ValueError, RecursionError):  # what has no checksum
            return document

    return seal


@pytest.fixture(scope="session")
def planted(finite):
    return finite(finite_laws.planted_natural(), 6000)


@pytest.fixture(scope="session")
def certificate(planted):
    data, latent = planted
    return lt.certify(latent, data)


class Collider(HasChannel, HasClusters, HasGraph, CanBeIntervenedOn):
    """A model as the certificate sees one with a graph: A → C ← B over labels that are written in the rows."""

    name = "collider"

    def __init__(self, edges=(("A", "C"), ("B", "C"))):
        self.edges = edges

    @property
    def graph_(self):
        return graphs.Graph(("A", "B", "C"), self.edges)

    def node_probabilities(self, data, y=None):
        return {n: np.eye(2)[np.asarray(data["codes"])[:, i].astype(int)] for i, n in enumerate("ABC")}

    def cluster_probabilities(self, data, y=None):
        return np.eye(8)[np.asarray(data["codes"]).astype(int) @ [4, 2, 1]]

    def channel(self, data, y=None):
        mean = np.asarray(data["codes"], dtype=float)
        return GaussianChannel(mean, np.full_like(mean, 0.1))

    def transform(self, data):
        return self.channel(data).mean

    def sample(self, n=1, *, do=None, noise=True, seed=0):
        rows, _ = collider_rows(n, seed, do)
        return {name: np.asarray(rows[name]) for name in rows.names}


def collider_rows(rows, seed, do=None):
    rng = np.random.default_rng(seed)
    do = do or {}
    a = np.full(rows, do["A"]) if "A" in do else rng.integers(0, 2, rows)
    b = np.full(rows, do["B"]) if "B" in do else rng.integers(0, 2, rows)
    c = np.full(rows, do["C"]) if "C" in do else (rng.random(rows) < 0.1 + 0.4 * a + 0.4 * b).astype(int)
    codes = np.column_stack([a, b, c]).astype(float)
    image = np.zeros((rows, 8, 8))
    image[:, :4] += a[:, None, None]
    image[:, :, :4] += b[:, None, None]
    image += 0.1 * rng.standard_normal(image.shape)
    return lt.Dataset({"codes": codes, "image": image}, domain=rng.integers(0, 2, rows)), codes


@pytest.fixture(scope="session")
def collider():
    return Collider(), collider_rows(1500, 0)[0]
