"""The immutable Dataset: what was measured, where, and what is missing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from functools import cached_property
from pathlib import Path
from types import EllipsisType, MappingProxyType
from typing import Any, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from latentry.data.cells import row_names
from latentry.data.columns import Coding, recoded
from latentry.data.dataset_checks import (
    by_name,
    check_names,
    common_rows,
    factor_values,
    known,
    read_only,
    refuse_swapped,
    rows_match,
    some_modality_everywhere,
)
from latentry.data.describe import describe
from latentry.data.domain import Domain, DomainLike
from latentry.data.frames import Paired, in_order, places_of_rows
from latentry.data.inputs import LabelsLike, RowIndex, RowsLike, StoredRows, is_annotated
from latentry.data.layout import Layout
from latentry.data.lazy_rows import TakenRows, blocks, is_lazy
from latentry.data.masks import masks_in_order
from latentry.data.missing_cells import cells_observed, refuse_missing_cells, whole_rows
from latentry.data.modality import Modality, read_modality
from latentry.data.named_columns import names_of, taken_out
from latentry.data.native_frames import as_native_frame
from latentry.data.numbering import OBSERVATION, Numbering
from latentry.data.regrouping import pieces
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
    "partial",
    "coding",
)  # all that a dataset holds besides its values
_Counted = TypeVar("_Counted", bound=Sized)
_Given = TypeVar("_Given")


class Dataset:
    """Rows measured in one or more modalities, possibly in several domains, possibly with holes.

    Cost: linear in the cells.

    Args:
        modalities: An array of rows, or a mapping from name to array; anything with a row axis first.
            ``None`` and NaN are missing, single cells and whole rows alike. Memory maps and zarr arrays stay on disk.
        domain: One label per row (integers, strings), or float columns for a continuous auxiliary variable. As `groups`, `time`,
            `factors` and `ids`, it may also be the name of a column of a data frame, which is then no feature.
        groups: One label per row, where rows come in groups that depend on each other: subjects, plates, batches.
        time: One moment per row, where rows that are near in time depend on each other: numbers or dates.
        observed: For a modality, booleans that are False where the row is missing, or one for each cell; paired by index, and by
            names of columns, as modalities are.
        factors: True latent values, when known: name to one value (or row of values) per row.
        rows: Names of the rows.
        ids: The column of data frames that names their rows; frames that have it are paired by it.
        columns: For a modality, the names of its features.
        coding: For a modality, how its columns become numbers: that of another dataset, where both are to be read alike. Columns
            may then be missing in every row.

    Arrays are not copied: a dataset cannot be changed through itself, but do not change the arrays it was made of.

    >>> import numpy as np
    >>> data = Dataset({"curve": np.ones((4, 30)), "table": [[1, 2], None, [3, 4], [5, 6]]}, domain=["a", "a", "b", "b"])
    >>> len(data), data.names, data.observed["table"].tolist()
    (4, ('curve', 'table'), [True, False, True, True])
    """

    def __init__(
        self,
        modalities: RowsLike | Mapping[str, RowsLike],
        domain: DomainLike | str | None = None,
        *,
        groups: LabelsLike | str | None = None,
        time: ArrayLike | str | None = None,
        observed: Mapping[str, ArrayLike] | None = None,
        factors: Mapping[str, ArrayLike] | Sequence[str] | None = None,
        rows: Iterable[str] | None = None,
        ids: str | None = None,
        columns: Mapping[str, Iterable[str]] | None = None,
        coding: Mapping[str, Sequence[Coding]] | None = None,
    ) -> None:
        refuse_swapped(modalities, domain)
        if is_annotated(modalities):
            _refuse_beside(observed=observed, rows=rows, columns=columns)
            self._copy(_from_annotated(modalities, domain, groups, time, factors, ids, coding))
            return
        named = by_name(modalities)
        check_names(named)
        wanted = names_of(domain=domain, groups=groups, time=time, ids=ids, factors=factors)
        taken = taken_out(named, wanted)
        given = dict(taken.modalities)
        beside = {"domain": domain, "groups": groups, "time": time, "ids": ids} | taken.beside
        true = {f"factor {name!r}": name for name in factors or {}}  # by their names, whether values or columns
        beside |= {what: factors[name] for what, name in true.items() if isinstance(factors, Mapping)}
        before = {**{f"modality {n!r}": raw for n, raw in given.items()}, **beside}
        paired = Paired.of(before, taken.labels)
        parts = {what: paired.ordered(what, raw) for what, raw in before.items()}
        rows = row_names(np.asarray(parts["ids"])) if rows is None and ids is not None else rows
        rows = None if rows is None else tuple(map(str, rows))
        labels = {name: tuple(map(str, given)) for name, given in (columns or {}).items()}
        masks = masks_in_order(observed or {}, named, taken, paired, rows, labels)
        named = {name: parts[f"modality {name!r}"] for name in named}
        factors = {name: parts[what] for what, name in true.items()}
        known("observed", masks, named)
        known("columns", labels, named)
        rules = coding or {}
        of_a_fit = coding is not None
        parsed = {
            n: read_modality(n, raw, masks.get(n), labels.get(n), rules.get(n, ()), of_a_fit=of_a_fit)
            for n, raw in named.items()
        }
        self._set(
            parsed, parts["domain"], parts["groups"], parts["time"], factors, paired.names if rows is None else rows
        )

    def _copy(self, other: Dataset) -> None:
        for field in ("values", *_PARTS):
            object.__setattr__(self, field, getattr(other, field))

    def _set(
        self,
        parsed: dict[str, Modality],
        domain: DomainLike | None,
        groups: LabelsLike | None,
        time: ArrayLike | None,
        factors: Mapping[str, ArrayLike] | None,
        rows: Iterable[str] | None,
    ) -> None:
        count = common_rows(parsed)
        some_modality_everywhere(parsed)
        names = {name: part.columns for name, part in parsed.items() if part.columns is not None}
        fields = {
            "values": MappingProxyType({name: _frozen(part.values) for name, part in parsed.items()}),
            "observed": MappingProxyType({name: _frozen(part.observed) for name, part in parsed.items()}),
            "domain": None if domain is None else rows_match("domain", Domain.of(domain), count),
            "groups": None if groups is None else read_only(group_labels(groups, count)),
            "time": None if time is None else read_only(time_values(time, count)),
            "factors": MappingProxyType({str(k): factor_values(k, v, count) for k, v in (factors or {}).items()}),
            "rows": None if rows is None else rows_match("rows", tuple(map(str, rows)), count),
            "columns": MappingProxyType(names),
            "numbering": None,
            "coding": MappingProxyType({name: part.coding for name, part in parsed.items() if part.coding}),
            "partial": tuple(name for name, part in parsed.items() if part.partial),
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
    coding: Mapping[str, tuple[Coding, ...]]  # how columns of a modality became numbers, where some of them held none
    numbering: Numbering | None  # whole numbers that batches carry, where a model asks for them
    partial: tuple[str, ...]  # modalities of which single cells may be missing: NaN in rows that were observed

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
            return self.take(chosen_rows(self._truths_in_order(rows), len(self)))
        if key not in self.values:
            raise DataError(f"data[{key!r}]: there is no such modality{nearest(key, self.values)}")
        return self.values[key]

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        """Return the rows of the only modality, as `numpy.asarray` asks for them.

        >>> np.asarray(Dataset([[1.0, 2.0]])).tolist()
        [[1.0, 2.0]]
        """
        rows = np.asarray(self[self._only_array()], dtype)
        return rows.copy() if copy else rows

    def _only_array(self) -> str:
        if len(self.names) > 1:
            raise DataError(
                f"a Dataset of {len(self.names)} modalities, {', '.join(self.names)}: is no single array. Take one of them as "
                f"data[{self.names[0]!r}]; what takes arrays alone, such as a scaler, has no place before what takes a Dataset."
            )
        return self.names[0]

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
            coding=tuple(self.coding.items()),
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
            rows: Numbers of rows, or a boolean for each; booleans of pandas that have an index say by it which row they mean.

        Returns:
            A dataset of these rows, in this order.

        Raises:
            DataError: If no row is chosen, and for what are no numbers of these rows.
        """
        chosen = np.arange(len(self))[chosen_rows(self._truths_in_order(rows), len(self), "take")]
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

    def _truths_in_order(self, rows: _Given) -> _Given:
        """Return truth values in the order of the rows; numbers of rows mean places, whatever their index."""
        return self.in_order("take", rows) if str(getattr(rows, "dtype", "")) in ("bool", "boolean") else rows

    def cells_observed(self, name: str) -> np.ndarray | None:
        """Return which cells of a modality were observed.

        Args:
            name: Of the modality.

        Returns:
            Booleans of the shape of its values, False in rows that are missing; None where no single cell is missing.

        >>> import numpy as np
        >>> Dataset([[1.0, np.nan], [2.0, 3.0]]).cells_observed("x").tolist()
        [[True, False], [True, True]]
        """
        return cells_observed(self[name], self.observed[name]) if name in self.partial else None

    def whole_rows(self, name: str) -> np.ndarray:
        """Return in which rows a modality was observed in every cell.

        Args:
            name: Of the modality.

        Returns:
            Booleans, (rows,).
        """
        return whole_rows(self[name], self.observed[name]) if name in self.partial else self.observed[name]

    def complete_rows(self) -> Dataset:
        """Return the rows without a missing cell; those in which a whole modality is missing stay.

        Returns:
            A dataset of fewer rows, or of all.

        Raises:
            DataError: If there is no such row.

        >>> import numpy as np
        >>> len(Dataset([[1.0, np.nan], [2.0, 3.0]]).complete_rows())
        1
        """
        if not self.partial:
            return self
        broken = [self.observed[name] & ~self.whole_rows(name) for name in self.partial]
        kept = self.take(~np.any(broken, axis=0))
        return kept._with(kept.values, partial=())

    def refuse_missing_cells(self, who: str) -> None:
        """Raise an error that names the first missing cell, if there is one.

        Args:
            who: Needs every cell.

        Raises:
            DataError: By modality, row and column.
        """
        refuse_missing_cells(self, who)

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
        codes = rows_match("experiments", given.astype(np.int32), len(self))
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
        return self._with(self.values, domain=rows_match("domain", Domain.of(given), len(self)))

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
        ordered: _Given = in_order(what, values, self._row_names, named=self.rows is not None)
        return ordered

    def paired(self, what: str, other: Dataset) -> Dataset:
        """Return another dataset with its rows in the order of these, where both name the same rows.

        Args:
            what: A sentence is to call it.
            other: One row for each row of these.

        Returns:
            The other dataset in that order; as it was, where one of them has no names of rows.

        Raises:
            DataError: If the two name other rows.

        >>> mine, other = Dataset([[1.0], [2.0]], rows=["u", "v"]), Dataset([[20.0], [10.0]], rows=["v", "u"])
        >>> mine.paired("other", other)["x"].ravel().tolist()
        [10.0, 20.0]
        """
        if other.rows is None:
            return other
        labels = np.array(other.rows, dtype=object)
        places = places_of_rows(what, labels, self._row_names, named=self.rows is not None)
        return other if places is None else other.take(places)

    @property
    def _row_names(self) -> tuple[str, ...]:
        return self.rows if self.rows is not None else tuple(map(str, range(len(self))))

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
            groups=self.groups if groups is None else read_only(group_labels(self.in_order("groups", groups), count)),
            time=self.time if time is None else read_only(time_values(self.in_order("time", time), count)),
        )

    def select(self, *names: str) -> Dataset:
        """Return some of the modalities.

        Args:
            names: Of the modalities, in the order that they are to have.

        Returns:
            A dataset with these alone.
        """
        return self.regrouped(dict.fromkeys(names, ()))

    def regrouped(self, modalities: Mapping[str, Sequence[str]]) -> Dataset:
        """Return the same rows with modalities that are made of other columns.

        Args:
            modalities: Names of columns, by the name of the new modality; no names for a modality as it stands.

        Returns:
            A dataset with these modalities.

        >>> import numpy as np
        >>> data = Dataset(np.ones((4, 3)), columns={"x": ["mass", "height", "age"]})
        >>> data.regrouped({"body": ["height", "mass"]}).columns["body"]
        ('height', 'mass')
        """
        made = pieces(self, modalities)
        kept = {name: self[name] if piece is None else piece.values for name, piece in made.items()}
        columns = {n: self.columns.get(n, ()) if piece is None else piece.columns for n, piece in made.items()}
        rules = {n: self.coding.get(n, ()) if piece is None else piece.coding for n, piece in made.items()}
        return Dataset(
            kept,
            self.domain,
            groups=self.groups,
            time=self.time,
            observed={name: self.observed[name] for name, piece in made.items() if piece is None},
            factors=self.factors,
            rows=self.rows,
            columns={name: named for name, named in columns.items() if named},
            coding=rules,
        )

    def recoded(self, coding: Mapping[str, Sequence[Coding]]) -> Dataset:
        """Return the same rows, with columns that are no numbers encoded as those of other rows were.

        Args:
            coding: Of a dataset or a fit, by modality.

        Returns:
            A dataset whose columns have the same meaning.

        Raises:
            DataError: For a category that the others do not have, by column and row.
        """
        changed = recoded(self, coding)
        return self._with(
            {**self.values, **{name: values for name, (values, _) in changed.items()}},
            coding={**self.coding, **{name: rules for name, (_, rules) in changed.items()}},
            columns={
                **self.columns,
                **{name: tuple(f for rule in rules for f in rule.features) for name, (_, rules) in changed.items()},
            },
        )

    def with_rows(self, names: Iterable[object]) -> Dataset:
        """Return the same rows with names.

        Args:
            names: One for each row.

        Returns:
            A dataset whose rows are called so.
        """
        return self._with(self.values, rows=rows_match("rows", tuple(map(str, names)), len(self)))

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
        digest = hashlib.sha256(json.dumps(self.layout.without_forms.to_json(), sort_keys=True, default=str).encode())
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

    def frame(self, values: ArrayLike | None = None, name: str | None = None, library: str = "pandas") -> Any:
        """Return a table as a data frame with the columns that it came from: categories, truth values and dates again.

        Args:
            values: Rows of numbers with these columns, such as a reconstruction or a sample; by default the data themselves.
            name: Of the modality; it may be left out where there is one.
            library: "pandas", "polars" or another that narwhals knows.

        Returns:
            A frame of that library. Where there are as many rows as here, they keep their names: as the index in pandas, else
            as a column "row".

        Raises:
            DataError: For rows that are no table.
        """
        chosen = self.only_name("frame") if name is None else name
        table = np.asarray(self[chosen] if values is None else values)
        return as_native_frame(self.layout, self.rows, chosen, table, library)

    def only_name(self, what: str) -> str:
        """Return the name of the only modality.

        Args:
            what: Needs it, for the sentence.

        Returns:
            The name.

        Raises:
            DataError: If there are several.
        """
        if len(self.names) > 1:
            raise DataError(f"{what}: there are {len(self.names)} modalities, {', '.join(self.names)}. Name one.")
        return self.names[0]

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


