import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import latentry as lt
from latentry.data import Plan, assemble, batches, lazy_rows


@given(st.integers(1, 300), st.integers(1, 40), st.integers(1, 60), st.integers(1, 30), st.integers(0, 9))
def test_every_row_comes_once_an_epoch(count, batch, window, block, seed):
    batch = min(batch, count)
    plan = Plan(count, batch, max(batch, window // batch * batch), block)
    order = plan.order((seed,))
    seen = np.concatenate([window.ravel() for window in plan.windows(order)])
    assert sorted(seen[seen >= 0]) == list(range(count))
    assert len({window.shape for window in plan.windows(order)}) == 1


def test_order_depends_on_seed_and_epoch_only():
    plan = Plan(100, 10, 100, 10)
    assert (plan.order((0, 1)) == plan.order((0, 1))).all()
    assert (plan.order((0, 1)) != plan.order((0, 2))).any()


def test_order_mixes_within_windows_and_moves_blocks():
    plan = Plan(10_000, 10, 1000, 10)
    first = plan.windows(plan.order((3,)))[0].ravel()
    assert np.std(first) > 2000  # blocks from everywhere
    assert np.mean(np.diff(first) == 1) < 0.05  # and no runs within them


def test_fillers_and_missing_rows_hold_zeros():
    data = lt.Dataset({"a": [[1.0], None, [3.0]], "b": np.ones((3, 2))}, domain=[5, 6, 7])
    batch = assemble(data, np.array([2, 1, -1]))
    assert batch.values["a"].tolist() == [[3], [0], [0]]
    assert batch.observed["a"].tolist() == [1, 0, 0]
    assert batch.weight.tolist() == [1, 1, 0]
    assert batch.domain[:2].tolist() == [2, 1]


@pytest.fixture
def mapped(tmp_path, rng):
    array = rng.normal(size=(500, 7)).astype(np.float32)
    np.save(tmp_path / "x.npy", array)
    return array, np.load(tmp_path / "x.npy", mmap_mode="r")


def test_gather_from_disk_equals_indexing(mapped, rng, monkeypatch):
    array, stored = mapped
    monkeypatch.setattr(lazy_rows, "BLOCK_BYTES", 280)  # ten rows: many slabs
    for index in (rng.permutation(500), rng.integers(0, 500, 50), np.array([499, 0, 0])):
        assert (lazy_rows.gather(stored, index) == array[index]).all()
        taken = lazy_rows.TakenRows(stored, np.arange(0, 500, 2))
        assert (lazy_rows.gather(taken, index % 250) == array[::2][index % 250]).all()


def test_lazy_and_resident_data_give_the_same_batches(mapped, monkeypatch):
    monkeypatch.setattr(batches, "WINDOW_BYTES", 28 * 64)
    array, stored = mapped
    lazy, resident = lt.Dataset(stored), lt.Dataset(array)
    assert lazy.is_lazy
    assert lazy.fingerprint == resident.fingerprint
    lazy, resident = (data.split(0.8, 0.2)[0] for data in (lazy, resident))
    lazy, resident = lazy.standardise(), resident.standardise()
    plan = Plan.of(lazy, 16)
    assert plan == Plan.of(resident, 16)
    assert plan.window < len(lazy)
    for window in plan.windows(plan.order((0,))):
        assert (assemble(lazy, window).values["x"] == assemble(resident, window).values["x"]).all()


def test_rows_beyond_the_reach_of_a_float32_keep_their_numbers():
    """2**24 and 2**24 + 1 are one float32; as integers they are two."""
    last = 2**24 + 1
    data = lt.Dataset(np.broadcast_to(np.float32(0), (last + 1, 1))).numbered()
    batch = assemble(data.take([last - 1, last]), np.array([0, 1, -1]))
    assert batch.row.tolist()[:2] == [last - 1, last]
    assert batch.row.dtype == batch.experiment.dtype == np.int32
    assert np.float32(last) == np.float32(last - 1)


def test_numbers_follow_their_rows(rng):
    codes = rng.integers(-1, 3, 40)
    data = lt.Dataset(rng.normal(size=(40, 2)), domain=np.arange(40) % 2).numbered(codes)
    some = rng.permutation(40)[:11]
    for part in (data.take(some), data.standardise().take(some), data.take(some).with_domain(None)):
        batch = assemble(part, np.arange(11))
        assert batch.row.tolist() == some.tolist()
        assert batch.experiment.tolist() == codes[some].tolist()
    plain = assemble(lt.Dataset(rng.normal(size=(4, 2))), np.arange(4))
    assert plain.row is None
    assert plain.experiment is None
