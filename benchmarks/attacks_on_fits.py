"""Rows that someone made to get a false certificate from a fit: IVAE, IFlow, CausalPIMA, CGVAE; a seed in, an answer out."""

from __future__ import annotations

import numpy as np

import latentry as lt
from broken_assumptions import CASES
from latentry.generators.mixings import bent_layers
from latentry.models import CGVAE, IVAE, CausalPIMA, IFlow, Networks

DOMAINS, COLUMNS = 8, 6


def judged(model, data: lt.Dataset, true: np.ndarray | None = None, **options):
    """The verdict on identifiability, what may be said, and the mean correlation with the truth."""
    found = lt.certify(model, data, only=["identifiable", "fit"], **options)
    z = model.transform(data)
    score = float("nan") if true is None or true.shape != z.shape else lt.mcc(z, true)
    return found["identifiable"].verdict, found.may_say, score


def source(kind: str, seed: int, latents: int, columns: int, n: int = 400) -> tuple[lt.Dataset, np.ndarray]:
    rng, u = np.random.default_rng([81, seed]), np.repeat(np.arange(DOMAINS), n)
    scale, mean = rng.uniform(0.4, 2.5, (DOMAINS, latents)), rng.uniform(-1.5, 1.5, (DOMAINS, latents))
    e, noise = rng.standard_normal((len(u), latents)), 0.1
    if "means only" in kind:
        scale, mean, noise = np.ones_like(scale), 2 * mean, 0.0 if "noise-free" in kind else noise
    elif kind == "nothing changes":
        scale, mean = np.ones_like(scale), 0 * mean
    elif kind == "hidden group":
        e = e + 3 * (rng.integers(0, 2, len(u))[:, None] - 0.5)
    elif kind == "Student, 2.5":
        e = rng.standard_t(2.5, e.shape)
    s = mean[u] + scale[u] * e
    wide = np.hstack([s, np.zeros((len(u), columns - latents))])
    x = np.asarray(bent_layers(wide, columns, 2, rng, repeat=True))
    x = x + noise * (columns > latents) * x.std(axis=0) * rng.standard_normal(x.shape)
    if kind == "labels permuted":
        u = rng.permutation(u)
    elif kind == "labels merged":
        u = u // 2
    elif kind == "a column copied":
        x = np.column_stack([x, x[:, 0]])
    elif kind == "rounded to halves":
        x = np.round(x / x.std(axis=0) * 2) / 2
    elif kind == "few rows":
        kept = np.concatenate([np.flatnonzero(u == d)[: n if d < 2 else 50] for d in range(DOMAINS)])
        x, u, s = x[kept], u[kept], s[kept]
    return lt.Dataset(x, u), s


def parts(seed: int, rows: int) -> tuple[np.ndarray, np.ndarray]:
    order = np.random.default_rng([82, seed]).permutation(rows)
    return np.sort(order[: rows * 6 // 10]), np.sort(order[rows * 6 // 10 :])


def ivae(kind: str, latents: int = 2, true: int = 2, epochs: int = 40):
    def attack(seed: int):
        data, s = source(kind, seed, true, COLUMNS)
        train, held = parts(seed, len(data))
        model = IVAE(latent_dim=latents, epochs=epochs, seed=seed, progress=False).fit(data.take(train))
        return judged(model, data.take(held), s[held])

    return attack


def iflow(kind: str, **settings):
    def attack(seed: int):
        data, s = source(kind, seed, 2, 2)
        train, held = parts(seed, len(data))
        model = IFlow(seed=seed, progress=False, **settings).fit(data.take(train))
        return judged(model, data.take(held), s[held])

    return attack


def sound(seed: int):
    """Two latents behind two columns in twelve domains, half of the rows held out: nothing is broken."""
    train, held = CASES["sound"](seed).split(0.5, 0.5, seed=seed)
    true = np.column_stack([*held.factors.values()])
    return judged(IFlow(seed=seed, progress=False).fit(train), held, true)


def clusters(kind: str, seed: int, n: int = 1600) -> lt.Dataset:
    rng = np.random.default_rng([83, seed])
    which, z = rng.integers(0, 3, n), rng.standard_normal((n, 2))
    if kind == "three clusters":
        z = np.array([[0, 0], [5, 0], [0, 5]])[which] + np.array([[1, 1], [0.5, 1.5], [1.5, 0.5]])[which] * z
    elif kind == "three that overlap":
        z = np.array([[0, 0], [1.5, 0], [0, 1.5]])[which] + np.array([[1, 1], [0.6, 1.4], [1.4, 0.6]])[which] * z
    elif kind == "Student, 3":
        z = rng.standard_t(3, (n, 2))
    elif kind == "uniform":
        z = 3 * rng.random((n, 2))
    hidden = z @ rng.standard_normal((2, 8))
    x = np.where(hidden > 0, hidden, 0.3 * hidden) @ rng.standard_normal((8, 5))
    return lt.Dataset(x / x.std(axis=0) + 0.1 * rng.standard_normal((n, 5)))


def pima(kind: str, nodes: tuple[int, ...]):
    def attack(seed: int):
        data, affine = clusters(kind, seed), Networks(activation="leaky relu")
        model = CausalPIMA(nodes=nodes, latent_dim=2, seed=seed, progress=False, networks=affine)
        return judged(model.fit(data.take(np.arange(1000))), data.take(np.arange(1000, 1600)))

    return attack


def cgvae(mixing: str, domains: int, restarts: int = 2):
    def attack(seed: int):
        rows = {"latents": 3, "domains": domains, "rows_per_domain": 1000, "seed": seed}
        data = lt.generators.sparse_mixing(mixing=mixing, **rows)
        train, held = data.split(0.7, 0.3, seed=seed)
        model = CGVAE(seed=seed, progress=False).fit(train)
        found = lt.certify(model, data, only=["identifiable"], restarts=restarts)
        true = np.column_stack([*held.factors.values()])
        score = lt.mcc(model.transform(held), true, "spearman")
        return found["identifiable"].verdict, found.may_say, score

    return attack
