"""Numbers and answers that know their direction, confidence, method and assumptions."""

from latentry.evidence.bound import Bound
from latentry.evidence.estimate import Estimate
from latentry.evidence.verdict import Verdict

__all__ = ["Bound", "Estimate", "Verdict"]
