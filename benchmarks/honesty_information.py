"""Do intervals of `mutual_information` hold the truth, and do tests keep their level, where they were not made to?

Coverage of 95 % intervals: on the forty tasks on which `auto` was made (some of them), on distributions on which the constants
of its intervals were set, on fresh ones, and on rows that depend on each other. A miss counts as silent if no warning came with
it. Levels of permutation tests at 0.05 on independent variables. Labels in many columns. Every row is printed.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from fresh_distributions import Case, cases, classes, parity, repeated, series, subjects
from latentry.generators import information_tasks as tasks
from latentry.information import independence_test, mutual_information

from common import provenance, publish, table

CONFIDENCE = 0.95


def coverage(case: Case, number: int, n: int, draws: int, budget: float) -> list[object]:
    """A row of the table: how often the interval held the truth, and how often it missed without a warning."""
    values, held, silent, none, start = [], 0, 0, 0, time.perf_counter()
    for draw in range(draws):
        x, y = case.draw(np.random.default_rng([19, number, draw]), n)
        found = mutual_information(x, y, **case.given(len(x)))
        hit = bool(found.low <= case.truth <= found.high)
        missing = bool(np.isnan(found.low))
        values.append(float(found))
        held, none = held + hit, none + missing
        silent += not hit and not found.warnings
        if time.perf_counter() - start > budget and draw + 1 >= 10:
            break
    count = len(values)
    bar = CONFIDENCE - 3 * np.sqrt(CONFIDENCE * (1 - CONFIDENCE) / count)
    kept = held / count >= bar
    word = "yes" if kept else "or a warning" if 1 - silent / count >= bar else "**no**"
    seconds = (time.perf_counter() - start) / count
    return [case.name, f"{case.truth:.3f}", count, f"{np.mean(values):.3f}", f"{held / count:.2f}", f"{silent / count:.2f}",
            none or "", word, f"{seconds:.2f}"]  # fmt: skip


def level(name: str, draw, given: dict, n: int, draws: int) -> list[object]:
    """A row: how often independent variables are found dependent at level 0.05."""
    rejected = 0
    for i in range(draws):
        x, y = draw(np.random.default_rng([23, i]), n)
        rejected += independence_test(x, y, permutations=19, seed=i, **given).p_value <= 0.05
    bar = 0.05 + 3 * np.sqrt(0.05 * 0.95 / draws)
    return [name, draws, f"{rejected / draws:.3f}", "yes" if rejected / draws <= bar else "**no**"]


def levels(n: int, draws: int) -> str:
    """The level of permutation tests on rows that depend on each other."""
    timed, grouped = {"time": True}, {"groups": np.arange(n) // 20}
    rows = [
        level("independent rows", lambda r, m: (r.standard_normal(m), r.standard_normal(m)), {}, n, draws),
        level("AR .9, time=True", lambda r, m: series(r, m, 0.9, False), timed, n, draws),
        level("AR .9", lambda r, m: series(r, m, 0.9, False), {}, n, draws),
        level(
            "AR .9, time=False (told to ignore it)", lambda r, m: series(r, m, 0.9, False), {"time": False}, n, draws
        ),
        level("20 rows a subject, groups=", lambda r, m: subjects(r, m, 20, False), grouped, n, draws),
        level("20 rows a subject", lambda r, m: subjects(r, m, 20, False), {}, n, draws),
        level("rows ×3", lambda r, m: repeated(r, m, 3, None), {}, n, draws),
        level("rows ×2, copies with 3 digits", lambda r, m: repeated(r, m, 2, 3), {}, n, draws),
    ]
    return table(["independent variables", "draws", "p ≤ 0.05", "within 3 standard errors"], rows)


def labels(n: int, draws: int) -> str:
    """Labels in many columns: within a tenth of the truth, or a warning."""
    many, truth = _hundred_columns()
    entries = [
        ("100 columns, 3 classes", truth, many),
        *((f"parity of 2 signs in {d} columns", np.log(2), lambda r, m, d=d: parity(r, m, d, 2)) for d in (2, 5, 20)),
        ("parity of 5 signs in 5 columns", np.log(2), lambda r, m: parity(r, m, 5, 5)),
        ("parity of 20 signs in 20 columns", np.log(2), lambda r, m: parity(r, m, 20, 20)),
        ("label apart from 20 columns", 0.0, lambda r, m: (r.standard_normal((m, 20)), r.integers(0, 2, m))),
        ("shift 2 in 1 of 20 columns", 0.3368, lambda r, m: classes(r, m, 20, 2.0)),
    ]
    rows = []
    for name, true, draw in entries:
        found = [mutual_information(*draw(np.random.default_rng([29, i]), n)) for i in range(draws)]
        near = np.mean([abs(f - true) <= max(0.1 * true, 0.01) for f in found])
        said = np.mean([bool(f.warnings) for f in found])
        held = np.mean([f.low <= true <= f.high for f in found])
        rows.append(
            [
                name,
                f"{true:.3f}",
                draws,
                f"{np.mean(found):.3f}",
                f"{near:.2f}",
                f"{said:.2f}",
                f"{held:.2f}",
                found[0].method,
            ]
        )
    return table(["labels", "truth", "draws", "mean", "within 10 %", "warned", "held", "method of the first"], rows)


def _hundred_columns():
    """Three normal classes in 100 columns, truth by 200,000 draws."""
    centres = np.random.default_rng(7).standard_normal((3, 100))
    centres *= 1.7 / np.linalg.norm(centres, axis=1, keepdims=True)

    def draw(rng, n):
        label = rng.integers(0, 3, n)
        return rng.standard_normal((n, 100)) + centres[label], label

    terms = []
    for i in range(20):
        x, label = draw(np.random.default_rng([31, i]), 10_000)
        score = x @ centres.T - 0.5 * np.sum(centres**2, axis=1)
        terms.append(np.mean(score[np.arange(len(x)), label] - np.log(np.mean(np.exp(score), axis=1))))
    return draw, float(np.mean(terms))


def made_on() -> list[Case]:
    """Some of the tasks on which `auto` was made."""
    names = ("normal 1x1", "additive uniform 0.75", "Student 1x1 df=1", "swiss roll 2x1", "dense normal 3x3", "Student 2x2 df=2",
             "half-cube of two-pair normal 3x3", "spiral of two-pair normal 3x3")  # fmt: skip
    return [Case(name, tasks.task(name).truth, tasks.task(name).draw, True) for name in names]


def main() -> None:
    """Run and publish."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--budget", type=float, default=20.0, help="seconds for a case; at least ten draws")
    options = parser.parse_args()
    header = ["distribution", "truth", "draws", "mean", "held", "missed silently", "no interval", "honest", "s"]
    known, every = made_on(), cases()
    split = {
        "Tasks on which `auto` was made": known,
        "Constants of the interval were set on these (other draws)": [c for c in every if c.tuned],
        "Fresh": [c for c in every if not c.tuned][:-10],
        "Rows that depend on each other": every[-10:],
    }
    parts, number = [], 0
    for title, some in split.items():
        rows = []
        for case in some:
            rows.append(coverage(case, number, options.rows, options.draws, options.budget))
            number += 1
            print(rows[-1], flush=True)
        parts.append(f"## {title}\n\n{table(header, rows)}")
    text = f"""# Honesty of mutual information

95 % intervals of `auto` at {options.rows} rows, {options.draws} draws of each distribution, fewer where a draw is slow
({options.budget:g} s a distribution). "Honest" is yes where the truth was held as often as stated, within three
standard errors; "or a warning" where every miss beyond that carried a warning; no otherwise.

{chr(10).join(parts)}

## Level of permutation tests ({options.rows} rows, 19 permutations, `ksg`)

{levels(options.rows, options.draws)}

## Labels in many columns (5000 rows)

{labels(5000, 3)}

{provenance(("latentry", "numpy", "scipy", "scikit-learn"))}
"""
    publish("honesty_information", text)


if __name__ == "__main__":
    main()
