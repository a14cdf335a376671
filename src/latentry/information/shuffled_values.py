"""The statistics of shuffled rows, in turn in this process or side by side on an engine: the same numbers."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from latentry.errors import DataError
from latentry.information.blocks import Block
from latentry.information.estimators import ESTIMATORS
from latentry.information.questions import Options, Question
from latentry.training import EngineLike, engine_for, run_texts, stays_here

__all__ = ["shuffled_values", "shuffled_values_text"]

Array = np.ndarray
_PIECES = 16  # of the shuffles, on an engine


def shuffled_values(
    question: Question,
    estimator: str,
    shuffle: Callable[[], Array],
    count: int,
    executor: EngineLike = "here",
    workers: int | None = None,
) -> Array:
    """Return the statistic for each of so many shuffles of y.

    Cost: an estimate for each shuffle; on an engine also the writing of rows and shuffles.

    Args:
        question: Whose y is shuffled.
        estimator: Its name.
        shuffle: Draws row numbers; it is called in this process, in turn.
        count: Of shuffles.
        executor: Where the estimates are made: see :func:`latentry.training.engine_for`.
        workers: Processes, where the engine is started here.

    Returns:
        (count,) values.

    Raises:
        DataError: If a process of the engine failed.
    """
    if stays_here(executor, workers):
        return np.array([_value(question, estimator, shuffle()) for _ in range(count)])
    with tempfile.TemporaryDirectory(prefix="latentry-shuffles-") as place, engine_for(executor, workers) as engine:
        texts = _written(question, estimator, shuffle, count, Path(place))
        parts: dict[int, list[float]] = {}
        for number, answer in run_texts(engine, shuffled_values_text, texts):
            if isinstance(answer, Exception):
                raise DataError(f"executor: a piece of the permutations failed ({answer}).") from answer
            parts[number] = json.loads(answer)
    return np.array([value for number in range(len(texts)) for value in parts[number]])


def _value(question: Question, estimator: str, rows: Array) -> float:
    return ESTIMATORS[estimator](replace(question, y=replace(question.y, values=question.y.values[rows]))).value


def _written(question: Question, estimator: str, shuffle: Callable[[], Array], count: int, place: Path) -> list[str]:
    """Write blocks and shuffles, and return a description of each piece of work."""
    first = shuffle()
    drawn = np.lib.format.open_memmap(place / "shuffles.npy", "w+", np.int64, (count, len(first)))
    for number in range(count):
        drawn[number] = first if number == 0 else shuffle()
    drawn.flush()
    for number, block in enumerate(question.blocks):
        np.save(place / f"{number}.npy", block.values, allow_pickle=False)
    about = {
        "place": str(place),
        "estimator": estimator,
        "blocks": [[block.name, block.discrete, block.digits] for block in question.blocks],
        "options": asdict(question.options),
    }
    ends = np.linspace(0, count, min(_PIECES, count) + 1).astype(int).tolist()
    return [json.dumps({**about, "from": a, "to": b}) for a, b in zip(ends[:-1], ends[1:], strict=True)]


def shuffled_values_text(text: str) -> str:
    """Compute the statistics of some shuffles, as engines ask for it.

    Args:
        text: Where blocks and shuffles are, the estimator, and which shuffles.

    Returns:
        A list of numbers.
    """
    given = json.loads(text)
    place = Path(given["place"])
    blocks = [
        Block(name, np.load(place / f"{number}.npy"), discrete, digits)
        for number, (name, discrete, digits) in enumerate(given["blocks"])
    ]
    question = Question(*blocks, options=Options(**given["options"]))
    drawn = np.load(place / "shuffles.npy", mmap_mode="r")[given["from"] : given["to"]]
    return json.dumps([float(_value(question, given["estimator"], np.asarray(rows))) for rows in drawn])
