r"""Mutual information under a Student copula: dependence that also lives in the scale, as with heavy tails.

I(X; Y) = ½ (log|Px| + log|Py| − log|P|) + Ω(ν, d_x) + Ω(ν, d_y) − Ω(ν, d_x + d_y), where Ω(ν, d) is the entropy of the standard
Student distribution in d dimensions (Arellano-Valle, Contreras-Reyes and Genton, Scand. J. Stat. 40, 2013). P and ν are fitted by
maximum likelihood to ranks (Demarta and McNeil, Int. Stat. Rev. 73, 2005), so increasing maps of single columns do not
matter. ν = ∞ is the Gaussian copula.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import optimize, special

from latentry.information.gaussian import wishart_bias

__all__ = ["EllipticalCopula", "Ranks", "fit_gaussian_copula", "fit_student_copula", "student_entropy"]

Array = np.ndarray
LOG_FREEDOM = (np.log(0.3), np.log(200.0))


def student_entropy(freedom: float, d: int) -> float:
    """Return the differential entropy of the d-dimensional Student distribution with identity dispersion.

    Args:
        freedom: Degrees of freedom ν.
        d: Dimensions.

    Returns:
        Nats.

    >>> round(student_entropy(1.0, 1), 4)  # Cauchy: log 4π
    2.531
    """
    half = (freedom + d) / 2
    log_norm = special.gammaln(half) - special.gammaln(freedom / 2) - d / 2 * np.log(freedom * np.pi)
    return float(half * (special.digamma(half) - special.digamma(freedom / 2)) - log_norm)


@dataclass(frozen=True)
class Ranks:
    """The distinct ranks in (0, 1) and where each entry has its own: columns have them in common, so each is looked at once."""

    values: Array
    where: Array

    @classmethod
    def of(cls, uniforms: Array) -> Ranks:
        """Collect the distinct ranks of all columns.

        Args:
            uniforms: Ranks in (0, 1), a column for each variable.

        Returns:
            Distinct ranks, and where each entry has its own.
        """
        values, where = np.unique(uniforms, return_inverse=True)
        return cls(values, where.reshape(uniforms.shape))


def _log_marginal(points: Array, v: float) -> Array:
    """The log-density of one column: normal, or Student with v degrees of freedom."""
    if np.isinf(v):
        return np.asarray(-(points**2) / 2.0 - np.log(np.sqrt(2 * np.pi)))
    log_norm = np.log(special.poch(0.5 * v, 0.5)) - 0.5 * (np.log(v) + np.log(np.pi))
    return np.asarray(log_norm - (v + 1) / 2 * np.log1p(points * points / v))


@dataclass(frozen=True)
class EllipticalCopula:
    """A fitted Gaussian (freedom = ∞) or Student copula of (x, y), and the number of rows it was fitted to."""

    correlation: Array
    freedom: float
    dim_x: int
    n: int

    @property
    def information(self) -> float:
        """Return I(X; Y) in nats, less the bias that estimating the correlations brings."""
        dims = (self.dim_x, len(self.correlation) - self.dim_x)
        value = 0.5 * (_log_det(self.block(0)) + _log_det(self.block(1)) - _log_det(self.correlation))
        bias = 0.5 * (sum(wishart_bias(d, self.n) for d in dims) - wishart_bias(sum(dims), self.n))
        if np.isinf(self.freedom):
            return value - bias
        spread = (self.freedom + sum(dims) + 2) / (self.freedom + sum(dims))  # variance of weighted correlations
        tail = sum(student_entropy(self.freedom, d) for d in dims) - student_entropy(self.freedom, sum(dims))
        return value - spread * bias + tail

    def error(self, ratio: Array) -> float:
        """Estimate the standard error of `information`: of the mean log-ratio, and of the noise that correlations of zero add.

        The second part, d_x·d_y / 2n², is the variance of χ²/2n with d_x·d_y degrees of freedom; without it the interval at
        independence would shrink to nothing whenever the fitted correlations happen to be small.

        Args:
            ratio: Log-ratio of each row.

        Returns:
            Nats.
        """
        cells = self.dim_x * (len(self.correlation) - self.dim_x)
        return float(np.sqrt(np.var(ratio, ddof=1) / self.n + cells / (2 * self.n**2)))

    def block(self, which: int) -> Array:
        """Return the correlations inside x (0) or y (1).

        Args:
            which: 0 or 1.

        Returns:
            A correlation matrix.
        """
        cut = slice(None, self.dim_x) if which == 0 else slice(self.dim_x, None)
        return self.correlation[cut, cut]

    def scores(self, uniforms: Array) -> Array:
        """Map ranks in (0, 1) to the coordinates in which the copula is elliptical.

        Args:
            uniforms: Ranks in (0, 1), a column for each variable.

        Returns:
            The same shape.
        """
        if np.isinf(self.freedom):
            return np.asarray(special.ndtri(uniforms))
        ranks = Ranks.of(uniforms)
        return np.asarray(special.stdtrit(self.freedom, ranks.values)[ranks.where])

    def log_density(self, ranks: Ranks) -> Array:
        """Return the logarithm of the copula density of all columns together.

        Args:
            ranks: Of the rows.

        Returns:
            A number for each row.
        """
        v, values = self.freedom, ranks.values
        points = special.ndtri(values) if np.isinf(v) else special.stdtrit(v, values)
        single = np.sum(_log_marginal(points, v)[ranks.where], axis=1)
        return np.asarray(self._log_pdf(points[ranks.where], self.correlation) - single)

    def log_ratio(self, scores: Array) -> Array:
        """Return the log-ratio log p(x, y) − log p(x) − log p(y) at each row.

        Args:
            scores: As :meth:`scores` returns them.

        Returns:
            Nats for each row.
        """
        x, y = scores[:, : self.dim_x], scores[:, self.dim_x :]
        parts = self._log_pdf(x, self.block(0)) + self._log_pdf(y, self.block(1))
        return np.asarray(self._log_pdf(scores, self.correlation) - parts)

    def _log_pdf(self, rows: Array, matrix: Array) -> Array:
        form, log_det = _quadratic_form(rows, matrix)
        d, v = rows.shape[1], self.freedom
        if np.isinf(v):
            return np.asarray(-0.5 * (form + log_det + d * np.log(2 * np.pi)))
        log_norm = special.gammaln((v + d) / 2) - special.gammaln(v / 2) - d / 2 * np.log(v * np.pi)
        return np.asarray(log_norm - 0.5 * log_det - (v + d) / 2 * np.log1p(form / v))


def _quadratic_form(rows: Array, matrix: Array) -> tuple[Array, float]:
    lower = np.linalg.cholesky(matrix)
    solved = np.linalg.solve(lower, rows.T)
    return np.sum(solved**2, axis=0), 2 * float(np.sum(np.log(np.diag(lower))))


def _log_det(matrix: Array) -> float:
    return float(np.linalg.slogdet(matrix)[1])


def _correlation(second_moment: Array) -> Array:
    """The correlations, a hair closer to none: columns that repeat each other must not make the matrix singular."""
    size = np.sqrt(np.diag(second_moment))
    return np.asarray((1 - 1e-10) * second_moment / np.outer(size, size) + 1e-10 * np.eye(len(size)))


def fit_gaussian_copula(uniforms: Array, dim_x: int) -> EllipticalCopula:
    """Fit the correlations of the normal scores.

    Args:
        uniforms: Ranks in (0, 1), a column for each variable.
        dim_x: Columns that belong to x.

    Returns:
        The copula.
    """
    scores = special.ndtri(uniforms)
    return EllipticalCopula(_correlation(scores.T @ scores), np.inf, dim_x, len(uniforms))


def fit_student_copula(uniforms: Array, dim_x: int, sweeps: int = 2) -> EllipticalCopula:
    """Fit ν and P in turn by maximum likelihood; fall back to ν = ∞ when no finite ν does better.

    Args:
        uniforms: Ranks in (0, 1), a column for each variable.
        dim_x: Columns that belong to x.
        sweeps: Times that ν is fitted.

    Returns:
        The copula.

    >>> rng = np.random.default_rng(0)
    >>> rows = rng.standard_normal((2000, 2)) / np.sqrt(rng.chisquare(3, (2000, 1)) / 3)
    >>> ranks = (rows.argsort(axis=0).argsort(axis=0) + 0.5) / 2000
    >>> 2 < fit_student_copula(ranks, 1).freedom < 5
    True
    """
    normal, ranks = fit_gaussian_copula(uniforms, dim_x), Ranks.of(uniforms)
    result = _best_freedom(ranks, normal.correlation, dim_x)
    for _ in range(sweeps - 1):
        result = _best_freedom(ranks, _best_correlation(uniforms, result), dim_x)
    plain = np.sum(normal.log_density(ranks))
    better = np.sum(result.log_density(ranks)) > plain + 2  # two nats: an Akaike-like price
    return result if better else normal


def _best_freedom(ranks: Ranks, correlation: Array, dim_x: int) -> EllipticalCopula:
    def copula(log_freedom: float) -> EllipticalCopula:
        return EllipticalCopula(correlation, float(np.exp(log_freedom)), dim_x, len(ranks.where))

    def loss(log_freedom: float) -> float:
        return -float(np.mean(copula(log_freedom).log_density(ranks)))

    result = optimize.minimize_scalar(loss, bounds=LOG_FREEDOM, method="bounded", options={"xatol": 0.01})
    return copula(result.x)


def _best_correlation(uniforms: Array, start: EllipticalCopula, steps: int = 10) -> Array:
    """Expectation-maximisation for the dispersion at a fixed ν, kept a correlation matrix."""
    scores, matrix = start.scores(uniforms), start.correlation
    for _ in range(steps):
        form, _ = _quadratic_form(scores, matrix)
        weight = (start.freedom + scores.shape[1]) / (start.freedom + form)
        matrix = _correlation(scores.T @ (scores * weight[:, None]))
    return matrix
