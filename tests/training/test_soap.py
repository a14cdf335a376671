"""The preconditioned direction, against Adam where they must agree and where they must not."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from latentry.training import scale_by_soap


def directions(optimiser, gradients):
    state, found = optimiser.init(jax.tree.map(jnp.zeros_like, gradients[0])), []
    for gradient in gradients:
        way, state = optimiser.update(gradient, state)
        found.append(way)
    return found


def test_vectors_and_long_sides_have_plain_adam(rng):
    gradients = [{"a": jnp.asarray(rng.normal(size=7)), "b": jnp.asarray(rng.normal(size=(9, 8)))} for _ in range(13)]
    mine = directions(scale_by_soap(0.9, 0.99, largest=4), gradients)
    adam = directions(optax.scale_by_adam(0.9, 0.99), gradients)
    for one, two in zip(mine, adam, strict=True):
        assert jax.tree.all(jax.tree.map(lambda a, b: jnp.allclose(a, b, atol=1e-4), one, two))


@pytest.mark.parametrize("side", ["left", "right"])
def test_turning_the_axes_turns_the_direction(side, rng):
    """What Adam lacks. Generic gradients, so that eigenvalues are apart; the first steps have ties and are passed over."""
    turn, _ = np.linalg.qr(rng.normal(size=(4, 4)))
    plain = [jnp.asarray(rng.normal(size=(4, 4)) * [1, 2, 3, 4]) for _ in range(25)]
    turned = [turn @ g if side == "left" else g @ turn for g in plain]
    for optimiser, holds in ((scale_by_soap(every=1), True), (optax.scale_by_adam(), False)):
        one, two = directions(optimiser, plain)[-1], directions(optimiser, turned)[-1]
        back = turn.T @ two if side == "left" else two @ turn.T
        assert bool(jnp.allclose(one, back, atol=2e-2)) == holds


def test_stacked_layers_are_treated_one_by_one(rng):
    stacks = [jnp.asarray(rng.normal(size=(2, 3, 3))) for _ in range(12)]
    together = directions(scale_by_soap(), stacks)[-1]
    alone = directions(scale_by_soap(), [stack[1] for stack in stacks])[-1]
    assert jnp.allclose(together[1], alone, atol=1e-4)


def test_a_turned_valley_is_crossed_faster_than_by_adam(rng):
    """Least squares of condition 10^4 in turned axes: after the same steps the loss is at least ten times smaller."""
    left, right = (np.linalg.qr(rng.normal(size=(6, 6)))[0] for _ in range(2))
    wide, tall = left * np.logspace(0, -2, 6) @ left.T, right * np.logspace(0, -2, 6) @ right.T
    aim = jnp.asarray(rng.normal(size=(6, 6)))

    def loss(w):
        return ((wide @ (w - aim) @ tall) ** 2).sum()

    def descend(optimiser):
        chain = optax.chain(
            optimiser, optax.scale_by_schedule(optax.cosine_decay_schedule(1.0, 400)), optax.scale(-0.05)
        )

        def step(carry, _):
            w, state = carry
            way, state = chain.update(jax.grad(loss)(w), state)
            return (w + way, state), None

        start = jnp.zeros((6, 6))
        return loss(jax.lax.scan(step, (start, chain.init(start)), length=400)[0][0])

    assert descend(scale_by_soap()) < 0.1 * descend(optax.scale_by_adam())


def test_no_gradient_moves_nothing():
    way = directions(scale_by_soap(), [jnp.zeros((3, 3))] * 12)[-1]
    assert (way == 0).all()


def test_rarely_seen_rows_take_no_giant_steps():
    """One row of a table is seen along one axis and then no more, while the others turn the basis."""
    early = jnp.zeros((100, 2)).at[0, 0].set(1.0)
    late = jnp.zeros((100, 2)).at[1:].set(3.0)
    longest = []
    for most in (10.0, jnp.inf):
        ways = directions(scale_by_soap(most=most), [early] * 10 + [late] * 5)
        longest.append(max(float(jnp.abs(way).max()) for way in ways))
    assert longest[0] <= 10 * 2**0.5
    assert longest[1] > 1000
