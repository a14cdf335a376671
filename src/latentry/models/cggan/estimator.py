"""Images from several domains: what the domain changes, and what it leaves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, TypeAlias, TypedDict, Unpack, final

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from latentry.contracts import ModelFacts, Reconstructs, SamplesByDomain
from latentry.data import DataLike, Dataset, Domain, DomainLike, LabelsLike
from latentry.errors import DataError
from latentry.models.cggan.checks import (
    check_equal_sizes,
    check_images,
    check_parameters,
    check_range,
    check_resolution,
)
from latentry.models.cggan.facts import ImageFacts
from latentry.models.cggan.images import Decode, Grids, Sample, Still, codes_behind
from latentry.models.cggan.inversion import descend_to
from latentry.models.cggan.losses import Rebuilding, Terms
from latentry.models.cggan.module import Adversaries, Generator, Makers
from latentry.models.cggan.settings import Adversarial, ImageNetworks
from latentry.models.cggan.updates import Alternation, Autoencoding
from latentry.models.domain_prior import check_domain, domain_facts
from latentry.models.estimator import (
    COMMON,
    Choice,
    Group,
    LatentModel,
    Real,
    Reals,
    Rule,
    RunOptions,
    Schedule,
    Training,
    Whole,
    check_draws,
    check_latents,
    ready,
    require,
)
from latentry.nets import ContentDistribution, Discriminator, DomainEmbedding, DomainFlow, ImageEncoder, Synthesis
from latentry.nets import Mapping as StyleMapping
from latentry.training import Phase, map_rows

__all__ = ["CGGAN"]


class _Widths(TypedDict):
    width: int
    most: int
    precision: DTypeLike


Make: TypeAlias = Sample | Still | Decode
_R1_EVERY, _PATH_EVERY = 16, 8
_TARGET = 0.6  # mean sign of verdicts on real images, above which they are changed more often
_ALONE = 4.0  # how much faster the makers learn by themselves
_INVERSIONS = Choice(("encoder", "optimise"))


@final
@dataclass(eq=False, repr=False)
class CGGAN(LatentModel[Adversaries, ImageFacts], SamplesByDomain, Reconstructs):
    r"""Images from latents of which a few change with the domain: a generator, not a density.

    Codes c and the domain u give latents z: the first ``style_dim`` go through an increasing flow of their own for each
    domain, as far as a learned mask lets them; what the mask leaves still is the content, whose joint distribution is the same
    everywhere, and is learned. Latents give a style w, and w scales the weights of convolutions that make the image. A
    discriminator with a verdict for each domain is the opponent (Karras et al., 2020). In the last part of the training an
    L1 penalty on :math:`\partial x/\partial z` over the style latents makes the mixing sparse (Li et al., *Synergy between
    sufficient changes and sparse mixing procedure for disentangled representation learning*, 2025). An encoder learns the
    codes behind images meanwhile, and real images are rebuilt from it and generated in other domains, so that
    translation keeps content.

    What it cannot do: it has no likelihood, hence no score and no held-out choice of epoch or seed; the theorems on changes
    and sparse mixing speak of exact distributions, not of a discriminator's verdict; and what it calls content is what the
    mask left still, not a promise about your data. See also :class:`CGVAE`, for tables.

    Cost: linear in images and epochs, and in the pixels of an image for given networks.

    Args:
        latent_dim: Latents in all.
        style_dim: The first of them, which may change with the domain.
        resolution: Height and width of what is learned; None for those of the images. Between 8 and 256, and 4 to 7 times
            a power of two; other images are resized.
        value_range: Lowest and highest value of the images.
        conditioning: "flow", or "embedding": the domain as a learned vector beside the latents, as in a conditional StyleGAN2.
        mask: Weight of the size of the mask; None for flows on all style latents and no mask.
        sparsity: Weight of the L1 penalty on the mixing, in the last part.
        networks: Their sizes: see :class:`ImageNetworks`.
        adversarial: What the players are paid for, and when: see :class:`Adversarial`.

    For the other arguments see :class:`LatentModel`; of ``training`` only the schedule is used, and a ``beta`` is refused.

    >>> from latentry.generators import domain_images
    >>> from latentry.models import ImageNetworks
    >>> data = domain_images(rows_per_domain=16, size=8)
    >>> small = ImageNetworks(channels=2, most_channels=4)
    >>> model = CGGAN(latent_dim=8, style_dim=2, epochs=2, batch_size=16, networks=small).fit(data)
    >>> model.sample(3, domain=1).shape, model.translate(data["image"][:5], to=0).shape
    ((3, 8, 8, 3), (5, 8, 8, 3))
    """

    latent_dim: int = 32
    epochs: int = 100
    batch_size: int = 32
    learning_rate: float = 2.5e-3
    validation: float = 0.0
    restarts: int = 1
    seed: int = 0
    progress: bool | str = "auto"
    style_dim: int = 8
    resolution: int | None = None
    value_range: Sequence[float] = field(default=(0.0, 1.0))
    conditioning: str = "flow"
    mask: float | None = 0.3
    sparsity: float = 0.1
    training: Training = Training(clip=None, patience=None)
    networks: ImageNetworks = ImageNetworks()
    adversarial: Adversarial = Adversarial()

    name: ClassVar[str] = "cggan"
    constraints: ClassVar[Mapping[str, Rule]] = {
        **COMMON,
        "style_dim": Whole(1),
        "value_range": Reals(2, example="(0, 1)"),
        "conditioning": Choice(("flow", "embedding")),
        "mask": Real(least=0, none=True),
        "sparsity": Real(least=0),
        "networks": Group(ImageNetworks),
        "adversarial": Group(Adversarial),
    }
    facts_class: ClassVar[type[ModelFacts]] = ImageFacts
    least_domains: ClassVar[int] = 2
    takes_tables: ClassVar[bool] = False

    @property
    def domain_for(self) -> str | None:
        """Return "transform": latents are what codes become in a domain."""
        return "transform"

    # Learning -------------------------------------------------------------------------------

    def fit(
        self,
        X: DataLike,
        y: DomainLike | None = None,
        *,
        domain: DomainLike | None = None,
        groups: LabelsLike | None = None,
        grids: str | Path | None = None,
        grids_every: int = 1,
        **options: Unpack[RunOptions],
    ) -> CGGAN:
        """Learn from images.

        Args:
            X: A Dataset of images, or images (rows, height, width[, channels]).
            y: The domain of each, if ``X`` has none.
            domain: As of :meth:`LatentModel.fit`.
            groups: As of :meth:`LatentModel.fit`.
            grids: A folder that gets a grid of samples as PNG, the same noise in each domain.
            grids_every: Epochs between two grids.
            options: As of :meth:`LatentModel.fit`: run, resume, save_every, logger.

        Returns:
            The model itself.
        """
        check_equal_sizes(X)
        require("grids_every", grids_every, Whole(1))
        self._grids = None if grids is None else Grids(str(grids), grids_every)
        try:
            super().fit(X, y, domain=domain, groups=groups, **options)
        finally:
            del self._grids
        return self

    def learn_facts(self, data: Dataset) -> ImageFacts:
        """Check images and domains; note the resolution, and how often each domain occurs.

        Args:
            data: Rows.

        Returns:
            What the fit must know of the data.

        Raises:
            DataError: If the data cannot be learned from.
        """
        check_parameters(self)
        name = check_images(data)
        if data.domain is not None and data.domain.is_continuous:
            raise DataError("CGGAN learns from domains with labels, the data have a continuous u: cut it into classes.")
        check_domain(data, "CGGAN")
        size = check_resolution(self.resolution, data.layout.shape(name)[0])
        return ImageFacts(domain_facts(data, self.seed), name, size)

    @property
    def facts(self) -> ImageFacts:
        """Return what the fit noted of the data."""
        assert isinstance(self.record_.facts, ImageFacts)
        return self.record_.facts

    def prepared(self, data: Dataset) -> Dataset:
        """Return the same data, after a look at their range.

        Args:
            data: Rows.

        Returns:
            Rows as the module sees them.
        """
        check_range(data, self.facts.modality, self.value_range)
        return data

    def standardised(self, facts: ImageFacts) -> tuple[str, ...]:
        """Return nothing: the range is declared.

        Args:
            facts: What was noted of the data.

        Returns:
            An empty tuple.
        """
        return ()

    def build(self, key: jax.Array) -> Adversaries:
        """Return generator, encoder and discriminator.

        Args:
            key: Of random numbers.

        Returns:
            An untrained module.
        """
        domain_key, style_key, image_key, encoder_key, judge_key, content_key = jax.random.split(key, 6)
        size, domains, sizes, colours = (
            self.facts.size,
            self.record_.layout.domain_size,
            self.networks,
            self._channels(),
        )
        shared: _Widths = {"width": sizes.channels, "most": sizes.most_channels, "precision": sizes.dtype}
        encoding = self._encoding(domains, domain_key)
        generator = Generator(
            ContentDistribution(self.latent_dim, layers=sizes.law_layers, first=self.style_dim, key=content_key),
            encoding,
            StyleMapping(encoding.inputs, sizes.style_width, layers=sizes.mapping_layers, key=style_key),
            Synthesis(size, colours, style=sizes.style_width, key=image_key, **shared),
        )
        makers = Makers(generator, ImageEncoder(size, colours, latents=self.latent_dim, key=encoder_key, **shared))
        low, high = (float(end) for end in self.value_range)
        return Adversaries(
            makers=makers,
            average=makers,
            discriminator=Discriminator(size, colours, domains=domains, key=judge_key, **shared),
            augmentation=jnp.zeros(()),
            path=jnp.zeros(()),
            rows=jnp.zeros(()),
            low=low,
            high=high,
            size=size,
            modality=self.facts.modality,
            kinds=tuple(self.adversarial.augmentation) if self.adversarial.adapt_rows else (),
        )

    def _encoding(self, domains: int, key: jax.Array) -> DomainFlow | DomainEmbedding:
        if self.conditioning == "embedding":
            return DomainEmbedding(self.latent_dim, domains=domains, key=key)
        return DomainFlow(self.latent_dim, style=self.style_dim, domains=domains, masked=self.mask is not None, key=key)

    def _channels(self) -> int:
        shape = self.record_.layout.shape(self.facts.modality)
        return 1 if len(shape) == 2 else shape[2]

    def phases(self) -> tuple[Phase, ...]:
        """Return the makers alone; then against the discriminator, without sparsity and with it."""
        game = self.adversarial
        alone = round(game.autoencode * self.epochs) if game.reconstruction else 0
        first = round(game.pretrain * (self.epochs - alone))
        plain = self._phase("pretrain", first, 0.0, "constant")
        fine = self._phase("finetune", self.epochs - alone - first, self.sparsity, self.training.schedule)
        return tuple(phase for phase in (self._alone(alone), plain, fine) if phase.epochs)

    def _alone(self, epochs: int) -> Phase:
        terms = Rebuilding(self.adversarial.weights(0.0, self.mask or 0.0))
        update, hook = Autoencoding(terms, float(self.adversarial.average_rows)), vars(self).get("_grids")
        rate = _ALONE * self.learning_rate
        return Phase("autoencode", terms, epochs, rate, self.training.schedule, update=update, after_epoch=hook)

    def _phase(self, name: str, epochs: int, sparsity: float, schedule: Schedule) -> Phase:
        game, hook = self.adversarial, vars(self).get("_grids")
        terms = Terms(game.weights(sparsity, self.mask or 0.0), self.sparsity > 0, game.encodes, game.translation)
        average, adapt = float(game.average_rows), float(game.adapt_rows)
        update = Alternation(terms, _R1_EVERY, _PATH_EVERY, average, adapt, target=_TARGET)
        return Phase(name, terms, epochs, self.learning_rate, schedule, update=update, after_epoch=hook)

    # After fitting --------------------------------------------------------------------------

    def sample(self, n: int = 1, domain: DomainLike | None = None, *, seed: int = 0) -> np.ndarray:
        """Draw new images in the data's own range.

        Args:
            n: How many.
            domain: Of all of them, or of each; by default domains occur as often as they did in the data.
            seed: Of the draws. The same seed gives the same content in each domain.

        Returns:
            (n, height, width[, channels]).
        """
        check_draws(self, n, seed)
        rng = np.random.default_rng(seed)
        noise = rng.standard_normal((n, self.latent_dim), dtype=np.float32)
        labels = rng.choice(self.facts.domains.seen, n) if domain is None else self._labels(domain, n)
        return self._made(noise, labels, Sample(), seed)

    def translate(
        self,
        images: DataLike,
        to: DomainLike,
        *,
        inversion: str = "encoder",
        domain: DomainLike | None = None,
        steps: int = 100,
    ) -> np.ndarray:
        """Return the same content in another domain.

        Args:
            images: A Dataset, or images as they were fitted.
            to: The domain wanted, for all or for each.
            inversion: "encoder", or "optimise": descent on the code from where the encoder points, which needs the domain
                that the images come from.
            domain: That domain, for all or for each, if ``images`` has none.
            steps: Of "optimise".

        Returns:
            Images of the shape of the data's.
        """
        codes = self.invert(images, inversion=inversion, domain=domain, steps=steps)
        return self._made(codes, self._labels(to, len(codes)), Still())

    def reconstruct(
        self, images: DataLike, domain: DomainLike | None = None, *, inversion: str = "encoder", steps: int = 100
    ) -> np.ndarray:
        """Return images from the codes behind them, in their own domain.

        Args:
            images: A Dataset, or images as they were fitted.
            domain: That they come from, if ``images`` has none.
            inversion: "encoder", or "optimise".
            steps: Of "optimise".

        Returns:
            Images of the shape of the data's.
        """
        labels = self._source(images, domain)
        codes = self.invert(images, inversion=inversion, domain=domain, steps=steps)
        return self._made(codes, labels, Still())

    def invert(
        self, images: DataLike, *, inversion: str = "encoder", domain: DomainLike | None = None, steps: int = 100
    ) -> np.ndarray:
        """Return the codes c behind images, before a domain changes them, (rows, latents); arguments as of :meth:`translate`.

        Args:
            images: A Dataset, or images as they were fitted.
            inversion: "encoder", or "optimise".
            domain: That they come from, which "optimise" needs, if ``images`` has none.
            steps: Of "optimise".

        Returns:
            (rows, latents).
        """
        check_is_fitted(self)
        require("inversion", inversion, _INVERSIONS)
        require("steps", steps, Whole(1))
        data = ready(self, self._images(images), None)
        if inversion == "encoder":
            codes: np.ndarray = map_rows(codes_behind, self.module_, data)
            return codes
        labels = self._source(images, domain)
        wanted = self.module_.inward(jnp.asarray(data[self.facts.modality], jnp.float32))
        return descend_to(self.module_.average, wanted, jnp.asarray(labels), steps)

    def decode(self, latents: ArrayLike) -> np.ndarray:
        """Return images of latents (rows, latents), without noise in the pixels.

        Args:
            latents: (rows, latents).

        Returns:
            Images of the shape of the data's.

        Raises:
            DataError: If the domain stands beside the latents.
        """
        check_is_fitted(self)
        if self.conditioning == "embedding":
            raise DataError('with conditioning="embedding" latents alone make no image: use sample or translate.')
        values = check_latents(latents, self.latent_dim)
        return self._made(values, np.zeros(len(values), np.int32), Decode())

    @property
    def mask_(self) -> np.ndarray:
        """Return how far each style latent follows the flow of its domain, 0 to 1."""
        check_is_fitted(self)
        if self.conditioning == "embedding":
            raise DataError('with conditioning="embedding" there is no mask: the domain stands beside the latents.')
        domains = self.module_.average.generator.domains
        assert isinstance(domains, DomainFlow)
        return np.asarray(domains.mask())

    @property
    def changing_(self) -> np.ndarray:
        """Return, for each latent, whether its distribution changes with the domain."""
        changing = np.zeros(self.latent_dim, dtype=bool)
        changing[: self.style_dim] = self.mask_ > 0
        return changing

    # Inside ---------------------------------------------------------------------------------

    def _images(self, images: DataLike) -> Dataset:
        if isinstance(images, Dataset):
            return images
        check_equal_sizes(images)
        return Dataset(images if isinstance(images, dict) else {self.facts.modality: np.asarray(images)})

    def _source(self, images: DataLike, domain: DomainLike | None) -> np.ndarray:
        check_is_fitted(self)
        given = self._images(images)
        domain = given.domain if domain is None else domain
        if domain is None:
            raise DataError(
                "the domain that the images come from is needed here: pass domain=, or a Dataset that has it."
            )
        return self._labels(domain, len(given))

    def _labels(self, domain: DomainLike, rows: int) -> np.ndarray:
        wanted = domain if isinstance(domain, Domain) else Domain.of(np.atleast_1d(np.asarray(domain)))
        codes = wanted.recode(self.record_.layout.domain_labels, self.record_.layout.domain_size).values
        if len(codes) not in (1, rows):
            raise DataError(f"domain has {len(codes)} entries for {rows} images: give one for all, or one for each.")
        return np.broadcast_to(codes, rows)

    def _made(self, values: np.ndarray, labels: np.ndarray, how: Make, seed: int = 0) -> np.ndarray:
        flat = len(self.record_.layout.shape(self.facts.modality)) == 2
        rows = Dataset({"rows": values}, Domain(np.array(labels, dtype=np.int32), self.record_.layout.domain_labels))
        made: np.ndarray = map_rows(how, self.module_, rows, seed=seed)
        return made[..., 0] if flat else made
