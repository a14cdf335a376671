"""Whether the data could determine the latents at all."""

from __future__ import annotations

from dataclasses import replace

from latentry import identifiability
from latentry.certificate.audits.agreement import distinct_fits, restarts_agree
from latentry.certificate.question import Fields, Number, Part
from latentry.certificate.subject import Subject
from latentry.contracts import HasLatentDistributions, HasLatentMixture, HasMixing, KnowsTargets
from latentry.evidence import STATUS_ORDER, Assumption, Bound, Outcome, Verdict, assumptions_in_words

__all__ = ["identifiable", "with_refits"]

_SAME = "fits from other seeds find the same latents"


def identifiable(subject: Subject) -> Part:
    """Audit changes between domains, known targets, sparsity of the mixing, or a mixture of Gaussians, as the model has them.

    Args:
        subject: Rows and their latents.

    Returns:
        The part, with the best of the answers.
    """
    claims: dict[str, Verdict] = {}
    numbers: dict[str, Number] = {}
    details: Fields = {}
    notes: list[str] = []
    methods: list[str] = []
    level, seed = subject.settings.level, subject.settings.seed
    if isinstance(subject.model, KnowsTargets) and subject.model.known_targets() and subject.data.domain is not None:
        # What was told holds distributions together, so that their changes are no evidence of their own.
        told = identifiability.known_targets(subject.model, subject.data, level=level, seed=seed)
        claims["known targets"] = told.verdict
        methods.append("known targets of domains")
    elif isinstance(subject.model, HasLatentDistributions) and subject.data.domain is not None:
        changes = identifiability.sufficient_changes(subject.model, subject.data, level=level, seed=seed)
        claims["sufficient changes"] = changes.verdict
        numbers |= _numbers(changes)
        notes += _notes(changes, subject.names)
        details["sufficient_changes"] = changes.to_json()
        methods.append("sufficient changes between domains")
    if isinstance(subject.model, HasMixing):
        others = [other.model for other in distinct_fits(subject)[1:] if isinstance(other.model, HasMixing)]
        fits = [subject.model, *others]
        claims["sparsity of the mixing"] = identifiability.sparsity(fits, subject.data, level=level, seed=seed).verdict
        methods.append("structural sparsity of the mixing")
    if isinstance(subject.model, HasLatentMixture):
        mixture = identifiability.mixture_components(subject.model, subject.data, level=level, seed=seed)
        claims["mixture of Gaussians"] = mixture.verdict
        methods.append("identifiability of Gaussian mixtures")
    if not claims:
        return Part("identifiable", _no_theorem(subject))
    claims = {name: with_refits(verdict, subject) for name, verdict in claims.items()}
    best = _with_restarts(max(claims.values(), key=lambda v: STATUS_ORDER.index(v.status)), subject)
    return Part("identifiable", best, claims, numbers, tuple(notes), tuple(methods), details)


def _with_restarts(verdict: Verdict, subject: Subject) -> Verdict:
    """Add whether restarts found the same latents; where they did not, the answer is open."""
    claim = dict(restarts_agree(subject)).get("restarts agree")
    if claim is None or verdict.status not in ("supported", "certified"):
        return verdict
    outcome: Outcome = "refuted" if claim.refuted else "not refuted"
    same = Assumption(_SAME, outcome, f"{len(distinct_fits(subject))} fits from different seeds", note=claim.sentence)
    others = tuple(one for one in verdict.assumptions if one.name != identifiability.BEST_FIT.name)
    return _restated(verdict, (*others, same), claim.change)


def with_refits(verdict: Verdict, subject: Subject) -> Verdict:
    """Put what further fits said in the place of assumptions that are untested without them.

    Args:
        verdict: Of one theorem.
        subject: With what the fits said.

    Returns:
        The verdict; open, where it was a "yes" and a fit refuted an assumption.
    """
    said = {one.name: one for one in subject.refits}
    if not any(one.name in said for one in verdict.assumptions):
        return verdict
    change = "another number of latents, or domains that one mixing serves"
    return _restated(verdict, tuple(said.get(one.name, one) for one in verdict.assumptions), change)


def _restated(verdict: Verdict, assumptions: tuple[Assumption, ...], change: str) -> Verdict:
    """Return a verdict that rests on these assumptions; where one is newly refuted, a "yes" becomes open."""
    old, new = assumptions_in_words(verdict.assumptions), assumptions_in_words(assumptions)
    sentence = verdict.sentence.replace(old, new) if old else verdict.sentence
    against = next((one for one in assumptions if one.refuted and one not in verdict.assumptions), None)
    if against is None or verdict.status not in ("supported", "certified"):
        return replace(verdict, sentence=sentence, assumptions=assumptions)
    sentence = f"rows contradict an assumption: {against.name} ({against.note}). Without it one would say: {sentence}"
    return Verdict("cannot say", sentence, verdict.evidence, change, assumptions=assumptions)


def _numbers(changes: identifiability.SufficientChanges) -> dict[str, Number]:
    numbers: dict[str, Number] = {
        "domains present": Bound(changes.present),
        "domains needed": Bound(changes.needed),
        "rank of the changes": Bound(changes.rank, "estimate", method=f"test at level {changes.level:g}"),
        "statistics that must change": Bound(changes.statistics),
    }
    if changes.weakest is not None:
        numbers["weakest change"] = Bound(
            changes.weakest.low, "lower", 1 - changes.level, "sufficient changes, standard errors of one row"
        )
    return numbers


def _notes(changes: identifiability.SufficientChanges, names: tuple[str, ...]) -> list[str]:
    notes = []
    if changes.means_only:
        notes.append("Only means move between domains: the trap in which latents look recovered and stay mixed.")
    if changes.unchanged:
        notes.append(
            f"The distribution of latent {', '.join(names[k] for k in changes.unchanged)} does not change between domains."
        )
    if changes.inseparable:
        pairs = "; ".join(f"{names[i]} and {names[j]}" for i, j in changes.inseparable)
        notes.append(
            f"In this fit the variances of these latents keep one ratio, so that they can be mixed unseen: {pairs}."
        )
    return notes


def _no_theorem(subject: Subject) -> Verdict:
    change = "a model whose latents have a distribution in each domain (IFlow, IVAE)"
    change += "" if subject.data.domain is not None else ", and data with domains"
    if subject.model is None:
        sentence = (
            "nothing is known of how these latents were made, so that no theorem says that they are the only ones."
        )
    elif not isinstance(subject.model, HasLatentDistributions):
        name = type(subject.model).__name__
        sentence = (
            f"{name} assumes nothing that changes between domains: no theorem is known that determines its latents."
        )
    else:
        sentence = "the rows have no domain, and the distributions of the latents were learned for domains."
        change = "the domain of each row"
    return Verdict("cannot say", sentence, {}, change)
