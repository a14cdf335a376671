"""Engines: the same results in the same places, wherever the work runs, and a sentence where it cannot."""

import os
import posixpath
import sys
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest

from latentry.errors import DataError
from latentry.training.engines import Engine, Futures, Here, Joblib, LocalProcesses, WorkerDied, engine_for, run_texts

PATHS = [f"/some/where/{number}" for number in range(7)]
NAMES = [str(number) for number in range(7)]


def in_order(engine, task=posixpath.basename, texts=PATHS):
    with engine:
        return [result for _, result in sorted(run_texts(engine, task, texts))]


def test_results_come_back_to_their_texts():
    assert in_order(Here()) == NAMES
    assert in_order(Joblib(1)) == NAMES
    with ThreadPoolExecutor(3) as pool:
        assert in_order(engine_for(pool)) == NAMES


def test_processes_of_this_machine_answer_and_are_replaced_when_they_die():
    processes = LocalProcesses(2)
    assert in_order(Futures(processes, restarts=True, close=None)) == NAMES
    first = {child.pid for child in processes._started()}
    (place, problem), *_ = run_texts(Futures(processes, restarts=False, close=None), sys.exit, ["enough"])
    assert place == 0
    assert isinstance(problem, WorkerDied)
    assert "exit code 1" in str(problem)
    assert in_order(Futures(processes, restarts=True, close=None)) == NAMES  # a new one took its place
    processes.shutdown(cancel_futures=True)
    assert all(child.poll() is not None for child in processes._started())
    assert len(first) == 2


class FailsOnce(Engine):
    """An engine that loses the first of its texts, the first time."""

    restarts = True

    def __init__(self, times):
        self.times, self.asked = times, []

    def stream(self, task, texts):
        self.asked.append(list(texts))
        for place, text in enumerate(texts):
            if place == 0 and len(self.asked) <= self.times:
                yield place, WorkerDied("lost")
            else:
                yield place, task(text)


def test_what_died_is_tried_once_more_and_then_given_up():
    once, always = FailsOnce(1), FailsOnce(9)
    assert in_order(once) == NAMES
    assert once.asked == [PATHS, PATHS[:1]]
    results = dict(run_texts(always, posixpath.basename, PATHS))
    assert isinstance(results.pop(0), WorkerDied)
    assert [results[n] for n in range(1, 7)] == NAMES[1:]


def test_work_that_has_not_begun_is_cancelled_when_the_results_are_left():
    gate = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        held = pool.submit(gate.wait)  # the only thread is taken until the gate opens
        stream = Futures(pool, restarts=False, close=None).stream(posixpath.basename, PATHS)
        reader = threading.Thread(target=lambda: next(stream, None), daemon=True)
        reader.start()
        gate.set()
        reader.join(20)
        stream.close()
        assert held.result() is True


def test_an_executor_that_has_ended_is_a_result_for_each_text():
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    results = dict(run_texts(engine_for(pool), posixpath.basename, PATHS))
    assert sorted(results) == list(range(7))
    assert all("call again with another executor" in str(problem).lower() for problem in results.values())


@pytest.mark.long
def test_an_executor_that_dies_is_a_sentence_for_what_it_had():
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        results = in_order(engine_for(pool), os._exit, [3, 3])
    assert all("its executor has ended (BrokenProcessPool" in str(problem) for problem in results)


def test_processes_that_are_forked_are_refused():
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool, pytest.raises(DataError, match="spawn"):
        engine_for(pool)


@pytest.mark.parametrize(
    ("given", "workers", "address", "words"),
    [
        ("lokal", None, None, "did you mean 'local'"),
        (3, None, None, "has no submit"),
        (ThreadPoolExecutor, None, None, "has no submit"),
        ("local", 0, None, "workers=0"),
        ("local", True, None, "workers=True"),
        ("local", None, "tcp://x", "has none"),
    ],
)
def test_an_engine_that_is_none_is_refused(given, workers, address, words):
    with pytest.raises(DataError, match=words):
        engine_for(given, workers, address)
