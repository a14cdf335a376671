"""Which stored array plays which part."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from latentry.data.cells import row_names
from latentry.data.columns import Coding
from latentry.data.dataset import Dataset
from latentry.data.domain import Domain
from latentry.data.files.checksums import require_seal
from latentry.data.inputs import StoredRows
from latentry.data.layout import LAYOUT
from latentry.errors import DataError, nearest
from latentry.json_forms import JsonForm

__all__ = ["GROUPS", "KEY", "TIME", "Roles", "about_of", "from_arrays", "header", "to_arrays"]

KEY = "@latentry"  # the name under which a file says what its arrays are; no modality begins with @
_OBSERVED, _FACTOR, _DOMAIN, _ROWS = "@observed/", "@factor/", "@domain", "@rows"
GROUPS, TIME = "@groups", "@time"
_PARTS = {
    "domain": "the domain",
    "groups": "groups of rows that depend on each other",
    "time": "the time",
    "ids": "names the rows",
    "factors": "a factor: a true latent",
    "drop": "left out",
}


_MARK = {"type": "string", "pattern": "[0-9a-f]{64}"}
_HEADER = JsonForm(
    {
        "type": "object",
        "required": ["format", "layout", "factors"],
        "properties": {
            "format": {"type": "integer", "enum": [1]},
            "layout": LAYOUT,
            "factors": {"type": "array", "items": {"type": "string"}},
            "content": _MARK,  # of all arrays, where they are read at once
            "files": {"type": "object", "additionalProperties": _MARK},  # of what says how arrays are stored
            "checksum": _MARK,  # of the header itself
        },
    },
    "Restore the file from a copy, or write it again.",
)


@dataclass(frozen=True)
class Roles:
    """What the call says of a file: empty fields are left to the file."""

    domain: tuple[str, ...] = ()
    modalities: Mapping[str, tuple[str, ...]] | None = None  # modality -> columns; () takes an array whole
    factors: tuple[str, ...] = ()
    groups: str | None = None
    time: str | None = None
    ids: str | None = None
    categories: tuple[str, ...] = ()  # columns of a table that hold labels, also where these are numbers
    drop: tuple[str, ...] = ()  # arrays or columns that are left out
    coding: Mapping[str, tuple[Coding, ...]] | None = None  # of a fit, for columns that it knows

    @classmethod
    def of(
        cls,
        domain: str | Iterable[str] | None = None,
        modalities: str | Iterable[str] | Mapping[str, str | Iterable[str]] | None = None,
        factors: str | Iterable[str] = (),
        groups: str | None = None,
        time: str | None = None,
        ids: str | None = None,
        categories: str | Iterable[str] = (),
        drop: str | Iterable[str] = (),
        coding: Mapping[str, Sequence[Coding]] | None = None,
    ) -> Roles:
        """Return the roles that the arguments of :func:`latentry.read` say.

        Args:
            domain: Name of an array or column, or several.
            modalities: Names of arrays, or of columns by modality.
            factors: Names of arrays or columns.
            groups: Name of an array or column.
            time: Name of an array or column.
            ids: Name of an array or column.
            categories: Names of columns.
            drop: Names of arrays or columns.
            coding: How columns of a modality became numbers in a fit.

        Returns:
            The roles.
        """
        chosen: dict[str, tuple[str, ...]] | None = None
        if isinstance(modalities, Mapping):
            chosen = {name: _names(columns) for name, columns in modalities.items()}
        elif modalities is not None:
            chosen = dict.fromkeys(_names(modalities), ())
        rules = None if coding is None else {name: tuple(used) for name, used in coding.items()}
        return cls(_names(domain), chosen, _names(factors), groups, time, ids, _names(categories), _names(drop), rules)

    @property
    def named(self) -> dict[str, tuple[str, ...]]:
        """Return the names of what is no modality, by argument."""
        given = {"groups": self.groups, "time": self.time, "ids": self.ids}
        alone = {argument: (name,) for argument, name in given.items() if name is not None}
        return {"domain": self.domain, "factors": self.factors, **alone, "drop": self.drop}

    @property
    def taken(self) -> set[str]:
        """Return every name that is no modality."""
        return {name for names in self.named.values() for name in names}

    def part(self, name: str) -> str | None:
        """Say which part the call gives a column, apart from being data.

        Args:
            name: Of the column.

        Returns:
            Words; None where it is data, or would be.
        """
        part = next((_PARTS[argument] for argument, names in self.named.items() if name in names), None)
        if part is not None or self.modalities is None or not any(self.modalities.values()):
            return part
        within = any(name in columns for columns in self.modalities.values())
        return None if within else "left out: no --modality names it"

    def levels(self, name: str) -> frozenset[str]:
        """Return the values that a fit knows of a column of labels.

        Args:
            name: Of the column, in the file.

        Returns:
            Texts; none where no fit is recalled.
        """
        prefix, column = name.split(":", 1) if ":" in name else ("", name)
        rules = [rule for part, known in (self.coding or {}).items() if prefix in ("", part) for rule in known]
        return frozenset(str(level).strip() for rule in rules if rule.column == column for level in rule.levels)

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
        for argument, names in {**self.named, "categories": self.categories}.items():
            for name in names:
                if name not in known:
                    raise DataError(f"{argument}={name!r}: there is no such {kind}{nearest(name, known)}")


def _names(given: str | Iterable[str] | None) -> tuple[str, ...]:
    return (given,) if isinstance(given, str) else tuple(given or ())


def header(data: Dataset) -> str:
    """Return what a file written by latentry says about itself.

    Args:
        data: The rows.

    Returns:
        JSON.
    """
    return json.dumps({"format": 1, "layout": data.layout.to_json(), "factors": list(data.factors)})


def about_of(stored: StoredRows) -> dict[str, Any]:
    """Return what a file says of itself, if it is of the form that we write and was not changed.

    Args:
        stored: Its header, as an array of one text.

    Returns:
        Plain data.

    Raises:
        DataError: By the place in the header.
    """
    values = np.asarray(stored)
    if values.size != 1:
        raise DataError(f"array {KEY!r}: it is no single text. Restore the file from a copy, or write it again.")
    about: dict[str, Any] = _HEADER.parse(str(values.reshape(-1)[0]), KEY)
    require_seal(about)
    return about


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
        return _chosen(_from_header(arrays, about_of(arrays[KEY])), roles)
    for name in arrays:
        if name.startswith("@"):
            raise DataError(
                f"array {name!r}: names that begin with @ are latentry's own, but {KEY}, which says what they are, is not there. "
                "Restore the file from a copy, or write it again."
            )
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
        rows=None if roles.ids is None else row_names(np.asarray(arrays[roles.ids])),
        coding=None if roles.coding is None else {},
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
        coding={name: [Coding.from_json(rule) for rule in rules] for name, rules in layout.get("coding", {}).items()},
    )


def _chosen(data: Dataset, roles: Roles) -> Dataset:
    """Return what a file says of itself, with what the call asks for on top."""
    if roles.modalities is not None:
        data = data.regrouped(roles.modalities)
    data = _without(data, roles.drop)
    ours = roles.domain in ((), ("domain",), (_DOMAIN,))
    groups = None if roles.groups in ("groups", GROUPS) and data.groups is not None else roles.groups
    time = None if roles.time in ("time", TIME) and data.time is not None else roles.time
    asked = replace(roles, domain=() if ours else roles.domain, groups=groups, time=time, drop=())
    asked.check(["domain", *data.factors], "domain or factor")
    if roles.ids is not None:
        data = data.with_rows(row_names(data.factors[roles.ids]))
    named = {"groups": groups, "time": time}
    data = data.with_groups(**{part: data.factors[name] for part, name in named.items() if name is not None})
    if ours:
        return data
    return data.with_domain(_join([data.factors[name] for name in roles.domain]))


def _without(data: Dataset, drop: tuple[str, ...]) -> Dataset:
    """Return the data without some modalities, or columns of them."""
    sources = data.layout.sources
    known = [*data.names, *(column for columns in sources.values() for column in columns)]
    for name in drop:
        if name not in known:
            raise DataError(f"drop={name!r}: there is no such modality or column{nearest(name, known)}")
    left = {name: [c for c in sources[name] if c not in drop] for name in data.names if name not in drop}
    if not drop:
        return data
    return data.regrouped({name: [] if len(kept) == len(sources[name]) else kept for name, kept in left.items()})


def _join(columns: list[np.ndarray]) -> np.ndarray | None:
    if not columns:
        return None
    return columns[0] if len(columns) == 1 else np.column_stack([column.astype(float) for column in columns])
