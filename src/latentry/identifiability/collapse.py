"""Posterior collapse: latents that say nothing about the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from latentry.contracts import HasChannel, HasLatentDistributions, LatentDistributions, names_of
from latentry.data import Dataset, Domain, GaussianChannel
from latentry.errors import DataError
from latentry.evidence import Bound, Verdict
from latentry.identifiability.rows_per_domain import groups_of, levelled

__all__ = ["Collapse", "collapse", "fraction_that_follows"]


@dataclass(frozen=True, eq=False)
class Collapse:
    """For each latent, how much of it comes from the data.

    Args:
        divergence: Mean KL divergence of the posterior from the prior of its domain in nats; infinite for a noiseless
            encoder, NaN when the prior is not known.
        fraction: Fraction of the variance within domains that follows x: Var(E[z | x, u] | u) divided by that plus the
            posterior variance. 0 when the encoder ignores x beyond u, 1 without noise.
        active: Whether the posterior mean varies at all over rows (variance above 0.01 of the prior's; Burda et al., 2016).
        collapsed: Latents whose fraction is below the threshold.
        verdict: The same in words.
    """

    divergence: np.ndarray
    fraction: np.ndarray
    active: np.ndarray
    collapsed: tuple[int, ...]
    verdict: Verdict


def collapse(
    source: HasChannel | GaussianChannel,
    data: Dataset | Domain | ArrayLike | None = None,
    *,
    distributions: LatentDistributions | None = None,
    threshold: float = 0.05,
    names: Sequence[str] | None = None,
) -> Collapse:
    """Measure whether a model's latents follow the data, or only the prior of each domain.

    An identifiable VAE whose encoder sees u can collapse to p(z | u): its likelihood then looks good, and its latents say
    nothing about x that u did not.

    Cost: one reading of the rows by the model, then linear in rows and latents.

    Args:
        source: A fitted model with ``channel()``, or a GaussianChannel.
        data: Held-out rows: a Dataset for a model; for a channel, the domain of each of its rows (None: one domain).
        distributions: The prior of each domain, if ``source`` is a channel; a model brings its own.
        threshold: A latent with a smaller fraction is collapsed.
        names: Of the latents; by default those of the model.

    Returns:
        Divergence and fraction of each latent, and a verdict.

    Raises:
        DataError: If the source has no Gaussian channel, or rows and domains do not belong together.

    >>> x = np.random.default_rng(0).normal(size=200)
    >>> channel = GaussianChannel(np.column_stack([x, 0 * x]), np.column_stack([0 * x + 0.3, 0 * x + 1]))
    >>> print(collapse(channel).verdict)
    refuted: 1 of 2 latents is collapsed: latent z2 follows the data by less than 5 % of its variance.
    """
    if not 0 < threshold < 1:
        raise DataError(f"threshold={threshold!r}: is not a fraction. Give a number between 0 and 1.")
    channel, domain, distributions = _channel_of(source, data, distributions)
    mean, scale = channel.mean, channel.scale
    fraction = fraction_that_follows(*_without_domain(mean, scale, domain))
    prior = _prior_rows(distributions, domain)
    reference = mean.var(axis=0) + (scale**2).mean(axis=0) if prior is None else (prior[1] ** 2).mean(axis=0)
    normal = distributions is not None and distributions.family not in ("laplace", "natural")
    divergence = _divergence(mean, scale, *prior) if prior is not None and normal else np.full(mean.shape[1], np.nan)
    active = mean.var(axis=0) > 0.01 * reference
    low = tuple(np.flatnonzero(fraction < threshold).tolist())
    known = tuple(names or names_of(source, mean.shape[1]))
    return Collapse(divergence, fraction, active, low, _verdict(fraction, low, threshold, len(mean), known))


def _without_domain(
    mean: np.ndarray, scale: np.ndarray, domain: Domain | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return posterior means without their trend in a continuous u, their scales, and the domain of each row."""
    if domain is None:
        return mean, scale, np.zeros(len(mean), dtype=int)
    codes, _ = groups_of(domain, mean.shape[1], seed=0)
    return mean if domain.labels is not None else levelled(mean, domain.values, codes), scale, codes


def fraction_that_follows(mean: np.ndarray, scale: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Compute the fraction of each latent's variance within domains that posterior means have; the rest is posterior spread.

    Args:
        mean: Posterior means, (rows, latents).
        scale: Posterior standard deviations, (rows, latents).
        codes: The number of each row's domain, (rows,).

    Returns:
        A number between 0 and 1 for each latent.
    """
    within, noise = _within(mean, codes), (scale**2).mean(axis=0)
    total = within + noise
    fraction: np.ndarray = np.divide(within, total, out=np.zeros_like(total), where=total > 0)
    return fraction


def _channel_of(
    source: HasChannel | GaussianChannel,
    data: Dataset | Domain | ArrayLike | None,
    distributions: LatentDistributions | None,
) -> tuple[GaussianChannel, Domain | None, LatentDistributions | None]:
    if isinstance(source, GaussianChannel):
        place = data.domain if isinstance(data, Dataset) else data
        domain = None if place is None else Domain.of(place)
        if domain is not None and len(domain) != len(source):
            raise DataError(
                f"data has {len(domain)} domains and the channel has {len(source)} rows. Give one domain per row."
            )
        return source, domain, distributions
    if not isinstance(source, HasChannel):
        raise DataError(f"source={type(source).__name__}: has no channel. Give a fitted model, or a GaussianChannel.")
    if not isinstance(data, Dataset):
        raise DataError(f"data={type(data).__name__}: is no Dataset. Give held-out rows as a Dataset.")
    channel = source.channel(data)
    if not isinstance(channel, GaussianChannel):
        raise DataError(
            f"source={type(source).__name__}: has latents that are categories. Give a model with a Gaussian channel."
        )
    labelled = data.domain is not None and not data.domain.is_continuous
    if distributions is None and labelled and isinstance(source, HasLatentDistributions):
        distributions = source.latent_distributions()
    return channel, data.domain, distributions


def _within(mean: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Compute the variance of posterior means around the average of their domain."""
    counts = np.bincount(codes)
    sums = np.array([np.bincount(codes, column) for column in mean.T]).T
    average = sums / np.maximum(counts, 1)[:, None]
    variance: np.ndarray = ((mean - average[codes]) ** 2).sum(axis=0) / max(len(mean) - np.sum(counts > 0), 1)
    return variance


def _prior_rows(
    distributions: LatentDistributions | None, domain: Domain | None
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return location and scale of the prior of each row; None when they are not known."""
    if distributions is None or domain is None or domain.labels is None:
        return None
    place = {label: i for i, label in enumerate(distributions.labels)}
    unseen = [label for label in domain.labels if label not in place]
    if unseen:
        raise DataError(
            f"domain={unseen[0]!r}: has no distribution among the {distributions.domains} given. "
            "Add it to distributions, or leave its rows out."
        )
    rows = np.array([place[label] for label in domain.labels])[domain.values]
    return distributions.location[rows], distributions.scale[rows]


def _divergence(mean: np.ndarray, scale: np.ndarray, location: np.ndarray, prior: np.ndarray) -> np.ndarray:
    r"""Return the mean of :math:`\log(\sigma_p/\sigma_q) + (\sigma_q^2 + (\mu_q - \mu_p)^2) / 2\sigma_p^2 - 1/2`."""
    with np.errstate(divide="ignore"):
        apart = np.log(prior) - np.log(scale)
    divergence: np.ndarray = (apart + (scale**2 + (mean - location) ** 2) / (2 * prior**2) - 0.5).mean(axis=0)
    return divergence


def _verdict(
    fraction: np.ndarray, low: tuple[int, ...], threshold: float, rows: int, known: tuple[str, ...]
) -> Verdict:
    evidence = {"smallest share": Bound(float(fraction.min()), method="on the rows given", n=rows)}
    if not low:
        least = f"{int(100 * fraction.min())} %"
        return Verdict(
            "certified", f"no latent is collapsed: each follows the data by at least {least} of its variance.", evidence
        )
    alone, names = len(low) == 1, ", ".join(known[k] for k in low)
    sentence = (
        f"{len(low)} of {len(fraction)} latents {'is' if alone else 'are'} collapsed: "
        f"{'latent' if alone else 'latents'} {names} follow{'s' * alone} the data by less than {100 * threshold:g} % of "
        f"{'its' if alone else 'their'} variance."
    )
    change = 'an encoder without u, a smaller observation noise, or estimation="staged"'
    return Verdict("refuted", sentence, evidence, change)
