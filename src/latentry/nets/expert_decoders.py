r"""Expert decoders: physics in place of a network, with parameters that have names, bounds and meanings.

An expert says what a modality looks like given its parameters: any function written in ``jax.numpy``, a simulator with
gradients included. Each parameter is a single number for all rows, or a number per cluster, or per value of a node.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import Array

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


Result = TypeVar("Result")


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


Number = Array | float | int
Grid = Sequence[float | int] | np.ndarray | Array
Value = Array | np.ndarray | np.generic | float | int  # what parameters are, and rows made of them
Setting = Parameter | tuple[float, ...]  # of a built-in expert: a parameter, or the grid


@dataclass(frozen=True)
class Expert:
    """A function of named parameters that gives a whole row of a modality.

    Args:
        function: ``function(**parameters)``, in ``jax.numpy``; returns the row in the data's own units.
        parameters: by name.
        made_by: The built-in expert and its settings, so that a file can name it; None for your own function.
    """

    function: Callable[..., Any]  # a user's: what it returns is checked when it is tried
    parameters: Mapping[str, Parameter]
    made_by: tuple[str, tuple[tuple[str, Setting], ...]] | None = field(default=None)

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

    def __reduce__(self) -> tuple[object, ...]:
        if self.made_by is None:
            return Expert, (self.function, dict(self.parameters))
        return _again, (self.made_by[0], dict(self.made_by[1]))

    def __deepcopy__(self, memo: object) -> Expert:
        return self

    @property
    def name(self) -> str:
        """Return what it is called."""
        return self.made_by[0] if self.made_by else getattr(self.function, "__name__", type(self.function).__name__)

    def to_json(self) -> dict[str, object]:
        """Return a built-in expert by name and settings: a file says which, never what to run."""
        assert self.made_by is not None
        name, settings = self.made_by
        plain = {key: _finite(vars(value)) if isinstance(value, Parameter) else list(value) for key, value in settings}
        return {"expert": name, "settings": plain}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Expert:
        """Build the expert that :meth:`to_json` wrote.

        Args:
            fields: As written: "expert" and "settings".

        Returns:
            The same expert.

        >>> curve = two_piece_linear([0.0, 0.5, 1.0], x0=Parameter(0.3, 0.1, 0.9, per="N1"))
        >>> Expert.from_json(curve.to_json()) == curve
        True
        """
        return _again(fields["expert"], fields["settings"])

    def __call__(self, **values: Value) -> Any:
        """Return the row for these values."""
        return self.function(**values)

    def checked(self, modality: str, shape: tuple[int, ...]) -> Expert:
        """Check that the expert can stand for rows of a shape: it runs, is finite, and changes with each parameter.

        Args:
            modality: Its name, for errors.
            shape: Of a row.

        Returns:
            The same expert.

        Raises:
            DataError: If a parameter, the returned shape or a derivative cannot be used; it says which.
        """
        where = f"experts[{modality!r}]={self.name}"
        for name, parameter in self.parameters.items():
            _check_parameter(where, name, parameter)
        start = {name: jnp.float32(p.start) for name, p in self.parameters.items()}
        row = self._try(where, start, lambda: self(**start))
        if jnp.shape(row) != shape:
            raise DataError(
                f"{where}: it returns shape {jnp.shape(row)}. Return a row of {modality!r}, of shape {shape}."
            )
        if not bool(jnp.isfinite(row).all()):
            raise DataError(
                f"{where}: it is not finite at its start. Choose another start, or guard the formula there."
            )
        gradients = self._try(where, start, lambda: jax.jacfwd(lambda v: self(**v))(start))
        for name, gradient in gradients.items():
            if not bool(jnp.isfinite(gradient).all()):
                raise DataError(
                    f"{where}: it is not differentiable in {name!r} at its start {self.parameters[name].start}, "
                    "the gradient is not finite. Choose another start, or guard the formula there."
                )
            if not bool(jnp.abs(gradient).max() > 0):
                raise DataError(
                    f"{where}: it does not change with {name!r} at its start. Leave the parameter out, or move it."
                )
        return self

    def _try(self, where: str, start: Mapping[str, Value], call: Callable[[], Result]) -> Result:
        try:
            inspect.signature(self.function).bind(**start)
        except TypeError as problem:
            raise DataError(f"{where}: {problem}. It must take the parameters {', '.join(start)} by name.") from None
        try:
            return call()
        except Exception as problem:
            first = str(problem).strip().splitlines()[0] if str(problem).strip() else type(problem).__name__
            raise DataError(
                f"{where}: it is not differentiable ({first}). Write it in jax.numpy, without float() or branches on values."
            ) from problem


def expert(function: Callable[..., Any], **parameters: Parameter | float) -> Expert:
    """Build an expert from a function of your own; a plain number is a start without bounds.

    Args:
        function: ``function(**parameters)``, in ``jax.numpy``; returns a row.
        parameters: By name.

    Returns:
        The expert.

    Raises:
        DataError: If there is no function, or no parameter.

    >>> t = jnp.linspace(0.0, 1.0, 5)
    >>> line = expert(lambda slope: slope * t, slope=Parameter(1.0, low=0.0))
    >>> line(slope=2.0).tolist()
    [0.0, 0.5, 1.0, 1.5, 2.0]
    """
    if not callable(function):
        raise DataError(f"function={function!r}: it cannot be called. Give a function written in jax.numpy.")
    if not parameters:
        raise DataError(
            "parameters={}: an expert needs some. Name at least one, such as slope=Parameter(1.0, low=0.0)."
        )
    given = {n: p if isinstance(p, Parameter) else Parameter(float(p)) for n, p in parameters.items()}
    return Expert(function, given)


def _check_parameter(where: str, name: str, parameter: Parameter) -> None:
    if not parameter.low < parameter.high:
        raise DataError(
            f"{where}: the bounds of {name!r} are {parameter.low} and {parameter.high}. Give low below high."
        )
    if not parameter.low < parameter.start < parameter.high:
        raise DataError(
            f"{where}: the start {parameter.start} of {name!r} is not inside its bounds "
            f"({parameter.low} to {parameter.high}). Move the start, or the bounds."
        )


# Built-in experts ---------------------------------------------------------------------------


def _built(
    name: str,
    grid: Grid,
    rule: Callable[..., Value],
    starts: Mapping[str, Parameter],
    changes: Mapping[str, Parameter | float],
) -> Expert:
    points = tuple(float(t) for t in np.ravel(np.asarray(grid, dtype=float)))
    if not points or not np.isfinite(points).all():
        raise DataError(
            f"grid={list(points)} of {name}: it is empty or not finite. "
            "Give the points at which the curve was measured, finite numbers."
        )
    chosen = dict(starts)
    for key, value in changes.items():
        if key not in starts:
            raise DataError(f"{key}={value!r}: {name} has no parameter {key!r}{nearest(key, starts)}")
        chosen[key] = _within(value if isinstance(value, Parameter) else Parameter(float(value)), starts[key])
    t = np.asarray(points, dtype=np.float32)
    settings: tuple[tuple[str, Setting], ...] = (("grid", points), *((key, chosen[key]) for key in sorted(changes)))
    return Expert(lambda **values: rule(t, **values), chosen, (name, settings))


def _within(given: Parameter, usual: Parameter) -> Parameter:
    """Return the parameter with the usual bounds where it has none of its own."""
    low = given.low if math.isfinite(given.low) else usual.low
    return replace(given, low=low, high=given.high if math.isfinite(given.high) else usual.high)


def _finite(fields: Mapping[str, str | float]) -> dict[str, str | float | None]:
    # JSON knows no infinity.
    return {k: None if isinstance(v, float) and math.isinf(v) else v for k, v in fields.items()}


def _parameter(fields: Mapping[str, Any]) -> Parameter:
    return Parameter(**{key: value for key, value in fields.items() if value is not None})


def _again(name: str, settings: Mapping[str, Any]) -> Expert:
    """Build a built-in expert from its name and settings, as files hold them."""
    if name not in EXPERTS:
        raise DataError(f"expert={name!r}: there is no built-in expert of that name{nearest(name, EXPERTS)}")
    given = {key: _parameter(value) if isinstance(value, Mapping) else value for key, value in settings.items()}
    return EXPERTS[name](**given)


def two_piece_linear(grid: Grid, **parameters: Parameter | float) -> Expert:
    r"""Build an elastic, then yielding curve: through (0, 0) and the kink (x0, y0), then on with another slope.

    :math:`f(t) = y_0 t/x_0` for :math:`t < x_0`, else :math:`y_0 + s(t - x_0)`. The kink is kept away from 0.

    Args:
        grid: Points at which the curve was measured.
        parameters: Starts, or parameters with bounds, in place of the usual ones.

    Returns:
        An expert for rows of the length of the grid.

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


