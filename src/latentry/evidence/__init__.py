"""Numbers and answers that know their direction, confidence, method and assumptions."""

from latentry.evidence.assumption import Assumption, Outcome, assumptions_in_words
from latentry.evidence.bound import Bound, DirectionError, Interval, maximum, minimum, total
from latentry.evidence.estimate import NATS_PER_UNIT, Estimate, check_units
from latentry.evidence.verdict import STATUS_ORDER, Status, Verdict, all_of, judge

__all__ = [
    "NATS_PER_UNIT",
    "STATUS_ORDER",
    "Assumption",
    "Bound",
    "DirectionError",
    "Estimate",
    "Interval",
    "Outcome",
    "Status",
    "Verdict",
    "all_of",
    "assumptions_in_words",
    "check_units",
    "judge",
    "maximum",
    "minimum",
    "total",
]
