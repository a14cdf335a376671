"""What samples can certify, refute, or leave open about a latent."""

from latentry.natural.from_samples.assumptions import in_its_sentence
from latentry.natural.from_samples.audit import Audit, audit, audit_of, noise_curve
from latentry.natural.from_samples.audit_rows import Rows, as_rows
from latentry.natural.from_samples.compare import Comparison, compare
from latentry.natural.from_samples.emptiness import reasons_to_call_it_empty
from latentry.natural.from_samples.error_verdicts import Claim
from latentry.natural.from_samples.judge import Judge, choose_family
from latentry.natural.from_samples.mean_bounds import mean_upper
from latentry.natural.from_samples.row_order import independence, units_needed

__all__ = [
    "Audit",
    "Claim",
    "Comparison",
    "Judge",
    "Rows",
    "as_rows",
    "audit",
    "audit_of",
    "choose_family",
    "compare",
    "in_its_sentence",
    "independence",
    "mean_upper",
    "noise_curve",
    "reasons_to_call_it_empty",
    "units_needed",
]
