"""Attempts to get a false certificate, with what must come, what came, and how often.

Answers are kept in a file of JSON lines as they come; `--only NAME` runs rows whose name begins so, `--seconds N` stops after so
many, `--fresh` begins anew. What was found on other seeds was mended before; what is left open stands below the table.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections import Counter
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import attacks_on_fits as fits
import attacks_on_rows as rows

from common import HERE, provenance, publish, table

KEPT = HERE / ".data" / "honesty_attacks.jsonl"
FIRST = 7000  # of the seeds
POSITIVE = ("certified", "supported")
FOUND = 0.95  # mean correlation above which what is supported is true, as far as the truth is known


class Attack(NamedTuple):
    """A name, what must come, the attack, how many seeds, and whether an answer (verdict, may say, score) is right."""

    name: str
    must: str
    run: Callable
    times: int
    right: Callable


def not_supported(verdict, said, score):
    return verdict.status not in POSITIVE


def nothing_said(verdict, said, score):
    return not said


def sound(verdict, said, score):
    return verdict.status in POSITIVE


def not_refuted(verdict, said, score):
    return not verdict.refuted


def true_if_supported(verdict, said, score):
    return verdict.status not in POSITIVE or score > FOUND


def named(words):
    return lambda verdict, said, score: (
        verdict.status not in POSITIVE or (words in verdict.sentence.partition("Untested: ")[2])
    )


BROKEN = (
    "alternating 0.7", "alternating 0.4", "hidden group", "two modes", "Student, 3", "gamma", "near zero in a third",
    "nothing changes, rows eight times",
)  # fmt: skip
CUT = (("one Gaussian", 2), ("one Gaussian", 3), ("three clusters", 2), ("three clusters", 5), ("three that overlap", 3),
       ("Student, 5", 3), ("uniform", 4), ("banana", 3), ("gamma", 3), ("gamma", 6))  # fmt: skip
FITTED = ("means only", "noise-free means only", "nothing changes", "hidden group", "Student, 2.5", "labels permuted")
AS_TRUE = ("labels merged", "a column copied", "rounded to halves", "few rows")

ATTACKS = [
    Attack("planted latents: sound", "supported", rows.planted("sound"), 20, sound),
    *(Attack(f"planted latents: {k}", "not supported", rows.planted(k), 20, not_supported) for k in BROKEN),
    *(Attack(f"planted latents, 60 rows a domain: {k}", "not supported", rows.planted(k, 120), 20, not_supported)
      for k in ("alternating 0.4", "hidden group", "two modes")),
    Attack("planted latents: subjects, shuffled", "not supported, or named as untested", rows.planted("subjects, shuffled"), 20,
           named("rows are independent")),
    Attack("planted latents: measured four times, shuffled", "not supported, or named as untested",
           rows.planted("measured four times, shuffled"), 20, named("rows are independent")),
    Attack("mixture: three clusters, fitted with 3", "supported", rows.mixture("three clusters", 3), 20, sound),
    *(Attack(f"mixture: {k}, fitted with {c}", "not supported", rows.mixture(k, c), 20, not_supported) for k, c in CUT),
    Attack("naturality: parity of three views", "not supported", rows.parity, 10, not_supported),
    Attack("naturality: views share a phase", "not supported", rows.shared_phase, 10, not_supported),
    Attack("naturality: views share their dropout", "not supported", rows.shared_dropout, 10, not_supported),
    Attack("naturality: dropout of each view, sound", "not refuted", lambda s: rows.shared_dropout(s, shared=False), 10,
           not_refuted),
    Attack("naturality: Cauchy noise, sound", "not refuted", rows.heavy, 10, not_refuted),
    Attack("naturality: a sensor drifts", "not supported", rows.drift, 10, not_supported),
    Attack("naturality: a sensor drifts, shuffled", "not supported", lambda s: rows.drift(s, shuffled=True), 10, not_supported),
    Attack("naturality: label made from the audited rows", "not supported, or named as untested", rows.leaked, 10,
           named("had a part in making")),
    Attack("naturality: latents in another order than rows", "not supported", rows.other_order, 10, not_supported),
    *(Attack(f"copies in random order: {k}", "nothing may be said", rows.copies(k), 10, nothing_said)
      for k in ("one decimal", "measured again, 2 % noise", "labels in six columns")),
    Attack("copies in random order: one label", "not supported, or named as untested", rows.copies("one label"), 10,
           named("rows are independent")),
    Attack("a view is missing by its own value", "not supported, or named as untested", rows.missing_by_value, 10,
           named("because of its own value")),
    Attack("one table: sound", "something may be said", rows.one_table("sound"), 10, lambda v, said, s: bool(said)),
    *(Attack(f"one table: {k}", "nothing may be said", rows.one_table(k), 10, nothing_said) for k in ("copied", "series")),
    Attack("CausalPIMA: three clusters, nodes (3,)", "(for comparison)", fits.pima("three clusters", (3,)), 4, not_refuted),
    *(Attack(f"CausalPIMA: {k}, nodes {n}", "not supported", fits.pima(k, n), 4, not_supported)
      for k, n in (("one Gaussian", (3,)), ("three clusters", (2,)), ("three clusters", (2, 3)), ("three that overlap", (3,)),
                   ("Student, 3", (3,)), ("uniform", (4,)))),
    Attack("IVAE: sound", "true if supported", fits.ivae("sound"), 4, true_if_supported),
    *(Attack(f"IVAE: {k}", "not supported", fits.ivae(k), 3, not_supported) for k in FITTED),
    *(Attack(f"IVAE: {k}", "true if supported", fits.ivae(k), 3, true_if_supported) for k in AS_TRUE),
    Attack("IVAE: two epochs", "true if supported", fits.ivae("sound", epochs=2), 3, true_if_supported),
    Attack("IVAE: three latents for two", "not supported", fits.ivae("sound", latents=3), 3, not_supported),
    Attack("IVAE: two latents for three", "not supported", fits.ivae("sound", true=3), 3, not_supported),
    Attack("IFlow: sound, 12 domains", "supported", fits.sound, 4, sound),
    Attack("IFlow: two epochs", "true if supported", fits.iflow("sound", epochs=2), 3, true_if_supported),
    Attack("IFlow: two epochs, means only", "not supported", fits.iflow("means only", epochs=2), 3, not_supported),
    Attack("IFlow: rounded to halves", "true if supported", fits.iflow("rounded to halves"), 3, true_if_supported),
    Attack("CGVAE: dense mixing, 2 domains, 3 fits", "true if supported", fits.cgvae("dense", 2), 3, true_if_supported),
    Attack("CGVAE: cyclic mixing, 2 domains, 3 fits", "true if supported", fits.cgvae("cyclic", 2), 3, true_if_supported),
]  # fmt: skip

OPEN = """## What was found and mended

