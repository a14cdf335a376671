"""Matching latents of several models: planted copies, noise, constants, groups, categories."""

import numpy as np
import pandas as pd
import pytest

import latentry as lt
from latentry.contracts import HasChannel, HasGraph
from latentry.data import CategoricalChannel, GaussianChannel


@pytest.fixture(scope="module")
def latents():
    return np.random.default_rng(0).normal(size=(400, 3))


class Encoder(HasChannel):
    """A model that takes some columns of the data for its latents."""

    def __init__(self, columns):
        self.columns = columns

    def channel(self, X, y=None):
        mean = np.asarray(X["x"])[:, self.columns]
        return GaussianChannel(mean, np.ones_like(mean))


class Nodes(HasChannel, HasGraph):
    """A model whose nodes are columns of the data, under other numbers."""

    graph_ = None

    def __init__(self, columns, renumber, outcomes=3):
        self.columns, self.renumber, self.outcomes = columns, np.asarray(renumber), outcomes

    def channel(self, X, y=None):
        return GaussianChannel(np.zeros((len(X), 1)), np.ones((len(X), 1)))

    def node_probabilities(self, X, y=None):
        values = self.renumber[np.asarray(X["x"])[:, self.columns].astype(int)]
        return {f"N{i + 1}": np.eye(self.outcomes)[column] for i, column in enumerate(values.T)}


# Numbers --------------------------------------------------------------------------------------------


def test_order_sign_and_monotone_maps_are_undone(latents):
    other = np.column_stack([np.exp(latents[:, 2]), -(latents[:, 0] ** 3), 5 - 2 * latents[:, 1]])
    found = lt.match([latents, other], names=["seed 0", "seed 1"])
    assert [(one.name, one.sign) for one in found.partners] == [("z2", -1), ("z3", -1), ("z1", 1)]
    assert all(one.agreement == pytest.approx(1) and one.outcome == "same" for one in found.partners)
    assert found.partners[1].beside == pytest.approx(1)
    assert found.partners[2].beside < 0.9, "Pearson sees the exponential"
    assert found.reappearing == ("z1", "z2", "z3")
    assert not found.missing
    assert "3 of 3 latents reappear in both models: z1, z2 and z3" in repr(found)


def test_aligned_latents_have_order_sign_scale_and_names_of_the_first(latents):
    other = -4 * latents[:, ::-1] + 7
    found = lt.match({"a": latents, "b": other})
    assert list(found.aligned("b")) == ["z1", "z2", "z3"]
    for name, column in found.aligned(1).items():
        assert np.allclose(column, found.aligned(0)[name])
        assert column.std() == pytest.approx(1)
    new = np.array([[7.0, 7.0, 3.0], [7.0, 7.0, 7.0], [7.0, 7.0, 7.0]])  # the second is the reference's origin
    column = found.aligned("b", new)["z1"]
    assert column[0] - column[1] == pytest.approx(1 / latents[:, 0].std())


def test_noise_is_not_above_chance():
    """The best of nine correlations reaches 'chance' in 5 of 100 cases: 6 or more of 20 happen once in 3000 runs."""
    above = 0
    for seed in range(20):
        x, y = np.random.default_rng(seed).normal(size=(2, 120, 3))
        found = lt.match([x, y])
        assert found.missing == found.latents
        above += max(one.agreement - one.chance for one in found.partners) > 0
    assert above <= 5


def test_intervals_cover():
    """Spearman of a Gaussian pair is 6/π asin(ρ/2). At 95 % coverage fewer than 50 of 60 happen once in 3000 runs."""
    rng, truth = np.random.default_rng(10), 6 / np.pi * np.arcsin(0.45)
    x = rng.normal(size=(150, 60))
    found = lt.match([x, -0.9 * x + np.sqrt(1 - 0.81) * rng.normal(size=x.shape)])
    assert [one.name for one in found.partners] == list(found.latents)
    assert sum(one.agreement.low <= truth <= one.agreement.high for one in found.partners) >= 50


def test_agreement_is_the_same_as_scipys(latents):
    from scipy.stats import pearsonr, spearmanr

    noisy = latents[:, :1] + np.random.default_rng(1).normal(size=(400, 1))
    one = lt.match([latents[:, :1], noisy]).partners[0]
    assert float(one.agreement) == pytest.approx(spearmanr(latents[:, 0], noisy[:, 0]).statistic)
    assert one.beside == pytest.approx(pearsonr(latents[:, 0], noisy[:, 0]).statistic)
    assert (one.outcome, one.agreement.n, one.agreement.confidence) == ("different", 400, 0.95)


def test_partners_are_chosen_by_ranks(latents):
    """Pearson sees nearly nothing of exp(6 a) in a, and would take the second column for a."""
    a, b = latents[:, 0], latents[:, 1]
    found = lt.match([latents[:, :2], np.column_stack([np.exp(6 * a), 0.98 * a + 0.2 * b])])
    assert [one.name for one in found.partners] == ["z1", "z2"]


