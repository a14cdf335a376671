"""Rows that someone made to get a false certificate: latents planted or made elsewhere, no fit; a seed in, an answer out."""

from __future__ import annotations

import numpy as np

import latentry as lt
from latentry.contracts import (
    HasChannel,
    HasLatentDistributions,
    HasLatentMixture,
    LatentDistributions,
    LatentMixture,
    Samples,
    SamplesByDomain,
)
from latentry.data import GaussianChannel

DOMAINS = 12
NOISE = 1e-3  # of the posterior of planted latents


class Planted(HasChannel, HasLatentDistributions, SamplesByDomain):
    """A fit that is as good as it can be: latents are the rows."""

    def __init__(self, z: np.ndarray, u: np.ndarray) -> None:
        parts = [z[u == d] for d in range(DOMAINS)]
        mean, spread = (np.array([how(part, axis=0) for part in parts]) for how in (np.mean, np.std))
        self.table = LatentDistributions(mean, spread, "gaussian", rows=np.bincount(u))

    def latent_distributions(self, u=None):
        return self.table

    def channel(self, X, y=None):
        return GaussianChannel(np.asarray(X["x"]), np.full(X["x"].shape, NOISE))

    def sample(self, n=1, domain=None, *, seed=0):
        d, rng = np.asarray(domain).astype(int), np.random.default_rng([99, seed])
        return {"x": self.table.location[d] + self.table.scale[d] * rng.standard_normal((len(d), 2))}


class Mixture(HasChannel, HasLatentMixture, Samples):
    """Latents that are the rows, and a mixture of Gaussians that was fitted to other rows."""

    def __init__(self, mixture) -> None:
        self.mixture = mixture

    def channel(self, X, y=None):
        return GaussianChannel(np.asarray(X["x"]), np.full(X["x"].shape, NOISE))

    def latent_mixture(self):
        return LatentMixture(self.mixture.weights_, self.mixture.means_, self.mixture.covariances_, True)

    def cluster_probabilities(self, X, y=None):
        return self.mixture.predict_proba(np.asarray(X["x"]))

    def sample(self, n=1, *, seed=0):
        self.mixture.random_state = seed
        return {"x": np.random.default_rng(seed).permutation(self.mixture.sample(n)[0])}


# Latents in twelve domains ------------------------------------------------------------------------------------


def shuffled_within(rng, u, rows):
    return rows[np.concatenate([rng.permutation(np.flatnonzero(u == d)) for d in range(DOMAINS)])]


def latents(kind: str, seed: int, n: int):
    rng, u = np.random.default_rng([31, seed]), np.repeat(np.arange(DOMAINS), n)
    scale, e = rng.uniform(0.5, 3, (DOMAINS, 2)), rng.standard_normal((len(u), 2))
    if kind.startswith("alternating"):
        rho = np.where(u % 2, 1, -1) * float(kind.split()[1])
        e[:, 1] = rho * e[:, 0] + np.sqrt(1 - rho**2) * e[:, 1]
    elif kind == "hidden group":
        e = e + 3 * (rng.integers(0, 2, len(u))[:, None] - 0.5)
    elif kind == "two modes":
        e = (0.4 * e + np.sign(rng.standard_normal(e.shape))) / np.sqrt(1.16)
    elif kind == "Student, 3":
        e = rng.standard_t(3, size=e.shape)
    elif kind == "gamma":
        e = (rng.gamma(2.0, size=e.shape) - 2) / np.sqrt(2)
    elif kind == "near zero in a third":
        e = np.where(rng.random(e.shape) < 0.3, 0, e) + 0.01 * rng.standard_normal(e.shape)
    elif kind == "two domains under one label":
        other = rng.uniform(0.5, 3, (DOMAINS, 2))
        return np.where(rng.integers(0, 2, len(u))[:, None], scale[u], other[u]) * e, u, rng
    elif kind == "subjects, shuffled":
        who = np.arange(len(u)) // max(n // 20, 1)
        e = shuffled_within(rng, u, 0.9 * rng.standard_normal((who.max() + 1, 2))[who] + 0.44 * e)
    elif kind == "measured four times, shuffled":
        who = np.arange(len(u)) // 4
        e = shuffled_within(rng, u, rng.standard_normal((who.max() + 1, 2))[who] + 0.02 * e)
    elif kind == "nothing changes, rows eight times":
        who = np.arange(len(u)) // 8
        return shuffled_within(rng, u, rng.standard_normal((who.max() + 1, 2))[who].round(2)), u, rng
    return scale[u] * e, u, rng


