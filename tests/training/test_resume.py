import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import latentry as lt
from latentry.training import RunFolder, run


def test_resumed_at_every_step_is_the_straight_run(tmp_path, same):
    """Weights, optimiser, history: the same bits, through the files, from every one of the 18 moments."""
    rows = np.random.default_rng(0).normal(size=(45, 3))

    def model():
        return lt.VAE(latent_dim=1, hidden=(4,), epochs=3, batch_size=16, restarts=2, seed=5, progress=False)

    straight = model().fit(rows)
    moments = []
    from latentry.models.estimator.fitting import task_for
    from latentry.models.estimator.saving import save_model

    fitted = model()
    fitted.record_ = fitted.study(lt.Dataset(rows))
    work = task_for(fitted, lt.Dataset(rows))

    def keep(state):
        with RunFolder(tmp_path / f"at-{len(moments)}") as folder:
            save_model(fitted, folder, state)
        moments.append(state)

    run(work, save=keep, save_every=1, progress=False)
    assert len(moments) == 2 * 3 * 3  # restarts, epochs, steps; the last one is the end
    for number in range(len(moments)):
        resumed = model().fit(rows, run=tmp_path / f"at-{number}", resume=True)
        assert same(resumed.state_.arrays(), straight.state_.arrays())
        assert resumed.history_ == straight.history_
        assert resumed.state_.counters() == straight.state_.counters()
        assert same(resumed.module_, straight.module_)


# Fits are children of one process that has loaded all they need and started no device. At a line it starts a child and prints its
# number; at the next it waits for the child, whose number is its own until then, and prints how it ended.
SCRIPT = """
import os, sys, numpy as np, latentry as lt
rows = np.random.default_rng(0).normal(size=(400, 4))
model = lt.VAE(latent_dim=2, hidden=(8,), epochs=40, batch_size=16, seed=1, progress=False)
import latentry.models.estimator.fitting, latentry.models.estimator.saving
while sys.stdin.readline():
    child = os.fork()
    if child == 0:
        model.fit(rows, run=sys.argv[1], resume=True, save_every=7)
        os._exit(0)
    print(child, flush=True)
    sys.stdin.readline()
    print(os.waitpid(child, 0)[1], flush=True)
"""


def _wait_for(path):
    deadline = time.monotonic() + 60
    while not path.exists() and time.monotonic() < deadline:
        time.sleep(0.02)


@pytest.mark.long
def test_killed_at_four_random_moments_is_the_straight_run(tmp_path, same):
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    rows = np.random.default_rng(0).normal(size=(400, 4))
    straight = lt.VAE(latent_dim=2, hidden=(8,), epochs=40, batch_size=16, seed=1, progress=False).fit(rows)
    rng, kills = np.random.default_rng(7), 0
    words = [sys.executable, str(script), str(tmp_path / "run")]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        for _ in range(20):
            print(file=parent.stdin, flush=True)
            child = int(parent.stdout.readline())
            if kills < 4:
                _wait_for(tmp_path / "run")
                time.sleep(rng.uniform(0.0, 0.6))
                os.kill(child, signal.SIGKILL)
            print(file=parent.stdin, flush=True)
            ended = int(parent.stdout.readline())
            kills += ended == signal.SIGKILL
            if ended == 0:
                break
        parent.stdin.close()
    assert kills == 4
    resumed = lt.load(tmp_path / "run")
    assert resumed.state_.finished
    assert same(resumed.state_.arrays(), straight.state_.arrays())
    assert resumed.history_ == straight.history_


def test_ctrl_c_ends_at_a_safe_point_with_the_state_saved(tmp_path, rng, same):
    rows = rng.normal(size=(200, 3))
    settings = {"latent_dim": 1, "hidden": (4,), "batch_size": 8, "progress": False, "epochs": 40}

    class Interrupting:
        def __init__(self):
            self.rows = 0

        def log(self, row):
            self.rows += 1
            if self.rows == 3:
                os.kill(os.getpid(), signal.SIGINT)

    with pytest.warns(lt.DataWarning, match="interrupted after 3 epochs"):
        model = lt.VAE().set_params(**settings).fit(rows, run=tmp_path / "run", logger=Interrupting())
    assert model.state_.stopped == "interrupted"
    assert model.transform(rows).shape == (200, 1)
    straight = lt.VAE().set_params(**settings).fit(rows)
    from_file = lt.VAE().set_params(**settings).fit(rows, run=tmp_path / "run", resume=True)
    in_memory = model.fit(rows, resume=True)
    for resumed in (from_file, in_memory):
        assert same(resumed.state_.arrays(), straight.state_.arrays())


class Signalling:
    """A logger that sends a signal to its own process after some epochs."""

    def __init__(self, number, after=2):
        self.left, self.number = after, number

    def log(self, row):
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), self.number)


