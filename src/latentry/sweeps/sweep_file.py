"""A sweep in a file: models × data × seeds × parameters, in TOML."""

from __future__ import annotations

import itertools
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, final

from latentry.errors import DataError, FileError, nearest
from latentry.models import MODELS, check_table
from latentry.sweeps.jobs import Job

__all__ = ["Range", "Sweep", "read_sweep"]

_TOP = {"data", "models", "seeds", "aside", "split", "certify", "epsilon", "engine", "search"}
_DATA = {"file", "domain", "groups", "time", "factors", "modalities", "ids", "categories", "drop"}
_ENGINE = {"name", "workers", "address"}
_SEARCH = {"trials", "seed", "rungs"}
_RANGE = {"low", "high", "log"}


@final
@dataclass(frozen=True)
class Range:
    """Values between two ends, for a search.

    Args:
        low: Least value; whole numbers give whole numbers.
        high: Greatest value.
        log: Whether values are spread evenly on a logarithmic scale.
    """

    low: float
    high: float
    log: bool = False


@final
@dataclass(frozen=True)
class Sweep:
    """What a sweep file says.

    Args:
        data: Files and how they are read, by name.
        models: Kinds, and for each parameter its values, or a :class:`Range`.
        seeds: One fit for each.
        aside: Fraction of the rows that no fit sees.
        split: Seed of that split.
        certify: Whether each fit is certified.
        epsilon: Largest error that still counts as natural.
        engine: Arguments ``executor``, ``workers`` and ``address`` of :func:`fit_many`.
        search: Trials, seed and rungs of a search; None for the whole grid.
    """

    data: Mapping[str, Mapping[str, Any]]
    models: Sequence[tuple[str, Mapping[str, Sequence[Any] | Range]]]
    seeds: tuple[int, ...] = (0,)
    aside: float = 0.2
    split: int = 0
    certify: bool = False
    epsilon: float = 0.05
    engine: Mapping[str, Any] = field(default_factory=dict)
    search: Mapping[str, Any] | None = None

    def jobs(self) -> list[Job]:
        """Return a job for every combination, in the order of the file.

        Raises:
            DataError: If a parameter is a range, or its value is none that the model takes.
        """
        return [job for name, source in self.data.items() for job in self._jobs_on(name, source)]

    def _jobs_on(self, name: str, source: Mapping[str, Any]) -> Iterator[Job]:
        several = len(self.data) > 1
        for number, (kind, values) in enumerate(self.models):
            ranged = [key for key, one in values.items() if isinstance(one, Range)]
            if ranged:
                raise DataError(
                    f"models[{number}].{ranged[0]}: is a range, which needs a search. Give a list, or [search]."
                )
            prefix = (f"{name}-" if several else "") + (f"{number}-" if len(self.models) > 1 else "") + kind
            for chosen in _combinations(values):
                for seed in self.seeds:
                    yield job_for(kind, {**chosen, "seed": seed}, source, prefix + _suffix(chosen, values, seed))


def job_for(kind: str, chosen: Mapping[str, Any], source: Mapping[str, Any], name: str) -> Job:
    """Return the job of a model with its parameters.

    Args:
        kind: Of model.
        chosen: Parameters.
        source: The file and how it is read.
        name: Of the job.

    Returns:
        The job.
    """
    roles = {role: value for role, value in source.items() if role != "file"}
    return Job(MODELS[kind]().set_params(**chosen), source["file"], name, roles)


def read_sweep(path: str | Path) -> Sweep:
    """Read a sweep file.

    Cost: the size of the file; the jobs that it names are made when they are asked for.

    Args:
        path: Of TOML; files in it are relative to its folder.

    Returns:
        What it says.

    Raises:
        FileError: If it cannot be read, or holds keys that are not known: all of them at once, with the nearest names.
    """
    try:
        given = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FileError(f"{path}: it does not exist. Check the path.") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as problem:
        raise FileError(f"{path}: cannot be read ({problem}). Mend it.") from None
    problems = [*_problems(given), *_missing_files(given, Path(path).parent)]
    if problems:
        raise FileError(f"{path}: " + "; ".join(problems))
    return _sweep(given, Path(path).parent)


def _problems(given: Mapping[str, Any]) -> Iterator[str]:
    yield from _unknown(given, _TOP, "")
    sources = given.get("data")
    if not isinstance(sources, dict) or not sources:
        yield 'data: is missing. Write [data] and file = "..."'
    else:
        for name, source in _sources(sources).items():
            yield from _source_problems(f"data.{name}" if name else "data", source)
    models = given.get("models")
    if not isinstance(models, list) or not models or not all(isinstance(one, dict) for one in models):
        yield 'models: there are none. Write [[models]] and model = "vae"'
    else:
        for number, one in enumerate(models):
            yield from _model_problems(number, one)
    for name, known in (("engine", _ENGINE), ("search", _SEARCH)):
        part = given.get(name, {})
        yield from _unknown(part, known, f"{name}.") if isinstance(part, dict) else [f"{name}: write it as [{name}]"]
    yield from _value_problems(given)