def _refuse_beside(**given: object) -> None:
    """Refuse what is said beside a table that says it itself."""
    for argument, value in given.items():
        if value is not None:
            raise DataError(
                f"{argument}: the table says this itself. Leave it out, or give the table as a modality: "
                f'Dataset({{"x": table}}, {argument}=...).'
            )


def _from_annotated(
    table: object,
    domain: DomainLike | str | None,
    groups: LabelsLike | str | None,
    time: ArrayLike | str | None,
    factors: Mapping[str, ArrayLike] | Sequence[str] | None,
    ids: str | None,
    coding: Mapping[str, Sequence[Coding]] | None,
) -> Dataset:
    """Return AnnData, MuData or xarray with what was given beside it, by name or by value."""
    from latentry.data.files import read

    called = {"domain": domain, "groups": groups, "time": time}
    names: Any = {role: value for role, value in called.items() if isinstance(value, str)}
    found = read(table, **names, ids=ids, factors=() if isinstance(factors, Mapping) else factors or (), coding=coding)
    if domain is not None and not isinstance(domain, str):
        found = found.with_domain(domain)
    values: Any = {role: None if role in names else value for role, value in called.items() if role != "domain"}
    found = found.with_groups(**values)
    if isinstance(factors, Mapping):
        truths = {str(k): factor_values(k, v, len(found)) for k, v in factors.items()}
        found = found._with(found.values, factors={**found.factors, **truths})
    return found


def _bytes(piece: np.ndarray) -> bytes:
    return piece.astype(piece.dtype.newbyteorder("<"), copy=False).tobytes()


def _frozen(part: object) -> object:
    return read_only(part) if isinstance(part, np.ndarray) and not isinstance(part, np.memmap) else part


# What a model takes as data: rows of one modality, several modalities by name, or a dataset.
DataLike: TypeAlias = Dataset | RowsLike | Mapping[str, RowsLike]
