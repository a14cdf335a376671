"""From latents and rows to a certificate and its report."""

from latentry.certificate.certify import certify
from latentry.certificate.comparing import Comparison, check
from latentry.certificate.part import PARTS, Part
from latentry.certificate.record import Certificate
from latentry.certificate.schema import SCHEMA

__all__ = ["PARTS", "SCHEMA", "Certificate", "Comparison", "Part", "certify", "check"]
