"""Files that are damaged, that lie about themselves, or that are no files."""

import io
import json
import os
import shutil
import struct
import zipfile

import numpy as np
import pytest

import latentry as lt

ENDINGS = (".csv", ".npy", ".npz", ".parquet", ".zarr", ".h5ad", ".h5mu")


@pytest.fixture
def data(rng):
    return lt.Dataset(
        {"a": rng.normal(size=(40, 3)), "b": rng.integers(0, 5, (40, 2))},
        domain=[f"lab {i % 3}" for i in range(40)],
        factors={"age": rng.normal(size=40)},
    )


@pytest.mark.parametrize("ending", ENDINGS)
def test_pipes_and_folders_are_refused_at_once(tmp_path, ending):
    os.mkfifo(tmp_path / f"pipe{ending}")
    (tmp_path / f"folder{ending}").mkdir()
    with pytest.raises(lt.DataError, match="a pipe, a device or a socket"):
        lt.read(tmp_path / f"pipe{ending}")
    with pytest.raises(lt.DataError, match="it is a folder|it is no zarr group"):
        lt.read(tmp_path / f"folder{ending}")


def test_a_device_is_refused_at_once(tmp_path):
    (tmp_path / "zeros.csv").symlink_to("/dev/zero")
    with pytest.raises(lt.DataError, match="a device"):
        lt.read(tmp_path / "zeros.csv")


def bomb(path):
    """Eight megabytes of zeros in some kilobytes."""
    zeros = np.zeros((1_000_000, 1))
    if path.suffix == ".npz":
        np.savez_compressed(path, x=zeros)
    elif path.suffix == ".parquet":
        arrow = pytest.importorskip("pyarrow")
        import pyarrow.parquet

        pyarrow.parquet.write_table(arrow.table({"x": zeros[:, 0]}), path)
    elif path.suffix == ".zarr":
        zarr = pytest.importorskip("zarr")
        zarr.create_array(path, shape=zeros.shape, chunks=zeros.shape, dtype="f8")[...] = 1.0
    else:
        h5py = pytest.importorskip("h5py")
        with h5py.File(path, "w") as file:
            file.create_dataset("X", data=zeros, compression="gzip", chunks=(1000, 1))


@pytest.mark.parametrize("ending", [".npz", ".parquet", ".zarr", ".h5ad"])
def test_a_file_that_expands_beyond_the_ceiling_is_not_expanded(tmp_path, ending):
    path = tmp_path / f"bomb{ending}"
    bomb(path)
    with pytest.raises(lt.DataError, match=r"would expand to .* max_gb= \(--max-gb\)"):
        lt.read(path, max_gb=0.001)


@pytest.mark.parametrize("size", [0, -1, np.nan, np.inf, "much", True])
def test_a_ceiling_is_a_positive_number(tmp_path, data, size):
    data.write(tmp_path / "x.npz")
    with pytest.raises(lt.DataError, match="max_gb=.*is no size"):
        lt.read(tmp_path / "x.npz", max_gb=size)


def lying(shape):
    """A npy file whose header claims a shape, and that holds 80 bytes."""
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}"
    header = header.encode() + b" " * (117 - len(header)) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(80)


@pytest.mark.parametrize("shape", ["(1000000000000000,)", "(-10,)", "(4, 4)", "(99999999999999999999999, 2)", "(3,)"])
def test_headers_that_claim_another_size_are_refused(tmp_path, shape):
    (tmp_path / "x.npy").write_bytes(lying(shape))
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        archive.writestr("x.npy", lying(shape))
    for name in ("x.npy", "x.npz"):
        with pytest.raises(lt.DataError, match=rf"{name}.*header claims"):
            lt.read(tmp_path / name)


@pytest.mark.parametrize("part", ["x", "domain"])
def test_lost_chunks_of_others_are_refused_by_name(tmp_path, rng, part):
    """A lost domain would put rows into domain 0."""
    zarr = pytest.importorskip("zarr")
    store = zarr.open_group(tmp_path / "x.zarr", mode="w")
    for name, values in (("x", rng.normal(size=(20, 2))), ("domain", np.repeat([1, 2], 10))):
        store.create_array(name, data=values, chunks=(10, *values.shape[1:]))
    assert lt.read(tmp_path / "x.zarr", domain="domain").domain.size == 2
    shutil.rmtree(tmp_path / "x.zarr" / part / "c" / "1") if part == "x" else (
        tmp_path / "x.zarr" / part / "c" / "1"
    ).unlink()
    with pytest.raises(lt.DataError, match=f"array '{part}': 1 of 2 chunks are not stored"):
        lt.read(tmp_path / "x.zarr", domain="domain")


def chunk_of(path, array):
    return next(one for one in sorted((path / array / "c").rglob("*")) if one.is_file())


