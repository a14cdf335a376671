"""A certificate in the terminal and on disk."""

from __future__ import annotations

import webbrowser
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from latentry import graphs
from latentry.certificate import PARTS, Certificate, write_whole
from latentry.cli.options import answer
from latentry.errors import DataError, nearest

__all__ = ["Require", "announce", "demanded", "keep", "require"]

Require = Annotated[
    str | None,
    typer.Option(
        "--require",
        help="Exit with 1 unless these parts are certified or supported, such as identifiable,natural; "
        "mixtures: natural in every mixture of the domains.",
    ),
]
_COLOURS = {
    "certified": "green",
    "supported": "bright_green",
    "refuted": "red",
    "not refuted": "blue",
    "cannot say": "yellow",
}


def demanded(names: str | None) -> tuple[str, ...]:
    """Return the parts that --require names.

    Args:
        names: As given on the command line, separated by commas.

    Returns:
        Names of parts.

    Raises:
        DataError: If one of them is no part of a certificate.
    """
    parts = tuple(name.strip() for name in (names or "").split(",") if name.strip())
    known = (*PARTS, "mixtures")
    for name in parts:
        if name not in known:
            raise DataError(f"--require names {name!r}, which is no part of a certificate{nearest(name, known)}")
    return parts


def keep(certificate: Certificate, folder: Path, title: str = "") -> tuple[Path, Path]:
    """Write the report and the record: both, or neither.

    Args:
        certificate: To be written.
        folder: Where.
        title: Of the report.

    Returns:
        Paths of the report and of the record.

    Raises:
        DataError: If they could not be written.
    """
    report, record = folder / "report.html", folder / "certificate.json"
    write_whole({record: certificate.to_json() + "\n", report: certificate.to_html(title=title)})
    return report, record


def announce(
    certificate: Certificate,
    files: tuple[Path, Path],
    extra: Mapping[str, object],
    *,
    as_json: bool,
    show: bool = False,
) -> None:
    """Print the verdicts, for a program or for a person, and where the files are.

    Args:
        certificate: With the verdicts.
        files: Of the report and of the record.
        extra: What JSON says besides.
        as_json: Whether to print JSON.
        show: Whether to open the report in a browser.
    """
    report, record = files
    if as_json:
        verdicts = {name: {"status": v.status, "sentence": v.sentence} for name, v in certificate.verdicts.items()}
        said = {
            "statements": [one.to_json() for one in certificate.statements],
            "may_say": list(certificate.may_say),
            "may_not_say": list(certificate.may_not_say),
            "next_steps": list(certificate.next_steps),
        }
        result = {
            **extra,
            "report": str(report),
            "certificate": str(record),
            "trusted": certificate.trusted,
            **said,
            "verdicts": verdicts,
        }
        answer(result, "", as_json=True)
    else:
        _print(certificate, report, record)
    if show:
        webbrowser.open(report.resolve().as_uri())


def _print(certificate: Certificate, report: Path, record: Path) -> None:
    console = Console(soft_wrap=False)
    if not certificate.trusted:
        console.print(Text(certificate["controls"].verdict.sentence, "bold red"))
    _print_found(console, certificate)
    table = _columns()
    for name, part in certificate.parts.items():
        table.add_row(Text(name, "bold"), _graded(part.answer), Text(part.verdict.sentence))
        for title, one in part.lines.items():
            table.add_row(Text(f"  {title}"), _graded(one.status), Text(one.sentence, "dim"))
    console.print(Text("\nThe answers behind it", "bold"))
    console.print(table)
    if "causal" in certificate.parts:
        details = certificate["causal"].details
        strengths = {(a, b): value for a, b, value in details["strengths"]}
        console.print(Text("\n" + graphs.to_text(graphs.CPDAG.from_json(details["cpdag"]), strengths) + "\n"))
    console.print(Text(f"{certificate.split['sentence']}"))
    console.print(Text(f"Open {report} in a browser; the record is {record}."))


def _print_found(console: Console, certificate: Certificate) -> None:
    """Print what was found, what may not be said, and what would settle more: in the order of the page."""
    console.print(Text("What was found", "bold"))
    table = _columns()
    for one in certificate.statements:
        table.add_row(_graded(one.grade), Text(one.sentence))
    console.print(table)
    for title, sentences in (
        ("You may not say", certificate.may_not_say),
        ("What would settle more", certificate.next_steps),
    ):
        if sentences:
            console.print(Text(f"\n{title}", "bold"))
            console.print(Text("\n".join(f"· {words}" for words in sentences)))


def _columns() -> Table:
    return Table(box=None, show_header=False, padding=(0, 2, 0, 0))


def _graded(word: str) -> Text:
    return Text(word, _COLOURS.get(word, "cyan"))


def require(certificate: Certificate, names: Sequence[str]) -> None:
    """Leave with exit code 1 unless every named part is certified or supported.

    Args:
        certificate: With the verdicts.
        names: Of the parts.

    Raises:
        typer.Exit: If one of them is not.
    """
    for name in names:
        if name not in certificate.parts and name != "mixtures":
            _complain(f"required: {name}, which does not apply to this model.")
            raise typer.Exit(1)
    missing = [name for name in names if not certificate.reached(name)]
    if missing:
        words = "; ".join(f"{name} is {certificate.status(name)}" for name in missing)
        trust = "" if certificate.trusted else " The controls failed."
        _complain(f"required and not reached: {words}.{trust}")
        raise typer.Exit(1)


def _complain(words: str) -> None:
    Console(stderr=True, soft_wrap=True).print(f"latentry: {words}", style="bold red", markup=False, highlight=False)
