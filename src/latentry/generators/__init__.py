"""Synthetic data with known truth."""
