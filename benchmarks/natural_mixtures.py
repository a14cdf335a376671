"""How often does a stationary mixture hide the mediation errors of its domains?"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq

from latentry.generators import random_family
from latentry.natural import Family

from common import provenance, publish, table

COUNT, GRID = 1500, np.linspace(1e-4, 1 - 1e-4, 400)


def stationary_points(family: Family) -> list[tuple[float, bool]]:
    """Interior weights of the first domain where M is stationary, and whether each is a minimum."""

    def slope(first: float) -> float:
        gradient = family.mediation_gradient(np.array([first, 1 - first]))
        return float(gradient[0] - gradient[1])

    values = np.array([slope(a) for a in GRID])
    turns = np.flatnonzero(values[:-1] * values[1:] < 0)
    return [(brentq(slope, GRID[i], GRID[i + 1]), values[i] < 0) for i in turns]


def main() -> None:
    counts = {True: np.zeros(4, dtype=int), False: np.zeros(4, dtype=int)}
    redundancy_fails, largest = 0, 0.0
    for seed in range(COUNT):
        drawn = random_family((2, 2), 2, 2, seed)
        family = Family(drawn.laws, drawn.channel)
        corners = np.array([float(family.mediation(e)) for e in np.eye(2)])
        for first, minimum in stationary_points(family):
            alpha = np.array([first, 1 - first])
            pooled = float(family.mediation(alpha))
            average = float(alpha @ corners)
            counts[minimum] += [
                1,
                average > pooled + 1e-12,
                (corners > pooled / alpha + 1e-12).any(),
                (corners > family.mediation_ceiling(alpha) + 1e-12).any(),
            ]
            largest = max(largest, average / max(pooled, 1e-12))
            for i in range(2):
                inside = np.array([float(family.redundancy([i], e)) for e in np.eye(2)])
                redundancy_fails += bool((inside > family.redundancy_gradient([i], alpha) + 1e-12).any())
    header = ["stationary points", "found", "Σ α_j M_j > M(α)", "some M_j > M(α)/α_j", "some M_j > corrected bound"]
    rows = [[name, *counts[kind]] for name, kind in (("local minima", True), ("local maxima", False))]
    rows.append(["all", *(counts[True] + counts[False])])
    publish(
        "natural_mixtures",
        "\n\n".join(
            [
                f"# Stationary mixtures of {COUNT} random pairs of laws (two bits, two latent values)",
                table(header, rows),
                f"Largest Σ α_j M_j / M(α) at a stationary point: {largest:.1g}. The redundancy bound ε_i^j ≤ d_j(α) failed "
                f"{redundancy_fails} times.",
                f"{provenance(('latentry', 'numpy', 'scipy'))} Seeds 0 to {COUNT - 1}.",
            ]
        ),
    )


if __name__ == "__main__":
    main()
