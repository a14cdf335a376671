"""What models inherit from scikit-learn, with types, which it does not publish."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import sklearn.base
from sklearn.utils import Tags

if TYPE_CHECKING:
    from typing import Self

    class TransformerMixin:  # noqa: D101
        pass

    class BaseEstimator:  # noqa: D101
        def get_params(self, deep: bool = True) -> dict[str, object]: ...  # noqa: D102, FBT002

        def set_params(self, **params: object) -> Self: ...  # noqa: D102

        def __sklearn_tags__(self) -> Tags: ...

else:
    from sklearn.base import BaseEstimator, TransformerMixin


__all__ = ["BaseEstimator", "Tags", "TransformerMixin", "clone", "output_format"]

Model = TypeVar("Model", bound=BaseEstimator)


def clone(model: Model) -> Model:
    """Return an unfitted model with the same parameters.

    Cost: constant.

    Args:
        model: Fitted or not.

    Returns:
        Another model of the same class.
    """
    copy: Model = sklearn.base.clone(model)
    return copy


def output_format(model: BaseEstimator) -> str:
    """Return what ``set_output`` asks for, of this model or of all.

    Args:
        model: Any.

    Returns:
        "default", "pandas" or "polars".
    """
    own: dict[str, str] = vars(model).get("_sklearn_output_config", {})
    return own.get("transform", str(sklearn.get_config()["transform_output"]))