def _two_pieces(t: np.ndarray, x0: Number, y0: Number, slope: Number) -> Value:
    return jnp.where(t < x0, y0 * t / x0, y0 + slope * (t - x0))


def exponential(grid: Grid, **parameters: Parameter | float) -> Expert:
    r"""Build growth or decay to an asymptote: :math:`f(t) = a + b\,e^{-kt}`, rate k > 0.

    Args:
        grid: Points at which the curve was measured.
        parameters: Starts, or parameters with bounds, in place of the usual ones.

    Returns:
        An expert for rows of the length of the grid.
    """
    starts = {"asymptote": Parameter(0.1), "amplitude": Parameter(1.0), "rate": Parameter(1.0, 0.0)}
    return _built("exponential", grid, _exponential, starts, parameters)


def _exponential(t: np.ndarray, asymptote: Number, amplitude: Number, rate: Number) -> Value:
    return asymptote + amplitude * jnp.exp(-rate * t)


def power_law(grid: Grid, **parameters: Parameter | float) -> Expert:
    r"""Build a power: :math:`f(t) = a\,t^p` at :math:`t > 0` (0 at t ≤ 0).

    Args:
        grid: Points at which the curve was measured.
        parameters: Starts, or parameters with bounds, in place of the usual ones.

    Returns:
        An expert for rows of the length of the grid.
    """
    starts = {"scale": Parameter(1.0), "exponent": Parameter(1.0, 0.0)}
    return _built("power_law", grid, _power_law, starts, parameters)


