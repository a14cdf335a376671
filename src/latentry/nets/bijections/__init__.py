"""Invertible maps with exact log-determinants."""

from latentry.nets.bijections.flow import Flow
from latentry.nets.bijections.linear import InvertibleLinear
from latentry.nets.bijections.monotone import Monotone

__all__ = ["Flow", "InvertibleLinear", "Monotone"]
