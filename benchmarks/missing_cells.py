"""Missing cells of small tables: filled in on rows that no fit saw, against column means and scikit-learn's IterativeImputer."""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import jax
import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer

import latentry as lt
from latentry.models.networks import losses
from latentry.models.vae import estimator

from common import provenance, publish, table

CHOOSING, SEEDS = (100, 101), (0, 1, 2, 3, 4)
GONE, NEW = 0.2, 0.25  # fractions of missing cells, and of rows that no fit sees
VARIANTS = {  # whether encoders see which cells are missing, and the fraction of cells hidden from them in training
    "zeros": (False, 0.0),
    "zeros, cells hidden": (False, 0.2),
    "mask": (True, 0.0),
    "mask, cells hidden": (True, 0.2),
}


_HEAD = """\
{gone:.0%} of the cells of each table are hidden at random, in all rows. Models are fitted to {old:.0%} of the rows and fill in
the others, which they have not seen. Numbers are root mean squares over the hidden cells of those rows, in standard deviations
of the columns; mean ± standard error over seeds {seeds}."""
_CHOICE = """\
How encoders see missing cells was chosen on other seeds ({seeds}): zeros in their place, or zeros and the mask as further
input; and whether a fifth of the cells that were measured are hidden from the encoder in training, though they must still be
explained. latentry does the last: hiding cells helps, and the mask makes no difference beyond chance."""


def tables() -> dict[str, np.ndarray]:
    """Return tables of real measurements that scikit-learn ships, and penguins where they are installed."""
    made = {
        "iris": load_iris().data,
        "wine": load_wine().data,
        "diabetes": load_diabetes().data,
        "breast cancer, means": load_breast_cancer().data[:, :10],
    }
    try:
        made["penguins"] = np.asarray(lt.datasets.penguins()["x"])
    except lt.LatentryError:
        print("penguins are not installed here")
    return made


def holed(whole: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return columns of unit spread, which cells are hidden, and which rows are new; no row loses everything."""
    rng = np.random.default_rng(seed)
    scaled = (whole - whole.mean(axis=0)) / whole.std(axis=0)
    gone = rng.random(whole.shape) < GONE
    full = np.flatnonzero(gone.all(axis=1))
    gone[full, rng.integers(0, whole.shape[1], len(full))] = False
    new = rng.permutation(len(whole)) < round(NEW * len(whole))
    return scaled, gone, new


@contextmanager
def variant(masked: bool, hidden: float) -> Iterator[None]:
    """Fit in another way than latentry does: for the choice between ways only."""
    before, observe = losses.HIDDEN_CELLS, estimator.observe
    losses.HIDDEN_CELLS = hidden
    if not masked:
        estimator.observe = lambda *given: replace(observe(*given), partial=())
    jax.clear_caches()  # programs with the other constant in them
    try:
        yield
    finally:
        losses.HIDDEN_CELLS, estimator.observe = before, observe
        jax.clear_caches()


def by_model(known: np.ndarray, new: np.ndarray, seed: int) -> np.ndarray:
    """Fill in new rows with a VAE of the other rows."""
    latents = max(2, min(5, known.shape[1] // 3))
    model = lt.VAE(latent_dim=latents, epochs=300, batch_size=32, seed=seed, progress=False)
    return model.fit(known[~new]).impute(known[new])


def by_regression(known: np.ndarray, new: np.ndarray, seed: int) -> np.ndarray:
    """Fill in new rows with regressions of each column on the others."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it has not converged
        return IterativeImputer(max_iter=30, random_state=seed).fit(known[~new]).transform(known[new])


def by_means(known: np.ndarray, new: np.ndarray, seed: int) -> np.ndarray:
    """Fill in column means."""
    return np.where(np.isnan(known[new]), np.nanmean(known[~new], axis=0), known[new])


def error(method: Callable[[np.ndarray, np.ndarray, int], np.ndarray], whole: np.ndarray, seed: int) -> float:
    """Return the root mean square over hidden cells of new rows, in standard deviations of the columns."""
    scaled, gone, new = holed(whole, seed)
    filled = method(np.where(gone, np.nan, scaled), new, seed)
    return float(np.sqrt(((filled - scaled[new])[gone[new]] ** 2).mean()))


def spread(values: list[float]) -> str:
    """Mean and standard error."""
    return f"{np.mean(values):.3f} ± {np.std(values, ddof=1) / math.sqrt(len(values)):.3f}"


def choose(data: dict[str, np.ndarray]) -> dict[str, dict[str, list[float]]]:
    """Return the errors of every way, by table, on seeds that are not published as results."""
    found = {}
    for name, setting in VARIANTS.items():
        with variant(*setting):
            found[name] = {one: [error(by_model, whole, seed) for seed in CHOOSING] for one, whole in data.items()}
        print(name, {one: round(float(np.mean(v)), 3) for one, v in found[name].items()}, flush=True)
    return found


def compare(data: dict[str, np.ndarray]) -> dict[str, list[list[float]]]:
    """Return the errors of each method, by table."""
    found = {}
    for one, whole in data.items():
        found[one] = [[error(method, whole, seed) for seed in SEEDS] for method in (by_means, by_regression, by_model)]
        print(one, [round(float(np.mean(v)), 3) for v in found[one]], flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--part", choices=("choose", "compare"), help="one part only, kept for the other")
    part, kept = parser.parse_args().part, Path(tempfile.gettempdir()) / "missing_cells.json"
    results = json.loads(kept.read_text()) if part and kept.exists() else {}
    data = tables()
    for name, work in (("choose", choose), ("compare", compare)):
        if part in (None, name):
            results[name] = work(data)
    kept.write_text(json.dumps(results))
    if len(results) == 2:
        publish("missing_cells", page(data, **results))


def page(
    data: dict[str, np.ndarray], choose: dict[str, dict[str, list[float]]], compare: dict[str, list[list[float]]]
) -> str:
    """Return the tables in words."""
    chosen = [[one, *(f"{np.mean(choose[name][one]):.3f}" for name in VARIANTS)] for one in data]
    means = (np.mean([value for errors in choose[name].values() for value in errors]) for name in VARIANTS)
    chosen.append(["mean", *(f"{mean:.3f}" for mean in means)])
    fresh = [[one, f"{whole.shape[0]} × {whole.shape[1]}", *map(spread, compare[one])] for one, whole in data.items()]
    parts = [
        "# Missing cells",
        _HEAD.format(gone=GONE, old=1 - NEW, seeds=", ".join(map(str, SEEDS))),
        table(["table", "size", "column means", "IterativeImputer (Bayesian ridge)", "VAE, 300 epochs"], fresh),
        _CHOICE.format(seeds=", ".join(map(str, CHOOSING))),
        table(["table", *VARIANTS], chosen),
        provenance(("latentry", "jax", "numpy", "scikit-learn")),
    ]
    return "\n\n".join(parts)


if __name__ == "__main__":
    main()
