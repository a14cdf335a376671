"""Windows from disk are read ahead: the same rows, and errors where they are wanted."""

import threading

import numpy as np
import pytest

import latentry as lt
from latentry.data import batches
from latentry.data.lazy_rows import LazyRows
from latentry.training import Feed

ROWS = np.random.default_rng(0).normal(size=(96, 4)).astype(np.float32)


class Watched(LazyRows):
    """Rows that note which thread read them."""

    def __init__(self):
        self.shape, self.dtype = ROWS.shape, ROWS.dtype
        self.threads = []

    def __getitem__(self, index):
        self.threads.append(threading.current_thread().name)
        return ROWS[index]


@pytest.fixture
def small_windows(monkeypatch):
    monkeypatch.setattr(batches, "WINDOW_BYTES", 8 * 4 * 4 * 2)  # two steps of eight rows of four columns


def test_windows_are_the_same_and_all_but_the_first_are_read_ahead(small_windows):
    rows = Watched()
    lazy, whole = Feed(lt.Dataset(rows), 8), Feed(lt.Dataset(ROWS), 8)
    assert lazy.count > 2
    rows.threads.clear()
    seed = (0, 0, 0, 0)
    seen = [lazy.window(seed, number) for number in range(lazy.count)]
    values = np.concatenate([np.asarray(window.values["x"]).reshape(-1, 4) for window in seen])
    weights = np.concatenate([np.asarray(window.weight).ravel() for window in seen])
    order = np.concatenate([index.ravel() for index in whole.plan.windows(whole.plan.order(seed))])
    kept = order[order >= 0]
    assert (np.sort(values[weights > 0], axis=0) == np.sort(ROWS, axis=0)).all()
    assert len(kept) == len(ROWS)
    assert {name.startswith("latentry-read") for name in rows.threads} == {True, False}
    assert not rows.threads[0].startswith("latentry-read")
    assert rows.threads[-1].startswith("latentry-read")


def test_windows_asked_for_in_another_order_are_read_all_the_same(small_windows):
    lazy = Feed(lt.Dataset(Watched()), 8)
    last, first = (np.asarray(lazy.window(None, number).values["x"]).reshape(-1, 4) for number in (lazy.count - 1, 0))
    assert (first == ROWS[: len(first)]).all()
    assert (last[0] == ROWS[(lazy.count - 1) * len(first)]).all()


def test_what_fails_in_the_background_is_raised_where_it_is_wanted(small_windows, monkeypatch):
    rows = Watched()
    lazy = Feed(lt.Dataset(rows), 8)
    fails = threading.Event()

    def broken(self, index):
        if fails.is_set():
            raise OSError("the disk is gone")
        return ROWS[index]

    monkeypatch.setattr(Watched, "__getitem__", broken)
    lazy.window(None, 0)
    lazy.release()
    fails.set()
    with pytest.raises(OSError, match="the disk is gone"):
        lazy.window(None, 0)
    fails.clear()
    lazy.window(None, 0)
    fails.set()
    lazy.release()
    with pytest.raises(OSError, match="the disk is gone"):
        lazy.window(None, 1)
