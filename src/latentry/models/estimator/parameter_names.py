"""Names of parameters that a model does not have: refused, with what was meant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from latentry.errors import DataError, nearest
from latentry.models.estimator.hints import unknown_parameter
from latentry.models.estimator.scikit_learn import BaseEstimator
from latentry.models.estimator.settings import Settings

__all__ = ["check_names", "no_such_parameter"]


def check_names(model: BaseEstimator, names: Iterable[str]) -> None:
    """Check that a model has parameters of these names, those of settings as ``training__clip``.

    Args:
        model: Any.
        names: Of parameters.

    Raises:
        DataError: For the first that there is not, with the nearest that there is.
    """
    known = model.get_params()
    for name in names:
        if "__" in name and name not in known:
            raise DataError(f"{name}: {type(model).__name__} has no such parameter{nearest(name, known)}")
        if name not in known:
            raise no_such_parameter(type(model).__name__, name, model.get_params(deep=False))


def no_such_parameter(owner: str, name: str, params: Mapping[str, object]) -> DataError:
    """Return the error of a parameter that there is not.

    Args:
        owner: Class of the model.
        name: That was given.
        params: Those that there are, with settings among them.

    Returns:
        The error, to be raised.
    """
    groups = {group: value for group, value in params.items() if isinstance(value, Settings)}
    parts = [f"{group}__{part}" for group, value in groups.items() for part in value.get_params()]
    return unknown_parameter(owner, name, [*params, *parts], {g: type(value).__name__ for g, value in groups.items()})
