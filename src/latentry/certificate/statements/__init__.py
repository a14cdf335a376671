"""What a certificate says: sentences with numbers, each with its grade."""

from latentry.certificate.statements.limits import may_not_say, next_steps
from latentry.certificate.statements.statement import Statement, Topic
from latentry.certificate.statements.write import may_say, statements

__all__ = ["Statement", "Topic", "may_not_say", "may_say", "next_steps", "statements"]
