import gc
import os

# Two test processes share two cores: threads of small linear algebra and trees would wait for each other.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Most of the time would go into optimising programs that run for a moment.
os.environ.setdefault(
    "XLA_FLAGS",
    "--xla_cpu_multi_thread_eigen=false --xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false"
    " --xla_cpu_parallel_codegen_split_count=1",
)

from pathlib import Path

import equinox as eqx
import jax
import numpy as np
import pytest
from hypothesis import settings

import latentry as lt
from latentry.training import use_compilation_cache

use_compilation_cache()
settings.register_profile("any machine", deadline=None)  # a busy machine is no fault of an example
settings.load_profile("any machine")
gc.set_threshold(100_000, 20, 20)  # tracing makes many small objects and hardly a cycle: look for cycles less often


def pytest_collection_modifyitems(items):
    """Leave examples that fit a model to the long tests."""
    for item in items:
        if isinstance(item, pytest.DoctestItem) and "models" in item.path.parts and item.path.name in FITTING:
            item.add_marker(pytest.mark.long)


FITTING = ("estimator.py", "choose.py", "choose_sparsity.py")


@pytest.fixture(autouse=True)
def few_programs():
    """Compiled programs are memory maps, of which a process may have some 65,000: forget them before there are too many."""
    yield
    maps = Path("/proc/self/maps")
    few_programs.tests += 1
    if few_programs.tests % 10 == 0 and maps.exists() and maps.read_bytes().count(b"\n") > 45_000:
        jax.clear_caches()


few_programs.tests = 0


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def same():
    """Whether two trees of arrays have the same leaves, bit for bit."""

    def equal(a, b):
        left, right = jax.tree.leaves(a), jax.tree.leaves(b)
        return len(left) == len(right) and all(
            (np.asarray(x) == np.asarray(y)).all() for x, y in zip(left, right, strict=True)
        )

    return equal


@pytest.fixture(scope="session")
def curved():
    """Rows on a curved surface of two dimensions in six, with two domains and a hole or two left out."""
    rng = np.random.default_rng(1)
    z = rng.normal(size=(300, 2))
    x = np.tanh(z @ rng.normal(size=(2, 6))) + 0.05 * rng.normal(size=(300, 6))
    return lt.Dataset(x, domain=np.arange(300) % 2)


@pytest.fixture(scope="module")
def few_features():
    """Learn common functions of blocks from forty random features instead of 300, where information is not what is tested."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("latentry.information.canonical_variates.FEATURES", 40)
        yield


def _teach_little(patch):
    patch.setattr("latentry.natural.from_samples.boosted_trees._ROUNDS", 8)
    patch.setattr("latentry.natural.from_samples.boosted_trees._MOST", 8)
    patch.setattr("latentry.natural.from_samples.small_networks._STEPS", 40)


@pytest.fixture
def quick_students(monkeypatch):
    """Students of an audit learn for a moment, where it does not matter how much they learn."""
    _teach_little(monkeypatch)


@pytest.fixture(scope="module")
def quick_students_in_module():
    """The same for all tests and fixtures of a module."""
    with pytest.MonkeyPatch.context() as patch:
        _teach_little(patch)
        yield


def _try_little(patch):
    for name, value in {"_FEWEST": 4, "_MOST": 4, "_STEPS": 20}.items():
        patch.setattr(f"latentry.models.cgvae.linear_start.{name}", value)


@pytest.fixture
def few_tries(monkeypatch):
    """Search for the linear starts of CGVAE from four places in a few steps, where it does not matter how good they are."""
    _try_little(monkeypatch)


@pytest.fixture(scope="module")
def few_tries_in_module():
    """The same for all tests and fixtures of a module."""
    with pytest.MonkeyPatch.context() as patch:
        _try_little(patch)
        yield


def _shrink_weights(recipe, knobs, now, window, key, start, stop):
    """Stand in for optimiser steps: each makes the weights a little smaller."""
    arrays = jax.device_get(eqx.filter(now.module, eqx.is_inexact_array))
    for _ in range(start, stop):  # one by one: the same bits wherever a save parts them
        arrays = jax.tree.map(lambda a: a * a.dtype.type(0.99), arrays)
    module = eqx.combine(jax.device_put(arrays), now.module)
    return now._replace(module=module, step=now.step + (stop - start), rows=now.rows + 1.0)


def _evaluate_nothing(loss, module, window, sums, key, first, stop):
    return sums._replace(rows=sums.rows + 1.0)


def _whiten_alone(within, fractions, pooled, axes, scales, keys, weight):
    """Stand in for the search of linear starts: no rotation is tried."""
    return np.linalg.inv(np.linalg.cholesky(pooled))[None], np.zeros(1)


def _take_no_steps(patch):
    patch.setattr("latentry.training.loop.run_steps", _shrink_weights)
    patch.setattr("latentry.training.loop.evaluate", _evaluate_nothing)
    patch.setattr("latentry.models.cgvae.linear_start._search", _whiten_alone)


@pytest.fixture
def no_optimiser_steps(monkeypatch):
    """Fit without a program of optimiser steps for each shape, where it does not matter what is learned."""
    _take_no_steps(monkeypatch)


@pytest.fixture(scope="module")
def no_optimiser_steps_in_module():
    """The same for all tests and fixtures of a module."""
    with pytest.MonkeyPatch.context() as patch:
        _take_no_steps(patch)
        yield
