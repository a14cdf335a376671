"""Mutual information that does not depend on units."""
