"""Which stored array plays which part."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from latentry.data.dataset import Dataset
from latentry.data.domain import Domain
from latentry.errors import DataError, nearest

__all__ = ["Roles", "from_arrays", "header", "to_arrays"]

KEY = "@latentry"  # the name under which a file says what its arrays are; no modality begins with @
_OBSERVED, _FACTOR, _DOMAIN, _ROWS = "@observed/", "@factor/", "@domain", "@rows"


@dataclass(frozen=True)
class Roles:
    """What the reader was told: empty fields are left to the file."""

    domain: tuple[str, ...] = ()
    modalities: Mapping[str, tuple[str, ...]] | None = None  # modality -> columns; () takes an array whole
    factors: tuple[str, ...] = ()

    @classmethod
    def of(cls, domain: Any, modalities: Any, factors: Iterable[str]) -> Roles:
        """From the arguments of :func:`latentry.read`."""
        names = (domain,) if isinstance(domain, str) else tuple(domain or ())
        if modalities is not None and not isinstance(modalities, Mapping):
            modalities = dict.fromkeys(modalities, ())
        chosen = None if modalities is None else {name: tuple(columns) for name, columns in modalities.items()}
        return cls(names, chosen, tuple(factors))

    def only(self, default: str = "x") -> str:
        """The name of the single modality of a file that holds one."""
        if self.modalities is None:
            return default
        if len(self.modalities) != 1:
            raise DataError(f"the file holds one modality, but {', '.join(self.modalities)} were asked for.")
        return next(iter(self.modalities))

    def check(self, available: Iterable[str], kind: str = "array") -> None:
        """Every name that was given must be there."""
        known = list(available)
        for argument, names in (("domain", self.domain), ("factors", self.factors)):
            for name in names:
                if name not in known:
                    raise DataError(f"{argument} names {kind} {name!r}, which is not there{nearest(name, known)}")


def header(data: Dataset) -> str:
    """What a file written by latentry says about itself."""
    return json.dumps({"format": 1, "layout": data.layout.to_json(), "factors": list(data.factors)})


def to_arrays(data: Dataset) -> dict[str, np.ndarray]:
    """A dataset as named arrays, header included."""
    arrays: dict[str, Any] = dict(data.values)
    for name, observed in data.observed.items():
        if not observed.all():
            arrays[_OBSERVED + name] = observed
    arrays |= {_FACTOR + name: factor for name, factor in data.factors.items()}
    if data.domain is not None:
        arrays[_DOMAIN] = data.domain.values
    if data.rows is not None:
        arrays[_ROWS] = np.array(data.rows)
    arrays[KEY] = np.array(header(data))
    return arrays


def from_arrays(arrays: Mapping[str, Any], roles: Roles) -> Dataset:
    """A dataset from named arrays: by their header if they have one, else by the roles."""
    if KEY in arrays:
        return _chosen(_from_header(arrays, json.loads(str(np.asarray(arrays[KEY])[()]))), roles)
    roles.check(arrays)
    taken = set(roles.domain) | set(roles.factors)
    if roles.modalities is None:
        names = [name for name in arrays if name not in taken]
    else:
        names = list(roles.modalities)
    for name in names:
        if name not in arrays:
            raise DataError(f"modalities names array {name!r}, which is not there{nearest(name, arrays)}")
    if not names:
        raise DataError("no array is left to be a modality.")
    return Dataset(
        {name: arrays[name] for name in names},
        _join([np.asarray(arrays[name]) for name in roles.domain]),
        factors={name: np.asarray(arrays[name]) for name in roles.factors},
    )


def _from_header(arrays: Mapping[str, Any], about: dict[str, Any]) -> Dataset:
    layout = about["layout"]
    labels = layout["domain_labels"]
    domain = None
    if layout["domain_size"]:
        domain = Domain(np.asarray(arrays[_DOMAIN]), None if labels is None else tuple(labels))
    return Dataset(
        {name: arrays[name] for name in layout["shapes"]},
        domain,
        observed={
            name: np.asarray(arrays[_OBSERVED + name]) for name in layout["shapes"] if _OBSERVED + name in arrays
        },
        factors={name: np.asarray(arrays[_FACTOR + name]) for name in about["factors"]},
        rows=np.asarray(arrays[_ROWS]).tolist() if _ROWS in arrays else None,
        columns=layout["columns"],
    )


def _chosen(data: Dataset, roles: Roles) -> Dataset:
    """A file that says its own roles, with what the call asks for on top."""
    if roles.modalities is not None:
        data = data.select(*roles.modalities)
    ours = roles.domain in ((), ("domain",), (_DOMAIN,))
    (Roles(factors=roles.factors) if ours else roles).check(["domain", *data.factors], "domain or factor")
    if ours:
        return data
    return data.with_domain(_join([data.factors[name] for name in roles.domain]))


def _join(columns: list[np.ndarray]) -> Any:
    if not columns:
        return None
    return columns[0] if len(columns) == 1 else np.column_stack([column.astype(float) for column in columns])
