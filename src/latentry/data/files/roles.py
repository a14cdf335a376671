"""Which stored array plays which part."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from latentry.data.dataset import Dataset
from latentry.data.domain import Domain
from latentry.data.inputs import StoredRows
from latentry.errors import DataError, nearest

__all__ = ["GROUPS", "KEY", "TIME", "Roles", "from_arrays", "header", "to_arrays"]

KEY = "@latentry"  # the name under which a file says what its arrays are; no modality begins with @
_OBSERVED, _FACTOR, _DOMAIN, _ROWS = "@observed/", "@factor/", "@domain", "@rows"
GROUPS, TIME = "@groups", "@time"


@dataclass(frozen=True)
class Roles:
    """What the call says of a file: empty fields are left to the file."""

    domain: tuple[str, ...] = ()
    modalities: Mapping[str, tuple[str, ...]] | None = None  # modality -> columns; () takes an array whole
    factors: tuple[str, ...] = ()
    groups: str | None = None
    time: str | None = None

    @classmethod
    def of(
        cls,
        domain: str | Iterable[str] | None,
        modalities: Iterable[str] | Mapping[str, Iterable[str]] | None,
        factors: Iterable[str],
        groups: str | None = None,
        time: str | None = None,
    ) -> Roles:
        """Return the roles that the arguments of :func:`latentry.read` say.

        Args:
            domain: Name of an array or column, or several.
            modalities: Names of arrays, or of columns by modality.
            factors: Names of arrays or columns.
            groups: Name of an array or column.
            time: Name of an array or column.

        Returns:
            The roles.
        """
        names = (domain,) if isinstance(domain, str) else tuple(domain or ())
        chosen: dict[str, tuple[str, ...]] | None = None
        if isinstance(modalities, Mapping):
            chosen = {name: tuple(columns) for name, columns in modalities.items()}
        elif modalities is not None:
            chosen = dict.fromkeys(modalities, ())
        return cls(names, chosen, tuple(factors), groups, time)

    @property
    def named(self) -> dict[str, tuple[str, ...]]:
        """Return the names of what is no modality, by argument."""
        given = {"groups": self.groups, "time": self.time}
        alone = {argument: (name,) for argument, name in given.items() if name is not None}
        return {"domain": self.domain, "factors": self.factors, **alone}

    @property
    def taken(self) -> set[str]:
        """Return every name that is no modality."""
        return {name for names in self.named.values() for name in names}

    def only(self, default: str = "x") -> str:
        """Return the name of the single modality of a file that holds one.

        Args:
            default: Where the call does not name it.

        Returns:
            The name.

        Raises:
            DataError: If the call names several.
        """
        if self.modalities is None:
            return default
        if len(self.modalities) != 1:
            raise DataError(f"modalities={list(self.modalities)}: the file holds one modality. Name one.")
        return next(iter(self.modalities))

    def check(self, available: Iterable[str], kind: str = "array") -> None:
        """Check that every name that was given is there.

        Args:
            available: Names in the file.
            kind: What they name, for the message.

        Raises:
            DataError: By argument and name.
        """
        known = list(available)
        for argument, names in self.named.items():
            for name in names:
                if name not in known:
                    raise DataError(f"{argument}={name!r}: there is no such {kind}{nearest(name, known)}")


def header(data: Dataset) -> str:
    """Return what a file written by latentry says about itself.

    Args:
        data: The rows.

    Returns:
        JSON.
    """
    return json.dumps({"format": 1, "layout": data.layout.to_json(), "factors": list(data.factors)})


def to_arrays(data: Dataset) -> dict[str, StoredRows]:
    """Return a dataset as named arrays, header included.

    Args:
        data: The rows.

    Returns:
        Arrays in memory or on disk; the header is text without axes.
    """
    arrays: dict[str, StoredRows] = dict(data.values)
    for name, observed in data.observed.items():
        if not observed.all():
            arrays[_OBSERVED + name] = observed
    arrays |= {_FACTOR + name: factor for name, factor in data.factors.items()}
    if data.domain is not None:
        arrays[_DOMAIN] = data.domain.values
    arrays |= {name: part for name, part in ((GROUPS, data.groups), (TIME, data.time)) if part is not None}
    if data.rows is not None:
        arrays[_ROWS] = np.array(data.rows)
    arrays[KEY] = np.array(header(data))
    return arrays


def from_arrays(arrays: Mapping[str, StoredRows], roles: Roles) -> Dataset:
    """Return a dataset of named arrays: by their header if they have one, else by the roles.

    Args:
        arrays: In memory or on disk.
        roles: What the call said of them.

    Returns:
        The rows.

    Raises:
        DataError: By name, for arrays that are not there.
    """
    if KEY in arrays:
        return _chosen(_from_header(arrays, json.loads(str(np.asarray(arrays[KEY])[()]))), roles)
    roles.check(arrays)
    if roles.modalities is None:
        names = [name for name in arrays if name not in roles.taken]
    else:
        names = list(roles.modalities)
    for name in names:
        if name not in arrays:
            raise DataError(f"modalities={name!r}: there is no such array{nearest(name, arrays)}")
    if not names:
        raise DataError("modalities: no array is left to be one. Name fewer arrays as domain or factors.")
    return Dataset(
        {name: arrays[name] for name in names},
        _join([np.asarray(arrays[name]) for name in roles.domain]),
        groups=None if roles.groups is None else np.asarray(arrays[roles.groups]),
        time=None if roles.time is None else np.asarray(arrays[roles.time]),
        factors={name: np.asarray(arrays[name]) for name in roles.factors},
    )


def _from_header(arrays: Mapping[str, StoredRows], about: dict[str, Any]) -> Dataset:
    layout = about["layout"]
    labels = layout["domain_labels"]
    domain = None
    if layout["domain_size"]:
        domain = Domain(np.asarray(arrays[_DOMAIN]), None if labels is None else tuple(labels))
    return Dataset(
        {name: arrays[name] for name in layout["shapes"]},
        domain,
        groups=np.asarray(arrays[GROUPS]) if GROUPS in arrays else None,
        time=np.asarray(arrays[TIME]) if TIME in arrays else None,
        observed={
            name: np.asarray(arrays[_OBSERVED + name]) for name in layout["shapes"] if _OBSERVED + name in arrays
        },
        factors={name: np.asarray(arrays[_FACTOR + name]) for name in about["factors"]},
        rows=np.asarray(arrays[_ROWS]).tolist() if _ROWS in arrays else None,
        columns=layout["columns"],
    )


def _chosen(data: Dataset, roles: Roles) -> Dataset:
    """Return what a file says of itself, with what the call asks for on top."""
    if roles.modalities is not None:
        data = data.select(*roles.modalities)
    ours = roles.domain in ((), ("domain",), (_DOMAIN,))
    groups = None if roles.groups in ("groups", GROUPS) and data.groups is not None else roles.groups
    time = None if roles.time in ("time", TIME) and data.time is not None else roles.time
    asked = replace(roles, domain=() if ours else roles.domain, groups=groups, time=time)
    asked.check(["domain", *data.factors], "domain or factor")
    named = {"groups": groups, "time": time}
    data = data.with_groups(**{part: data.factors[name] for part, name in named.items() if name is not None})
    if ours:
        return data
    return data.with_domain(_join([data.factors[name] for name in roles.domain]))


def _join(columns: list[np.ndarray]) -> np.ndarray | None:
    if not columns:
        return None
    return columns[0] if len(columns) == 1 else np.column_stack([column.astype(float) for column in columns])
