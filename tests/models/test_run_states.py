"""A run folder through any order of fits, kills, resumes, saves, loads and certificates: it holds nothing, or a whole run."""

import os
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

import latentry as lt
from latentry.training import holds_run

ROWS = np.random.default_rng(0).normal(size=(45, 3))
NEW = np.random.default_rng(1).normal(size=(40, 3))
NAMES = st.sampled_from([("size",), ("shape",), ("z1",)])


class Killed(BaseException):
    """What ends a process in the middle of a call."""


def model(epochs=3):
    return lt.VAE(latent_dim=1, hidden=(4,), epochs=epochs, batch_size=16, restarts=2, seed=5, progress=False)


class Dying:
    """Within it the n-th call that changes files does not happen, and nothing after it does."""

    def __init__(self, calls):
        self.left, self.true = calls, {name: getattr(os, name) for name in ("replace", "fsync", "unlink", "rename")}

    def __enter__(self):
        for name, call in self.true.items():
            setattr(os, name, self._counted(call))

    def __exit__(self, kind, error, trace):
        for name, call in self.true.items():
            setattr(os, name, call)
        return kind is Killed

    def _counted(self, call):
        def counted(*args, **named):
            self.left -= 1
            if self.left < 0:
                raise Killed
            return call(*args, **named)

        return counted


class Runs(RuleBasedStateMachine):
    straight = None  # a fit that nothing disturbs, once for all

    @initialize()
    def begin(self):
        self.place = tempfile.TemporaryDirectory()
        self.folder, self.names, self.ended = Path(self.place.name) / "run", {()}, False
        if Runs.straight is None:
            Runs.straight = model().fit(ROWS)

    def teardown(self):
        if hasattr(self, "place"):
            self.place.cleanup()

    @rule()
    def fit_to_the_end(self):
        model().fit(ROWS, run=self.folder, resume=True)
        self.ended = True

    @rule(calls=st.integers(0, 60))
    def kill_in_a_fit(self, calls):
        with Dying(calls):
            model().fit(ROWS, run=self.folder, resume=True, save_every=2)

    @precondition(lambda self: holds_run(self.folder))
    @rule(names=NAMES)
    def rename_and_save(self, names):
        lt.load(self.folder).rename(names).save(self.folder)
        self.names = {names}

    @precondition(lambda self: holds_run(self.folder))
    @rule(names=NAMES, calls=st.integers(0, 14))
    def kill_in_a_save(self, names, calls):
        with Dying(calls):
            lt.load(self.folder).rename(names).save(self.folder)
        self.names |= {names}

    @precondition(lambda self: holds_run(self.folder))
    @rule()
    def certify(self):
        found = lt.certify(lt.load(self.folder), lt.Dataset(NEW), only=["variables"])
        assert found.split["audited"] == len(NEW)

    @precondition(lambda self: holds_run(self.folder))
    @rule()
    def refuse_another_fit(self):
        with pytest.raises(lt.CheckpointError):
            model().fit(ROWS, run=self.folder)

    @invariant()
    def the_folder_holds_nothing_or_a_whole_run(self):
        if not hasattr(self, "folder") or not holds_run(self.folder):
            return
        found = lt.load(self.folder)
        assert found.history_[:] == Runs.straight.history_[: len(found.history_)]
        if self.ended:
            assert (found.transform(NEW) == Runs.straight.transform(NEW)).all()
            assert found.latents_ in {names or ("z1",) for names in self.names}


@pytest.mark.long
@pytest.mark.usefixtures("no_optimiser_steps")
def test_any_order_of_fits_kills_saves_and_certificates():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lt.DataWarning)
        run_state_machine_as_test(
            Runs,
            settings=settings(max_examples=6, stateful_step_count=8, deadline=None, derandomize=True,
                              suppress_health_check=list(HealthCheck)),
        )  # fmt: skip
