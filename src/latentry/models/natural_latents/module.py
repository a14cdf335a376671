"""The module of natural latents: a channel that sees every modality, and a student for each."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int, PRNGKeyArray

from latentry.contracts import LatentModule
from latentry.data import Batch
from latentry.models.natural_latents.drawing import Drawing
from latentry.models.natural_latents.latent_kinds import CategoricalLatent, LatentKind, Table
from latentry.models.natural_latents.networks import JointEncoder
from latentry.models.networks import visible
from latentry.nets import Head, Network

__all__ = ["Conclusion", "NaturalModule", "draw_rows", "latents_of_rows"]


class Conclusion(eqx.Module):
    """What is noted at the end of a fit, on rows held out: arrays, so that a run folder holds them.

    Args:
        measured: 1 once there is a conclusion, 0 before.
        group: For each value that was learned, the value that it was merged into; for columns, their order, those kept first.
        axes: Of columns that are counted: what each is made of. Else the identity.
        kept: Number of values or columns that are left.
        frontier: For each number of values, from 1 on: information, score, standard error of its distance from the best, and the
            redundancy error of each modality.
        domains: For each domain: information, and the redundancy error of each modality.
        scores: Of each restart.
        agreement: Between restarts, 1 where they give the same latent.
    """

    measured: Int[Array, ""]
    group: Int[Array, " values"]
    axes: Float[Array, "values values"]
    kept: Int[Array, ""]
    frontier: Float[Array, "values columns"]
    domains: Float[Array, "domains columns"]
    scores: Float[Array, " restarts"]
    agreement: Float[Array, "restarts restarts"]

    @classmethod
    def blank(cls, size: int, modalities: int, domains: int, restarts: int) -> Conclusion:
        """Return a conclusion before there is one: every value is kept.

        Args:
            size: Values or columns.
            modalities: How many.
            domains: How many, at least 1.
            restarts: How many.

        Returns:
            Zeros, in their shapes.
        """

        def unknown(*shape: int) -> jax.Array:
            blank: jax.Array = jax.device_put(np.zeros(shape, dtype=np.float32))
            return blank

        return cls(
            jax.device_put(np.zeros((), dtype=np.int32)),
            jax.device_put(np.arange(size, dtype=np.int32)),
            jax.device_put(np.eye(size, dtype=np.float32)),
            jax.device_put(np.asarray(size, dtype=np.int32)),
            unknown(size, 3 + modalities),
            unknown(domains, 1 + modalities),
            unknown(restarts),
            unknown(restarts, restarts),
        )


class NaturalModule(LatentModule):
    """A channel K(λ|x) and students q_i(λ|x_i).

    The channel of a complete row is a network of all modalities; with columns it is added to the mean of what the students say,
    and begins at 0: channel and students need not find each other then. That of a row with some missing is the product of the
    students of the others, which is exact where the modalities are independent given the latent.
    """

    channel: JointEncoder
    students: dict[str, Network]
    prior: Float[Array, " size"]
    width: Float[Array, " size"]  # logarithm of the channel's noise in each column; values have none
    apart: Float[Array, ""]  # 1 where rows have noise of their own besides, 0 where they have not
    heads: dict[str, Head]
    factor: Float[Array, ""]  # of the redundancy errors, in training
    conclusion: Conclusion
    drawing: Drawing
    kind: LatentKind = eqx.field(static=True)
    shapes: tuple[tuple[str, tuple[int, ...]], ...] = eqx.field(static=True)  # of a row of each modality
    masked: tuple[str, ...] = eqx.field(
        static=True, default=()
    )  # modalities whose networks see which cells are missing

    def latents(self, batch: Batch) -> tuple[Table, dict[str, Table]]:
        """Return what the channel says of each row, and what each student does.

        Args:
            batch: Standardised rows.

        Returns:
            Parameters of distributions: of the channel, and by modality.
        """
        seen = {name: visible(head, name, batch, masked=name in self.masked) for name, head in self.heads.items()}
        experts = {name: jax.vmap(student)(seen[name]) for name, student in self.students.items()}
        alone = {
            name: self.kind.product(self.prior, {name: raw}, {name: jnp.ones(len(raw))})
            for name, raw in experts.items()
        }
        raw = self.kind.agreed(experts) + jax.vmap(self.channel)(seen)
        whole = self.kind.of_channel(raw, self.width, self.apart)
        part = self.kind.product(self.prior, experts, batch.observed)
        complete = sum(batch.observed.values()) == len(self.students)
        return jnp.where(jnp.asarray(complete)[:, None], whole, part), alone

    def encode(self, batch: Batch, key: PRNGKeyArray) -> tuple[Table, Table]:
        """Return mean and standard deviation of the latent: probabilities after merging, or columns, those kept first.

        Args:
            batch: Standardised rows.
            key: Not used.

        Returns:
            Two arrays (rows, values or columns); of merged values only the first are not 0.
        """
        latent = self.latents(batch)[0]
        if isinstance(self.kind, CategoricalLatent):
            merged = jnp.exp(latent) @ jax.nn.one_hot(self.conclusion.group, self.kind.size)
            return self.kind.moments(jnp.log(merged + 1e-30))
        mean, scale = self.kind.moments(latent)
        axes = self.conclusion.axes[:, self.conclusion.group]
        return mean @ axes, jnp.sqrt(scale**2 @ axes**2)

    def draw(self, latents: Table) -> dict[str, Float[Array, "rows ..."]]:
        """Return the expected values of every modality, by the decoder that was fitted last.

        Args:
            latents: (rows, latents), as many as are kept or more.

        Returns:
            By modality, standardised.
        """
        used = jnp.where(jnp.arange(self.kind.size) < self.conclusion.kept, latents, 0.0)
        return self.drawing(used, self.heads, dict(self.shapes))

    def reconstruct(self, batch: Batch) -> dict[str, Float[Array, "rows ..."]]:
        """Return the expected values of every modality given the latent of each row.

        Args:
            batch: Standardised rows.

        Returns:
            By modality, standardised.
        """
        return self.draw(self.encode(batch, jax.random.key(0))[0])


def latents_of_rows(module: NaturalModule, batch: Batch, key: jax.Array) -> tuple[Table, dict[str, Table]]:
    """Call :meth:`NaturalModule.latents`; a function of its own, so that compiled code is shared between modules.

    Args:
        module: Trained.
        batch: Standardised rows.
        key: Not used; functions of a batch all have it.

    Returns:
        Parameters of distributions: of the channel, and by modality.
    """
    return module.latents(batch)


def draw_rows(module: NaturalModule, batch: Batch, key: jax.Array) -> dict[str, Float[Array, "rows ..."]]:
    """Call :meth:`NaturalModule.draw` on a batch whose only modality is ``latents``.

    Args:
        module: Trained.
        batch: Latents, as the modality ``latents``.
        key: Not used; functions of a batch all have it.

    Returns:
        By modality, standardised.
    """
    return module.draw(batch.values["latents"])
