"""The immutable Dataset: what was measured, where, and what is missing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from functools import cached_property
from pathlib import Path
from types import EllipsisType, MappingProxyType
from typing import TypeAlias, TypeVar, cast, overload

import numpy as np
from numpy.typing import ArrayLike

from latentry.data.describe import describe
from latentry.data.domain import Domain, DomainLike
from latentry.data.frames import aligned, in_order, reordered_mask
from latentry.data.inputs import LabelsLike, RowIndex, RowsLike, StoredRows
from latentry.data.layout import Layout
from latentry.data.lazy_rows import TakenRows, blocks, is_lazy
from latentry.data.modality import Modality, read_modality
from latentry.data.numbering import OBSERVATION, Numbering
from latentry.data.row_choice import chosen_rows
from latentry.data.row_dependence import group_labels, time_blocks, time_values
from latentry.data.split import split_rows
from latentry.data.standardiser import StandardisedRows, Standardiser
from latentry.errors import DataError, nearest
from latentry.streams import stream

__all__ = ["DataLike", "Dataset"]

_PARTS = (
    "observed",
    "domain",
    "groups",
    "time",
    "factors",
    "rows",
    "columns",
    "numbering",
)  # all that a dataset holds besides its values
_Counted = TypeVar("_Counted", bound=Sized)
_Given = TypeVar("_Given")


class Dataset:
    """Rows measured in one or more modalities, possibly in several domains, possibly with holes.

    Args:
        modalities: An array of rows, or a mapping from name to array; anything with a row axis first.
            ``None`` entries and all-NaN rows are missing. Memory maps and zarr arrays stay on disk.
        domain: One label per row (integers, strings), or float columns for a continuous auxiliary variable.
        groups: One label per row, where rows come in groups that depend on each other: subjects, plates, batches.
        time: One moment per row, where rows that are near in time depend on each other: numbers or dates.
        observed: For a modality, booleans that are False where the row is missing.
        factors: True latent values, when known: name to one value (or row of values) per row.
        rows: Names of the rows.
        columns: For a modality, the names of its features.

    Arrays are not copied: a dataset cannot be changed through itself, but do not change the arrays it was made of.

    >>> import numpy as np
    >>> data = Dataset({"curve": np.ones((4, 30)), "table": [[1, 2], None, [3, 4], [5, 6]]}, domain=["a", "a", "b", "b"])
    >>> len(data), data.names, data.observed["table"].tolist()
    (4, ('curve', 'table'), [True, False, True, True])
    """

    def __init__(
        self,
        modalities: RowsLike | Mapping[str, RowsLike],
        domain: DomainLike | None = None,
        *,
        groups: LabelsLike | None = None,
        time: ArrayLike | None = None,
        observed: Mapping[str, ArrayLike] | None = None,
        factors: Mapping[str, ArrayLike] | None = None,
        rows: Iterable[str] | None = None,
        columns: Mapping[str, Iterable[str]] | None = None,
    ) -> None:
        named = _by_name(modalities)
        _check_names(named)
        given = dict(named)
        beside = {"domain": domain, "groups": groups, "time": time}
        truths = {f"factor {name!r}": factor for name, factor in (factors or {}).items()}
        parts, labelled = aligned({**{f"modality {n!r}": raw for n, raw in named.items()}, **beside, **truths})
        named = {name: parts[f"modality {name!r}"] for name in named}
        factors = {name: parts[f"factor {name!r}"] for name in factors or {}}
        masks = {n: reordered_mask(n, mask, given.get(n), named.get(n)) for n, mask in (observed or {}).items()}
        labels = {name: tuple(map(str, given)) for name, given in (columns or {}).items()}
        _known("observed", masks, named)
        _known("columns", labels, named)
        parsed = {str(n): read_modality(str(n), raw, masks.get(n), labels.get(n)) for n, raw in named.items()}
        self._set(parsed, parts["domain"], parts["groups"], parts["time"], factors, labelled if rows is None else rows)

    def _set(
        self,
        parsed: dict[str, Modality],
        domain: DomainLike | None,
        groups: LabelsLike | None,
        time: ArrayLike | None,
        factors: Mapping[str, ArrayLike] | None,
        rows: Iterable[str] | None,
    ) -> None:
        count = _common_rows(parsed)
        _some_modality_everywhere(parsed)
        names = {name: part.columns for name, part in parsed.items() if part.columns is not None}
        fields = {
            "values": MappingProxyType({name: _frozen(part.values) for name, part in parsed.items()}),
            "observed": MappingProxyType({name: _frozen(part.observed) for name, part in parsed.items()}),
            "domain": None if domain is None else _rows_match("domain", Domain.of(domain), count),
            "groups": None if groups is None else _read_only(group_labels(groups, count)),
            "time": None if time is None else _read_only(time_values(time, count)),
            "factors": MappingProxyType({str(k): _factor(k, v, count) for k, v in (factors or {}).items()}),
            "rows": None if rows is None else _rows_match("rows", tuple(map(str, rows)), count),
            "columns": MappingProxyType(names),
            "numbering": None,
        }
        for field, value in fields.items():
            object.__setattr__(self, field, value)

    values: Mapping[str, StoredRows]
    observed: Mapping[str, np.ndarray]
    domain: Domain | None
    groups: np.ndarray | None  # a label for each row
    time: np.ndarray | None  # a number for each row
    factors: Mapping[str, np.ndarray]
    rows: tuple[str, ...] | None
    columns: Mapping[str, tuple[str, ...]]
    numbering: Numbering | None  # whole numbers that batches carry, where a model asks for them

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name}: a Dataset does not change. Make a new one.")

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the modalities."""
        return tuple(self.values)

    @overload
    def __getitem__(self, key: str) -> StoredRows: ...
    @overload
    def __getitem__(self, key: RowIndex | Sequence[int] | tuple[RowIndex, EllipsisType]) -> Dataset: ...
    def __getitem__(self, key: str | RowIndex | Sequence[int] | tuple[RowIndex, EllipsisType]) -> StoredRows | Dataset:
        """Return a modality by its name, or chosen rows as a dataset, as NumPy and scikit-learn ask for them.

        >>> import numpy as np
        >>> data = Dataset({"table": np.arange(8.0).reshape(4, 2)})
        >>> data["table"].shape, len(data[1:]), data[[2, 0]]["table"][:, 0].tolist()
        ((4, 2), 3, [4.0, 0.0])
        """
        if not isinstance(key, str):
            rows = key[0] if isinstance(key, tuple) and key[1:] == (...,) else key
            return self.take(chosen_rows(rows, len(self)))
        if key not in self.values:
            raise DataError(f"data[{key!r}]: there is no such modality{nearest(key, self.values)}")
        return self.values[key]

    def __contains__(self, name: object) -> bool:
        return name in self.values

    @property
    def shape(self) -> tuple[int, int]:
        """Return the number of rows, and of the numbers in each."""
        return len(self), self.layout.size

    def __len__(self) -> int:
        return len(next(iter(self.observed.values())))

    @property
    def is_lazy(self) -> bool:
        """Return whether some modality stays on disk."""
        return any(is_lazy(array) for array in self.values.values())

    @property
    def layout(self) -> Layout:
        """Return shapes, feature names and domain labels."""
        return Layout(
            shapes=tuple((name, tuple(array.shape[1:])) for name, array in self.values.items()),
            columns=tuple(self.columns.items()),
            domain_labels=None if self.domain is None else self.domain.labels,
            domain_size=0 if self.domain is None else self.domain.size,
        )

    def shuffled(self, seed: int = 0) -> Dataset:
        """Return the rows in random order: for independent rows whose file was sorted, say by species.

        Order is all that shows whether rows depend on each other. Rows of one subject, or of a series in time, must not be
        shuffled: name them in `groups` or `time` instead.

        >>> rows = Dataset(np.arange(40.0)[:, None]).shuffled(seed=1)["x"].ravel().tolist()
        >>> rows == sorted(rows), set(rows) == set(range(40))
        (False, True)

        Args:
            seed: Of the order.

        Returns:
            A dataset of the same rows.
        """
        return self.take(stream("data/shuffled", seed).permutation(len(self)))

    def take(self, rows: ArrayLike) -> Dataset:
        """Return chosen rows; arrays on disk stay there.

        Args:
            rows: Numbers of rows, or a boolean for each.

        Returns:
            A dataset of these rows, in this order.

        Raises:
            DataError: If no row is chosen.
        """
        chosen = np.arange(len(self))[np.asarray(rows)]
        if chosen.size == 0:
            raise DataError(
                f"rows of shape {np.shape(rows)}: no row was chosen. Give numbers of rows, or booleans with a True."
            )
        return self._with(
            {name: TakenRows(a, chosen) if is_lazy(a) else np.asarray(a)[chosen] for name, a in self.values.items()},
            observed={name: mask[chosen] for name, mask in self.observed.items()},
            domain=None if self.domain is None else self.domain.take(chosen),
            groups=None if self.groups is None else self.groups[chosen],
            time=None if self.time is None else self.time[chosen],
            factors={name: factor[chosen] for name, factor in self.factors.items()},
            rows=None if self.rows is None else tuple(self.rows[i] for i in chosen),
            numbering=None if self.numbering is None else self.numbering.take(chosen),
        )

    def numbered(self, experiments: ArrayLike | None = None) -> Dataset:
        """Return the same rows, each with its number and that of its experiment, which batches then carry.

        Args:
            experiments: A whole number for each row; -1, by default, where nothing was set.

        Returns:
            A dataset with a numbering.

        >>> import numpy as np
        >>> Dataset(np.zeros((4, 1))).numbered().take([3, 1]).numbering.rows
        array([3, 1], dtype=int32)
        """
        given = np.full(len(self), OBSERVATION) if experiments is None else np.asarray(experiments)
        codes = _rows_match("experiments", given.astype(np.int32), len(self))
        return self._with(self.values, numbering=Numbering(np.arange(len(self), dtype=np.int32), codes))

    def split(self, *fractions: float, seed: int = 0, group: LabelsLike | None = None) -> tuple[Dataset, ...]:
        """Return disjoint parts in the given proportions, stratified by domain; rows that depend on each other stay together.

        Args:
            fractions: Of the rows, one for each part; they sum to at most 1.
            seed: Of the draws.
            group: A label for each row, whose rows stay together; by default the units of the data.

        Returns:
            One dataset for each fraction.

        >>> import numpy as np
        >>> train, held_out = Dataset(np.zeros((100, 2)), domain=[0, 1] * 50).split(0.8, 0.2)
        >>> len(train), len(held_out), np.bincount(held_out.domain.values).tolist()
        (80, 20, [10, 10])
        """
        return tuple(self.take(rows) for rows in self.split_rows(*fractions, seed=seed, group=group))

    def split_rows(self, *fractions: float, seed: int = 0, group: LabelsLike | None = None) -> tuple[np.ndarray, ...]:
        """Return the row numbers of the parts that :meth:`split` would give.

        Args:
            fractions: Of the rows, one for each part; they sum to at most 1.
            seed: Of the draws.
            group: A label for each row, whose rows stay together; by default the units of the data.

        Returns:
            Numbers of rows, ascending, for each fraction.

        >>> import numpy as np
        >>> [len(rows) for rows in Dataset(np.zeros((100, 2))).split_rows(0.8, 0.2)]
        [80, 20]
        """
        units = self.units if group is None else self.in_order("group", group)
        return split_rows(len(self), fractions, self._strata, units, seed)

    @property
    def _strata(self) -> np.ndarray | None:
        return None if self.domain is None or self.domain.is_continuous else self.domain.values

    @cached_property
    def units(self) -> np.ndarray | None:
        """Return the number of the independent unit that each row belongs to; None where rows stand alone.

        Units are the groups, where they are given; where a time is, blocks of it, each several autocorrelation times long.

        >>> import numpy as np
        >>> Dataset(np.zeros((4, 1)), groups=["b", "a", "b", "a"]).units
        array([1, 0, 1, 0])
        """
        if self.groups is not None:
            return np.unique(self.groups, return_inverse=True)[1]
        return None if self.time is None else time_blocks(self.time, self._columns_in_memory(), self._strata)

    def one_row_per_unit(self, seed: int = 0) -> Dataset:
        """Return a row of each unit, drawn at random; all rows where they stand alone.

        Args:
            seed: Of the draw.

        Returns:
            Rows that are independent of each other, in their order.
        """
        if self.units is None:
            return self
        order = stream("data/one row per unit", seed).permutation(len(self))
        return self.take(np.sort(order[np.unique(self.units[order], return_index=True)[1]]))

    def _columns_in_memory(self) -> list[np.ndarray]:
        return [np.asarray(array).reshape(len(self), -1) for array in self.values.values()]

    def standardise(self, statistics: Standardiser | None = None) -> Dataset:
        """Return standardised modalities.

        Args:
            statistics: Shifts and scales; by default those of these data.

        Returns:
            The same rows, in single precision.
        """
        by = Standardiser.of(self) if statistics is None else statistics
        scaled = {
            name: StandardisedRows(array, by, name) if is_lazy(array) else by.apply(name, np.asarray(array))
            for name, array in self.values.items()
        }
        return self._with(scaled)

    def with_domain(self, domain: DomainLike | None) -> Dataset:
        """Return the same rows with another domain.

        Args:
            domain: One label per row, float columns, or None for no domain. A pandas series whose index names these rows is put
                in their order.

        Returns:
            A dataset with this domain.
        """
        if domain is None:
            return self._with(self.values, domain=None)
        given = self.in_order("domain", domain)
        return self._with(self.values, domain=_rows_match("domain", Domain.of(given), len(self)))

    def in_order(self, what: str, values: _Given) -> _Given:
        """Return values in the order of the rows, where they are a pandas object whose index names the same rows.

        Args:
            what: A sentence is to call them.
            values: One for each row.

        Returns:
            The same values in that order; as they were, where they have no index.

        Raises:
            DataError: If the index names other rows.
        """
        rows = self.rows if self.rows is not None else tuple(map(str, range(len(self))))
        ordered: _Given = in_order(what, values, rows, named=self.rows is not None)
        return ordered

    def with_groups(self, groups: LabelsLike | None = None, time: ArrayLike | None = None) -> Dataset:
        """Return the same rows with other groups, or another time.

        Args:
            groups: One label per row; None keeps those there are.
            time: One moment per row; None keeps what there is.

        Returns:
            A dataset with these.
        """
        count = len(self)
        return self._with(
            self.values,
            groups=self.groups if groups is None else _read_only(group_labels(self.in_order("groups", groups), count)),
            time=self.time if time is None else _read_only(time_values(self.in_order("time", time), count)),
        )

    def select(self, *names: str) -> Dataset:
        """Return some of the modalities.

        Args:
            names: Of the modalities, in the order that they are to have.

        Returns:
            A dataset with these alone.
        """
        return Dataset(
            {name: self[name] for name in names},
            self.domain,
            groups=self.groups,
            time=self.time,
            observed={name: self.observed[name] for name in names},
            factors=self.factors,
            rows=self.rows,
            columns={name: self.columns[name] for name in names if name in self.columns},
        )

    def with_absent(self, shapes: Mapping[str, tuple[int, ...]]) -> Dataset:
        """Return the same rows with more modalities, none of which was observed.

        Args:
            shapes: Of one row, by the name of the modality.

        Returns:
            A dataset in which they are missing in every row.
        """
        nothing = {name: np.broadcast_to(np.float32(0), (len(self), *shape)) for name, shape in shapes.items()}
        unseen = {name: np.zeros(len(self), dtype=bool) for name in shapes}
        return self._with({**self.values, **nothing}, observed={**self.observed, **unseen})

    def _with(self, values: Mapping[str, StoredRows], **changes: object) -> Dataset:
        # Rows were checked when they came in: nothing is read again here.
        other = object.__new__(Dataset)
        fields = {name: changes[name] if name in changes else getattr(self, name) for name in _PARTS}
        fields["values"] = values
        for field, value in fields.items():
            kept = MappingProxyType({k: _frozen(v) for k, v in value.items()}) if isinstance(value, Mapping) else value
            object.__setattr__(other, field, kept)
        return other

    def __reduce__(self) -> tuple[Callable[..., Dataset], tuple[dict[str, StoredRows], dict[str, object]]]:
        # Read-only mappings cannot be copied or sent to another process; what they hold can.
        parts = {name: getattr(self, name) for name in _PARTS}
        plain = {name: dict(part) if isinstance(part, Mapping) else part for name, part in parts.items()}
        return _rebuilt, (dict(self.values), plain)

    @cached_property
    def fingerprint(self) -> str:
        """Return the SHA-256 over names, shapes, masks, domain, groups, time and every value."""
        digest = hashlib.sha256(json.dumps(self.layout.to_json(), sort_keys=True, default=str).encode())
        for name, array in self.values.items():
            digest.update(np.packbits(self.observed[name]).tobytes())
            for _, piece in blocks(array):
                digest.update(_bytes(piece))
        if self.domain is not None:
            digest.update(_bytes(self.domain.values))
        for name, part in (("groups", self.groups), ("time", self.time)):
            if part is not None:
                digest.update(name.encode() + _bytes(part))
        return digest.hexdigest()

    def describe(self) -> str:
        """Return a table of what is here: modalities, shapes, missing rows, ranges, domains, factors."""
        return describe(self)

    def write(self, path: str | Path) -> None:
        """Write to npz, npy, csv, parquet, zarr, h5ad or h5mu; :func:`latentry.read` reads it back.

        Args:
            path: The file; its ending names the format.

        Raises:
            DataError: If the format cannot hold these data, or the file cannot be written.
        """
        from latentry.data.files import write

        write(self, path)

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}: {tuple(array.shape[1:])}" for name, array in self.values.items())
        return f"Dataset({len(self)} rows; {parts}" + (f"; {self.domain}" if self.domain else "") + ")"


