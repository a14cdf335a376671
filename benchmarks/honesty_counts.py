"""Do intervals of `mutual_information` hold the truth of counts and of rounded numbers?

A number x and a count that it drives, two counts of one rate, numbers rounded to steps; the counts given as numbers and, where
they are whole, as integers, which are labels. Truth by quadrature over 4,000 points of x. Every row is printed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import special, stats

from fresh_distributions import rounded_normal, rounded_truth
from latentry.information import mutual_information

from common import provenance, publish, table

POINTS = (np.arange(4000) + 0.5) / 4000
CONFIDENCE, SEED = 0.95, 4243


class Law(NamedTuple):
    """A name, the mutual information, and a draw of rows."""

    name: str
    truth: float
    draw: Callable


BASES = {  # quantiles, and draws
    "gamma": (stats.gamma(2).ppf, lambda rng, n: rng.gamma(2.0, size=n)),
    "normal": (stats.norm.ppf, lambda rng, n: rng.standard_normal(n)),
    "uniform": (lambda q: q, lambda rng, n: rng.random(n)),
}


def driven(name: str, base: str, probability: Callable, count: Callable, most: int) -> Law:
    """x, and a count with P(k | x) = probability(k, x)."""
    quantile, draw_x = BASES[base]
    each = probability(np.arange(most + 1)[None], quantile(POINTS)[:, None])
    each = each / each.sum(axis=1, keepdims=True)
    truth = special.entr(each.mean(axis=0)).sum() - special.entr(each).sum(axis=1).mean()

    def draw(rng: np.random.Generator, n: int):
        x = draw_x(rng, n)
        return x[:, None], np.asarray(count(rng, x), dtype=float)[:, None]

    return Law(name, float(truth), draw)


def together(name: str, base: str, first: tuple, second: tuple, most: int) -> Law:
    """Two counts, each (probability, draw), which x drives apart from each other."""
    quantile, draw_x = BASES[base]
    k, x = np.arange(most + 1)[None], quantile(POINTS)[:, None]
    joint = first[0](k, x).T @ second[0](k, x)
    joint = joint / joint.sum()
    entropies = [special.entr(joint.sum(axis=axis)).sum() for axis in (0, 1)]

    def draw(rng: np.random.Generator, n: int):
        x = draw_x(rng, n)
        return tuple(np.asarray(count(rng, x), dtype=float)[:, None] for _, count in (first, second))

    return Law(name, float(sum(entropies) - special.entr(joint).sum()), draw)


def poisson(rate: Callable) -> tuple[Callable, Callable]:
    return lambda k, x: stats.poisson.pmf(k, rate(x)), lambda rng, x: rng.poisson(rate(x))


def negative_binomial(size: float, mean: Callable) -> tuple[Callable, Callable]:
    chance = lambda x: size / (size + mean(x))  # noqa: E731
    return lambda k, x: stats.nbinom.pmf(k, size, chance(x)), lambda rng, x: rng.negative_binomial(size, chance(x))


def binomial(trials: int, chance: Callable) -> tuple[Callable, Callable]:
    return lambda k, x: stats.binom.pmf(k, trials, chance(x)), lambda rng, x: rng.binomial(trials, chance(x))


def rounded(correlation: float, step: float) -> Law:
    noise = np.sqrt(1 - correlation**2)

    def probability(k, x):
        edges = ((k - 40 + half) * step for half in (0.5, -0.5))
        upper, lower = (stats.norm.cdf((edge - correlation * x) / noise) for edge in edges)
        return upper - lower

    def draw(rng, x):
        return np.round((correlation * x + noise * rng.standard_normal(len(x))) / step) * step

    return driven(f"normal, {correlation:g}, rounded to {step:g}", "normal", probability, draw, 80)


def both_rounded(rho: float, step: float) -> Law:
    name = f"both normal, {rho:g}, rounded to {step:g}"
    return Law(name, rounded_truth(rho, step), lambda rng, n: rounded_normal(rng, n, rho=rho, step=step))


def laws() -> list[Law]:
    found = [
        driven(f"Poisson {r:g}x", "gamma", *poisson(lambda x, r=r: r * x), int(60 * r) + 60)
        for r in (0.5, 1, 3, 10, 30)
    ]
    found += [
        driven("Poisson exp(x)", "normal", *poisson(np.exp), 800),
        driven("Poisson 4, independent", "normal", *poisson(lambda x: 4 + 0 * x), 60),
        driven("negative binomial 3, mean 3x", "gamma", *negative_binomial(3, lambda x: 3 * x), 900),
        driven("negative binomial 1, mean exp(1 + x)", "normal", *negative_binomial(1, lambda x: np.exp(1 + x)), 4000),
        driven(
            "geometric", "uniform", lambda k, x: stats.geom.pmf(k, 0.05 + 0.9 * x),
            lambda rng, x: rng.geometric(0.05 + 0.9 * x), 400,
        ),
        driven(
            "Poisson 3x with zeros apart", "gamma", lambda k, x: 0.4 * (k == 0) + 0.6 * stats.poisson.pmf(k, 3 * x),
            lambda rng, x: (rng.random(len(x)) < 0.6) * rng.poisson(3 * x), 240,
        ),
    ]  # fmt: skip
    found += [
        driven(f"binomial {n}", "normal", *binomial(n, lambda x: special.expit(2 * x)), n) for n in (1, 3, 5, 20, 100)
    ]
    found += [rounded(0.8, 0.25), rounded(0.9, 0.5), rounded(0.6, 1.0)]
    found += [both_rounded(0.7, 0.3), both_rounded(0.9, 0.1), both_rounded(0.95, 0.4)]
    rates = ((0.5, 2), (1, 1), (3, 3), (1, 10), (10, 10))
    found += [
        together(f"two Poissons {a:g}x, {b:g}x", "gamma", *(poisson(lambda x, r=r: r * x) for r in (a, b)), 250)
        for a, b in rates
    ]
    same = [binomial(n, lambda x: special.expit(2 * x)) for n in (2, 5, 20)]
    return found + [
        together(f"two binomials {n}", "normal", one, one, n) for n, one in zip((2, 5, 20), same, strict=True)
    ]


def row(law: Law, number: int, n: int, draws: int, *, labels: bool) -> list[object] | None:
    values, held, silent, widths = [], 0, 0, []
    for at in range(draws):
        x, y = law.draw(np.random.default_rng([SEED, number, n, at]), n)
        if labels and (y != np.round(y)).any():
            return None
        x, y = ((a.astype(int) if labels and (a == np.round(a)).all() else a) for a in (x, y))
        found = mutual_information(x, y)
        hit = bool(found.low <= law.truth <= found.high)
        held, silent = held + hit, silent + (not hit and not found.warnings)
        values.append(float(found))
        widths.append(found.high - found.low)
    bar = CONFIDENCE - 3 * np.sqrt(CONFIDENCE * (1 - CONFIDENCE) / draws)
    word = "yes" if held / draws >= bar else "or a warning" if 1 - silent / draws >= bar else "**no**"
    means = [f"{law.truth:.3f}", f"{np.mean(values):.3f}", f"{np.nanmean(widths):.2f}"]
    return [law.name, *means, f"{held / draws:.2f}", f"{silent / draws:.2f}", word]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=100)
    options = parser.parse_args()
    header = ["counts", "truth", "mean", "width", "held", "missed silently", "honest"]
    every, parts = laws(), []
    for title, n, labels in (
        ("1,000 rows", 1000, False),
        ("300 rows", 300, False),
        ("1,000 rows, as integers", 1000, True),
    ):
        rows = [row(law, number, n, options.draws, labels=labels) for number, law in enumerate(every)]
        parts.append(f"## {title}\n\n{table(header, [r for r in rows if r is not None])}\n")
        print(parts[-1], flush=True)
    text = f"""# Honesty of mutual information: counts and rounded numbers

95 % intervals of `auto`, {options.draws} draws a row, seed {SEED}. Honest is yes where the truth was held as often as stated,
within three standard errors; or a warning, where misses beyond that carry one.

{chr(10).join(parts)}
{provenance()}"""
    publish("honesty_counts", text)


if __name__ == "__main__":
    main()
