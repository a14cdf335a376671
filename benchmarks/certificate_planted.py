"""Certificates of planted truths: what is certified, what is refused, and no false certificate.

Each case is a world whose answer is known. Runs are kept one by one in a file of JSON lines, so that the script can be
stopped and goes on where it was; `--fresh` begins anew.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from pathlib import Path

import numpy as np
from scipy.stats import beta

import latentry as lt
from latentry.generators import finite_laws

from common import HERE, provenance, publish, table

EPSILON, LEVEL = 0.1, 0.05
SMALL = {"epochs": 40, "flow__blocks": 2, "flow__components": 3}
PLACES = ("refuted in each domain", "refuted when mixed", "refuted when pooled")
STATUSES = ("certified", "not refuted", "cannot say", "refuted")


def segments(seed: int, *, shuffled: bool = False, bent: bool = False, **world) -> lt.Certificate:
    """Two sources, mixed by a matrix or by a network of two layers, found by an exact flow; half of the rows are set aside."""
    data = lt.generators.segments(rows_per_domain=500, latents=2, layers=2 if bent else 1, seed=seed, **world)
    if shuffled:
        data = data.with_domain(np.random.default_rng(seed).permutation(data.domain.values))
    training, _ = data.split(0.5, 0.5, seed=seed)
    size = {"epochs": 150, "training__patience": None, "flow__blocks": 6, "flow__components": 6} if bent else SMALL
    model = lt.IFlow().set_params(**size, seed=seed, progress=False).fit(training)
    return lt.certify(model, data, epsilon=EPSILON, level=LEVEL, seed=seed, only=["identifiable", "controls"])


def lattices(seed: int, factor: str, **world) -> lt.Certificate:
    """Pictures and curves; the latent is a true factor, as labels."""
    data = lt.generators.lattices(rows=1500, seed=seed, **world)
    return lt.certify(data.factors[factor], data, epsilon=EPSILON, level=LEVEL, seed=seed, only=["natural", "controls"])


def finite(seed: int, family: finite_laws.FiniteFamily, *, shuffled: bool = False) -> lt.Certificate:
    sample = family.sample(6000, seed)
    rows = {f"x{i + 1}": sample.observables[:, i] for i in range(sample.observables.shape[1])}
    domain = np.random.default_rng(seed).permutation(sample.domain) if shuffled else sample.domain
    return lt.certify(
        sample.latent, rows, domain=domain, epsilon=EPSILON, level=LEVEL, seed=seed, only=["natural", "controls"]
    )


# name: part that answers, whether "certified" would be true, how it is made
CASES = {
    "segments bent by a network, 12 domains": (
        "identifiable",
        True,
        lambda seed: segments(seed, bent=True, domains=12),
    ),
    "segments bent by a network, 3 domains whose means move (5 needed)": (
        "identifiable",
        False,
        lambda seed: segments(seed, bent=True, domains=3, means="uniform"),
    ),
    "segments bent by a network, shuffled domains": (
        "identifiable",
        False,
        lambda seed: segments(seed, bent=True, shuffled=True, domains=12),
    ),
    "segments mixed linearly, 12 domains": ("identifiable", True, lambda seed: segments(seed, domains=12)),
    "segments mixed linearly, 3 domains whose means move (5 needed)": (
        "identifiable",
        False,
        lambda seed: segments(seed, domains=3, means="uniform"),
    ),
    "segments mixed linearly, only means move": (
        "identifiable",
        False,
        lambda seed: segments(seed, domains=12, means="uniform", scales="fixed"),
    ),
    "segments mixed linearly, shuffled domains": (
        "identifiable",
        False,
        lambda seed: segments(seed, shuffled=True, domains=12),
    ),
    "lattices, lattice type": ("natural", True, lambda seed: lattices(seed, "lattice")),
    "lattices from two laboratories, lattice type": ("natural", True, lambda seed: lattices(seed, "lattice", labs=2)),
    "lattices, profile (not in the picture)": ("natural", False, lambda seed: lattices(seed, "profile")),
    "labels, natural": ("natural", True, lambda seed: finite(seed, finite_laws.planted_natural(seed=seed))),
    "labels, XOR across domains": (
        "natural",
        False,
        lambda seed: finite(seed, finite_laws.xor_across_domains(0.4, shared=True)),
    ),
    "labels, leaked private noise": ("natural", False, lambda seed: finite(seed, finite_laws.leaked_noise(0.8))),
    "labels, near miss (1.5 ε)": ("natural", False, lambda seed: finite(seed, finite_laws.near_miss(1.5 * EPSILON))),
    "labels, synergy": ("natural", False, lambda seed: finite(seed, finite_laws.synergy())),
    "labels, constant": ("natural", False, lambda seed: finite(seed, finite_laws.constant_latent())),
}


def one(name: str, seed: int) -> dict:
    part, _, make = CASES[name]
    start = time.process_time()
    found = make(seed)
    claims = {place: claim.status for place, claim in found[part].claims.items()}
    return {
        "case": name,
        "seed": seed,
        "status": found[part].verdict.status,
        "domains": [claims[place] for place in claims if place.startswith("domain")],
        "mixed": claims.get("every mixture"),
        "pooled": claims.get("all rows pooled"),
        "trusted": found.trusted,
        "sentence": found[part].verdict.sentence,
        "seconds": round(time.process_time() - start, 1),
    }


def _places(rows: list[dict]) -> list[int | str]:
    """In how many runs naturality is refuted in each single domain, in some mixture, and with all rows pooled."""
    if not rows[0]["domains"]:
        return ["", "", ""]
    each = sum(set(row["domains"]) == {"refuted"} for row in rows)
    return [each, sum(row["mixed"] == "refuted" for row in rows), sum(row["pooled"] == "refuted" for row in rows)]


def report(rows: list[dict], runs: int) -> None:
    lines, false, refusable = [], 0, 0
    rows = [*{(row["case"], row["seed"]): row for row in rows}.values()]
    for name, (part, true, _) in CASES.items():
        mine = [row for row in rows if row["case"] == name and row["seed"] < runs]
        if not mine:
            continue
        count = Counter(row["status"] for row in mine)
        if not true:
            false, refusable = false + count["certified"], refusable + len(mine)
        lines.append(
            [name, part, "yes" if true else "no", len(mine), *(count[s] for s in STATUSES), *map(str, _places(mine)),
             sum(not row["trusted"] for row in mine), f"{np.mean([row['seconds'] for row in mine]):.0f}"]
        )  # fmt: skip
    head = ["planted", "asked", "true", "runs", *STATUSES, *PLACES, "controls failed", "processor seconds"]
    top = beta.ppf(0.95, false + 1, max(refusable - false, 1)) if refusable else float("nan")
    text = (
        f"# Certificates of planted truths, ε = {EPSILON} nats, level {LEVEL}\n\n{table(head, lines)}\n\n"
        f"False certificates: {false} of {refusable} (a rate below {top:.3f} with 95 % confidence; stated level {LEVEL}).\n"
        "Mediation between pictures and curves can be refuted, never certified, so that the lattice type is at best\n"
        '"not refuted". With two laboratories it is natural in each of them and in no mixture: the laboratory itself shows in\n'
        "pictures and curves. Seconds are those of the processor, with the fit.\n\n" + provenance()
    )
    publish("certificate_planted", text)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--only", default="", help="part of the name of a case")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--minutes", type=float, default=1e9, help="stop after so long; run again to go on")
    options = parser.parse_args()
    kept = Path(HERE / ".data" / "certificate_planted.jsonl")
    kept.parent.mkdir(exist_ok=True)
    if options.fresh:
        kept.unlink(missing_ok=True)
    rows = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
    done, end = {(row["case"], row["seed"]) for row in rows}, time.monotonic() + 60 * options.minutes
    for seed in range(options.runs):
        for name in CASES:
            if options.only in name and (name, seed) not in done and time.monotonic() < end:
                rows.append(one(name, seed))
                with kept.open("a") as file:
                    file.write(json.dumps(rows[-1]) + "\n")
                print(rows[-1]["case"], seed, rows[-1]["status"], f"{rows[-1]['seconds']} s", flush=True)
    report(rows, options.runs)


if __name__ == "__main__":
    main()
