"""The audits of a certificate, one file each, and the one table of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from latentry.certificate.audits import work as _work
from latentry.certificate.audits.causal import causal as _causal
from latentry.certificate.audits.controls import controls as _controls
from latentry.certificate.audits.domains import domains as _domains
from latentry.certificate.audits.fit import fit as _fit
from latentry.certificate.audits.identifiable import identifiable as _identifiable
from latentry.certificate.audits.informative import informative as _informative
from latentry.certificate.audits.natural import natural as _natural
from latentry.certificate.audits.variables import variables as _variables
from latentry.certificate.question import Part
from latentry.certificate.subject import Subject

__all__ = ["AUDITS", "PARTS", "Audit"]


@dataclass(frozen=True)
class Audit:
    """A question of a certificate, and how it is answered.

    Args:
        question: What is asked.
        title: Of its card on the page.
        place: Of its card among the others; low numbers stand first.
        answer: The part of the certificate, or None where the question has no meaning.
        work: How long the answer is expected to take, beside the other audits.
    """

    question: str
    title: str
    place: int
    answer: Callable[[Subject], Part | None]
    work: Callable[[Subject], float]


# In the order in which they are asked.
AUDITS: Mapping[str, Audit] = MappingProxyType(
    {
        "variables": Audit(
            "Which hidden variables are there, and what goes with each of them?",
            "Hidden variables",
            1,
            _variables,
            _work.variables_work,
        ),
        "fit": Audit("Does the model describe rows that it has not seen?", "Fit", 7, _fit, _work.fit_work),
        "identifiable": Audit(
            "Could the data determine these latents at all?", "Identifiable", 6, _identifiable, _work.identifiable_work
        ),
        "informative": Audit(
            "How much do the latents say about each modality?", "Information", 3, _informative, _work.informative_work
        ),
        "natural": Audit(
            "Does each modality alone tell the latent, and does the latent explain what they share?",
            "Natural",
            4,
            _natural,
            _work.natural_work,
        ),
        "domains": Audit(
            "How much of the domain shows in the latents, and how far do the domains differ given them?",
            "Domains",
            5,
            _domains,
            _work.domains_work,
        ),
        "causal": Audit("Do new rows agree with the graph?", "Causal graph", 2, _causal, _work.causal_work),
        "controls": Audit(
            "Do latents and domains that are known to be worthless come out as worthless?",
            "Controls",
            8,
            _controls,
            _work.controls_work,
        ),
    }
)
PARTS: Mapping[str, str] = MappingProxyType({name: audit.question for name, audit in AUDITS.items()})
