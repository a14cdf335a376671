"""The whole of it, with networks that learn for a moment."""

import json

import numpy as np
import pytest

import latentry as lt


def test_one_model_applies_and_is_fitted_with_restarts_and_halves(found):
    discovery, _, said = found
    assert isinstance(discovery.model, lt.VAE)
    assert discovery.latents == discovery.count.latents
    assert set(discovery.seconds) == {name for name in discovery.seconds if name.startswith(("final VAE", "half"))}, (
        "one candidate needs no comparison"
    )
    assert len(discovery.seconds) == 5
    assert any("fit 1 of at most 8" in words for words in said)
    assert said[-1] == "certificate"


def test_the_model_never_saw_the_rows_of_its_certificate(found, few_rows):
    discovery, _, _ = found
    assert discovery.model.record_.rows == len(discovery.training) == 140
    assert discovery.certificate.split["origin"] == "set aside"
    assert discovery.certificate.split["audited"] == 60


def test_the_first_paragraph_can_be_repeated(found):
    discovery, _, _ = found
    for words in (
        "200 rows",
        f"{discovery.latents} hidden variable",
        "5 fits",
        "only candidate",
        "60 rows that no fit saw",
    ):
        assert words in discovery.paragraph
    page = discovery.to_html()
    assert page.index("hidden variable") < page.index("id='certificate'")
    assert "Which models could apply" in page
    assert all(name in page for name in ("IFlow", "CausalPIMA", "NaturalLatents"))
    assert discovery.paragraph in str(discovery)


def test_plain_data_hold_every_decision(found, tmp_path):
    discovery, _, _ = found
    kept = json.loads(discovery.to_json(tmp_path / "found.json"))
    assert kept["paragraph"] == discovery.paragraph
    assert kept["latents"] == discovery.latents
    assert len(kept["models"]) == 7
    assert lt.certificate.Certificate.from_json(kept["certificate"]).verdict.status


def test_a_stopped_discovery_goes_on_and_ends_the_same(found, quick, few_rows, monkeypatch, same):
    """Nothing is trained again: every fit is read from the folder, and the certificate is the same."""
    discovery, folder, _ = found

    def trained(*_, **__):
        raise AssertionError("fitted again")

    monkeypatch.setattr(lt.VAE, "fit", trained)
    again = lt.discover(few_rows.with_domain(None), budget=8, folder=folder, progress=False)
    assert same(again.model.module_, discovery.model.module_)
    assert again.sentences == discovery.sentences


def test_groups_that_leave_too_few_rows_are_refused_before_any_fit(rng):
    sizes = (100, 60, 20, 20, 10, 10)
    rows = lt.Dataset(rng.normal(size=(220, 3)), groups=np.repeat(range(6), sizes))
    with pytest.raises(lt.DataError, match=r"rows that belong together leave \d+ to learn from and \d+ to set aside"):
        lt.discover(rows, budget=3, seed=1)


def test_too_few_rows():
    with pytest.raises(lt.DataError, match=r"100 rows are too few.*at least 134"):
        lt.discover(np.random.default_rng(0).normal(size=(100, 2)), budget=3)


def test_a_command_writes_report_record_and_run(quick, few_rows, tmp_path, capsys):
    from latentry.cli import main

    np.savez(tmp_path / "rows.npz", x=np.asarray(few_rows["x"]))
    with pytest.raises(SystemExit) as ended:
        main(["discover", str(tmp_path / "rows.npz"), "--budget", "3", "--out", str(tmp_path / "out"), "--json"])
    assert ended.value.code == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["model"] == "VAE"
    for name in ("report.html", "discovered.json", "certificate.json", "discovery.json"):
        assert (tmp_path / "out" / name).exists()
    assert lt.load(tmp_path / "out" / "run").latent_dim == printed["latents"]


def test_the_command_line_names_its_own_options(tmp_path, capsys):
    from latentry.cli import main

    np.savez(tmp_path / "rows.npz", x=np.zeros((200, 2)) + np.arange(2))
    with pytest.raises(SystemExit) as ended:
        main(["discover", str(tmp_path / "rows.npz"), "--budget", "soon"])
    assert ended.value.code == 2
    assert "--budget 'soon'" in capsys.readouterr().err.replace("\n", " ")
