import numpy as np
import pytest

import latentry as lt
from latentry.models import choose

SMALL = {
    "flow__blocks": 1,
    "flow__components": 2,
    "flow__optimiser": "adam",
    "epochs": 6,
    "batch_size": 64,
    "progress": False,
}


@pytest.mark.long
def test_the_better_model_is_chosen_by_rows_that_none_saw():
    """Sources with changing spreads: a prior that only moves cannot follow."""
    data = lt.generators.segments(domains=4, rows_per_domain=200, latents=2, layers=1, seed=0)
    found = choose(
        [lt.IFlow().set_params(**SMALL, prior="mean"), lt.IFlow().set_params(**SMALL, prior="variance")],
        data,
        folds=1,
        seed=1,
    )
    assert found.model.prior == "variance"
    assert found.scores[1] > found.scores[0] + 2 * found.errors[0]
    assert found.errors[1] == 0
    assert found.rows == 80
    training, aside = data.split(0.9, 0.1, seed=1)
    assert found.scores[1] == found.model.score(aside)
    assert found.model.record_.rows == len(training)
    assert "best" in repr(found)


def test_few_rows_are_each_set_aside_once_and_groups_stay_whole():
    rows = lt.generators.segments(domains=2, rows_per_domain=30, latents=2, layers=1, seed=0)
    data = rows.with_groups(np.repeat(np.arange(12), 5))
    found = choose([lt.VAE(latent_dim=1, hidden=(4,), epochs=2, progress=False)] * 2, data)
    assert (found.folds, found.rows) == (5, 60)
    assert found.errors == (0, 0)
    assert found.model.record_.rows == 60, "the best is fitted to all rows"
    assert "5 parts" in repr(found)


BAD = {
    "none": ([], {}, "give a list of models"),
    "strange": (["iflow"], {}, "'iflow' is not a model"),
    "folds": ([lt.IFlow().set_params(**SMALL)], {"folds": 0}, "folds=0"),
    "fraction": ([lt.IFlow().set_params(**SMALL)], {"fraction": 0}, "fraction=0"),
    "kinds": ([lt.IFlow().set_params(**SMALL), lt.VAE(latent_dim=1, hidden=(4,), epochs=1)], {}, "not of one kind"),
}


@pytest.mark.parametrize("case", BAD, ids=str)
def test_bad_input(case, rng):
    candidates, settings, sentence = BAD[case]
    with pytest.raises(lt.DataError, match=sentence):
        choose(candidates, rng.normal(size=(60, 2)), np.arange(60) % 3, **settings)
