"""The contract of every model: fit, transform, sample, score, channel, save."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import jax
import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from latentry.data import Channel, Dataset, GaussianChannel, Layout, Standardiser, row_marks
from latentry.errors import CheckpointError, DataError, DataWarning, TrainingDiverged
from latentry.models.checks import check_common, check_latents, check_rows, whole_number
from latentry.models.domains import without_empty_domains
from latentry.training import Feed, History, Logger, Phase, RunState, Task, holds_run, map_rows, run

__all__ = ["LatentModel"]


@dataclass(eq=False, repr=False)
class LatentModel(TransformerMixin, BaseEstimator):
    """A model that finds latents. It follows scikit-learn; ``fit`` also takes a Dataset.

    A new model says what it builds (:meth:`build`), in which phases it is trained (:meth:`phases`), and what a
    latent is given a row (:meth:`posterior`); the rest is here.

    Args:
        latent_dim: Number of latents.
        epochs: Passes over the training rows.
        batch_size: Rows per optimiser step.
        learning_rate: Of Adam, before the schedule.
        schedule: "constant", "cosine", "warmup", or an Optax schedule.
        clip: Largest norm of the gradient, or None.
        validation: Share of rows held out to choose the best epoch and restart; 0 keeps the last epoch.
        patience: Epochs without a better held-out loss before training ends; None for never.
        restarts: Independent fits, of which the best on held-out rows is kept.
        seed: Of everything random. The same seed gives the same result.
        progress: True, False, or "auto": a bar when somebody is watching.
    """

    latent_dim: int = 2
    epochs: int = 100
    batch_size: int = 128
    learning_rate: float = 2e-3
    schedule: Any = "cosine"
    clip: float | None = 5.0
    validation: float = 0.1
    patience: int | None = 20
    restarts: int = 1
    seed: int = 0
    progress: bool | str = "auto"

    name: ClassVar[str]  # as the command line calls it
    least_domains: ClassVar[int] = 0  # domains without which the model has no meaning
    takes_latents_from_data: ClassVar[bool] = False  # whether latent_dim may be None
    encodes_subsets: ClassVar[bool] = False  # whether any subset of the modalities can be encoded

    # What a model must say ------------------------------------------------------------------

    @property
    @abstractmethod
    def score_name(self) -> str:
        """What ``score`` is: a log likelihood, or which bound."""

    @abstractmethod
    def learn_facts(self, data: Dataset) -> dict[str, Any]:
        """Check the data and note, as plain JSON, what :meth:`build` must know of them besides their layout."""

    @abstractmethod
    def standardised(self) -> tuple[str, ...]:
        """Names of the modalities that are standardised before the model sees them."""

    @abstractmethod
    def build(self, key: jax.Array) -> Any:
        """An untrained module, from the parameters, ``layout_`` and ``facts_``."""

    @abstractmethod
    def phases(self) -> tuple[Phase, ...]:
        """How it is trained."""

    @staticmethod
    @abstractmethod
    def posterior(module: Any, batch: Any, key: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Mean and standard deviation of each latent."""

    @staticmethod
    @abstractmethod
    def evidence(module: Any, batch: Any, key: jax.Array) -> jax.Array:
        """Log evidence of each row, or a bound on it, for standardised data."""

    @staticmethod
    @abstractmethod
    def generate(module: Any, key: jax.Array, count: int) -> dict[str, jax.Array]:
        """New rows, standardised."""

    @property
    def reads_domain(self) -> bool:
        """Whether the domain of a row changes how it is encoded; if not, rows of new domains can be encoded too."""
        return False

    @property
    def domain_for(self) -> str | None:
        """What of the model reads the domain of a row to encode it, if anything does."""
        return None

    def passes(self) -> int:
        """Return how many passes over the rows are taken before the end of an epoch is settled."""
        return 1

    # What a user calls ----------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        run: str | Path | None = None,
        resume: bool = False,
        save_every: int | None = None,
        logger: Logger | None = None,
    ) -> LatentModel:
        """Learn from data.

        Args:
            X: A Dataset, or anything that a Dataset can be made of.
            y: The auxiliary variable u (the domain) of each row, if ``X`` has none. It is called y as in scikit-learn.
            run: A folder that holds the run while it goes on, so that it survives a crash.
            resume: Go on from ``run`` (or from where this model was interrupted), bit for bit as if nothing had happened.
            save_every: Optimiser steps between two saves; by default the ends of epochs, at most once a minute.
            logger: Gets each epoch's row.
        """
        check_common(self)
        before = dict(vars(self))
        try:
            self._fit(X, y, run, resume, save_every, logger)
        except BaseException:
            if vars(self).get("state_") is before.get("state_"):  # nothing new to keep: be as before
                self.__dict__.clear()
                self.__dict__.update(before)
            raise
        return self

    def _fit(self, X: Any, y: Any, run: Any, resume: bool, save_every: int | None, logger: Logger | None) -> None:
        data = without_empty_domains(self._read(X, y, fitting=True))
        earlier = self._earlier(run, data) if resume else None
        if run is not None and not resume and holds_run(run):
            raise CheckpointError(
                f"{run} holds an earlier run: pass resume=True to go on with it, or choose another folder."
            )
        self._learn(data)
        self._train(self._task(data), earlier, run, save_every, logger)

    def _learn(self, data: Dataset) -> None:
        """Note what of the data the model must know before it is built."""
        self.layout_: Layout = data.layout
        self.fingerprint_, self.rows_ = data.fingerprint, len(data)
        self.facts_: dict[str, Any] = self.learn_facts(data)
        self._check_size(data)

    def describe(self, X: Any, y: Any = None) -> str:
        """Say which networks a fit to these data would use, how many weights, and about what an epoch costs.

        Nothing is fitted, and the model stays as it is.

        Args:
            X: As for :meth:`fit`.
            y: As for :meth:`fit`.
        """
        from latentry.models.describing import describe_task

        check_common(self)
        model = clone(self)
        data = without_empty_domains(model._read(X, y, fitting=True))
        model._learn(data)
        return describe_task(type(self).__name__, model._task(data), len(data))

    def transform(self, X: Any, y: Any = None) -> np.ndarray:
        """Posterior means, one row of latents per row of data."""
        data = self._ready(X, y, what=self.domain_for)
        mean, _ = map_rows(type(self).posterior, self.module_, data)
        return mean.astype(np.result_type(np.float32, *_float_types(X)), copy=False)

    def fit_transform(self, X: Any, y: Any = None, **options: Any) -> np.ndarray:
        """The same as ``fit(X, y)`` and then ``transform(X)``, as scikit-learn has it; y is passed on where it must be."""
        return self.fit(X, y, **options).transform(X, None if self.domain_for is None else y)

    def channel(self, X: Any, y: Any = None) -> Channel:
        """The latent as a distribution for each row."""
        mean, scale = map_rows(type(self).posterior, self.module_, self._ready(X, y, what=self.domain_for))
        return GaussianChannel(mean.astype(np.float64), scale.astype(np.float64))

    def score_rows(self, X: Any, y: Any = None, *, seed: int = 0) -> np.ndarray:
        """Log evidence of each row in nats and in the data's own units; see ``score_name`` for what it is exactly."""
        data = self._ready(X, y, what="score" if self.least_domains else None)
        found = map_rows(type(self).evidence, self.module_, data, seed=seed).astype(np.float64)
        for name in data.names:
            found -= data.observed[name] * self.statistics_.log_volume(name, self.layout_.shape(name))
        return found

    def score(self, X: Any, y: Any = None) -> float:
        """Mean of :meth:`score_rows`: higher is better."""
        return float(self.score_rows(X, y).mean())

    def sample(self, n: int = 1, *, seed: int = 0) -> Any:
        """New rows, in the data's own units: an array, or a dictionary when there are several modalities."""
        check_is_fitted(self)
        whole_number("n", n, least=1)
        whole_number("seed", seed, least=0)
        drawn = self.generate(self.module_, jax.random.key(seed), n)
        return self._outward({name: np.asarray(array) for name, array in drawn.items()})

    def decode(self, latents: Any) -> Any:
        """Expected data given latents (rows, latents), in the data's own units; for an exact flow, the data themselves."""
        check_is_fitted(self)
        if not hasattr(self.module_, "expected"):
            raise DataError(f"{type(self).__name__} has no one expectation given latents alone: use sample or reconstruct.")
        values = check_latents(latents, self.n_features_out)
        return self._outward(map_rows(_expected, self.module_, Dataset({"latents": values})))

    def save(self, folder: str | Path) -> None:
        """Write the fitted model to a run folder; :func:`latentry.load` reads it back."""
        from latentry.models.saving import save_model

        check_is_fitted(self)
        save_model(self, folder, self.state_)

    @property
    def n_features_out(self) -> int:
        """Number of latents."""
        return self.layout_.size if self.latent_dim is None and hasattr(self, "layout_") else self.latent_dim

    # Inside ---------------------------------------------------------------------------------

    def _read(self, X: Any, u: Any, *, fitting: bool) -> Dataset:
        if isinstance(X, Dataset):
            data = X if u is None else X.with_domain(u)
        else:
            data = Dataset(X, u)
            if data.names == ("x",) and not isinstance(X, dict):
                validate_data(self, X, reset=fitting, skip_check_array=True)
        if fitting and isinstance(X, Dataset):
            self._forget_features()
        if fitting and data.names == ("x",) and len(data.layout.shape("x")) == 1:
            self.n_features_in_ = data.layout.shape("x")[0]
        return data

    def _forget_features(self) -> None:
        # A Dataset names its own features; what scikit-learn noted of an earlier table no longer holds.
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)

    def _ready(self, X: Any, u: Any, *, what: str | None = None) -> Dataset:
        check_is_fitted(self)
        data = self._read(X, u, fitting=False)
        data = self._complete(data)
        self.layout_.require(data.layout)
        check_rows(data, self.facts_)
        if what is not None and data.domain is None:
            raise DataError(
                f"the {what} of this {type(self).__name__} needs the domain of each row: pass it second, as in "
                "score(data, u), or in the Dataset."
            )
        if what is None and not self.reads_domain:
            data = data.with_domain(None)
        if data.domain is not None and self.least_domains:
            data = data.with_domain(data.domain.recode(self.layout_.domain_labels, self.layout_.domain_size))
        return self.prepared(data).standardise(self.statistics_)

    def begun(self, module: Any, restart: int) -> Any:
        """The untrained module with which a restart begins; a model may have better places to begin than chance."""
        return module

    def prepared(self, data: Dataset) -> Dataset:
        """Data as the module sees them, apart from the standardising of values; a model may change the domain here."""
        return data

    def _complete(self, data: Dataset) -> Dataset:
        """Modalities of the fit that the data do not have count as missing, where the model can do without them."""
        absent = {name: shape for name, shape in self.layout_.shapes if name not in data.names}
        known = [name for name in data.names if name in self.layout_.modalities]
        if not absent or not known or len(known) < len(data.names) or not self.encodes_subsets:
            return data
        return data.with_absent(absent)

    def _check_size(self, data: Dataset) -> None:
        if len(data) < 2:
            raise DataError(f"n_samples = {len(data)}: one row cannot be learned from; give at least 2.")
        if self.latent_dim is not None and self.latent_dim > data.layout.size:
            raise DataError(
                f"latent_dim = {self.latent_dim}, but a row holds {data.layout.size} numbers "
                f"(n_features = {data.layout.size}): more latents than the data can hold."
            )
        if self.least_domains:
            self._check_domains(data)

    def _check_domains(self, data: Dataset) -> None:
        name = type(self).__name__
        if data.domain is None:
            raise DataError(  # in scikit-learn's words first
                f"{name} requires y to be passed, but the target y is None: it needs a domain for each row, as "
                "fit(data, u) or Dataset(..., domain=)."
            )
        if not data.domain.is_continuous and data.domain.size < self.least_domains:
            raise DataError(
                f"{name} needs at least {self.least_domains} domains, the data have {data.domain.size}: "
                "add domains, or use VAE, which needs none."
            )

    def _task(self, data: Dataset) -> Task:
        kept, held = np.arange(len(data)), np.arange(0)
        if round(self.validation * len(data)) >= 1:  # by the domain as it was given: a model may replace it below
            kept, held = data.split_rows(1 - self.validation, self.validation, seed=self.seed)
        elif self.validation > 0:
            warnings.warn(
                f"{len(data)} rows are too few to hold {self.validation:.0%} of them out: the last epoch is kept, unchecked.",
                DataWarning,
                stacklevel=5,
            )
        self.held_out_, marks = held, row_marks(data, data.names)
        self.marks_ = {"trained": np.sort(marks[kept])} | ({"held out": np.sort(marks[held])} if len(held) else {})
        data = self.prepared(data)
        training, held_out = data.take(kept) if len(held) else data, data.take(held) if len(held) else None
        self.statistics_ = Standardiser.of(training, self.standardised())
        feed = Feed(training.standardise(self.statistics_), self.batch_size, passes=self.passes())
        aside = None
        if held_out is not None:
            aside = Feed(held_out.standardise(self.statistics_), self.batch_size, feed.placement)
        return Task(self.build, self.phases(), feed, aside, seed=self.seed, restarts=self.restarts, begin=self.begun)

    def _train(self, task: Task, before: RunState | None, folder: Any, save_every: int | None, logger: Any) -> None:
        from latentry.models.saving import save_model

        save = None if folder is None else lambda state: save_model(self, folder, state)
        if save is not None and before is None:
            before = task.start()
            save(before)  # a place that cannot be written is noticed before hours of training
        try:
            state = run(task, before, save=save, save_every=save_every, logger=logger, progress=self.progress)
        except (TrainingDiverged, CheckpointError) as error:
            if isinstance(error.state, RunState):
                self._accept(error.state)
            raise
        self._accept(state)
        if state.stopped == "interrupted":
            where = "this model" if folder is None else str(folder)
            warnings.warn(
                f"training was interrupted after {len(state.history)} epochs; the best state so far is in use, and "
                f"{where} holds the rest: fit again with resume=True to go on.",
                DataWarning,
                stacklevel=3,
            )

    def _accept(self, state: RunState) -> None:
        self.state_: RunState = state
        self.module_: Any = state.result
        self.history_ = History(state.history)

    def _earlier(self, folder: Any, data: Dataset) -> RunState | None:
        from latentry.models.saving import require_same, stored_model

        if folder is not None and holds_run(folder):
            earlier = stored_model(folder, self.get_params(deep=False))
        elif folder is None and hasattr(self, "state_"):
            earlier = self
        else:
            return None
        require_same(earlier, self, data)
        return earlier.state_

    def check_loaded(self, folder: str) -> None:
        """Refuse what was handed to ``load`` and is not what the model was fitted with."""

    def _outward(self, arrays: dict[str, np.ndarray]) -> Any:
        undone = {name: self.statistics_.undo(name, arrays[name]) for name in self.layout_.modalities if name in arrays}
        return undone["x"] if tuple(undone) == ("x",) else undone


def _expected(module: Any, batch: Any, key: jax.Array) -> dict[str, jax.Array]:
    return module.expected(batch.values["latents"])


def _float_types(X: Any) -> list[Any]:
    dtype = getattr(X, "dtype", None)
    return [dtype] if isinstance(dtype, np.dtype) and dtype.kind == "f" else []
