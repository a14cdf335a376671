"""Hostile numbers: every model, estimator and audit gives finite results or a sentence, and no other warning than ours."""

import warnings

import jax
import numpy as np
import pytest

import latentry as lt
from latentry.contracts import HasLikelihood, Samples
from latentry.errors import DataWarning, LatentryError
from latentry.models import MODELS

ROWS, COLUMNS = 120, 4


def plain(rows=ROWS, columns=COLUMNS):
    rng = np.random.default_rng(2)
    latents = rng.normal(size=(rows, 2))
    return np.tanh(latents @ rng.normal(size=(2, columns))) + 0.1 * rng.normal(size=(rows, columns))


def scaled(*scales):
    return plain() * np.resize(scales, COLUMNS)


def with_column(column):
    table = plain()
    table[:, 1] = column(table)
    return table


def with_entry(value):
    table = plain()
    table[7, 1] = value
    return table


NOISE = np.random.default_rng(5)
TABLES = {
    "1e-300": lambda: scaled(1e-300),
    "1e-160": lambda: scaled(1e-160),
    "1e-30": lambda: scaled(1e-30),
    "1e30": lambda: scaled(1e30),
    "1e140": lambda: scaled(1e140),
    "1e300": lambda: scaled(1e300),
    "scales of all sizes": lambda: scaled(1e-300, 1e-20, 1.0, 1e140),
    "heavy tails": lambda: np.random.default_rng(3).standard_cauchy((ROWS, COLUMNS)) ** 3,
    "one outlier": lambda: with_entry(1e9),
    "one outlier of 1e150": lambda: with_entry(1e150),
    "one outlier of 1e300": lambda: with_entry(1e300),
    "a constant column": lambda: with_column(lambda table: np.full(len(table), 1 / 3)),
    "nearly constant": lambda: with_column(lambda table: 1e9 + 1e-6 * table[:, 1]),
    "all but one alike": lambda: with_column(lambda table: np.arange(len(table)) == 5),
    "a copy": lambda: with_column(lambda table: table[:, 0]),
    "nearly a copy": lambda: with_column(lambda table: table[:, 0] * (1 + 1e-13)),
    "a sum of others": lambda: with_column(lambda table: table[:, 0] + table[:, 2]),
    "far from zero": lambda: 1e12 + plain(),
    "whole numbers": lambda: np.round(3 * plain()),
    "constant": lambda: np.ones((ROWS, COLUMNS)),
    "three rows": lambda: plain()[:3],
    "one row": lambda: plain()[:1],
    "wide": lambda: plain(40, 300),
}
DOMAINS = {
    "one row of a domain": lambda: np.r_[0, np.ones(ROWS - 1, int)],
    "every row a domain": lambda: np.arange(ROWS),
    "one domain": lambda: np.zeros(ROWS, int),
}
SETTINGS = {
    "latent_dim": 2, "epochs": 2, "batch_size": 32, "hidden": (4,), "restarts": 1, "flow__blocks": 1, "flow__components": 2,
    "flow__optimiser": "adam", "domain_prior__hidden": (4,), "style_dim": 1, "networks__channels": 2, "nodes": (2, 2),
    "networks__most_channels": 4, "networks__style_width": 4, "progress": False,
}  # fmt: skip
OF_TABLES = sorted(name for name, kind in MODELS.items() if kind.takes_tables)


def small(name):
    kind = MODELS[name]
    known = kind().get_params()
    wanted = {key: value for key, value in SETTINGS.items() if key in known}
    return kind().set_params(**wanted | ({"latent_dim": None} if kind.takes_latents_from_data else {}))


