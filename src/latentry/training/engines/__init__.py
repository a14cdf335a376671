"""Where many independent pieces of work run: here, in processes of this machine, or on somebody else's engine."""

from latentry.training.engines.choosing import ENGINES, EngineLike, engine_for, stays_here
from latentry.training.engines.engine import Engine, TextTask, run_texts
from latentry.training.engines.futures import Futures
from latentry.training.engines.here import Here
from latentry.training.engines.joblib_backends import Joblib
from latentry.training.engines.processes import LocalProcesses, WorkerDied
from latentry.training.engines.serving import serve

__all__ = [
    "ENGINES",
    "Engine",
    "EngineLike",
    "Futures",
    "Here",
    "Joblib",
    "LocalProcesses",
    "TextTask",
    "WorkerDied",
    "engine_for",
    "run_texts",
    "serve",
    "stays_here",
]
