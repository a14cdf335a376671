"""Fitting a model again with other parameters or rows, in turn or side by side, as restarts and refits of a certificate need it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, Self, TypeVar, final

from sklearn.base import clone

from latentry.data import Dataset
from latentry.errors import DataError

if TYPE_CHECKING:
    from latentry.training import EngineLike

__all__ = ["FitsVariants", "Variant", "Where", "fit_variants"]


@final
@dataclass(frozen=True)
class Variant:
    """A further fit of a model.

    Args:
        changes: Parameters that are others than the model's.
        rows: To be fitted.
        phrase: That is said before it is fitted.
    """

    changes: Mapping[str, object]
    rows: Dataset
    phrase: str = ""


@final
@dataclass(frozen=True)
class Where:
    """Where further fits are made.

    Args:
        executor: As :func:`latentry.fit_many` takes it; "here" makes them in turn, in this process.
        workers: Processes, where the engine is started for them.
        say: Called with the phrase of each fit: before it in turn, or with all of them at once before they are made side by side.
    """

    executor: EngineLike = "here"
    workers: int | None = None
    say: Callable[[str], None] | None = None

    def tell(self, variants: Sequence[Variant]) -> None:
        """Say the phrases of fits that begin now."""
        for variant in variants if self.say is not None else ():
            self.say(variant.phrase)  # type: ignore[misc]


class FitsVariants(ABC):
    """A model that can be fitted again in other processes."""

    @abstractmethod
    def fit_variants(self, variants: Sequence[Variant], where: Where) -> list[Self | DataError]:
        """Fit copies of the model; the model itself stays as it is.

        Args:
            variants: Parameters and rows of each.
            where: The engine.

        Returns:
            For each variant its fit, or the error of parameters or rows that cannot be used.

        Raises:
            KeyboardInterrupt: If a fit was interrupted.
        """


class _Fits(Protocol):
    def fit(self, X: Dataset) -> Self: ...


ModelT = TypeVar("ModelT")


def fit_variants(model: ModelT, variants: Sequence[Variant], where: Where) -> list[ModelT | DataError]:
    """Fit copies of a model; one that does not declare :class:`FitsVariants` is fitted in this process.

    Cost: a fit for each variant.

    Args:
        model: That has parameters as scikit-learn's have.
        variants: Parameters and rows of each.
        where: The engine.

    Returns:
        For each variant its fit, or the error of parameters or rows that cannot be used.

    Raises:
        DataError: If the model cannot be sent to another process.
        KeyboardInterrupt: If a fit was interrupted.
    """
    if isinstance(model, FitsVariants):
        fits: list[ModelT | DataError] = list(model.fit_variants(variants, where))
        return fits
    if where.executor != "here":
        kind = type(model).__name__
        raise DataError(
            f"executor={where.executor!r}: {kind} is no model of latentry, and is fitted in this process. Leave it out."
        )
    return [_fitted_here(model, variant, where) for variant in variants]


def _fitted_here(model: ModelT, variant: Variant, where: Where) -> ModelT | DataError:
    where.tell([variant])
    try:
        fitted: ModelT = clone(model).set_params(**variant.changes).fit(variant.rows)
    except DataError as problem:
        return problem
    return fitted
