"""Names of latents that a user gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from latentry.errors import DataError, nearest

__all__ = ["renamed"]


def renamed(known: tuple[str, ...], names: Mapping[str, str] | Sequence[str]) -> tuple[str, ...]:
    """Return the names of latents after some of them were changed.

    Args:
        known: Their names so far.
        names: New names by the names so far, or all of them in order.

    Returns:
        A name for each latent.

    Raises:
        DataError: If a latent is not known, a name is empty or no text, two are the same, or there are too few or too many.

    >>> renamed(("z1", "z2"), {"z2": "size"}), renamed(("z1", "z2"), ["tilt", "size"])
    (('z1', 'size'), ('tilt', 'size'))
    """
    if isinstance(names, str) or not isinstance(names, Mapping | Sequence):
        raise DataError(
            f"names={names!r}: is no mapping. Give new names by old ones, such as {{{known[0]!r}: 'size'}}."
        )
    if isinstance(names, Mapping):
        strange = [old for old in names if old not in known]
        if strange:
            raise DataError(f"names: there is no latent {strange[0]!r}{nearest(str(strange[0]), known)}")
        given = [names.get(old, old) for old in known]
    else:
        given = list(names)
    if len(given) != len(known):
        raise DataError(f"names={given!r}: {len(given)} names for {len(known)} latents. Give one for each.")
    for name in given:
        if not isinstance(name, str) or not name.strip() or not name.isprintable():
            raise DataError(f"names: {name!r} is no name of a latent. Give printable text.")
        if given.count(name) > 1:
            raise DataError(f"names: {name!r} would be the name of {given.count(name)} latents. Names must differ.")
    return tuple(given)
