"""A loop over batches and a call for each give the same run."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import latentry as lt
from latentry.training import Feed, Phase, Task, compiled, run
from latentry.training.dispatch import dispatch_for

KEY = jax.random.key(0)


class Line(eqx.Module):
    """A cubic that can be made to overflow."""

    weight: jax.Array


def loss(module, batch, key):
    noise = jax.random.normal(key, batch.weight.shape)
    rest = batch.values["x"] @ module.weight + 0.1 * noise
    return (batch.weight * rest**2).sum() / batch.weight.sum(), {"rest": jnp.abs(rest).mean()}


def blown_up(module, batch, key):
    value, metrics = loss(module, batch, key)
    return jnp.where(batch.values["x"][:, 0].max() > 1.5, jnp.nan, 1.0) * value, metrics


def rows(count=40):
    return lt.Dataset(np.random.default_rng(1).uniform(-1, 1, size=(count, 3)))


def task(objective=loss, data=None):
    phase = Phase("fit", objective, epochs=3, learning_rate=0.1)
    training = Feed(rows() if data is None else data, 8)
    return Task(lambda key: Line(jnp.ones(3)), (phase,), training, Feed(rows(10), 8), seed=0)


def advance_by(work, steps):
    state = work.start()
    while not state.finished:
        state = work.advance(state, steps)
    return state


@pytest.fixture(params=["loop", "calls"])
def dispatch(request, monkeypatch):
    monkeypatch.setattr(compiled, "dispatch_for", lambda *arguments: request.param)
    return request.param


def test_both_give_one_result(monkeypatch):
    found = {}
    for chosen in ("loop", "calls"):
        monkeypatch.setattr(compiled, "dispatch_for", lambda *arguments, chosen=chosen: chosen)
        found[chosen] = run(task(), progress=False)
    assert np.allclose(found["loop"].result.weight, found["calls"].result.weight, rtol=1e-6)
    for one, two in zip(found["loop"].history, found["calls"].history, strict=True):
        assert one.keys() == two.keys()
        assert all(np.isclose(one[name], two[name], rtol=1e-5) for name in one if name != "phase")


def test_a_run_that_is_cut_anywhere_has_the_same_bits(dispatch):
    whole = run(task(), progress=False)
    state = advance_by(task(), 2)
    assert (state.result.weight == whole.result.weight).all()
    assert state.history == whole.history


def test_both_stop_before_the_step_that_is_not_finite(dispatch):
    data = np.random.default_rng(1).uniform(-1, 1, size=(40, 3))
    data[17, 0] = 2.0
    work = task(blown_up, lt.Dataset(data))
    with pytest.raises(lt.TrainingDiverged) as caught:
        advance_by(work, 100)  # sound steps follow the spoiled one in the same call, and must do nothing
    kept = caught.value.state
    assert kept is None or bool(jnp.isfinite(kept.module.weight).all())
    assert "epoch 1" in str(caught.value)
    batch = work.training.window((0, 0, 0, 0), 0)
    spoiled = int(np.argmax(np.asarray(batch.values["x"][..., 0]).max(axis=1) > 1.5))
    assert spoiled + 1 < work.training.plan.steps
    assert f"step {spoiled + 1}:" in str(caught.value)


def test_convolutions_on_a_processor_are_called_one_by_one():
    images = lt.Dataset({"image": np.random.default_rng(0).normal(size=(20, 8, 8))})
    for encoder, wanted in (("convolution", "calls"), ("dense", "loop")):
        model = lt.VAE(latent_dim=1, epochs=1, hidden=(8,), encoder=encoder, decoder=encoder, progress=False).fit(
            images
        )
        window = Feed(images, 8).window(None, 0)
        assert dispatch_for(model.phases()[0].loss, model.module_, window, KEY) == wanted


def test_stacked_weights_alone_do_not_look_like_convolutions():
    window = Feed(rows(), 8).window(None, 0)
    stacked = lambda module, batch, key: (jnp.einsum("rx,cxy->", batch.values["x"], module), {})  # noqa: E731
    assert dispatch_for(stacked, jnp.ones((2, 3, 4)), window, KEY) == "loop"
