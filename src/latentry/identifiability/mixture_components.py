r"""Whether a mixture of Gaussians in the latents tells them apart without any domain."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from scipy.stats import multivariate_normal, norm

from latentry.contracts import HasChannel, HasLatentMixture, LatentMixture, Samples
from latentry.data import Dataset, GaussianChannel, numbers_of_rows
from latentry.errors import DataError
from latentry.evidence import Assumption, Bound, Verdict, assumptions_in_words
from latentry.identifiability.assumptions import (
    UNTESTABLE,
    independent_latents,
    independent_rows,
    latent_family,
    samples_look_like_rows,
    too_weakly_tested,
)
from latentry.identifiability.cluster_overlap import MOST_SHARED, Overlap, largest_overlap
from latentry.identifiability.rows_per_domain import LEAST_ROWS
from latentry.streams import stream

__all__ = ["MixtureAudit", "mixture_components"]

Array = NDArray[np.float64]
_AFFINE, _EACH = "an invertible affine map", "order, scale and shift"
_PART = 0.2  # five tests share the level
_APART = 0.1  # of two logarithms of variance ratios that count as different
_SO_MANY = Assumption(
    "the latents come from a mixture of so many Gaussians, not from something that it resembles",
    "untested",
    note="other numbers of clusters were not fitted: compare nodes= by score",
)


@dataclass(frozen=True, eq=False)
class MixtureAudit:
    """What the components say about the latents.

    Args:
        verdict: supported, or cannot say, with its assumptions.
        up_to: What stays undetermined of the latents, if the assumptions hold.
        components: Of the mixture that was learned.
        present: Those with enough of the rows.
        gap: Lower limit of the smallest difference of log variance ratios, for the best pair of components; 0 if none.
        pair: That pair.
    """

    verdict: Verdict
    up_to: str
    components: int
    present: int
    gap: float
    pair: tuple[int, int] | None

    def __str__(self) -> str:
        lines = [str(self.verdict), f"{self.present} of {self.components} components have at least {LEAST_ROWS} rows"]
        lines += [f"  {one}" for one in self.verdict.assumptions]
        return "\n".join([*lines, f"what would change it: {self.verdict.change}"])


def mixture_components(model: HasLatentMixture, data: Dataset, *, level: float = 0.05, seed: int = 0) -> MixtureAudit:
    r"""Audit the conditions under which a Gaussian mixture identifies latents without an auxiliary variable.

    Kivva, Rajendran, Ravikumar and Aragam, *Identifiability of deep generative models without auxiliary information* (2022):
    with a mixture of Gaussians as prior and a one-to-one, piecewise affine map, the components are determined, and the latents
    up to an affine map; if latents are independent in each component, and two components have variance ratios
    :math:`s^2_{ai}/s^2_{bi}` that differ for all latents i, up to order, scale and shift. Each draw of a row's latents is
    given to a component in proportion to the components' densities there; if the mixture is right, it is then Gaussian
    within each. Any distribution can be cut into Gaussians that overlap, and rows are too few to tell such a mixture from it: two
    components that share more than a twentieth of their rows leave the answer open.

    Cost: one reading of the rows by the model, then components · rows · latents².

    Args:
        model: With a mixture of Gaussians in its latents, such as CausalPIMA.
        data: Rows that did not train it; where they come in groups, one of each is looked at.
        level: Of all tests together.
        seed: Of the draws of latents and components.

    Returns:
        The verdict and what it rests on.

    Raises:
        DataError: If the model has no Gaussian channel.
    """
    mixture, units = model.latent_mixture(), data.units
    data = data.one_row_per_unit(seed)
    z = _draws(model, data, seed)
    groups, labels = _by_component(z, mixture, seed)
    if len(groups) < 2:
        sentence = (
            f"only {len(groups)} component of the mixture has at least {LEAST_ROWS} rows: there is no mixture to go by."
        )
        return MixtureAudit(
            Verdict("cannot say", sentence, {}, "more rows"), _AFFINE, mixture.components, len(groups), 0.0, None
        )
    assumed = _assumed(model, mixture, data, units, z, groups, labels, level, seed)
    gap, pair = _gap(groups, labels, level)
    tested = independent_latents(groups, _counts(groups), _PART * level)
    alone = _of_components("latents are independent of each other in each component", tested)
    up_to = _EACH if gap > _APART and not alone.refuted else _AFFINE
    assumed = (*assumed[:-3], alone, *assumed[-3:]) if up_to == _EACH else assumed
    verdict = _verdict(mixture, up_to, assumed, gap, pair, len(groups))
    most = largest_overlap(_probabilities(z, mixture), labels)
    if most.shared > MOST_SHARED and verdict.status == "supported":
        verdict = _overlapping(verdict, most)
    return MixtureAudit(verdict, up_to, mixture.components, len(groups), gap, pair)


def _draws(model: HasLatentMixture, data: Dataset, seed: int) -> Array:
    channel = model.channel(data) if isinstance(model, HasChannel) else None
    if not isinstance(channel, GaussianChannel):
        raise DataError(f"model={type(model).__name__}: has no Gaussian latents. Give a model such as CausalPIMA.")
    noise = stream("identifiability/draws", seed).normal(size=channel.scale.shape)
    return np.asarray(channel.mean + channel.scale * noise)


def _by_component(z: Array, mixture: LatentMixture, seed: int) -> tuple[list[Array], list[int]]:
    """Draw a component for each row, and return latents by component, where it has enough rows."""
    rise = _probabilities(z, mixture).cumsum(axis=1)
    drawn = (stream("identifiability/components", seed).random((len(z), 1)) > rise).sum(axis=1)
    drawn = np.minimum(drawn, mixture.components - 1)
    labels = [k for k in range(mixture.components) if (drawn == k).sum() >= LEAST_ROWS]
    return [z[drawn == k] for k in labels], labels


def _probabilities(z: Array, mixture: LatentMixture) -> Array:
    """Return the probability of each component for each row."""
    logs = np.stack(
        [
            np.log(max(weight, 1e-300)) + multivariate_normal.logpdf(z, mean, cov, allow_singular=True)
            for weight, mean, cov in zip(mixture.weights, mixture.means, mixture.covariances, strict=True)
        ],
        axis=1,
    )
    return np.asarray(softmax(logs, axis=1))


def _counts(groups: list[Array]) -> Array:
    return np.array([len(group) for group in groups], dtype=np.float64)


def _assumed(
    model: HasLatentMixture,
    mixture: LatentMixture,
    data: Dataset,
    units: NDArray[np.int64] | None,
    z: Array,
    groups: list[Array],
    labels: list[int],
    level: float,
    seed: int,
) -> tuple[Assumption, ...]:
    part, counts = _PART * level, _counts(groups)
    roots = [np.linalg.cholesky(np.linalg.pinv(mixture.covariances[k]) + 1e-12 * np.eye(z.shape[1])) for k in labels]
    plain = [(group - group.mean(axis=0)) @ root for group, root in zip(groups, roots, strict=True)]
    shape = latent_family(plain, counts, "gaussian", part)
    joint = independent_latents(plain, counts, part)
    parts = [
        *independent_rows([z], None, units, part, numbers_of_rows(data)),
        _of_components("latents are normal in each component", shape),
        _of_components("latents are jointly normal in each component", joint),
    ]
    if isinstance(model, Samples):
        parts.append(samples_look_like_rows(model, data, part, seed))
    affine = "the map from latents to rows is one to one and piecewise affine"
    why = "decoders are piecewise affine; whether the true map is, rows cannot say"
    note = why if mixture.piecewise_affine is True else str(mixture.piecewise_affine)
    return (*parts, Assumption(affine, "untested", note=note), _SO_MANY, *UNTESTABLE[1:])


def _overlapping(verdict: Verdict, most: Overlap) -> Verdict:
    """Leave the answer open where clusters overlap."""
    sentence = (
        f"clusters {most.first} and {most.second} overlap: {most.shared:.0%} of their rows could be of either, and any "
        "distribution can be cut into Gaussians that overlap. The theorem speaks of clusters that are there."
    )
    change = "clusters that are farther apart, or fewer of them"
    return Verdict("cannot say", sentence, verdict.evidence, change, assumptions=verdict.assumptions)


def _of_components(name: str, tested: Assumption) -> Assumption:
    return replace(tested, name=name, test=tested.test.replace("domains", "components"))


def _gap(groups: list[Array], labels: list[int], level: float) -> tuple[float, tuple[int, int] | None]:
    """Return the best pair's smallest difference of log variance ratios, less its error at the level over all pairs."""
    size = groups[0].shape[1]
    if size == 1:
        return np.inf, (labels[0], labels[1])
    pairs = list(combinations(range(len(groups)), 2))
    quantile = float(norm.isf(level / (len(pairs) * size * size)))
    logs = [np.log(group.var(axis=0, ddof=1)) for group in groups]
    errors = [_log_variance_error(group) for group in groups]
    gaps = []
    for a, b in pairs:
        ratio, spread = logs[a] - logs[b], np.sqrt(errors[a] + errors[b])
        gaps.append(
            min(
                abs(ratio[i] - ratio[j]) - quantile * np.hypot(spread[i], spread[j])
                for i, j in combinations(range(size), 2)
            )
        )
    best = int(np.argmax(gaps))
    return max(float(gaps[best]), 0.0), (labels[pairs[best][0]], labels[pairs[best][1]])


