"""What every model shares: the base class, fitting, reading input, saving, describing, parameters and their constraints."""

from latentry.models.estimator.answers import (
    EVIDENCE_BOUND,
    check_draws,
    decoded,
    drawn,
    imputed,
    mean_score,
    reconstructed,
    scores,
)
from latentry.models.estimator.common import COMMON, HIDDEN_LAYERS
from latentry.models.estimator.constraints import (
    Choice,
    Flag,
    Group,
    NameLists,
    NameOrFunction,
    Names,
    Real,
    Reals,
    Rule,
    Whole,
    Widths,
    check_table,
    refuse,
    require,
)
from latentry.models.estimator.inputs import FitOptions, RunOptions, Values
from latentry.models.estimator.latent_model import AnyModel, LatentModel
from latentry.models.estimator.reading import auxiliary, completed, outward, read, ready
from latentry.models.estimator.scikit_learn import clone
from latentry.models.estimator.settings import Rates, Schedule, Settings, Training, refuse_beta
from latentry.models.estimator.values import check_latents

__all__ = [
    "COMMON",
    "EVIDENCE_BOUND",
    "HIDDEN_LAYERS",
    "AnyModel",
    "Choice",
    "FitOptions",
    "Flag",
    "Group",
    "LatentModel",
    "NameLists",
    "NameOrFunction",
    "Names",
    "Rates",
    "Real",
    "Reals",
    "Rule",
    "RunOptions",
    "Schedule",
    "Settings",
    "Training",
    "Values",
    "Whole",
    "Widths",
    "auxiliary",
    "check_draws",
    "check_latents",
    "check_table",
    "clone",
    "completed",
    "decoded",
    "drawn",
    "imputed",
    "mean_score",
    "outward",
    "read",
    "ready",
    "reconstructed",
    "refuse",
    "refuse_beta",
    "require",
    "scores",
]