def test_termination_ends_the_process_with_the_state_saved(tmp_path, rng, same):
    rows = rng.normal(size=(80, 3))
    settings = {"latent_dim": 1, "hidden": (4,), "batch_size": 8, "progress": False, "epochs": 6}
    model = lt.VAE().set_params(**settings)
    with pytest.warns(lt.DataWarning, match="interrupted after 2 epochs"), pytest.raises(SystemExit) as ended:
        model.fit(rows, run=tmp_path / "run", logger=Signalling(signal.SIGTERM))
    assert ended.value.code == 143
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    resumed = lt.VAE().set_params(**settings).fit(rows, run=tmp_path / "run", resume=True)
    assert same(resumed.state_.arrays(), lt.VAE().set_params(**settings).fit(rows).state_.arrays())


def test_a_handler_of_the_program_is_called_after_the_save(tmp_path, rng):
    seen = []
    before = signal.signal(signal.SIGTERM, lambda number, frame: seen.append(lt.load(tmp_path / "run").state_.stopped))
    try:
        with pytest.warns(lt.DataWarning, match="interrupted"):
            lt.VAE(latent_dim=1, hidden=(4,), batch_size=8, epochs=40, progress=False).fit(
                rng.normal(size=(80, 3)), run=tmp_path / "run", logger=Signalling(signal.SIGTERM)
            )
    finally:
        signal.signal(signal.SIGTERM, before)
    assert seen == ["interrupted"]


def test_a_failed_periodic_save_is_said_and_tried_again(tmp_path, rng, monkeypatch):
    rows, fails = rng.normal(size=(40, 3)), [2, 3]
    write, calls = RunFolder.write, []

    def failing(folder, run):
        calls.append(run.manifest["state"])
        if len(calls) in fails:
            raise lt.CheckpointError("no space left.")
        write(folder, run)

    monkeypatch.setattr(RunFolder, "write", failing)
    settings = {"latent_dim": 1, "hidden": (4,), "epochs": 3, "batch_size": 16, "progress": False}
    with pytest.warns(lt.DataWarning, match="no space left. Training goes on, and saving is tried again"):
        model = lt.VAE().set_params(**settings).fit(rows, run=tmp_path / "run", save_every=1)
    assert len(calls) > 4
    assert lt.load(tmp_path / "run").state_.counters() == model.state_.counters()
    fails[:] = range(1, 100)
    with pytest.raises(lt.CheckpointError, match="no space left"):  # before any training
        lt.VAE().set_params(**settings).fit(rows, run=tmp_path / "other")


def test_a_second_fit_into_the_folder_is_refused(tmp_path, rng):
    rows = rng.normal(size=(40, 3))

    class Second:
        def log(self, row):
            with pytest.raises(lt.CheckpointError, match="is writing this run. Wait until it ends"):
                lt.VAE(latent_dim=1, epochs=1, progress=False).fit(rows, run=tmp_path / "run", resume=True)

    model = lt.VAE(latent_dim=1, hidden=(4,), epochs=1, progress=False)
    model.fit(rows, run=tmp_path / "run", logger=Second())
    with pytest.raises(lt.DataError):
        lt.VAE(latent_dim=9, progress=False).fit(rows, run=tmp_path / "unused")
    assert not (tmp_path / "unused").exists()


def test_resume_refuses_what_is_not_the_same(tmp_path, rng):
    rows = rng.normal(size=(40, 3))
    settings = {"latent_dim": 1, "hidden": (4,), "epochs": 2, "progress": False}
    lt.VAE().set_params(**settings).fit(rows, run=tmp_path / "run")
    with pytest.raises(lt.CheckpointError, match="holds an earlier run: pass resume=True"):
        lt.VAE().set_params(**settings).fit(rows, run=tmp_path / "run")
    with pytest.raises(lt.CheckpointError, match="the earlier run has seed = 0, this model 1"):
        lt.VAE().set_params(**settings, seed=1).fit(rows, run=tmp_path / "run", resume=True)
    with pytest.raises(lt.DataError, match="same shapes, other values"):
        lt.VAE().set_params(**settings).fit(rows + 1, run=tmp_path / "run", resume=True)
    with pytest.raises(lt.DataError, match="expecting 3 features"):
        lt.VAE().set_params(**settings).fit(rows[:, :2], run=tmp_path / "run", resume=True)


def test_several_devices_give_the_same_result():
    """Batches split over four devices: the same to tolerance, and really split."""
    code = textwrap.dedent("""
        import sys, os
        os.environ["XLA_FLAGS"] += " --xla_force_host_platform_device_count=" + sys.argv[1]
        import jax, numpy as np, latentry as lt
        from latentry.training import Feed
        rows = np.random.default_rng(0).normal(size=(100, 4))
        feed = Feed(lt.Dataset(rows), 16)
        window = feed.window((0,), 0)
        print(len(window.values["x"].sharding.device_set))
        model = lt.VAE(latent_dim=2, hidden=(8,), epochs=3, batch_size=16, progress=False).fit(rows)
        print(" ".join(map(repr, model.transform(rows).ravel().tolist())))
    """)
    found = []
    for devices in (1, 4):  # ten held-out rows do not divide by four: they are filled up
        done = subprocess.run([sys.executable, "-c", code, str(devices)], capture_output=True, text=True, check=True)
        spread, values = done.stdout.splitlines()
        assert int(spread) == devices
        found.append(np.array(values.split(), dtype=float))
    assert np.allclose(found[0], found[1], atol=1e-4)


