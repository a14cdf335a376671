"""Learned natural latents: finite tables, planted truth, Gaussian pairs, and growth.

Content and style are in natural_learned_content.py, rows without a known truth in natural_learned_real.py, the latents of others
in natural_learned_peers.py.
"""

from __future__ import annotations

import re
import sys
import time
import warnings

import numpy as np
from scipy.special import logsumexp
from sklearn.metrics import normalized_mutual_info_score

import latentry as lt
from latentry.generators import finite_laws
from latentry.models import Naturality
from latentry.natural import audit, search, total_correlation, weighted_score
from natural_learned_real import (
    SEEDS,
    circles,
    digit_views,
    digits,
    lattices,
    own_naturalness,
    penguins,
    quiet,
    spread,
    two_colours,
)

from common import HERE, RESULTS, growth_panels, provenance, publish, table

NAME = "natural_learned"
TITLE = "# Learned natural latents"
EPSILON = 0.1


# Finite tables ------------------------------------------------------------------------------


def categorical(rows: np.ndarray, domain=None) -> lt.Dataset:
    return lt.Dataset({f"x{i}": rows[:, [i]].astype(float) for i in range(rows.shape[1])}, domain=domain)


def exact_channel(model, shape) -> np.ndarray:
    cells = np.stack(np.unravel_index(np.arange(np.prod(shape)), shape), axis=1)
    return model.channel(categorical(cells)).probabilities.reshape(*shape, -1)


SMALL = {"likelihood": "categorical", "hidden": (32,), "epochs": 60, "batch_size": 500, "learning_rate": 3e-3}


def finite() -> str:
    """Exact scores of learned channels against the certified optimum."""
    rows, began = {}, time.process_time()
    for kind in ("random", "planted"):
        for seed in range(100, 125):
            if kind == "random":
                law = finite_laws.random_family((4, 4), 2, 1, seed).laws[0]
            else:
                law = finite_laws.planted_natural(domains=1, seed=seed).laws[0]
            optimum = search(law, tolerance=1e-3, nodes=20_000)
            family = finite_laws.FiniteFamily(law[None], np.ones((*law.shape, 1)), kind)
            model = quiet(values=8, seed=seed, **SMALL).fit(categorical(family.sample(20_000, seed).observables))
            reached = float(weighted_score(law, exact_channel(model, law.shape)))
            constant = float(total_correlation(law))
            rows.setdefault(kind, []).append((reached, optimum.score.value, optimum.lower.value, constant))
    lines = []
    for kind, cases in rows.items():
        reached, optimum, lower, constant = np.array(cases).T
        above = reached - lower
        lines.append(
            [
                kind,
                len(cases),
                spread(reached),
                spread(optimum),
                spread(constant),
                spread(above),
                f"{(above <= 0.01).sum()} of {len(cases)}",
            ]
        )
    head = [
        "tables of 4 × 4",
        "how many",
        "sum of errors, learned",
        "best known (`search`)",
        "constant latent",
        "above the certified lower bound",
        "within .01",
    ]
    return table(head, lines) + (
        f"\n\nLearned from 20,000 drawn rows, 8 values, 3 restarts; scored by the exact table. "
        f"{time.process_time() - began:.0f} processor seconds."
    )


# Planted values -----------------------------------------------------------------------------


def planted(rows: int, modalities: int, domains: int, seed: int):
    """Four values, whose frequencies differ by domain, behind bent views of six numbers with three private ones."""
    rng = np.random.default_rng(seed)
    domain = np.arange(rows) % domains
    often = rng.dirichlet(np.full(4, 3.0), size=domains)
    z = np.array([rng.choice(4, p=often[j]) for j in domain])
    views = {}
    for i in range(modalities):
        while True:  # a view from which the values cannot be read plants nothing
            centres = 2 * rng.normal(size=(4, 3))
            if min(np.linalg.norm(centres[a] - centres[b]) for a in range(4) for b in range(a)) > 1.5:
                break
        inner = np.hstack([centres[z] + 0.15 * rng.normal(size=(rows, 3)), rng.normal(size=(rows, 3))])
        turns = [np.linalg.qr(rng.normal(size=(6, 6)))[0] for _ in range(2)]
        views[f"view {i + 1}"] = np.tanh(0.5 * inner @ turns[0]) @ turns[1] + 0.02 * rng.normal(size=(rows, 6))
    return lt.Dataset(views, domain=domain if domains > 1 else None), z


