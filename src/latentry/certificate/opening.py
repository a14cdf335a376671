"""What stands at the top of a page, before the certificate: a paragraph, sentences and tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Opening", "OpeningTable"]


@dataclass(frozen=True)
class OpeningTable:
    """A table of text.

    Args:
        title: Above it.
        head: Titles of the columns.
        rows: Cells.
    """

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Opening:
    """The top of a page.

    Args:
        title: Of the box.
        paragraph: What a reader may repeat.
        sentences: How it came about, one by one.
        tables: In their order.
    """

    title: str
    paragraph: str
    sentences: tuple[str, ...] = ()
    tables: Sequence[OpeningTable] = ()
