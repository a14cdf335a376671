"""How often identifiability is supported, refuted or left open, where its assumptions hold and where one is broken."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np

import latentry as lt
from broken_assumptions import CASES

from common import provenance, publish, table

# Where rows of the broken process and rows of a sound one have the same distribution, no test can tell.
UNDETECTABLE = {"10 one latent causes the other": "same rows as independent components; named as untested"}


READING = (
    "The weak hidden group, whose latents are found all the same, is mostly missed: what is left of the dependence (about 0.1) "
    "is hardly above the tolerance. One latent that causes the other is supported in each: its rows are those of independent "
    "components, which no test can tell, and that is named as untested beside the verdict. Three latents behind two columns "
    "pass now and then: the number of latents is named as untested beside the verdict."
)


def run(name: str, seed: int) -> tuple[str, float, str]:
    data = CASES[name](seed)
    training, fresh = data.split(0.5, 0.5, seed=seed)
    model = lt.IFlow(seed=seed, progress=False).fit(training)
    true = np.column_stack([*fresh.factors.values()])[:, :2]
    found = lt.identifiability.sufficient_changes(model, fresh, bootstrap=0)
    against = next((one.name for one in found.verdict.assumptions if one.refuted), "")
    return found.verdict.status, lt.mcc(model.transform(fresh), true), against


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", nargs="*", default=None)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name in CASES:
        if asked.only and not any(name.startswith(word) for word in asked.only):
            continue
        results = [run(name, seed) for seed in range(asked.first, asked.first + asked.seeds)]
        answers = Counter(status for status, _, _ in results)
        why = Counter(against for _, _, against in results if against)
        scores = [score for _, score, _ in results]
        rows.append(
            [
                name,
                f"{answers['supported'] + answers['certified']}/{len(results)}",
                f"{answers['refuted']}/{len(results)}",
                f"{answers['cannot say']}/{len(results)}",
                f"{np.median(scores):.3f} ({min(scores):.3f} to {max(scores):.3f})",
                "; ".join(f"{word} {count}" for word, count in why.most_common(2)) or UNDETECTABLE.get(name, "–"),
            ]
        )
        print(rows[-1], flush=True)
    head = ["case", "supported", "refuted", "cannot say", "MCC", "first refuted assumption"]
    text = (
        "# Identifiability where its assumptions hold, and where one is broken\n\n"
        "IFlow with default settings, two latents behind two columns, 12 domains of 1,000 rows, half of them held out. Tolerances "
        "were chosen on seeds 100 to 107 of the same cases; the seeds here are others.\n\n"
        f"{table(head, rows)}\n\n{READING}\n\nSeeds {asked.first} to {asked.first + asked.seeds - 1}. {provenance()}\n"
    )
    publish("honesty_identifiability", text)


if __name__ == "__main__":
    main()
