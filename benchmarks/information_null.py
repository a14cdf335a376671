"""Are permutation p-values uniform when there is nothing to find?

    .venv/bin/python benchmarks/information_null.py [--draws 1000]

Writes benchmarks/results/information_null.md: the share of p-values up to α for independent pairs, and what chance allows.
"""

import argparse
import platform

import numpy as np
from scipy import stats

from information_peers import HERE
from latentry.information import independence_test

LEVELS = (0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9)
PERMUTATIONS = 99
ROWS = 60


def normal(rng):
    return rng.standard_normal((2, ROWS, 1))


def heavy(rng):
    return rng.standard_cauchy((2, ROWS, 1))


def several(rng):
    return rng.standard_normal((ROWS, 2)), np.exp(rng.standard_normal((ROWS, 3)))


def labels(rng):
    return rng.standard_normal((ROWS, 1)), rng.integers(0, 3, ROWS)


CASES = {
    "normal 1+1, ksg": (normal, "ksg"),
    "Cauchy 1+1, ksg": (heavy, "ksg"),
    "normal 2 + lognormal 3, ksg": (several, "ksg"),
    "normal 1 + three labels, mixed": (labels, "mixed"),
    "normal 1+1, gaussian": (normal, "gaussian"),
}


def p_values(case, draws):
    make, estimator = CASES[case]
    rng = np.random.default_rng(1)
    found = [
        independence_test(*make(rng), estimator=estimator, permutations=PERMUTATIONS, seed=i).p_value
        for i in range(draws)
    ]
    return np.array(found)


def row(case, p):
    shares = [f"{np.mean(p <= level + 1e-9):.3f}" for level in LEVELS]
    # p takes the values 1/100, ..., 1: made continuous by a uniform within each step, so that the test of fit is exact
    smooth = p - np.random.default_rng(2).uniform(0, 1 / (PERMUTATIONS + 1), len(p))
    return f"| {case} | " + " | ".join(shares) + f" | {stats.kstest(smooth, 'uniform').pvalue:.2f} |"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=1000)
    draws = parser.parse_args().draws
    lines = []
    for case in CASES:
        lines.append(row(case, p_values(case, draws)))
        print(lines[-1], flush=True)
    reach = [f"{level} ± {1.96 * np.sqrt(level * (1 - level) / draws):.3f}" for level in LEVELS]
    text = f"""# Permutation p-values of independent pairs

`python benchmarks/information_null.py --draws {draws}`; {ROWS} rows a draw, {PERMUTATIONS} permutations,
p = (1 + b) / (1 + B), Python {platform.python_version()}. Share of p-values up to each level; the last column is the p-value of a
Kolmogorov–Smirnov test of uniformity.

| case | {" | ".join(map(str, LEVELS))} | uniform? |
|---|{"---|" * (len(LEVELS) + 1)}
| *expected, 95 % range* | {" | ".join(reach)} | |
{chr(10).join(lines)}
"""
    (HERE / "results" / "information_null.md").write_text(text)


if __name__ == "__main__":
    main()
