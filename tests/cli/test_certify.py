import json
from types import SimpleNamespace

import numpy as np
import pytest

import latentry as lt
from latentry.cli import recipes
from latentry.generators import finite_laws
from latentry.whole_files import write_whole

pytestmark = pytest.mark.usefixtures("few_features", "quick_students_in_module")
QUICK = ["--epochs", "2", "--latents", "1", "--set", "hidden=[4]", "--quiet"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Rows with a latent that is natural, the latent, and a small fitted model."""
    where = tmp_path_factory.mktemp("certify")
    sample = finite_laws.planted_natural().sample(6000, seed=0)
    columns = {f"x{i}": sample.observables[:, [i]] for i in range(2)}
    lt.Dataset(columns, domain=sample.domain).write(where / "d.npz")
    np.save(where / "latent.npy", sample.latent[:, None])
    (where / "junk.npy").write_bytes(b"junk")
    rng = np.random.default_rng(0)
    rows = lt.Dataset({"a": rng.normal(size=(300, 2)), "b": rng.normal(size=(300, 2))}, domain=["p", "q"] * 150)
    rows.write(where / "t.npz")
    rows.take(np.arange(30)).write(where / "few.npz")
    lt.Dataset({"a": rng.normal(size=(300, 3)), "b": rng.normal(size=(300, 2))}, domain=["p", "q"] * 150).write(
        where / "wide.npz"
    )
    lt.VAE(epochs=2, hidden=(4,), progress=False).fit(rows.split(0.6, 0.4)[0]).save(where / "run")
    return where


@pytest.fixture(scope="module")
def made(folder):
    return lt.certify(np.load(folder / "latent.npy")[:, 0], lt.read(folder / "d.npz"))


def test_latents_from_a_file_are_certified(call, folder, tmp_path):
    out = tmp_path / "c"
    code, text, _ = call(
        "certify", folder / "latent.npy", folder / "d.npz", "--out", out, "--json", "--require", "natural,mixtures"
    )
    found = json.loads(text)
    assert code == 0
    assert found["trusted"]
    assert found["verdicts"]["natural"]["status"] == "certified"
    assert sorted(p.name for p in out.iterdir()) == ["certificate.json", "report.html"]
    code, text, _ = call("certify", "--check", out / "certificate.json", folder / "latent.npy", folder / "d.npz")
    assert (code, "came out again" in text) == (0, True)


def test_latents_are_compared(call, folder, tmp_path):
    rng = np.random.default_rng(0)
    np.save(tmp_path / "coin.npy", rng.integers(0, 2, len(np.load(folder / "latent.npy"))))
    words = (
        "certify",
        folder / "latent.npy",
        folder / "d.npz",
        "--out",
        tmp_path / "c",
        "--beside",
        tmp_path / "coin.npy",
    )
    code, text, _ = call(*words, "--json")
    assert code == 0
    found = json.loads(text)
    assert [row["latent"] for row in found["rows"]] == ["latent", "coin"]
    assert any(one["sentence"].startswith("latent is more natural than coin") for one in found["statements"])
    assert (tmp_path / "c" / "compared.html").stat().st_size > 5000
    code, _, error = call(*words, "--require", "natural")
    assert (code, "--beside compares latents" in error) == (2, True)


def test_best_is_asked_of_the_certificate(call, folder, tmp_path, monkeypatch):
    """What it learns is tested with the certificate; here, that the option gets there."""
    asked = {}

    def make(latents, data, **options):
        asked.update(options)
        raise lt.DataError("best=True: enough.")

    monkeypatch.setattr("latentry.cli.certify.make", make)
    for words in ([], ["--best"]):
        code, _, error = call("certify", folder / "latent.npy", folder / "d.npz", "--out", tmp_path / "report", *words)
        assert (code, asked["best"], "--best: enough" in error) == (2, bool(words), True)


def test_a_changed_certificate_is_noticed(call, folder, made, tmp_path, monkeypatch):
    monkeypatch.setattr("latentry.certificate.recheck.certify", lambda *_, **__: made)  # as it came out again above
    file, words = tmp_path / "certificate.json", (folder / "latent.npy", folder / "d.npz")
    changed = made.to_json().replace('"status": "certified"', '"status": "cannot say"')
    file.write_text(changed)
    code, _, error = call("certify", "--check", file, *words)
    assert (code, "checksum" in error) == (2, True)
    fields = json.loads(changed)
    del fields["checksum"]
    file.write_text(json.dumps({**fields, "version": 3}))  # the form before, which had none
    code, text, _ = call("certify", "--check", file, *words)
    assert (code, "natural: cannot say then, certified now" in text) == (1, True)


def test_latents_whose_training_rows_were_named_come_out_again_with_them(call, folder, tmp_path):
    np.save(tmp_path / "seen.npy", np.arange(3000))
    words = [folder / "latent.npy", folder / "d.npz", "--seen", tmp_path / "seen.npy"]
    call("certify", *words, "--out", tmp_path / "c", "--quiet")
    code, text, _ = call("certify", "--check", tmp_path / "c" / "certificate.json", *words)
    assert (code, "came out again" in text) == (0, True)
    code, text, _ = call("certify", "--check", tmp_path / "c" / "certificate.json", *words[:2], "--json")
    assert code == 1
    assert any("rows: 3000 audited then, 6000 now" in verdict for verdict in json.loads(text)["verdicts"])


@pytest.mark.parametrize("when", ["audit", "page", "second file"])
def test_an_interrupted_certificate_leaves_nothing(call, folder, made, tmp_path, monkeypatch, when):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("latentry.cli.certify.make", lambda *_, **__: made)
    places = {"audit": "latentry.cli.certify.make", "page": "latentry.certificate.report.page_of"}
    monkeypatch.setattr(places.get(when, "latentry.whole_files.os.replace"), stop)
    (tmp_path / "report.html").write_text("an older one")
    assert call("certify", folder / "latent.npy", folder / "d.npz", "--out", tmp_path, "--quiet")[0] == 130
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]
    assert (tmp_path / "report.html").read_text() == "an older one"


def test_a_run_is_certified_on_the_rows_it_did_not_see_and_may_fall_short(call, folder, tmp_path):
    words = ["--out", tmp_path, "--quiet", "--require", "identifiable,natural,mixtures"]
    code, text, error = call("certify", folder / "run", folder / "t.npz", *words)
    assert code == 1
    assert "120 of 300 rows were set aside; the others are exactly those of the fit" in text
    assert "required and not reached: identifiable is cannot say; natural is" in error
    assert "mixtures is" in error
    assert (tmp_path / "report.html").exists()  # the report says why


def test_fit_and_certify_in_one_go(call, folder, tmp_path):
    code, text, _ = call("fit", folder / "t.npz", "--out", tmp_path / "run", *QUICK, "--certify", "--json")
    found = json.loads(text)
    assert code == 0
    judged = {"fit", "identifiable", "natural", "controls"}
    assert set(found["verdicts"]) == judged | {"variables", "informative", "domains"}
    assert [one["sentence"] for one in found["statements"]]
    record = lt.Certificate.from_json(tmp_path / "run" / "certificate.json")
    assert record.split["origin"] == "set aside"
    assert lt.load(tmp_path / "run").record_.rows == 225
    code, _, error = call("fit", folder / "t.npz", "--out", tmp_path / "two", *QUICK, "--require", "natural")
    assert (code, "natural is" in error) == (1, True)


BAD = {
    "no run": (["certify", "{folder}", "{folder}/t.npz"], "holds no run. Give the folder of a fitted model"),
    "no data": (["certify", "{folder}/run", "{folder}/none.npz"], "none.npz: it does not exist"),
    "other features": (
        ["certify", "{folder}/run", "{folder}/d.npz"],
        "--modality 'a': there is no such modality. Known: x0, x1",
    ),
    "wider features": (["certify", "{folder}/run", "{folder}/wide.npz"], "3"),
    "restarts": (["certify", "{folder}/latent.npy", "{folder}/d.npz", "--restarts", "2"], "cannot be fitted again"),
    "refits": (["certify", "{folder}/latent.npy", "{folder}/d.npz", "--refits"], "--refits: latents made elsewhere"),
    "too few": (
        ["certify", "{folder}/run", "{folder}/few.npz"],
        "rows are left to audit, and at least 40 are needed",
    ),
    "no run at all": (["certify", "{folder}/none", "{folder}/t.npz"], "none"),
    "other rows": (["certify", "{folder}/latent.npy", "{folder}/t.npz"], "6000 rows, and 300 of data"),
    "epsilon": (["certify", "{folder}/run", "{folder}/t.npz", "--epsilon", "0"], "--epsilon 0: "),
    "require": (["certify", "{folder}/run", "{folder}/t.npz", "--require", "natrual"], "did you mean 'natural'?"),
    "block": (["certify", "{folder}/run", "{folder}/t.npz", "--block", "c"], "no modality is called 'c'"),
    "seen": (["certify", "{folder}/latent.npy", "{folder}/d.npz", "--seen", "{folder}/d.npz"], "--seen"),
    "seed": (["certify", "{folder}/latent.npy", "{folder}/d.npz", "--seed", "-1"], "seed=-1: is below 0"),
    "no array": (["certify", "{folder}/junk.npy", "{folder}/d.npz"], "junk.npy could not be read as npy"),
    "no certificate": (["certify", "--check", "{folder}/d.npz", "{folder}/run", "{folder}/t.npz"], "no JSON"),
    "fit epsilon": (["fit", "{folder}/t.npz", "--certify", "--epsilon", "-1"], "--epsilon -1: "),
    "fit aside": (
        ["fit", "{folder}/t.npz", "--certify", "--aside", "0.1"],
        "of 300 rows are 30, and at least 40 are needed",
    ),
    "demo": (["demo", "--data", "lattice"], "did you mean 'lattices'?"),
}


@pytest.mark.parametrize(("words", "sentence"), BAD.values(), ids=BAD)
def test_bad_input_is_a_sentence_and_leaves_nothing(call, folder, tmp_path, words, sentence):
    code, _, error = call(*(word.format(folder=folder) for word in words), "--out", tmp_path / "c")
    assert code == 2
    assert sentence in error
    assert not (tmp_path / "c").exists()


def test_a_file_in_the_place_of_the_folder_is_refused_before_the_audit(call, folder, tmp_path):
    (tmp_path / "notes").write_text("mine")
    code, _, error = call("certify", folder / "latent.npy", folder / "d.npz", "--out", tmp_path / "notes")
    assert (code, "is a file. Give a folder" in error) == (2, True)
    with pytest.raises(lt.DataError, match="could not be written"):
        write_whole({tmp_path / "notes" / "report.html": "text"})
    assert (tmp_path / "notes").read_text() == "mine"


def test_columns_of_a_table_are_blocks(call, tmp_path):
    rng = np.random.default_rng(0)
    z = rng.normal(size=200)
    table = np.column_stack([z, z, z]) + 0.3 * rng.normal(size=(200, 3))
    lines = ["height,width,mass"] + [",".join(f"{v:.6f}" for v in row) for row in table]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    np.save(tmp_path / "z.npy", z[:, None])
    np.save(tmp_path / "seen.npy", np.arange(40))
    words = [
        "certify",
        tmp_path / "z.npy",
        tmp_path / "t.csv",
        "--out",
        tmp_path / "c",
        "--json",
        "--seen",
        tmp_path / "seen.npy",
    ]
    code, text, _ = call(*words, "--block", "size=height,width", "--block", "weight=2")
    assert code == 0
    record = lt.Certificate.from_json(tmp_path / "c" / "certificate.json")
    assert record.settings["blocks"] == {"size": [0, 1], "weight": [2]}
    assert record.split["audited"] == 160
    assert "redundancy error of weight in all rows pooled, upper" in record["natural"].numbers
    code, _, error = call(*words, "--block", "size=heigth")
    assert (code, "there is no column 'heigth'" in error) == (2, True)


def test_the_demo_writes_run_report_and_certificate(call, tmp_path, monkeypatch):
    small = recipes.Recipe(
        "Small",
        lambda seed: lt.generators.lattices(rows=160, size=8, points=20, labs=2, seed=seed),
        lambda seed, progress: lt.VAE(
            epochs=2, encoder="dense", decoder="dense", hidden=(8,), progress=False, seed=seed
        ),
        0.5,
        {"epsilon": 0.1, "only": ["fit", "informative"]},
    )
    monkeypatch.setattr("latentry.cli.demo.RECIPES", {"lattices": small})
    code, text, _ = call("demo", "--out", tmp_path / "demo", "--json")
    assert code == 0
    found = json.loads(text)
    assert lt.load(found["run"]).history_[-1]["epoch"] == 2
    assert lt.Certificate.from_json(found["certificate"]).split["origin"] == "set aside"
    assert call("demo", "--out", tmp_path / "demo", "--quiet")[0] == 0  # again, over the first


def test_an_interrupted_demo_certifies_nothing(call, tmp_path, monkeypatch):
    model = SimpleNamespace(state_=SimpleNamespace(stopped="interrupted"))
    model.fit = lambda rows: model
    cut = recipes.Recipe("Cut", lambda seed: lt.generators.lattices(rows=60, size=8), lambda seed, progress: model)
    monkeypatch.setattr("latentry.cli.demo.RECIPES", {"lattices": cut})
    assert call("demo", "--out", tmp_path / "demo", "--quiet")[0] == 130
    assert not (tmp_path / "demo").exists()


def test_every_recipe_names_what_it_needs():
    for recipe in recipes.RECIPES.values():
        assert recipe.model(0, False).get_params()["seed"] == 0
        assert 0 < recipe.aside < 1
        assert recipe.title


@pytest.fixture
def named(tmp_path):
    """A table with names of rows, and two of its columns as latents in another order."""
    rng = np.random.default_rng(1)
    rows, order = rng.normal(size=(300, 3)), rng.permutation(300)
    names = [f"w{i}" for i in range(300)]
    lt.Dataset(rows, rows=names).write(tmp_path / "data.csv")
    lt.Dataset(rows[order, :2], rows=[names[i] for i in order]).write(tmp_path / "latents.csv")
    return tmp_path, rows, names, order


@pytest.fixture
def judged(call, tmp_path, monkeypatch):
    """Run certify with few parts: the latents as the certificate saw them, or the sentence of a refusal."""

    def run(*words):
        seen = []

        def make(latents, data, **options):
            found = lt.certify(latents, data, seed=options["seed"], only=["variables"])
            seen.append(found.shown.channel)
            return found

        monkeypatch.setattr("latentry.cli.certify.make", make)
        code, _, error = call("certify", *words, "--out", tmp_path / "report", "--quiet")
        return code, error, seen

    return run


def test_latents_are_paired_by_the_names_of_their_rows(judged, named):
    folder, rows, names, order = named
    code, error, (latents,) = judged(folder / "latents.csv", folder / "data.csv")
    assert code == 0, error
    np.testing.assert_allclose(latents.mean * rows[:, :2].std(0), rows[:, :2], rtol=1e-6)
    lt.Dataset(rows[:, :2], rows=["q" + names[i] for i in range(300)]).write(folder / "other.csv")
    code, error, _ = judged(folder / "other.csv", folder / "data.csv")
    assert code == 2
    assert "has no row 'w0', which is a row of the data. Give both files the same names of rows" in error
    np.save(folder / "short.npy", rows[:200, :2])
    code, error, _ = judged(folder / "short.npy", folder / "data.csv")
    assert (code, "there are 200 rows, and 300 of data" in error) == (2, True)


def test_means_and_scales_are_paired_too(judged, named):
    folder, rows, names, order = named
    parts = {"mean": rows[order, :2], "scale": np.abs(rows[order, 1:]) + 0.1}
    lt.Dataset(parts, rows=[names[i] for i in order]).write(folder / "both.csv")
    code, error, (latents,) = judged(folder / "both.csv", folder / "data.csv")
    assert code == 0, error
    np.testing.assert_allclose(latents.scale, np.abs(rows[:, 1:]) + 0.1)


def test_ids_name_the_rows_of_both_files(judged, named):
    folder, rows, names, order = named
    for name, values, rows_of in (("a.csv", rows, range(300)), ("b.csv", rows[order, :2], order)):
        lines = [",".join([names[i], *map(repr, map(float, values[at]))]) for at, i in enumerate(rows_of)]
        header = ",".join(["id", *(f"c{i}" for i in range(values.shape[1]))])
        (folder / name).write_text("\n".join([header, *lines]) + "\n")
    code, error, (latents,) = judged(folder / "b.csv", folder / "a.csv", "--ids", "id")
    assert code == 0, error
    np.testing.assert_allclose(latents.mean * rows[:, :2].std(0), rows[:, :2], rtol=1e-6)


def test_a_column_of_text_is_labels(judged, named):
    folder, rows, names, order = named
    labels = np.array(["class_0", "class_1", "class_2"])[np.arange(300) % 3]
    lines = [f"{names[i]},{labels[i]}" for i in order]
    (folder / "y.csv").write_text("\n".join([",cultivar", *lines]) + "\n")
    code, error, (latents,) = judged(folder / "y.csv", folder / "data.csv")
    assert code == 0, error
    assert latents.most_likely.tolist() == (np.arange(300) % 3).tolist()
