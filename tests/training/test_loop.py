import dataclasses
import math
import re

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import latentry as lt
from latentry.data import assemble
from latentry.training import Feed, History, Phase, RunState, Task, run


class Map(eqx.Module):
    weight: jax.Array
    shift: jax.Array
    count: jax.Array  # an integer, which no gradient moves


def make(key):
    return Map(0.1 * jax.random.normal(key, (3, 3)), jnp.zeros(3), jnp.zeros((), jnp.int32))


def loss(module, batch, key):
    x = batch.values["x"]
    seen = x + 0.1 * jax.random.normal(key, x.shape)
    error = ((seen @ module.weight + module.shift - x) ** 2).sum(axis=1)
    mean = (batch.weight * error).sum() / batch.weight.sum()
    return mean, {"size": jnp.abs(module.weight).sum()}


def data(rows=50):
    rng = np.random.default_rng(0)
    return lt.Dataset(rng.normal(size=(rows, 3)) + 1)


def task(phases=None, **changes):
    training, held_out = data().split(0.8, 0.2)
    phases = phases or (Phase("first", loss, 3, learning_rate=0.05), Phase("second", loss, 2, learning_rate=0.01))
    return Task(make, phases, Feed(training, 16), Feed(held_out, 16), **changes)


def test_the_loop_is_a_plain_optax_loop():
    whole = data()
    phase = Phase("fit", loss, 2, learning_rate=0.05, schedule="constant", clip=None)
    found = run(Task(make, (phase,), Feed(whole, 16), None, seed=3), progress=False)
    key = jax.random.fold_in(jax.random.key(3), 0)
    moving, still = eqx.partition(make(key), eqx.is_inexact_array)
    adam = optax.adam(0.05)
    state, step = adam.init(moving), 0
    stream = jax.random.fold_in(jax.random.fold_in(key, 1), 0)
    plan = Feed(whole, 16).plan
    for epoch in range(2):
        for index in plan.windows(plan.order((3, 0, 0, epoch)))[0]:
            batch = jax.tree.map(jnp.asarray, assemble(whole, index))
            noise = jax.random.fold_in(stream, step)
            slope = jax.grad(lambda m: loss(eqx.combine(m, still), batch, noise)[0])(moving)  # noqa: B023
            update, state = adam.update(slope, state, moving)
            moving, step = optax.apply_updates(moving, update), step + 1
    assert step == 2 * plan.steps == 8
    assert np.allclose(found.result.weight, moving.weight, rtol=1e-5, atol=1e-6)


def test_training_learns_and_the_history_is_a_table():
    state = run(task(), progress=False)
    history = History(state.history)
    assert history["held_out_loss"][-1] < 0.5 * history["held_out_loss"][0]
    assert history.columns[:5] == ("restart", "phase", "epoch", "loss", "size")
    assert history["phase"].tolist() == ["first"] * 3 + ["second"] * 2
    with pytest.raises(lt.DataError, match="did you mean 'loss'"):
        history["los"]


def test_every_row_counts_once_even_in_a_short_last_batch():
    def constant(module, batch, key):
        return (batch.weight * batch.values["x"][:, 0]).sum() / batch.weight.sum() + 0 * module.shift.sum(), {}

    whole = data(50)  # 50 = 3 · 16 + 2
    state = run(Task(make, (Phase("p", constant, 1),), Feed(whole, 16), None), progress=False)
    assert np.isclose(state.history[0]["loss"], whole["x"][:, 0].mean(), rtol=1e-5)


def test_the_pace_does_not_change_a_bit(same):
    def finish(most):
        small = task()
        state = small.start()
        while not state.finished:
            state = small.advance(state, most)
        return state

    one, many = finish(1), finish(1000)
    assert same(one.arrays(), many.arrays())
    assert one.history == many.history


def test_frozen_parts_do_not_move():
    def only_shift(module):
        return Map(weight=False, shift=True, count=False)

    phases = (Phase("a", loss, 2, trainable=only_shift), Phase("b", loss, 1))
    small = task(phases)
    before, state = small.start(), small.start()
    while state.phase == 0:
        state = small.advance(state, 100)
    assert (state.module.weight == before.module.weight).all()
    assert (state.module.shift != before.module.shift).all()


