"""Manifests that are damaged or forged, for every model, on the run folders that are kept with the tests."""

import json
import math
import shutil
from pathlib import Path

import numpy as np
import pytest

import latentry as lt
from latentry.models.estimator.manifest import manifest_form
from latentry.models.registry import MODELS
from latentry.training import RunFiles, read_run, write_run

from wrong_kinds import replaced, without, wrong_documents

VERSIONS = sorted((Path(__file__).parents[1] / "golden").glob("[0-9]*"))
NEWEST = VERSIONS[-1]
NAMES = sorted(path.name for path in NEWEST.iterdir() if path.is_dir())


def test_every_model_is_kept():
    assert {lt.load(NEWEST / name).name for name in NAMES} == set(MODELS)


@pytest.mark.parametrize("folder", VERSIONS, ids=lambda path: path.name)
@pytest.mark.parametrize("name", NAMES)
def test_runs_and_certificates_of_every_version_are_read(folder, name):
    from make_golden import rows

    model = lt.load(folder / name)
    latents = np.array(json.loads((folder / f"{name}-latents.json").read_text()))
    np.testing.assert_allclose(
        model.transform(rows(name)), latents, rtol=1e-3, atol=1e-3
    )  # other machines, other last bits
    certificate = lt.Certificate.from_json(folder / f"{name}.json")
    assert certificate.subject["kind"] == name
    assert str(certificate)


@pytest.mark.parametrize("name", NAMES)
def test_every_field_of_a_manifest_refuses_every_wrong_kind(name):
    files = read_run(NEWEST / name)
    form = manifest_form(MODELS[files.manifest["model"]].facts_class)
    form.require(dict(files.manifest), "manifest.json")
    tried = 0
    for place, kind, wrong in wrong_documents(dict(files.manifest), form.schema):
        with pytest.raises(lt.CheckpointError) as refused:
            form.require(wrong, "manifest.json")
        assert f"manifest.json, {place}" in str(refused.value) or not place, kind
        tried += 1
    assert tried > 200


FORGED = {
    "seed": (("parameters", "seed"), 0.5, "seed=0.5: not a whole number"),
    "learning rate": (("parameters", "learning_rate"), -1.0, "learning_rate=-1.0: not a number above 0"),
    "phase": (("state", "phase"), 99, "state.phase: 99 is more than"),
    "negative phase": (("state", "phase"), -1, "state.phase: -1 is less than 0"),
    "restarts that ended": (("state", "ended"), 9_999, "state.ended: 9999 is more than"),
    "model": (("model",), "vea", "there is no model 'vea'; did you mean 'vae'"),
    "no name": (("model",), ["vae"], "model: it names no model"),
    "unknown parameter": (("parameters", "colour"), "red", "colour"),
    "size of rows": (("record", "layout", "shapes", "x"), [2**39], r"layout\.shapes\.x: 549755813888 numbers"),
    "size of the latent": (("parameters", "latent_dim"), 2**50, "latent_dim: 1125899906842624 numbers"),
    "width": (("parameters", "hidden"), [90_000, 90_000], "weights.safetensors"),
    "list for an object": (("record",), [], "record: a list is not an object"),
    "likelihood": (("record", "facts", "likelihoods", "x"), "lorentz", "the model that it describes cannot be built"),
    "neither own nor a mapping": (("parameters", "likelihood"), {}, "cannot be built: KeyError: 'mapping'"),
    "written by": (("written_by",), [], "in a form that this version does not read"),
    "versions": (("versions",), [3], "versions: a list is not an object"),
}


@pytest.mark.parametrize(("path", "value", "words"), FORGED.values(), ids=FORGED)
def test_forged_manifests_are_sentences_and_nothing_is_built(tmp_path, path, value, words):
    """Checksums are right: what was forged is found by its meaning."""
    files = read_run(NEWEST / "VAE")
    forged(tmp_path, files, replaced(files.manifest, path, value))
    with pytest.raises(lt.CheckpointError, match=words):
        lt.load(tmp_path / "run")


def forged(tmp_path, files, manifest):
    kept = {name: value for name, value in manifest.items() if name not in ("format", "files", "checksums")}
    write_run(tmp_path / "run", RunFiles(kept, files.weights, files.optimiser, files.history))


def test_a_missing_part_of_a_record_is_named(tmp_path):
    files = read_run(NEWEST / "VAE")
    forged(tmp_path, files, without(files.manifest, ("record", "layout"), "shapes"))
    with pytest.raises(lt.CheckpointError, match=r"manifest\.json, record\.layout: 'shapes' is missing"):
        lt.load(tmp_path / "run")


def test_arrays_of_another_type_are_named(tmp_path):
    files = read_run(NEWEST / "VAE")
    for name in files.weights:
        weights = {**files.weights, name: np.zeros(files.weights[name].shape, np.float16)}
        forged(tmp_path, RunFiles(files.manifest, weights, files.optimiser, files.history), files.manifest)
        with pytest.raises(lt.CheckpointError, match=f"weights.safetensors: '{name}' is float16"):
            lt.load(tmp_path / "run")


@pytest.mark.parametrize("line", ["[1]", '{"loss": [1]}', '{"restart": -1}', "[" * 9999, '{"loss": NaN}', "3"])
def test_lines_of_a_history_are_checked(tmp_path, line, monkeypatch):
    from latentry.training import run_folder

    files = read_run(NEWEST / "VAE")
    dumps = json.dumps
    monkeypatch.setattr(run_folder.json, "dumps", lambda value, **how: line if "loss" in value else dumps(value, **how))
    forged(tmp_path, files, files.manifest)
    monkeypatch.undo()
    with pytest.raises(lt.CheckpointError, match=r"history-[0-9a-f]+\.jsonl, line 1"):
        lt.load(tmp_path / "run")


def test_infinite_losses_come_back(tmp_path):
    files = read_run(NEWEST / "VAE")
    rows = [{"epoch": 1, "loss": math.inf}, {"epoch": 2, "loss": -math.inf}, {"epoch": 3, "loss": math.nan}]
    forged(tmp_path, RunFiles(files.manifest, files.weights, files.optimiser, rows), files.manifest)
    assert repr(list(read_run(tmp_path / "run").history)) == repr(rows)


def test_what_would_not_be_read_is_not_written(tmp_path):
    files = read_run(NEWEST / "VAE")
    shutil.copytree(NEWEST / "VAE", tmp_path / "run")
    with pytest.raises(lt.CheckpointError, match="NaN is no number of JSON"):
        forged(tmp_path, files, replaced(files.manifest, ("record", "origin"), {"level": math.nan}))
    assert lt.load(tmp_path / "run").name == "vae"
