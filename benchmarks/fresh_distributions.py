"""Distributions of known mutual information that took no part in the making of `auto`, and some on which its constants were set.

Truths are closed forms or numerical integrals: of a copula density on a fine grid, or h(Y) − h(Y | X) on a fine line. A sum over
independent pairs of columns adds up; columns of noise add nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import integrate, special, stats
from scipy.signal import lfilter

Array = np.ndarray
Rows = tuple[Array, Array]
GRID = 1500


@dataclass(frozen=True)
class Case:
    """A distribution, its truth in nats, whether constants were set on it, and what is said of its rows."""

    name: str
    truth: float
    draw: Callable[[np.random.Generator, int], Rows]
    tuned: bool = False
    given: Callable[[int], dict] = lambda n: {}


# --- copulas ------------------------------------------------------------------------------------------


def _frailty(rng: np.random.Generator, n: int, name: str, theta: float) -> Array:
    """The positive variable whose Laplace transform generates the copula."""
    if name == "clayton":
        return rng.gamma(1 / theta, size=n)
    if name == "gumbel":
        return _stable(rng, n, 1 / theta)
    return rng.logseries(1 - np.exp(-theta), n).astype(float)  # Frank


def _stable(rng: np.random.Generator, n: int, a: float) -> Array:
    """A positive stable variable with Laplace transform exp(−t^a) (Kanter 1975)."""
    angle, e = np.pi * rng.random(n), rng.exponential(size=n)
    return (np.sin(a * angle) / np.sin(angle) ** (1 / a)) * (np.sin((1 - a) * angle) / e) ** ((1 - a) / a)


def _generator(t: Array, name: str, theta: float) -> Array:
    if name == "clayton":
        return (1 + t) ** (-1 / theta)
    if name == "gumbel":
        return np.exp(-(t ** (1 / theta)))
    return -np.log1p(-(1 - np.exp(-theta)) * np.exp(-t)) / theta


def copula_pairs(rng: np.random.Generator, n: int, name: str, theta: float, pairs: int = 1, noise: int = 0) -> Rows:
    """Independent pairs of columns with an Archimedean copula, and columns of noise."""
    columns = [
        _generator(rng.exponential(size=(n, 2)) / _frailty(rng, n, name, theta)[:, None], name, theta)
        for _ in range(pairs)
    ]
    x, y = (np.stack([c[:, side] for c in columns], axis=1) for side in (0, 1))
    return tuple(np.hstack([special.ndtri(v), rng.standard_normal((n, noise))]) for v in (x, y))


def copula_truth(name: str, theta: float) -> float:
    """∫ c log c by a grid on normal scores."""
    z = np.linspace(-6, 6, GRID)
    u = special.ndtr(z)
    a, b = np.meshgrid(u, u)
    c = _copula_density(a, b, name, theta)
    weight = np.outer(stats.norm.pdf(z), stats.norm.pdf(z)) * (z[1] - z[0]) ** 2
    return float(np.sum(weight * special.xlogy(c, c)) / np.sum(weight * c))


def _copula_density(a: Array, b: Array, name: str, theta: float) -> Array:
    if name == "clayton":
        return (1 + theta) * (a * b) ** (-1 - theta) * (a**-theta + b**-theta - 1) ** (-2 - 1 / theta)
    if name == "gumbel":
        s, t = -np.log(a), -np.log(b)
        r = (s**theta + t**theta) ** (1 / theta)
        return np.exp(-r) / (a * b) * (s * t) ** (theta - 1) * r ** (1 - 2 * theta) * (r + theta - 1)
    e = 1 - np.exp(-theta)
    below = e - (1 - np.exp(-theta * a)) * (1 - np.exp(-theta * b))
    return theta * e * np.exp(-theta * (a + b)) / below**2


# --- a function of x, and noise -----------------------------------------------------------------------


def bent(
    rng: np.random.Generator, n: int, f: Callable[[Array], Array], sigma: float, pairs: int = 1, noise: int = 0
) -> Rows:
    """Draw y = f(x) + σ·normal in each of some independent columns, x uniform on (−1, 1); and columns of noise."""
    x = rng.uniform(-1, 1, (n, pairs))
    y = f(x) + sigma * rng.standard_normal((n, pairs))
    return tuple(np.hstack([v, rng.standard_normal((n, noise))]) for v in (x, y))


def bent_truth(f: Callable[[Array], Array], sigma: float) -> float:
    """h(Y) − h(noise)."""
    x = np.linspace(-1, 1, 4001)
    y = np.linspace(f(x).min() - 8 * sigma, f(x).max() + 8 * sigma, 4001)
    p = np.array([np.mean(stats.norm.pdf(v, f(x), sigma)) for v in y])
    return float(integrate.trapezoid(special.entr(p), y) - 0.5 * np.log(2 * np.pi * np.e * sigma**2))


def _sine(x: Array) -> Array:
    return np.sin(6 * x)


def circle(rng: np.random.Generator, n: int, sigma: float) -> Rows:
    """A circle of radius 1 with normal noise."""
    angle = 2 * np.pi * rng.random(n)
    rows = np.stack([np.cos(angle), np.sin(angle)], axis=1) + sigma * rng.standard_normal((n, 2))
    return rows[:, :1], rows[:, 1:]


def circle_truth(sigma: float) -> float:
    """2 h(X) − h(X, Y), the joint density depending on the radius alone."""
    angle = (np.arange(4000) + 0.5) / 4000 * 2 * np.pi
    x = np.linspace(-1 - 8 * sigma, 1 + 8 * sigma, 4001)
    p = np.array([np.mean(stats.norm.pdf(v, np.cos(angle), sigma)) for v in x])
    r = np.linspace(1e-6, 1 + 8 * sigma, 8001)
    q = np.exp(-((r - 1) ** 2) / (2 * sigma**2)) * special.ive(0, r / sigma**2) / (2 * np.pi * sigma**2)
    return float(2 * integrate.trapezoid(special.entr(p), x) - integrate.trapezoid(2 * np.pi * r * special.entr(q), r))


def scaled_noise(rng: np.random.Generator, n: int, power: float, pairs: int = 1) -> Rows:
    """Draw y = e^{power·x}·normal: dependence in the spread alone."""
    x = rng.standard_normal((n, pairs))
    return x, np.exp(power * x) * rng.standard_normal((n, pairs))


def scaled_truth(power: float) -> float:
    """h(Y) − E h(Y | X), by logarithms of |y|: their sum is normal plus log χ."""
    s = np.linspace(-10, 10, 4001)
    t = np.linspace(-30, 15, 6001)  # log |y|
    weight = stats.norm.pdf(s) * (s[1] - s[0])
    p = np.array([np.sum(weight * 2 * stats.norm.pdf(np.exp(v - power * s)) * np.exp(v - power * s)) for v in t])
    h_y = integrate.trapezoid(special.entr(p), t) + integrate.trapezoid(p * t, t) + np.log(2)
    return float(h_y - 0.5 * np.log(2 * np.pi * np.e))


# --- mixtures, atoms, labels ----------------------------------------------------------------------------


def zero_inflated(rng: np.random.Generator, n: int, zero: float, rho: float, shared: bool) -> Rows:
    """Normal pairs set to zero: both at once, or each by itself."""
    z = rng.standard_normal((n, 2)) @ np.linalg.cholesky([[1, rho], [rho, 1]]).T
    a = rng.random(n) < zero
    b = a if shared else rng.random(n) < zero
    return np.where(a, 0, z[:, 0])[:, None], np.where(b, 0, z[:, 1])[:, None]


def zero_truth(zero: float, rho: float, shared: bool) -> float:
    """Information of the zeros, and of the pairs where both are there."""
    pair = -0.5 * np.log1p(-(rho**2))
    return float(special.entr([zero, 1 - zero]).sum() + (1 - zero) * pair if shared else (1 - zero) ** 2 * pair)


def corners(rng: np.random.Generator, n: int, sigma: float, diagonal: bool) -> Rows:
    """Normal clouds at two opposite corners of a square, or at (±1, 0) and (0, ±1)."""
    if diagonal:
        sign = rng.choice([-1.0, 1.0], n)
        return (sign + sigma * rng.standard_normal(n))[:, None], (sign + sigma * rng.standard_normal(n))[:, None]
    place = np.array([[1, 0], [-1, 0], [0, 1], [0, -1]])[rng.integers(0, 4, n)]
    rows = place + sigma * rng.standard_normal((n, 2))
    return rows[:, :1], rows[:, 1:]


def corners_truth(sigma: float, diagonal: bool) -> float:
    """∫ p log p / (p_x p_y) on a grid."""
    z = np.linspace(-1 - 8 * sigma, 1 + 8 * sigma, GRID)
    places = [(1, 1), (-1, -1)] if diagonal else [(1, 0), (-1, 0), (0, 1), (0, -1)]
    p = np.mean([np.outer(stats.norm.pdf(z, a, sigma), stats.norm.pdf(z, b, sigma)) for a, b in places], axis=0)
    cell = (z[1] - z[0]) ** 2
    product = np.outer(p.sum(axis=1), p.sum(axis=0)) * cell
    return float(np.sum(special.xlogy(p, p / product)) * cell)


def rounded_normal(rng: np.random.Generator, n: int, rho: float, step: float) -> Rows:
    """A normal pair, both rounded."""
    z = rng.standard_normal((n, 2)) @ np.linalg.cholesky([[1, rho], [rho, 1]]).T
    z = step * np.round(z / step)
    return z[:, :1], z[:, 1:]


def rounded_truth(rho: float, step: float) -> float:
    """Of the table of cells."""
    edges = step * (np.arange(-int(7 / step), int(7 / step) + 1) + 0.5)
    cells = np.concatenate([[-9.0], edges, [9.0]])
    joint = stats.multivariate_normal([0, 0], [[1, rho], [rho, 1]])
    a, b = np.meshgrid(cells, cells, indexing="ij")
    cdf = joint.cdf(np.stack([a, b], axis=-1))
    p = np.clip(np.diff(np.diff(cdf, axis=0), axis=1), 0, None)
    p /= p.sum()
    return float(np.sum(special.xlogy(p, p)) - 2 * np.sum(special.xlogy(p.sum(axis=1), p.sum(axis=1))))


def classes(rng: np.random.Generator, n: int, columns: int, distance: float) -> Rows:
    """Two labels whose rows differ by a shift along the first column; the others are noise."""
    label = rng.integers(0, 2, n)
    x = rng.standard_normal((n, columns))
    x[:, 0] += distance * label
    return x, label


def classes_truth(distance: float) -> float:
    """Entropy of the mixture less h of a normal."""
    z = np.linspace(-10, 10 + distance, 20001)
    p = 0.5 * (stats.norm.pdf(z) + stats.norm.pdf(z, distance))
    return float(integrate.trapezoid(special.entr(p), z) - 0.5 * np.log(2 * np.pi * np.e))


def parity(rng: np.random.Generator, n: int, columns: int, bits: int) -> Rows:
    """The parity of the signs of some columns."""
    x = rng.standard_normal((n, columns))
    return x, (np.prod(x[:, :bits], axis=1) > 0).astype(int)


def counts(rng: np.random.Generator, n: int, rate: float) -> Rows:
    """Poisson counts, as numbers, whose rate is a gamma variable of shape 2."""
    x = rng.gamma(2.0, size=(n, 1))
    return x, rng.poisson(rate * x).astype(float)


def counts_truth(rate: float) -> float:
    """H of the negative binomial less the mean entropy of the Poisson counts."""
    k = np.arange(0, int(60 * rate) + 60)
    p = stats.nbinom.pmf(k, 2, 1 / (1 + rate))
    x, w = np.polynomial.laguerre.laggauss(80)
    q = stats.poisson.pmf(k[:, None], rate * x[None, :])
    return float(special.entr(p).sum() - np.sum(w * x * special.entr(q).sum(axis=0)))


def exponential(rng: np.random.Generator, n: int) -> Rows:
    """Draw y exponential with rate x, x a gamma variable of shape 2."""
    x = rng.gamma(2.0, size=(n, 1))
    return x, rng.exponential(size=(n, 1)) / x


def exponential_truth() -> float:
    """h(Y) of the Lomax distribution with shape 2, less E[1 − log x]."""
    return float(stats.lomax(2).entropy() - (1 - special.digamma(2)))


def normal_pair(rng: np.random.Generator, n: int, rho: float, noise: int = 0, tails: float = 1.0) -> Rows:
    """A normal pair of columns, bent by a power, and columns of noise."""
    z = rng.standard_normal((n, 2)) @ np.linalg.cholesky([[1, rho], [rho, 1]]).T
    z = np.sign(z) * np.abs(z) ** tails
    return tuple(np.hstack([v, rng.standard_normal((n, noise))]) for v in (z[:, :1], z[:, 1:]))


# --- rows that depend on each other ---------------------------------------------------------------------


def series(rng: np.random.Generator, n: int, memory: float, joined: bool) -> Rows:
    """Two series with memory: independent, or y = x + another."""
    a, b = lfilter([1.0], [1.0, -memory], rng.standard_normal((2, n + 500)))[:, 500:]
    return a[:, None], (a + b if joined else b)[:, None]


def subjects(rng: np.random.Generator, n: int, size: int, joined: bool) -> Rows:
    """Rows of subjects who differ: x and y independent, or y = x + such another."""
    who = np.arange(n) // size
    a, b = (rng.standard_normal(who[-1] + 1)[who] + 0.5 * rng.standard_normal(n) for _ in range(2))
    return a[:, None], (a + b if joined else b)[:, None]


def repeated(rng: np.random.Generator, n: int, times: int, digits: int | None) -> Rows:
    """Independent columns, every row written several times, the copies rounded."""
    rows = rng.standard_normal((n // times, 2))
    copy = rows if digits is None else rows.round(digits)
    rows = np.concatenate([rows, *[copy] * (times - 1)])
    return rows[:, :1], rows[:, 1:]


def cases() -> list[Case]:
    """All distributions: those on which constants were set, then those that only judge."""
    half = 0.5 * np.log(2)
    copulas = {name: copula_truth(name, t) for name, t in (("gumbel", 2.0), ("clayton", 2.0), ("frank", 6.0))}
    strong = {name: copula_truth(name, t) for name, t in (("gumbel", 3.0), ("clayton", 4.0), ("frank", 10.0))}
    sine = bent_truth(_sine, 0.3)
    normal = -0.5 * np.log1p(-(0.8**2))
    square, cubic = bent_truth(np.square, 0.2), bent_truth(lambda x: 4 * x**3 - 3 * x, 0.3)
    tuned = [
        Case("Gumbel 2, 1+1", copulas["gumbel"], partial(copula_pairs, name="gumbel", theta=2.0)),
        Case(
            "three Gumbel 2 pairs, 3+3", 3 * copulas["gumbel"], partial(copula_pairs, name="gumbel", theta=2.0, pairs=3)
        ),
        Case("circle, noise .1", circle_truth(0.1), partial(circle, sigma=0.1)),
        Case("sin 6x, 1+1", sine, partial(bent, f=_sine, sigma=0.3)),
        Case("sin 6x in each column, 3+3", 3 * sine, partial(bent, f=_sine, sigma=0.3, pairs=3)),
        Case(
            "zeros shared .4, ρ .8", zero_truth(0.4, 0.8, True), partial(zero_inflated, zero=0.4, rho=0.8, shared=True)
        ),
        Case(
            "zeros apart .4, ρ .8", zero_truth(0.4, 0.8, False), partial(zero_inflated, zero=0.4, rho=0.8, shared=False)
        ),
        Case("spread e^x, 1+1", scaled_truth(1.0), partial(scaled_noise, power=1.0)),
        Case("one normal pair in 10+10", normal, partial(normal_pair, rho=0.8, noise=9)),
        Case("normal ρ .8 rounded to .5", rounded_truth(0.8, 0.5), partial(rounded_normal, rho=0.8, step=0.5)),
        Case("independent, 1+1", 0.0, partial(normal_pair, rho=0.0)),
        Case("independent, 3+3", 0.0, partial(normal_pair, rho=0.0, noise=2)),
    ]
    fresh = [
        Case("Gumbel 3, 1+1", strong["gumbel"], partial(copula_pairs, name="gumbel", theta=3.0)),
        Case("Clayton 2, 1+1", copulas["clayton"], partial(copula_pairs, name="clayton", theta=2.0)),
        Case("Clayton 4, 1+1", strong["clayton"], partial(copula_pairs, name="clayton", theta=4.0)),
        Case("Frank 6, 1+1", copulas["frank"], partial(copula_pairs, name="frank", theta=6.0)),
        Case(
            "two Clayton 2 pairs, 2+2",
            2 * copulas["clayton"],
            partial(copula_pairs, name="clayton", theta=2.0, pairs=2),
        ),
        Case(
            "three Frank 10 pairs, 3+3", 3 * strong["frank"], partial(copula_pairs, name="frank", theta=10.0, pairs=3)
        ),
        Case("one Gumbel 3 pair in 5+5", strong["gumbel"], partial(copula_pairs, name="gumbel", theta=3.0, noise=4)),
        Case(
            "one Clayton 4 pair in 15+15", strong["clayton"], partial(copula_pairs, name="clayton", theta=4.0, noise=14)
        ),
        Case("circle, noise .05", circle_truth(0.05), partial(circle, sigma=0.05)),
        Case("circle, noise .3", circle_truth(0.3), partial(circle, sigma=0.3)),
        Case("x², noise .2, 1+1", square, partial(bent, f=np.square, sigma=0.2)),
        Case("x² in each column, 4+4", 4 * square, partial(bent, f=np.square, sigma=0.2, pairs=4)),
        Case("x² in one column of 20+20", square, partial(bent, f=np.square, sigma=0.2, noise=19)),
        Case("cubic wave in each column, 2+2", 2 * cubic, partial(bent, f=_cubic, sigma=0.3, pairs=2)),
        Case("step, noise .2, 1+1", bent_truth(np.sign, 0.2), partial(bent, f=np.sign, sigma=0.2)),
        Case("sin 12x, noise .2, 1+1", bent_truth(_fast_sine, 0.2), partial(bent, f=_fast_sine, sigma=0.2)),
        Case("spread e^x/2, 1+1", scaled_truth(0.5), partial(scaled_noise, power=0.5)),
        Case("spread e^x in each column, 3+3", 3 * scaled_truth(1.0), partial(scaled_noise, power=1.0, pairs=3)),
        Case("two clouds on a diagonal", corners_truth(0.5, True), partial(corners, sigma=0.5, diagonal=True)),
        Case("four clouds on the axes", corners_truth(0.3, False), partial(corners, sigma=0.3, diagonal=False)),
        Case(
            "zeros shared .7, ρ .5", zero_truth(0.7, 0.5, True), partial(zero_inflated, zero=0.7, rho=0.5, shared=True)
        ),
        Case(
            "zeros apart .2, ρ .9", zero_truth(0.2, 0.9, False), partial(zero_inflated, zero=0.2, rho=0.9, shared=False)
        ),
        Case("normal ρ .5 rounded to 1", rounded_truth(0.5, 1.0), partial(rounded_normal, rho=0.5, step=1.0)),
        Case("normal ρ .9 rounded to .1", rounded_truth(0.9, 0.1), partial(rounded_normal, rho=0.9, step=0.1)),
        Case("Poisson counts of rate 3x", counts_truth(3.0), partial(counts, rate=3.0)),
        Case("exponential of rate x", exponential_truth(), exponential),
        Case("normal ρ .8, cubed tails, in 3+3", normal, partial(normal_pair, rho=0.8, noise=2, tails=3.0)),
        Case("two labels, shift 1, 1 column", classes_truth(1.0), partial(classes, columns=1, distance=1.0)),
        Case("two labels, shift 2, 6 columns", classes_truth(2.0), partial(classes, columns=6, distance=2.0)),
        Case("parity of 2 signs in 5 columns", float(np.log(2)), partial(parity, columns=5, bits=2)),
        Case("independent, 2+1", 0.0, _independent_2_1),
        Case("independent, 8+8", 0.0, partial(normal_pair, rho=0.0, noise=7)),
    ]
    dependent = [
        Case("AR .95 apart", 0.0, partial(series, memory=0.95, joined=False)),
        Case("AR .95 apart, time=True", 0.0, partial(series, memory=0.95, joined=False), given=_timed),
        Case("AR .9 joined, time=True", half, partial(series, memory=0.9, joined=True), given=_timed),
        Case("AR .9 joined", half, partial(series, memory=0.9, joined=True)),
        Case("20 rows a subject apart", 0.0, partial(subjects, size=20, joined=False)),
        Case("20 rows a subject apart, groups=", 0.0, partial(subjects, size=20, joined=False), given=_grouped),
        Case("20 rows a subject joined, groups=", half, partial(subjects, size=20, joined=True), given=_grouped),
        Case("rows ×3, independent", 0.0, partial(repeated, times=3, digits=None)),
        Case("rows ×2, copies with 3 digits", 0.0, partial(repeated, times=2, digits=3)),
        Case("rows ×2, copies with 2 digits", 0.0, partial(repeated, times=2, digits=2)),
    ]
    return [Case(c.name, c.truth, c.draw, True) for c in tuned] + fresh + dependent


def _cubic(x: Array) -> Array:
    return 4 * x**3 - 3 * x


def _fast_sine(x: Array) -> Array:
    return np.sin(12 * x)


def _independent_2_1(rng: np.random.Generator, n: int) -> Rows:
    return rng.gamma(1.0, size=(n, 2)), rng.standard_t(3, size=(n, 1))


def _timed(n: int) -> dict:
    return {"time": True}


def _grouped(n: int) -> dict:
    return {"groups": np.arange(n) // 20}
