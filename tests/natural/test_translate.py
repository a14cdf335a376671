"""Translation bounds hold for random latents and are tight for natural ones."""

import numpy as np
import pytest

from latentry.errors import DataError
from latentry.generators import planted_natural, random_family
from latentry.natural import copy_channel, entropy, translate


@pytest.mark.parametrize("seed", range(25))
def test_promises_hold(seed):
    shape = [(2, 2), (3, 2), (2, 2, 2)][seed % 3]
    drawn = random_family(shape, 2, 1, seed, concentration=0.3)
    other = random_family(shape, 3, 1, seed + 1000, concentration=0.3).channel
    both = translate(drawn.laws[0], drawn.channel, other)
    for way in (both.a_from_b, both.b_from_a):
        assert way.missing.value <= way.promised.value + 1e-12
        assert way.leftover.value <= way.leftover_promised.value + 1e-12
        assert way.promised.direction == "upper"
        assert way.leftover.value <= way.missing.value + 1e-12


def test_truth_by_hand():
    """Λ = X_1, Λ' = X_2 for two copies with a flip: H(Λ'|Λ) = H(X_2|X_1)."""
    law = np.array([[0.45, 0.05], [0.05, 0.45]])
    both = translate(law, copy_channel((2, 2), 0), copy_channel((2, 2), 1))
    assert both.a_from_b.missing.value == pytest.approx(entropy(np.array([0.9, 0.1])))


def test_a_natural_latent_is_a_function_of_every_mediator_and_of_another_natural_latent():
    made = planted_natural(domains=1, observables=3)
    mediator = copy_channel(made.laws.shape[1:], 0)
    way = translate(made.laws[0], made.channel, mediator)
    assert way.a_from_b.promised.value < 1e-9 or way.a_from_b.missing.value < 1e-9
    renamed = made.channel[..., ::-1]
    same = translate(made.laws[0], made.channel, renamed)
    assert same.a_from_b.promised.value < 1e-9
    assert same.b_from_a.promised.value < 1e-9
    assert "promised" in str(same)


def test_the_best_pair_of_blocks_is_chosen():
    """X_1 and X_2 copy Z; X_3 is noise: the pair must avoid the noise alone."""
    law = np.zeros((2, 2, 2))
    law[0, 0], law[1, 1] = 0.25, 0.25
    latent = copy_channel((2, 2, 2), 0)
    way = translate(law, latent, latent).a_from_b
    assert way.promised.value < 1e-9
    assert all(block != (2,) for block in way.blocks)


def test_bad_input():
    with pytest.raises(DataError, match="1 observables"):
        translate([0.5, 0.5], np.ones((2, 1)), np.ones((2, 1)))
    with pytest.raises(DataError, match=r"b.*\(2, 1\)"):
        translate(np.full((2, 2), 0.25), np.ones((2, 2, 1)), np.ones((2, 1)))
    with pytest.raises(DataError, match="together need a table of"):
        translate(np.full((2, 2), 0.25), np.full((2, 2, 8192), 1 / 8192), np.full((2, 2, 8192), 1 / 8192))
