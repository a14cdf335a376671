r"""Whether knowing which latents each domain changes tells the latents apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from latentry.contracts import KnownTargets, KnowsTargets, SamplesByDomain, names_of
from latentry.data import Dataset, numbers_of_rows
from latentry.errors import DataError
from latentry.evidence import Assumption, Bound, Verdict, assumptions_in_words
from latentry.identifiability.assumptions import (
    UNTESTABLE,
    independent_latents,
    latent_family,
    samples_look_like_rows,
    too_weakly_tested,
)
from latentry.identifiability.sufficient_changes.measured_moments import from_rows

__all__ = ["TargetAudit", "known_targets"]

Array = np.ndarray
_PART = 0.2  # five tests share the level
_UNLIKE = 0.15  # of a mean, in deviations, or half the logarithm of a variance: smaller differences do not count
_AS_GIVEN = Assumption("each domain changes the latents that it was said to change", "untested", note="it was given")


@dataclass(frozen=True, eq=False)
class TargetAudit:
    """What known targets say about the latents.

    Args:
        verdict: supported, refuted or cannot say, with its assumptions.
        told_apart: For each latent, whether it is the only common target of some set of domains.
        alone: For each latent, whether some domain changes it and no other.
        changes: For each latent, a lower limit of how far its clearest domain changes it: of a mean in deviations, or half the
            logarithm of a variance.
    """

    verdict: Verdict
    told_apart: tuple[bool, ...]
    alone: tuple[bool, ...]
    changes: tuple[float, ...]

    def __str__(self) -> str:
        return "\n".join([str(self.verdict), *(f"  {one}" for one in self.verdict.assumptions)])


def known_targets(model: KnowsTargets, data: Dataset, *, level: float = 0.05, seed: int = 0) -> TargetAudit:
    r"""Audit the conditions under which known targets of domains identify latents, also where latents cause each other.

    Liang et al., *Causal component analysis* (2023): with known causes among the latents, a domain for each latent that changes it
    alone and cuts its causes, and domains that leave it as it is, latents are identified up to a scale and shift of each; their
    order is that of the targets. Where domains change several latents, those that are the only common target of some set of
    domains are told apart by sparsity (Lachapelle et al., *Disentanglement via mechanism sparsity*, 2022), under conditions on
    how the changes vary that are not tested here: the answer is then open.

    On rows that did not train the model it is tested that rows are independent, that what causes do not explain is independent,
    normal and the same in all domains that leave a latent as it is, that targets do change, and that samples look like rows.

    Cost: one reading of the rows by the model, then rows · latents².

    Args:
        model: Fitted with ``domain_prior__targets``.
        data: Rows that did not train it, with their domains.
        level: Of all tests together.
        seed: Of samples and folds.

    Returns:
        The verdict and what it rests on.

    Raises:
        DataError: If the model was not told its targets, or rows have no domain.
    """
    known = model.known_targets()
    if known is None:
        raise DataError(
            f"model={type(model).__name__}: was not told which latents each domain changes. Fit it with targets."
        )
    if data.domain is None:
        raise DataError("data: has no domain, and targets are of domains. Give a Dataset with a domain.")
    part, names = _PART * level, names_of(model, known.targets.shape[1])
    measured = from_rows(
        model.own_parts(data), data.domain, units=data.units, level=part, seed=seed, table=numbers_of_rows(data)
    )
    rows, groups = measured.counts, measured.groups
    targeted = known.targets[[known.labels.index(label) for label in measured.labels]]
    changes = _changes(model, data, known, part)
    parts = [
        *measured.assumed,
        _renamed(
            independent_latents(groups, rows, part, names), "what causes do not explain is independent in each domain"
        ),
        _renamed(
            latent_family(groups, rows, "gaussian", part, names), "what causes do not explain is normal in each domain"
        ),
        _left_alone(measured.mean, measured.variance, rows, targeted, part, names),
    ]
    if isinstance(model, SamplesByDomain):
        parts.append(samples_look_like_rows(model, data, part, seed))
    assumed = (*parts, _AS_GIVEN, *UNTESTABLE)
    verdict = _verdict(known, changes, assumed, names)
    return TargetAudit(verdict, tuple(known.told_apart.tolist()), tuple(known.alone.tolist()), tuple(changes.tolist()))


def _renamed(tested: Assumption, name: str) -> Assumption:
    return Assumption(name, tested.outcome, tested.test, tested.p_value, tested.power, tested.note)


def _changes(model: KnowsTargets, data: Dataset, known: KnownTargets, level: float) -> Array:
    """Lower limits of how far each latent's clearest domain is from the mechanism of the others."""
    assert data.domain is not None
    parts, codes = model.own_parts(data, untargeted=True), data.domain.recode(known.labels, 1).values
    quantile = norm.isf(level / max(1, 2 * known.targets.sum()))
    limits = np.zeros(known.targets.shape[1])
    for domain, latent in np.argwhere(known.targets):
        own = parts[codes == domain, latent]
        if len(own) > 1:
            errors = quantile * np.array([own.std() / np.sqrt(len(own)), 1 / np.sqrt(2 * len(own))])
            sizes = np.abs([own.mean(), np.log(own.std() + 1e-300)]) - errors
            limits[latent] = max(limits[latent], sizes.max())
    return limits


