"""JAX in 64-bit mode, as a process of its own is started in it."""

import os
import subprocess
import sys

import pytest

from latentry.models import MODELS

CHILD = """
import sys, tempfile, warnings
warnings.simplefilter("error")
import jax, numpy as np
import latentry as lt
from latentry.models import MODELS

name = sys.argv[1]
assert jax.config.jax_enable_x64
kind = MODELS[name]
wanted = {"latent_dim": 2, "epochs": 2, "batch_size": 32, "hidden": (4,), "restarts": 1, "flow__blocks": 1, "flow__components": 2,
    "flow__optimiser": "adam", "domain_prior__hidden": (4,), "style_dim": 1, "networks__channels": 2, "networks__most_channels": 4,
    "networks__style_width": 4, "nodes": (2, 2), "progress": False}
known = kind().get_params()
wanted = {key: value for key, value in wanted.items() if key in known}
if kind.takes_latents_from_data:
    wanted["latent_dim"] = None
rng = np.random.default_rng(1)
x = np.tanh(rng.normal(size=(200, 2)) @ rng.normal(size=(2, 4))) + 0.05 * rng.normal(size=(200, 4))
if not kind.takes_tables:
    data = lt.generators.domain_images(rows_per_domain=60, size=8)
elif kind.least_modalities > 1:
    data = lt.Dataset({"left": x[:, :2], "right": x[:, 2:]}, domain=np.arange(200) % 2)
else:
    data = lt.Dataset(x, domain=np.arange(200) % 2)
model = kind().set_params(**wanted).fit(data)
with tempfile.TemporaryDirectory() as folder:
    model.save(folder + "/run")
    again = lt.load(folder + "/run")
assert (again.transform(data) == model.transform(data)).all()
assert np.isfinite(again.transform(data)).all()
import jax.numpy as jnp
assert jnp.zeros(1).dtype == np.float64, "the mode is left as it was"
print("whole")
"""


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(MODELS))
def test_every_model_in_64_bit_mode(name):
    done = subprocess.run(
        [sys.executable, "-c", CHILD, name],
        env={**os.environ, "JAX_ENABLE_X64": "1"}, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.stdout.strip() == "whole", done.stderr[-2000:]
