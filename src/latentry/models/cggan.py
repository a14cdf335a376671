"""Pictures from several domains: what the domain changes, and what it leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from sklearn.utils.validation import check_is_fitted

from latentry.data import Batch, Dataset, Domain
from latentry.errors import DataError, nearest
from latentry.models.adversarial import Adversaries, Generator, Makers
from latentry.models.adversarial_steps import Alternation, Autoencoding
from latentry.models.adversarial_terms import Rebuilding, Terms, Weights
from latentry.models.base import LatentModel
from latentry.models.checks import check_latents, whole_number
from latentry.models.domains import check_domain, domain_facts
from latentry.models.inversion import descend_to
from latentry.models.picture_checks import (
    check_equal_sizes,
    check_parameters,
    check_pictures,
    check_range,
    check_resolution,
)
from latentry.models.picture_making import Decode, Grids, Sample, Still, codes_behind
from latentry.nets import (
    ContentDistribution,
    Discriminator,
    DomainEmbedding,
    DomainFlow,
    ImageEncoder,
    Mapping,
    Synthesis,
)
from latentry.training import Phase, map_rows

__all__ = ["CGGAN"]

_R1_EVERY, _PATH_EVERY = 16, 8
_TARGET = 0.6  # mean sign of verdicts on real pictures, above which they are changed more often
_ALONE = 4.0  # how much faster the makers learn by themselves
_NO_SCORE = "CGGAN has no likelihood: compare its samples with real pictures by identifiability.frechet_distance."


@dataclass(eq=False, repr=False)
class CGGAN(LatentModel):
    r"""Pictures from latents of which a few change with the domain: a generator, not a density.

    Codes c and the domain u give latents z: the first ``style_dim`` go through an increasing flow of their own for each
    domain, as far as a learned mask lets them; what the mask leaves still is the content, whose joint law is the same everywhere,
    and is learned. Latents give a style w, and w scales the weights of convolutions that make the picture. A discriminator with a
    verdict for each domain is the opponent (Karras et al., 2020). In the last part of the training an L1 penalty on
    :math:`\partial x/\partial z` over the style latents makes the mixing sparse (Li et al., *Synergy between sufficient changes
    and sparse mixing procedure for disentangled representation learning*, 2025). An encoder learns the codes behind pictures
    along the way, and real pictures are rebuilt from it and generated in other domains, so that translation keeps content.

    What it cannot do: it has no likelihood, hence no score and no held-out choice of epoch or seed; the theorems on changes
    and sparse mixing speak of exact laws, not of a discriminator's verdict; and what it calls content is what the mask left
    still, not a promise about your data. See also :class:`CGVAE`, for tables.

    Args:
        latent_dim: Latents in all.
        style_dim: The first of them, which may change with the domain.
        resolution: Height and width of what is learned; None for those of the pictures. Between 8 and 256, and 4 to 7 times
            a power of two; other pictures are resized.
        value_range: Lowest and highest value of the pictures.
        conditioning: "flow", or "embedding": the domain as a learned vector beside the latents, as in a conditional StyleGAN2.
        mask: Weight of the size of the mask; None for flows on all style latents and no mask.
        sparsity: Weight of the L1 penalty on the mixing, in the last part.
        autoencode: Share of the epochs in which generator and encoder learn by themselves, as a variational autoencoder: they
            cost less than half, and the discriminator then meets a generator that knows what pictures look like.
        pretrain: Share of the other epochs before sparsity begins.
        channels: Of the convolutions at the finest resolution; doubled at each coarser one.
        most_channels: Up to which they are doubled.
        style_width: Of w.
        mapping_layers: Dense layers from latents to w.
        law_layers: Layers of the law of content, an invertible map of noise N(0, I); 0 for independent normal content,
            which it also is without an encoder (``regression=0, reconstruction=0``).
        r1: Weight of the discriminator's squared gradient at real pictures, computed every 16th step.
        path: Weight of the spread of path lengths, computed every 8th step.
        regression: Weight of finding codes again in the pictures that are generated from them.
        reconstruction: Weight of rebuilding real pictures from draws of the encoder, in the manner of a variational autoencoder.
        divergence: Weight, per latent, of the divergence of each encoding from N(0, I).
        matching: Weight of how far the encodings of each domain, taken together, are from N(0, I). It keeps the domain out of
            them; it rises over the first 200 000 rows.
        translation: Share of generated rows that are real ones in another domain.
        augmentation: Changes that the discriminator may see: "flip", "shift", "scale", "rotate", "brightness", "hue".
        adapt_rows: Rows over which their probability may rise by one; 0 for no augmentation.
        average_rows: Half-life, in rows, of the average of generator and encoder that is used after training.
        precision: Of the convolutions: "auto" (bfloat16 on accelerators, float32 on processors), "float32", "bfloat16".

    For the other arguments see :class:`LatentModel`; ``clip`` and ``patience`` are not used.

    >>> from latentry.generators import domain_images
    >>> data = domain_images(rows_per_domain=16, size=16)
    >>> model = CGGAN(latent_dim=8, style_dim=2, epochs=2, channels=4, most_channels=8, batch_size=16).fit(data)
    >>> model.sample(3, domain=1).shape, model.translate(data["image"][:5], to=0).shape
    ((3, 16, 16, 3), (5, 16, 16, 3))
    """

    latent_dim: int = 32
    epochs: int = 100
    batch_size: int = 32
    learning_rate: float = 2.5e-3
    clip: float | None = None
    validation: float = 0.0
    patience: int | None = None
    style_dim: int = 8
    resolution: int | None = None
    value_range: Sequence[float] = field(default=(0.0, 1.0))
    conditioning: str = "flow"
    mask: float | None = 0.3
    sparsity: float = 0.1
    autoencode: float = 0.6
    pretrain: float = 0.3
    channels: int = 16
    most_channels: int = 256
    style_width: int = 64
    mapping_layers: int = 2
    law_layers: int = 8
    r1: float = 0.1
    path: float = 0.5
    regression: float = 0.5
    reconstruction: float = 100.0
    divergence: float = 0.5
    matching: float = 500.0
    translation: float = 0.5
    augmentation: Sequence[str] = field(default=("shift", "scale"))
    adapt_rows: float = 100_000
    average_rows: float = 20_000
    precision: str = "auto"

    name: ClassVar[str] = "cggan"
    least_domains: ClassVar[int] = 2

    @property
    def score_name(self) -> str:
        """It has none."""
        return "none: a generator has no likelihood"

    @property
    def domain_for(self) -> str | None:
        """Latents are what codes become in a domain."""
        return "transform"

    # Learning -------------------------------------------------------------------------------

    def fit(
        self, X: Any, y: Any = None, *, grids: str | Path | None = None, grids_every: int = 1, **options: Any
    ) -> CGGAN:
        """Learn from pictures.

        Args:
            X: A Dataset of pictures, or pictures (rows, height, width[, channels]).
            y: The domain of each, if ``X`` has none.
            grids: A folder that gets a grid of samples as PNG, the same noise in each domain.
            grids_every: Epochs between two grids.
            options: As of :meth:`LatentModel.fit`: run, resume, save_every, logger.
        """
        check_equal_sizes(X)
        whole_number("grids_every", grids_every, least=1)
        self._grids = None if grids is None else Grids(str(grids), grids_every)
        try:
            super().fit(X, y, **options)
        finally:
            del self._grids
        return self

    def learn_facts(self, data: Dataset) -> dict[str, Any]:
        """Check pictures and domains; note the resolution, and how often each domain occurs."""
        check_parameters(self)
        name = check_pictures(data)
        if data.domain is not None and data.domain.is_continuous:
            raise DataError("CGGAN learns from domains with labels, the data have a continuous u: cut it into classes.")
        check_domain(data, "CGGAN")
        size = check_resolution(self.resolution, data.layout.shape(name)[0])
        return domain_facts(data, self.seed) | {"modality": name, "size": size}

    def prepared(self, data: Dataset) -> Dataset:
        """The same, after a look at the range."""
        check_range(data, self.facts_["modality"], self.value_range)
        return data

    def standardised(self) -> tuple[str, ...]:
        """None: the range is declared."""
        return ()

    def build(self, key: jax.Array) -> Adversaries:
        """Generator, encoder and discriminator."""
        one, two, three, four, five, six = jax.random.split(key, 6)
        size, domains = self.facts_["size"], self.layout_.domain_size
        shared = {"most": self.most_channels, "precision": self._precision()}
        encoding = self._encoding(domains, one)
        generator = Generator(
            ContentDistribution(self.latent_dim, layers=self.law_layers, first=self.style_dim, key=six),
            encoding,
            Mapping(encoding.inputs, self.style_width, layers=self.mapping_layers, key=two),
            Synthesis(size, self._channels(), width=self.channels, style=self.style_width, key=three, **shared),
        )
        encoder = ImageEncoder(
            size, self._channels(), width=self.channels, latents=self.latent_dim, key=four, **shared
        )
        makers = Makers(generator, encoder)
        low, high = (float(end) for end in self.value_range)
        return Adversaries(
            makers=makers,
            average=makers,
            discriminator=Discriminator(
                size, self._channels(), width=self.channels, domains=domains, key=five, **shared
            ),
            augmentation=jnp.zeros(()),
            path=jnp.zeros(()),
            rows=jnp.zeros(()),
            low=low,
            high=high,
            size=size,
            modality=self.facts_["modality"],
            kinds=tuple(self.augmentation) if self.adapt_rows else (),
        )

    def _encoding(self, domains: int, key: jax.Array) -> DomainFlow | DomainEmbedding:
        if self.conditioning == "embedding":
            return DomainEmbedding(self.latent_dim, domains=domains, key=key)
        return DomainFlow(
            self.latent_dim, style=self.style_dim, domains=domains, masked=self.mask is not None, key=key
        )

    def _precision(self) -> Any:
        wide = self.precision == "float32" or (self.precision == "auto" and jax.default_backend() == "cpu")
        return jnp.float32 if wide else jnp.bfloat16

    def _channels(self) -> int:
        shape = self.layout_.shape(self.facts_["modality"])
        return 1 if len(shape) == 2 else shape[2]

    def phases(self) -> tuple[Phase, ...]:
        """The makers alone; then against the discriminator, without sparsity and with it."""
        alone = round(self.autoencode * self.epochs) if self.reconstruction else 0
        first = round(self.pretrain * (self.epochs - alone))
        plain = self._phase("pretrain", first, 0.0, "constant")
        fine = self._phase("finetune", self.epochs - alone - first, self.sparsity, self.schedule)
        return tuple(phase for phase in (self._alone(alone), plain, fine) if phase.epochs)

    def _alone(self, epochs: int) -> Phase:
        terms = Rebuilding(self._weights(0.0))
        update, hook = Autoencoding(terms, float(self.average_rows)), getattr(self, "_grids", None)
        rate = _ALONE * self.learning_rate
        return Phase("autoencode", terms, epochs, rate, self.schedule, update=update, after_epoch=hook)

    def _phase(self, name: str, epochs: int, sparsity: float, schedule: Any) -> Phase:
        terms = Terms(self._weights(sparsity), self.sparsity > 0, self._encodes(), self.translation)
        update = Alternation(
            terms, _R1_EVERY, _PATH_EVERY, float(self.average_rows), float(self.adapt_rows), target=_TARGET
        )
        return Phase(
            name, terms, epochs, self.learning_rate, schedule, update=update, after_epoch=getattr(self, "_grids", None)
        )

    def _weights(self, sparsity: float) -> Weights:
        mask = 0.0 if self.mask is None else self.mask
        rest = (self.regression, self.reconstruction, self.divergence, self.matching)
        return Weights(self.r1, self.path, sparsity, mask, *rest)

    def _encodes(self) -> bool:
        return bool(self.regression or self.reconstruction)

    # After fitting --------------------------------------------------------------------------

    @staticmethod
    def posterior(module: Adversaries, batch: Batch, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        """The encoder's mean and deviation of the code, taken through the flows of the row's domain."""
        mean, scale = module.average.encoder(module.inward(batch.values[module.modality]))
        latents, slopes = module.average.generator.domains.with_derivatives(mean, batch.domain)
        return latents, scale * slopes

    @staticmethod
    def evidence(module: Adversaries, batch: Batch, key: jax.Array) -> jax.Array:
        """It has none."""
        raise DataError(_NO_SCORE)

    @staticmethod
    def generate(module: Adversaries, key: jax.Array, count: int) -> dict[str, jax.Array]:
        """Not used: samples need a domain."""
        raise NotImplementedError

    def sample(self, n: int = 1, domain: Any = None, *, seed: int = 0) -> np.ndarray:
        """New pictures in the data's own range.

        Args:
            n: How many.
            domain: Of all of them, or of each; by default domains occur as often as they did in the data.
            seed: Of the draws. The same seed gives the same content in each domain.
        """
        check_is_fitted(self)
        whole_number("n", n, least=1)
        whole_number("seed", seed, least=0)
        rng = np.random.default_rng(seed)
        noise = rng.standard_normal((n, self.latent_dim), dtype=np.float32)
        seen = np.asarray(self.facts_["seen"])
        labels = rng.choice(seen, n) if domain is None else self._labels(domain, n)
        return self._made(noise, labels, Sample(), seed)

    def translate(
        self, images: Any, to: Any, *, inversion: str = "encoder", domain: Any = None, steps: int = 100
    ) -> np.ndarray:
        """The same content in another domain.

        Args:
            images: A Dataset, or pictures as they were fitted.
            to: The domain wanted, for all or for each.
            inversion: "encoder", or "optimise": descent on the code from where the encoder points, which needs the domain
                that the pictures come from.
            domain: That domain, for all or for each, if ``images`` has none.
            steps: Of "optimise".
        """
        codes = self.invert(images, inversion=inversion, domain=domain, steps=steps)
        return self._made(codes, self._labels(to, len(codes)), Still())

    def reconstruct(
        self, images: Any, domain: Any = None, *, inversion: str = "encoder", steps: int = 100
    ) -> np.ndarray:
        """Pictures from the codes that were found behind them, in their own domain."""
        labels = self._source(images, domain)
        codes = self.invert(images, inversion=inversion, domain=domain, steps=steps)
        return self._made(codes, labels, Still())

    def invert(
        self, images: Any, *, inversion: str = "encoder", domain: Any = None, steps: int = 100
    ) -> np.ndarray:
        """The codes c behind pictures, before a domain changes them, (rows, latents); arguments as of :meth:`translate`."""
        check_is_fitted(self)
        if inversion not in ("encoder", "optimise"):
            raise DataError(f"inversion = {inversion!r} is not known{nearest(str(inversion), ('encoder', 'optimise'))}")
        whole_number("steps", steps, least=1)
        data = self._ready(self._pictures(images), None)
        if inversion == "encoder":
            return map_rows(codes_behind, self.module_, data)
        labels = self._source(images, domain)
        found = jnp.asarray(data[self.facts_["modality"]], jnp.float32)
        return descend_to(self.module_.average, self.module_.inward(found), jnp.asarray(labels), steps)

    def decode(self, latents: Any) -> np.ndarray:
        """Pictures of latents (rows, latents), without noise in the pixels."""
        check_is_fitted(self)
        if self.conditioning == "embedding":
            raise DataError('with conditioning="embedding" latents alone make no picture: use sample or translate.')
        values = check_latents(latents, self.latent_dim)
        return self._made(values, np.zeros(len(values), np.int32), Decode())

    def score_rows(self, X: Any, y: Any = None, *, seed: int = 0) -> np.ndarray:
        """It has no likelihood: this raises."""
        raise DataError(_NO_SCORE)

    @property
    def mask_(self) -> np.ndarray:
        """How far each style latent follows the flow of its domain, 0 to 1."""
        check_is_fitted(self)
        if self.conditioning == "embedding":
            raise DataError('with conditioning="embedding" there is no mask: the domain stands beside the latents.')
        return np.asarray(self.module_.average.generator.domains.mask())

    @property
    def changing_(self) -> np.ndarray:
        """For each latent, whether its law changes with the domain."""
        found = np.zeros(self.latent_dim, dtype=bool)
        found[: self.style_dim] = self.mask_ > 0
        return found

    # Inside ---------------------------------------------------------------------------------

    def _pictures(self, images: Any) -> Dataset:
        if isinstance(images, Dataset):
            return images
        check_equal_sizes(images)
        return Dataset(images if isinstance(images, dict) else {self.facts_["modality"]: np.asarray(images)})

    def _source(self, images: Any, domain: Any) -> np.ndarray:
        check_is_fitted(self)
        pictures = self._pictures(images)
        domain = pictures.domain if domain is None else domain
        if domain is None:
            raise DataError("the domain that the pictures come from is needed here: pass domain=, or a Dataset that has it.")
        return self._labels(domain, len(pictures))

    def _labels(self, domain: Any, rows: int) -> np.ndarray:
        wanted = domain if isinstance(domain, Domain) else Domain.of(np.atleast_1d(np.asarray(domain)))
        codes = wanted.recode(self.layout_.domain_labels, self.layout_.domain_size).values
        if len(codes) not in (1, rows):
            raise DataError(f"domain has {len(codes)} entries for {rows} pictures: give one for all, or one for each.")
        return np.broadcast_to(codes, rows)

    def _made(self, values: np.ndarray, labels: np.ndarray, how: Any, seed: int = 0) -> np.ndarray:
        flat = len(self.layout_.shape(self.facts_["modality"])) == 2
        rows = Dataset({"rows": values}, Domain(np.array(labels, dtype=np.int32), self.layout_.domain_labels))
        found = map_rows(how, self.module_, rows, seed=seed)
        return found[..., 0] if flat else found
