"""Do intervals of `mutual_information(x, y, given=z)` hold the truth of counts that a confounder drives?

Counts of rates that z sets, with or without a factor that both share; as numbers, and as integers, which are labels. Truth by
quadrature over z and the factor. Every row is printed.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import special, stats

from latentry.information import mutual_information

from common import provenance, publish, table

CONFIDENCE, SEED, TOP = 0.95, 4245, 200
NORMAL = stats.norm.ppf((np.arange(60) + 0.5) / 60)
FACTOR = stats.gamma(2).ppf((np.arange(400) + 0.5) / 400) / 2
COUNTS = np.arange(TOP)


class Law(NamedTuple):
    """A name, the conditional mutual information, and a draw of rows."""

    name: str
    truth: float
    draw: Callable


def shared(rate: float) -> float:
    """I(X; Y) of two Poisson counts of one rate times a shared gamma factor."""
    each = stats.poisson.pmf(COUNTS[None], rate * FACTOR[:, None])
    joint = each.T @ each
    joint = joint / joint.sum()
    return float(2 * special.entr(joint.sum(axis=0)).sum() - special.entr(joint).sum())


def beside_a_number(z: float) -> float:
    """I(X; Y) of a normal x and a Poisson count of rate exp(1/2 + z/2 + x/2)."""
    each = stats.poisson.pmf(COUNTS[None], np.exp(0.5 + z / 2 + NORMAL / 2)[:, None])
    return float(special.entr(each.mean(axis=0)).sum() - special.entr(each).sum(axis=1).mean())


def independent(rng, n):
    z = rng.standard_normal(n)
    return rng.poisson(np.exp(1 + z / 2)), rng.poisson(np.exp(1 + z / 2)), z


def one_rate(size: float):
    def draw(rng, n):
        z, factor = rng.standard_normal(n), rng.gamma(2.0, size=n) / 2
        rate = size * factor * np.exp(z / 2)
        return rng.poisson(rate), rng.poisson(rate), z

    return draw


def given_a_count(together: bool):
    def draw(rng, n):
        z = rng.poisson(3.0, n)
        rate = (1.0 + z) * (rng.gamma(2.0, size=n) / 2 if together else 1)
        return rng.poisson(rate), rng.poisson(rate), z

    return draw


def number_and_count(rng, n):
    z, x = rng.standard_normal((2, n))
    return x, rng.poisson(np.exp(0.5 + z / 2 + x / 2)), z


LAWS = (
    Law("independent given z, rates exp(1 + z/2)", 0.0, independent),
    Law("of one rate, e exp(z/2)", float(np.mean([shared(np.exp(1 + z / 2)) for z in NORMAL])), one_rate(np.e)),
    Law("of one rate, exp(z/2)/2", float(np.mean([shared(np.exp(z / 2) / 2) for z in NORMAL])), one_rate(0.5)),
    Law("independent given a count z, rates 1 + z", 0.0, given_a_count(False)),
    Law(
        "of one rate given a count z, 1 + z",
        float(sum(stats.poisson.pmf(z, 3) * shared(1.0 + z) for z in range(16))),
        given_a_count(True),
    ),
    Law("a number and a count", float(np.mean([beside_a_number(z) for z in NORMAL])), number_and_count),
)


def row(law: Law, number: int, n: int, draws: int, *, labels: bool) -> list[object]:
    values, held, silent, widths = [], 0, 0, []
    for at in range(draws):
        rows = law.draw(np.random.default_rng([SEED, number, n, at]), n)
        found = mutual_information(*(rows if labels else (np.asarray(part, dtype=float) for part in rows)))
        hit = bool(found.low <= law.truth <= found.high)
        held, silent = held + hit, silent + (not hit and not found.warnings)
        values.append(float(found))
        widths.append(found.high - found.low)
    bar = CONFIDENCE - 3 * np.sqrt(CONFIDENCE * (1 - CONFIDENCE) / draws)
    word = "yes" if held / draws >= bar else "or a warning" if 1 - silent / draws >= bar else "**no**"
    means = [f"{law.truth:.3f}", f"{np.mean(values):.3f}", f"{np.mean(widths):.2f}"]
    return [law.name, *means, f"{held / draws:.2f}", f"{silent / draws:.2f}", word]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=100)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    head, parts = ["counts", "truth", "mean", "width", "held", "missed silently", "honest"], []
    for n, labels in ((300, False), (1000, False), (300, True), (1000, True)):
        rows = [row(law, number, n, options.draws, labels=labels) for number, law in enumerate(LAWS)]
        parts.append(f"## {n:,} rows{', as integers' * labels}\n\n{table(head, rows)}\n")
        print(parts[-1], flush=True)
    text = f"""# Honesty of conditional mutual information: counts given a confounder

95 % intervals of `auto` with `given=z`, {options.draws} draws a row, seed {SEED}. Honest is yes where the truth was held as
often as stated, within three standard errors; or a warning, where misses beyond that carry one.

{chr(10).join(parts)}
{provenance()}"""
    publish("honesty_conditional", text)


if __name__ == "__main__":
    main()
