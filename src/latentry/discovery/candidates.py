"""What is fitted and compared: one function for each kind of candidate.

Another kind is one more function in :data:`KINDS`; it returns no candidate where it has nothing to offer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sklearn.base import clone

from latentry.discovery.plan import PlannedModel
from latentry.discovery.shape import Shape
from latentry.models import CGVAE, IVAE, VAE, AnyModel, IFlow, NaturalLatents

__all__ = ["KINDS", "Candidate", "Setting", "candidates", "variants"]


@dataclass(frozen=True, eq=False)
class Candidate:
    """A model with settings, that may be fitted to these data.

    Args:
        name: In words, unlike all others.
        model: Not fitted.
        rank: How much it could identify, as of :class:`PlannedModel`.
        effort: How long its first fit takes, compilation included, a VAE being 1: a guess by which a budget is planned.
    """

    name: str
    model: AnyModel
    rank: int
    effort: float


@dataclass(frozen=True)
class Setting:
    """What candidates are made for.

    Args:
        shape: Of the data.
        latents: How many were counted.
        seed: Of all fits.
        ranks: How much each applicable model could identify, by the name of its class.
    """

    shape: Shape
    latents: int
    seed: int
    ranks: Mapping[str, int]

    @property
    def square(self) -> bool:
        """Return whether there are as many latents as columns of one table."""
        return self.shape.one_table and self.latents == self.shape.columns

    def make(self, kind: type[AnyModel], name: str, effort: float, **settings: object) -> Candidate:
        """Return a candidate with the seed and the likelihood that suit the data.

        Args:
            kind: Class of the model.
            name: In words.
            effort: As of :class:`Candidate`.
            settings: Further parameters.

        Returns:
            The candidate.
        """
        likelihood = {} if kind.takes_one_table else {"likelihood": self.shape.likelihood}
        model = kind().set_params(seed=self.seed, progress=False, **likelihood, **settings)
        return Candidate(name, model, self.ranks[kind.__name__], effort)


_FEW_ROWS = 2000  # below which a map of fewer layers is as good, and sooner compiled
_LONG = 5  # efforts above which a candidate waits for the others
_SHALLOW = 6  # layers of such a map

Kind = Callable[[Setting], tuple[Candidate, ...]]


def candidates(
    shape: Shape,
    planned: tuple[PlannedModel, ...],
    latents: int,
    seed: int,
    kinds: Sequence[Kind] | None = None,
) -> tuple[Candidate, ...]:
    """Return the candidates for these data, the most identifying first; but those that take very long come last.

    Cost: constant; nothing is fitted.

    Args:
        shape: Of the data.
        planned: What could be applied.
        latents: How many were counted.
        seed: Of the fits.
        kinds: Functions that make candidates; those of :data:`KINDS` by default.

    Returns:
        At least one where some model applies.
    """
    setting = Setting(shape, latents, seed, {one.name: one.rank for one in planned if one.applies})
    made = [candidate for kind in (KINDS if kinds is None else kinds) for candidate in kind(setting)]
    return tuple(sorted(made, key=lambda one: (one.effort > _LONG, -one.rank)))


def _plain(setting: Setting) -> tuple[Candidate, ...]:
    """A variational autoencoder: what the others must beat."""
    if "VAE" not in setting.ranks:
        return ()
    return (setting.make(VAE, f"VAE, {_many(setting.latents)}", 1, latent_dim=setting.latents),)


def _changing(setting: Setting) -> tuple[Candidate, ...]:
    """Latents that change with the domain: by the exact likelihood where every column is a latent, else by the staged fit."""
    depth = {"flow__blocks": _SHALLOW} if setting.shape.rows < _FEW_ROWS else {}
    if "IFlow" in setting.ranks and setting.square:
        return (setting.make(IFlow, f"IFlow, {_many(setting.latents)}", 3, **depth),)
    if "IVAE" not in setting.ranks:
        return ()
    return (setting.make(IVAE, f"IVAE, {_many(setting.latents)}", 5, latent_dim=setting.latents, **depth),)


def _sparse(setting: Setting) -> tuple[Candidate, ...]:
    """A sparse mixing, where domains are too few to identify latents by their changes alone."""
    enough = max(setting.ranks.get("IFlow", 0), setting.ranks.get("IVAE", 0)) >= 3
    if "CGVAE" not in setting.ranks or enough or not setting.shape.all_real:
        return ()
    size, effort = (None, 4) if setting.square else (setting.latents, 10)
    return (setting.make(CGVAE, f"CGVAE, {_many(setting.latents)}", effort, latent_dim=size, restarts=2),)


def _common(setting: Setting) -> tuple[Candidate, ...]:
    """What several modalities have in common."""
    if "NaturalLatents" not in setting.ranks:
        return ()
    return (setting.make(NaturalLatents, "NaturalLatents, values chosen by the fit", 5),)


KINDS: tuple[Kind, ...] = (_plain, _changing, _sparse, _common)


def _many(latents: int) -> str:
    return f"{latents} latent{'s' * (latents > 1)}"


def variants(best: Candidate) -> tuple[Candidate, ...]:
    """Return the same model with other priors: one moving mean, or none.

    Args:
        best: The candidate that won.

    Returns:
        Further candidates; none for a model without a prior for each domain.
    """
    if not isinstance(best.model, IFlow | IVAE):
        return ()
    words = {0: "no mean moves", 1: "one mean moves"}
    return tuple(
        Candidate(f"{best.name}, {said}", _with(best.model, domain_prior__moving=moving), best.rank, best.effort)
        for moving, said in words.items()
    )


def _with(model: AnyModel, **settings: object) -> AnyModel:
    changed: AnyModel = clone(model).set_params(**settings)
    return changed
