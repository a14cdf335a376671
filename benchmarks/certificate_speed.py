"""How long a certificate takes, how that grows, and whether its bounds are as tight as before.

Every number stands beside that of an earlier commit, which is unpacked into a temporary folder and run in turn with this
one, on the same machine and in the same minutes. Parts can be run alone: `--only embedding`, `rows`, `columns`, `domains`,
`bounds`; measurements are kept in a file of JSON lines, and `--fresh` begins anew.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from common import HERE, growth_panels, provenance, publish, table

BEFORE = "6609b9a"
LOOPS = 4
PATIENCE = 400  # seconds, after which a run is stopped and counted as longer
ROWS = (1_000, 10_000, 1_000_000)
COLUMNS = ((6, 5), (30, 30), (200, 200))
DOMAINS = (1, 3, 6, 12)
SEEDS = range(3)
KEPT = HERE / ".data" / "certificate_speed.jsonl"
PICTURE = HERE.parent / "docs" / "pictures" / "growth-certificate.svg"


def world(rows: int, left: int, right: int, domains: int, seed: int):
    """Two bent views of two hidden numbers, and an embedding that nearly holds them."""
    import latentry as lt

    rng = np.random.default_rng(seed)
    z = rng.normal(size=(rows, 2))
    views = [np.tanh(z @ rng.normal(size=(2, d))) + 0.05 * rng.normal(size=(rows, d)) for d in (left, right)]
    place = rng.integers(0, domains, rows) if domains > 1 else None
    return lt.Dataset({"left": views[0], "right": views[1]}, domain=place), z + 0.05 * rng.normal(size=z.shape)


def timed(rows: int, left: int, right: int, domains: int, seed: int) -> dict:
    """Wall and processor seconds of one certificate, imports not counted."""
    import latentry as lt

    data, latents = world(rows, left, right, domains, seed)
    certify = lt.certify  # rooms are imported when their first name is asked for
    wall, processor = time.perf_counter(), time.process_time()
    certify(latents, data)
    return {"wall": time.perf_counter() - wall, "processor": time.process_time() - processor}


def bounds(case: str, seed: int) -> dict:
    """Upper bounds of the redundancy errors of a case."""
    import latentry as lt

    data, latents, options = CASES[case](seed)
    start = time.process_time()
    found = lt.certify(latents, data, seed=seed, only=["natural"], epsilon=0.1, **options)
    numbers = {name: float(bound.value) for name, bound in found["natural"].numbers.items() if name.endswith("upper")}
    return {"bounds": numbers, "processor": time.process_time() - start}


def _halves(loader: str, seed: int, latents=None):
    from sklearn import datasets

    x, y = getattr(datasets, f"load_{loader}")(return_X_y=True)
    order = np.random.default_rng(seed).permutation(len(x))
    x, y = x[order].astype(float), y[order]
    half = x.shape[1] // 2
    return {"first": x[:, :half], "second": x[:, half:]}, y if latents is None else latents(x), {}


def _components(x: np.ndarray) -> np.ndarray:
    from sklearn.decomposition import PCA

    return PCA(2).fit_transform((x - x.mean(axis=0)) / np.maximum(x.std(axis=0), 1e-9))


def _soft(seed: int):
    from scipy.special import softmax

    from latentry.data import CategoricalChannel

    data, z = world(1500, 6, 5, 2, seed)
    return data, CategoricalChannel(softmax(3 * np.column_stack([z, -z.sum(axis=1)]), axis=1)), {}


def _lattices(seed: int, factor: str):
    import latentry as lt

    data = lt.generators.lattices(rows=1200, labs=2, seed=seed)
    return data, data.factors[factor], {}


CASES = {
    "embedding, 3 domains": lambda seed: (*world(1500, 6, 5, 3, seed), {}),
    "soft labels, 2 domains": _soft,
    "lattice type, 2 laboratories": lambda seed: _lattices(seed, "lattice"),
    "profile, 2 laboratories": lambda seed: _lattices(seed, "profile"),
    "digits, labels": lambda seed: _halves("digits", seed),
    "digits, two components": lambda seed: _halves("digits", seed, _components),
    "wine, labels": lambda seed: _halves("wine", seed),
    "wine, two components": lambda seed: _halves("wine", seed, _components),
}


@contextmanager
def busy(count: int) -> Iterator[None]:
    """So many loops that do nothing, on all cores."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


