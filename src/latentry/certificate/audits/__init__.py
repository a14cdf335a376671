"""The audits of a certificate, one file each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from latentry.certificate.audits.causal import causal as _causal
from latentry.certificate.audits.controls import controls as _controls
from latentry.certificate.audits.fit import fit as _fit
from latentry.certificate.audits.identifiable import identifiable as _identifiable
from latentry.certificate.audits.informative import informative as _informative
from latentry.certificate.audits.natural import natural as _natural
from latentry.certificate.question import Part
from latentry.certificate.subject import Subject

__all__ = ["AUDITS"]

AUDITS: Mapping[str, Callable[[Subject], Part | None]] = MappingProxyType(
    {
        "fit": _fit,
        "identifiable": _identifiable,
        "informative": _informative,
        "natural": _natural,
        "causal": _causal,
        "controls": _controls,
    }
)
