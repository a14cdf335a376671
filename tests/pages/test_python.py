"""Every Python block of every page runs, from top to bottom, in a folder of its own."""

import re
from pathlib import Path

import numpy as np
import pytest

import latentry as lt
from latentry.sweeps import read_sweep

from pages import DOCS, PAGES, blocks, named, run_page
from stand_ins import BRINGS

# Pages of cells alone run when the site is built. What the last two define is tested beside what it is registered in.
OWN = ("CONTRIBUTING.md", "docs/adding-a-model.md")
RUN = [page for page in PAGES if blocks(page, "python") and named(page) not in OWN]

# Pages whose fits and audits take minutes, and on which it does not matter what is learned.
UNTRAINED = (
    "docs/certificate.md",
    "docs/data.md",
    "docs/discover.md",
    "docs/how-to/cluster-and-gpu.md",
    "docs/iflow.md",
    "docs/ivae.md",
    "docs/natural.md",
    "docs/sparse-mixing.md",
    "docs/tour.md",
    "docs/training.md",
    "docs/vae.md",
)
LONG = (
    "README.md",
    "docs/causal-pima.md",
    "docs/certificate.md",
    "docs/cggan.md",
    "docs/how-to/unseen-domains.md",
    "docs/information.md",
    "docs/ivae.md",
    "docs/natural-latents.md",
    "docs/sparse-mixing.md",
    "docs/tour.md",
)


def readme(names):
    assert len(names["certificate"].may_say) > 0
    assert len(lt.match([names["model"], names["model"]], names["held_out"]).reappearing) == 2
    assert Path("report.html").stat().st_size > 10_000


def discover(names):
    assert "hidden variable" in names["found"].paragraph
    assert "What was found, and how" in Path("report.html").read_text(encoding="utf-8")
    kinds = ["CGVAE, 2 latents", "IFlow, 2 latents", "VAE, 2 latents", "VAE, wider"]
    assert [one.name for one in names["tried"]] == kinds


def many_fits(names):
    assert len(names["found"]) == 3
    assert isinstance(names["best"], lt.VAE)
    assert Path("results.parquet").exists()


def cggan(names):
    assert len(list(Path("grids").iterdir())) == 2
    assert names["there"].shape == (32, 16, 16, 3)


def natural_latents(names):
    model, kind = names["model"], names["kind"]
    assert model.n_features_out == 3
    values = model.channel(names["data"]).most_likely
    assert all(len(np.unique(values[kind == one])) == 1 for one in range(3)), "one value for each kind"
    assert names["answer"].gaps["what is private"].low > 1


def natural(names):
    assert names["best"].score.value == pytest.approx(0.175629, abs=1e-6)
    assert names["found"].mediation.certified, "of a latent that mediates and one that is noise"


def information(names):
    """x and y share one of two unit variances: a correlation of 1/2, and −½ ln(1 − ¼) = 0.144 nats."""
    shared = lt.mutual_information(names["x"], names["y"])
    assert abs(shared - 0.144) < 0.06  # four standard errors
    assert lt.mutual_information(names["x"], names["y"], given=names["z"]).low <= 0.01


def training(names):
    history = names["state"].history
    assert {row["phase"] for row in history} == {"all", "decoder"}
    assert len(names["found"].aligned("seed 1", names["held_out"])) == 3


AFTER = {
    "README.md": readme,
    "docs/cggan.md": cggan,
    "docs/discover.md": discover,
    "docs/information.md": information,
    "docs/many-fits.md": many_fits,
    "docs/natural-latents.md": natural_latents,
    "docs/natural.md": natural,
    "docs/training.md": training,
}


@pytest.mark.parametrize(
    "page", [pytest.param(page, id=named(page), marks=[pytest.mark.long] * (named(page) in LONG)) for page in RUN]
)
def test_the_page_runs_as_printed(page, tmp_path, monkeypatch, request):
    monkeypatch.chdir(tmp_path)
    if named(page) in UNTRAINED:
        request.getfixturevalue("little")
    names = run_page(page, **BRINGS.get(named(page), dict)())
    AFTER.get(named(page), len)(names)


def test_lists_of_pages_name_pages_that_run():
    names = {named(page) for page in RUN}
    assert {*UNTRAINED, *LONG, *AFTER, *BRINGS} <= names


def test_the_readme_has_ten_lines():
    (block,) = blocks(DOCS.parent / "README.md", "python")
    assert len(block.code.splitlines()) <= 11


def test_code_that_is_not_run_is_python_all_the_same():
    """Cells run when the site is built; `py` marks what needs PyTorch, and what is good and bad style."""
    for page in PAGES:
        for block in blocks(page, "{code-cell} python3", "py"):
            compile(block.code, str(page), "exec")


def test_the_file_of_many_fits_is_a_sweep(tmp_path):
    (block,) = blocks(DOCS / "many-fits.md", "toml")
    (tmp_path / "sweep.toml").write_text(block.code)
    (tmp_path / "data.npz").touch()  # that it is there is asked before any fit
    jobs = read_sweep(tmp_path / "sweep.toml").jobs()
    assert len(jobs) == 3 * 3 + 2 * 3
    assert jobs[0].model.training.patience == 10


def test_every_fence_is_of_a_known_kind():
    """A block that nothing runs or checks would have to be of a kind of its own."""
    known = {"python", "py", "sh", "toml", "bibtex", "", "{code-cell} python3", "{eval-rst}", "{toctree}"}
    for page in PAGES:
        fences = re.findall(r"^ *```(.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
        assert set(fences) <= known, page
