r"""Expert decoders: physics in place of a network, with parameters that have names, bounds and meanings.

An expert says what a modality looks like given its parameters: any function written in ``jax.numpy``, a simulator with
gradients included. Each parameter is one number for all rows, or one per cluster, or one per value of a node.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from latentry.errors import DataError, nearest

__all__ = [
    "EXPERTS",
    "Expert",
    "Parameter",
    "damped_oscillator",
    "expert",
    "exponential",
    "michaelis_menten",
    "power_law",
    "sinusoid",
    "two_piece_linear",
]


@dataclass(frozen=True)
class Parameter:
    """A number with a meaning.

    Args:
        start: Where the search begins.
        low: Least value.
        high: Greatest value.
        per: "cluster" for one in each cluster, "all" for one for all rows, or the name of a node for one for each of its
            values.

    >>> Parameter(0.5, low=0.0, high=1.0)
    Parameter(start=0.5, low=0.0, high=1.0, per='cluster')
    """

    start: float
    low: float = -math.inf
    high: float = math.inf
    per: str = "cluster"


@dataclass(frozen=True)
class Expert:
    """A function of named parameters that gives a whole row of a modality.

    Args:
        function: ``function(**parameters)``, in ``jax.numpy``; returns the row in the data's own units.
        parameters: by name.
        made_by: The built-in expert and its settings, so that a file can name it; None for your own function.
    """

    function: Callable[..., Any]
    parameters: Mapping[str, Parameter]
    made_by: tuple[str, tuple[tuple[str, Any], ...]] | None = field(default=None)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", MappingProxyType(dict(self.parameters)))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Expert):
            return NotImplemented
        same = self.function is other.function if self.made_by is None else self.made_by == other.made_by
        return same and dict(self.parameters) == dict(other.parameters)

    def __hash__(self) -> int:
        return hash((self.made_by or self.function, tuple(self.parameters.items())))

    def __repr__(self) -> str:
        return f"Expert({self.name}: {', '.join(self.parameters)})"

    def __reduce__(self) -> tuple[Any, ...]:
        if self.made_by is None:
            return Expert, (self.function, dict(self.parameters))
        return _again, (self.made_by[0], dict(self.made_by[1]))

    def __deepcopy__(self, memo: Any) -> Expert:
        return self

    @property
    def name(self) -> str:
        """What it is called."""
        return self.made_by[0] if self.made_by else getattr(self.function, "__name__", type(self.function).__name__)

    def to_json(self) -> dict[str, Any]:
        """A built-in expert by name and settings: a file says which, never what to run."""
        assert self.made_by is not None
        name, settings = self.made_by
        plain = {key: vars(value) if isinstance(value, Parameter) else list(value) for key, value in settings}
        return {"expert": name, "settings": {k: _finite(v) if isinstance(v, dict) else v for k, v in plain.items()}}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Expert:
        """The inverse of :meth:`to_json`.

        >>> curve = two_piece_linear([0.0, 0.5, 1.0], x0=Parameter(0.3, 0.1, 0.9, per="N1"))
        >>> Expert.from_json(curve.to_json()) == curve
        True
        """
        return _again(fields["expert"], fields["settings"])

    def __call__(self, **values: Any) -> Any:
        """The row for these values."""
        return self.function(**values)

    def checked(self, modality: str, shape: tuple[int, ...]) -> Expert:
        """The same, or a sentence that says why it cannot stand for rows of this shape."""
        where = f"experts[{modality!r}] ({self.name})"
        for name, parameter in self.parameters.items():
            _check_parameter(where, name, parameter)
        start = {name: jnp.float32(p.start) for name, p in self.parameters.items()}
        row = self._try(where, start, lambda: self(**start))
        if jnp.shape(row) != shape:
            raise DataError(f"{where} returns shape {jnp.shape(row)}, but a row of {modality!r} has shape {shape}.")
        if not bool(jnp.isfinite(row).all()):
            raise DataError(f"{where} is not finite at its start: choose another, or guard the formula there.")
        slopes = self._try(where, start, lambda: jax.jacfwd(lambda v: self(**v))(start))
        for name, slope in slopes.items():
            if not bool(jnp.isfinite(slope).all()):
                raise DataError(
                    f"{where} is not differentiable in {name!r} at its start {self.parameters[name].start}: "
                    "the slope is not finite. Choose another start, or guard the formula there."
                )
            if not bool(jnp.abs(slope).max() > 0):
                raise DataError(
                    f"{where} does not change with {name!r} at its start: leave the parameter out, or move it."
                )
        return self

    def _try(self, where: str, start: Mapping[str, Any], call: Callable[[], Any]) -> Any:
        try:
            inspect.signature(self.function).bind(**start)
        except TypeError as problem:
            raise DataError(f"{where} must take the parameters {', '.join(start)} by name: {problem}.") from None
        try:
            return call()
        except Exception as problem:
            first = str(problem).strip().splitlines()[0] if str(problem).strip() else type(problem).__name__
            raise DataError(
                f"{where} is not differentiable: write it in jax.numpy, without float() or branches on values. ({first})"
            ) from problem


def expert(function: Callable[..., Any], **parameters: Parameter | float) -> Expert:
    """An expert of your own; a plain number is a start without bounds.

    >>> t = jnp.linspace(0.0, 1.0, 5)
    >>> line = expert(lambda slope: slope * t, slope=Parameter(1.0, low=0.0))
    >>> line(slope=2.0).tolist()
    [0.0, 0.5, 1.0, 1.5, 2.0]
    """
    if not callable(function):
        raise DataError(f"expert({function!r}): give a function written in jax.numpy.")
    if not parameters:
        raise DataError("expert(...): name at least one parameter, such as slope=Parameter(1.0, low=0.0).")
    given = {n: p if isinstance(p, Parameter) else Parameter(float(p)) for n, p in parameters.items()}
    return Expert(function, given)


def _check_parameter(where: str, name: str, parameter: Parameter) -> None:
    if not parameter.low < parameter.high:
        raise DataError(
            f"{where}: the bounds of {name!r} are {parameter.low} and {parameter.high}: low must lie below high."
        )
    if not parameter.low < parameter.start < parameter.high:
        raise DataError(
            f"{where}: the start {parameter.start} of {name!r} is not inside its bounds "
            f"({parameter.low} to {parameter.high})."
        )


# Built-in experts ---------------------------------------------------------------------------


def _built(name: str, grid: Any, rule: Callable[..., Any], starts: Mapping[str, Parameter], changes: Any) -> Expert:
    points = tuple(float(t) for t in np.ravel(np.asarray(grid, dtype=float)))
    if not points or not np.isfinite(points).all():
        raise DataError(f"{name}(grid): give the points at which the curve was measured, finite numbers.")
    chosen = dict(starts)
    for key, value in (changes or {}).items():
        if key not in starts:
            raise DataError(f"{name} has no parameter {key!r}{nearest(key, starts)}")
        chosen[key] = _within(value if isinstance(value, Parameter) else Parameter(float(value)), starts[key])
    t = np.asarray(points, dtype=np.float32)
    settings = (("grid", points), *((key, chosen[key]) for key in sorted(changes or {})))
    return Expert(lambda **values: rule(t, **values), chosen, (name, settings))


def _within(given: Parameter, usual: Parameter) -> Parameter:
    """The parameter with the usual bounds where it has none of its own."""
    low = given.low if math.isfinite(given.low) else usual.low
    return replace(given, low=low, high=given.high if math.isfinite(given.high) else usual.high)


def _finite(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        k: None if isinstance(v, float) and math.isinf(v) else v for k, v in fields.items()
    }  # JSON knows no infinity


def _parameter(fields: Mapping[str, Any]) -> Parameter:
    return Parameter(**{key: value for key, value in fields.items() if value is not None})


def _again(name: str, settings: Mapping[str, Any]) -> Expert:
    """A built-in expert from its name and settings, as files hold them."""
    if name not in EXPERTS:
        raise DataError(f"there is no built-in expert {name!r}{nearest(name, EXPERTS)}")
    given = {key: _parameter(value) if isinstance(value, Mapping) else value for key, value in settings.items()}
    return EXPERTS[name](**given)


def two_piece_linear(grid: Any, **parameters: Parameter | float) -> Expert:
    r"""Through (0, 0) and the kink (x0, y0), then on with another slope: elastic, then yielding.

    :math:`f(t) = y_0 t/x_0` for :math:`t < x_0`, else :math:`y_0 + s(t - x_0)`. The kink is kept away from 0.

    >>> curve = two_piece_linear(np.linspace(0, 1, 5))
    >>> np.round(curve(x0=0.5, y0=1.0, slope=0.0), 3).tolist()
    [0.0, 0.5, 1.0, 1.0, 1.0]
    """
    last = float(np.max(np.asarray(grid, dtype=float), initial=0.0)) or 1.0
    starts = {
        "x0": Parameter(0.5 * last, 0.01 * last, last),
        "y0": Parameter(0.5),
        "slope": Parameter(0.1),
    }
    return _built("two_piece_linear", grid, _two_pieces, starts, parameters)


def _two_pieces(t: Any, x0: Any, y0: Any, slope: Any) -> Any:
    return jnp.where(t < x0, y0 * t / x0, y0 + slope * (t - x0))


def exponential(grid: Any, **parameters: Parameter | float) -> Expert:
    r"""Growth or decay to an asymptote: :math:`f(t) = a + b\,e^{-kt}`, rate k > 0."""
    starts = {"asymptote": Parameter(0.1), "amplitude": Parameter(1.0), "rate": Parameter(1.0, 0.0)}
    return _built("exponential", grid, _exponential, starts, parameters)


def _exponential(t: Any, asymptote: Any, amplitude: Any, rate: Any) -> Any:
    return asymptote + amplitude * jnp.exp(-rate * t)


def power_law(grid: Any, **parameters: Parameter | float) -> Expert:
    r""":math:`f(t) = a\,t^p` at :math:`t > 0` (0 at t ≤ 0)."""
    starts = {"scale": Parameter(1.0), "exponent": Parameter(1.0, 0.0)}
    return _built("power_law", grid, _power_law, starts, parameters)


def _power_law(t: Any, scale: Any, exponent: Any) -> Any:
    return scale * jnp.where(t > 0, jnp.where(t > 0, t, 1.0) ** exponent, 0.0)


def sinusoid(grid: Any, **parameters: Parameter | float) -> Expert:
    r""":math:`f(t) = c + a \sin(2\pi f t + \varphi)`, amplitude and frequency above 0."""
    starts = {
        "offset": Parameter(0.0),
        "amplitude": Parameter(1.0, 0.0),
        "frequency": Parameter(1.0, 0.0),
        "phase": Parameter(0.1),
    }
    return _built("sinusoid", grid, _sinusoid, starts, parameters)


def _sinusoid(t: Any, offset: Any, amplitude: Any, frequency: Any, phase: Any) -> Any:
    return offset + amplitude * jnp.sin(2 * jnp.pi * frequency * t + phase)


def damped_oscillator(grid: Any, **parameters: Parameter | float) -> Expert:
    r""":math:`f(t) = a\,e^{-\lambda t}\cos(2\pi f t + \varphi)`: a pendulum in air."""
    starts = {
        "amplitude": Parameter(1.0, 0.0),
        "damping": Parameter(0.5, 0.0),
        "frequency": Parameter(1.0, 0.0),
        "phase": Parameter(0.1),
    }
    return _built("damped_oscillator", grid, _damped, starts, parameters)


def _damped(t: Any, amplitude: Any, damping: Any, frequency: Any, phase: Any) -> Any:
    return amplitude * jnp.exp(-damping * t) * jnp.cos(2 * jnp.pi * frequency * t + phase)


def michaelis_menten(grid: Any, **parameters: Parameter | float) -> Expert:
    r"""Saturation: :math:`f(t) = v\,t/(k + t)`, v and k above 0."""
    starts = {"maximum": Parameter(1.0, 0.0), "half": Parameter(0.5, 0.0)}
    return _built("michaelis_menten", grid, _michaelis_menten, starts, parameters)


def _michaelis_menten(t: Any, maximum: Any, half: Any) -> Any:
    return maximum * t / (half + t)


EXPERTS: dict[str, Callable[..., Expert]] = {
    build.__name__: build
    for build in (two_piece_linear, exponential, power_law, sinusoid, damped_oscillator, michaelis_menten)
}
