"""Scales to divide a block by, so that the answer does not depend on its units.

If s(aX) = a·s(X) for a > 0, then any estimate computed from X / s(X) is the same for X and aX. The functions
differ in what else they forgive: one number per block (l2, rms, linf) spares the relative sizes of the columns, std
does not; copula forgives every increasing map of a column, whiten the correlations inside the block.
Division by a power of two comes first, and is exact: data near 1e-300 neither under- nor overflow.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.linalg import qr

from latentry.data import normal_scores
from latentry.errors import DataError, nearest

__all__ = [
    "NORMALISERS",
    "copula",
    "independent_columns",
    "l2",
    "linf",
    "normalise",
    "rms",
    "std",
    "whiten",
]

Array = np.ndarray


def _centred(x: Array) -> Array:
    """Columns minus their means, divided by a power of two near the largest magnitude."""
    exponents = np.frexp(np.max(np.abs(x), axis=0, keepdims=True))[1]
    exponent = int(exponents.max())
    x = np.ldexp(x, -exponent)
    return np.asarray(x - x.mean(axis=0))


def _divided(x: Array, scale: Array | float) -> Array:
    """The block divided by its scale; what does not vary is left at zero."""
    return np.asarray(np.divide(x, scale, out=np.zeros_like(x), where=np.broadcast_to(np.asarray(scale) > 0, x.shape)))


def std(x: Array) -> Array:
    """Divide each column by its own standard deviation, after centring.

    Args:
        x: Rows.

    Returns:
        The same shape.

    >>> std(np.array([[1.0, 10.0], [3.0, 50.0]]))
    array([[-1., -1.],
           [ 1.,  1.]])
    """
    exponent = np.frexp(np.max(np.abs(x), axis=0))[1]  # per column, so that unequal columns are all safe
    x = np.ldexp(x, -exponent)
    x = x - x.mean(axis=0)
    return _divided(x, np.sqrt(np.mean(x**2, axis=0)))


def l2(x: Array) -> Array:
    """Divide the block by sqrt(mean_i ‖x_i‖²), after centring.

    Args:
        x: Rows.

    Returns:
        The same shape.
    """
    x = _centred(x)
    return _divided(x, float(np.sqrt(np.mean(np.sum(x**2, axis=1)))))


def rms(x: Array) -> Array:
    """Divide the block by the root mean square over all its entries: √d times `l2`.

    Args:
        x: Rows.

    Returns:
        The same shape.
    """
    x = _centred(x)
    return _divided(x, float(np.sqrt(np.mean(x**2))))


def linf(x: Array) -> Array:
    """Divide the block by mean_i max_j |x_ij|, after centring: the size that max-norm neighbours see.

    Args:
        x: Rows.

    Returns:
        The same shape.
    """
    x = _centred(x)
    return _divided(x, float(np.mean(np.max(np.abs(x), axis=1))))


copula = normal_scores


def independent_columns(x: Array) -> Array:
    """Drop columns that the others determine linearly (pivoted QR).

    Args:
        x: Rows.

    Returns:
        The other columns, in their order.
    """
    r, order = qr(x - x.mean(axis=0), mode="r", pivoting=True)
    size = np.abs(np.diag(r))
    rank = int(np.sum(size > max(x.shape) * np.finfo(float).eps * size[0])) if len(size) else 0
    return x[:, np.sort(order[:rank])]


def whiten(x: Array) -> Array:
    """Multiply the block by the symmetric inverse square root of its covariance, less columns that the others determine.

    Symmetric, because eigenvectors alone turn by any angle when eigenvalues meet, and a max-norm would notice.

    Args:
        x: Rows.

    Returns:
        Uncorrelated columns of unit size.
    """
    x = independent_columns(std(x))
    values, vectors = np.linalg.eigh(x.T @ x / len(x))
    return np.asarray(x @ (vectors / np.sqrt(values)) @ vectors.T)


def none(x: Array) -> Array:
    """Return the block as it is: only for showing what units do."""
    return x


NORMALISERS: dict[str, Callable[[Array], Array]] = {
    "std": std, "l2": l2, "rms": rms, "linf": linf, "copula": copula, "whiten": whiten, "none": none,
}  # fmt: skip


def normalise(x: Array, name: str | None) -> Array:
    """Apply a normaliser by its name; None is "none".

    Args:
        x: Rows.
        name: One of ``NORMALISERS``, or None.

    Returns:
        Normalised rows.

    Raises:
        DataError: If the name is not known.
    """
    if name is not None and name not in NORMALISERS:
        raise DataError(f"normalize={name!r} is not known{nearest(name, NORMALISERS)}")
    return NORMALISERS[name or "none"](x)
