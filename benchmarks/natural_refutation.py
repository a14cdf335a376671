"""Tests of independence given a continuous or discrete latent: how often they reject, when they should and should not."""

from __future__ import annotations

import sys
import time

import numpy as np

from latentry.natural.from_samples.independence_tests import neighbour_test, projection_test, residual_test

from common import provenance, publish, table

RUNS, ROWS, LEVEL = 80, 500, 0.1


def normal(rng: np.random.Generator) -> np.ndarray:
    return rng.standard_normal((ROWS, 1))


def smooth(rng, extra):
    """Views that bend Λ differently; `extra` is what they share beside it."""
    z, shared = normal(rng), normal(rng)
    x = np.sin(2 * z) + 0.5 * normal(rng) + extra * shared
    return x, z**2 + 0.5 * normal(rng) + extra * shared, z, None


def wavy(rng, extra):
    """Views that swing several times over the range of Λ."""
    z, shared = normal(rng), normal(rng)
    x = np.sin(5 * z) + 0.3 * normal(rng) + 0.6 * extra * shared
    return x, np.cos(4 * z) + np.abs(z) + 0.3 * normal(rng) + 0.6 * extra * shared, z, None


def crossed(rng, extra):
    """A latent of two columns that act together."""
    z, shared = rng.standard_normal((ROWS, 2)), normal(rng)
    x = np.sin(2 * z[:, :1]) * z[:, 1:] + 0.5 * normal(rng) + extra * shared
    return x, z[:, :1] * z[:, 1:] + z[:, :1] ** 2 + 0.5 * normal(rng) + extra * shared, z, None


def scaled(rng, extra):
    """Noise whose size depends on Λ."""
    z, shared = normal(rng), normal(rng)
    width = 0.3 + np.abs(z)
    return z + width * (normal(rng) + extra * shared), np.tanh(z) + width * (normal(rng) + extra * shared), z, None


def square(rng, extra):
    """Dependence that no residual correlation shows."""
    z, shared = normal(rng), normal(rng)
    return z + 0.7 * normal(rng) + extra * shared, z + 0.7 * normal(rng) + extra * shared**2, z, None


def mixed(rng, extra):
    """A latent with three values."""
    z, shared = rng.integers(0, 3, ROWS), normal(rng)
    centre = z[:, None] - 1.0
    return centre + normal(rng) + extra * shared, centre**2 + normal(rng) + extra * shared, np.eye(3)[z], z


CASES = {
    "bent views": smooth,
    "wavy views": wavy,
    "two columns together": crossed,
    "noise that scales": scaled,
    "quadratic": square,
    "three values": mixed,
}


def main() -> None:
    start, rows = time.perf_counter(), []
    for name, draw in CASES.items():
        for extra in (0.0, 0.5):
            rejected = np.zeros(3, dtype=int)
            for seed in range(RUNS):
                x, y, z, strata = draw(np.random.default_rng(seed), extra)
                residual = residual_test(x, y, z, seed=seed).p_value
                neighbour = neighbour_test(x, y, z, strata=strata, draws=39, seed=seed).p_value
                rejected += [residual <= LEVEL, neighbour <= LEVEL, 2 * min(residual, neighbour) <= LEVEL]
            kind = "independent given Λ" if extra == 0 else "dependent"
            rows.append([name, kind, *(f"{r / RUNS:.2f}" for r in rejected)])
    publish(
        "natural_refutation",
        "\n\n".join(
            [
                f"# Refuting mediation: share of {RUNS} runs that reject at level {LEVEL}, {ROWS} rows",
                table(["law", "truth", "residuals", "neighbours", "both, shared level"], rows),
                f"A rate of {LEVEL} has a standard error of {np.sqrt(LEVEL * (1 - LEVEL) / RUNS):.2f} here. No test of this kind "
                "is valid for all continuous laws; these rows say how it goes for some.",
                f"{provenance(('latentry', 'numpy', 'scipy', 'scikit-learn'))} Seeds 0 to {RUNS - 1}; "
                f"{time.perf_counter() - start:.0f} s.",
            ]
        ),
    )


def residuals_alone(runs: int = 300) -> None:
    """The cheap test alone, with more runs and a weaker dependence."""
    start, rows = time.perf_counter(), []
    for name, draw in CASES.items():
        shares = []
        for extra in (0.0, 0.25, 0.5):
            p = [
                residual_test(*draw(np.random.default_rng(seed), extra)[:3], seed=seed).p_value for seed in range(runs)
            ]
            shares.append(f"{np.mean(np.array(p) <= LEVEL):.3f}")
        rows.append([name, *shares])
    publish(
        "natural_refutation_residuals",
        "\n\n".join(
            [
                f"# The residual test alone: share of {runs} runs that reject at level {LEVEL}, {ROWS} rows",
                table(["law", "independent given Λ", "weakly dependent (0.25)", "dependent (0.5)"], rows),
                f"A rate of {LEVEL} has a standard error of {np.sqrt(LEVEL * (1 - LEVEL) / runs):.3f} here.",
                f"{provenance(('latentry', 'numpy', 'scipy', 'scikit-learn'))} Seeds 0 to {runs - 1}; "
                f"{time.perf_counter() - start:.0f} s.",
            ]
        ),
    )


def projections_alone(runs: int = 100) -> None:
    """Learned projections alone, on seeds of their own."""
    start, rows = time.perf_counter(), []
    for name, draw in CASES.items():
        shares = []
        for extra in (0.0, 0.5):
            drawn = (draw(np.random.default_rng([9, seed]), extra)[:3] for seed in range(runs))
            p = [projection_test(*parts, seed=seed).p_value for seed, parts in enumerate(drawn)]
            shares.append(f"{np.mean(np.array(p) <= LEVEL):.2f}")
        rows.append([name, *shares])
    publish(
        "natural_refutation_projections",
        "\n\n".join(
            [
                f"# Learned projections (PCM) alone: fraction of {runs} runs that reject at level {LEVEL}, {ROWS} rows",
                table(["distribution", "independent given Λ", "dependent (0.5)"], rows),
                f"A rate of {LEVEL} has a standard error of {np.sqrt(LEVEL * (1 - LEVEL) / runs):.2f} here. The mean over splits "
                "makes the test reject less often than its level.",
                f"{provenance(('latentry', 'numpy', 'scipy', 'scikit-learn'))} Seeds [9, 0] to [9, {runs - 1}]; "
                f"{time.perf_counter() - start:.0f} s.",
            ]
        ),
    )


if __name__ == "__main__":
    if "--projections" in sys.argv:
        projections_alone()
    else:
        residuals_alone() if "--residuals" in sys.argv else main()