def test_a_changed_chunk_is_found_when_it_is_read(tmp_path, data):
    path = tmp_path / "x.zarr"
    data.write(path)
    chunk = chunk_of(path, "a")
    content = chunk.read_bytes()
    chunk.write_bytes(content[:20] + bytes([content[20] ^ 1]) + content[21:])
    with pytest.raises(lt.DataError, match="x.zarr, array 'a': a chunk cannot be read"):
        np.asarray(lt.read(path)["a"])


@pytest.mark.parametrize(
    ("old", "new"), [('"little"', '"big"'), ("float64", "int64"), ('"separator": "/"', '"separator": "."')]
)
def test_a_changed_description_of_an_array_is_found(tmp_path, data, old, new):
    path = tmp_path / "x.zarr"
    data.write(path)
    text = (path / "a" / "zarr.json").read_text()
    assert old in text
    (path / "a" / "zarr.json").write_text(text.replace(old, new))
    with pytest.raises(lt.DataError, match=r"zarr\.json: its checksum is wrong"):
        lt.read(path)


def test_a_changed_header_is_found(tmp_path, data):
    path = tmp_path / "x.zarr"
    data.write(path)
    text = (path / "zarr.json").read_text()
    (path / "zarr.json").write_text(text.replace("lab 1", "lab 7"))
    with pytest.raises(lt.DataError, match="its header: its checksum is wrong"):
        lt.read(path)
    (path / "zarr.json").write_text(text.replace("@latentry", "@latentrz"))
    with pytest.raises(lt.DataError, match="names that begin with @ are latentry's own"):
        lt.read(path)


def test_a_header_names_no_file_outside(tmp_path, data):
    from latentry.data.files.checksums import seal

    path = tmp_path / "x.zarr"
    data.write(path)
    root = json.loads((path / "zarr.json").read_text())
    about = json.loads(root["attributes"]["@latentry"])
    about["files"] = {"../../etc/passwd": "0" * 64}
    root["attributes"]["@latentry"] = json.dumps(
        seal({name: part for name, part in about.items() if name != "checksum"})
    )
    (path / "zarr.json").write_text(json.dumps(root))
    with pytest.raises(lt.DataError, match="outside of it"):
        lt.read(path)


def test_a_changed_value_with_a_right_sum_of_the_archive_is_found(tmp_path, data):
    """The archive is written anew, so that its own sums fit."""
    data.write(tmp_path / "x.npz")
    with np.load(tmp_path / "x.npz") as archive:
        arrays = dict(archive)
    arrays["a"] = arrays["a"] + 1e-9
    with zipfile.ZipFile(tmp_path / "x.npz", "w") as archive:
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.save(buffer, array)
            archive.writestr(f"{name}.npy", buffer.getvalue())
    with pytest.raises(lt.DataError, match=r"x\.npz: its checksum is wrong"):
        lt.read(tmp_path / "x.npz")


@pytest.mark.parametrize("field", [28, 30, 32], ids=["name", "extra", "comment"])
def test_a_length_that_swallows_the_rest_of_an_archive_is_found(tmp_path, data, field):
    """Other arrays, and with them the checksum, would be gone without a word: Python reads the list as far as it goes."""
    path = tmp_path / "x.npz"
    data.write(path)
    content = bytearray(path.read_bytes())
    first = content.index(b"PK\1\2")
    struct.pack_into("<H", content, first + field, len(content))
    path.write_bytes(content)
    with pytest.raises(lt.DataError, match="not a whole npz archive"):
        lt.read(path)


def test_a_changed_parquet_file_is_found(tmp_path, data):
    arrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    data.write(tmp_path / "x.parquet")
    table = pyarrow.parquet.read_table(tmp_path / "x.parquet")
    changed = table.set_column(0, table.column_names[0], arrow.array(np.zeros(40)))
    pyarrow.parquet.write_table(changed.replace_schema_metadata(table.schema.metadata), tmp_path / "x.parquet")
    with pytest.raises(lt.DataError, match=r"x\.parquet: its checksum is wrong"):
        lt.read(tmp_path / "x.parquet")


def linked(path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path.with_name("secret.h5"), "w") as file:
        file["X"] = np.ones((4, 2))
    with h5py.File(path, "w") as file:
        file["X"] = h5py.ExternalLink("secret.h5", "/X")


def stored_outside(path):
    h5py = pytest.importorskip("h5py")
    path.with_name("secret.bin").write_bytes(bytes(64))
    with h5py.File(path, "w") as file:
        file.create_dataset("X", (4, 2), "f8", external=[(str(path.with_name("secret.bin")), 0, 64)])


