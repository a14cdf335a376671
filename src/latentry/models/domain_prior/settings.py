"""Settings of priors that change with the domain, and of the invertible map that identifies latents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import optax

from latentry.models.estimator import Choice, Flag, NameLists, Real, Rule, Settings, Whole, Widths
from latentry.nets import FAMILIES
from latentry.training import scale_by_soap

__all__ = ["OPTIMISERS", "PRIOR_RULES", "DomainPrior", "FlowMap"]

OPTIMISERS: Mapping[str, Callable[[], optax.GradientTransformation]] = {
    "soap": scale_by_soap,
    "adam": optax.scale_by_adam,
}
PRIOR_RULES: Mapping[str, Rule] = {"prior": Choice(FAMILIES)}


@dataclass(frozen=True)
class DomainPrior(Settings):
    """How the distribution of each latent changes with the domain, besides its family (``prior=``).

    Args:
        statistics: Sufficient statistics of each latent under "exponential", of which location and scale are two.
        moving: Number of latents whose location may move with u, all by default. Where few do, a smaller number keeps
            functions of the moving latents out of the others; choose it by held-out rows (``models.choose``).
        shrink: Weight on how far the latents' log-scales differ between domains, in nats a row; it decides between models
            that fit alike. Afterwards the distributions alone are fitted without it.
        table: Free parameters for each label (True), a network in u (False); by default a table for labels.
        hidden: Widths of the prior's network, where there is one.
        mask: CGVAE only: weight of a group lasso on how far each latent's distribution changes with the domain. Latents
            that need not change are held still, and ``changing_`` says which do.
        free_form: CGVAE only: a conditional deep sigmoidal flow for each latent on top of ``prior``.
        targets: Which latents each domain changes, if that is known: ``{"knock-out of a": ["z1"]}``. Domains that are left out
            change none, and all share one mechanism of the latents that they do not target.
        parents: Which latents cause which, if that is known too: ``{"z2": ["z1"]}``. A domain cuts what causes its targets.
    """

    statistics: int = 3
    moving: int | None = None
    shrink: float = 0.0
    table: bool | None = None
    hidden: Sequence[int] = (32, 32)
    mask: float = 0.0
    free_form: bool = False
    targets: Mapping[str, Sequence[str]] | None = None
    parents: Mapping[str, Sequence[str]] | None = None

    constraints: ClassVar[Mapping[str, Rule]] = {
        "statistics": Whole(2),
        "moving": Whole(0, none=True),
        "shrink": Real(least=0),
        "table": Flag(none=True),
        "hidden": Widths(),
        "mask": Real(least=0),
        "free_form": Flag(),
        "targets": NameLists("{'knock-out of a': ['z1']}"),
        "parents": NameLists("{'z2': ['z1']}"),
    }


@dataclass(frozen=True)
class FlowMap(Settings):
    """The invertible map between coordinates and latents.

    Args:
        blocks: Linear and monotone layers in turn.
        components: Bends per coordinate and block.
        optimiser: "soap", or "adam", which is faster to compile and ends lower on hard mixings.
    """

    blocks: int = 16
    components: int = 8
    optimiser: str = "soap"

    constraints: ClassVar[Mapping[str, Rule]] = {
        "blocks": Whole(1),
        "components": Whole(1),
        "optimiser": Choice(OPTIMISERS),
    }

    @property
    def direction(self) -> Callable[[], optax.GradientTransformation]:
        """Return what makes the transformation from its gradient to a direction."""
        return OPTIMISERS[self.optimiser]