@pytest.mark.parametrize(
    ("threshold", "outcome"), [(0.85, "same"), (0.88, "same"), (0.9, "different"), (0.95, "different")]
)
def test_the_whole_interval_is_held_to_the_threshold(threshold, outcome):
    x = np.random.default_rng(11).normal(size=(20_000, 2))
    noisy = 0.9 * x[:, :1] + np.sqrt(0.19) * x[:, 1:]  # Spearman 0.891, give or take 0.002
    assert lt.match([x[:, :1], noisy], threshold=threshold).partners[0].outcome == outcome


def test_nearly_collinear_latents_name_their_rivals(latents):
    twins = np.column_stack([latents[:, 0], latents[:, 0] + 0.01 * latents[:, 1], latents[:, 2]])
    found = lt.match([twins, twins[:, ::-1]])
    assert [one.name for one in found.partners] == ["z3", "z2", "z1"]
    near = lt.match([twins, twins + 0.05 * np.random.default_rng(2).normal(size=(400, 3))])
    assert near.of("z1")[0].rivals
    assert near.of("z3")[0].rivals == ()
    assert "as well" in repr(near)


def test_a_constant_has_no_partner(latents):
    flat = latents.copy()
    flat[:, 1] = 0.1
    found = lt.match([flat, latents])
    assert found.of("z2")[0].outcome == "no partner"
    assert found.unmatched == {"latents 2": ("z2",)}
    assert found.missing == ("z2",)
    assert "z2" not in found.aligned(1)


def test_numbers_of_latents_may_differ(latents):
    few, many = latents[:, [1]], np.column_stack([np.random.default_rng(3).normal(size=(400, 2)), latents])
    found = lt.match({"few": few, "many": many})
    assert (found.reappearing, found.of("z1")[0].name) == (("z1",), "z4")
    assert found.unmatched["many"] == ("z1", "z2", "z3", "z5")
    assert "Of many only: z1, z2, z3 and z5." in repr(found)
    other = lt.match({"many": many, "few": few})
    assert other.reappearing == ("z4",)
    assert {one.outcome for name in ("z1", "z2", "z3", "z5") for one in other.of(name)} == {"no partner"}


def test_a_latent_that_one_of_three_models_lacks_is_named(latents):
    third = latents.copy()
    third[:, 2] = np.random.default_rng(4).normal(size=400)
    found = lt.match([latents, -latents, third], names=["a", "b", "c"])
    assert (found.reappearing, found.missing) == (("z1", "z2"), ("z3",))
    assert found.agreement["z3"] < 0.2
    assert "2 of 3 latents reappear in all 3 models: z1 and z2" in found.sentence
    assert "in c)" in found.sentence


def test_few_rows_leave_it_open(latents):
    noisy = latents[:30] + 0.35 * np.random.default_rng(5).normal(size=(30, 3))
    found = lt.match([latents[:30], noisy])
    assert found.open
    assert "open is" in found.sentence


def test_groups_stay_together():
    """Rows that repeat 20 times are 40 rows: the interval and what chance gives are those of 40 rows."""
    rng = np.random.default_rng(6)
    x = rng.normal(size=(40, 2))
    y = x + rng.normal(size=(40, 2))
    apart = lt.match([x, y], np.zeros((40, 1)))
    x, y = np.repeat(x, 20, axis=0), np.repeat(y, 20, axis=0)
    grouped = lt.match([x, y], lt.Dataset(np.zeros((800, 1)), groups=np.repeat(np.arange(40), 20)))
    pooled = lt.match([x, y], np.zeros((800, 1)))
    widths = [m.partners[0].agreement.high - m.partners[0].agreement.low for m in (apart, grouped, pooled)]
    assert widths[1] == pytest.approx(widths[0], rel=0.5)
    assert widths[2] < widths[1] / 2
    assert grouped.partners[0].chance == pytest.approx(apart.partners[0].chance, rel=0.3)
    assert pooled.partners[0].chance < grouped.partners[0].chance / 2


def test_data_frames_keep_their_names(latents):
    frame = pd.DataFrame(latents, columns=["size", "tilt", "hue"])
    found = lt.match([frame, latents[:, ::-1]])
    assert found.latents == ("size", "tilt", "hue")
    assert list(found.aligned(1)) == ["size", "tilt", "hue"]
    assert found.of("tilt")[0].name == "z2"
    with pytest.raises(lt.DataError, match="has none of that name.*'tilt'"):
        found.of("tild")


def test_models_encode_the_rows(latents):
    data = lt.Dataset(latents)
    found = lt.match([Encoder([0, 1]), Encoder([2, 1, 0]), latents], data)
    assert [one.name for one in found.of("z1")] == ["z3", "z1"]
    assert "on trust" in found.about_rows
    assert found.aligned(1, data)["z1"][:3] == pytest.approx(found.aligned(0, data)["z1"][:3])
    with pytest.raises(lt.DataError, match="is a model, which encodes rows"):
        found.aligned(1)
    with pytest.raises(lt.DataError, match="data: gives 2 latents, and 3 were matched"):
        found.aligned(2, latents[:, :2])


