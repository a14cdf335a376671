"""Many fits: one table, the same on every engine, that goes on where it was stopped."""

import json

import numpy as np
import pytest

import latentry as lt
from latentry.errors import DataError
from latentry.models import finished
from latentry.sweeps.jobs import jobs_of
from latentry.sweeps.one_job import Order

DATA = lt.generators.segments(domains=4, rows_per_domain=60, latents=2)
MACHINE = {"seconds", "folder"}  # columns that depend on it


def models():
    return [lt.VAE(latent_dim=1, epochs=2), lt.VAE(latent_dim=2, epochs=2), lt.VAE(latent_dim=0)]


def decisive(found):
    return {name: column for name, column in found.columns().items() if name not in MACHINE}


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    return lt.fit_many(models(), DATA, executor="here", seed=3, folder=tmp_path_factory.mktemp("here"), progress=False)


def test_a_line_says_what_a_fit_by_hand_says(here):
    training, aside = DATA.split(0.8, 0.2, seed=0)
    again = lt.VAE(latent_dim=2, epochs=2, seed=here[1].parameters["seed"]).fit(training)
    assert here[1].score == again.score_rows(aside).mean()
    assert here[1].numbers["rows"] == len(training)
    assert here[1].numbers["mcc"] == pytest.approx(
        lt.mcc(again.transform(aside), np.column_stack([*aside.factors.values()]))
    )
    np.testing.assert_array_equal(here.load(here[1].name).transform(aside), again.transform(aside))
    assert here.best.name == max(here[:2], key=lambda row: row.score).name


def test_a_fit_that_fails_is_a_line_with_its_reason(here):
    assert [row.status for row in here] == ["done", "done", "failed"]
    assert "latent_dim=0" in here.failed[0].reason
    assert "latent_dim=0" in str(here)
    with pytest.raises(DataError, match="failed: latent_dim=0"):
        here.load(here[2].name)
    with pytest.raises(DataError, match="did you mean '0001-vae'"):
        here.load("001-vae")


@pytest.mark.long
def test_processes_give_the_same_table_bit_for_bit(here, tmp_path):
    found = lt.fit_many(models(), DATA, workers=2, seed=3, folder=tmp_path, progress=False)
    assert decisive(found) == decisive(here)


def test_seeds_come_from_numbers_of_jobs_or_stay():
    seeded = [job.model.seed for job in jobs_of([lt.VAE(), lt.VAE()], DATA, 0)]
    assert len({*seeded}) == 2
    assert seeded == [job.model.seed for job in jobs_of([lt.VAE(), lt.VAE()], DATA, 0)]
    assert [job.model.seed for job in jobs_of([lt.VAE(seed=5)], DATA, None)] == [5]


def test_what_is_finished_is_read_and_other_jobs_are_refused(here, monkeypatch):
    def refuse(*_):
        raise AssertionError("fitted again")

    again = {"folder": here.folder, "executor": "here", "progress": False}
    with monkeypatch.context() as patched:
        patched.setattr(lt.VAE, "fit", refuse)
        read = lt.fit_many(models()[:2], DATA, seed=3, **again)
    assert [row.score for row in read] == [row.score for row in here[:2]]
    assert [row.seconds for row in read] == [row.seconds for row in here[:2]]
    with pytest.raises(DataError, match="'0000-vae' with other parameters"):
        lt.fit_many(models(), DATA, seed=4, **again)
    with pytest.raises(DataError, match="other parameters, data or seeds"):
        lt.fit_many(models(), DATA.take(np.arange(200)), seed=3, **again)


def test_an_outcome_that_was_cut_short_is_not_believed(here):
    job = jobs_of(models()[:1], DATA, 3)[0]
    order = Order.of(job, here.folder, 0.2, 0, certify=False, epsilon=0.05)
    assert finished(order.fit, order.mark) is not None
    assert finished(order.fit, "another mark") is None
    file = here.folder / job.name / "outcome.json"
    whole = file.read_text()
    try:
        for broken in (whole[:-9], "[]", "{}", json.dumps({**json.loads(whole), "more": 1})):
            file.write_text(broken)
            assert finished(order.fit, order.mark) is None
    finally:
        file.write_text(whole)


def test_tables_are_written(here, tmp_path):
    parquet = lt.data.read_columns(here.write(tmp_path / "t.parquet"))
    assert list(parquet["name"]) == ["0000-vae", "0001-vae", "0002-vae"]
    assert parquet["score"][0] == here[0].score
    head, first, *_ = here.write(tmp_path / "t.csv").read_text().splitlines()
    assert head.startswith("name,model,data,parameters,status,reason")
    assert first.startswith("0000-vae,vae,")
    with pytest.raises(DataError, match="ends in"):
        here.write(tmp_path / "t.xlsx")


@pytest.mark.long
def test_verdicts_are_columns(tmp_path):
    found = lt.fit_many(
        [lt.VAE(latent_dim=1, epochs=1)],
        DATA,
        executor="here",
        aside=0.4,
        certify=True,
        folder=tmp_path,
        progress=False,
    )
    verdicts = {name for name in found[0].numbers if name.startswith("verdict_")}
    assert "verdict_fit" in verdicts, found[0]
    assert lt.Certificate.from_json(tmp_path / "0000-vae" / "certificate.json").verdicts


@pytest.mark.parametrize(
    ("jobs", "data", "options", "words"),
    [
        ([], DATA, {}, "there are none"),
        ([lt.VAE()], None, {}, r"jobs\[0\]: is a model without data"),
        ([3], DATA, {}, r"jobs\[0\]=3"),
        ([lt.Job(lt.VAE(), DATA, "a"), lt.Job(lt.VAE(), DATA, "a")], None, {}, "'a': two jobs"),
        ([lt.Job(lt.VAE(), DATA, "../a")], None, {}, "name of a folder"),
        ([lt.VAE()], DATA, {"aside": 1}, "aside=1"),
        ([lt.VAE()], DATA, {"aside": 0, "certify": True}, "certify=True"),
        ([lt.VAE(encoder=lambda *_, **__: None)], DATA, {}, "cannot be sent"),
    ],
)
def test_jobs_that_cannot_be_done_are_refused_before_any_fit(jobs, data, options, words, tmp_path):
    with pytest.raises(DataError, match=words):
        lt.fit_many(jobs, data, executor="here", folder=tmp_path, progress=False, **options)


@pytest.mark.long
def test_candidates_are_compared_alike_on_every_engine(tmp_path):
    tried = [lt.VAE(latent_dim=n, epochs=1) for n in (1, 2)]
    alone = lt.models.choose(tried, DATA, folds=2)
    at_once = lt.models.choose(tried, DATA, folds=2, executor="local", workers=2)
    assert at_once.scores == alone.scores
    assert at_once.errors == alone.errors
