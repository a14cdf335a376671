"""Read an HDF5 file once, in a process of its own: what breaks the library breaks this process, and becomes a sentence.

It is run as a script and imports nothing of latentry: python -P h5_check.py FILE MOST_BYTES SECONDS
"""

from __future__ import annotations

import sys
from typing import Any

BLOCK = 1 << 26  # bytes that are read at once
SPARE = 3 << 30  # address space beside what is read: Python, NumPy and the library itself


def limit(most: int, seconds: int) -> None:
    """Limit memory and processor time of this process."""
    import resource

    for kind, wanted in {
        resource.RLIMIT_AS: SPARE + most,
        resource.RLIMIT_CPU: seconds,
        resource.RLIMIT_CORE: 0,
    }.items():
        hard = resource.getrlimit(kind)[1]  # which may be lowered, not raised
        allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(kind, (allowed, allowed))


class Visit:
    """One walk through a file: no link out of it is followed, and nothing is read twice."""

    def __init__(self, library: Any, most: int) -> None:
        self.library, self.left, self.seen = library, most, set[int]()

    def group(self, group: Any, place: str) -> None:
        """Check a group and all that it holds."""
        self.attributes(group, place)
        for name in group:
            inside = f"{place}{name}"
            link = group.get(name, getlink=True)
            if isinstance(link, self.library.ExternalLink):
                raise ValueError(f"{inside} is a link to another file, {link.filename!r}, which is not followed")
            if isinstance(link, self.library.SoftLink):
                continue
            part = group[name]
            address = self.library.h5o.get_info(part.id).addr
            if address in self.seen:
                continue
            self.seen.add(address)
            if isinstance(part, self.library.Group):
                self.group(part, f"{inside}/")
            elif isinstance(part, self.library.Dataset):
                self.dataset(part, inside)

    def dataset(self, part: Any, place: str) -> None:
        """Check one array, and read all of it piece by piece."""
        self.attributes(part, place)
        if part.id.get_create_plist().get_external_count() or part.is_virtual:
            raise ValueError(f"{place} is stored in another file, which is not read")
        self.count(part.size or 0, part.dtype.itemsize, place)
        if part.shape is None:
            return
        if not part.shape:
            part[()]
            return
        row = max(1, part.dtype.itemsize * (part.size or 0) // max(1, part.shape[0]))
        step = max(1, BLOCK // row)
        for start in range(0, part.shape[0], step):
            part[start : start + step]

    def attributes(self, part: Any, place: str) -> None:
        """Check the attributes of a group or array."""
        for name in part.attrs:
            about = part.attrs.get_id(name)
            self.count(about.get_space().get_simple_extent_npoints(), about.dtype.itemsize, f"{place}@{name}")
            part.attrs[name]

    def count(self, elements: int, itemsize: int, place: str) -> None:
        """Count bytes down."""
        self.left -= int(elements) * int(itemsize)
        if self.left < 0:
            raise ValueError(
                f"{place}: the file would expand to more than is allowed. Raise max_gb= (--max-gb) if you trust it"
            )


def main(path: str, most: int, seconds: int) -> str:
    """Return what is wrong with a file; nothing if it can be read."""
    try:
        limit(most, seconds)
        import h5py

        with h5py.File(path, "r") as file:
            Visit(h5py, most).group(file, "/")
    except MemoryError:
        return "it asks for more memory than its size allows"
    except RecursionError:
        return "its groups are nested too deep"
    except Exception as problem:  # whatever the library says of a damaged file
        return f"{problem}" or type(problem).__name__
    return ""


if __name__ == "__main__":
    words = main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    sys.stdout.buffer.write(words[:500].encode("utf-8", "replace"))
    sys.stdout.flush()
