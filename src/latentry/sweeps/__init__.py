"""Many fits: models, data, seeds and parameters, on any engine, as one table."""

from latentry.sweeps.fit_many import fit_many
from latentry.sweeps.jobs import Job
from latentry.sweeps.many_fits import FitRow, ManyFits
from latentry.sweeps.search import search
from latentry.sweeps.sweep_file import Sweep, read_sweep

__all__ = ["FitRow", "Job", "ManyFits", "Sweep", "fit_many", "read_sweep", "search"]
