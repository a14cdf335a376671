"""Text that came with data, as it may stand in a page: it is read, and never acted on."""

from __future__ import annotations

import base64
import hashlib
import html
import re

__all__ = ["embedded_json", "escaped", "shortened", "whole_page"]

# Control characters, marks that turn the direction of what follows them, line separators and lone surrogates.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
_IN_JSON = re.compile("[<>&\u2028\u2029\ud800-\udfff]")


def escaped(value: object) -> str:
    r"""Return text as HTML shows it: no part of it is markup, ends an attribute, or turns the words beside it around.

    Every text of a page goes through this function, whether it is a name from the data or a sentence of ours.
    Characters that are not seen, such as marks that reverse the direction of what follows, are written as codes.

    Args:
        value: Text, or anything that is shown as text.

    Returns:
        HTML without elements, fit for content and for a quoted attribute.

    >>> escaped("<script>'x'</script>")
    '&lt;script&gt;&#x27;x&#x27;&lt;/script&gt;'
    >>> escaped("price \u202e001"), escaped(3)
    ('price \\u202e001', '3')
    """
    return html.escape(_UNSEEN.sub(_code, str(value)))


def shortened(text: str, letters: int = 38) -> str:
    """Return text that fits beside a mark of a drawing; a long one ends in three dots.

    Args:
        text: A name.
        letters: At most so many.

    Returns:
        Text.

    >>> shortened("a long name", 7)
    'a long…'
    """
    return text if len(text) <= letters else text[: letters - 1] + "…"


def embedded_json(text: str) -> str:
    r"""Return JSON that no reader of HTML can take for markup, wherever it stands in an element of data.

    Args:
        text: JSON.

    Returns:
        JSON with the same content.

    >>> embedded_json('{"name": "</script>"}')
    '{"name": "\\u003c/script\\u003e"}'
    """
    return _IN_JSON.sub(_code, text)


def whole_page(title: str, style: str, body: str, script: str = "") -> str:
    """Return a page that may run one script, that of its own, and fetch nothing.

    A Content-Security-Policy names the script by its hash, so that a browser runs no other, also where a text were
    not escaped.

    Args:
        title: As text.
        style: Of the whole page, as CSS.
        body: HTML.
        script: Of the page; empty for none.

    Returns:
        HTML.
    """
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(script)}">'
        "<meta name='viewport' content='width=device-width,initial-scale=1'>"
        f"<title>{escaped(title)}</title><style>{style}</style></head><body>{body}"
        f"{f'<script>{script}</script>' if script else ''}</body></html>\n"
    )


def _policy(script: str) -> str:
    """Allow the one script, styles in the page, and images that the page carries."""
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    scripts = f"'sha256-{digest}'" if script else "'none'"
    parts = ("default-src 'none'", f"script-src {scripts}", "style-src 'unsafe-inline'", "img-src data:")
    return "; ".join((*parts, "base-uri 'none'", "form-action 'none'"))


def _code(match: re.Match[str]) -> str:
    return f"\\u{ord(match.group()):04x}"
