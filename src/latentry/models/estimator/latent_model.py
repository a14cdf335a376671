"""The base of every model: fit, transform, channel, save, and the parameters as scikit-learn sees them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from inspect import signature
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeAlias, TypeVar, Unpack

import jax
import numpy as np
from sklearn.utils.validation import check_is_fitted

from latentry.contracts import (
    FitRecord,
    FitsVariants,
    HasChannel,
    KeepsFitRecord,
    LatentModule,
    ModelFacts,
    NamesLatents,
    Variant,
    Where,
    encode_rows,
)
from latentry.data import Channel, DataLike, Dataset, DomainLike, GaussianChannel, LabelsLike, counted_names
from latentry.errors import DataError
from latentry.models.estimator.constraints import Rule, check_table
from latentry.models.estimator.fitting import held_folder, record_of, task_for, train
from latentry.models.estimator.frames_out import as_frames, float_type, with_row_names
from latentry.models.estimator.inputs import FitOptions, Values
from latentry.models.estimator.naming import renamed
from latentry.models.estimator.parameter_names import check_names, no_such_parameter
from latentry.models.estimator.reading import auxiliary, read, ready, warn_of_another_domain
from latentry.models.estimator.resuming import earlier_run, refuse_used_folder, resumed
from latentry.models.estimator.scikit_learn import BaseEstimator, Tags, TransformerMixin, clone
from latentry.models.estimator.settings import Settings, Training
from latentry.precision import single_precision_methods
from latentry.training import EngineLike, History, Logger, Phase, RunFolder, RunState, Task, map_rows, stays_here

__all__ = ["AnyModel", "LatentModel"]

ModuleT = TypeVar("ModuleT", bound=LatentModule)  # the tree of arrays that is trained
FactsT = TypeVar("FactsT", bound=ModelFacts)  # what the model notes of the data


@single_precision_methods
class LatentModel(
    HasChannel, NamesLatents, KeepsFitRecord, FitsVariants, TransformerMixin, BaseEstimator, Generic[ModuleT, FactsT]
):
    """A model of latents. It follows scikit-learn; ``fit`` also takes a Dataset.

    The only base class: each model is a final dataclass of its parameters, which extends this class and the capabilities
    that it declares. It says what it notes of the data (:meth:`learn_facts`), what it builds (:meth:`build`), and in which
    phases it is trained (:meth:`phases`); its module says what a latent is given a row.

    Parameters that every model has:
        latent_dim: Number of latents.
        epochs: Passes over the training rows.
        batch_size: Rows per optimiser step.
        learning_rate: Of Adam, before the schedule.
        validation: Fraction of rows held out to choose the best epoch and restart; 0 keeps the last epoch.
        restarts: Independent fits, of which the best on held-out rows is kept.
        seed: Of everything random. The same seed gives the same result.
        progress: True, False, or "auto": a bar when somebody is watching.
        training: Schedule, clipping, patience: see :class:`Training`.
    """

    latent_dim: int | str | None
    epochs: int
    batch_size: int
    learning_rate: float
    validation: float
    restarts: int
    seed: int
    progress: bool | str
    training: Training

    name: ClassVar[str]  # as files and the command line call it
    constraints: ClassVar[Mapping[str, Rule]]  # which values each parameter may have
    facts_class: ClassVar[type[ModelFacts]]  # of what the model notes of the data
    least_modalities: ClassVar[int] = 1  # modalities without which the model has no meaning
    least_domains: ClassVar[int] = 0  # domains without which the model has no meaning
    takes_tables: ClassVar[bool] = True  # whether rows may be flat; if not, they are images
    takes_one_table: ClassVar[bool] = False  # whether rows must be one table of real values
    takes_latents_from_data: ClassVar[bool] = False  # whether latent_dim may be None
    takes_missing_cells: ClassVar[bool] = False  # whether single cells of a row may be missing
    encodes_subsets: ClassVar[bool] = False  # whether any subset of the modalities can be encoded
    compares_restarts: ClassVar[bool] = False  # whether the modules of all restarts are kept

    record_: FitRecord  # of a fitted model, as are the three below
    module_: ModuleT
    state_: RunState
    history_: History
    n_features_in_: int  # as scikit-learn has them, for tables
    feature_names_in_: np.ndarray

    def __init_subclass__(cls, **options: object) -> None:
        """Let a model compute in single precision, also where JAX is in 64-bit mode."""
        super().__init_subclass__(**options)
        single_precision_methods(cls)

    # What a model must say ------------------------------------------------------------------

    @abstractmethod
    def learn_facts(self, data: Dataset) -> FactsT:
        """Check the data and note what :meth:`build` must know of them besides their layout.

        Args:
            data: Rows.

        Returns:
            What the fit must know of the data.

        Raises:
            DataError: If the data cannot be learned from.
        """

    @abstractmethod
    def standardised(self, facts: FactsT) -> tuple[str, ...]:
        """Return the names of the modalities that are standardised before the module sees them.

        Args:
            facts: What was noted of the data.

        Returns:
            Names of modalities.
        """

    @abstractmethod
    def build(self, key: jax.Array) -> ModuleT:
        """Return an untrained module, from the parameters and ``record_``.

        Args:
            key: Of random numbers.

        Returns:
            An untrained module.
        """

    @abstractmethod
    def phases(self) -> tuple[Phase, ...]:
        """Return how it is trained."""

    # What a model may say -------------------------------------------------------------------

    @property
    def reads_domain(self) -> bool:
        """Return whether the domain of a row changes how it is encoded; if not, rows of new domains can be encoded too."""
        return False

    @property
    def domain_for(self) -> str | None:
        """Return what of the model needs the domain of a row to encode it, if anything does."""
        return None

    def decided(self, record: FitRecord, data: Dataset, earlier: FitRecord | None) -> FitRecord:
        """Return the record with what the parameters leave to the rows, where that takes fits of its own to decide.

        Args:
            record: What the rows and parameters say.
            data: Rows of the fit.
            earlier: The record of the run that goes on, if one does: what it decided stays.

        Returns:
            The record of the fit.
        """
        return record

    @property
    def undecided(self) -> str | None:
        """Return a sentence about what a fit would decide first, if anything."""
        return None

    def prepared(self, data: Dataset) -> Dataset:
        """Return data as the module sees them, apart from the standardising of values.

        Args:
            data: Rows.

        Returns:
            Rows as the module sees them.
        """
        return data

    def begun(self, module: ModuleT, restart: int) -> ModuleT:
        """Return the untrained module with which a restart begins; there may be better places to begin than chance.

        Args:
            module: As it was built.
            restart: Its number, from 0.

        Returns:
            A module.
        """
        return module

    def concluded(self, task: Task, state: RunState) -> ModuleT:
        """Return the module that the model keeps at the end of a run, with what can be noted in it only then.

        Args:
            task: Of the run, with its rows.
            state: Finished.

        Returns:
            The best module, unless the model says otherwise; the same if it is asked again.
        """
        module: ModuleT = state.result
        return module

    def in_use(self, module: ModuleT) -> ModuleT:
        """Return the module that answers: that of the run, with what a user has said since.

        Args:
            module: Of the run.

        Returns:
            The same module, unless the model says otherwise.
        """
        return module

    def check_loaded(self, folder: str) -> None:
        """Refuse what was handed to ``load`` and is not what the model was fitted with.

        Args:
            folder: The run folder.

        Raises:
            CheckpointError: If it is another.
        """

    # What a user calls ----------------------------------------------------------------------

    def fit(
        self,
        X: DataLike,
        y: DomainLike | None = None,
        *,
        domain: DomainLike | None = None,
        groups: LabelsLike | None = None,
        run: str | Path | None = None,
        resume: bool = False,
        save_every: int | None = None,
        logger: Logger | None = None,
        origin: Mapping[str, object] | None = None,
        executor: EngineLike = "here",
        workers: int | None = None,
    ) -> Self:
        """Learn from data.

        Cost: linear in rows and epochs, and in the weights of the networks, which grow with the columns; exact flows are cubic in
        the columns. Memory holds the rows once more in single precision, unless they stay on disk.

        Args:
            X: A Dataset, or anything that a Dataset can be made of.
            y: The auxiliary variable u (the domain) of each row, if ``X`` has none. It is called y as in scikit-learn; where ``X``
                has another domain, a warning says that y takes its place.
            domain: The same under its own name, which scikit-learn's metadata routing can pass on. Of a frame, also the name of a
                column, which is then no feature.
            groups: A label for each row, where rows depend on each other: held-out rows are then whole groups. Or a column.
            run: A folder that holds the run while it goes on, so that it survives a crash. It is locked until the fit
                ends: a second process that would write there is refused.
            resume: Go on from ``run`` (or from where this model was interrupted), bit for bit as if nothing had happened. With
                more ``epochs`` a finished run is lengthened: its last phase goes on. ``learning_rate`` may be another too. Both
                are noted in ``record_.changes``.
            save_every: Optimiser steps between two saves; by default the ends of epochs, at most once a minute.
            logger: Gets each epoch's row.
            origin: Where the rows come from, as plain JSON; it is kept in the run, as ``record_.origin``.
            executor: Where the restarts are made, side by side but for "here": see :func:`latentry.fit_many`. The result is the
                same, bit for bit. A run that stopped in the middle of restarts made in turn goes on in turn.
            workers: Processes, where the engine is started here.

        Returns:
            The model itself.
        """
        check_table(self, self.constraints)
        before = dict(vars(self))
        try:
            data = read(self, X, auxiliary(y, domain), fitting=True, groups=groups)
            warn_of_another_domain(X, y, data)
            with held_folder(run) as folder:
                earlier = earlier_run(self, folder, data) if resume else None
                known = None if earlier is None else earlier.record_
                refuse_used_folder(folder, resume=resume)
                record = self.decided(self.study(data), data, known)
                self.record_ = replace(record, origin=dict(origin or {}))
                task, state = task_for(self, data), None
                if known is not None and earlier is not None:  # which may be this model itself
                    self.record_, state = resumed(self.record_, task, known, earlier.state_)
                elsewhere = self._elsewhere(task, data, state, executor, workers, folder, save_every)
                train(self, task, state, folder, save_every, logger, elsewhere)
        except BaseException:
            if vars(self).get("state_") is before.get("state_"):  # nothing new to keep: be as before
                self.__dict__.clear()
                self.__dict__.update(before)
            raise
        return self

    def _elsewhere(
        self,
        task: Task,
        data: Dataset,
        state: RunState | None,
        executor: EngineLike,
        workers: int | None,
        folder: RunFolder | None,
        save_every: int | None,
    ) -> Callable[[], RunState] | None:
        """Return what makes the restarts side by side, where there are several and none has been begun in turn."""
        if stays_here(executor, workers) or self.restarts < 2 or not (state is None or task.begins_with(state)):
            return None
        from latentry.models.many.restarts import restarts_elsewhere  # which makes and reads models

        place = None if folder is None else folder.path
        return partial(restarts_elsewhere, self, task, data, executor, workers, place, save_every)

    def fit_variants(self, variants: Sequence[Variant], where: Where) -> list[Self | DataError]:
        """Fit copies of the model with other parameters or rows; the model itself stays as it is.

        Args:
            variants: Parameters and rows of each.
            where: The engine.

        Returns:
            For each variant its fit, or the error of parameters or rows that cannot be used.
        """
        from latentry.models.many import fit_each  # which makes and reads models

        models = [clone(self).set_params(**variant.changes) for variant in variants]
        begin = lambda number: where.tell(variants[number : number + 1])  # noqa: E731
        return fit_each(models, [variant.rows for variant in variants], where.executor, where.workers, begin)

    def study(self, data: Dataset) -> FitRecord:
        """Check data against the parameters, and record what a fit to them must know; nothing is trained.

        Args:
            data: Rows.

        Returns:
            The record.

        Raises:
            DataError: If the data do not suit the parameters.
        """
        return record_of(self, data)

    def describe(self, X: DataLike, y: DomainLike | None = None) -> str:
        """Say which networks a fit to these data would use, how many weights, and about what an epoch costs.

        Nothing is fitted, and the model stays as it is.

        Args:
            X: As for :meth:`fit`.
            y: As for :meth:`fit`.

        Returns:
            Lines of text.
        """
        from latentry.models.estimator.describing import describe_task

        check_table(self, self.constraints)
        model = clone(self)
        data = read(model, X, y, fitting=True)
        model.record_ = model.study(data)
        words = describe_task(type(self).__name__, task_for(model, data), len(data))
        return words if model.undecided is None else f"{words}\n  {model.undecided}"

    def transform(self, X: DataLike, y: DomainLike | None = None, *, domain: DomainLike | None = None) -> np.ndarray:
        """Return posterior means, one row of latents per row of data.

        Cost: linear in the rows.

        Args:
            X: Rows, as for :meth:`fit`.
            y: Their domains, if ``X`` has none.
            domain: The same under its own name, as for :meth:`fit`.

        Returns:
            (rows, latents).
        """
        means: np.ndarray = with_row_names(self, self._posterior_means(X, auxiliary(y, domain)), X)
        return means

    def _posterior_means(self, X: DataLike, y: DomainLike | None) -> np.ndarray:
        """Return what ``transform`` does, as an array also where scikit-learn's ``set_output`` asks for data frames."""
        rows = self._encodable(X, y)
        mean: np.ndarray = map_rows(encode_rows, self.module_, rows)[0]
        return mean.astype(float_type(X), copy=False)

    def fit_transform(self, X: DataLike, y: DomainLike | None = None, **options: Unpack[FitOptions]) -> np.ndarray:
        """Fit and then transform, as scikit-learn has it; y is passed on where it must be.

        Args:
            X: Rows, as for :meth:`fit`.
            y: Their domains, if ``X`` has none.
            options: As of :meth:`fit`.

        Returns:
            (rows, latents).
        """
        u = auxiliary(y, options.get("domain"))
        return self.fit(X, y, **options).transform(X, None if self.domain_for is None else u)

    def channel(self, X: DataLike, y: DomainLike | None = None) -> Channel:
        """Return the latent as a distribution for each row.

        Args:
            X: Rows, as for :meth:`fit`.
            y: Their domains, if ``X`` has none.

        Returns:
            A Gaussian channel, unless the model says otherwise.
        """
        rows = self._encodable(X, y)
        mean, scale = map_rows(encode_rows, self.module_, rows)
        return GaussianChannel(mean.astype(np.float64), scale.astype(np.float64))

    def _encodable(self, X: DataLike, y: DomainLike | None) -> Dataset:
        return ready(self, X, y, what=self.domain_for)

    def frame(self, values: Values, X: DataLike | None = None, library: str | None = None) -> Any:
        """Return what the model gives as data frames, with the columns of the fit: categories, truth values and dates again.

        Args:
            values: Of ``sample``, ``reconstruct``, ``impute`` or ``decode``.
            X: The rows that they belong to, if any: the frames are of the same library, and their rows are called the same.
            library: Such as "polars"; by default that of ``X``, else pandas.

        Returns:
            A frame, or one for each modality by name; what is no table, such as images, as it is.
        """
        return as_frames(self, values, X, library)

    def save(self, folder: str | Path) -> None:
        """Write the fitted model to a run folder; :func:`latentry.load` reads it back.

        Args:
            folder: The run folder.

        Raises:
            CheckpointError: If it cannot be written.
        """
        from latentry.models.estimator.saving import save_model

        check_is_fitted(self)
        with RunFolder(folder) as held:
            save_model(self, held, self.state_)

    def fit_record(self) -> FitRecord | None:
        """Return what was recorded of the last fit; None before a fit."""
        record: FitRecord | None = vars(self).get("record_")
        return record

    def fit_history(self) -> History:
        """Return one row of metrics for each epoch of the last fit."""
        check_is_fitted(self)
        return self.history_

    @property
    def n_features_out(self) -> int:
        """Return the number of latents."""
        if isinstance(self.latent_dim, int):
            return self.latent_dim
        check_is_fitted(self)  # without a number of its own, a model takes as many as there are columns
        return self.record_.layout.size

    # Names of latents -----------------------------------------------------------------------

    @property
    def has_columns(self) -> bool:
        """Return whether each latent is a column of :meth:`transform`; if not, the columns are outcomes of a single one."""
        return True

    @property
    def latents_(self) -> tuple[str, ...]:
        """Return a name for each latent: z1, z2, ... or those that :meth:`rename` set. A new fit has new latents."""
        check_is_fitted(self)
        return self.record_.latents or counted_names(self.n_features_out if self.has_columns else 1)

    def rename(self, names: Mapping[str, str] | Sequence[str]) -> Self:
        """Name latents, for tables, certificates and files; :meth:`save` keeps the names.

        Args:
            names: New names by old ones, such as ``{"z1": "size"}``, or all of them in order.

        Returns:
            The model itself.

        Raises:
            DataError: If a latent is not known, or names are empty, not different, too few or too many.
        """
        settled = renamed(self.latents_, names)  # which asks for a fit first
        self.record_ = replace(self.record_, latents=settled)
        return self

    def get_feature_names_out(self, input_features: object = None) -> np.ndarray:
        """Return the names of the columns of :meth:`transform`, as scikit-learn asks for them.

        Args:
            input_features: Not used.

        Returns:
            Names of latents; where the columns are outcomes of one latent, its name with each outcome, such as "z1=0".
        """
        names = list(self.latents_)
        if not self.has_columns:
            names = [f"{names[0]}={outcome}" for outcome in range(self.n_features_out)]
        return np.array(names, dtype=object)

    # Parameters -----------------------------------------------------------------------------

    def __new__(cls, *values: object, **params: object) -> Self:
        """Refuse a parameter that there is not, with the name of the nearest that there is."""
        known = signature(cls.__init__).parameters
        for name in params:
            if name not in known:
                raise no_such_parameter(cls.__name__, name, {one: part.default for one, part in [*known.items()][1:]})
        return super().__new__(cls)

    def set_params(self, **params: object) -> Self:
        """Set parameters by name; those of settings as ``training__clip=1``. Settings never change: they are replaced.

        Args:
            params: By name.

        Returns:
            The model itself.

        Raises:
            DataError: If there is no such parameter.
        """
        check_names(self, params)  # all names before any value: a mistyped one changes nothing
        super().set_params(**{name: value for name, value in params.items() if "__" not in name})
        for name, value in params.items():
            group, _, part = name.partition("__")
            settings = self.get_params(deep=False).get(group)
            if part and isinstance(settings, Settings):
                setattr(self, group, settings(**{part: value}))
        return self

    def __sklearn_tags__(self) -> Tags:
        """Say whether fit needs the auxiliary variable, and whether it takes tables."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = self.least_domains > 0
        tags.input_tags.two_d_array = self.takes_tables and self.least_modalities == 1
        # Where the data say how many latents there are, the likelihood of whole rows is exact.
        exact = self.takes_latents_from_data and self.latent_dim is None
        tags.input_tags.allow_nan = self.takes_missing_cells and not exact
        return tags


AnyModel: TypeAlias = LatentModel[Any, Any]  # a model of any kind
