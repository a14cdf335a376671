"""What is read of the data, and which models could apply: from arrays and classes alone."""

import numpy as np
import pytest

import latentry as lt
from latentry.discovery import KINDS, Candidate, budget_of, candidates, plan, shape_of
from latentry.models import MODELS


@pytest.mark.parametrize(
    ("values", "form", "kind"),
    [
        (np.linspace(0, 1, 60).reshape(20, 3), "table", "real"),
        (np.arange(60.0).reshape(20, 3), "table", "real"),
        (np.arange(60).reshape(20, 3), "table", "counts"),
        (np.arange(20).reshape(20, 1) % 4, "table", "labels"),
        (np.arange(60).reshape(20, 3) % 2, "table", "binary"),
        (np.arange(60).reshape(20, 3) % 2 == 0, "table", "binary"),
        (np.linspace(0, 1, 20 * 30 * 2).reshape(20, 30, 2), "curve", "real"),
        (np.linspace(0, 1, 20 * 64).reshape(20, 8, 8), "image", "real"),
        (np.linspace(0, 1, 20 * 8 * 8 * 3).reshape(20, 8, 8, 3), "image", "real"),
    ],
)
def test_forms_and_kinds(values, form, kind):
    (found,) = shape_of(lt.Dataset(values)).modalities
    assert (found.form, found.values, found.missing) == (form, kind, 0)


def test_domains_groups_time_and_missing_rows():
    rows = np.random.default_rng(0).normal(size=(30, 2))
    rows[4] = np.nan
    data = lt.Dataset({"a": rows, "b": rows[::-1] * 0 + 1.5}, domain=["x"] * 10 + ["y"] * 20, groups=np.arange(30) // 3)
    shape = shape_of(data)
    assert (shape.rows, shape.domains, shape.smallest, shape.groups, shape.timed) == (30, 2, 10, 10, False)
    assert [one.missing for one in shape.modalities] == [1, 0] or [one.missing for one in shape.modalities] == [1, 1]
    for words in ("30 rows", "2 domains", "smallest of 10", "10 groups", "missing in 1"):
        assert words in shape.sentence
    assert shape_of(lt.Dataset(rows[5:], domain=rows[5:, :1])).domains is None


def planned(data, latents):
    return {one.name: one for one in plan(shape_of(data), latents)}


def test_every_registered_model_has_a_row():
    table = planned(lt.Dataset(np.random.default_rng(0).normal(size=(40, 3))), 2)
    assert set(table) == {kind.__name__ for kind in MODELS.values()}
    assert {name for name, one in table.items() if one.applies} == {"VAE", "CausalPIMA"}
    assert "2 domains" in table["IFlow"].needs
    assert "2 modalities" in table["NaturalLatents"].needs


def test_enough_domains_make_changes_identify_and_few_ask_for_sparsity():
    rows = np.random.default_rng(0).normal(size=(90, 4))
    many, few = (planned(lt.Dataset(rows, domain=np.arange(90) % k), 4) for k in (9, 8))
    assert (many["IFlow"].rank, few["IFlow"].rank, few["CGVAE"].rank) == (3, 1, 2)
    assert "9 domains" in few["IFlow"].needs
    discrete = planned(lt.Dataset((rows > 0).astype(int), domain=np.arange(90) % 9), 4)
    assert discrete["IVAE"].rank == 1
    assert "nothing is promised" in discrete["IVAE"].identifies
    assert not discrete["IFlow"].applies


def names(data, latents, kinds=None):
    shape = shape_of(data)
    return [one.name.split(",")[0] for one in candidates(shape, plan(shape, latents), latents, 3, kinds)]


def test_candidates_follow_from_the_plan():
    rows = np.random.default_rng(0).normal(size=(90, 4))
    assert names(lt.Dataset(rows), 2) == ["VAE"]
    assert names(lt.Dataset(rows, domain=np.arange(90) % 9), 4) == ["IFlow", "VAE"]
    assert names(lt.Dataset(rows, domain=np.arange(90) % 2), 4) == ["CGVAE", "IFlow", "VAE"]
    assert names(lt.Dataset(rows, domain=np.arange(90) % 2), 2) == ["IVAE", "VAE", "CGVAE"]
    assert "NaturalLatents" in names(lt.Dataset({"a": rows, "b": rows + 1}), 2)


def test_another_kind_of_candidate_is_one_more_function():
    def pair(setting):
        return (Candidate("mine", lt.VAE(latent_dim=setting.latents, seed=setting.seed), 0, 0.5),)

    rows = np.random.default_rng(0).normal(size=(40, 3))
    assert names(lt.Dataset(rows), 2, (*KINDS, pair)) == ["VAE", "mine"]


BUDGETS = {
    "90 s": (None, 90),
    "10 min": (None, 600),
    "1.5 h": (None, 5400),
    "2 minutes": (None, 120),
    12: (12, None),
    "12 fits": (12, None),
}


@pytest.mark.parametrize("given", BUDGETS, ids=str)
def test_budgets(given):
    assert (budget_of(given).fits, budget_of(given).seconds) == BUDGETS[given]


@pytest.mark.parametrize("given", ["soon", "-3 min", "0 s", 2, 1.5, True, "3 parsecs", ""])
def test_no_budgets(given):
    with pytest.raises(lt.DataError, match=r"budget=.*Give"):
        budget_of(given)