def planted_views() -> str:
    lines = []
    for modalities, domains in ((2, 1), (2, 4), (3, 2), (4, 1), (4, 4)):
        found, began = [], time.process_time()
        for seed in SEEDS:
            data, z = planted(6000, modalities, domains, seed)
            training, fresh = data.take(np.arange(4000)), data.take(np.arange(4000, 6000))
            model = quiet(values="auto", epochs=60, restarts=2, seed=seed).fit(training)
            channel = model.channel(fresh)
            bounds = [own_bound(model, fresh.take(rows)) for rows in by_domain(fresh)]
            nmi = normalized_mutual_info_score(z[4000:], channel.most_likely)
            found.append((nmi, model.n_features_out, max(bounds), model.agreement_[0, 1]))
        seconds = (time.process_time() - began) / len(SEEDS)
        nmi, count, bound, agree = np.array(found).T
        lines.append(
            [
                modalities,
                domains,
                spread(nmi),
                f"{(nmi >= 0.98).sum()} of 5",
                f"{(count == 4).sum()} of 5",
                spread(bound),
                f"{(bound <= EPSILON).sum()} of 5",
                f"{agree.mean():.3f}",
                f"{seconds:.0f}",
            ]
        )
    head = [
        "modalities",
        "domains",
        "NMI with the planted value",
        "≥ .98",
        "4 values chosen",
        "largest bound on a redundancy error in any domain",
        f"certified ≤ {EPSILON}",
        "restarts agree",
        "processor s",
    ]
    return table(head, lines) + (
        '\n\n4,000 rows train, 2,000 fresh rows judge; `values="auto"`, 2 restarts. Bounds hold with 95 % confidence for '
        "each modality in each domain, by the students that were trained with the latent: they are certificates of redundancy. "
        "The views are independent given the planted value by construction; no finite sample of such numbers certifies "
        "mediation without a declared resolution."
    )


def by_domain(data: lt.Dataset) -> list[np.ndarray]:
    if data.domain is None:
        return [np.arange(len(data))]
    return [np.flatnonzero(data.domain.values == j) for j in range(data.domain.size)]


def own_bound(model, data: lt.Dataset) -> float:
    return own_naturalness(model, data).worst.value


# What must not be claimed, and what may be --------------------------------------------------


def across_domains() -> str:
    lines = []
    families = {
        "XOR across domains": lambda seed: finite_laws.xor_across_domains(0.4),
        "planted natural, 2 domains": lambda seed: finite_laws.planted_natural(domains=2, seed=seed),
    }
    for name, family in families.items():
        for mixtures in (0.0, 1.0):
            statuses = []
            for seed in SEEDS:
                made = family(seed)
                sample, fresh = made.sample(20_000, seed), made.sample(10_000, 1000 + seed)
                aim = Naturality(mixtures=mixtures)
                model = quiet(values=4, naturality=aim, seed=seed, **SMALL).fit(
                    categorical(sample.observables, sample.domain)
                )
                channel = model.channel(categorical(fresh.observables))
                blocks = {f"x{i}": fresh.observables[:, i] for i in range(2)}
                answer = audit(blocks, channel, domain=fresh.domain, epsilon=EPSILON, drift=False, seed=seed)
                statuses.append(answer.verdict.status)
            counts = [statuses.count(s) for s in ("certified", "refuted", "cannot say")]
            lines.append([name, f"{mixtures:g}", *counts])
    head = ["rows", "weight of I(J; X given Λ)", f"certified at {EPSILON} in every mixture", "refuted", "cannot say"]
    return (
        table(head, lines)
        + "\n\n20,000 rows train, 10,000 fresh rows are audited (`natural.audit`), 5 seeds. In XOR the observables share "
        "nothing that either tells alone."
    )