# Categories -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def codes():
    return lt.Dataset(np.random.default_rng(7).integers(0, 3, size=(600, 3)))


def test_nodes_are_matched_with_their_outcomes(codes):
    found = lt.match([Nodes([0, 1], [0, 1, 2]), Nodes([2, 1, 0], [2, 0, 1])], codes)
    assert [one.name for one in found.partners] == ["N3", "N2"]
    assert all(one.agreement == 1 and one.beside == pytest.approx(1) for one in found.partners)
    assert found.reappearing == ("N1", "N2")
    assert (found.aligned(1, codes)["N1"] == codes["x"][:, 0]).all()
    assert "kappa" in repr(found)


def test_independent_nodes_are_not_above_chance(codes):
    found = lt.match([Nodes([0], [0, 1, 2]), Nodes([1, 2], [0, 1, 2])], codes)
    one = found.partners[0]
    assert found.missing == ("N1",)
    assert one.name is None or (one.agreement < 0.02 and one.chance < 0.03)


def test_adjusted_information_is_scikit_learns(codes):
    from sklearn.metrics import adjusted_mutual_info_score, cohen_kappa_score

    rng = np.random.default_rng(8)
    x = codes["x"][:, 0].astype(int)
    y = np.where(rng.random(600) < 0.8, x, rng.integers(0, 3, 600))
    one = lt.match([x, y]).partners[0]
    # 20 shuffles stand for the exact expectation under chance, which is about 2 / 600 nats here
    assert float(one.agreement) == pytest.approx(adjusted_mutual_info_score(x, y, average_method="max"), abs=2e-3)
    assert one.beside == pytest.approx(cohen_kappa_score(x, y))
    assert one.agreement.low < one.agreement < one.agreement.high


def test_categories_are_held_to_as_many_rows_as_numbers():
    """Coins that differ in 2.5 % of the rows correlate by 0.95 and share 0.83 of their entropy; in 10 %, by 0.8."""
    rng = np.random.default_rng(12)
    coin = rng.integers(0, 2, 4000)
    near, far = (np.where(rng.random(4000) < apart, 1 - coin, coin) for apart in (0.025, 0.1))
    assert lt.match([coin, near]).reappearing == ("z1",)
    assert lt.match([coin, far]).missing == ("z1",)


def test_merged_outcomes_have_no_partner(codes):
    found = lt.match([Nodes([0], [0, 1, 2]), Nodes([0], [0, 1, 1])], codes)
    assert found.missing == ("N1",)
    assert 0.5 < found.partners[0].agreement < 0.7, "ln 2 of three outcomes' ln 3"


def test_channels_of_categories(codes):
    labels = codes["x"][:, 0].astype(int)
    found = lt.match([CategoricalChannel.of_labels(labels), (labels + 1) % 3])
    assert found.reappearing == ("z1",)


def test_numbers_and_categories_are_not_paired(latents):
    found = lt.match([latents, (latents[:, 0] > 0).astype(int)])
    assert {one.outcome for one in found.partners} == {"no partner"}


# What is refused ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"models": [np.zeros((9, 2))]}, "models: has 1 entry. Give at least 2"),
        ({"models": np.zeros((9, 2))}, "models=ndarray: is a single one"),
        ({"names": ["a"]}, "names=.*are not 2 different names"),
        ({"names": ["a", "a"]}, "names=.*are not 2 different names"),
        ({"threshold": 1.5}, "threshold=1.5: is no correlation"),
        ({"models": [np.zeros((9, 2)), np.zeros((8, 2))]}, "latents 2 has 8 rows and latents 1 has 9"),
        ({"data": np.zeros((8, 1))}, "9 rows, and 8 of data"),
        ({"models": [Encoder([0]), Encoder([1])]}, "data: Encoder 1 is a model, which encodes rows. Give them"),
        ({"models": [lt.VAE(), lt.VAE()], "data": np.zeros((9, 2))}, "VAE: is not fitted"),
    ],
)
def test_what_cannot_be_matched_is_refused(change, words):
    rows = np.random.default_rng(9).normal(size=(9, 2))
    with pytest.raises(lt.DataError, match=words):
        lt.match(**{"models": [rows, rows], **change})
    found = lt.match([rows, rows])
    with pytest.raises(lt.DataError, match="model='third': is none of those matched"):
        found.aligned("third")


def test_plain_data_for_a_file(latents):
    import json

    found = lt.match([latents, -latents])
    stored = json.loads(json.dumps(found.to_dict()))
    assert stored["partners"][0]["sign"] == -1
    assert stored["reappearing"] == ["z1", "z2", "z3"]
