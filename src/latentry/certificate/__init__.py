"""From latents and rows to a certificate and its report."""

from latentry.certificate.audits import PARTS
from latentry.certificate.certificate import Certificate
from latentry.certificate.certify import certify
from latentry.certificate.matching import Matching, Partner, match_latents
from latentry.certificate.opening import Opening, OpeningTable
from latentry.certificate.question import Part
from latentry.certificate.recheck import Comparison, check
from latentry.certificate.schema import SCHEMA
from latentry.certificate.side_by_side import SideBySide
from latentry.certificate.splitting import FEWEST
from latentry.certificate.stages import Stage
from latentry.certificate.statements import Statement
from latentry.certificate.subject import Settings
from latentry.whole_files import write_whole

__all__ = [
    "FEWEST",
    "PARTS",
    "SCHEMA",
    "Certificate",
    "Comparison",
    "Matching",
    "Opening",
    "OpeningTable",
    "Part",
    "Partner",
    "Settings",
    "SideBySide",
    "Stage",
    "Statement",
    "certify",
    "check",
    "match_latents",
    "write_whole",
]
