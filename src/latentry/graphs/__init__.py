"""Directed acyclic graphs over categorical nodes."""
