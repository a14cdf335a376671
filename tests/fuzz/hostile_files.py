"""Read mutated files of every kind, count what happens, and write benchmarks/results/hostile_files.md (make fuzz).

A child process reads one batch after another with limits of memory and time; a batch that ends the child is a crash. The last
argument may be a fraction of the tries.
"""

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden"
TRIES = {
    "npz": 25_000,
    "npy": 26_000,
    "csv": 31_000,
    "parquet": 5_500,
    "zarr": 400,
    "h5ad": 150,
    "history": 2_000,
    "manifest, fields": 3_000,
    "run folder": 1_000,
    "certificate": 3_000,
    "certificate, fields": 3_000,
}
BATCH = 250
SECONDS = 60  # for one input
MEMORY = 12 << 30  # address space of a child: that of Python with JAX, and what a small file may ask for
HANG = "hang"
WORDS = ("refused with a sentence", "read, same content", "read, other content", "bare traceback", HANG, "memory")


CHECKED = ("npz", "parquet", "zarr", "run folder", "certificate")  # carry checksums, and nobody forged them


class TooLong(BaseException):
    """One input took too long."""


def flipped(content, draw):
    """Bytes with one to four of: a bit flipped, a byte set, a piece cut, doubled, or overwritten with a hostile one."""
    content = bytearray(content)
    for _ in range(draw.choice([1, 1, 1, 2, 4])):
        if not content:
            break
        place = draw.randrange(len(content))
        kind = draw.randrange(6)
        if kind == 0:
            content[place] ^= 1 << draw.randrange(8)
        elif kind == 1:
            content[place] = draw.randrange(256)
        elif kind == 2:
            del content[place : place + draw.choice([1, 4, 64, 10**9])]
        elif kind == 3:
            content[place:place] = content[place : place + draw.randrange(64)]
        elif kind == 4:
            content[place : place + 8] = draw.choice([b"\xff" * 8, bytes(8), b"\x7f" + b"\xff" * 7])
        else:
            content[place : place + 3] = draw.choice(
                [b"NaN", b"1e9", b"-1 ", b"[[[", b'"",', b"{}}", b"\x00\x00\x00", b"999"]
            )
    return bytes(content)


def nested(levels):
    return json.loads("[" * levels + "]" * levels)


def other(document, draw):
    """Plain data with one value replaced, one name gone, or one name new."""
    path, place = [], document
    while isinstance(place, (dict, list)) and place and (not path or draw.random() < 0.85):
        path.append(draw.choice(list(place)) if isinstance(place, dict) else draw.randrange(len(place)))
        place = place[path[-1]]
    document = json.loads(json.dumps(document))
    inner = document
    for part in path[:-1]:
        inner = inner[part]
    values = [
        None,
        True,
        -1,
        0,
        0.5,
        2**40,
        10**30,
        1e308,
        "",
        "x",
        "inf",
        [],
        {},
        [1],
        {"a": 1},
        nested(40),
        nested(400),
    ]
    if draw.random() < 0.15 and isinstance(inner, dict):
        inner.pop(path[-1])
    elif draw.random() < 0.05 and isinstance(inner, dict):
        inner["another"] = draw.choice(values)
    else:
        inner[path[-1]] = draw.choice(values)
    return document


def plain(content):
    """The JSON in some bytes, or None; what JSON does not know, such as NaN, is none."""
    try:
        document = json.loads(content, parse_constant=lambda word: 1 / 0)
        json.dumps(document, allow_nan=False)
    except (ValueError, ZeroDivisionError, RecursionError):
        return None
    return document


def without_checksum(document):
    return {name: part for name, part in document.items() if name != "checksum"}


# Each kind: what it begins with, and how one mutated input is read; what is read is compared by its text. ---------------------


class JsonText:
    def __init__(self, folder):
        self.content = (GOLDEN / newest() / "VAE.json").read_bytes()
        self.path = folder / "c.json"

    def mutate(self, draw):
        self.place(flipped(self.content, draw))

    def seed(self):
        return self.content

    def place(self, content):
        self.path.write_bytes(content)

    def read(self):
        import latentry as lt

        return json.dumps(lt.Certificate.from_json(self.path).to_dict(), sort_keys=True)

    def whole(self):
        self.path.write_bytes(self.content)
        return self.read()


class SealedFields(JsonText):
    """A forger's certificate: fields are replaced, and the checksum is made to fit."""

    def mutate(self, draw):
        from latentry.certificate.schema import sealed

        fields = other(without_checksum(json.loads(self.content)), draw)
        self.path.write_text(json.dumps(sealed(fields)))

    def place(self, content):
        from latentry.certificate.schema import sealed

        document = plain(content)
        forged = isinstance(document, dict)
        self.path.write_bytes(json.dumps(sealed(without_checksum(document))).encode() if forged else content)


