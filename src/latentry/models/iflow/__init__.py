"""The identifiable flow."""

from latentry.models.iflow.estimator import IFlow

__all__ = ["IFlow"]
