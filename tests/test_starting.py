"""What ``import latentry`` costs: no heavy library, no device, no file."""

import os
import subprocess
import sys

import latentry as lt


def run(code, **environment):
    words = [sys.executable, "-c", code]
    return subprocess.run(
        words, env={**os.environ, **environment}, capture_output=True, text=True, check=True
    ).stdout.strip()


def test_importing_loads_no_heavy_library_and_writes_nothing(tmp_path):
    code = (
        "import sys, latentry; print([n for n in ('jax', 'sklearn', 'scipy', 'numba', 'pandas') if n in sys.modules])"
    )
    assert run(code, XDG_CACHE_HOME=str(tmp_path), HOME=str(tmp_path)) == "[]"
    assert list(tmp_path.iterdir()) == []


def test_making_a_model_starts_no_device():
    code = "import latentry as lt, jax._src.xla_bridge as bridge; lt.VAE(); print(bridge.backends_are_initialized())"
    assert run(code) == "False"


def test_every_public_name_can_be_loaded():
    assert all(getattr(lt, name) is not None for name in lt.__all__)
    assert set(lt.__all__) <= set(dir(lt))


def test_a_name_that_is_not_there_is_an_attribute_error():
    assert not hasattr(lt, "VEA")