def _constant(**changes):
    """Return a model whose rate does not depend on its length: lengthened, it takes the steps of a longer fit."""
    settings = {"latent_dim": 1, "hidden": (4,), "batch_size": 16, "progress": False, "training__schedule": "constant"}
    return lt.VAE().set_params(**settings | changes)


@pytest.mark.parametrize("validation", [0.0, 0.2])
def test_a_lengthened_run_is_the_longer_run(tmp_path, rng, same, validation):
    """With a constant rate, 3 epochs and then 3 more are 6 epochs, bit for bit: in memory, through files, interrupted within."""
    rows = rng.normal(size=(45, 3))
    straight = _constant(epochs=6, validation=validation).fit(rows)
    first = _constant(epochs=3, validation=validation).fit(rows, run=tmp_path / "run", origin={"file": "rows.csv"})
    assert first.state_.finished
    first.rename(["size"]).save(tmp_path / "run")
    from_file = _constant(epochs=6, validation=validation).fit(rows, run=tmp_path / "run", resume=True)
    first.set_params(epochs=4).fit(rows, resume=True)
    in_memory = first.set_params(epochs=6).fit(rows, resume=True)
    for model in (from_file, in_memory):
        assert same(model.state_.module, straight.state_.module)
        assert same(model.module_, straight.module_)
        assert model.history_ == straight.history_
        assert model.latents_ == ("size",)
    assert lt.load(tmp_path / "run").record_.changes == ({"after": 3, "epochs": [3, 6]},)
    assert lt.load(tmp_path / "run").record_.origin == {"file": "rows.csv"}
    assert [change["epochs"] for change in in_memory.record_.changes] == [[3, 4], [4, 6]]


def test_a_run_that_is_lengthened_may_be_interrupted(tmp_path, rng, same):
    """The best of three restarts goes on alone; cut off at each step, it ends as if it had not been."""
    rows = rng.normal(size=(45, 3))
    fitted = _constant(epochs=2, restarts=3).fit(rows)
    champion, best = fitted.state_.champion_restart, fitted.state_.champion_score
    fitted.save(tmp_path / "run")
    moments = []

    class Keeper:
        def log(self, row):
            moments.append(row)
            os.kill(os.getpid(), signal.SIGINT)

    whole = fitted.set_params(epochs=5).fit(rows, resume=True)
    with pytest.warns(lt.DataWarning, match="interrupted"):
        _constant(epochs=5, restarts=3).fit(rows, run=tmp_path / "run", resume=True, logger=Keeper())
    pieces = _constant(epochs=5, restarts=3).fit(rows, run=tmp_path / "run", resume=True)
    assert same(pieces.module_, whole.module_)
    assert pieces.history_ == whole.history_
    assert {row["restart"] for row in whole.history_[6:]} == {champion}
    assert [row["epoch"] for row in whole.history_[6:]] == [3, 4, 5]
    assert pieces.state_.champion_score <= best


def test_the_rate_may_be_another_from_here_on(tmp_path, rng, same):
    rows = rng.normal(size=(45, 3))
    _constant(epochs=3, validation=0.0).fit(rows, run=tmp_path / "run")
    with pytest.raises(lt.CheckpointError, match="no step would use it. Raise epochs"):
        _constant(epochs=3, validation=0.0, learning_rate=0.1).fit(rows, run=tmp_path / "run", resume=True)
    with pytest.raises(lt.CheckpointError, match="epochs=2: fewer than the 3"):
        _constant(epochs=2, validation=0.0).fit(rows, run=tmp_path / "run", resume=True)
    changed = _constant(epochs=4, validation=0.0, learning_rate=0.1).fit(rows, run=tmp_path / "run", resume=True)
    assert not same(changed.module_, _constant(epochs=4, validation=0.0).fit(rows).module_)
    assert changed.record_.changes == ({"after": 3, "epochs": [3, 4], "learning_rate": [2e-3, 0.1]},)
    assert lt.load(tmp_path / "run").learning_rate == 0.1


def test_nothing_to_go_on_from_is_told(rng):
    rows = rng.normal(size=(60, 3))
    model = lt.VAE(latent_dim=1, hidden=(4,), epochs=1, progress=False)
    with pytest.warns(lt.DataWarning, match=r"resume=True: there is nothing to go on from, and the fit begins anew"):
        model.fit(rows, resume=True)
    model.set_params(epochs=2).fit(rows, resume=True)
