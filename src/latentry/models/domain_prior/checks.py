"""Sentences for priors that do not suit each other or the data."""

from __future__ import annotations

from latentry.data import Dataset
from latentry.models.domain_prior.domains import DomainFacts, check_domain, domain_facts
from latentry.models.domain_prior.known_targets import check_targets
from latentry.models.domain_prior.settings import DomainPrior
from latentry.models.estimator import Whole, refuse, require
from latentry.nets import FAMILIES

__all__ = ["domains_of", "refuse_sparse_settings"]


def domains_of(
    data: Dataset, family: str, settings: DomainPrior, *, latents: int | None, seed: int, model: str
) -> DomainFacts:
    """Check a prior against the data, and note what the fit must know of the domains.

    Args:
        data: The rows of a fit.
        family: Of the prior.
        settings: Of the prior.
        latents: How many; None for as many as there are numbers in a row.
        seed: Of the fit.
        model: Name of the model, for sentences.

    Returns:
        What the fit must know of the domains.

    Raises:
        DataError: If settings and data do not suit each other.
    """
    require("domain_prior__statistics", settings.statistics, Whole(3 if family == "exponential" else 2))
    if settings.moving is not None:
        _check_moving(settings.moving, family, data.layout.size if latents is None else latents)
    if settings.table and data.domain is not None and data.domain.is_continuous:
        problem = (
            "u is continuous, and a table has one row for each label. Leave it out, so that a network in u is learned"
        )
        raise refuse("domain_prior__table", settings.table, f"{problem}, or give u as labels.")
    check_targets(settings, family, data.domain, data.layout.size if latents is None else latents)
    check_domain(data, model)
    return domain_facts(data, seed)


def _check_moving(moving: int, family: str, latents: int) -> None:
    name, kind = "domain_prior__moving", FAMILIES[family]
    if not kind.moves:
        raise refuse(name, moving, f"under prior={family!r} no location moves. Leave it out.")
    if kind.tilts:
        raise refuse(name, moving, "further statistics move every mean. Leave it out, or use prior='gaussian'.")
    if moving == 0 and not kind.stretches:
        raise refuse(name, moving, "under prior='mean' nothing then changes with u. Give at least 1.")
    if moving > latents:
        raise refuse(name, moving, f"there are {latents} latents. Give {latents} or fewer.")


def refuse_sparse_settings(settings: DomainPrior, model: str) -> None:
    """Refuse settings of the prior that only CGVAE has.

    Args:
        settings: Of the prior.
        model: Name of the model, for sentences.

    Raises:
        DataError: If one of them is set.
    """
    for name in ("mask", "free_form"):
        value = settings.get_params()[name]
        if value:
            raise refuse(f"domain_prior__{name}", value, f"{model} does not learn this. Leave it out, or use CGVAE.")
