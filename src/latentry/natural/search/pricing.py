"""Two envelope problems: which component distributions may a latent have, and what is each worth?

A latent over p is a mixture p = Σ_v π_v q_v. Both problems maximise Σ_v π_v Φ(q_v); their duals are functions
c(x) with Φ(q) ≤ ⟨c, q⟩ for every q, and the price of c is max_q Φ(q) − ⟨c, q⟩.
"""

from __future__ import annotations

from dataclasses import dataclass
from string import ascii_lowercase
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr, logsumexp

from latentry.natural.search.branch_and_bound import Ceiling, ceiling
from latentry.natural.search.local_descent import descend

__all__ = ["MAX_OBSERVABLES", "IndependentComponents", "NaturalComponents", "Pricing"]

Array = NDArray[np.float64]
Factors = tuple[Array, ...]
# The bounds look at every combination of corners, at least 2^(n−1) of them.
MAX_OBSERVABLES = 10


class Pricing(Protocol):
    """An envelope problem; distributions are rows over the cells of a table of the given shape."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Return the number of values of each observable."""
        ...

    def worth(self, laws: Array) -> Array:
        """Compute Φ of each distribution.

        Args:
            laws: (m, cells).

        Returns:
            Values (m,).
        """
        ...

    def climb(self, prices: Array, starts: Factors) -> Array:
        """Find distributions that are local maxima of Φ(q) − ⟨c, q⟩.

        Args:
            prices: c, (cells,).
            starts: Starting marginals, one (m, d_i) array per axis.

        Returns:
            Distributions (at most m, cells).
        """
        ...

    def ceiling(self, prices: Array, *, known: float, tolerance: float, nodes: int) -> Ceiling:
        """Bound max_q Φ(q) − ⟨c, q⟩ from above, certified.

        Args:
            prices: c, (cells,).
            known: A value that is known to be reached.
            tolerance: Gap at which the search stops.
            nodes: Budget of cells.

        Returns:
            The bound; its points are marginals to climb from.
        """
        ...

    def refine(self, law: Array, laws: Array, proportions: Array) -> tuple[Array, Array | None]:
        """Improve component distributions, and suggest prices where they can be computed.

        Args:
            law: p, (cells,).
            laws: The components (m, cells).
            proportions: Their weights (m,).

        Returns:
            Better components near the given ones, and prices (cells,) or None.
        """
        ...


def marginals(laws: Array, shape: tuple[int, ...]) -> Factors:
    """Compute the marginals of each distribution (m, cells), one (m, d_i) array per axis."""
    table = laws.reshape(-1, *shape)
    n = len(shape)
    return tuple(table.sum(axis=tuple(a + 1 for a in range(n) if a != i)) for i in range(n))


def _outer(factors: Factors) -> Array:
    """Π_i f_i(x_i) for a batch, flattened over cells."""
    letters = ascii_lowercase[1 : len(factors) + 1]
    spec = ",".join("a" + letter for letter in letters) + "->a" + letters
    product: Array = np.einsum(spec, *factors)
    return product.reshape(len(factors[0]), -1)


def _outer_sum(factors: list[Array]) -> Array:
    """Σ_i f_i(x_i) for a batch, flattened over cells."""
    total = factors[0]
    for factor in factors[1:]:
        total = (total[:, :, None] + factor[:, None, :]).reshape(len(total), -1)
    return total


def _merged(laws: Array, proportions: Array, distance: float = 0.05) -> Array:
    """Masses of groups of component distributions whose total variation to a heavier one is small."""
    groups: list[tuple[Array, Array]] = []
    for index in np.argsort(-proportions):
        law, mass = laws[index], proportions[index] * laws[index]
        near = next((g for g, (head, _) in enumerate(groups) if np.abs(head - law).sum() / 2 < distance), None)
        if near is None:
            groups.append((law, mass))
        else:
            groups[near] = (groups[near][0], groups[near][1] + mass)
    return np.stack([mass for _, mass in groups])


