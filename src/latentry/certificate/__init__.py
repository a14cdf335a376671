"""From latents and rows to a certificate and its report."""

from latentry.certificate.certificate import Certificate
from latentry.certificate.certify import certify
from latentry.certificate.question import PARTS, Part
from latentry.certificate.recheck import Comparison, check
from latentry.certificate.schema import SCHEMA

__all__ = ["PARTS", "SCHEMA", "Certificate", "Comparison", "Part", "certify", "check"]
