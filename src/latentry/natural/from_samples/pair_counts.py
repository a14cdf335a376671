"""Counts of rows that are nearer than the k-th neighbour, from distances of all pairs. Importing this loads numba."""

from __future__ import annotations

import numpy as np

from latentry.machine_code import compiled

__all__ = ["count_nearer"]

_D = "f4[:, ::1]"


@compiled(f"void({_D}, {_D}, {_D}, b1, i8[::1], i8, f4, i8[:, ::1])")
def count_nearer(
    x: np.ndarray,
    yz: np.ndarray,
    z: np.ndarray,
    given: bool,
    order: np.ndarray,
    k: int,
    nearer: float,
    counts: np.ndarray,
) -> None:
    """Count, for each row, the rows that are nearer than its k-th neighbour in the joint space: in (x, z), (y, z) and z.

    Args:
        x: Distances of all pairs (rows, rows).
        yz: The same in (y, z).
        z: The same in z; not read unless ``given``.
        given: Whether there is a z.
        order: The row from which each row takes its x (rows,).
        k: Neighbours.
        nearer: Factor of the distance below which a row counts.
        counts: Filled with the three counts, the row itself among them (rows, 3); the last is all rows without z.
    """
    n = len(order)
    own, least = np.empty(n, dtype=np.float32), np.empty(k + 1, dtype=np.float32)
    for i in range(n):
        least[:] = np.inf
        from_, there = order[i], yz[i]
        for j in range(n):
            own[j] = x[from_, order[j]]
            joint = max(own[j], there[j])
            if joint < least[k]:  # the k + 1 smallest, in order
                place = k
                while place > 0 and least[place - 1] > joint:
                    least[place] = least[place - 1]
                    place -= 1
                least[place] = joint
        reach = least[k] * nearer
        in_x, in_yz, in_z = 0, 0, 0
        if given:
            for j in range(n):
                in_x += max(own[j], z[i, j]) < reach
                in_yz += there[j] < reach
                in_z += z[i, j] < reach
        else:
            in_z = n
            for j in range(n):
                in_x += own[j] < reach
                in_yz += there[j] < reach
        counts[i, 0], counts[i, 1], counts[i, 2] = in_x, in_yz, in_z