def virtual(path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(path.with_name("secret.h5"), "w") as file:
        file["X"] = np.ones((4, 2))
    layout = h5py.VirtualLayout((4, 2), "f8")
    layout[:] = h5py.VirtualSource(str(path.with_name("secret.h5")), "X", (4, 2))
    with h5py.File(path, "w") as file:
        file.create_virtual_dataset("X", layout)


@pytest.mark.parametrize("make", [linked, stored_outside, virtual])
def test_other_files_are_never_read_through_hdf5(tmp_path, make):
    make(tmp_path / "x.h5ad")
    with pytest.raises(lt.DataError, match="another file"):
        lt.read(tmp_path / "x.h5ad")


def test_a_reader_that_dies_or_hangs_is_a_sentence(tmp_path, monkeypatch):
    """What happens when the library itself is broken by a file: the child is replaced by one that ends so."""
    from latentry.data.files import h5_child

    (tmp_path / "x.h5ad").write_bytes(b"\x89HDF")
    (tmp_path / "dies.py").write_text("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    monkeypatch.setattr(h5_child, "_SCRIPT", tmp_path / "dies.py")
    with pytest.raises(lt.DataError, match=r"ends the process that reads it \(code -11\)"):
        lt.read(tmp_path / "x.h5ad")
    (tmp_path / "hangs.py").write_text("import time; time.sleep(99)")
    monkeypatch.setattr(h5_child, "_SCRIPT", tmp_path / "hangs.py")
    monkeypatch.setattr(h5_child, "_SECONDS", 0.3)
    monkeypatch.setattr(h5_child, "_BYTES_A_SECOND", 1e-1)
    monkeypatch.setattr(
        h5_child.subprocess, "run", lambda command, timeout, **how: _run(command, min(timeout, 0.5), how)
    )
    with pytest.raises(lt.DataError, match="reading it took more than"):
        lt.read(tmp_path / "x.h5ad")


_RUN = __import__("subprocess").run


def _run(command, timeout, how):
    return _RUN(command, timeout=timeout, **how)


# latentry info looks at a file before it reads it: the same doors are shut. ---------------------------------------------------


def _hostile(tmp_path, name):
    """A file by what is wrong with it, and what the sentence says."""
    if name.startswith("pipe"):
        os.mkfifo(tmp_path / name)
        return "a pipe, a device or a socket"
    if name.startswith("zeros"):
        (tmp_path / name).symlink_to("/dev/zero")
        return "a device"
    if name.startswith("folder"):
        (tmp_path / name).mkdir()
        return "it is a folder|it is no zarr group"
    if name.startswith("bomb"):
        bomb(tmp_path / name)
        return r"would expand to .*--max-gb"
    if name.startswith("lies"):
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            archive.writestr("x.npy", lying("(1000000000000000,)"))
        return "header claims"
    make = {"linked": linked, "outside": stored_outside, "virtual": virtual}[name.split(".")[0]]
    make(tmp_path / name)
    return "another file"


HOSTILE = (
    *(f"pipe{ending}" for ending in ENDINGS),
    *(f"folder{ending}" for ending in ENDINGS),
    *(f"bomb{ending}" for ending in (".npz", ".parquet", ".zarr", ".h5ad")),
    *("zeros.csv", "lies.npz", "linked.h5ad", "outside.h5ad", "virtual.h5ad"),
)


@pytest.mark.parametrize("name", HOSTILE)
def test_looking_at_a_file_refuses_what_reading_refuses(tmp_path, name):
    from latentry.data import survey

    why = _hostile(tmp_path, name)
    with pytest.raises(lt.DataError, match=why):
        survey(tmp_path / name, max_gb=0.001)


def test_hdf5_is_opened_by_no_survey_before_it_was_checked(tmp_path, monkeypatch):
    """A link of a layer is found although X could be read."""
    anndata, h5py = pytest.importorskip("anndata"), pytest.importorskip("h5py")
    anndata.AnnData(np.ones((4, 2))).write_h5ad(tmp_path / "x.h5ad")
    with h5py.File(tmp_path / "x.h5ad", "r+") as file:
        file["layers/more"] = h5py.ExternalLink("secret.h5", "/X")
    from latentry.data import survey

    monkeypatch.setattr(anndata, "read_h5ad", lambda path: pytest.fail("it was opened here"))
    with pytest.raises(lt.DataError, match="another file"):
        survey(tmp_path / "x.h5ad")


@pytest.mark.parametrize("dtype", [bool, np.int8, np.float16, np.float32])
def test_what_a_column_of_numbers_holds_is_counted_without_python_objects(dtype):
    """A million cells as Python objects took a second, and a file of 200 million no end."""
    from latentry.data.files.survey import holds

    assert "4" in holds(np.array([0, 1, 0, 1], dtype=dtype)).split()[0]
    assert holds(np.array([np.nan, 2.0])) == "2 numbers, 2 to 2, 1 empty"
    assert holds(np.full(3, np.nan)) == "empty"


@pytest.mark.parametrize("name", ["x.npy", "y.npy"])
def test_arrays_for_measures_are_regular_files(tmp_path, name):
    from latentry.data import read_array

    np.save(tmp_path / "x.npy", np.arange(3))
    os.mkfifo(tmp_path / "y.npy")
    if name == "x.npy":
        assert read_array(tmp_path / name).tolist() == [0, 1, 2]
        return
    with pytest.raises(lt.DataError, match="a pipe, a device or a socket"):
        read_array(tmp_path / name)
