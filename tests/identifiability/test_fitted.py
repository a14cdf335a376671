"""The audits on a fitted model: what they read is there, and shuffled domains find nothing."""

import numpy as np
import pytest

import latentry as lt
from latentry.generators import segments
from latentry.identifiability import collapse, sufficient_changes


def meaningless():
    """Rows whose domains mean nothing, in two halves."""
    data = segments(domains=6, rows_per_domain=600, latents=2, means="uniform", seed=0)
    return data.with_domain(np.random.default_rng(0).permutation(np.array(list("abcdef"))[data.domain.values])).split(
        0.5, 0.5
    )


@pytest.fixture(scope="module")
def shuffled():
    """A flow fitted to one half, and the other."""
    train, held_out = meaningless()
    return lt.IFlow().set_params(epochs=15, flow__blocks=3, flow__components=4, progress=False).fit(train), held_out


@pytest.mark.long
def test_shuffled_domains_find_nothing(shuffled):
    model, held_out = shuffled
    found = sufficient_changes(model, held_out, bootstrap=0)
    assert found.identifiable is False
    assert found.present == 6
    assert "check that u belongs to these rows" in found.verdict.change
    assert sufficient_changes(model, bootstrap=0).identifiable is not True


def test_a_flow_is_never_collapsed(shuffled):
    model, held_out = shuffled
    found = collapse(model, held_out)
    assert found.collapsed == ()
    assert np.isinf(found.divergence).all()


def test_training_rows_are_recognised(shuffled):
    model, _ = shuffled
    with pytest.warns(lt.DataWarning, match="fitted on these very rows"):
        sufficient_changes(model, meaningless()[0], bootstrap=0)


def test_a_plain_vae_has_nothing_to_audit(rng):
    model = lt.VAE(latent_dim=1, epochs=1, hidden=(4,), progress=False).fit(rng.normal(size=(60, 3)))
    with pytest.raises(lt.DataError, match="VAE: has no .* of its latents given a domain.*IFlow or IVAE"):
        sufficient_changes(model)