def answered(ask):
    """Return what is answered, or None where a sentence is: an error of ours that says what to do. Other warnings are errors."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", DataWarning)
        try:
            return ask()
        except LatentryError as said:
            words = str(said)
            assert len(words) > 30, words
            assert " " in words
            return None


def data_of(name, table, domain=None):
    domain = np.arange(len(table)) % 2 if domain is None else domain
    if MODELS[name].least_modalities > 1:
        half = table.shape[1] // 2
        return lt.Dataset({"left": table[:, :half], "right": table[:, half:]}, domain=domain)
    return lt.Dataset(table, domain=domain)


def check_model(name, make):
    data = answered(make)
    if data is None:
        return

    def ask():
        model = small(name).fit(data)
        found = [model.transform(data), model.channel(data).mean if hasattr(model, "channel") else np.zeros(1)]
        found += [model.score_rows(data)] if isinstance(model, HasLikelihood) else []
        if isinstance(model, Samples):
            drawn = model.sample(7)
            found += [*drawn.values()] if isinstance(drawn, dict) else [drawn]
        return found

    for values in answered(ask) or ():
        assert np.isfinite(values).all()


@pytest.mark.long
@pytest.mark.parametrize("kind", list(TABLES))
@pytest.mark.parametrize("name", OF_TABLES)
@pytest.mark.usefixtures("few_tries")
def test_models(name, kind):
    check_model(name, lambda: data_of(name, TABLES[kind]()))


@pytest.mark.parametrize(
    "kind", ["1e-300", "scales of all sizes", "one outlier of 1e150", "all but one alike", "constant"]
)
@pytest.mark.parametrize("name", ["vae", "iflow"])
@pytest.mark.usefixtures("no_optimiser_steps")
def test_models_briefly(name, kind):
    check_model(name, lambda: data_of(name, TABLES[kind]()))


@pytest.mark.long
@pytest.mark.parametrize("kind", list(DOMAINS))
@pytest.mark.parametrize("name", OF_TABLES)
@pytest.mark.usefixtures("few_tries")
def test_domains(name, kind):
    check_model(name, lambda: data_of(name, plain(), DOMAINS[kind]()))


@pytest.mark.long
@pytest.mark.parametrize("name", OF_TABLES)
@pytest.mark.usefixtures("few_tries")
def test_a_thousand_domains(name):
    check_model(name, lambda: data_of(name, plain(3000), np.arange(3000) % 1000))


@pytest.mark.long
@pytest.mark.parametrize("name", OF_TABLES)
@pytest.mark.usefixtures("few_tries")
def test_five_thousand_columns(name):
    check_model(name, lambda: data_of(name, plain(160, 5000)))


# Estimators -----------------------------------------------------------------------------------

ESTIMATORS = ["auto", "ksg1", "ksg2", "gaussian", "student", "binned", "mixed", "discrete"]


def check_estimate(ask):
    found = answered(ask)
    if found is None:
        return
    assert not np.isnan(float(found)), "a number, or a sentence"
    if np.isnan(found.low) or np.isnan(found.high) or np.isinf(found.high):
        assert found.warnings or found.reason, "an interval without an end says why"


@pytest.mark.parametrize("kind", list(TABLES))
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_mutual_information(estimator, kind):
    table = TABLES[kind]()
    check_estimate(lambda: lt.mutual_information(table[:, :2], table[:, 2:], estimator=estimator))


@pytest.mark.parametrize("kind", list(TABLES))
@pytest.mark.parametrize("estimator", ["auto", "ksg1", "gaussian"])
def test_conditional_mutual_information(estimator, kind):
    table = TABLES[kind]()
    check_estimate(lambda: lt.mutual_information(table[:, :1], table[:, 2:3], table[:, 1:2], estimator=estimator))


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 5, 6, 10, 19])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_few_rows(estimator, rows):
    table = plain()[:rows]
    check_estimate(lambda: lt.mutual_information(table[:, 0], table[:, 1], estimator=estimator))
    check_estimate(lambda: lt.mutual_information(table[:, 0], table[:, 1] > 0, estimator=estimator))


@pytest.mark.parametrize("kind", ["1e-300", "1e30", "heavy tails", "whole numbers", "far from zero"])
@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_a_column_and_its_copy(estimator, kind):
    column = TABLES[kind]()[:, 0]
    check_estimate(lambda: lt.mutual_information(column, column, estimator=estimator))
    check_estimate(lambda: lt.mutual_information(column, -3 * column, estimator=estimator))


@pytest.mark.parametrize("kind", list(TABLES))
def test_entropy_and_the_rest(kind):
    table = TABLES[kind]()
    for estimator in (None, "gaussian"):
        check_estimate(lambda one=estimator: lt.information.entropy(table, estimator=one))
    for estimator in ("ksg", "gaussian"):
        check_estimate(lambda one=estimator: lt.information.total_correlation(table, estimator=one))
    matrix = answered(lambda: lt.information.pairwise(table[:, :3]))
    if matrix is not None:
        assert not np.isnan(matrix[~np.eye(3, dtype=bool)]).any()
    test = answered(lambda: lt.information.independence_test(table[:, :2], table[:, 2:], permutations=19))
    if test is not None:
        assert np.isfinite(test.p_value)
        assert not np.isnan(test.statistic) or "too few rows" in test.kind


# Certificates ---------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("kind", [*TABLES, *DOMAINS])
@pytest.mark.usefixtures("quick_students", "few_features")
def test_certificates(kind):
    table = TABLES[kind]() if kind in TABLES else plain()
    domain = DOMAINS[kind]() if kind in DOMAINS else np.arange(len(table)) % 2
    half = table.shape[1] // 2
    data = answered(lambda: lt.Dataset({"left": table[:, :half], "right": table[:, half:]}, domain=domain))
    if data is None:
        return
    for latents in (table[:, :1], np.arange(len(table)) % 2):
        found = answered(lambda one=latents: lt.certify(one, data))
        if found is not None:
            assert "nan" not in str(found).lower().split()
            assert found.to_html().startswith("<!doctype html>")


def test_memory_is_asked_for_before_it_is_taken():
    """160 rows of 5,000 columns: a flow of as many latents would hold billions of weights."""
    with pytest.raises(lt.DataError, match="5000 columns, but only 160 rows"):
        lt.IFlow(epochs=1, progress=False).fit(lt.Dataset(plain(160, 5000), domain=np.arange(160) % 2))
    jax.clear_caches()
