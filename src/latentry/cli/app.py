"""The command line's frame: exit 0 done, 1 a required verdict was not reached, 2 bad input with a sentence.

Otherwise: 74 the output could not be written, 130 Ctrl-C, 141 the reader of the output went away, 143 SIGTERM, 70 unexpected.
"""

from __future__ import annotations

import errno
import os
import sys
import warnings
from contextlib import suppress
from typing import Annotated, TextIO

import typer
from rich.console import Console

from latentry import __version__
from latentry.cli.commands import COMMANDS, LazyCommands
from latentry.cli.wording import in_options
from latentry.errors import DataError, DataWarning, FileError, LatentryError

__all__ = ["app", "main"]

app = typer.Typer(
    name="latentry",
    cls=LazyCommands,
    help="Find the hidden variables in your data, and know how far to trust them.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
for name, sentence in COMMANDS.items():
    app.command(name, help=sentence)(lambda: None)  # its place in the list; what is called is loaded


def _say_version(asked: bool) -> None:
    if asked:
        Console(soft_wrap=True).print(f"latentry {__version__}", highlight=False)
        raise typer.Exit


@app.callback()
def frame(
    version: Annotated[
        bool, typer.Option("--version", callback=_say_version, is_eager=True, help="Say which version this is.")
    ] = False,
) -> None:
    """Find the hidden variables in your data, and know how far to trust them."""


def main(arguments: list[str] | None = None) -> None:
    """Run a command; a problem becomes a sentence on the error stream and an exit code.

    Args:
        arguments: Words of the command line; those of this process by default.

    Raises:
        SystemExit: With 0 done, 1 a required verdict was not reached, 2 bad input; 74 and 141 where the output could not
            be written.
    """
    warnings.showwarning = _show_warning
    try:
        code = app(args=arguments, prog_name="latentry", standalone_mode=False)
        sys.stdout.flush()  # here, where a full disk is still a sentence
    except BaseException as problem:
        code = _explain(problem)
    sys.exit(code if isinstance(code, int) else 0)


def _explain(problem: BaseException) -> int:
    stopped = isinstance(problem, KeyboardInterrupt) or type(problem).__name__ == "Abort"
    if stopped or (isinstance(problem, SystemExit) and problem.code == 130):
        _say("stopped.")
        return 130
    if (unwritten := _output_problem(problem)) is not None:
        return _explain_output(unwritten)
    if isinstance(problem, SystemExit):
        return problem.code if isinstance(problem.code, int) else 2
    if isinstance(problem, LatentryError):
        _say(str(problem) if isinstance(problem, FileError) else in_options(str(problem)))
        return 2
    if hasattr(problem, "format_message"):  # wrong usage, as the argument parser sees it
        _say(problem.format_message() + " See --help.")
        return 2
    if os.environ.get("JAX_PLATFORMS") and (sentence := _without_devices()):
        _say(in_options(sentence))
        return 2
    if os.environ.get("LATENTRY_TRACEBACK"):
        raise problem
    _say(f"{type(problem).__name__}: {problem} (unexpected; LATENTRY_TRACEBACK=1 shows where, please report it)")
    return 70


_BROKEN_PIPE, _OUTPUT = 141, 74  # as shells name SIGPIPE, and EX_IOERR of sysexits.h


def _output_problem(problem: BaseException) -> OSError | None:
    """Return what kept the output from being written; the argument parser hides a broken pipe in an exit with 1."""
    cause = problem.__context__ if isinstance(problem, SystemExit) else problem
    codes = (errno.EPIPE, errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EFBIG)
    known = isinstance(cause, OSError) and not isinstance(cause, LatentryError) and cause.errno in codes
    return cause if known and isinstance(cause, OSError) else None


def _explain_output(cause: OSError) -> int:
    with suppress(OSError, ValueError):  # what is left in the buffer would fail again when Python ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.__stdout__.fileno() if sys.__stdout__ else 1)
    if cause.errno == errno.EPIPE:
        return _BROKEN_PIPE
    with suppress(OSError):
        _say(f"the output could not be written: {cause.strerror}. Make room, or write it to another place.")
    return _OUTPUT


def _without_devices() -> str | None:
    """Say that there is no device of the kind that is asked for, if so: then whatever comes first fails, without a word of it."""
    from latentry.training import usable_devices  # slow to import, and rarely needed

    try:
        usable_devices()
    except DataError as problem:
        return str(problem)
    return None


def _say(sentence: str) -> None:
    Console(stderr=True, soft_wrap=True).print(f"latentry: {sentence}", style="bold red", markup=False, highlight=False)


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    # Warnings about data are for the user; a library's own about itself are not.
    if issubclass(category, DataWarning):
        words = f"note: {in_options(str(message))}"
        Console(stderr=True, soft_wrap=True).print(words, style="yellow", markup=False, highlight=False)
