"""Rows that certificates of naturality need, and how often they are false: tables, numbers at a resolution, comparisons."""

from __future__ import annotations

import argparse
import time
from collections import Counter

import numpy as np
from scipy.stats import binom

from latentry.data import CategoricalChannel
from latentry.generators import finite_laws
from latentry.natural import as_rows, audit, compare, mediation_error
from latentry.natural.from_samples.mediation_bounds import mediation_upper, tabulate
from latentry.natural.from_samples.resolution_bounds import resolution_lessons, resolution_upper

from common import provenance, publish, table

EPSILON, LEVEL, FIRST_SEED = 0.1, 0.05, 5000
# levels, values of Λ, rows, concentration of the conditional distributions, strength of the dependence that is added
TABLES = [
    ((2, 2), 2, 60, 0.3, 1.0), ((3, 3), 1, 300, 0.3, 0.5), ((4, 4), 1, 2000, 1.0, 0.0), ((4, 4), 1, 2000, 1.0, 1.0),
    ((4, 4), 2, 500, 0.3, 0.5), ((9, 9), 1, 4000, 1.0, 0.0), ((9, 9), 1, 1000, 0.2, 0.3), ((6, 6, 6), 1, 4000, 1.0, 0.0),
]  # fmt: skip
NATURAL = {
    "exact natural latent, two domains": lambda seed: finite_laws.planted_natural(seed=seed),
    "two noisy copies of a bit (flip 0.02)": lambda seed: finite_laws.noisy_copies(2, 0.02),
}
SIZES = {"exact natural latent, two domains": (500, 1000, 2000), "two noisy copies of a bit (flip 0.02)": (500, 1000)}
FALSE = {
    "just above ε (1.05 ε)": lambda seed: finite_laws.near_miss(1.05 * EPSILON),
    "XOR across domains": lambda seed: finite_laws.xor_across_domains(0.4, shared=True),
    "leaked noise": lambda seed: finite_laws.leaked_noise(0.8),
    "synergy": lambda seed: finite_laws.synergy(),
}


def random_joint(levels, values, concentration, strength, rng):
    """Q(x, λ) that Λ mediates, then each cell times e^(strength · normal)."""
    joint = rng.dirichlet(np.full(values, 5.0)).reshape((1,) * len(levels) + (values,))
    for i, level in enumerate(levels):
        shape = [1] * len(levels) + [values]
        shape[i] = level
        joint = joint * rng.dirichlet(np.full(level, concentration), size=values).T.reshape(shape)
    joint = joint * np.exp(strength * rng.standard_normal(joint.shape))
    return joint / joint.sum()


def rows_of_joint(joint, n, rng):
    place = np.unravel_index(rng.choice(joint.size, n, p=joint.ravel()), joint.shape)
    return {f"x{i}": column for i, column in enumerate(place[:-1])}, place[-1]


def table_case(levels, values, n, concentration, strength, seed):
    rng = np.random.default_rng([seed, n, values, len(levels)])
    joint = random_joint(levels, values, concentration, strength, rng)
    law = joint.sum(axis=-1)
    channel = np.divide(joint, law[..., None], out=np.full_like(joint, 1.0 / values), where=law[..., None] > 0)
    columns, latent = rows_of_joint(joint, n, rng)
    rows = as_rows(columns, latent, blocks=None, domain=None, noise=None, quantiser=None, fit=0.5, seed=seed)
    return float(mediation_error(law, channel)), mediation_upper([tabulate(rows, rows.untouched, seed)], LEVEL)


def tables(each):
    lines = []
    for setting in TABLES:
        cases = np.array([table_case(*setting, FIRST_SEED + seed) for seed in range(each)])
        missed = int((cases[:, 1] < cases[:, 0] - 1e-12).sum())
        levels, values, n, concentration, strength = setting
        name = f"{'×'.join(map(str, levels))}, {values} values of Λ"
        medians = [f"{m:.3f}" for m in np.median(cases, axis=0)]
        lines.append([name, n, concentration, strength, *medians, f"{missed} of {each}"])
    head = [
        "table",
        "rows",
        "evenness",
        "dependence added",
        "true error (median)",
        "upper bound (median)",
        "bounds too low",
    ]
    return table(head, lines)


def audited(family, n, seed):
    sample = family.sample(n, seed)
    domain = sample.domain if len(family.laws) > 1 else None
    blocks = {f"x{i}": sample.observables[:, i] for i in range(2)}
    channel = CategoricalChannel(sample.channel_rows)
    return audit(blocks, channel, domain=domain, epsilon=EPSILON, level=LEVEL, drift=False, seed=seed).verdict.status