def planted(kind: str, n: int = 600):
    def attack(seed: int):
        z, u, rng = latents(kind, seed, n)
        half = rng.random(len(u)) < 0.5
        held = lt.Dataset({"x": z[~half]}, u[~half])
        return lt.identifiability.sufficient_changes(Planted(z[half], u[half]), held, bootstrap=0).verdict

    return attack


# Mixtures -----------------------------------------------------------------------------------------------------


def cloud(kind: str, rng, n: int) -> np.ndarray:
    e, which = rng.standard_normal((n, 2)), rng.integers(0, 3, n)
    if kind == "three clusters":
        return np.array([[0, 0], [6, 0], [0, 6]])[which] + np.array([[1, 1], [0.5, 1.5], [1.5, 0.5]])[which] * e
    if kind == "three that overlap":
        return np.array([[0, 0], [1.2, 0], [0, 1.2]])[which] + np.array([[1, 1], [0.7, 1.3], [1.3, 0.7]])[which] * e
    if kind == "Student, 5":
        return rng.standard_t(5, (n, 2))
    if kind == "uniform":
        return rng.random((n, 2))
    if kind == "banana":
        return np.column_stack([e[:, 0], e[:, 1] + 0.5 * e[:, 0] ** 2])
    if kind == "gamma":
        return rng.gamma(4.0, size=(n, 2))
    return e


def mixture(kind: str, components: int, n: int = 1000):
    def attack(seed: int):
        from sklearn.mixture import GaussianMixture

        z = cloud(kind, np.random.default_rng([41, seed]), 2 * n)
        fitted = GaussianMixture(components, random_state=seed, n_init=2).fit(z[:n])
        return lt.identifiability.mixture_components(Mixture(fitted), lt.Dataset({"x": z[n:]})).verdict

    return attack


# Latents from elsewhere, several views ------------------------------------------------------------------------


def certified(latent, views, epsilon: float, only=("natural",), **options):
    """The verdict on naturality, with what may be said."""
    found = lt.certify(latent, views, only=list(only), epsilon=epsilon, **options)
    return found["natural"].verdict, found.may_say


def flipped(rng, label, rate):
    return np.where(rng.random(len(label)) < rate, 1 - label, label)


def parity(seed, n=2000):
    """Signs of three views are pairwise independent, and their product is fixed."""
    rng = np.random.default_rng([51, seed])
    z, sign = rng.standard_normal((n, 1)), rng.choice([-1, 1], (n, 2))
    size = np.abs(rng.standard_normal((n, 3))) + 0.2
    signs = np.column_stack([sign, sign.prod(axis=1)])
    return certified(z, {name: z + (size * signs)[:, [i]] for i, name in enumerate("abc")}, 0.1, noise=0.05)


def shared_phase(seed, n=2000):
    rng = np.random.default_rng([53, seed])
    z, w = rng.standard_normal((n, 1)), rng.uniform(0, 2 * np.pi, (n, 1))
    views = {f"{k}": z + np.sin(k * w) + 0.05 * rng.standard_normal((n, 1)) for k in (1, 5)}
    return certified(z, views, 0.1, noise=0.05)