class Bench:
    """Runs questions in both states, and keeps the answers."""

    def __init__(self, before: Path) -> None:
        self._states = {"before": before / "src", "now": HERE.parent / "src"}
        KEPT.parent.mkdir(exist_ok=True)
        lines = KEPT.read_text().splitlines() if KEPT.exists() else []
        self.answers = {tuple(line["key"]): line["answer"] for line in map(json.loads, lines)}

    def ask(self, *question: object, where: str = "one core") -> dict[str, dict]:
        """The answers of both states: pinned to one core, on all of them, or beside busy loops."""
        return {state: self.one(state, where, *question) for state in self._states}

    def one(self, state: str, where: str, *question: object) -> dict:
        """The answer of one state."""
        key = (state, where, *map(str, question))
        if key not in self.answers:
            self.answers[key] = self._run(state, where, key[2:])
            with KEPT.open("a") as file:
                file.write(json.dumps({"key": key, "answer": self.answers[key]}) + "\n")
            print(*key, {k: v for k, v in self.answers[key].items() if k != "bounds"}, flush=True)
        return self.answers[key]

    def _run(self, state: str, where: str, question: tuple[str, ...]) -> dict:
        command = [sys.executable, __file__, "--worker", *question]
        pin = ["taskset", "-c", str(min(os.sched_getaffinity(0)))] if where == "one core" else []
        env = {**os.environ, "PYTHONPATH": str(self._states[state])}
        with busy(LOOPS if where == "busy" else 0):
            try:
                out = subprocess.run([*pin, *command], env=env, capture_output=True, text=True, timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                return {"wall": float(PATIENCE), "processor": float("nan"), "stopped": True}
        if out.returncode:
            raise SystemExit(out.stderr)
        return json.loads(out.stdout.splitlines()[-1])


def work(kind: str, *arguments: str) -> None:
    """One question, asked in the state that PYTHONPATH names."""
    found = timed(*map(int, arguments)) if kind == "timed" else bounds(arguments[0], int(arguments[1]))
    print(json.dumps(found))


def _pair(answers: dict[str, dict], unit: str) -> list[str]:
    before, now = answers["before"], answers["now"]
    return [f"{before[unit]:.1f}", f"{now[unit]:.1f}", f"{before[unit] / now[unit]:.1f}"]


def _times(before: dict | None, now: dict) -> list[str]:
    """Wall before, now and their ratio, then processor before and now."""
    wall, processor = f"{now['wall']:.1f}", f"{now['processor']:.1f}"
    if before is None:
        return ["not run", wall, "", "not run", processor]
    if before.get("stopped"):
        return [f"> {PATIENCE}, stopped", wall, f"> {PATIENCE / now['wall']:.0f}", "stopped", processor]
    return [
        f"{before['wall']:.1f}",
        wall,
        f"{before['wall'] / now['wall']:.1f}",
        f"{before['processor']:.1f}",
        processor,
    ]


def embedding(bench: Bench) -> str:
    where = {"one core": "pinned to one core", "quiet": "all cores", "busy": f"all cores, beside {LOOPS} busy loops"}
    lines = []
    for place, words in where.items():
        now = bench.one("now", place, "timed", 3000, 6, 5, 3, 0)
        stopped = any(
            line[1].startswith(">") for line in lines
        )  # what was too slow alone is not run beside other programs
        before = None if stopped else bench.one("before", place, "timed", 3000, 6, 5, 3, 0)
        lines.append([words, *_times(before, now)])
    head = ["3,000 rows × (6 + 5) columns, 3 domains", "wall, before", "wall, now", "ratio", "processor, before", "now"]
    return table(head, lines)


def _grown(bench: Bench, head: str, cases: dict[str, tuple[int, ...]]) -> str:
    lines = [[name, *_pair(bench.ask("timed", *case), "processor")] for name, case in cases.items()]
    return table([head, "before", "now", "ratio"], lines)


def rows_cases() -> dict[str, tuple[int, ...]]:
    return {f"{rows:,}": (rows, 10, 10, 3, 0) for rows in ROWS}


def column_cases() -> dict[str, tuple[int, ...]]:
    return {f"{a} + {b}": (3000, a, b, 3, 0) for a, b in COLUMNS}


def domain_cases() -> dict[str, tuple[int, ...]]:
    return {str(domains): (3000, 6, 5, domains, 0) for domains in DOMAINS}


def tightness(bench: Bench) -> str:
    lines, every = [], []
    for case in CASES:
        changes, seconds = [], []
        for seed in SEEDS:
            answers = bench.ask("bounds", case, seed)
            old, new = answers["before"]["bounds"], answers["now"]["bounds"]
            changes += [
                new[name] / old[name] - 1 for name in old if "redundancy" in name and name in new and old[name] > 0
            ]
            seconds.append([answers[state]["processor"] for state in ("before", "now")])
        every += changes
        took = np.mean(seconds, axis=0)
        lines.append([case, len(changes), f"{np.mean(changes):+.1%}", f"{min(changes):+.0%} to {max(changes):+.0%}",
                      f"{took[0]:.1f}", f"{took[1]:.1f}"])  # fmt: skip
    lines.append(["all", len(every), f"{np.mean(every):+.1%}", f"{min(every):+.0%} to {max(every):+.0%}", "", ""])
    return table(["case", "bounds", "mean change", "range", "processor, before", "now"], lines)


def picture(bench: Bench) -> None:
    """Processor seconds against rows, columns and domains, before and now, on logarithmic axes."""
    panels = {
        "rows": (rows_cases(), ROWS),
        "columns": (column_cases(), [a + b for a, b in COLUMNS]),
        "domains": (domain_cases(), DOMAINS),
    }
    found = {
        name: {
            size: {state: bench.ask("timed", *case)[state]["processor"] for state in ("before", "now")}
            for size, case in zip(sizes, cases.values(), strict=True)
        }
        for name, (cases, sizes) in panels.items()
    }
    PICTURE.write_text(growth_panels(found, "Processor seconds of a certificate, before and now"))


PARTS = {
    "embedding": embedding,
    "rows": lambda bench: _grown(bench, "rows (× 20 columns, 3 domains)", rows_cases()),
    "columns": lambda bench: _grown(bench, "columns (× 3,000 rows, 3 domains)", column_cases()),
    "domains": lambda bench: _grown(bench, "domains (× 3,000 rows × (6 + 5) columns)", domain_cases()),
    "bounds": tightness,
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", choices=[*PARTS], default=None)
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--worker", nargs="+", default=None, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(*options.worker)
        return
    if options.fresh:
        KEPT.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        packed = subprocess.run(["git", "archive", BEFORE], cwd=HERE.parent, check=True, capture_output=True).stdout
        subprocess.run(["tar", "x", "-C", folder], input=packed, check=True)
        bench = Bench(Path(folder))
        if options.only:
            print(PARTS[options.only](bench))
            return
        found = {name: make(bench) for name, make in PARTS.items()}
        picture(bench)
    publish(
        "certificate_speed",
        f"# Time of a certificate, before (commit {BEFORE}) and now\n\n"
        "Seconds; each run in a process of its own, imports not counted. Answers are kept between calls of this script, so that\n"
        "the two states of a line may be minutes apart. Other programs ran on the same machine all the while, at times on the\n"
        "same core: wall times are long, and processor times say more.\n\n"
        f"{found['embedding']}\n\nGrowth, processor seconds pinned to one core:\n\n{found['rows']}\n\n{found['columns']}\n\n"
        f"{found['domains']}\n\n![growth](../../docs/pictures/growth-certificate.svg)\n\n"
        f"Upper bounds of redundancy errors, seeds {min(SEEDS)} to {max(SEEDS)}: the change of each bound, as a fraction "
        f"of what it was (negative: tighter). The split of the rows differs too, so that single bounds move by chance. "
        "Three of the old bounds of the digits' components were beyond 10⁴⁶ (a student that extrapolated) and count as −100 %.\n\n"
        f"{found['bounds']}\n\n" + provenance(("latentry", "numpy", "scipy", "scikit-learn")),
    )


if __name__ == "__main__":
    main()
