"""The phases of models whose latents change with the domain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

from latentry.models.domain_prior.losses import Identify, NegativeBound, Shrunk
from latentry.models.domain_prior.settings import FlowMap
from latentry.models.domain_prior.trainable import all_but_seen, only
from latentry.models.estimator import Rates, Training
from latentry.models.networks import NegativeElbo
from latentry.training import Loss, Phase

__all__ = ["STAGES", "Stages"]

STAGES = {"manifold": 0.25, "identify": 0.35, "joint": 0.4}  # fractions of the epochs
_DISTRIBUTIONS = 0.1  # further epochs for the distributions alone, after a shrunk fit


@dataclass(frozen=True, eq=False)
class Stages:
    """What phases have in common.

    Args:
        epochs: In all.
        learning_rate: Of the networks.
        training: Schedule, clipping, patience, weight of the divergence.
        flow: The invertible map.
        shrink: Weight on the spread of the scales over domains.
    """

    epochs: int
    learning_rate: float
    training: Training
    flow: FlowMap
    shrink: float

    def shrunk(self, loss: Loss) -> Loss:
        """Return the loss, with the weight that ``shrink`` asks for on the spread of the scales over domains.

        Args:
            loss: A loss.

        Returns:
            A loss.
        """
        return Shrunk(loss, float(self.shrink)) if self.shrink else loss

    def single(self, loss: Loss, **changes: Unpack[Rates]) -> tuple[Phase, ...]:
        """Return one phase of everything, and after a shrunk one the distributions alone.

        Args:
            loss: A loss.
            changes: Of schedule, clip, patience or direction.

        Returns:
            One phase or two.
        """
        rates: Rates = {**self.training.rates, **changes}
        fit = Phase("fit", self.shrunk(loss), self.epochs, self.learning_rate, trainable=all_but_seen, **rates)
        return (fit, *self._distributions(loss, rates))

    def staged(self, *, draws: int = 1, hide: float = 0.0) -> tuple[Phase, ...]:
        """Return the stages: coordinates without domains, their identification with them, then all together.

        Args:
            draws: Of the bound.
            hide: Fraction of rows in which a modality is hidden from the encoder.

        Returns:
            Three phases or four.
        """
        epochs = {name: max(1, round(part * self.epochs)) for name, part in STAGES.items()}
        beta, rates, slow = self.training.beta, self.training.rates, self.learning_rate
        bound = NegativeBound(beta, draws, hide)
        fast: Rates = {**rates, "direction": self.flow.direction}
        identify = self.shrunk(Identify())
        return (
            Phase("manifold", NegativeElbo(beta, hide), epochs["manifold"], slow, trainable=only("networks"), **rates),
            Phase("identify", identify, epochs["identify"], 2.5 * slow, trainable=only("flow", "prior"), **fast),
            Phase("joint", self.shrunk(bound), epochs["joint"], slow, trainable=all_but_seen, **rates),
            *self._distributions(bound, rates),
        )

    def _distributions(self, loss: Loss, rates: Rates) -> tuple[Phase, ...]:
        """After a shrunk fit, the distributions alone by the plain loss, so that they are those of the latents."""
        if not self.shrink:
            return ()
        epochs = max(1, round(_DISTRIBUTIONS * self.epochs))
        rate = 4 * self.learning_rate  # few, well-conditioned parameters
        return (Phase("laws", loss, epochs, rate, trainable=only("prior"), **rates),)