# Gaussian pairs -----------------------------------------------------------------------------


def pair_optimum(correlation: float) -> float:
    """The lowest score of a Gaussian channel for two numbers with this correlation.

    With r = corr(Λ, X_1) = corr(Λ, X_2) it is 3 R − 4 I, where R = −½ ln(1 − 2r²/(1 + ρ)) and I = −½ ln(1 − r²); the minimum is at
    r² = 2ρ − 1, and a constant is best below ρ = ½.
    """
    if correlation <= 0.5:
        return 0.0
    return -1.5 * np.log(3 * (1 - correlation) / (1 + correlation)) + 2 * np.log(2 * (1 - correlation))


def pairs(rows: int, correlations: tuple[float, ...], seed: int) -> lt.Dataset:
    """Pairs of numbers, bent and rotated in each view: information does not change."""
    rng = np.random.default_rng(seed)
    rho = np.array(correlations)
    first, fresh = rng.normal(size=(2, rows, len(rho)))
    views = {}
    for name, x in (("a", first), ("b", rho * first + np.sqrt(1 - rho**2) * fresh)):
        views[name] = (x + x**3 / 6) @ np.linalg.qr(rng.normal(size=(len(rho), len(rho))))[0]
    return lt.Dataset(views)


def gaussian_score(model, data: lt.Dataset) -> float:
    """2 Σ ε_i − R on rows that trained nothing: students bound the errors, a mixture over the rows the information."""
    latent = model.channel(data)
    mean, scale = latent.mean, latent.scale
    apart = 0.0
    for name in data.names:
        student = model.channel(data.select(name))
        ratio = scale / student.scale
        apart += (0.5 * (ratio**2 + ((mean - student.mean) / student.scale) ** 2 - 1) - np.log(ratio)).sum(axis=1)
    drawn = mean + scale * np.random.default_rng(0).normal(size=mean.shape)
    away = (drawn[:, None] - mean[None]) / scale[None]
    density = -(0.5 * away**2 + np.log(scale)[None]).sum(axis=2)
    kept = np.diagonal(density) - logsumexp(density, axis=1) + np.log(len(mean))
    return float((2 * apart - kept).mean())


def gaussian_pairs() -> str:
    lines = []
    for correlations in ((0.3,), (0.8,), (0.95,), (0.95, 0.8, 0.3)):
        found, began, columns = [], time.process_time(), []
        for seed in SEEDS:
            data = pairs(10_000, correlations, seed)
            training, fresh = data.take(np.arange(8000)), data.take(np.arange(8000, 10_000))
            model = quiet(latent_dim=len(correlations), restarts=3, seed=seed, **PAIRS).fit(training)
            found.append(gaussian_score(model, fresh))
            columns.append(min(p.size for p in model.frontier_ if p.score <= model.frontier_[-1].score + 0.02))
        optimum = sum(map(pair_optimum, correlations))
        words = ", ".join(f"{rho:g}" for rho in correlations)
        seconds = (time.process_time() - began) / len(SEEDS)
        lines.append(
            [
                words,
                spread(found),
                f"{optimum:.3f}",
                f"{np.mean(found) - optimum:+.3f}",
                spread(columns),
                f"{seconds:.0f}",
            ]
        )
    head = [
        "correlations",
        "score, learned",
        "best Gaussian channel",
        "above it",
        "columns within .02 of the best",
        "processor s",
    ]
    return (
        table(head, lines)
        + "\n\n8,000 rows train, 2,000 fresh rows judge; 3 restarts, ranked by held-out rows of the first."
    )


PAIRS = {
    "naturality": Naturality(noise=0.0),
    "hidden": (64,),
    "epochs": 30,
    "batch_size": 256,
}


# Growth -------------------------------------------------------------------------------------


