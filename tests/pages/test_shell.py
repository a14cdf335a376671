"""Every `latentry` line of every page is understood by the parser, and lines of blocks run beside the files that they name."""

import re
import shlex
import tomllib
from pathlib import Path

import numpy as np
import pytest

import latentry as lt
from latentry.cli import main
from latentry.cli.commands import load_command

from pages import PAGES, ROOT, blocks, named
from stand_ins import write_measurements

BLOCKS = [(page, block) for page in PAGES for block in blocks(page, "sh")]


def commands(code):
    """Yield the words of each command of a block."""
    for line in code.splitlines():
        words = shlex.split(
            line.replace('"$SLURM_ARRAY_TASK_ID"', "0").replace("$SLURM_ARRAY_TASK_ID", "0"), comments=True
        )
        while words:
            ends = [place for place, word in enumerate(words) if word in ("&&", "||")] + [len(words)]
            yield words[: ends[0]]
            words = words[ends[0] + 1 :]


OURS = [
    pytest.param(
        page, [words[1:] for words in commands(block.code) if words[0] == "latentry"], id=f"{named(page)}:{block.line}"
    )
    for page, block in BLOCKS
    if any(words[0] == "latentry" for words in commands(block.code))
]
IN_PROSE = [
    pytest.param(shlex.split(line)[1:], id=f"{named(page)}: {line}")
    for page in PAGES
    for line in dict.fromkeys(re.findall(r"`(latentry [a-z-][^`\n]*)`", page.read_text(encoding="utf-8")))
]


@pytest.mark.parametrize(("page", "lines"), OURS)
def test_the_parser_takes_every_line_of_a_block(page, lines):
    for name, *words in lines:
        if not name.startswith("-"):
            load_command(name).make_context(name, words)


@pytest.mark.parametrize("words", IN_PROSE)
def test_commands_and_options_in_prose_are_there(words):
    if words[0].startswith("-"):
        return
    command = load_command(words[0])
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    assert {word for word in words if word.startswith("--")} <= known | {"--help"}


class Files:
    """Writes the files that a block names and does not make."""

    def __init__(self, text):
        self.text = text
        rng = np.random.default_rng(0)
        hidden = np.repeat([0.0, 1.0], 300)[rng.permutation(600)][:, None] + 0.1 * rng.normal(size=(600, 1))
        self.noise = 0.1 * rng.normal(size=(600, 5))
        self.arrays = {
            "left": hidden + 0.1 * rng.normal(size=(600, 2)),
            "right": hidden + 0.1 * rng.normal(size=(600, 2)),
            "lab": np.repeat([0, 1], 300),
        }

    def write(self):
        for name, make in {
            "data.npz": self.data,
            "measurements.npz": self.data,
            "measurements.h5mu": write_measurements,
            "table.csv": self.table,
            "sweep.toml": self.sweep,
            "pca.npy": self.latents,
            "latents.npy": self.latents,
            "embedding.npy": self.latents,
            "labels.npy": self.latents,
            "trained_on.npy": self.trained_on,
            "run": self.run,
            "certificate.json": self.certificate,
        }.items():
            if re.search(rf"(?<![\w/.-]){re.escape(name)}(?![\w/.])", self.text) and f"--out {name}" not in self.text:
                make(name) if make is not write_measurements else make()

    def data(self, name="data.npz"):
        if "--domain lab" in self.text and name == "data.npz":
            np.savez(name, **self.arrays)
        else:
            lt.Dataset(np.tile(self.arrays["left"], 3)[:, :5] + self.noise, self.arrays["lab"]).write(name)

    def latents(self, name):
        rows = 400 if "measurements" in self.text else 600
        np.save(name, np.arange(rows) % 3 if name == "labels.npy" else np.random.default_rng(0).normal(size=(rows, 2)))

    def trained_on(self, name):
        np.save(name, np.arange(80))

    def table(self, name):
        rng = np.random.default_rng(0)
        a, b, c, domain = np.unpackbits(np.arange(192, dtype=np.uint8)[:, None], axis=1)[:, 4:].T
        table = np.column_stack([rng.normal(size=(192, 3)), a, a, b, c, domain, np.ones(192)])  # the latent is A
        np.savetxt(name, table, "%.4g", ",", header="height,weight,age,L,A,B,C,D,count", comments="")

    def sweep(self, name):
        self.data()
        Path(name).write_text(
            '[data]\nfile = "data.npz"\n[[models]]\nmodel = "vae"\nlatent_dim = [1, 2]\nepochs = 1\n[engine]\nname = "here"\n'
        )

    def run(self, name):
        self.data()
        lab = ["--domain", "lab"] * ("--domain lab" in self.text)
        main_quietly("fit", "data.npz", *lab, "--latents", "1", "--out", name)

    def certificate(self, name):
        main_quietly("certify", "run", "data.npz", "--quiet")
        Path(name).write_bytes(Path("certificate/certificate.json").read_bytes())


def main_quietly(*words):
    with pytest.raises(SystemExit) as ended:
        main([*words])
    return ended.value.code


@pytest.mark.long
@pytest.mark.parametrize(("page", "lines"), OURS)
def test_the_lines_of_a_block_run_in_order(page, lines, little, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("webbrowser.open", lambda address: True)
    files = Files("\n".join(" ".join(words) for words in lines))
    files.write()
    for words in lines:
        if words[0] == "--install-completion":  # writes into the home folder
            continue
        code = main_quietly(*words)
        assert code == 0 or (code == 1 and "--require" in words), f"{' '.join(words)}\n{capsys.readouterr().err}"
        if words[0] == "generate":
            files.data()  # fewer rows


def test_other_lines_name_what_is_there():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    extras = set(
        tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    )
    for page, block in BLOCKS:
        for words in commands(block.code):
            if words[0] == "make":
                assert words[1] in targets, named(page)
            elif words[:2] == ["pip", "install"]:
                asked = re.search(r"\[([\w,]+)\]", words[2])
                assert not asked or set(asked[1].split(",")) <= extras, named(page)
            elif words[0] == "python":
                compile(words[words.index("-c") + 1], named(page), "exec")
            else:
                assert words[0] in ("latentry", ".venv/bin/pip", ".venv/bin/pre-commit"), named(page)