def six_levels(n, seed, *, noisy):
    """Three blocks of six levels: Λ of three values and a private bit in each, or noisy copies of Λ (right in 99.5 %)."""
    rng = np.random.default_rng([seed, n])
    z = rng.integers(0, 6 if noisy else 3, n)
    copies = [np.where(rng.random(n) < 0.995, z, rng.integers(0, 6, n)) for _ in range(3)]
    private = [2 * z + (rng.random(n) < 0.3 + 0.2 * z) for _ in range(3)]
    blocks = {f"x{i}": column for i, column in enumerate(copies if noisy else private)}
    return audit(blocks, z, epsilon=EPSILON, level=LEVEL, drift=False, seed=seed).verdict.status


def certificates(each):
    lines, false = [], 0
    for name, make in (NATURAL | FALSE).items():
        for n in SIZES.get(name, (2000,)):
            count = Counter(audited(make(seed), n, seed) for seed in range(FIRST_SEED, FIRST_SEED + each))
            false += count["certified"] if name in FALSE else 0
            lines.append(_line(name, name in NATURAL, n, each, count))
    for noisy, n in ((False, 4000), (True, 10_000)):
        count = Counter(six_levels(n, seed, noisy=noisy) for seed in range(FIRST_SEED, FIRST_SEED + each))
        kind = "noisy copies" if noisy else "private bits"
        lines.append(_line(f"three blocks of six levels, {kind}", True, n, each, count))
    asked = each * len(FALSE)
    most = int(binom.isf(0.001, asked, LEVEL))
    head = ["planted", "natural within ε", "rows", "data sets", "certified", "cannot say", "refuted"]
    return f"{table(head, lines)}\n\nFalse certificates: {false} of {asked} (a level of {LEVEL} allows {most})."


def _line(name, natural, n, each, count):
    return [name, "yes" if natural else "no", n, each, count["certified"], count["cannot say"], count["refuted"]]


def compared(each):
    lines = []
    for n in (300, 1000, 4000):
        missed = certified = open_ = 0
        for seed in range(FIRST_SEED, FIRST_SEED + each):
            rng = np.random.default_rng([seed, n])
            law = rng.dirichlet(np.full(12, 0.5)).reshape(2, 3, 2)
            channels = [np.eye(2)[rng.integers(0, 2, law.shape)] for _ in range(2)]
            place = np.unravel_index(rng.choice(12, n, p=law.ravel()), law.shape)
            rows = {str(i): column for i, column in enumerate(place)}
            found = compare(rows, *(CategoricalChannel(c[place]) for c in channels), level=LEVEL, seed=seed).mediation
            truth = mediation_error(law, channels[1]) - mediation_error(law, channels[0])
            low, high = (bound.value for bound in found.evidence.values())
            missed += (low > truth) + (high < truth)
            certified += found.status != "cannot say"
            open_ += found.status == "cannot say"
        lines.append([n, each, certified, open_, f"{missed} of {2 * each}"])
    return table(["rows", "pairs of latents", "ordered", "left open", "bounds that miss the truth"], lines)


def resolved(each):
    lines = []
    for name, extra, natural in (("private noise 0.1", 0.0, "yes"), ("shared noise 1.0 beside Λ", 1.0, "no (0.144)")):
        for n in (500, 2000):
            certified = 0
            for seed in range(FIRST_SEED, FIRST_SEED + each):
                rng = np.random.default_rng([seed, n])
                z, common = rng.integers(0, 2, n), extra * rng.standard_normal((n, 1))
                views = {k: 3.0 * z[:, None] + common + 0.1 * rng.standard_normal((n, 1)) for k in ("a", "b")}
                rows = as_rows(views, z, blocks=None, domain=None, noise=None, quantiser=None, fit=0.5, seed=seed)
                lessons = resolution_lessons(rows, {"a": 1.0, "b": 1.0}, rows.fit, rows.audit, seed)
                certified += resolution_upper([lessons], 2, LEVEL, seed) <= EPSILON
            lines.append([name, natural, n, each, certified])
    return table(["two numbers, σ = 1", "mediated within ε", "rows", "data sets", "mediation certified"], lines)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--each", type=int, default=100)
    each, start = parser.parse_args().each, time.perf_counter()
    sections = {
        "Rows needed, and false certificates": certificates,
        "Upper bounds of the mediation error of random tables": tables,
        "Comparisons of two random latents of three observables (2×3×2)": compared,
        "Mediation of numbers at a declared resolution": resolved,
    }
    parts = [f"# Power and honesty of certificates, ε = {EPSILON} nats, level {LEVEL}"]
    for title, section in sections.items():
        parts.append(f"## {title}\n\n{section(each)}")
        foot = f"{provenance(('latentry', 'numpy', 'scipy', 'scikit-learn'))} Seeds from {FIRST_SEED} on; "
        publish("honesty_power", "\n\n".join([*parts, f"{foot}{time.perf_counter() - start:.0f} s."]))


if __name__ == "__main__":
    main()