def _contract(table: Array, corners: Factors) -> Array:
    """Σ_x table(x) Π_i corners_i(x_i) over all axes but the last, for every combination of corners.

    Corners are (b, v_i, d_i); the result is (b, v_1 ⋯ v_{n−1}, d_n).
    """
    n = table.ndim
    axes, combos = ascii_lowercase[1 : n + 1], ascii_lowercase[n + 1 : 2 * n]
    spec = axes + "," + ",".join(f"a{v}{x}" for v, x in zip(combos, axes, strict=False))
    result: Array = np.einsum(f"{spec}->a{combos}{axes[-1]}", table, *corners, optimize=True)
    return result.reshape(len(result), -1, table.shape[-1])


@dataclass(frozen=True, eq=False)
class Tilted:
    """F(r) = ‖Σ E(x) Π_{i<n} r_i(x_i)^{θ_i}‖ with the last factor maximised in closed form (Hölder)."""

    table: Array
    powers: tuple[float, ...]
    scale: float

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the number of coordinates of each factor but the last."""
        return self.table.shape[:-1]

    def _norm(self, rows: Array) -> Array:
        theta = self.powers[-1]
        top: Array = rows.max(axis=-1)
        if theta >= 1.0:
            return top
        safe = np.where(top > 0, top, 1.0)[..., None]
        total: Array = np.sum((rows / safe) ** (1.0 / (1.0 - theta)), axis=-1)
        return total ** (1.0 - theta) * top

    def exact(self, points: Factors) -> Array:
        """Evaluate F at a batch of points."""
        powered = tuple((p**t)[:, None, :] for p, t in zip(points, self.powers, strict=False))
        return self.scale * np.log(self._norm(_contract(self.table, powered))[:, 0])

    def upper(self, corners: Factors) -> Array:
        # r^θ is concave: its tangent at the centre is affine, lies above it, and makes the whole convex.
        """Bound F from above on a batch of cells."""
        tangents = []
        for corner, theta in zip(corners, self.powers, strict=False):
            centre = corner.mean(axis=1, keepdims=True)
            tangents.append(centre**theta * (1.0 - theta + theta * corner / centre))
        largest: Array = self._norm(_contract(self.table, tuple(tangents))).max(axis=-1)
        return self.scale * np.log(largest)


@dataclass(frozen=True, eq=False)
class NaturalComponents:
    """Φ(q) = C H(q) − Σ_i κ_i H(q_i) with C = w_0 + Σ w_i and κ_i = w_0 + w_i: the naturality score.

    Since −H(q_i) = max_r ⟨q_i, ln r⟩, the price is C ln max_r Σ_x e^{−c(x)/C} Π_i r_i(x_i)^{κ_i/C}: a maximum
    over one distribution per observable, not over the whole table.
    """

    shape: tuple[int, ...]
    weights: tuple[float, ...]
    support: NDArray[np.bool_]

    @property
    def scale(self) -> float:
        """Return C = w_0 + Σ w_i."""
        return sum(self.weights)

    @property
    def powers(self) -> tuple[float, ...]:
        """Return θ_i = κ_i / C for each observable."""
        return tuple((self.weights[0] + w) / self.scale for w in self.weights[1:])

    def worth(self, laws: Array) -> Array:
        """Compute Φ of each distribution.

        Args:
            laws: (m, cells).

        Returns:
            Values (m,).
        """
        parts = zip(self.powers, marginals(laws, self.shape), strict=True)
        spread = sum(theta * entr(part).sum(axis=-1) for theta, part in parts)
        worth: Array = self.scale * (entr(laws).sum(axis=-1) - spread)
        return worth

    def _table(self, prices: Array) -> tuple[Array, float]:
        shift = float(prices[self.support].min())
        raw = np.where(self.support, np.exp(-(prices - shift) / self.scale), 0.0)
        return raw.reshape(self.shape), shift

    def climb(self, prices: Array, starts: Factors, steps: int = 400) -> Array:
        """Alternate between q and its marginals until q is a local maximum of Φ(q) − ⟨c, q⟩.

        Args:
            prices: c, (cells,).
            starts: Starting marginals, one (m, d_i) array per axis.
            steps: Most iterations.

        Returns:
            Distributions (m, cells).
        """
        table, _ = self._table(prices)
        flat, factors = table.reshape(1, -1), starts
        laws = np.empty((0, flat.size))
        for _ in range(steps):
            powered = tuple(f**t for f, t in zip(factors, self.powers, strict=True))
            raw = flat * _outer(powered)
            new = raw / raw.sum(axis=-1, keepdims=True)
            moved = np.inf if laws.size == 0 else np.abs(new - laws).max()
            laws, factors = new, marginals(new, self.shape)
            if moved < 1e-13:
                break
        return laws

    def refine(self, law: Array, laws: Array, proportions: Array) -> tuple[Array, Array | None]:
        """Merge components that are almost equal, descend on the channel, and read the prices off the gradients.

        Args:
            law: p, (cells,).
            laws: The components (m, cells).
            proportions: Their weights (m,).

        Returns:
            Components and prices (cells,).
        """
        merged = _merged(laws, proportions)
        total = merged.sum(axis=0)
        kernel = np.full((law.size, len(merged)), 1.0 / len(merged))
        kernel[total > 0] = (merged[:, total > 0] / total[total > 0]).T
        grid = (*self.shape, len(merged))
        channel = descend(law.reshape(1, *self.shape), kernel.reshape(grid), self.weights).reshape(law.size, -1)
        masses = (law[:, None] * channel).T
        masses = masses[masses.sum(axis=1) > 1e-12 * law.max()]
        components = masses / masses.sum(axis=1, keepdims=True)
        return components, self._tangent_prices(law, masses, components)

    def _tangent_prices(self, law: Array, masses: Array, components: Array) -> Array:
        """c(x) = Σ_v K(v|x) ∂Φ/∂q(x) at q_v: equal for all v at the optimum."""
        logs = [np.log(np.maximum(m, 1e-300)) for m in marginals(components, self.shape)]
        spread = _outer_sum([t * m for t, m in zip(self.powers, logs, strict=True)])
        gradients = self.scale * (spread - np.log(np.maximum(components, 1e-300)))
        return np.where(law > 0, (masses * gradients).sum(axis=0) / np.where(law > 0, law, 1.0), 0.0)

    def ceiling(self, prices: Array, *, known: float, tolerance: float, nodes: int) -> Ceiling:
        """Bound max_q Φ(q) − ⟨c, q⟩ by branch and bound over all observables but the one with most values.

        Args:
            prices: c, (cells,).
            known: A value that is known to be reached.
            tolerance: Gap at which the search stops.
            nodes: Budget of cells.

        Returns:
            The bound; its points are marginals to climb from.
        """
        table, shift = self._table(prices)
        order = np.argsort(self.shape, kind="stable")
        relaxed = Tilted(table.transpose(order), tuple(self.powers[i] for i in order), self.scale)
        highest = ceiling(relaxed, known=known + shift, tolerance=tolerance, nodes=nodes)
        return _unshifted(highest, shift, order, self.shape)


def _unshifted(highest: Ceiling, shift: float, order: NDArray[np.intp], shape: tuple[int, ...]) -> Ceiling:
    """Put the factors back in the order of the axes; the one maximised in closed form starts uniform."""
    if not highest.points:
        return Ceiling(highest.value - shift, highest.best - shift, (), highest.nodes)
    last = int(order[-1])
    uniform = np.full((len(highest.points[0]), shape[last]), 1.0 / shape[last])
    placed = dict(zip((int(i) for i in order), (*highest.points, uniform), strict=True))
    points = tuple(placed[i] for i in range(len(shape)))
    return Ceiling(highest.value - shift, highest.best - shift, points, highest.nodes)


@dataclass(frozen=True, eq=False)
class Crossed:
    """Σ_{i<n} H(q_i) + ln Σ_{x_n} exp(−E c), the last factor of a product distribution in closed form."""

    table: Array

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the number of coordinates of each factor but the last."""
        return self.table.shape[:-1]

    def exact(self, points: Factors) -> Array:
        """Evaluate the function at a batch of points."""
        rows = _contract(self.table, tuple(p[:, None, :] for p in points))[:, 0]
        value: Array = logsumexp(-rows, axis=-1) + sum(entr(p).sum(axis=-1) for p in points)
        return value

    def upper(self, corners: Factors) -> Array:
        # Entropy is concave: the cross-entropy with the centre is its tangent.
        """Bound the function from above on a batch of cells."""
        bends = [-np.einsum("bvd,bd->bv", c, np.log(c.mean(axis=1))) for c in corners]
        bound: Array = (logsumexp(-_contract(self.table, corners), axis=-1) + _outer_sum(bends)).max(axis=-1)
        return bound


