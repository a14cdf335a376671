"""Planted latents from samples: false certificates, true ones, refutations, and coverage of the intervals."""

from __future__ import annotations

import time
from collections import defaultdict

import numpy as np
from scipy.stats import binom

from latentry.data import CategoricalChannel, GaussianChannel
from latentry.generators import finite_laws
from latentry.natural import audit, check, gaussian_total_correlation

from common import provenance, publish, table

EPSILON, LEVEL, EACH = 0.1, 0.05, 40
SIZES = (500, 2000, 10_000)
FAMILIES = {
    "natural": lambda seed: finite_laws.planted_natural(seed=seed),
    "natural, small": lambda seed: finite_laws.noisy_copies(2, 0.02),
    "just above ε (1.05 ε)": lambda seed: finite_laws.near_miss(1.05 * EPSILON),
    "near miss (1.5 ε)": lambda seed: finite_laws.near_miss(1.5 * EPSILON),
    "XOR across domains": lambda seed: finite_laws.xor_across_domains(0.4, shared=True),
    "leaked noise": lambda seed: finite_laws.leaked_noise(0.8),
    "constant": lambda seed: finite_laws.constant_latent(),
    "synergy": lambda seed: finite_laws.synergy(),
}


def discrete_case(name: str, rows: int, seed: int) -> dict:
    family = FAMILIES[name](seed)
    truth = check(family.laws, family.channel, epsilon=EPSILON)
    sample = family.sample(rows, seed)
    blocks = {f"x{i}": sample.observables[:, i] for i in range(2)}
    domain = sample.domain if len(family.laws) > 1 else None
    found = audit(
        blocks,
        CategoricalChannel(sample.channel_rows),
        domain=domain,
        epsilon=EPSILON,
        level=LEVEL,
        drift=False,
        seed=seed,
    )
    covered = [
        inside(claim, true_value(truth, claim.error, j))
        for j in range(len(family.laws))
        for claim in found.claims
        if claim.place in (f"domain {j}", "all rows")
    ]
    return {"status": found.verdict.status, "natural": truth.verdict.status == "certified", "covered": covered}


def true_value(report, error: str, j: int) -> float:
    errors = report.domains[j]
    return errors.mediation.value if error == "mediation error" else errors.redundancy[int(error[-1])].value


def inside(claim, truth: float) -> tuple[bool, bool]:
    above = claim.upper is None or truth <= claim.upper.value + 1e-9
    below = claim.lower is None or truth >= claim.lower.value - 1e-9
    return above, below


def gaussian_case(name: str, rows: int, seed: int) -> dict:
    """Two views of Z with noise 0.5; Λ is Z with noise, or with views that share a little more than Z."""
    extra = 0.0 if name == "Gaussian natural" else 0.55
    rng = np.random.default_rng(seed)
    z, common = rng.standard_normal((2, rows, 1))
    views = {
        f"x{i}": z + 0.5 * (np.sqrt(1 - extra**2) * rng.standard_normal((rows, 1)) + extra * common) for i in range(2)
    }
    scale = 0.6 if extra == 0.0 else 0.2
    found = audit(
        views,
        GaussianChannel(z, np.full_like(z, scale)),
        epsilon=0.35 if extra == 0.0 else EPSILON,
        family="gaussian",
        level=LEVEL,
        seed=seed,
    )
    shared = 1 + 0.25 * extra**2
    sigma = np.array([[1.25, shared, 1], [shared, 1.25, 1], [1, 1, 1 + scale**2]])
    medial = gaussian_total_correlation(sigma, [[0], [1]], [2])
    guess = gaussian_total_correlation(sigma, [[2], [1]], [0])
    covered = [inside(c, medial if c.error == "mediation error" else guess) for c in found.claims]
    limit = 0.35 if extra == 0.0 else EPSILON
    return {"status": found.verdict.status, "natural": max(medial, guess) <= limit, "covered": covered}


def main() -> None:
    start = time.perf_counter()
    outcomes = defaultdict(list)
    for name in FAMILIES:
        for rows in SIZES:
            for seed in range(EACH):
                outcomes[name, rows].append(discrete_case(name, rows, seed))
    for name in ("Gaussian natural", "Gaussian near miss"):
        for rows in SIZES:
            for seed in range(EACH // 2):
                outcomes[name, rows].append(gaussian_case(name, rows, seed))
    cases = [case for group in outcomes.values() for case in group]
    lines = []
    for (name, rows), group in outcomes.items():
        counts = {
            s: sum(c["status"] == s for c in group) for s in ("certified", "refuted", "cannot say", "not refuted")
        }
        upper = np.mean([a for c in group for a, _ in c["covered"]])
        lower = np.mean([b for c in group for _, b in c["covered"]])
        lines.append(
            [
                name,
                "yes" if group[0]["natural"] else "no",
                rows,
                len(group),
                counts["certified"],
                counts["refuted"],
                counts["cannot say"],
                f"{upper:.3f}",
                f"{lower:.3f}",
            ]
        )
    wrong = sum(c["status"] == "certified" and not c["natural"] for c in cases)
    refuted = sum(c["status"] == "refuted" and c["natural"] for c in cases)
    no, yes = sum(not c["natural"] for c in cases), sum(c["natural"] for c in cases)
    header = ["planted", "natural within ε", "rows", "runs", "certified", "refuted", "cannot say"]
    header += ["upper bounds cover", "lower bounds cover"]
    text = "\n\n".join(
        [
            f"# Honesty: {len(cases)} planted cases, ε = {EPSILON} nats, level {LEVEL}",
            table(header, lines),
            f"**False certificates: {wrong} of {no}** (an honest level of {LEVEL} allows up to "
            f"{int(binom.isf(0.001, no, LEVEL))} with 99.9 % probability). "
            f"**False refutations: {refuted} of {yes}.** Two domains where the law has two; every mixture is asked.",
            "Each verdict is for every mixture of the domains (or the only domain). Coverage is of single bounds in single "
            "domains, at 95 % each. Gaussian rows are judged by the Gaussian family (ε = 0.35 for the natural one).",
            f"{provenance(('latentry', 'numpy', 'scipy', 'scikit-learn'))} Seeds 0 to {EACH - 1}; "
            f"{time.perf_counter() - start:.0f} s.",
        ]
    )
    publish("natural_honesty", text)


if __name__ == "__main__":
    main()