def test_hooks_change_the_module_outside_the_gradient():
    def count(module, rows, key):
        assert len(rows) == 40
        return dataclasses.replace(module, count=module.count + 1)

    state = run(task((Phase("a", loss, 4, after_epoch=count),)), progress=False)
    assert int(state.module.count) == 4


def test_a_hook_that_spoils_the_module_is_named():
    def spoil(module, rows, key):
        return dataclasses.replace(module, shift=module.shift * jnp.nan)

    with pytest.raises(
        lt.TrainingDiverged, match=r"update after epoch 1 of phase 'a' left the module's shift not finite"
    ):
        run(task((Phase("a", loss, 2, after_epoch=spoil),)), progress=False)


def test_the_best_restart_is_kept_by_held_out_loss():
    state = run(task(restarts=3), progress=False)
    history = History(state.history)
    best = [
        np.nanmin(history["held_out_loss"][(history["restart"] == r) & (history["phase"] == "second")])
        for r in range(3)
    ]
    assert state.champion_restart == int(np.argmin(best))
    assert state.champion_score == min(best)
    assert len({round(b, 6) for b in best}) == 3


def test_patience_ends_a_phase_at_its_best_epoch():
    phase = Phase("p", loss, 200, learning_rate=0.5, schedule="constant", patience=3)
    state = run(task((phase,)), progress=False)
    scores = History(state.history)["held_out_loss"]
    assert state.stopped == "patience"
    assert len(scores) == 1 + int(np.argmin(scores)) + 3
    assert state.champion_score == scores.min()


def _bad_start(module, batch, key):
    value, metrics = loss(module, batch, key)
    # Not finite on held-out rows (which have no row of the first quadrant's corner) while the module is young.
    young = jnp.abs(module.weight).sum() < 1.0
    return jnp.where(young & (batch.weight.sum() < 11), jnp.nan, value), metrics


def test_a_nan_in_the_first_held_out_loss_does_not_freeze_the_best_state():
    training, held_out = data().split(0.8, 0.2)
    phase = Phase("p", _bad_start, 30, learning_rate=0.05)
    state = run(Task(make, (phase,), Feed(training, 20), Feed(held_out, 20)), progress=False)
    scores = History(state.history)["held_out_loss"]
    assert math.isnan(scores[0])
    assert state.champion_score == np.nanmin(scores)
    assert state.champion_score < 1


def test_held_out_loss_that_is_never_finite_is_an_error():
    def never(module, batch, key):
        value, metrics = loss(module, batch, key)
        return jnp.where(batch.weight.sum() < 11, jnp.nan, value), metrics

    training, held_out = data().split(0.8, 0.2)
    with pytest.raises(lt.TrainingDiverged, match="held-out loss was not finite in any epoch of phase 'p'") as caught:
        run(Task(make, (Phase("p", never, 2),), Feed(training, 20), Feed(held_out, 20)), progress=False)
    assert isinstance(caught.value.state, RunState)


def _explodes(module, batch, key):
    value, metrics = loss(module, batch, key)
    # the gradient of sqrt at 0 is not finite: the loss stays sound, the shift's gradient breaks once the weights have grown
    alive = jnp.where(jnp.abs(module.weight).sum() > 2.0, 0.0, 1.0)
    return value + jnp.sqrt(alive * (1 + module.shift[0] ** 2)), metrics


def test_a_step_that_is_not_finite_is_stopped_before_the_update_and_named():
    phase = Phase("warm", _explodes, 20, learning_rate=0.05)
    with pytest.raises(lt.TrainingDiverged) as caught:
        run(task((phase,)), progress=False)
    text = str(caught.value)
    assert re.search(r"phase 'warm', epoch [2-9], step [123]:", text)
    assert "the gradient of shift is not finite" in text
    assert "learning_rate=0.005" in text
    state = caught.value.state
    assert all(np.isfinite(np.asarray(leaf)).all() for leaf in jax.tree.leaves(state.arrays()))
    assert float(jnp.abs(state.module.weight).sum()) < 2  # from before the weights that broke


def test_a_huge_batch_is_blamed_on_the_data():
    huge = lt.Dataset(np.full((20, 3), 1e30))
    with pytest.raises(lt.TrainingDiverged, match="values as large as 1e\\+30: standardise"):
        run(Task(make, (Phase("p", loss, 1),), Feed(huge, 10), None), progress=False)


