"""The largest numbers that are taken."""

__all__ = ["LARGEST"]

# Beyond it squares, and sums of a million of them, overflow: variances would be infinite and columns pass for constant.
LARGEST = 1e151
