"""Numbers and answers that know their direction, confidence, method and assumptions."""

from latentry.evidence.bound import Bound, DirectionError, Interval, maximum, minimum, total
from latentry.evidence.estimate import NATS_PER_UNIT, Estimate, check_units
from latentry.evidence.verdict import STATUS_ORDER, Status, Verdict, all_of, judge

__all__ = [
    "NATS_PER_UNIT",
    "STATUS_ORDER",
    "Bound",
    "DirectionError",
    "Estimate",
    "Interval",
    "Status",
    "Verdict",
    "all_of",
    "check_units",
    "judge",
    "maximum",
    "minimum",
    "total",
]
