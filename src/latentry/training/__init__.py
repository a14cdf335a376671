"""The compiled training loop, run state, checkpoints, progress and devices."""

from latentry.training.apply import map_rows
from latentry.training.checkpoint import MANIFEST, WEIGHTS, RunFiles, holds_run, read_run
from latentry.training.cost import operations_per_row, seconds_per_epoch
from latentry.training.devices import Placement, compile_anew, usable_devices, use_compilation_cache
from latentry.training.duration import in_words
from latentry.training.engines import ENGINES, Engine, EngineLike, WorkerDied, engine_for, run_texts, serve, stays_here
from latentry.training.feed import Feed
from latentry.training.folder_lock import locked
from latentry.training.history import History, epochs_of
from latentry.training.interrupt import Terminated
from latentry.training.loggers import JsonLines, Logger, MLflow, TensorBoard
from latentry.training.loop import Task, blank_trees
from latentry.training.model_updates import Update
from latentry.training.named_arrays import fill, to_named
from latentry.training.phase import SCHEDULES, Loss, Module, Phase
from latentry.training.progress import Bar, wants_bar
from latentry.training.round_sizes import filled_rows
from latentry.training.run import run
from latentry.training.run_folder import RunFolder, write_run
from latentry.training.soap import scale_by_soap
from latentry.training.state import COUNTERS, RunState

__all__ = [
    "Bar",
    "ENGINES",
    "COUNTERS",
    "MANIFEST",
    "WEIGHTS",
    "SCHEDULES",
    "Engine",
    "EngineLike",
    "Feed",
    "History",
    "JsonLines",
    "Logger",
    "Loss",
    "MLflow",
    "Module",
    "Phase",
    "Placement",
    "RunFiles",
    "RunFolder",
    "RunState",
    "Task",
    "TensorBoard",
    "Terminated",
    "Update",
    "WorkerDied",
    "blank_trees",
    "compile_anew",
    "engine_for",
    "epochs_of",
    "fill",
    "filled_rows",
    "map_rows",
    "holds_run",
    "in_words",
    "locked",
    "operations_per_row",
    "read_run",
    "run",
    "run_texts",
    "scale_by_soap",
    "seconds_per_epoch",
    "serve",
    "stays_here",
    "to_named",
    "usable_devices",
    "use_compilation_cache",
    "wants_bar",
    "write_run",
]
