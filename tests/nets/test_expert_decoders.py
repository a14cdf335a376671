"""Experts: shapes, formulas, bounds, files."""

import copy
import pickle

import jax.numpy as jnp
import numpy as np
import pytest

import latentry as lt
from latentry.nets import EXPERTS, Expert, Parameter, expert, two_piece_linear

GRID = np.linspace(0.0, 2.0, 9)
FORMULAS = {
    "two_piece_linear": lambda t, x0, y0, slope: np.where(t < x0, y0 * t / x0, y0 + slope * (t - x0)),
    "exponential": lambda t, asymptote, amplitude, rate: asymptote + amplitude * np.exp(-rate * t),
    "power_law": lambda t, scale, exponent: np.where(t > 0, scale * t**exponent, 0.0),
    "sinusoid": lambda t, offset, amplitude, frequency, phase: (
        offset + amplitude * np.sin(2 * np.pi * frequency * t + phase)
    ),
    "damped_oscillator": lambda t, amplitude, damping, frequency, phase: (
        amplitude * np.exp(-damping * t) * np.cos(2 * np.pi * frequency * t + phase)
    ),
    "michaelis_menten": lambda t, maximum, half: maximum * t / (half + t),
}


@pytest.mark.parametrize("name", sorted(EXPERTS))
def test_every_built_in_expert(name):
    made = EXPERTS[name](GRID).checked("curve", (9,))
    values = {key: parameter.start + 0.13 for key, parameter in made.parameters.items()}
    assert np.allclose(made(**values), FORMULAS[name](GRID, **values), atol=1e-5)
    assert Expert.from_json(made.to_json()) == made
    assert copy.deepcopy(made) == made
    assert hash(EXPERTS[name](GRID)) == hash(made)


def test_settings_travel():
    made = two_piece_linear(GRID, x0=Parameter(0.3, 0.1, 0.9, per="all"), slope=0.7)
    back = Expert.from_json(made.to_json())
    assert back == made
    assert back.parameters["x0"] == Parameter(0.3, 0.1, 0.9, per="all")
    assert back.parameters["slope"].start == 0.7
    assert two_piece_linear(GRID) != made


def test_an_expert_of_ones_own_is_not_written():
    own = expert(lambda a: a * jnp.asarray(GRID), a=1.0)
    assert own.made_by is None
    assert own.name == "<lambda>"


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: two_piece_linear(GRID, kink=1.0), "has no parameter 'kink'"),
        (lambda: two_piece_linear([]), "Give the points"),
        (lambda: expert(lambda a: a), "Name at least one"),
        (
            lambda: expert(lambda a: a * jnp.ones(3), a=Parameter(1.0, 2.0, 0.0)).checked("c", (3,)),
            "bounds of 'a' are 2.0 and 0.0",
        ),
        (lambda: expert(lambda a, b: a * jnp.ones(3), a=1.0, b=1.0).checked("c", (3,)), "does not change with 'b'"),
        (lambda: Expert.from_json({"expert": "polynomial", "settings": {}}), "there is no built-in expert"),
    ],
)
def test_sentences(make, sentence):
    with pytest.raises(lt.DataError, match=sentence):
        make()


def test_built_in_experts_go_to_other_processes():
    made = two_piece_linear(GRID)
    assert pickle.loads(pickle.dumps(made)) == made  # noqa: S301 (joblib sends estimators this way)