def test_one_fit_compiles_each_program_once():
    compiled = []

    def listen(event, duration, **about):
        if event == "/jax/core/compile/jaxpr_trace_duration":
            compiled.append(about.get("fun_name"))

    def fresh(module, batch, key):  # a function of its own: nothing is cached from other tests
        return loss(module, batch, key)

    small = task((Phase("p", fresh, 6),), restarts=2)
    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        run(small, progress=False)
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)
    counts = {name: compiled.count(name) for name in ("_many_steps", "_evaluate_many")}
    assert counts == {"_many_steps": 1, "_evaluate_many": 1}, compiled


def test_schedules():
    from latentry.training.phase import SCHEDULES

    at = lambda name, step: float(SCHEDULES[name](jnp.asarray(step), jnp.asarray(100.0)))  # noqa: E731
    assert [at("constant", s) for s in (0, 99)] == [1, 1]
    assert np.allclose([at("cosine", s) for s in (0, 50, 100)], [1, 0.5, 0], atol=1e-6)
    assert at("warmup", 0) < 0.25 < at("warmup", 10)
    with pytest.raises(lt.DataError, match="did you mean 'cosine'"):
        _ = Phase("p", loss, 1, schedule="cosin").recipe


def test_an_optax_schedule_is_taken_as_it_is():
    never = Phase("p", loss, 2, schedule=optax.constant_schedule(0.0))
    small = task((never,))
    assert (run(small, progress=False).result.weight == small.start().module.weight).all()


def test_clipping_bounds_the_gradient():
    seen = {}

    def watch():
        def update(slope, state, params=None):
            seen["norm"] = True
            jax.debug.callback(lambda n: seen.setdefault("norms", []).append(float(n)), optax.tree.norm(slope))
            return slope, state

        return optax.GradientTransformation(lambda params: (), update)

    run(task((Phase("p", loss, 1, clip=0.1, direction=watch),)), progress=False)
    jax.effects_barrier()
    assert max(seen["norms"]) <= 0.1 * 1.0001


def test_an_interrupted_later_restart_uses_the_better_weights():
    small = task(restarts=2)
    state = small.start()
    while not (state.restart == 1 and state.phase == 1 and state.epoch == 1):
        state = small.advance(state, 100)
    better = dataclasses.replace(state, best_score=state.champion_score - 1)
    worse = dataclasses.replace(state, best_score=state.champion_score + 1)
    early = dataclasses.replace(better, last_phase=False)
    assert better.result is better.best
    assert worse.result is worse.champion
    assert early.result is early.champion


def test_a_run_that_a_hook_ended_can_go_on():
    def spoil(module, rows, key):
        return dataclasses.replace(module, shift=module.shift * jnp.nan)

    phases = (Phase("a", loss, 2, after_epoch=spoil),)
    with pytest.raises(lt.TrainingDiverged) as caught:
        run(task(phases), progress=False)
    mended = task((Phase("a", loss, 2),))
    assert run(mended, caught.value.state, progress=False).finished


def test_the_step_is_counted_over_all_windows(monkeypatch):
    from latentry.data import batches

    monkeypatch.setattr(batches, "WINDOW_BYTES", 12 * 16 * 2)  # two steps a window

    def breaks(module, batch, key):
        value, metrics = loss(module, batch, key)
        return jnp.where(jnp.any(batch.values["x"] > 90), jnp.nan, value), metrics

    rows = np.random.default_rng(0).normal(size=(96, 3))
    plan = Feed(lt.Dataset(rows), 16).plan
    order = plan.order((0, 0, 0, 0))
    rows[order[4 * 16]] = 99.0  # in the fifth batch
    with pytest.raises(lt.TrainingDiverged, match="epoch 1, step 5"):
        run(Task(make, (Phase("p", breaks, 1),), Feed(lt.Dataset(rows), 16), None), progress=False)


def test_a_finished_run_is_left_as_it_is():
    small = task()
    done = run(small, progress=False)
    assert run(small, done, progress=False) is done


def test_restarts_need_held_out_rows():
    with pytest.raises(lt.DataError, match="held-out rows"):
        Task(make, (Phase("p", loss, 1),), Feed(data(), 16), None, restarts=2)