def _left_alone(
    mean: Array, variance: Array, rows: Array, targeted: Array, level: float, names: tuple[str, ...]
) -> Assumption:
    """Test that own parts have mean 0 and variance 1 where a domain leaves a latent as it is."""
    name = "domains leave the latents alone that they were not said to change"
    test = f"means and variances in the domains that do not target a latent, against {_UNLIKE:g}"
    if targeted.all():
        return Assumption(name, "untested", note="every domain changes every latent")
    count = np.maximum(rows, 2.0)[:, None]
    sizes = np.stack([np.abs(mean), np.abs(np.log(variance)) / 2])
    errors = np.stack([np.sqrt(variance / count), np.sqrt(0.5 / count) + 0 * variance])
    scores = np.where(targeted, -np.inf, (sizes - _UNLIKE) / errors)
    place = np.unravel_index(int(scores.argmax()), scores.shape)
    tests = 2 * int((~targeted).sum())
    p = min(1.0, 2 * tests * float(norm.sf(scores[place])))
    power = float(norm.sf(norm.isf(level / (2 * tests)) - _UNLIKE / errors[place]))
    note = f"largest {sizes[place]:.2f}, latent {names[place[2]]}; power for {2 * _UNLIKE:g}"
    return Assumption(name, "refuted" if p <= level else "not refuted", test, p, power, note)


def _verdict(known: KnownTargets, changes: Array, assumed: tuple[Assumption, ...], names: tuple[str, ...]) -> Verdict:
    evidence = {
        f"change of {name}": Bound(float(size), "lower", method="own parts")
        for name, size in zip(names, changes, strict=True)
    }
    mixed = _where(names, ~known.told_apart)
    if mixed:
        words = f"the given targets do not tell {mixed} apart from others: it is the only common target of no set of domains."
        return Verdict("refuted", words, evidence, "domains that change it without the others", assumptions=assumed)
    doubt, change = _doubt(known, changes, assumed, names)
    if doubt:
        return Verdict("cannot say", doubt, evidence, change, assumptions=assumed)
    words = (
        "a domain that changes each latent alone identifies the latents up to scale and shift, in the order of the targets "
        f"(Liang et al. 2023). {assumptions_in_words(assumed)}"
    )
    change = "other targets or causes that describe rows as well"
    return Verdict("supported", words, evidence, change, assumptions=assumed)


def _doubt(
    known: KnownTargets, changes: Array, assumed: tuple[Assumption, ...], names: tuple[str, ...]
) -> tuple[str, str]:
    """Return why the answer is open and what would change it; nothing where the theorem holds as far as tests see."""
    against = next((one for one in assumed if one.refuted), None)
    if against is not None:
        words = f"the theorem cannot be used: rows contradict its assumption that {against.name} ({against.note})."
        return words, "other targets, other causes, or a better fit"
    still = _where(names, changes <= _UNLIKE)
    if still:
        words = f"domains that were said to change {still} do so by less than {_UNLIKE:g} deviations, as far as these rows show."
        return words, "domains that change it more, or more rows"
    if not known.alone.all():
        words = (
            "each latent is the only common target of some set of domains; that this tells latents apart (Lachapelle et al. 2022) "
            "takes changes that vary enough, which is not tested."
        )
        return words, "domains that change one latent each"
    weak = too_weakly_tested(assumed)
    if weak is not None:
        words = f"rows are too few to test an assumption of the theorem, that {weak.name} ({weak.note}, {weak.power or 0.0:.2f})."
        return words, "more rows"
    return "", ""


def _where(names: tuple[str, ...], chosen: Array) -> str:
    return ", ".join(name for name, one in zip(names, chosen, strict=True) if one)
