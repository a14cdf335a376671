"""What a fit would take, measured beforehand by a short one."""

from latentry.models.planning.plan import Plan, plan_fit

__all__ = ["Plan", "plan_fit"]
