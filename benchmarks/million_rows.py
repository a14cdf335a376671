"""Seconds and memory of the questions that people ask of a million rows of twenty columns, and what each answer says of its rows.

    python benchmarks/million_rows.py                     # about ten minutes on one core
    python benchmarks/million_rows.py --only "certify, a latent of labels"

Every question in a process of its own, pinned to one core, after the same question on 600 rows, which pays for imports and
compilation. Writes benchmarks/results/million_rows.md; measurements are kept in benchmarks/.data.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import time

import numpy as np

from common import HERE, provenance, publish, table

ROWS, FEW = 1_000_000, 600
PATIENCE = 1800  # seconds of the wall, after which a question is stopped
STORE = HERE / ".data" / "million_rows.json"


def normals(rows, columns):
    """Two blocks of normals, each column of one correlated with its partner by 0.6."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((rows, columns))
    return x, 0.6 * x + 0.8 * rng.standard_normal((rows, columns))


def views(rows):
    """Two bent views, ten columns each, of two hidden numbers; and three domains."""
    import latentry as lt

    rng = np.random.default_rng(0)
    z = rng.normal(size=(rows, 2))
    sides = [np.tanh(z @ rng.normal(size=(2, 10))) + 0.05 * rng.normal(size=(rows, 10)) for _ in "ab"]
    data = lt.Dataset({"left": sides[0], "right": sides[1]}, domain=rng.integers(0, 3, rows))
    return data, z + 0.05 * rng.normal(size=z.shape)


def counted(found):
    return "; ".join([found.method, *(words for words in found.warnings if "rows" in words)])


def information(columns, **options):
    def ask(rows):
        import latentry as lt

        return counted(lt.mutual_information(*normals(rows, columns), **options))

    return ask


def certificate(latents):
    def ask(rows):
        import latentry as lt

        data, z = views(rows)
        found = lt.certify(latents(z), data)
        notes = [note for part in found.parts.values() for note in part.notes if " of 1,000,000 rows" in note]
        return "; ".join(
            [*(f"{name}: {verdict.status}" for name, verdict in found.verdicts.items()), *dict.fromkeys(notes)]
        )

    return ask


def audit(latents):
    def ask(rows):
        import latentry as lt

        data, z = views(rows)
        found = lt.natural.audit(data, latents(z), epsilon=0.05, noise=None if latents is labels else 0.1)
        return "; ".join([found.verdict.status, *found.notes])

    return ask


def labels(z):
    return (z[:, 0] > 0).astype(int) + 2 * (z[:, 1] > 0)


def numbers(z):
    return z


QUESTIONS = {
    "mutual_information, 10 + 10 columns": information(10),
    "mutual_information, 20 + 20 columns": information(20),
    'mutual_information, 10 + 10 columns, estimator="gaussian"': information(10, estimator="gaussian"),
    "certify, an embedding of 2 columns": certificate(numbers),
    "certify, a latent of labels": certificate(labels),
    "natural.audit, an embedding of 2 columns": audit(numbers),
    "natural.audit, a latent of labels": audit(labels),
}


def once(name):
    """One measurement, in this process."""
    QUESTIONS[name](FEW)
    wall, spent = time.perf_counter(), time.process_time()
    said = QUESTIONS[name](ROWS)
    gigabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps({
        "wall": time.perf_counter() - wall, "cpu": time.process_time() - spent, "gb": gigabytes, "said": said,
    }))  # fmt: skip


def run(name):
    core = max(os.sched_getaffinity(0))
    command = [sys.executable, "-W", "ignore", __file__, "--once", name]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=PATIENCE, check=True,
            preexec_fn=lambda: os.sched_setaffinity(0, {core}),
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return {"cpu": float("nan"), "gb": float("nan"), "said": f"stopped after {PATIENCE} s"}
    return json.loads(done.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--once")
    parser.add_argument("--only", nargs="*", default=list(QUESTIONS))
    asked = parser.parse_args()
    if asked.once:
        return once(asked.once)
    kept = json.loads(STORE.read_text()) if STORE.exists() else {}
    for name in asked.only:
        kept[name] = run(name)
        STORE.parent.mkdir(exist_ok=True)
        STORE.write_text(json.dumps(kept))
        print(name, kept[name], flush=True)
    rows = [
        [f"`{name.split(',')[0]}`,{name.split(',', 1)[1]}", f"{one['cpu']:.0f}", f"{one['gb']:.1f}", one["said"]]
        for name in QUESTIONS
        if (one := kept.get(name))
    ]
    text = TEXT.format(table=table(["question", "processor seconds", "peak GB", "what the answer says"], rows))
    publish("million_rows", text + "\n\n" + provenance(("latentry", "jax", "numpy", "scipy", "numba")))
    return None


TEXT = """# A million rows of twenty columns

Processor seconds on one core, data included, imports and compilation not; the peak of memory includes Python, JAX and the data
(0.16 to 0.5 GB). Once each, while other programs ran on the machine.

{table}"""


if __name__ == "__main__":
    main()