def _value_problems(given: Mapping[str, Any]) -> Iterator[str]:
    seeds = given.get("seeds", [0])
    if not isinstance(seeds, list) or not seeds or not all(type(seed) is int and seed >= 0 for seed in seeds):
        yield f"seeds={seeds!r}: not a list of whole numbers of at least 0"
    elif len(set(seeds)) < len(seeds):
        yield f"seeds={seeds!r}: one of them stands twice"
    if type(given.get("certify", False)) is not bool:
        yield f"certify={given['certify']!r}: neither true nor false"
    for name, least, most in (("aside", 0, 1), ("epsilon", 0, float("inf"))):
        value = given.get(name, 0.1)
        if type(value) not in (int, float) or not least <= value < most:
            yield f"{name}={value!r}: not a number from {least} to below {most}"
    engine = given.get("engine", {})
    workers = engine.get("workers", 1) if isinstance(engine, dict) else 1
    if type(workers) is not int or workers < 1:
        yield f"engine.workers={workers!r}: not a whole number of at least 1"
    trials = given.get("search", {}).get("trials", 20) if isinstance(given.get("search", {}), dict) else 20
    if type(trials) is not int or trials < 1:
        yield f"search.trials={trials!r}: not a whole number of at least 1"


def _sources(data: Mapping[str, Any]) -> dict[str, Any]:
    return {"": data} if "file" in data or not all(isinstance(one, dict) for one in data.values()) else dict(data)


def _source_problems(where: str, source: Mapping[str, Any]) -> Iterator[str]:
    yield from _unknown(source, _DATA, f"{where}.")
    if not isinstance(source.get("file"), str):
        yield f"{where}.file: is missing. Name a data file"


def _missing_files(given: Mapping[str, Any], folder: Path) -> Iterator[str]:
    sources = given.get("data")
    for name, source in _sources(sources).items() if isinstance(sources, dict) else ():
        file = source.get("file") if isinstance(source, dict) else None
        if isinstance(file, str) and not (folder / file).exists():
            yield f"data.{name + '.' if name else ''}file: {folder / file} does not exist"


def _model_problems(number: int, given: Mapping[str, Any]) -> Iterator[str]:
    where, kind = f"models[{number}]", given.get("model")
    if kind not in MODELS:
        yield f"{where}.model={kind!r}: there is no such model{nearest(kind, MODELS)}"
        return
    known = set(MODELS[kind]().get_params(deep=True))
    values = _flat(given)
    yield from _unknown(dict.fromkeys(values, 0), known | {"model"}, f"{where}.")
    if "seed" in values:
        yield f"{where}.seed: give seeds = [...] at the top instead"
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _range_problems(f"{where}.{name}", value)
        if name in known - {"seed"}:
            yield from _wrong_values(where, kind, name, value)


def _wrong_values(where: str, kind: str, name: str, value: Any) -> Iterator[str]:
    """Say which values the model does not take, so that no fit has to fail for them; of a range, its ends."""
    for one in _tried(value):
        model = MODELS[kind]().set_params(**{name: one})
        try:
            check_table(model, model.constraints)
        except DataError as problem:
            yield f"{where}.{str(problem).rstrip('.')}"


def _tried(value: Any) -> Sequence[Any]:
    if isinstance(value, dict):
        return [value[end] for end in ("low", "high") if end in value]
    return _listed(value)


def _range_problems(where: str, value: Mapping[str, Any]) -> Iterator[str]:
    yield from _unknown(value, _RANGE, f"{where}.")
    ends = value.get("low"), value.get("high")
    if not all(type(end) in (int, float) for end in ends) or not ends[0] < ends[1]:  # type: ignore[operator]
        yield f"{where}: a range needs low below high"
    elif value.get("log") and ends[0] <= 0:  # type: ignore[operator]
        yield f"{where}: a logarithmic range begins above 0"


def _unknown(given: Mapping[str, Any], known: set[str], where: str) -> Iterator[str]:
    for name in given:
        if name not in known:
            yield f"{where}{name}: there is no such key{nearest(name, known)}"


def _flat(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters by their full names: a table ``training`` holds ``training__clip``; ranges stay tables."""
    flat: dict[str, Any] = {}
    for name, value in given.items():
        if isinstance(value, dict) and not set(value) <= _RANGE:
            flat |= {f"{name}__{inner}": one for inner, one in value.items()}
        else:
            flat[name] = value
    return flat


def _sweep(given: Mapping[str, Any], folder: Path) -> Sweep:
    sources = {
        name: {**source, "file": str(folder / source["file"])} for name, source in _sources(given["data"]).items()
    }
    models = [(one["model"], _values({k: v for k, v in _flat(one).items() if k != "model"})) for one in given["models"]]
    engine = dict(given.get("engine", {}))
    engine = {"executor" if name == "name" else name: value for name, value in engine.items()}
    plain = {name: given[name] for name in ("aside", "split", "certify", "epsilon") if name in given}
    return Sweep(sources, models, tuple(given.get("seeds", [0])), engine=engine, search=given.get("search"), **plain)


def _values(given: Mapping[str, Any]) -> dict[str, Sequence[Any] | Range]:
    return {name: _value(value) for name, value in given.items()}


def _value(value: Any) -> Sequence[Any] | Range:
    if isinstance(value, dict):
        return Range(value["low"], value["high"], bool(value.get("log", False)))
    return _listed(value)


def _listed(value: Any) -> list[Any]:
    return [tuple(one) if isinstance(one, list) else one for one in value] if isinstance(value, list) else [value]


def _combinations(values: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for chosen in itertools.product(*values.values()):
        yield dict(zip(values, chosen, strict=True))


def _suffix(chosen: Mapping[str, Any], values: Mapping[str, Any], seed: int) -> str:
    """Return what tells a combination from the others: values of parameters that have several, and the seed."""
    varied = [f"{name.split('__')[-1]}={_word(value)}" for name, value in chosen.items() if len(values[name]) > 1]
    return "".join(f"-{word}" for word in [*varied, f"seed={seed}"])


def _word(value: Any) -> str:
    text = "x".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return "".join(letter if letter.isalnum() or letter in "._=-" else "_" for letter in text)
