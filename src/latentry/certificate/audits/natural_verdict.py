"""One latent, judged: domain by domain, with the domains mixed, and with all rows pooled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from latentry.certificate.question import MIXED
from latentry.evidence import STATUS_ORDER, Verdict, all_of
from latentry.natural import Audit, Claim, in_its_sentence

__all__ = ["Judged", "place_words"]

_EACH, _POOLED = "each domain", "all rows pooled"
_AGAINST = STATUS_ORDER[:2]
_MEDIATION = "mediation error"


@dataclass(frozen=True, eq=False)
class Judged:
    """Answers about one latent.

    A domain is itself a mixture, so that naturality in every mixture is the stronger claim. It also fails where a domain
    leaves its own mark in several modalities, as laboratories do; then what is known of each domain is the answer, and the
    sentence says that it ends there. Asking the weaker question first costs no level: a false answer to the stronger one
    is also false there, or true there and wrong with at most the level.

    Args:
        name: of the latent.
        split: the audit by domains, if there are several.
        pooled: the audit of all rows together.
        problem: why an audit is missing.
    """

    name: str
    split: Audit | None
    pooled: Audit | None
    problem: str = ""

    @property
    def main(self) -> Audit | None:
        """Return the audit that answers."""
        return self.split or self.pooled

    @property
    def verdict(self) -> Verdict:
        """Return the answer for every mixture if it is as good as that for each domain; else the latter, and where it ends."""
        if self.main is None:
            return Verdict("cannot say", self.problem, {}, "more rows")
        if self.split is None:
            return self._of_all_rows(self.main)
        each, mixed = self.in_each, self.mixed
        if mixed.certified and not each.refuted:  # every domain is a mixture
            return mixed
        if each.status in _AGAINST:
            return each
        if STATUS_ORDER.index(mixed.status) >= STATUS_ORDER.index(each.status):
            return mixed
        return replace(each, sentence=f"{each.sentence} {self._ends_there(mixed)}")

    @property
    def _by_domain(self) -> Sequence[Claim]:
        return () if self.split is None else self.split.claims

    @property
    def in_each(self) -> Verdict:
        """Judge whether the latent is natural in every one of the domains."""
        claims = [c for c in self._by_domain if c.place != MIXED]
        return self._joined(claims, f"each of the {len({c.place for c in claims})} domains")

    @property
    def mixed(self) -> Verdict:
        """Judge whether the latent is natural whatever the fractions of the domains, to one who does not know them."""
        claims = [c for c in self._by_domain if c.place == MIXED]
        known = all(c.verdict.certified for c in claims if c.error == _MEDIATION)
        domains = [c for c in self._by_domain if c.place != MIXED and c.error == _MEDIATION]
        return self._joined([*claims, *(c for c in domains if c.verdict.refuted or not known)], MIXED)

    def _ends_there(self, mixed: Verdict) -> str:
        """Say why the answer does not reach mixtures: what is shared in none of the domains is shared through the domain."""
        pooled = self.pooled.claims if self.pooled else ()
        claims = [c for c in (*pooled, *self._by_domain) if c.error == _MEDIATION and c.place in ("all rows", MIXED)]
        claim = min(claims, key=lambda c: STATUS_ORDER.index(c.verdict.status))
        if claim.verdict.status not in _AGAINST or claim.lower is None:
            return f"With the domains mixed: {mixed.status}."
        word = "it is not" if claim.verdict.refuted else "it may not be"
        size = f"mediation error ≥ {max(claim.lower.value, 0.0):.2g}"
        return f"With the domains mixed {word}: the domain changes several of them at once ({size})."

    def _of_all_rows(self, pooled: Audit) -> Verdict:
        verdict = self._joined(pooled.claims, "all rows")
        if not self.problem or verdict.status not in ("certified", "supported"):
            return verdict
        sentence = f"natural on all rows together. {self.problem}"  # which is no certificate for any single domain
        return Verdict("cannot say", sentence, verdict.evidence, "more rows in each domain")

    def _joined(self, claims: Sequence[Claim], place: str) -> Verdict:
        """Join all claims, in a sentence that says what is left open of the latent where nothing speaks against it."""
        declared = claims[0].epsilon or (self.main.epsilon if self.main is not None else math.nan)
        claim = f"{self.name} is natural within {declared:g} nats in {place}"
        verdict = all_of([c.verdict for c in claims], claim)
        if verdict.status not in ("not refuted", "supported", "certified"):
            return verdict
        tested = [t.p_value for c in claims if c.error == _MEDIATION for t in c.tests]
        explains = "it explains what the modalities share"
        if verdict.status != "certified":
            explains = f"no test finds anything that the modalities share beyond it (least p of {len(tested)}: {min(tested):.2g})"
        if verdict.status == "supported":
            gain = max(c.class_gain.value for c in claims if c.class_gain is not None)
            explains += f", predictors that also see other modalities gain at most {gain:.2g} nats"
        opens = max((c.upper.value for c in claims if c.upper is not None and c.error != _MEDIATION), default=math.nan)
        remainder = (
            f", and each of them alone leaves at most {opens:.2g} nats of it open" if math.isfinite(opens) else ""
        )
        empty = self.main.empty if self.main is not None else ()
        return in_its_sentence(replace(verdict, sentence=f"{claim}: {explains}{remainder}."), empty)

    @property
    def rank(self) -> tuple[float, ...]:
        """Rank by the answer; among equals by the number of certified claims, then by the smaller of the largest bounds."""
        claims = () if self.main is None else self.main.claims
        uppers = [claim.upper.value for claim in claims if claim.upper is not None]
        certified = sum(c.verdict.certified for c in claims)
        return (STATUS_ORDER.index(self.verdict.status), certified, -max(uppers, default=math.inf))

    @property
    def claims(self) -> dict[str, Verdict]:
        """Return every answer, by place."""
        of = "" if self.name == "Λ" else f"{self.name}, "
        verdicts = dict(self.main.verdicts) if self.main else {}
        verdicts |= {_EACH: self.in_each, MIXED: self.mixed} if self.split else {}
        verdicts |= {_POOLED: self.pooled.verdict} if self.split and self.pooled else {}
        return {f"{of}{place}": _about(v, self.name) for place, v in verdicts.items()}

    @property
    def line(self) -> Verdict:
        """Return the answer with what each modality tells: for a list of several latents."""
        verdict = self.verdict
        if self.main is None or verdict.status in ("certified", "supported", "not refuted"):
            return verdict
        return replace(verdict, sentence=f"{verdict.sentence.rstrip('.')}. {_remainder(self.main)}")


def _remainder(audit: Audit) -> str:
    """Say which modalities determine the latent by themselves, as far as bounds say."""
    entropy, epsilon = audit.latent_entropy, audit.epsilon
    whole = math.inf if entropy is None else entropy.value
    words = []
    for error in dict.fromkeys(c.error for c in audit.claims if c.error != _MEDIATION):
        upper = max(c.upper.value if c.upper else math.inf for c in audit.claims if c.error == error)
        much = (
            "may leave nearly all of it open" if upper >= 0.9 * whole else f"leaves at most {upper:.2g} nats of it open"
        )
        words.append(f"{error.removeprefix('redundancy error of ')} {much if upper > epsilon else 'tells it'}")
    return f"By itself {', '.join(words)}."


def _about(verdict: Verdict, name: str) -> Verdict:
    return replace(verdict, sentence=verdict.sentence.replace("Λ", name, 1))


def place_words(place: str) -> str:
    """Return a place as the page names it.

    Args:
        place: As an audit names it.

    Returns:
        A phrase.
    """
    return _POOLED if place == "all rows" else place
