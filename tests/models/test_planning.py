"""Plans: what a fit would take, told by a short one in another process."""

import json
import math
from dataclasses import replace

import pytest

import latentry as lt
from latentry.cli import main
from latentry.errors import DataError
from latentry.models import Instructions, Plan, plan_fit
from latentry.models.planning.plan import planned
from latentry.models.planning.probe import Measured, probe_text
from latentry.training import engine_for, run_texts

DATA = lt.generators.segments(domains=4, rows_per_domain=30, latents=2)


def test_a_plan_is_a_sum_of_its_parts_in_words():
    plan = Plan(
        rows=5000, opening=20.0, epochs={"fit": 90.0, "laws": 0.2}, closing=0.1, memory=2_500_000_000, probed=512
    )
    assert math.isclose(plan.seconds, 110.3)
    assert "5,000 rows would take at most about 2 minutes and 2.5 GB" in str(plan)
    assert "epochs of 'fit' 2 minutes" in str(plan)
    assert "laws" not in str(plan)  # below a second


def test_seconds_grow_on_a_line_through_two_fits_and_memory_by_the_rows_left():
    measured = Measured(
        rows=(64, 256), phases=({"fit": 0.1}, {"fit": 0.25}), epochs={"fit": 100}, reading=3.0, opening=2.0,
        studying=(0.1, 0.2), closing=(0.0, 0.0),
        peak=(100_000_000, 200_000_000), bytes_of_row=40, whole=10_000, stays_on_disk=False,
    )  # fmt: skip
    plan = planned(measured)
    assert math.isclose(plan.epochs["fit"], 100 * (0.25 + (0.25 - 0.1) / (256 - 64) * (10_000 - 256)))
    assert math.isclose(plan.opening, 3.0 + 2.0 + (0.2 - 0.1) / (256 - 64) * (10_000 - 256))
    assert plan.memory == 200_000_000 + 2 * 40 * (10_000 - 256)
    assert planned(replace(measured, stays_on_disk=True)).memory == 200_000_000


@pytest.mark.long
def test_epochs_of_all_restarts_are_counted_and_the_fits_are_of_some_batches(tmp_path):
    DATA.write(tmp_path / "rows.npz")
    model = lt.VAE(latent_dim=1, hidden=(4,), epochs=100, restarts=3, batch_size=4)
    text = Instructions.of(model, str(tmp_path / "rows.npz"), str(tmp_path / "run")).text
    with engine_for("local", 1) as engine:
        ((_, found),) = run_texts(engine, probe_text, [text])
    measured = Measured(**json.loads(found))
    assert measured.epochs == {"fit": 300}
    assert list(measured.rows) == [16, 64]
    assert all(0 < one["fit"] < 60 for one in measured.phases)
    assert measured.bytes_of_row == 4 * 2
    assert not (tmp_path / "run").exists()


@pytest.mark.long
def test_a_fit_that_would_be_refused_has_no_plan(tmp_path, capsys):
    with pytest.raises(DataError, match="needs a domain"):
        plan_fit(lt.IVAE(latent_dim=1), lt.Dataset(DATA["x"]))
    DATA.write(tmp_path / "rows.npz")
    with pytest.raises(SystemExit) as stopped:
        main(["info", str(tmp_path / "rows.npz"), "--plan", "--set", "epochs=3", "--json"])
    assert stopped.value.code == 0
    found = json.loads(capsys.readouterr().out)["plan"]
    assert set(found) >= {"seconds", "memory_bytes", "epoch_seconds"}


def test_parameters_are_checked_before_anything_starts():
    with pytest.raises(DataError, match="epochs=0"):
        plan_fit(lt.VAE(epochs=0), DATA)
