"""Many fits at once: each is described by a text that any process can carry out, and is kept in a folder of its own."""

from latentry.models.many.fits import fit_all, fit_each, stored_rows
from latentry.models.many.instructions import Instructions
from latentry.models.many.one_fit import Outcome, carry_out, finished, rows_of, written

__all__ = [
    "Instructions",
    "Outcome",
    "carry_out",
    "finished",
    "fit_all",
    "fit_each",
    "rows_of",
    "stored_rows",
    "written",
]