Before, on other seeds (8 each of mixtures, 3 of fits, 5 of copies): a mixture fitted to one Gaussian, to a Student
cloud, to a banana or to gamma columns was supported in 79 of 80, and so were fits of CausalPIMA to a Student cloud (3
of 3), to overlapping clusters (3 of 3) and to one Gaussian (1 of 3). Of copied rows in random order (one decimal in
four columns, repeated measurements with 2 % noise) false bounds and intervals were quoted. Fits and measured numbers
of one table were quoted on copies and series, at which no part
looked. Latents of another tool were taken on trust without the verdict's saying so, and so was that no block is
missing because of its own value. A fit compared with itself counted as restarts that agree.

## Left open

- **Copies of rows of labels** in random order: labels repeat by nature, and rows of a few classes that hardly err are
  equal without being copies. Verdicts name independence as untested, but measured intervals of information are quoted
  (0 of 10 above). `groups=` says it.
- **Copies and repeated measurements in one or two columns**: rows lie as near to each other by chance. Named as
  untested.
- **Rounded columns that follow from each other** (a number, its square and its sine) or from few sites, in some 200 rows,
  can be taken for copies; the answer is then left open.
- **Clusters that overlap** are never supported, though the theorem holds for them: rows cannot tell such a mixture
  from what resembles it.
- **Clusters that are apart and not Gaussian** in a way that tests of a thousand rows do not see: the number of
  clusters, and that they are Gaussian beyond what was tested, is named as untested.
- **Latents made from the audited rows**: nothing in the rows shows it. Named as untested; `seen=` settles it.
- **A block that is missing because of its own value**: certified for rows like those that are there; named as
  untested.
- CausalPIMA's three separate clusters, and IVAE on sound rows after 40 epochs, reach no "supported": fits so short
  leave dependence that the tests see. Nothing here says how often longer fits of these models are supported.
- Repeated values given z, declared as labels: one of twelve kinds of counts is covered too rarely
  ([table](honesty_conditional.md)).
"""


def measure(attack: Attack, seed: int) -> dict:
    start = time.process_time()
    answer = attack.run(FIRST + seed)
    verdict, said, *score = answer if isinstance(answer, tuple) else (answer, ())
    score = score[0] if score else float("nan")
    right = bool(attack.right(verdict, said, score))
    seconds = time.process_time() - start
    return {
        "name": attack.name,
        "seed": seed,
        "said": verdict.status,
        "right": right,
        "score": score,
        "seconds": seconds,
    }


def run(only: str, seconds: float) -> None:
    """Measure what is not measured yet; all rows grow together, so that what is stopped early is a table too."""
    KEPT.parent.mkdir(exist_ok=True)
    done = {(r["name"], r["seed"]) for r in map(json.loads, KEPT.open())} if KEPT.exists() else set()
    with KEPT.open("a") as file:
        for seed in range(max(attack.times for attack in ATTACKS)):
            for attack in (one for one in ATTACKS if seed < one.times and one.name.startswith(only)):
                if (attack.name, seed) not in done and time.process_time() < seconds:
                    file.write(json.dumps(measure(attack, seed)) + "\n")
                    file.flush()


def line(attack: Attack, found: list[dict]) -> list[object]:
    said = Counter(one["said"] for one in found)
    scores = [one["score"] for one in found if np.isfinite(one["score"])]
    return [
        attack.name,
        attack.must,
        f"{sum(one['right'] for one in found)} of {len(found)}",
        ", ".join(f"{status} {count}" for status, count in sorted(said.items())),
        f"{min(scores):.2f} to {max(scores):.2f}" if scores else "–",
        f"{np.mean([one['seconds'] for one in found]):.1f}",
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--fresh", action="store_true")
    options = parser.parse_args()
    if options.fresh:
        KEPT.unlink(missing_ok=True)
    warnings.simplefilter("ignore")
    run(options.only, options.seconds)
    known = [json.loads(text) for text in KEPT.open()]
    found = {attack.name: [one for one in known if one["name"] == attack.name] for attack in ATTACKS}
    head = ["attack", "must come", "came", "said", "MCC", "s each"]
    lines = [line(attack, found[attack.name]) for attack in ATTACKS if found[attack.name]]
    total = sum(one["seconds"] for one in known)
    foot = (
        f"{provenance(('latentry', 'jax', 'numpy', 'scikit-learn'))} Seeds from {FIRST}; {total:.0f} processor seconds."
    )
    publish("honesty_attacks", "\n\n".join(["# Attempts to get a false certificate", table(head, lines), OPEN, foot]))


if __name__ == "__main__":
    main()
