"""The identifiable variational autoencoder."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import jax

from latentry.data import Batch, Dataset
from latentry.errors import DataError, nearest
from latentry.models.checks import whole_number
from latentry.models.conditional import SIGHTS, Conditional, NegativeBound, WeightedSplit, all_but_seen
from latentry.models.domain_model import DomainModel
from latentry.models.vae import VAE
from latentry.training import Phase

__all__ = ["IVAE"]

ESTIMATIONS = ("staged", "elbo")


@dataclass(eq=False, repr=False)
class IVAE(DomainModel, VAE):
    r"""Identifiable VAE: :math:`p(x, z \mid u) = p(x \mid z)\prod_i p(z_i \mid u)`, with a law of each latent in each domain.

    Where those laws change enough from domain to domain, the latents are determined up to order, scale and sign
    (Khemakhem et al., *Variational autoencoders and nonlinear ICA*, 2020): with means and variances that change,
    2n + 1 domains suffice for n latents. ``latentry.identifiability.sufficient_changes(model, held_out)``
    says whether they did.

    What it cannot do: when only means change, latents stay mixed, however good the fit; for discrete observations
    nothing is promised; and the evidence lower bound alone (``estimation="elbo"``) rarely reaches the optimum that the
    theorem speaks of. The staged fit does much better: it finds the manifold without domains, identifies its
    coordinates by the exact likelihood of an invertible map, and refines all of it under the bound.

    Args:
        estimation: "staged", or "elbo" for the bound from start to end.
        prior: What changes with the domain: "gaussian" (mean and variance), "variance", "mean", "laplace", or
            "exponential" (mean, variance and further statistics).
        statistics: Sufficient statistics of each latent under "exponential", of which location and scale are two.
        moving: Number of latents whose location may move with u, all by default. Where few do, a smaller number keeps
            functions of the moving latents out of the others; choose it by held-out rows (``models.choose``).
        shrink: Weight on how far the latents' log-scales differ between domains, in nats a row; it decides between models that
            fit alike.
        prior_table: Free parameters for each label (True), a network in u (False); by default a table for labels.
        prior_hidden: Widths of the prior's network, where there is one.
        encoder_sees: Under "elbo", what the posterior knows: "product" (encoder of the data times the prior of the
            domain), "joint" (encoder of data and domain), or "data". A staged posterior sees data.
        importance: Draws of the importance-weighted bound, in training and scoring; 1 is the evidence lower bound.
        split: Four weights of the bound's parts, for ``estimation="elbo"``; (100, 1, 0, 10) is the loss of the code that
            was released with the paper. None is the bound itself.
        blocks: Linear and monotone layers of the map between coordinates and latents, in a staged fit.
        components: Bends per coordinate and block.
        optimiser: Of that map: "soap", or "adam".

    For the other arguments see :class:`VAE` and :class:`LatentModel`.

    >>> from latentry.generators import segments
    >>> data = segments(domains=5, rows_per_domain=40, latents=2, observed=4, noise=0.1)
    >>> model = IVAE(latent_dim=2, epochs=4, hidden=(8,), blocks=1, components=2).fit(data)
    >>> model.transform(data).shape, model.latent_laws()
    ((200, 2), LatentLaws(5 domains, 2 latents, gaussian))
    """

    epochs: int = 150
    estimation: str = "staged"
    encoder_sees: str = "product"
    importance: int = 1
    split: Sequence[float] | None = None
    hidden: Sequence[int] = field(default=(128, 128))

    name: ClassVar[str] = "ivae"

    @property
    def score_name(self) -> str:
        """What the score is."""
        draws = self.module_.draws if hasattr(self, "module_") else self.importance
        if draws > 1:
            return f"importance-weighted lower bound ({draws} draws per row)"
        return "evidence lower bound (one draw per row)"

    def learn_facts(self, data: Dataset) -> dict[str, Any]:
        """Likelihoods and domains."""
        for name, known in (("estimation", ESTIMATIONS), ("encoder_sees", SIGHTS)):
            if getattr(self, name) not in known:
                raise DataError(
                    f"{name} = {getattr(self, name)!r} is not known{nearest(str(getattr(self, name)), known)}"
                )
        if self._staged and self.encoder_sees != "product":
            raise DataError(
                f'encoder_sees = {self.encoder_sees!r} is for estimation="elbo": a staged posterior sees data alone.'
            )
        whole_number("importance", self.importance, least=1)
        self._check_split()
        return super().learn_facts(data) | self.domain_facts(data)

    def _check_split(self) -> None:
        if self.beta != 1 and (self.importance > 1 or self.split is not None):
            raise DataError(
                f"beta = {self.beta} weighs the divergence of the plain bound: leave it at 1 with importance or split."
            )
        if self.split is None:
            return
        numbers_given = isinstance(self.split, (tuple, list)) and len(self.split) == 4
        if not numbers_given or not all(isinstance(weight, numbers.Real) and weight >= 0 for weight in self.split):
            raise DataError(f"split = {self.split!r}: give four weights of at least 0, such as (100, 1, 0, 10).")
        if self.estimation != "elbo" or self.importance > 1:
            raise DataError('split weighs the evidence lower bound: use it with estimation="elbo" and importance=1.')

    def _check_size(self, data: Dataset) -> None:
        super()._check_size(data)
        self.facts_["rows"] = len(data)

    @property
    def _staged(self) -> bool:
        return self.estimation == "staged"

    @property
    def reads_domain(self) -> bool:
        """A staged posterior sees data alone."""
        return not self._staged and self.encoder_sees != "data"

    @property
    def domain_for(self) -> str | None:
        """An encoder of data and domain cannot do without the domain."""
        return "encoder" if not self._staged and self.encoder_sees == "joint" else None

    def build(self, key: jax.Array) -> Conditional:
        """Networks, priors, and a flow if the fit is staged."""
        sight = "data" if self._staged else self.encoder_sees
        design = replace(self.design(), beside=self.layout_.domain_size if sight == "joint" else 0)
        return self.build_conditional(
            design, self.latent_dim, flow=self._staged, sight=sight, draws=self.importance, key=key
        )

    def phases(self) -> tuple[Phase, ...]:
        """Three when staged, one otherwise."""
        hide = self.modality_dropout if len(self.layout_.shapes) > 1 else 0.0
        if self._staged:
            return self.staged_phases(beta=self.beta, draws=self.importance, hide=hide)
        loss: Any = self.shrunk(NegativeBound(self.beta, self.importance, hide))
        if self.split is not None:
            a, b, c, d = map(float, self.split)
            loss = self.shrunk(WeightedSplit((a, b, c, d), self.facts_["rows"], hide))
        rates = {"schedule": self.schedule, "clip": self.clip, "patience": self.patience}
        plain = loss.loss if self.shrink else loss
        fit = Phase("fit", loss, self.epochs, self.learning_rate, trainable=all_but_seen, **rates)
        return (fit, *self.laws_phase(plain, **rates))

    @staticmethod
    def rebuild(module: Any, batch: Batch, key: jax.Array) -> dict[str, jax.Array]:
        """Expected values of every modality."""
        return module.reconstruction(batch)