# cached_property writes to the instance dictionary and so passes by __setattr__.


def _rebuilt(values: Mapping[str, StoredRows], parts: dict[str, object]) -> Dataset:
    return object.__new__(Dataset)._with(values, **parts)


def _by_name(modalities: RowsLike | Mapping[str, RowsLike]) -> dict[str, RowsLike]:
    if not isinstance(modalities, Mapping) or hasattr(modalities, "nnz"):  # some sparse matrices are mappings
        return {"x": cast(RowsLike, modalities)}
    if not modalities:
        raise DataError("modalities={}: a Dataset has at least one modality. Give an array, or arrays by name.")
    return dict(modalities)


def _check_names(names: Iterable[object]) -> None:
    for name in names:
        if not isinstance(name, str) or not name or name.startswith("@") or set(name) & set("/:"):
            raise DataError(f"modality {name!r}: not a name. Give text without / or : that does not begin with @.")


def _bytes(piece: np.ndarray) -> bytes:
    return piece.astype(piece.dtype.newbyteorder("<"), copy=False).tobytes()


def _frozen(part: object) -> object:
    return _read_only(part) if isinstance(part, np.ndarray) and not isinstance(part, np.memmap) else part


def _read_only(array: np.ndarray) -> np.ndarray:
    view = array.view()
    view.flags.writeable = False
    return view