class Run:
    def __init__(self, folder):
        self.source, self.path = GOLDEN / newest() / "VAE", folder / "run"

    def mutate(self, draw):
        shutil.rmtree(self.path, ignore_errors=True)
        shutil.copytree(self.source, self.path)
        part = draw.choice(sorted(self.path.iterdir()))
        part.write_bytes(flipped(part.read_bytes(), draw))

    def read(self):
        import latentry as lt

        model = lt.load(self.path)
        return repr((model, model.record_.to_json(), sorted(lt.training.read_run(self.path).weights)))

    def whole(self):
        shutil.copytree(self.source, self.path, dirs_exist_ok=True)
        return self.read()


class Manifest(Run):
    """A forger's manifest: fields are replaced, and the checksums are made to fit."""

    def mutate(self, draw):
        from latentry.training.checkpoint import canonical, sha256

        shutil.copytree(self.source, self.path, dirs_exist_ok=True)
        manifest = json.loads((self.source / "manifest.json").read_bytes())
        changed = other(without_checksum(manifest), draw)
        changed["checksum"] = sha256(canonical(changed))
        (self.path / "manifest.json").write_text(json.dumps(changed))

    def seed(self):
        return (self.source / "manifest.json").read_bytes()

    def place(self, content):
        from latentry.training.checkpoint import canonical, sha256

        document = plain(content)
        if isinstance(document, dict):
            document = without_checksum(document)
            content = json.dumps({**document, "checksum": sha256(canonical(document))}).encode()
        (self.path / "manifest.json").write_bytes(content)


class HistoryLines(Run):
    """A forger's history: lines are replaced, and the checksums are made to fit."""

    def mutate(self, draw):
        from latentry.training.checkpoint import canonical, sha256, versioned

        shutil.rmtree(self.path, ignore_errors=True)
        shutil.copytree(self.source, self.path)
        manifest = json.loads((self.source / "manifest.json").read_bytes())
        line = (self.source / manifest["files"]["history.jsonl"]).read_bytes()
        if draw.random() < 0.5:
            line = flipped(line, draw)
        else:
            line = json.dumps(other(json.loads(line.splitlines()[0]), draw)).encode() + b"\n"
        manifest["checksums"]["history.jsonl"] = sha256(line)
        manifest["files"]["history.jsonl"] = versioned("history.jsonl", sha256(line))
        (self.path / manifest["files"]["history.jsonl"]).write_bytes(line)
        del manifest["checksum"]
        manifest["checksum"] = sha256(canonical(manifest))
        (self.path / "manifest.json").write_text(json.dumps(manifest))

    def read(self):
        import latentry as lt

        return repr([dict(row) for row in lt.training.read_run(self.path).history])


class Data:
    ending = ""

    def __init__(self, folder):
        import numpy as np

        import latentry as lt

        rng = np.random.default_rng(0)
        self.path = folder / f"data{self.ending}"
        named = {"domain": ["p", "q"] * 20, "factors": {"age": rng.normal(size=40)}}
        several = self.ending in (".npz", ".parquet", ".zarr", ".csv")
        values = {"x": rng.normal(size=(40, 3))} | ({"y": rng.integers(0, 9, (40, 2))} if several else {})
        data = lt.Dataset(values) if self.ending == ".npy" else lt.Dataset(values, **named)
        data.write(self.path)
        self.content = None if self.path.is_dir() else self.path.read_bytes()

    def mutate(self, draw):
        self.place(flipped(self.content, draw))

    def seed(self):
        return self.content

    def place(self, content):
        self.path.write_bytes(content)

    def read(self):
        import numpy as np

        import latentry as lt
        from latentry.data import survey

        survey(self.path)  # as latentry info looks at it
        data = lt.read(self.path)
        arrays = [(name, np.asarray(data[name]).tolist(), data.observed[name].tolist()) for name in data.names]
        domain = None if data.domain is None else (data.domain.values.tolist(), data.domain.labels)
        return repr(
            (arrays, domain, {name: one.tolist() for name, one in data.factors.items()}, data.rows, data.columns)
        )

    def whole(self):
        return self.read()


class Store(Data):
    """A folder: one of its files is changed, or gone."""

    ending = ".zarr"

    def __init__(self, folder):
        super().__init__(folder)
        self.source = folder / "whole.zarr"
        shutil.copytree(self.path, self.source)

    def mutate(self, draw):
        shutil.rmtree(self.path)
        shutil.copytree(self.source, self.path)
        part = draw.choice(sorted(one for one in self.path.rglob("*") if one.is_file()))
        if draw.random() < 0.1:
            part.unlink()
        else:
            part.write_bytes(flipped(part.read_bytes(), draw))


def data_of(ending):
    return type(ending, (Data,), {"ending": ending})


KINDS = {
    "certificate": JsonText,
    "certificate, fields": SealedFields,
    "manifest, fields": Manifest,
    "run folder": Run,
    "history": HistoryLines,
    **{ending: data_of(f".{ending}") for ending in ("csv", "npy", "npz", "parquet", "h5ad")},
    "zarr": Store,
}


