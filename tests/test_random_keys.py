import jax
import numpy as np
import pytest

from latentry.random_keys import fold_in, split


def data_of(key):
    return np.asarray(jax.random.key_data(key))


@pytest.mark.parametrize("seed", [0, 7, 2**32 - 1])
def test_keys_are_those_of_jax(seed):
    key = jax.random.fold_in(jax.random.key(seed), 11)
    for count in (1, 2, 5):
        assert np.array_equal([data_of(k) for k in split(key, count)], data_of(jax.random.split(key, count)))
    for number in (0, 1, 2**31):
        assert np.array_equal(data_of(fold_in(key, number)), data_of(jax.random.fold_in(key, number)))


def test_keys_that_are_traced_or_of_another_generator_are_left_to_jax():
    other = jax.random.key(0, impl="rbg")
    assert np.array_equal([data_of(k) for k in split(other)], data_of(jax.random.split(other)))
    assert np.array_equal(data_of(fold_in(other, 3)), data_of(jax.random.fold_in(other, 3)))
    traced = jax.jit(lambda key: jax.random.key_data(split(key)[1]))(jax.random.key(1))
    assert np.array_equal(traced, data_of(jax.random.split(jax.random.key(1))[1]))