def _log_variance_error(group: Array) -> Array:
    """Return the variance of a log variance, whatever the distribution."""
    squares = (group - group.mean(axis=0)) ** 2
    return np.asarray(squares.var(axis=0) / squares.mean(axis=0) ** 2 / len(group))


def _verdict(
    mixture: LatentMixture,
    up_to: str,
    assumed: tuple[Assumption, ...],
    gap: float,
    pair: tuple[int, int] | None,
    present: int,
) -> Verdict:
    evidence = {"components with rows": Bound(present)}
    if up_to == _EACH and np.isfinite(gap):
        evidence["difference of log variance ratios"] = Bound(
            gap, "lower", method=f"clusters {pair[0]} and {pair[1]}" if pair else ""
        )
    against = next((one for one in assumed if one.refuted), None)
    if against is not None:
        sentence = f"the theorem cannot be used: rows contradict its assumption that {against.name} ({against.note})."
        return Verdict(
            "cannot say", sentence, evidence, "a better fit, or more values of the nodes", assumptions=assumed
        )
    what = f"a mixture of {present} Gaussians identifies its clusters, and the latents up to {up_to}"
    if mixture.piecewise_affine is not True:
        sentence = f"{what}, for piecewise affine maps (Kivva et al. 2022); here {mixture.piecewise_affine}."
        return Verdict("cannot say", sentence, evidence, 'networks__activation="leaky relu"', assumptions=assumed)
    weak = too_weakly_tested(assumed)
    if weak is not None:
        sentence = (
            f"rows are too few to test an assumption of the theorem, that {weak.name} ({weak.note}, which is "
            f"{weak.power or 0.0:.2f})."
        )
        return Verdict("cannot say", sentence, evidence, "more rows", assumptions=assumed)
    sentence = f"{what} (Kivva et al. 2022). {assumptions_in_words(assumed)}"
    return Verdict(
        "supported", sentence, evidence, "another number of clusters that describes rows as well", assumptions=assumed
    )
