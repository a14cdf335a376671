"""What a model says of a fit before it is made."""

import re

import jax
import numpy as np
import pytest

import latentry as lt
from latentry.models.estimator.fitting import task_for
from latentry.training import operations_per_row


@pytest.fixture(scope="module")
def images():
    rng = np.random.default_rng(0)
    return lt.Dataset({"image": rng.normal(size=(40, 12, 12)), "table": rng.normal(size=(40, 3))})


def test_networks_of_each_modality_are_named(images):
    text = lt.VAE(hidden=(16,)).describe(images)
    assert re.search(r"encoder of image +convolutions, 4 → 8 channels", text)
    assert re.search(r"decoder of table +dense layers, 2 → 16 → 3", text)
    assert "s an epoch on one core" in text


def test_weights_are_those_of_a_fit(images):
    model = lt.VAE(hidden=(16,), epochs=1, progress=False)
    said = int(re.search(r"weights +([\d,]+)", model.describe(images))[1].replace(",", ""))
    assert said == sum(leaf.size for leaf in jax.tree.leaves(model.fit(images).module_) if leaf.dtype.kind == "f")


def test_operations_are_counted_as_by_hand():
    """A dense network of n weights costs about 2 operations a weight forwards, 4 backwards; its first layer 2."""
    data = lt.Dataset(np.random.default_rng(0).normal(size=(64, 50)))
    model = lt.VAE(hidden=(100,), latent_dim=2, batch_size=64, validation=0, progress=False)
    model.record_ = model.study(data)
    dense = 6 * (100 * 4 + 2 * 100 + 100 * 50) + 4 * 50 * 100
    assert operations_per_row(task_for(model, data)) == pytest.approx(dense, rel=0.25)


def test_a_model_stays_as_it_was(images):
    model = lt.VAE(hidden=(16,))
    before = dict(vars(model))
    model.describe(images)
    assert vars(model) == before


def test_a_program_with_loops_makes_no_promise():
    rows = np.random.default_rng(0).normal(size=(420, 3))
    assert "not known before a fit" in lt.IFlow().set_params(flow__blocks=1).describe(rows, np.arange(420) % 7)