def _power_law(t: np.ndarray, scale: Number, exponent: Number) -> Value:
    return scale * jnp.where(t > 0, jnp.where(t > 0, t, 1.0) ** exponent, 0.0)


def sinusoid(grid: Grid, **parameters: Parameter | float) -> Expert:
    r"""Build an oscillation: :math:`f(t) = c + a \sin(2\pi f t + \varphi)`, amplitude and frequency above 0.

    Args:
        grid: Points at which the curve was measured.
        parameters: Starts, or parameters with bounds, in place of the usual ones.

    Returns:
        An expert for rows of the length of the grid.
    """
    starts = {
        "offset": Parameter(0.0),
        "amplitude": Parameter(1.0, 0.0),
        "frequency": Parameter(1.0, 0.0),
        "phase": Parameter(0.1),
    }
    return _built("sinusoid", grid, _sinusoid, starts, parameters)


def _sinusoid(t: np.ndarray, offset: Number, amplitude: Number, frequency: Number, phase: Number) -> Value:
    return offset + amplitude * jnp.sin(2 * jnp.pi * frequency * t + phase)


def damped_oscillator(grid: Grid, **parameters: Parameter | float) -> Expert:
    r"""Build a damped oscillation, a pendulum in air: :math:`f(t) = a\,e^{-\lambda t}\cos(2\pi f t + \varphi)`.

    Args:
        grid: Points at which the curve was measured.
        parameters: Starts, or parameters with bounds, in place of the usual ones.

    Returns:
        An expert for rows of the length of the grid.
    """
    starts = {
        "amplitude": Parameter(1.0, 0.0),
        "damping": Parameter(0.5, 0.0),
        "frequency": Parameter(1.0, 0.0),
        "phase": Parameter(0.1),
    }
    return _built("damped_oscillator", grid, _damped, starts, parameters)


def _damped(t: np.ndarray, amplitude: Number, damping: Number, frequency: Number, phase: Number) -> Value:
    return amplitude * jnp.exp(-damping * t) * jnp.cos(2 * jnp.pi * frequency * t + phase)


def michaelis_menten(grid: Grid, **parameters: Parameter | float) -> Expert:
    r"""Build a saturating curve: :math:`f(t) = v\,t/(k + t)`, v and k above 0.

    Args:
        grid: Points at which the curve was measured.
        parameters: Starts, or parameters with bounds, in place of the usual ones.

    Returns:
        An expert for rows of the length of the grid.
    """
    starts = {"maximum": Parameter(1.0, 0.0), "half": Parameter(0.5, 0.0)}
    return _built("michaelis_menten", grid, _michaelis_menten, starts, parameters)


def _michaelis_menten(t: np.ndarray, maximum: Number, half: Number) -> Value:
    return maximum * t / (half + t)


EXPERTS: dict[str, Callable[..., Expert]] = {
    build.__name__: build
    for build in (two_piece_linear, exponential, power_law, sinusoid, damped_oscillator, michaelis_menten)
}
