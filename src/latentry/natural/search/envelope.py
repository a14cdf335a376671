"""Column generation: the concave envelope of Φ at p, from both sides.

The master problem mixes the component distributions known so far (a linear programme); its dual c prices new ones; a
global bound on the price turns any c into a certificate, because Σ π_v Φ(q_v) ≤ ⟨c, p⟩ + max_q(Φ(q) − ⟨c, q⟩).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import OptimizeResult, linprog

from latentry.errors import DataError
from latentry.natural.search.pricing import Pricing, marginals

__all__ = ["Envelope", "channel_of", "concave_envelope"]

Array = NDArray[np.float64]
_SPLITS = 3


@dataclass(frozen=True, eq=False)
class Envelope:
    """Component distributions (m, cells), their weights, the value they reach, and an upper bound that none can pass."""

    laws: Array
    proportions: Array
    value: float
    upper: float
    rounds: int
    nodes: int

    def channel(self, shape: tuple[int, ...]) -> Array:
        """Return K(v|x) of the latent with these components.

        Args:
            shape: Number of values of each observable.

        Returns:
            (*shape, m), uniform where nothing happens.
        """
        return channel_of(self.laws * self.proportions[:, None], shape)

    @property
    def method(self) -> str:
        """Name the method in words."""
        return f"column generation, {self.rounds} rounds, {self.nodes} cells bounded"


def channel_of(masses: Array, shape: tuple[int, ...]) -> Array:
    """Compute K(v|x) from the masses π_v q_v(x); uniform where nothing happens.

    Args:
        masses: (m, cells).
        shape: Number of values of each observable.

    Returns:
        (*shape, m).
    """
    total = masses.sum(axis=0)
    rows = np.divide(masses, total, out=np.full_like(masses, 1.0 / len(masses)), where=total > 0)
    channel: Array = rows.T.reshape(*shape, -1)
    return channel


@dataclass
class _Search:
    """The columns known so far, the best upper bound, and what has been spent."""

    law: Array
    pricing: Pricing
    tolerance: float
    nodes: int
    rng: np.random.Generator
    laws: Array
    worth: Array
    upper: float = np.inf
    spent: int = 0

    def add(self, laws: Array) -> None:
        """Add distributions (m, cells) as columns."""
        self.laws = np.concatenate([self.laws, laws])
        self.worth = np.concatenate([self.worth, self.pricing.worth(laws)])

    def solve(self) -> tuple[Array, Array, float]:
        """Solve the master problem for the weights of the columns, the dual prices c and the value.

        Rows are divided by p(x) and columns by the largest weight they could have, so that every coefficient lies
        between 0 and 1 however small a cell is.
        """
        rows = self.law > 0
        mass = self.law[rows]
        ratios = self.laws[:, rows] / mass
        most = 1.0 / ratios.max(axis=1)
        solution = _linear_programme(-self.worth * most, (ratios * most[:, None]).T)
        prices = np.zeros(self.law.size)
        prices[rows] = -solution.eqlin.marginals / mass
        # A column counts when it has a noticeable part of the weight it could have; the rest is rounding.
        proportions = np.where(solution.x > 1e-9, solution.x * most, 0.0)
        return proportions, prices, float(proportions @ self.worth)

    def price(self, prices: Array, proportions: Array, starts: int) -> tuple[Array, float]:
        """Add the distributions that these prices undervalue; return them, worst first, and the largest gain."""
        laws = self.pricing.climb(prices, self._starts(proportions, starts))
        return self._keep(laws, prices)

    def _keep(self, laws: Array, prices: Array) -> tuple[Array, float]:
        gains = self.pricing.worth(laws) - laws @ prices
        order = np.argsort(-gains)
        better = _distinct(laws[order][gains[order] > 1e-12])
        self.add(better)
        return better, max(0.0, float(gains.max(initial=0.0)))

    def _starts(self, proportions: Array, starts: int) -> tuple[Array, ...]:
        used = marginals(self.laws[: len(proportions)][proportions > 0], self.pricing.shape)
        fresh = [self.rng.dirichlet(np.full(d, 0.7), size=starts) for d in self.pricing.shape]
        factors = [np.maximum(np.concatenate(pair), 1e-6) for pair in zip(used, fresh, strict=True)]
        return tuple(f / f.sum(axis=-1, keepdims=True) for f in factors)

    def certify(self, prices: Array, known: float) -> Array:
        """Turn prices into an upper bound; distributions that were missed become columns and are returned."""
        left = max(1000, self.nodes - self.spent)
        result = self.pricing.ceiling(prices, known=known, tolerance=self.tolerance / 4, nodes=left)
        self.spent += result.nodes
        self.upper = min(self.upper, float(self.law @ prices) + max(0.0, result.value))
        if not result.points:
            return np.empty((0, self.law.size))
        return self._keep(self.pricing.climb(prices, result.points), prices)[0]

    def consider(self, prices: Array, proportions: Array, value: float, starts: int) -> Array:
        """Price with c, and ask for the certificate when little is left to gain; return undervalued distributions."""
        better, gain = self.price(prices, proportions, starts)
        if float(self.law @ prices) + gain - value <= self.tolerance / 2:
            return self.certify(prices, gain)
        return better

    def descend(self, proportions: Array, starts: int) -> bool:
        """Improve the current components, price with their gradients, and split off what those undervalue.

        A linear programme alone cannot use an undervalued q next to p: it also needs p without its part of q,
        which a descent from the split mixture finds.
        """
        used = proportions > 0
        components, suggested = self.pricing.refine(self.law, self.laws[: len(proportions)][used], proportions[used])
        if suggested is None:
            return False
        self.add(components)
        proportions, _, value = self.solve()
        missed = self.consider(suggested, proportions, value, starts)
        used = proportions > 0
        for law in missed[:_SPLITS]:
            parts, weights = _split(self.law, self.laws[: len(proportions)][used], proportions[used], law)
            self.add(self.pricing.refine(self.law, parts, weights)[0])
        return True


def _split(law: Array, laws: Array, proportions: Array, new: Array) -> tuple[Array, Array]:
    """Half of the largest possible weight goes to the new component, taken from the others in proportion."""
    occupied = law > 0
    taken = np.zeros_like(law)
    taken[occupied] = 0.5 * new[occupied] / (new[occupied] / law[occupied]).max() / law[occupied]
    masses = np.vstack([laws * proportions[:, None] * (1.0 - taken), law * taken])
    weights = masses.sum(axis=1)
    return masses / weights[:, None], weights


def _distinct(laws: Array) -> Array:
    """Without repetitions, in the same order."""
    _, first = np.unique(np.round(laws, 7), axis=0, return_index=True)
    return laws[np.sort(first)]


def _linear_programme(cost: Array, matrix: Array) -> OptimizeResult:
    """Minimise cost·y over y ≥ 0 with matrix·y = 1, as accurately as the solver manages."""
    for tolerance in (1e-10, 1e-9, 1e-7):
        options = {"primal_feasibility_tolerance": tolerance, "dual_feasibility_tolerance": tolerance}
        solution = linprog(cost, A_eq=matrix, b_eq=np.ones(len(matrix)), options=options)
        if solution.x is not None:
            return solution
    raise DataError(
        f"law: the linear programme over {len(cost)} component distributions failed ({solution.message}). Merge rare cells."
    )


def concave_envelope(
    law: Array,
    pricing: Pricing,
    *,
    tolerance: float = 1e-7,
    rounds: int = 300,
    nodes: int = 200_000,
    starts: int = 16,
    seed: int = 0,
) -> Envelope:
    """Compute the largest Σ_v π_v Φ(q_v) with Σ_v π_v q_v = p, to within `tolerance` if the budgets allow.

    Args:
        law: The distribution p, one axis per observable.
        pricing: The function Φ, and how it is maximised.
        tolerance: Gap at which the rounds stop.
        rounds: Budget of column generation.
        nodes: Budget of the global bound, in cells.
        starts: Random starting points per round.
        seed: Of the starting points.

    Returns:
        The components, the value they reach and an upper bound.
    """
    flat = law.ravel()
    points = np.eye(flat.size)[flat > 0]
    rng = np.random.default_rng(seed)
    search = _Search(flat, pricing, tolerance, nodes, rng, points, pricing.worth(points))
    turn = 0
    for turn in range(1, rounds + 1):
        proportions, prices, value = search.solve()
        if search.upper - value <= tolerance or search.spent >= nodes:
            break
        if turn % 2 or not search.descend(proportions, starts):
            search.consider(prices, proportions, value, starts)
    proportions, prices, value = search.solve()
    if not np.isfinite(search.upper):
        search.certify(prices, 0.0)
    keep = proportions > 0
    return Envelope(search.laws[: len(proportions)][keep], proportions[keep], value, search.upper, turn, search.spent)