@dataclass(frozen=True, eq=False)
class IndependentComponents:
    """Φ(q) = H(q) over product distributions only: a latent that mediates exactly (Wyner's common information)."""

    shape: tuple[int, ...]
    support: NDArray[np.bool_]

    def worth(self, laws: Array) -> Array:
        """Compute H of each distribution.

        Args:
            laws: (m, cells).

        Returns:
            Nats (m,).
        """
        entropies: Array = entr(laws).sum(axis=-1)
        return entropies

    def _table(self, prices: Array) -> Array:
        # Any finite price off the support is a valid dual; a high one keeps components inside it.
        high = prices[self.support].max() + 40.0
        return np.where(self.support, prices, high).reshape(self.shape)

    def climb(self, prices: Array, starts: Factors, steps: int = 400) -> Array:
        """Update one factor after the other until the product is a local maximum of H(q) − ⟨c, q⟩.

        Args:
            prices: c, (cells,).
            starts: Starting marginals, one (m, d_i) array per axis.
            steps: Most sweeps.

        Returns:
            Product distributions inside the support, (at most m, cells).
        """
        table = self._table(prices)
        factors = list(starts)
        n = len(self.shape)
        for _ in range(steps):
            before = [f.copy() for f in factors]
            for i in range(n):
                others = tuple(factors[j][:, None, :] for j in range(n) if j != i)
                cost = _contract(np.moveaxis(table, i, -1), others)[:, 0]
                raw = np.exp(-(cost - cost.min(axis=-1, keepdims=True)))
                factors[i] = raw / raw.sum(axis=-1, keepdims=True)
            if max(np.abs(a - b).max() for a, b in zip(before, factors, strict=True)) < 1e-13:
                break
        return self._inside(tuple(factors))

    def _inside(self, factors: Factors) -> Array:
        cleaned = []
        for f in factors:
            kept = np.where(f > 1e-9, f, 0.0)
            cleaned.append(kept / kept.sum(axis=-1, keepdims=True))
        laws = _outer(tuple(cleaned))
        inside: Array = laws[(laws[:, ~self.support] == 0).all(axis=-1)]
        return inside

    def refine(self, law: Array, laws: Array, proportions: Array) -> tuple[Array, Array | None]:
        """Return the components as they are: products have no free channel to descend on.

        Args:
            law: p, (cells,).
            laws: The components (m, cells).
            proportions: Their weights (m,).

        Returns:
            The components, and no prices.
        """
        return laws, None

    def ceiling(self, prices: Array, *, known: float, tolerance: float, nodes: int) -> Ceiling:
        """Bound max_q H(q) − ⟨c, q⟩ over products by branch and bound.

        Args:
            prices: c, (cells,).
            known: A value that is known to be reached.
            tolerance: Gap at which the search stops.
            nodes: Budget of cells.

        Returns:
            The bound; its points are marginals to climb from.
        """
        order = np.argsort(self.shape, kind="stable")
        highest = ceiling(Crossed(self._table(prices).transpose(order)), known=known, tolerance=tolerance, nodes=nodes)
        return _unshifted(highest, 0.0, order, self.shape)
