"""The commands, each loaded when it is called: ``latentry --help`` takes a moment, not seconds."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

__all__ = ["COMMANDS", "LazyCommands", "load_command"]

# What stands in a file of the command's name, and how its own help begins.
COMMANDS = {
    "demo": "Make or load data, fit a model, certify it on rows set aside, and write a report of what may be believed.",
    "discover": "Count latents, compare the models that apply, fit the best with restarts, certify it, and say why.",
    "fit": "Fit a model to data and keep the run in a folder. Ctrl-C saves; --resume continues.",
    "sweep": "Fit models × data × seeds × parameters, as a file says, at once on any engine, and write one table.",
    "orient": "Say what is known of a fitted graph, without a refit: directions of edges, edges that must or must not be there.",
    "transform": "Write the latents of each row: posterior mean and standard deviation.",
    "certify": "Say how far latents can be trusted: audit them on rows that did not train them, and write a report.",
    "mi": "Estimate the mutual information of two sets of columns, whatever their units, with an interval.",
    "natural": "Judge whether a latent is natural: it mediates between the observables, and each of them alone determines it.",
    "generate": "Write synthetic data whose true latents are known.",
    "bench": "Measure latentry on problems whose answer is known, on this machine.",
    "info": "Say what a run folder, a data file, or this installation holds, and what a fit to the data would cost.",
}


class LazyCommands(TyperGroup):
    """Knows the names and first sentences of all commands, and loads one when it is called."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # the types of typer's own parser are not public
        """Load the command that is called.

        Args:
            ctx: Of the call.
            args: Words of the command line.

        Returns:
            Name, command and the other words.
        """
        if args and args[0] in COMMANDS:
            self.commands[args[0]] = load_command(args[0])
        return super().resolve_command(ctx, args)


def load_command(name: str) -> Any:
    """Return a command with its options.

    Args:
        name: One of ``COMMANDS``.

    Returns:
        The command, as typer has it.
    """
    alone = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    alone.command(name)(vars(import_module(f"latentry.cli.{name}"))[name])
    return typer.main.get_command(alone)
