"""The command line: thin, one command a file."""

from latentry.cli.app import main

__all__ = ["main"]
