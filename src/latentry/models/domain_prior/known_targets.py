"""Which latents each domain changes, and which cause which, as a user gave them: from names to tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from graphlib import CycleError, TopologicalSorter

import numpy as np

from latentry.data import Domain, counted_names
from latentry.errors import nearest
from latentry.models.domain_prior.settings import DomainPrior
from latentry.models.estimator import refuse

__all__ = ["check_targets", "parents_table", "targets_table"]

_ALONE = ("moving", "mask", "free_form")  # settings of priors that every domain may change everywhere


def check_targets(settings: DomainPrior, family: str, domain: Domain | None, latents: int) -> None:
    """Refuse targets and parents that do not suit each other, the other settings, or the data.

    Args:
        settings: Of the prior.
        family: Of the prior.
        domain: Of the rows.
        latents: How many.

    Raises:
        DataError: If they do not.
    """
    if settings.targets is None:
        if settings.parents is not None:
            problem = "causes are told apart by domains that cut them. Give targets too, or leave it out."
            raise refuse("domain_prior__parents", settings.parents, problem)
        return
    name, value = "domain_prior__targets", settings.targets
    if domain is None or domain.is_continuous:
        raise refuse(name, value, "the rows have no domain labels. Give domain= as labels, or leave it out.")
    if family != "gaussian":
        raise refuse(name, value, f"known targets have the Gaussian family, not prior={family!r}. Leave prior= out.")
    others = [other for other in _ALONE if getattr(settings, other)]
    if settings.table is False:
        others.append("table")
    if others:
        raise refuse(name, value, f"known targets leave nothing for domain_prior__{others[0]}. Leave one of them out.")
    labels = domain.labels or tuple(range(domain.size))
    targets_table(settings.targets, labels, latents)
    parents_table(settings.parents, latents)


def targets_table(targets: Mapping[str, Sequence[str]], labels: Sequence[object], latents: int) -> np.ndarray:
    """Return which latents each domain changes.

    Args:
        targets: Names of latents by domain.
        labels: Of all domains.
        latents: How many.

    Returns:
        Truth values (domains, latents).

    Raises:
        DataError: If a domain or a latent is not known.

    >>> targets_table({"b": ["z2"]}, ["a", "b"], 2).tolist()
    [[False, False], [False, True]]
    """
    known = [str(label) for label in labels]
    table = np.zeros((len(known), latents), dtype=bool)
    for label, names in targets.items():
        if str(label) not in known:
            problem = f"{str(label)!r} is no domain of the rows{nearest(str(label), known)}"
            raise refuse("domain_prior__targets", targets, problem)
        table[known.index(str(label)), _places("domain_prior__targets", targets, names, latents)] = True
    return table


def parents_table(parents: Mapping[str, Sequence[str]] | None, latents: int) -> np.ndarray:
    """Return which latents cause which.

    Args:
        parents: Names of causes by latent; None for none.
        latents: How many.

    Returns:
        Truth values (latents, latents): whether the column's latent causes the row's.

    Raises:
        DataError: If a latent is not known, or causes run in a circle.

    >>> parents_table({"z2": ["z1"]}, 2).tolist()
    [[False, False], [True, False]]
    """
    table = np.zeros((latents, latents), dtype=bool)
    for child, causes in (parents or {}).items():
        row = _places("domain_prior__parents", parents, [child], latents)
        table[row, _places("domain_prior__parents", parents, causes, latents)] = True
    try:
        list(TopologicalSorter({row: np.flatnonzero(table[row]).tolist() for row in range(latents)}).static_order())
    except CycleError as problem:
        circle = " → ".join(f"z{place + 1}" for place in reversed(problem.args[1]))
        words = f"latents cause each other in a circle, {circle}. Leave one of these arrows out."
        raise refuse("domain_prior__parents", parents, words) from None
    return table


def _places(argument: str, value: object, names: Sequence[str], latents: int) -> list[int]:
    known = counted_names(latents)
    for name in names:
        if name not in known:
            raise refuse(argument, value, f"{name!r} is no latent{nearest(str(name), known)}")
    return [known.index(name) for name in names]
