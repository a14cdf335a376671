"""The report of a certificate as a page."""

from latentry.certificate.report.comparison import comparison_page
from latentry.certificate.report.page import STYLE, page_of

__all__ = ["STYLE", "comparison_page", "page_of"]
