"""What a process must know to make one fit: a model, rows in a file, and a folder."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, final

from latentry.errors import DataError
from latentry.models.estimator import AnyModel
from latentry.models.estimator.saving import parameters_of, restored_parameters
from latentry.models.registry import model_class

__all__ = ["Instructions", "refuse_own"]


@final
@dataclass(frozen=True)
class Instructions:
    """One fit, in plain data.

    Args:
        model: Its name.
        parameters: Of the model, as a manifest holds them.
        rows: File of the data.
        roles: How the file is read: arguments of :func:`latentry.read`.
        aside: Fraction of the rows that the fit does not see, and is scored on; 0 for none.
        split: Seed of that split: the same for all fits that are compared.
        folder: Where the fit is kept.
    """

    model: str
    parameters: Mapping[str, Any]
    rows: str
    roles: Mapping[str, Any]
    aside: float
    split: int
    folder: str

    @classmethod
    def of(
        cls,
        model: AnyModel,
        rows: str,
        folder: str,
        *,
        roles: Mapping[str, Any] | None = None,
        aside: float = 0.0,
        split: int = 0,
    ) -> Instructions:
        """Describe a fit of a model.

        Args:
            model: With its parameters; it is not fitted here.
            rows: File of the data.
            folder: Where the fit is kept.
            roles: How the file is read.
            aside: Fraction of the rows that the fit does not see.
            split: Seed of that split.

        Returns:
            The instructions.

        Raises:
            DataError: If a parameter is a function of the user's own, which no text can hold.
        """
        refuse_own(model)
        parameters = parameters_of(model.set_params(progress=False))
        return cls(model.name, parameters, rows, dict(roles or {}), aside, split, folder)

    @classmethod
    def from_text(cls, text: str) -> Instructions:
        """Read what :attr:`text` wrote."""
        return cls(**json.loads(text))

    @property
    def text(self) -> str:
        """Return the instructions as text."""
        return json.dumps(asdict(self), sort_keys=True)

    @property
    def mark(self) -> str:
        """Return a checksum of what decides the result: everything but the folders that hold rows and run."""
        decisive = {**asdict(self), "rows": Path(self.rows).name, "folder": ""}
        return hashlib.sha256(json.dumps(decisive, sort_keys=True).encode()).hexdigest()[:16]

    def build(self) -> AnyModel:
        """Return the model, not fitted."""
        return model_class(self.model)().set_params(**restored_parameters(self.folder, self.parameters, {}))


def refuse_own(model: AnyModel) -> None:
    """Refuse a model that no text can hold.

    Cost: constant.

    Args:
        model: With its parameters.

    Raises:
        DataError: If a parameter is a function of the user's own; it is named.
    """
    stored = parameters_of(model).items()
    own = [name for name, value in stored if isinstance(value, dict) and "own" in value]
    if own:
        raise DataError(
            f"{own[0]}: is a function or module of your own, which cannot be sent to another process. Use one that has a name, "
            "or fit this model by itself."
        )
