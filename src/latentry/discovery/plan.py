"""Which models could be applied, what each could identify, and what it would need."""

from __future__ import annotations

from dataclasses import dataclass

from latentry.contracts import HasFrontier, HasLatentDistributions, HasLatentMixture, HasLikelihood, PenalisesMixing
from latentry.discovery.shape import Shape
from latentry.models import MODELS, AnyModel

__all__ = ["PlannedModel", "enough_domains", "plan"]


@dataclass(frozen=True)
class PlannedModel:
    """A registered model and these data.

    Args:
        name: Of the model's class.
        applies: Whether it can be fitted to such data.
        identifies: What it could identify in them.
        needs: What it would need to be applied, or to identify more; empty if nothing.
        rank: How much it could identify: 0 nothing, 1 something, 2 every latent if the mixing is sparse, 3 every latent.
    """

    name: str
    applies: bool
    identifies: str
    needs: str
    rank: int


def enough_domains(latents: int) -> int:
    """Return how many domains identify so many latents with moving means and variances: 2n + 1 (Khemakhem et al., 2020).

    Args:
        latents: The number n.

    Returns:
        Number of domains.

    >>> enough_domains(4)
    9
    """
    return 2 * latents + 1


def plan(shape: Shape, latents: int) -> tuple[PlannedModel, ...]:
    """Return a row for every registered model, from what its class declares.

    Cost: linear in the registered models.

    Args:
        shape: Of the data.
        latents: How many were counted.

    Returns:
        In the order of the registry.

    >>> from latentry.data import Dataset
    >>> from latentry.discovery.shape import shape_of
    >>> import numpy as np
    >>> rows = plan(shape_of(Dataset(np.random.default_rng(0).normal(size=(40, 3)), domain=np.arange(40) % 7)), 3)
    >>> [(one.name, one.applies, one.rank) for one in rows][:4]
    [('VAE', True, 0), ('IVAE', True, 3), ('IFlow', True, 3), ('CGVAE', True, 2)]
    """
    return tuple(_planned(kind, shape, latents) for kind in MODELS.values())


def _planned(kind: type[AnyModel], shape: Shape, latents: int) -> PlannedModel:
    missing = _missing(kind, shape)
    identifies, needs, rank = _promise(kind, shape, latents)
    return PlannedModel(kind.__name__, not missing, identifies, missing or needs, 0 if missing else rank)


def _missing(kind: type[AnyModel], shape: Shape) -> str:
    """Return what these data lack for the model; empty if nothing."""
    if len(shape.modalities) < kind.least_modalities:
        return f"at least {kind.least_modalities} modalities: these data have {len(shape.modalities)}"
    if shape.domains is not None and shape.domains < kind.least_domains:
        return f"at least {kind.least_domains} domains: these data have {shape.domains or 'none'}"
    if not kind.takes_tables and any(one.form != "image" for one in shape.modalities):
        return "images"
    if kind.takes_one_table and not shape.one_table:
        return "one table of real values without missing rows"
    return ""


def _promise(kind: type[AnyModel], shape: Shape, latents: int) -> tuple[str, str, int]:
    """Return what the model could identify, what it would need for that, and the rank."""
    if not issubclass(kind, HasLikelihood) and not issubclass(kind, HasFrontier):
        return "latents that change with the domain, as a block", "judging by eye: it has no likelihood to compare", 0
    if issubclass(kind, HasFrontier):
        return "what all modalities have in common", "", 1
    if issubclass(kind, HasLatentMixture):
        return (
            "clusters, and nodes with a graph up to equivalence",
            "the number of nodes and of their values (nodes=)",
            1,
        )
    if not issubclass(kind, HasLatentDistributions):
        return "no latent: a surface, up to any map of it", "", 0
    if not shape.all_real:
        return "nothing is promised for counts, labels or binary values", "real values", 1
    return _by_changes(kind, shape, latents)


def _by_changes(kind: type[AnyModel], shape: Shape, latents: int) -> tuple[str, str, int]:
    wanted = enough_domains(latents)
    if issubclass(kind, PenalisesMixing):
        return f"{_all(latents)} from 2 domains, if the mixing is sparse", "a sparse mixing", 2
    if shape.domains is None or shape.domains >= wanted:
        return f"{_all(latents)}, up to order, sign and scale", "variances that change between domains", 3
    few = f"{wanted} domains to identify {_all(latents)}: these data have {shape.domains or 'none'}"
    return f"not {_all(latents)}", few, 1


def _all(latents: int) -> str:
    return f"all {latents} latents" if latents > 1 else "the latent"
