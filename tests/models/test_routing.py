"""scikit-learn's tools around models: domains and groups by their names, pipelines, searches, curves; hostile inputs."""

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, cross_validate, learning_curve
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import latentry as lt
from latentry.models import MODELS

pytestmark = pytest.mark.usefixtures("no_optimiser_steps")

QUICK = {"epochs": 1, "batch_size": 32, "hidden": (4,), "progress": False}


@pytest.fixture
def routed():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.fixture
def rows():
    return np.random.default_rng(0).normal(size=(90, 4))


LAB = np.array(["north", "south", "west"])[np.arange(90) % 3]
PLATE = np.array([f"plate {i}" for i in np.arange(90) // 9])


def ivae(**more):
    return lt.IVAE(latent_dim=2, estimation="elbo", **QUICK, **more)


@pytest.mark.parametrize("name", sorted(MODELS))
def test_domain_and_groups_can_be_asked_for(name, routed):
    model = MODELS[name]().set_fit_request(domain=True, groups=True).set_transform_request(domain=True)
    assert clone(model).get_metadata_routing().fit.requests["groups"] is True


def test_domain_is_y_by_its_own_name(rows):
    """The same bits whichever name it has; both at once are refused."""
    one, two = ivae().fit(rows, LAB), ivae().fit(rows, domain=LAB)
    assert (one.transform(rows, LAB) == two.transform(rows, domain=LAB)).all()
    assert one.score(rows, LAB) == two.score(rows, domain=LAB)
    assert (ivae().fit_transform(rows, domain=LAB) == one.transform(rows)).all()
    for call in (ivae().fit, one.transform, one.score, ivae().fit_transform):
        with pytest.raises(lt.DataError, match="y and domain=: both say the domain"):
            call(rows, LAB, domain=LAB)


def test_groups_are_kept_whole(rows):
    model = lt.VAE(**QUICK, validation=0.3).fit(rows, groups=PLATE)
    held = np.zeros(90, bool)
    held[model.record_.held_out] = True
    assert 0 < held.sum() < 90
    assert all(len(set(held[plate == PLATE])) == 1 for plate in np.unique(PLATE))
    with pytest.raises(lt.DataError, match="groups"):
        lt.VAE(**QUICK).fit(rows, groups=PLATE[:5])


def test_a_search_passes_domains_and_groups_on(rows, routed):
    """Each fit sees the domains of its own rows, and no plate is on both sides."""
    model = ivae().set_fit_request(domain=True, groups=True).set_score_request(domain=True)
    search = GridSearchCV(model, {"latent_dim": [1, 2]}, cv=GroupKFold(3), refit=True, error_score="raise")
    search.fit(rows, domain=LAB, groups=PLATE)
    assert search.best_params_["latent_dim"] in (1, 2)
    assert search.best_estimator_.record_.layout.domain_labels == ("north", "south", "west")
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_without_a_request_scikit_learn_says_so(rows, routed):
    with pytest.raises(sklearn.exceptions.UnsetMetadataPassedError, match="domain"):
        GridSearchCV(ivae(), {"latent_dim": [1]}, cv=3).fit(rows, domain=LAB)


def test_a_pipeline_hands_the_domain_to_the_model_alone(rows, routed):
    model = ivae().set_fit_request(domain=True).set_score_request(domain=True).set_transform_request(domain=False)
    pipeline = make_pipeline(StandardScaler(), model)
    scaled = StandardScaler().fit_transform(rows)
    pipeline.fit(rows, domain=LAB)
    alone = ivae().fit(scaled, LAB)
    assert (pipeline.transform(rows) == alone.transform(scaled)).all()
    assert pipeline.score(rows, domain=LAB) == alone.score(scaled, LAB)
    search = GridSearchCV(pipeline, {"ivae__latent_dim": [1, 2]}, cv=3, error_score="raise").fit(rows, domain=LAB)
    assert np.isfinite(search.best_score_)


def test_weights_of_rows_weigh_the_score(rows):
    model, weight = ivae().fit(rows, LAB), np.arange(90) % 2
    assert model.score(rows, LAB, weight) == pytest.approx(model.score_rows(rows, LAB)[1::2].mean())
    for wrong in (weight[:5], -weight, 0 * weight):
        with pytest.raises(lt.DataError, match="sample_weight: has shape"):
            model.score(rows, LAB, wrong)


def test_a_model_in_the_middle_of_a_pipeline(rows, routed):
    model = lt.VAE(latent_dim=2, **QUICK).set_fit_request(domain=True).set_transform_request(domain=True)
    pipeline = make_pipeline(model, StandardScaler()).fit(rows, domain=LAB)
    assert np.allclose(pipeline.transform(rows, domain=LAB).mean(axis=0), 0, atol=1e-5)


def test_y_is_the_domain_without_routing(rows):
    """Frames whose index was shuffled, labels in the same order: scikit-learn slices both alike."""
    order = np.random.default_rng(1).permutation(90)
    frame = pd.DataFrame(rows, columns=list("abcd"), index=[f"s{i}" for i in range(90)]).iloc[order]
    labels = pd.Series(LAB, index=[f"s{i}" for i in range(90)]).iloc[order]
    splits = KFold(3)
    by_frame = cross_validate(ivae(), frame, labels, cv=splits, error_score="raise")["test_score"]
    by_array = cross_validate(ivae(), rows[order], LAB[order], cv=splits, error_score="raise")["test_score"]
    assert np.allclose(by_frame, by_array)
    search = GridSearchCV(ivae(), {"training__clip": [1.0, 5.0]}, cv=splits, error_score="raise").fit(frame, labels)
    assert list(search.best_estimator_.feature_names_in_) == list("abcd")


def test_a_y_that_replaces_the_domain_of_the_data_is_told(rows):
    """Classes at the end of a pipeline became the domain without a word; the same labels, and domain=, are what was meant."""
    data, classes = lt.Dataset(rows, domain=LAB), np.array(["x", "y"])[np.arange(90) % 2]
    told = r"y: the data have a domain .*north, south, west.*and y is another one .*x, y.*domain=y"
    with pytest.warns(lt.DataWarning, match=told):
        ivae().fit(data, classes)
    order = np.random.default_rng(1).permutation(90)
    ivae().fit(data, pd.Series(LAB).iloc[order])  # the same, by its index
    model = ivae().fit(data, domain=classes)
    assert model.record_.layout.domain_labels == ("x", "y")


def test_several_modalities_are_searched_over_and_drawn_as_a_curve(rows):
    data = lt.Dataset({"left": rows[:, :2], "right": rows[:, 2:]}, domain=LAB, groups=np.arange(90) // 3)
    search = GridSearchCV(ivae(), {"latent_dim": [1, 2]}, cv=3, error_score="raise").fit(data)
    assert search.best_estimator_.record_.layout.modalities == ("left", "right")
    sizes, _, test = learning_curve(ivae(), data, None, cv=3, train_sizes=[0.5, 1.0], error_score="raise")
    assert test.shape == (2, 3)
    assert sizes.tolist() == [30, 60]
    pipeline = make_pipeline(lt.VAE(latent_dim=2, **QUICK), StandardScaler()).fit(data)
    assert pipeline.transform(data).shape == (90, 2)


def test_frames_come_out_of_a_pipeline_with_names_and_index(rows):
    frame = pd.DataFrame(rows, columns=list("abcd"), index=[f"s{i}" for i in range(90)])
    pipeline = make_pipeline(StandardScaler(), lt.VAE(latent_dim=2, **QUICK)).set_output(transform="pandas")
    found = pipeline.fit(frame).transform(frame)
    assert list(found.columns) == ["z1", "z2"]
    assert list(found.index) == list(frame.index)
    assert list(pipeline.get_feature_names_out()) == ["z1", "z2"]


@pytest.mark.parametrize(
    ("X", "y"),
    [
        (LAB, np.zeros((90, 4))),
        (list(LAB), np.zeros((90, 4)).tolist()),
        (pd.Series(LAB), pd.DataFrame(np.zeros((90, 4)))),
        (LAB, lt.Dataset(np.random.default_rng(0).normal(size=(90, 4)))),
        (LAB, {"a": np.zeros((90, 2)), "b": np.zeros((90, 2))}),
    ],
)
def test_swapped_arguments_are_named(X, y):
    with pytest.raises(lt.DataError, match=r"the two are swapped. Give the rows first.*fit\(rows, domain\)"):
        ivae().fit(X, y)


HINTS = {
    "latents": "did you mean 'latent_dim'",
    "n_components": "did you mean 'latent_dim'",
    "lr": "did you mean 'learning_rate'",
    "batch": "did you mean 'batch_size'",
    "n_epochs": "did you mean 'epochs'",
    "max_iter": "did you mean 'epochs'",
    "random_state": "did you mean 'seed'",
    "verbose": "did you mean 'progress'",
    "hidden_layer_sizes": "did you mean 'hidden'",
    "epoch": "did you mean 'epochs'",
    "patience": r"it is one of training. Give training=latentry.models.Training\(patience=...\)",
    "early_stopping": r"Training\(patience=...\)",
    "dropout": r"Networks\(modality_dropout=...\)",
}


@pytest.mark.parametrize("name", HINTS)
def test_names_of_other_libraries_are_understood(name):
    for make in (lt.VAE, lambda **given: lt.VAE().set_params(**given)):
        for kind in (lt.DataError, TypeError):
            with pytest.raises(kind, match=f"^{name}: VAE has no such parameter.*{HINTS[name]}"):
                make(**{name: 3})


def test_settings_understand_them_too():
    with pytest.raises(TypeError, match="early_stopping: Training has no such parameter; did you mean 'patience'"):
        lt.models.Training(early_stopping=3)
    with pytest.raises(lt.DataError, match="wieght: GraphSearch has no such parameter"):
        lt.models.GraphSearch(wieght=3)
    with pytest.raises(lt.DataError, match="means: Training has no such parameter. Known"):
        lt.models.Training(means=3)
