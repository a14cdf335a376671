"""Max-norm neighbour searches on a k-d tree, compiled: the k-th distance, counts within a reach, farthest neighbours.

Rows are put into the order of the tree and cut into leaves of `LEAF` rows, every leaf full but the last. A leaf is stored
column by column, so that one instruction takes several of its rows; what is missing in the last one is ∞, beyond any reach.
Questions are answered for a whole leaf of rows at a time, `asked`, of the same tree or of another one: a node is left out if its
box is farther from the asked leaf's box than the largest radius of its rows (dual-tree search: Gray and Moore, NeurIPS 2000),
then row by row if the row's own radius does not reach it. A node that lies within every row's reach is counted without being
entered. Asked rows are among the rows of the tree, so that each meets itself: k + 1 rows are looked for, not k.

Nodes are numbered in preorder: a node of leaves [a, b) has its left child next to it and its right one behind the left one's
2 (mid − a) − 1 nodes, so that no links are stored. Boxes are compared by differences of the very numbers that make distances, and
rounding is monotone: pruning never changes a count.

Importing this file loads numba and, the first time on a machine, compiles for some seconds: import it when a search is run.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from latentry.machine_code import compiled

__all__ = ["LEAF", "count", "kth", "plant", "reach"]

Array = np.ndarray

LEAF = 64  # rows: smaller leaves prune more but feed wide instructions less; 64 to 128 measured best
DEEP = 128  # places on a stack: more than twice the depth of any tree that fits into memory

_inline = njit(nogil=True, error_model="numpy")


# --- building -----------------------------------------------------------------------------------------


@_inline
def _swap(rows: Array, order: Array, i: int, j: int) -> None:
    for c in range(rows.shape[1]):
        kept = rows[i, c]
        rows[i, c] = rows[j, c]
        rows[j, c] = kept
    row = order[i]
    order[i] = order[j]
    order[j] = row


@_inline
def _select(rows: Array, order: Array, low: int, high: int, place: int, c: int) -> None:
    """Put the row that sorting by column c would put at `place` there, smaller ones before it (Hoare's quickselect)."""
    while low < high:
        a, b, e = rows[low, c], rows[(low + high) // 2, c], rows[high, c]
        pivot = max(min(a, b), min(max(a, b), e))
        i, j = low, high
        while i <= j:
            while rows[i, c] < pivot:
                i += 1
            while rows[j, c] > pivot:
                j -= 1
            if i <= j:
                _swap(rows, order, i, j)
                i += 1
                j -= 1
        if place <= j:
            high = j
        elif place >= i:
            low = i
        else:
            return


@_inline
def _bound(rows: Array, first: int, last: int, low: Array, high: Array) -> int:
    """Fill in the box of the rows; answer its widest column."""
    for c in range(rows.shape[1]):
        low[c] = rows[first, c]
        high[c] = rows[first, c]
    for i in range(first + 1, last):
        for c in range(rows.shape[1]):
            value = rows[i, c]
            low[c] = value if value < low[c] else low[c]
            high[c] = value if value > high[c] else high[c]
    widest = 0
    for c in range(1, rows.shape[1]):
        if high[c] - low[c] > high[widest] - low[widest]:
            widest = c
    return widest


@_inline
def _push(stack: Array, top: int, node: int, first: int, last: int) -> int:
    stack[top, 0] = node
    stack[top, 1] = first
    stack[top, 2] = last
    return top + 1


@compiled("void(f8[:, ::1], i8[::1], f8[:, :, ::1], f8[:, ::1], f8[:, ::1], i8[::1])")
def plant(rows: Array, order: Array, leaves: Array, low: Array, high: Array, homes: Array) -> None:
    """Sort rows and their numbers into a tree; fill in leaves (leaf × column × row), boxes and the node of each leaf.

    Args:
        rows: In C order; sorted in place.
        order: Row numbers; sorted along.
        leaves: Filled in, column by column.
        low: Lower corners of the boxes, filled in.
        high: Upper corners of the boxes, filled in.
        homes: Node of each leaf, filled in.
    """
    n = len(rows)
    stack = np.empty((DEEP, 3), np.int64)
    top = _push(stack, 0, 0, 0, len(leaves))
    while top > 0:
        top -= 1
        node, a, b = stack[top, 0], stack[top, 1], stack[top, 2]
        first, last = a * LEAF, min(b * LEAF, n)
        widest = _bound(rows, first, last, low[node], high[node])
        if b - a > 1:
            mid = (a + b + 1) // 2
            _select(rows, order, first, last - 1, mid * LEAF, widest)
            top = _push(stack, top, node + 2 * (mid - a), mid, b)
            top = _push(stack, top, node + 1, a, mid)
            continue
        homes[a] = node
        for i in range(first, last):
            for c in range(rows.shape[1]):
                leaves[a, c, i - first] = rows[i, c]


# --- distances ----------------------------------------------------------------------------------------


@_inline
def _nearest(low: Array, high: Array, node: int, asked_low: Array, asked_high: Array, here: int) -> float:
    """Compute the least distance that rows of two boxes can have."""
    result = 0.0
    for c in range(low.shape[1]):
        below, above = low[node, c] - asked_high[here, c], asked_low[here, c] - high[node, c]
        gap = below if below > above else above
        result = gap if gap > result else result
    return result


@_inline
def _farthest(low: Array, high: Array, node: int, asked_low: Array, asked_high: Array, here: int) -> float:
    """Compute the largest distance that rows of two boxes can have."""
    result = 0.0
    for c in range(low.shape[1]):
        above, below = high[node, c] - asked_low[here, c], asked_high[here, c] - low[node, c]
        gap = below if below > above else above
        result = gap if gap > result else result
    return result


@_inline
def _gaps(leaf: Array, low: Array, high: Array, node: int, gaps: Array) -> None:
    """Fill in how far each row of the leaf is from a box."""
    for j in range(LEAF):
        gaps[j] = 0.0
    for c in range(len(leaf)):
        least, most = low[node, c], high[node, c]
        for j in range(LEAF):
            below, above = least - leaf[c, j], leaf[c, j] - most
            gap = below if below > above else above
            gaps[j] = gap if gap > gaps[j] else gaps[j]


@_inline
def _distances(leaf: Array, asked: Array, q: int, radius: float, apart: Array) -> int:
    """Count the rows of a leaf within the radius of an asked row; unless there is none, fill in how far each is.

    Three columns at a time, so that partial results are read and written seldom; the last one is repeated where they do not
    divide by three. The search ends where no row is left.
    """
    for j in range(LEAF):
        apart[j] = 0.0
    c, last, within = 0, len(leaf) - 1, 1
    while c <= last and within > 0:
        c1, c2 = min(c + 1, last), min(c + 2, last)
        r0, r1, r2 = asked[c, q], asked[c1, q], asked[c2, q]
        within = 0
        for j in range(LEAF):
            d0, d1, d2 = abs(leaf[c, j] - r0), abs(leaf[c1, j] - r1), abs(leaf[c2, j] - r2)
            d0 = d0 if d0 > d1 else d1
            d2 = d2 if d2 > apart[j] else apart[j]
            d0 = d0 if d0 > d2 else d2
            apart[j] = d0
            within += d0 <= radius
        c += 3
    return within


# --- the k-th distance --------------------------------------------------------------------------------


@_inline
def _insert(near: Array, q: int, distance: float) -> None:
    """Put a distance into its place among the nearest, in place of the largest."""
    i = near.shape[1] - 1
    while i > 0 and near[q, i - 1] > distance:
        near[q, i] = near[q, i - 1]
        i -= 1
    near[q, i] = distance


@_inline
def _improve(near: Array, leaf: Array, asked: Array, size: int, gaps: Array, apart: Array) -> float:
    """Let asked rows look for nearer rows in a leaf; answer the largest radius that is left."""
    last, worst = near.shape[1] - 1, 0.0
    for q in range(size):
        if gaps[q] < near[q, last] and _distances(leaf, asked, q, near[q, last], apart) > 0:
            for j in range(LEAF):
                if apart[j] < near[q, last]:
                    _insert(near, q, apart[j])
        worst = max(worst, near[q, last])
    return worst


@_inline
def _off_centre(low: Array, high: Array, node: int, asked_low: Array, asked_high: Array, here: int) -> float:
    """Compute twice the distance between the centres of two boxes."""
    result = 0.0
    for c in range(low.shape[1]):
        gap = abs((low[node, c] + high[node, c]) - (asked_low[here, c] + asked_high[here, c]))
        result = gap if gap > result else result
    return result


_TREE = "f8[:, :, ::1], f8[:, ::1], f8[:, ::1], i8[::1], f8[:, :, ::1], f8[:, ::1], f8[:, ::1]"


@compiled(f"void({_TREE}, i8, i8, i8, f8[::1])")
def kth(
    leaves: Array, low: Array, high: Array, homes: Array, asked: Array, asked_low: Array, asked_high: Array,
    k: int, start: int, stop: int, radius: Array,
) -> None:  # fmt: skip
    """Fill in the distance to the k-th other row, for the rows of some asked leaves, in their tree's order.

    Args:
        leaves: Of the tree, column by column.
        low: Lower corners of the boxes.
        high: Upper corners of the boxes.
        homes: Node of each leaf.
        asked: Leaves of the asked rows.
        asked_low: Lower corners of their boxes.
        asked_high: Upper corners of their boxes.
        k: Which other row.
        start: First asked leaf.
        stop: The leaf after the last.
        radius: Filled in.
    """
    near, gaps, apart = np.empty((LEAF, k + 1)), np.empty(LEAF), np.empty(LEAF)
    stack, waits = np.empty((DEEP, 3), np.int64), np.empty(DEEP)
    for here in range(start, stop):
        size = min(LEAF, len(radius) - here * LEAF)
        near[:, :] = np.inf
        worst, waits[0], top = np.inf, 0.0, _push(stack, 0, 0, 0, len(leaves))
        while top > 0:
            top -= 1
            if waits[top] >= worst:
                continue
            node, a, b = stack[top, 0], stack[top, 1], stack[top, 2]
            if b - a == 1:
                _gaps(asked[here], low, high, node, gaps)
                worst = _improve(near, leaves[a], asked[here], size, gaps, apart)
                continue
            mid = (a + b + 1) // 2
            left, right = node + 1, node + 2 * (mid - a)
            to_left = _nearest(low, high, left, asked_low, asked_high, here)
            to_right = _nearest(low, high, right, asked_low, asked_high, here)
            left_first = to_left < to_right
            if to_left == to_right:
                off_left = _off_centre(low, high, left, asked_low, asked_high, here)
                left_first = off_left < _off_centre(low, high, right, asked_low, asked_high, here)
            if left_first:
                waits[top], waits[top + 1] = to_right, to_left
                top = _push(stack, _push(stack, top, right, mid, b), left, a, mid)
            else:
                waits[top], waits[top + 1] = to_left, to_right
                top = _push(stack, _push(stack, top, left, a, mid), right, mid, b)
        for q in range(size):
            radius[here * LEAF + q] = near[q, k]


# --- what lies within a reach -------------------------------------------------------------------------


@_inline
def _extremes(values: Array, first: int, last: int) -> tuple[float, float]:
    least, most = values[first], values[first]
    for i in range(first, last):
        least = min(least, values[i])
        most = max(most, values[i])
    return least, most


@_inline
def _leaves_within(
    low: Array, high: Array, asked_low: Array, asked_high: Array, here: int, least: float, most: float,
    n: int, stack: Array, result: Array,
) -> tuple[int, int]:  # fmt: skip
    """List leaves that some asked row reaches; answer how many leaves, and how many rows all asked rows reach besides."""
    count, whole, top = 0, 0, _push(stack, 0, 0, 0, len(result))
    while top > 0:
        top -= 1
        node, a, b = stack[top, 0], stack[top, 1], stack[top, 2]
        if _nearest(low, high, node, asked_low, asked_high, here) > most:
            continue
        if _farthest(low, high, node, asked_low, asked_high, here) <= least:
            whole += min(b * LEAF, n) - a * LEAF
        elif b - a == 1:
            result[count] = a
            count += 1
        else:
            mid = (a + b + 1) // 2
            top = _push(stack, top, node + 1, a, mid)
            top = _push(stack, top, node + 2 * (mid - a), mid, b)
    return count, whole


@compiled(f"void({_TREE}, i8, f8[::1], i8, i8, i8[::1])")
def count(
    leaves: Array, low: Array, high: Array, homes: Array, asked: Array, asked_low: Array, asked_high: Array,
    n: int, reaches: Array, start: int, stop: int, counts: Array,
) -> None:  # fmt: skip
    """Fill in how many of n rows lie up to each asked row's reach, itself among them, for the rows of some asked leaves.

    Args:
        leaves: Of the tree, column by column.
        low: Lower corners of the boxes.
        high: Upper corners of the boxes.
        homes: Node of each leaf.
        asked: Leaves of the asked rows.
        asked_low: Lower corners of their boxes.
        asked_high: Upper corners of their boxes.
        n: Rows of the tree.
        reaches: Of each asked row.
        start: First asked leaf.
        stop: The leaf after the last.
        counts: Filled in.
    """
    gaps, apart = np.empty(LEAF), np.empty(LEAF)
    stack, result = np.empty((DEEP, 3), np.int64), np.empty(len(leaves), np.int64)
    for here in range(start, stop):
        first, last = here * LEAF, min((here + 1) * LEAF, len(reaches))
        least, most = _extremes(reaches, first, last)
        near, whole = _leaves_within(low, high, asked_low, asked_high, here, least, most, n, stack, result)
        for i in range(first, last):
            counts[i] = whole
        for f in range(near):
            there = result[f]
            _gaps(asked[here], low, high, homes[there], gaps)
            for q in range(last - first):
                if gaps[q] <= reaches[first + q]:
                    counts[first + q] += _distances(leaves[there], asked[here], q, reaches[first + q], apart)


@_inline
def _stretch(
    leaf: Array, asked: Array, q: int, apart: Array, radius: float, spaces: Array, reaches: Array, i: int
) -> None:  # fmt: skip
    """Raise a row's reaches to the distances of the rows within its radius."""
    for j in range(LEAF):
        if apart[j] <= radius:
            for s in range(len(spaces)):
                for c in range(len(leaf)):
                    if spaces[s, c]:
                        reaches[i, s] = max(reaches[i, s], abs(leaf[c, j] - asked[c, q]))


@compiled(f"void({_TREE}, f8[::1], b1[:, ::1], i8, i8, f8[:, ::1])")
def reach(
    leaves: Array, low: Array, high: Array, homes: Array, asked: Array, asked_low: Array, asked_high: Array,
    radius: Array, spaces: Array, start: int, stop: int, reaches: Array,
) -> None:  # fmt: skip
    """Fill in, space by space, the largest distance to a row within the joint radius; a space is a mask of columns.

    Args:
        leaves: Of the tree, column by column.
        low: Lower corners of the boxes.
        high: Upper corners of the boxes.
        homes: Node of each leaf.
        asked: Leaves of the asked rows.
        asked_low: Lower corners of their boxes.
        asked_high: Upper corners of their boxes.
        radius: Of each asked row.
        spaces: A mask of columns for each space.
        start: First asked leaf.
        stop: The leaf after the last.
        reaches: Filled in, row × space.
    """
    gaps, apart = np.empty(LEAF), np.empty(LEAF)
    stack, result = np.empty((DEEP, 3), np.int64), np.empty(len(leaves), np.int64)
    for here in range(start, stop):
        first, last = here * LEAF, min((here + 1) * LEAF, len(radius))
        most = _extremes(radius, first, last)[1]
        near, _ = _leaves_within(low, high, asked_low, asked_high, here, -1.0, most, 0, stack, result)
        for f in range(near):
            there = result[f]
            _gaps(asked[here], low, high, homes[there], gaps)
            for q in range(last - first):
                i, within = first + q, 0
                if gaps[q] <= radius[i]:
                    within = _distances(leaves[there], asked[here], q, radius[i], apart)
                if within > 0:
                    _stretch(leaves[there], asked[here], q, apart, radius[i], spaces, reaches, i)