def fit_seconds(rows: int, modalities: int, values: int) -> tuple[float, float]:
    """Processor seconds of a first fit of one epoch, which compiles, and of each further epoch."""
    data, _ = planted(rows, modalities, 1, 0)
    ends = [time.process_time()]
    for epochs in (1, 1, 31):
        quiet(values=values, epochs=epochs, restarts=1).fit(data)
        ends.append(time.process_time())
    first, few, many = np.diff(ends)
    return first, (many - few) / 30


def growth() -> str:
    base = {"rows": 4000, "modalities": 2, "values": 8}
    asked = {"rows": (2000, 8000), "modalities": (2, 8), "values": (4, 32)}
    lines, panels = [], {}
    for name, sizes in asked.items():
        for size in sizes:
            whole, epoch = fit_seconds(**base | {name: size})
            panels.setdefault(name, {})[size] = epoch
            times = f"{epoch / panels[name][sizes[0]]:.1f}"
            lines.append([name, f"{size:,}", f"{1000 * epoch:.0f}", times, f"{whole:.1f}"])
    picture = HERE.parent / "docs" / "pictures" / "growth-natural-latents.svg"
    picture.write_text(growth_panels(panels, "Processor seconds of one epoch of NaturalLatents", ("now",)))
    head = ["what grows", "size", "processor ms an epoch", "times the first", "first fit of one epoch, s"]
    return table(head, lines) + (
        "\n\nThe others stay at 4,000 rows, 2 modalities and 8 values. An epoch is the difference of fits of 31 epochs and 1, over "
        "30, when programs were compiled; the first fit compiles them, and measures the frontier."
    )


SECTIONS = {
    "Finite tables": finite,
    "Planted values behind bent views": planted_views,
    "Across domains": across_domains,
    "Content and style": lambda: "On [a page of its own](natural_learned_content.md), by natural_learned_content.py.",
    "Digits in halves": lambda: digits("halves"),
    "Digits in quarters": lambda: digits("quarters"),
    "Digits in three views": digit_views,
    "Penguins, bill and body": penguins,
    "Two-colour digits, left and right": two_colours,
    "Lattices, image and curve": lattices,
    "Circles, image and measurements": circles,
    "Gaussian pairs": gaussian_pairs,
    "Growth": growth,
}


def published() -> dict[str, str]:
    """The sections that the page holds already."""
    path = RESULTS / f"{NAME}.md"
    text = path.read_text() if path.exists() else ""
    return dict(re.findall(r"^## (.+?)\n\n(.*?)(?=^## |\Z)", text, re.M | re.S))


def main() -> None:
    """Run the sections whose number was given, or all; the others stay as they were."""
    warnings.simplefilter("ignore")
    words = sys.argv[1 : next((i for i, word in enumerate(sys.argv) if word.startswith("--")), None)]
    numbers = [int(word) for word in words] or range(1, len(SECTIONS) + 1)
    for number in numbers:
        name = list(SECTIONS)[number - 1]
        written = SECTIONS[name]() + f"\n\nSection {number}. {provenance()}\n\n"
        parts = published() | {name: written}  # read after the section ran: another process may have written others
        body = "".join(f"## {one}\n\n{parts[one].strip()}\n\n" for one in SECTIONS if one in parts)
        publish(NAME, f"{TITLE}\n\n{INTRODUCTION}\n\n{body}")


INTRODUCTION = (
    "Scores are 2 Σ ε_i − (n − 1) I(X; Λ) in nats: the sum of all errors up to a constant that no latent changes. Lower is "
    "more natural, a constant latent has 0. Means over seeds from 10 on with their range, five unless the command says "
    "otherwise; settings were chosen on seeds 0 to 2. Latents that networks of others learn (VAE, GK-VAE, DVSIB, CausalPIMA) "
    "have only the first of the seeds where the command says so, because they are slow. GK-VAE, DVSIB and IIC are "
    "reimplemented, with their formulas, in natural_learned_peers.py. All scores are of rows that trained nothing; every "
    "latent is scored by students fitted to the training rows (the best of logistic, kernel, boosted trees and networks, "
    "chosen within the training rows), the learned one by its own."
)


if __name__ == "__main__":
    main()
