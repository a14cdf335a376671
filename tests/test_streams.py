"""Streams of random numbers: repeatable, and apart from each other and from the user's."""

import numpy as np
import pytest

from latentry.errors import DataError
from latentry.streams import stream, stream_seed


def test_the_same_purpose_and_seed_give_the_same_numbers():
    np.testing.assert_array_equal(stream("a", 3).random(5), stream("a", np.int64(3)).random(5))


@pytest.mark.parametrize("seed", [0, 1, 2**40])
def test_no_stream_repeats_another_or_the_user_s(seed):
    drawn = [stream("a", seed), stream("b", seed), stream("a", seed + 1), np.random.default_rng(seed)]
    firsts = [tuple(rng.random(3)) for rng in drawn]
    assert len(set(firsts)) == len(firsts)


def test_streams_of_a_purpose_are_uncorrelated_with_the_user_s_draws():
    # |r| of 10,000 independent pairs exceeds 0.05 once in two million runs.
    mine, theirs = stream("a", 0).standard_normal(10_000), np.random.default_rng(0).standard_normal(10_000)
    assert abs(np.corrcoef(mine, theirs)[0, 1]) < 0.05


def test_the_numbers_do_not_change_between_versions():
    assert stream("a", 0).integers(0, 10**6, 3).tolist() == [514325, 535560, 760610]
    assert stream_seed("a", 0) == 416673598


def test_seeds_of_purposes_differ_and_fit_jax():
    found = {stream_seed(name, seed) for name in ("a", "b", "c") for seed in range(50)}
    assert len(found) == 150
    assert 0 <= min(found) <= max(found) < 2**31


@pytest.mark.parametrize("seed", [-1, 0.5, 1.0, True, "0", None])
def test_what_is_no_seed_is_refused(seed):
    with pytest.raises(DataError, match=r"seed=.*whole number of at least 0"):
        stream("a", seed)
