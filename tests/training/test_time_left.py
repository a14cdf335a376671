"""How much of a run is left, in words; where there are no devices."""

import os
import subprocess
import sys

import numpy as np
import pytest

import latentry as lt
from latentry.training import in_words
from latentry.training.duration import TimeLeft
from latentry.training.progress import Bar


def test_the_pace_is_that_of_steps_that_were_not_compiled():
    """Compiling takes a minute, steps 0.5 s: of 100 steps 80 are left, hence 40 s."""
    now = [0.0]
    left = TimeLeft(100, lambda: now[0])
    now[0] = 60.0
    assert left.seconds(10, "first epoch") is None
    now[0] = 65.0
    assert left.seconds(20, "first epoch") == pytest.approx(40.0)
    now[0] = 95.0
    assert left.seconds(30, "others") is None, "another program was compiled"
    now[0] = 100.0
    assert left.seconds(50, "others") == pytest.approx(50 * 5 / 20)
    assert left.seconds(50, "others") == pytest.approx(50 * 5 / 20)
    assert left.seconds(100, "others") == 0


def test_lines_are_printed_where_there_is_no_terminal(capsys):
    """A step a second, and each line after twice the time of the one before: at 10, 20, 40, 80, 160, 320 and 640 s."""
    now = [0.0]
    with Bar(1000, shown=True, clock=lambda: now[0]) as bar:
        for done in range(0, 1001, 10):
            now[0] = float(done)
            bar.show(done, f"fit {done}/1000", "loss 1", "fit")
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(":")[0] for line in lines] == [f"fit {10 * 2**i}/1000" for i in range(7)]
    assert lines[0].endswith("loss 1, about 16 minutes left")
    with Bar(10, shown=False) as bar:
        for done in range(10):
            bar.show(done, "fit", "", "fit")
    assert capsys.readouterr().err == ""


def test_a_description_says_what_the_whole_costs():
    rows = np.random.default_rng(0).normal(size=(2000, 5))
    words = lt.VAE(epochs=100).describe(rows)
    cost = next(line for line in words.splitlines() if "cost" in line)
    seconds = float(cost.split("about")[1].split("s an epoch")[0])
    near = {in_words(100 * seconds * factor) for factor in np.linspace(0.95, 1.05, 50)}  # it is printed with two digits
    assert any(f"at most 100 epochs: {words}, and compiling" in cost for words in near)


def test_a_rate_that_is_far_too_high_is_not_answered_with_one_that_is_too():
    rows = 1e3 * np.random.default_rng(0).normal(size=(64, 3)) ** 3
    with pytest.raises(lt.TrainingDiverged, match=r"Try learning_rate=0.002\b"):
        lt.VAE(learning_rate=1e30, epochs=30, hidden=(4,), training=lt.models.Training(clip=None), progress=False).fit(
            rows
        )


@pytest.mark.parametrize("rate", [1e6, 10.0])
def test_a_rate_that_does_not_diverge_is_named_all_the_same(rate, no_optimiser_steps):
    rows = np.random.default_rng(0).normal(size=(64, 3))
    with pytest.warns(
        lt.DataWarning, match=rf"learning_rate={rate:g}: .* Fit again with learning_rate=0.002".replace("+", r"\+")
    ):
        lt.VAE(learning_rate=rate, epochs=2, hidden=(4,), progress=False).fit(rows)
    lt.VAE(learning_rate=1.0, epochs=2, hidden=(4,), progress=False).fit(rows)  # warnings are errors here


SCRIPT = """
import numpy as np, latentry as lt
rows = np.random.default_rng(0).normal(size=(40, 3))
for ask in (lambda: lt.VAE(epochs=1).describe(rows), lambda: lt.VAE(epochs=1).fit(rows), lambda: lt.load({run!r})):
    try:
        ask()
    except lt.DataError as why:
        print(why)
"""


def test_a_device_that_is_not_there_is_a_sentence(tmp_path, no_optimiser_steps):
    rows = np.random.default_rng(0).normal(size=(40, 3))
    lt.VAE(epochs=1, hidden=(2,), progress=False).fit(rows).save(tmp_path / "run")
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(run=str(tmp_path / "run"))],
        env=os.environ | {"JAX_PLATFORMS": "cuda"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    lines = ended.stdout.splitlines()
    assert len(lines) == 3, ended.stderr
    assert all(line.startswith("JAX_PLATFORMS=cuda: no such device can be used here. Unset it") for line in lines)
