"""From what a user hands over to the rows that a module sees."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from latentry.data import DataLike, Dataset, DomainLike, LabelsLike, are_swapped, is_annotated, without_columns
from latentry.errors import DataError, DataWarning
from latentry.models.estimator.inputs import Values

if TYPE_CHECKING:
    from latentry.models.estimator.latent_model import AnyModel

__all__ = ["auxiliary", "completed", "outward", "read", "ready", "warn_of_another_domain"]


def auxiliary(y: DomainLike | None, domain: DomainLike | None) -> DomainLike | None:
    """Return the domain of each row, by whichever name it was given.

    Args:
        y: As scikit-learn calls it.
        domain: Under its own name.

    Returns:
        The one of them that there is.

    Raises:
        DataError: If both were given.
    """
    if y is not None and domain is not None:
        raise DataError("y and domain=: both say the domain of each row. Give one of them.")
    return y if domain is None else domain


def warn_of_another_domain(X: DataLike, y: DomainLike | None, data: Dataset) -> None:
    """Warn of rows with a domain of their own that a fit was to replace by another y: such as classes, at the end of a pipeline.

    Args:
        X: As the fit was given it.
        y: As the fit was given it; ``domain=`` says what it is, and replaces without a word.
        data: The rows as they are learned from.
    """
    if y is None or not isinstance(X, Dataset) or X.domain is None or data.domain is None or X.domain.same(data.domain):
        return
    warnings.warn(
        f"y: the data have a domain ({X.domain}), and y is another one ({data.domain}), which takes its place: the model "
        "learns from y. If y is to be predicted, leave it out: model.fit(data), then the rest of the pipeline on "
        "model.transform(data). If y is the domain, say so: domain=y.",
        DataWarning,
        stacklevel=4,
    )


def _refuse_swapped(X: object, u: object) -> None:
    """Refuse domains in the place of rows, and rows in the place of domains: each alone has a sentence that misleads."""
    if isinstance(X, Dataset | Mapping) or u is None:
        return
    if isinstance(u, Dataset | Mapping) or is_annotated(u) or are_swapped(X, u):
        raise DataError(
            "X and y: X has one number or label for each row, and y holds rows: the two are swapped. Give the rows first, then "
            "their domain, as in fit(rows, domain)."
        )


def read(
    model: AnyModel, X: DataLike, u: DomainLike | str | None, *, fitting: bool, groups: LabelsLike | str | None = None
) -> Dataset:
    """Return data as a Dataset, with the domain that was given beside them.

    Args:
        model: Notes the features, as scikit-learn asks.
        X: A Dataset, or what one can be made of.
        u: The domain of each row, if ``X`` has none; of a frame, it may be the name of a column, which is then no feature.
        fitting: Whether the model is fitted to these rows; labels that no row has are then forgotten.
        groups: Of rows that depend on each other, if ``X`` has none; or the name of a column.

    Returns:
        The dataset.
    """
    _refuse_swapped(X, u)
    coding = None if fitting else dict(model.record_.layout.coding)
    if isinstance(X, Dataset):
        _refuse_names(domain=u, groups=groups)
        data = (X if u is None else X.with_domain(u)).recoded(coding or {}).with_groups(groups)
    else:
        data = Dataset(X, u, groups=groups, coding=coding)
        plain = data.names == ("x",) and not isinstance(X, dict) and not is_annotated(X)
        if plain and (fitting or not _named_by_dataset(model)):
            features = without_columns(X, [name for name in (u, groups) if isinstance(name, str)])
            _check_columns(model, features, data, fitting=fitting)
    if not model.takes_missing_cells:
        data.refuse_missing_cells(type(model).__name__)
    if fitting:
        _note_features(model, data, named=isinstance(X, Dataset) or is_annotated(X))
        data = without_empty_domains(data)
    return data


def _check_columns(model: AnyModel, features: Any, data: Dataset, *, fitting: bool) -> None:
    """Let scikit-learn note or compare the columns; where they differ, its words follow ours, which say what to do."""
    try:
        validate_data(model, features, reset=fitting, skip_check_array=True)
    except ValueError as problem:
        if not fitting:
            _require_columns(model, data, str(problem))
        raise


def _require_columns(model: AnyModel, data: Dataset, theirs: str) -> None:
    """Raise the sentence about other columns, if there are some, with that of scikit-learn."""
    try:
        model.record_.layout.require(data.layout)
    except DataError as ours:
        raise DataError(f"{ours}\n({theirs.strip()})") from None


def _refuse_names(**given: object) -> None:
    for argument, name in given.items():
        if isinstance(name, str):
            raise DataError(
                f"{argument}={name!r}: names a column of a frame, and the rows are a Dataset, which has no such columns left. "
                f"Say it there: Dataset(frame, {argument}={name!r}); or give a label for each row."
            )


def _named_by_dataset(model: AnyModel) -> bool:
    """Return whether the fit knows its columns from a Dataset, and scikit-learn does not: it would warn of their names."""
    return "feature_names_in_" not in vars(model) and bool(model.record_.layout.columns)


def _note_features(model: AnyModel, data: Dataset, *, named: bool) -> None:
    if named:  # a Dataset names its own features; what scikit-learn noted of an earlier table no longer holds
        for name in ("n_features_in_", "feature_names_in_"):
            model.__dict__.pop(name, None)
    if data.names == ("x",) and len(data.layout.shape("x")) == 1:
        model.n_features_in_ = len(data.coding["x"]) if "x" in data.coding else data.layout.shape("x")[0]


def without_empty_domains(data: Dataset) -> Dataset:
    """Return the same rows; labels that none of them has are forgotten.

    Args:
        data: With or without a domain.

    Returns:
        A dataset of which each label has rows.
    """
    domain = data.domain
    if domain is None or domain.labels is None or len(np.unique(domain.values)) == domain.size:
        return data
    return data.with_domain(domain.as_labels())


def ready(model: AnyModel, X: DataLike, u: DomainLike | None, *, what: str | None = None) -> Dataset:
    """Return rows as the module of a fitted model sees them.

    Args:
        model: Fitted.
        X: Rows, as for ``fit``.
        u: Their domains.
        what: What needs the domain, if anything does.

    Returns:
        Standardised rows, with the domain where the module needs it.

    Raises:
        DataError: If the rows have another layout than those of the fit, or no domain where one is needed.
    """
    check_is_fitted(model)
    record = model.record_
    data = completed(model, read(model, X, u, fitting=False))
    record.layout.require(data.layout)
    record.facts.check(data)
    if what is not None and data.domain is None:
        raise DataError(
            f"the {what} of this {type(model).__name__} needs the domain of each row: pass it second, as in "
            "score(data, u), or in the Dataset."
        )
    if what is None and not model.reads_domain:
        _warn_of_new_domains(model, data)
        data = data.with_domain(None)
    if data.domain is not None and model.least_domains:
        data = data.with_domain(data.domain.recode(record.layout.domain_labels, record.layout.domain_size))
    return model.prepared(data).standardise(record.statistics)


def _warn_of_new_domains(model: AnyModel, data: Dataset) -> None:
    known = model.record_.layout.domain_labels
    if data.domain is None or data.domain.labels is None or known is None:
        return
    counts = np.bincount(data.domain.values, minlength=data.domain.size)
    rows = {label: int(n) for label, n in zip(data.domain.labels, counts, strict=True) if n and label not in known}
    if rows:
        each = ", ".join(f"{label!r} ({n} rows)" for label, n in list(rows.items())[:3])
        more = "" if len(rows) <= 3 else f" and {len(rows) - 3} more"
        warnings.warn(
            f"domain {each}{more}: not among the {len(known)} domains of the fit. Latents are read by the map learned from those; "
            "nothing says that it holds elsewhere. Fit with some of these rows, or read them without a domain.",
            DataWarning,
            stacklevel=4,
        )


def completed(model: AnyModel, data: Dataset) -> Dataset:
    """Return the data with modalities of the fit that they do not have as missing, where the model can do without.

    Args:
        model: Fitted.
        data: Rows, perhaps without some modalities.

    Returns:
        Rows with every modality of the fit, or as they were where that cannot be.
    """
    layout = model.record_.layout
    absent = {name: shape for name, shape in layout.shapes if name not in data.names}
    known = [name for name in data.names if name in layout.modalities]
    if not absent or not known or len(known) < len(data.names) or not model.encodes_subsets:
        return data
    return data.with_absent(absent)


def outward(model: AnyModel, arrays: Mapping[str, np.ndarray | jax.Array]) -> Values:
    """Return standardised modalities in the units of the data: an array, or a dictionary when there are several.

    Args:
        model: Fitted.
        arrays: By modality, standardised.

    Returns:
        The array of the only modality called x, or arrays by name.
    """
    record = model.record_
    names = [name for name in record.layout.modalities if name in arrays]
    undone = {name: record.statistics.undo(name, np.asarray(arrays[name])) for name in names}
    return undone["x"] if tuple(undone) == ("x",) else undone
