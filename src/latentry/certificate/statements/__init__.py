"""What a certificate says: sentences with numbers, each with its grade."""

from latentry.certificate.statements.limits import may_not_say, next_steps
from latentry.certificate.statements.natural import Errors, naturality_errors
from latentry.certificate.statements.statement import Statement, Topic, at_least, at_most, joined, nats
from latentry.certificate.statements.write import may_say, statements

__all__ = [
    "Errors",
    "Statement",
    "Topic",
    "at_least",
    "at_most",
    "joined",
    "may_not_say",
    "may_say",
    "nats",
    "naturality_errors",
    "next_steps",
    "statements",
]