def shared_dropout(seed, n=2000, shared=True):
    rng = np.random.default_rng([67, seed])
    z, gone = rng.standard_normal((n, 1)), rng.random((n, 1)) < 0.5
    views = {}
    for name in "ab":
        gone = gone if shared else rng.random((n, 1)) < 0.5
        views[name] = np.where(gone, 0, np.round(np.exp(z + 0.5 * rng.standard_normal((n, 1)))))
    return certified(z, views, 0.1, noise=0.05)


def heavy(seed, n=2000):
    rng = np.random.default_rng([64, seed])
    z = rng.standard_normal((n, 1))
    return certified(z, {name: z + 0.3 * rng.standard_cauchy((n, 1)) for name in "ab"}, 0.1, noise=0.05)


def drift(seed, n=3000, shuffled=False):
    rng = np.random.default_rng([68, seed])
    z, time = rng.standard_normal((n, 1)), np.linspace(-1, 1, n)[:, None]
    time = rng.permutation(time) if shuffled else time
    return certified(z, {name: z + 0.6 * time + 0.5 * rng.standard_normal((n, 1)) for name in "ab"}, 0.03, noise=0.05)


def leaked(seed, n=1000):
    """Two views of noise, a label by k-means of both on the audited rows."""
    from sklearn.cluster import KMeans

    rng = np.random.default_rng([55, seed])
    a, b = rng.standard_normal((2, n, 2))
    label = KMeans(3, n_init=2, random_state=seed).fit_predict(np.hstack([a, b]))
    return certified(label, {"a": a, "b": b}, 0.2)


def other_order(seed, n=4000):
    """Labels sorted by domain, rows not."""
    rng = np.random.default_rng([57, seed])
    lab = rng.integers(0, 2, n)
    z = (rng.random(n) < np.where(lab, 0.9, 0.1)).astype(int)
    views = {name: flipped(rng, z, 0.01) for name in "ab"}
    return certified(z[np.argsort(lab, kind="stable")], views, 0.2, domain=lab)


ALL = ("natural", "variables", "informative")


def copies(kind: str, rows: int = 300, times: int = 4):
    """A coin that has nothing to do with the views; every row several times, in random order."""

    def attack(seed: int):
        rng = np.random.default_rng([58, seed])
        order = rng.permutation(np.repeat(np.arange(rows), times))
        views = {name: rng.standard_normal((rows, 4)) for name in "ab"}
        if kind == "one decimal":
            views = {name: view.round(1)[order] for name, view in views.items()}
        elif kind == "labels in six columns":
            views = {name: rng.integers(0, 4, (rows, 6))[order] for name in "ab"}
        elif kind == "one label":
            views = {name: rng.integers(0, 40, rows)[order] for name in "ab"}
        else:  # measured again, 2 % noise
            views = {name: view[order] + 0.02 * rng.standard_normal((len(order), 4)) for name, view in views.items()}
        return certified(rng.integers(0, 2, rows)[order], views, 0.5, ALL)

    return attack


def missing_by_value(seed, n=6000):
    """A view is missing where it disagrees with the label."""
    rng = np.random.default_rng([63, seed])
    z = rng.integers(0, 2, n)
    a, b = flipped(rng, z, 0.01), flipped(rng, z, 0.15).astype(float)
    b[(b != z) & (rng.random(n) < 0.98)] = np.nan
    return certified(z, {"a": a, "b": b}, 0.2)


def one_table(kind: str, n=600):
    """A latent of one table: nothing but the certificate itself looks at the rows."""

    def attack(seed: int):
        rng = np.random.default_rng([72, seed])
        rows = rng.standard_normal((n, 3))
        if kind == "copied":
            rows = rng.permutation(np.repeat(rows[: n // 4], 4, axis=0)).round(1)
        elif kind == "series":
            rows = np.cumsum(rows, axis=0) * 0.05 + 0.1 * rng.standard_normal((n, 3))
        found = lt.certify(rows[:, :1] + 0.5 * rng.standard_normal((n, 1)), rows, only=["informative", "variables"])
        return found["variables"].verdict, found.may_say

    return attack