def _common_rows(parsed: dict[str, Modality]) -> int:
    counts = {name: part.values.shape[0] for name, part in parsed.items()}
    first = next(iter(counts))
    for name, count in counts.items():
        if count != counts[first]:
            raise DataError(
                f"modality {name!r}: has {count} rows but {first!r} has {counts[first]}. "
                "Give one row per sample in each, with None where it was not measured."
            )
    return counts[first]


def _some_modality_everywhere(parsed: dict[str, Modality]) -> None:
    nowhere = np.flatnonzero(~np.any([part.observed for part in parsed.values()], axis=0))
    if nowhere.size:
        shown = ", ".join(map(str, nowhere[:5])) + (", …" if nowhere.size > 5 else "")
        raise DataError(
            f"modalities: {nowhere.size} row{'s are' if nowhere.size > 1 else ' is'} missing in every modality "
            f"(all NaN or None): row {shown}. Drop them."
        )


def _rows_match(what: str, values: _Counted, count: int) -> _Counted:
    if len(values) != count:
        raise DataError(f"{what}: has {len(values)} entries for {count} rows. Give one per row.")
    return values


def _factor(name: str, raw: ArrayLike, count: int) -> np.ndarray:
    array = np.asarray(raw)
    if array.dtype == object:
        gap = next((i for i, value in enumerate(array.tolist()) if value is None or value != value), None)
        if gap is not None:
            raise DataError(f"factor {name!r}: missing at row {gap}. Give it for every row, or leave it out.")
        array = np.array(array.tolist())
    if array.dtype.kind not in "biufU":
        raise DataError(f"factor {name!r}: dtype {array.dtype} is neither. Give numbers or strings.")
    return _read_only(_rows_match(f"factor {name!r}", array, count))


def _known(argument: str, given: Iterable[str], names: Iterable[str]) -> None:
    for name in given:
        if name not in names:
            raise DataError(f"{argument}[{name!r}]: there is no such modality{nearest(str(name), map(str, names))}")


# What a model takes as data: rows of one modality, several modalities by name, or a dataset.
DataLike: TypeAlias = Dataset | RowsLike | Mapping[str, RowsLike]