def newest():
    return max(path.name for path in GOLDEN.glob("[0-9]*"))


def outcome(kind, expected):
    """What happened to one input."""
    import latentry as lt

    try:
        found = kind.read()
    except lt.errors.LatentryError as problem:
        return WORDS[0] if len(str(problem)) > 10 else WORDS[3]
    except TooLong:
        return HANG
    except MemoryError:
        return WORDS[5]
    except Exception as problem:
        print(f"BARE {type(problem).__name__}: {str(problem)[:200]}", file=sys.stderr)
        return WORDS[3]
    return WORDS[1] if found == expected else WORDS[2]


def wrong(name):
    """What must not happen to a kind of file; other content only where a checksum would have told."""
    return (*WORDS[3:], "crash", *([WORDS[2]] if name in CHECKED else []))


def child(name, tries, seed):
    """Read mutated inputs, and print what happened to each, one a line."""
    warnings.simplefilter("ignore")
    kind, draw = None, random.Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        kind = KINDS[name](Path(folder))
        expected = kind.whole()
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        signal.signal(signal.SIGALRM, _too_long)
        for _ in range(tries):
            kind.mutate(draw)
            signal.alarm(SECONDS)
            try:
                result = outcome(kind, expected)
            finally:
                signal.alarm(0)
            print(WORDS.index(result), flush=True)


def _too_long(number, frame):
    raise TooLong


def batches(name, tries):
    """Read a kind of file in children, which begin anew where one was ended; count what happened."""
    counts, seed, left = dict.fromkeys((*WORDS, "crash"), 0), 0, tries
    started = time.process_time(), time.monotonic()
    bare = set()
    while left > 0:
        wanted = min(left, BATCH * 40)
        command = [sys.executable, __file__, "--child", name, str(wanted), str(seed)]
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ, check=False)
        results = [int(line) for line in done.stdout.split() if line.isdigit()]
        bare |= {line for line in done.stderr.splitlines() if line.startswith("BARE")}
        for number in results:
            counts[WORDS[number]] += 1
        if len(results) < wanted:
            counts["crash"] += 1
            print(name, done.returncode, done.stderr[-600:], file=sys.stderr)
        left -= len(results) + (len(results) < wanted)
        seed += 1
    for line in sorted(bare)[:20]:
        print(name, line, file=sys.stderr)
    return counts, time.monotonic() - started[1]


def main(fraction):
    """Read a fraction of the tries of each kind; return 1 where something happened that must not."""
    rows = {}
    for name, tries in TRIES.items():
        counts, seconds = batches(name, max(1, round(tries * fraction)))
        rows[name] = counts
        print(name, counts, round(seconds, 1), flush=True)
        write(rows)  # so that a run that is stopped leaves what it counted
    return 1 if any(rows[name][word] for name in rows for word in wrong(name)) else 0


def write(rows):
    place = ROOT / "benchmarks" / "results" / "hostile_files.md"
    kept = {name: counts for name, counts in rows_of(place.read_text()).items() if name not in TRIES}
    place.write_text(page({**rows, **kept}))


def rows_of(text):
    """What a page counts, by kind."""
    cells = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| ")
    ]
    names = (*WORDS, "crash")
    return {name: dict(zip(names, map(int, numbers), strict=True)) for name, _, *numbers in cells[1:]}


def page(rows):
    """The page that shows what was counted."""
    import latentry as lt

    columns = (*WORDS, "crash")
    total = sum(sum(counts.values()) for counts in rows.values())
    lines = [
        "# Files that are damaged or forged, as they are read",
        "",
        f"{total:,} mutated inputs. `make fuzz` writes this page, and `make fuzz ENGINE=atheris` the rows *guided by coverage* "
        f"(latentry {lt.__version__}, Python {sys.version.split()[0]}).",
        "Data files are looked at, as `latentry info` does, and then read.",
        "Inputs have one to four of: a bit flipped, a byte set, a piece cut, doubled or overwritten; in rows with *fields* and",
        "*history* the values of the JSON are replaced by others and the checksums made to fit, as a forger would. A store of zarr",
        "has one of its files changed or removed. Guided by coverage, atheris looks for inputs that take new paths through our",
        "code.",
        "",
        "| kind of file | tries | " + " | ".join(columns) + " |",
        "|---|" + "---:|" * (len(columns) + 1),
    ]
    lines += [
        f"| {name} | {sum(counts.values())} | " + " | ".join(str(counts[column]) for column in columns) + " |"
        for name, counts in rows.items()
    ]
    lines += [
        "",
        "*Other content* is what no reader can know where there is no checksum (csv, npy, h5ad), or where a forger made it fit",
        "(fields, history). In a parquet file, the name of the checksum may be what was changed.",
        "",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
    else:
        sys.exit(main(float(sys.argv[1]) if len(sys.argv) > 1 else 1.0))
