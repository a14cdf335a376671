"""Naturality on rows that break what an audit takes for granted: what it says, how often, and whether it names the reason.

Every data set is new (its seeds are not those of the tests). Answers are kept in a file of JSON lines as they come;
`--only NAME` runs rows whose name begins so, `--seconds N` stops after so many, `--fresh` begins anew.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from latentry import natural
from latentry.evidence import Verdict
from latentry.generators import finite_laws

from common import HERE, provenance, publish, table

KEPT = HERE / ".data" / "honesty_natural.jsonl"
FIRST = 6000  # of the seeds
EPSILON = 0.2
POSITIVE = ("certified", "supported")
INDEPENDENT = "rows are independent"


@dataclass(frozen=True)
class Row:
    """A way to make data and audit them, how often, and what must not (or must) be said."""

    name: str
    run: Callable[[int], Verdict]
    times: int
    wants: str
    right: Callable[[Verdict], bool]


def flipped(rng, labels, rate, values=2):
    """Labels, some of which are replaced by another value."""
    other = (labels + rng.integers(1, values, len(labels))) % values
    return np.where(rng.random(len(labels)) < rate, other, labels)


# Rows that depend on each other -----------------------------------------------------------------


def subjects(seed, order="sorted", groups=False):
    rng = np.random.default_rng([1, seed])
    who, diagnosis = np.repeat(np.arange(12), 400), rng.permutation(np.arange(12) % 2)
    latent = diagnosis[who]
    report = flipped(rng, latent, 0.02)
    if order == "shuffled":
        mixed = rng.permutation(len(who))
        who, latent, report = who[mixed], latent[mixed], report[mixed]
    named = {"groups": who} if groups else {}
    return natural.audit({"scan": who, "report": report}, latent, epsilon=EPSILON, seed=seed, **named).verdict


def few_per_group(seed):
    """Sound: 2,000 groups of three rows, which share their values now and then."""
    rng = np.random.default_rng([2, seed])
    who = np.repeat(np.arange(2000), 3)
    latent = rng.integers(0, 2, 2000)[who]
    views = {name: flipped(rng, latent, 0.01) for name in "ab"}
    return natural.audit(views, latent, epsilon=EPSILON, groups=who, seed=seed).verdict


def slow(seed, timed=False):
    """Labels of a state that lasts 200 rows; a view shows it, another shows the stretch of time."""
    rng = np.random.default_rng([3, seed])
    state = np.repeat(rng.integers(0, 2, 20), 200)
    views = {"a": flipped(rng, state, 0.01), "b": flipped(rng, state, 0.01)}
    named = {"time": np.arange(4000.0)} if timed else {}
    return natural.audit(views, state, epsilon=EPSILON, seed=seed, **named).verdict


def copies(seed, times=3):
    """Numbers, every row three times, in random order."""
    rng = np.random.default_rng([4, seed])
    z = rng.standard_normal((150, 1))
    order = rng.permutation(np.repeat(np.arange(150), times))
    views = {name: (z + 0.5 * rng.standard_normal((150, 2)))[order] for name in "ab"}
    return natural.audit(views, z[order], noise=0.5, epsilon=EPSILON, seed=seed).verdict


# What the modalities share outside of what is looked at first --------------------------------------


def hidden_direction(seed, shared=True, rows=1000):
    """Twenty columns each; five strong components are private, and a weak direction is shared."""
    rng = np.random.default_rng([5, seed])
    z, secret = rng.standard_normal((2, rows, 1))
    views = {}
    for name in "ab":
        strong = 3.0 * rng.standard_normal((rows, 5)) @ rng.standard_normal((5, 20))
        columns = z @ rng.standard_normal((1, 20)) + strong + 0.7 * rng.standard_normal((rows, 20))
        weak = np.linalg.svd(columns - columns.mean(axis=0), full_matrices=False)[2][12]
        views[name] = columns + (2.0 * secret * weak if shared else 0.0)
    return natural.audit(views, z, noise=0.02, epsilon=0.1, seed=seed).claims[0].verdict


# Streams, rounding, constants ------------------------------------------------------------------------


def same_seed(seed):
    """Sound: the data come from default_rng(seed), and the audit has the same seed; M < 0.0001."""
    noise = np.random.default_rng(seed).standard_normal((400, 1))
    rng = np.random.default_rng([6, seed])
    z = rng.standard_normal((400, 1))
    views = {"a": z + noise, "b": z + rng.standard_normal((400, 1))}
    return natural.audit(views, z, noise=0.1, epsilon=0.1, seed=seed).claims[0].verdict


def rounded(seed, noise=0.5):
    """Views of a latent with noise, rounded to steps of 0.25; M = 0."""
    rng = np.random.default_rng([7, seed])
    z = rng.standard_normal((400, 1))
    views = {name: np.round((z + noise * rng.standard_normal((400, 1))) * 4) / 4 for name in "ab"}
    return natural.audit(views, z, noise=0.05, epsilon=0.1, seed=seed).claims[0].verdict


def zero_inflated(seed):
    """Views of a latent that are exactly zero in half of the rows; M = 0."""
    rng = np.random.default_rng([8, seed])
    z = rng.standard_normal((400, 1))
    views = {name: np.maximum(z + 0.5 * rng.standard_normal((400, 1)), 0.0) for name in "ab"}
    return natural.audit(views, z, noise=0.05, epsilon=0.1, seed=seed).claims[0].verdict


def constants(seed):
    """Two views with one constant column among real ones: one answer, whatever the constant."""
    rng = np.random.default_rng([9, seed])
    label = rng.integers(0, 2, 300)
    real = {name: label + 0.3 * rng.standard_normal(300) for name in "ab"}
    verdicts = []
    for value in (1.0, 0.1, 1 / 3, 1e30):
        views = {name: np.column_stack([column, np.full(300, value)]) for name, column in real.items()}
        verdicts.append(natural.audit(views, label, epsilon=0.1, seed=seed).claims[0].verdict)
    same = len({(v.status, v.sentence) for v in verdicts}) == 1
    return verdicts[0] if same and not verdicts[0].refuted else Verdict("cannot say", "they differ.")


def all_constant(seed):
    """Nothing but constants."""
    latent = np.random.default_rng([10, seed]).standard_normal((300, 1))
    verdicts = []
    for value in (1.0, 0.1, 1 / 3, 1e30):
        views = {name: np.full((300, 2), value) for name in "ab"}
        verdicts.append(natural.audit(views, latent, noise=1.0, epsilon=0.1, seed=seed).claims[0].verdict)
    same = len({(v.status, v.sentence) for v in verdicts}) == 1
    return verdicts[0] if same else Verdict("cannot say", "they differ.")


# The Gaussian family --------------------------------------------------------------------------------


def gaussian(seed, square=False):
    rng = np.random.default_rng([11, seed])
    z, e, f = rng.standard_normal((3, 1000, 1))
    private = (e**2 - 1) / np.sqrt(2) if square else f
    views = {"a": z + e, "b": z + private}
    return natural.audit(views, z, noise=0.1, family="gaussian", epsilon=0.1, seed=seed).claims[0].verdict


# Claims that are empty ------------------------------------------------------------------------------


def domain_latent(seed):
    rng = np.random.default_rng([12, seed])
    lab = rng.integers(0, 2, 4000)
    views = {name: flipped(rng, lab, 0.005) for name in "ab"}
    return natural.audit(views, lab, domain=lab, epsilon=EPSILON, drift=False, seed=seed).verdict


def copied(seed):
    rng = np.random.default_rng([13, seed])
    view = rng.integers(0, 3, 4000)
    return natural.audit({"a": view, "b": view.copy()}, view, epsilon=EPSILON, seed=seed).verdict


def overlapping(seed):
    """A column of the table is in both blocks; the latent is that column."""
    rng = np.random.default_rng([14, seed])
    values = rng.integers(0, 2, (6000, 3))
    blocks = {"a": [0, 1], "b": [1, 2]}
    return natural.audit(values, values[:, 1], blocks=blocks, epsilon=EPSILON, seed=seed).verdict


# Missing rows ----------------------------------------------------------------------------------------


def missing(seed, where):
    """Three views of a label, of which one is missing in half of the rows where it disagrees, or at random."""
    rng = np.random.default_rng([15, seed])
    label = rng.integers(0, 2, 6000)
    a, b = flipped(rng, label, 0.02), flipped(rng, label, 0.08).astype(float)
    odd = {"with the other": b != a, "with Λ": b != label, "at random": rng.random(6000) < 0.1}[where]
    b[odd & (rng.random(6000) < 0.5)] = np.nan
    return natural.audit({"a": a, "b": b}, label, labels=["b"], epsilon=0.4, seed=seed).verdict


# Sound rows ------------------------------------------------------------------------------------------


def planted(seed):
    sample = finite_laws.planted_natural(seed=seed).sample(6000, seed)
    views = {"a": sample.observables[:, 0], "b": sample.observables[:, 1]}
    return natural.audit(views, sample.latent, domain=sample.domain, epsilon=EPSILON, drift=False, seed=seed).verdict


def bent(seed):
    rng = np.random.default_rng([16, seed])
    z = rng.standard_normal((400, 1))
    views = {
        "a": np.hstack([np.sin(2 * z), z]) + 0.5 * rng.standard_normal((400, 2)),
        "b": z**2 + 0.5 * rng.standard_normal((400, 1)),
    }
    return natural.audit(views, z, noise=0.05, epsilon=0.1, seed=seed).claims[0].verdict


def _not_positive(verdict):
    return verdict.status not in POSITIVE


def _not_refuted(verdict):
    return not verdict.refuted


def _named(words):
    return lambda verdict: verdict.status not in POSITIVE or words in verdict.sentence


def _is(*statuses):
    return lambda verdict: verdict.status in statuses


ROWS = [
    Row("1 subjects, rows sorted", subjects, 100, "not certified", _not_positive),
    Row(
        "1 subjects, rows shuffled",
        lambda s: subjects(s, "shuffled"),
        100,
        "names independence as untested",
        lambda v: v.status not in POSITIVE or f"Untested: {INDEPENDENT}" in v.sentence,
    ),
    Row("1 subjects, groups=", lambda s: subjects(s, "shuffled", groups=True), 100, "not certified", _not_positive),
    Row("1 a state that lasts, no time=", slow, 100, "not certified", _not_positive),
    Row("1 a state that lasts, time=", lambda s: slow(s, timed=True), 100, "not certified", _not_positive),
    Row("1 copies of numbers", copies, 100, "cannot say", _is("cannot say")),
    Row("1 sound: groups of three rows", few_per_group, 100, "certified", _is("certified")),
    Row(
        "2 shared outside of the leading components",
        hidden_direction,
        100,
        "refuted or cannot say",
        _is("refuted", "cannot say"),
    ),
    Row(
        "2 sound: nothing shared, 20 columns",
        lambda s: hidden_direction(s, shared=False),
        100,
        "mediation not refuted",
        _not_refuted,
    ),
    Row("4 sound: data and audit have one seed", same_seed, 100, "mediation not refuted", _not_refuted),
    Row("12 sound: rounded to 0.25, noise 0.5", rounded, 100, "mediation not refuted", _not_refuted),
    Row("12 sound: rounded to 0.25, noise 0.1", lambda s: rounded(s, 0.1), 100, "mediation not refuted", _not_refuted),
    Row("12 sound: zeros in half of the rows", zero_inflated, 100, "mediation not refuted", _not_refuted),
    Row("13 Gaussian family, e and e²", lambda s: gaussian(s, square=True), 100, "not certified", _not_positive),
    Row("13 sound: Gaussian family", gaussian, 100, "mediation certified", _is("certified")),
    Row("16 Λ is the domain", domain_latent, 100, "said to be empty", _named("function of the domain")),
    Row("16 copied modality", copied, 100, "said to be empty", _named("share 1 of their columns")),
    Row("16 overlapping blocks", overlapping, 100, "said to be empty", _named("share 1 of their columns")),
    Row(
        "17 missing where it disagrees with the other",
        lambda s: missing(s, "with the other"),
        100,
        "not certified",
        _not_positive,
    ),
    Row("17 missing where it disagrees with Λ", lambda s: missing(s, "with Λ"), 100, "named", _named("missing block")),
    Row(
        "17 sound: missing at random",
        lambda s: missing(s, "at random"),
        100,
        "certified, and named",
        lambda v: v.certified and "missing block" in v.sentence,
    ),
    Row(
        "18 sound: one constant column",
        constants,
        100,
        "one answer, not refuted",
        lambda v: v.sentence != "they differ." and not v.refuted,
    ),
    Row(
        "18 sound: only constants",
        all_constant,
        100,
        "one answer, not refuted",
        lambda v: v.sentence != "they differ." and not v.refuted,
    ),
    Row("sound: planted labels, two domains", planted, 100, "certified", _is("certified")),
    Row("sound: bent views", bent, 100, "mediation not refuted", _not_refuted),
]


def measure(row: Row, seed: int) -> dict:
    start = time.process_time()
    verdict = row.run(FIRST + seed)
    right = bool(row.right(verdict))
    return {
        "name": row.name,
        "seed": seed,
        "said": verdict.status,
        "right": right,
        "seconds": time.process_time() - start,
    }


def run(only: str, seconds: float) -> None:
    """Measure what is not measured yet, for so many processor seconds."""
    KEPT.parent.mkdir(exist_ok=True)
    done = {(r["name"], r["seed"]) for r in map(json.loads, KEPT.open())} if KEPT.exists() else set()
    with KEPT.open("a") as file:
        for seed in range(
            max(row.times for row in ROWS)
        ):  # all rows grow together: what is stopped early is a table too
            for row in (row for row in ROWS if seed < row.times and row.name.startswith(only)):
                if (row.name, seed) not in done and time.process_time() < seconds:
                    file.write(json.dumps(measure(row, seed)) + "\n")
                    file.flush()


def line(row: Row, found: list[dict]) -> list[object]:
    said = Counter(one["said"] for one in found)
    return [
        row.name,
        row.wants,
        f"{sum(one['right'] for one in found)} of {len(found)}",
        ", ".join(f"{status} {count}" for status, count in sorted(said.items())),
        f"{np.mean([one['seconds'] for one in found]):.1f}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--fresh", action="store_true")
    options = parser.parse_args()
    if options.fresh:
        KEPT.unlink(missing_ok=True)
    run(options.only, options.seconds)
    known = [json.loads(text) for text in KEPT.open()]
    found = {row.name: [one for one in known if one["name"] == row.name] for row in ROWS}
    publish(
        "honesty_natural",
        "\n\n".join(
            [
                "# Naturality on rows that break what an audit takes for granted",
                table(
                    ["data", "must come", "came", "said", "s each"],
                    [line(row, found[row.name]) for row in ROWS if found[row.name]],
                ),
                'Every data set has a seed of its own, which no test uses. Rows that contain "sound" break nothing, and must keep '
                "what they had; rows about mediation read the verdict on mediation alone. Rows of subjects in random order cannot "
                "be told from independent ones by any test: there the verdict must name the assumption as untested.",
                f"{provenance(('latentry', 'numpy', 'scipy', 'scikit-learn'))} Seeds from {FIRST}; "
                f"{sum(one['seconds'] for one in known):.0f} processor seconds.",
            ]
        ),
    )


if __name__ == "__main__":
    main()
