"""Groups of parameters that few users touch: immutable, and known to get_params, set_params and clone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from typing import ClassVar, Self, TypedDict

import jax
import optax

from latentry.models.estimator.constraints import NameOrFunction, Real, Rule, Whole, refuse
from latentry.models.estimator.hints import unknown_parameter
from latentry.training import SCHEDULES

__all__ = ["Rates", "Schedule", "Settings", "Training", "refuse_beta"]

Schedule = str | Callable[[jax.Array], jax.Array]


class Rates(TypedDict, total=False):
    """How a phase descends its loss: arguments of :class:`latentry.training.Phase`."""

    schedule: Schedule
    clip: float | None
    patience: int | None
    direction: Callable[[], optax.GradientTransformation]


class Settings:
    """A frozen dataclass of parameters, held by a model as one of its own: ``model.set_params(training__clip=1)``."""

    constraints: ClassVar[Mapping[str, Rule]]

    def __new__(cls, *values: object, **params: object) -> Self:
        """Refuse a setting that there is not, with the name of the one that may be meant."""
        known = [part.name for part in fields(cls)]  # type: ignore[arg-type]
        for name in params:
            if name not in known:
                raise unknown_parameter(cls.__name__, name, known, {})
        return super().__new__(cls)

    def get_params(self, deep: bool = True) -> dict[str, object]:  # noqa: FBT002 (scikit-learn's signature)
        """Return the parameters by name, as scikit-learn asks for them.

        Args:
            deep: Not used.

        Returns:
            Values by name.
        """
        return {part.name: getattr(self, part.name) for part in fields(self)}  # type: ignore[arg-type]

    def __call__(self, **changes: object) -> Self:
        """Return the same settings with some of them changed: ``model.training(clip=None)``."""
        return replace(self, **changes)  # type: ignore[type-var]


@dataclass(frozen=True)
class Training(Settings):
    """How a loss is descended.

    Args:
        schedule: "constant", "cosine", "warmup", or an Optax schedule.
        clip: Largest norm of the gradient, or None.
        patience: Epochs without a better held-out loss before training ends; None for never.
        beta: Weight of the divergence in an evidence lower bound (Higgins et al., *beta-VAE*, 2017); 1 is the bound itself.
    """

    schedule: Schedule = "cosine"
    clip: float | None = 5.0
    patience: int | None = 20
    beta: float = 1.0

    constraints: ClassVar[Mapping[str, Rule]] = {
        "schedule": NameOrFunction("a schedule", "an Optax schedule", SCHEDULES),
        "clip": Real(above=0, none=True),
        "patience": Whole(1, none=True),
        "beta": Real(least=0),
    }

    @property
    def rates(self) -> Rates:
        """Return schedule, clip and patience, as a :class:`latentry.training.Phase` takes them."""
        return {"schedule": self.schedule, "clip": self.clip, "patience": self.patience}


def refuse_beta(training: Training, loss: str) -> None:
    """Refuse to weigh the divergence of a loss that has none.

    Args:
        training: Of the fit.
        loss: What is descended instead of a bound.

    Raises:
        DataError: If beta is not 1.
    """
    if training.beta != 1:
        problem = f"it weighs the divergence of an evidence lower bound, and {loss} has none. Leave it at 1."
        raise refuse("training__beta", training.beta, problem)
