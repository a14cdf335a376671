"""Latents that others would use, fitted to the same rows as the learned ones.

Reimplemented here, with the network sizes of `NaturalLatents` (one hidden layer of 128), Adam and inputs with the same noise:

- IIC (Ji et al., 2019) of two linear maps: max I(Λ₁; Λ₂) of the joint table of both answers, made symmetric.
- GK-VAE (Kleinman et al., 2023), the loss of its published code: a unique latent u_i and a common latent c for each view,
  Σ_i [−E ln p(x_i | u_i, c_i) + β_u D(q(u_i|x_i) ‖ N) + β_c D(q(c|x_i) ‖ N)] + λ D(q(c|x_1) ‖ q(c|x_2)). Of more than two views
  the last term is summed over neighbours, which is ours.
- DVSIB (Abdelaleem et al., 2023): I(X;Z_X) + I(Y;Z_Y) − β [I(Z_X;Z_Y) + I(X;Z_X) + I(Y;Z_Y)], the first two bounded by
  divergences from N, the third by InfoNCE with a separable critic, the last two by decoders. For two views.

Their latents are numbers: the mean over views of the encoders' means, then k-means with as many values as the others have.
"""

from __future__ import annotations

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from scipy.special import logsumexp
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

import latentry as lt

WIDTH, BATCH, RATE = 128, 128, 2e-3
PIMA_EPOCHS, EPOCHS = 30, 60


def iic(views: list[np.ndarray], known: int, values: int, seed: int) -> np.ndarray:
    """Invariant information clustering of two linear maps, by full-batch Adam; the mean of both answers."""
    rng = np.random.default_rng(seed)
    weights = [0.05 * rng.normal(size=(x.shape[1] + 1, values)) for x in views]
    inputs = [np.column_stack([x, np.ones(len(x))]) for x in views]
    moments = [[np.zeros_like(w), np.zeros_like(w)] for w in weights]

    def soft(w, x):
        raw = x @ w
        return np.exp(raw - logsumexp(raw, axis=1, keepdims=True))

    for step in range(1, 1501):
        answers = [soft(w, x[:known]) for w, x in zip(weights, inputs, strict=True)]
        joint = answers[0].T @ answers[1] / known
        joint = (joint + joint.T) / 2 + 1e-9
        edge = joint.sum(axis=1)
        # The gradient of the information, up to a constant.
        pull = np.log(joint) - np.log(edge)[:, None] - np.log(edge)[None]
        for i in range(2):
            up = answers[1 - i] @ pull / known
            back = answers[i] * (up - (answers[i] * up).sum(axis=1, keepdims=True))
            gradient = -inputs[i][:known].T @ back + 1e-4 * weights[i]
            first, second = moments[i]
            first[:] = 0.9 * first + 0.1 * gradient
            second[:] = 0.999 * second + 0.001 * gradient**2
            weights[i] -= 0.02 * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-9)
    return sum(soft(w, x) for w, x in zip(weights, inputs, strict=True)) / len(views)


# Trained networks ---------------------------------------------------------------------------


def normal_divergence(mean, log_scale, other=0.0, other_log=0.0):
    """D(N(mean, scale²) ‖ N(other, …)) of each row."""
    apart = jnp.exp(2 * (log_scale - other_log)) + (mean - other) ** 2 * jnp.exp(-2 * other_log)
    return (other_log - log_scale + 0.5 * apart - 0.5).sum(axis=-1)


def parts(raw):
    mean, log_scale = jnp.split(raw, 2, axis=-1)
    return mean, jnp.clip(log_scale, -5.0, 2.0)


def drawn(key, mean, log_scale):
    return mean + jnp.exp(log_scale) * jax.random.normal(key, mean.shape)


def gk_loss(nets, views, key, unique_weight=1.0, common_weight=0.1, agreement=1.0):
    """GK-VAE: see the top of the file."""
    keys, total, common = jax.random.split(key, 2 * len(views)), 0.0, []
    for i, x in enumerate(views):
        unique, shared = (parts(jax.vmap(nets[name][i])(x)) for name in ("unique", "common"))
        latent = jnp.concatenate([drawn(keys[2 * i], *unique), drawn(keys[2 * i + 1], *shared)], axis=1)
        rebuilt = jax.vmap(nets["decoders"][i])(latent)
        total += 0.5 * ((x - rebuilt) ** 2).sum(axis=1)
        total += unique_weight * normal_divergence(*unique) + common_weight * normal_divergence(*shared)
        common.append(shared)
    total += agreement * sum(normal_divergence(*a, *b) for a, b in zip(common, common[1:], strict=False))
    return total.mean()


def dvsib_loss(nets, views, key, beta=16.0):
    """DVSIB: see the top of the file."""
    keys, total, latents = jax.random.split(key, len(views)), 0.0, []
    for i, x in enumerate(views):
        shared = parts(jax.vmap(nets["common"][i])(x))
        latent = drawn(keys[i], *shared)
        rebuilt = jax.vmap(nets["decoders"][i])(latent)
        total += (normal_divergence(*shared) + beta * 0.5 * ((x - rebuilt) ** 2).sum(axis=1)).mean()
        latents.append(jax.vmap(nets["critics"][i])(latent))
    pairs = latents[0] @ latents[1].T
    return (
        total - beta * (jnp.diagonal(pairs) - jax.scipy.special.logsumexp(pairs, axis=1) + jnp.log(len(pairs))).mean()
    )


def networks(sizes: list[int], latents: int, key) -> dict[str, list[eqx.nn.MLP]]:
    def each(inputs, outputs, mark):
        keys = jax.random.split(jax.random.fold_in(key, mark), len(sizes))
        return [eqx.nn.MLP(a, b, WIDTH, 1, jax.nn.gelu, key=k) for a, b, k in zip(inputs, outputs, keys, strict=True)]

    twice = [2 * latents] * len(sizes)
    return {"common": each(sizes, twice, 0), "critics": each([latents] * len(sizes), [16] * len(sizes), 1)}


def trained(
    views: list[np.ndarray], known: int, latents: int, seed: int, loss, epochs: int, noise: float
) -> np.ndarray:
    """Encoders' means of all rows, averaged over views."""
    key = jax.random.key(seed)
    sizes = [x.shape[1] for x in views]
    nets = networks(sizes, latents, key)
    both = 2 * latents if loss is gk_loss else latents
    keys = jax.random.split(jax.random.fold_in(key, 2), 2 * len(sizes))
    nets["decoders"] = [eqx.nn.MLP(both, n, WIDTH, 1, jax.nn.gelu, key=k) for n, k in zip(sizes, keys, strict=False)]
    if loss is gk_loss:
        nets["unique"] = [
            eqx.nn.MLP(n, 2 * latents, WIDTH, 1, jax.nn.gelu, key=k)
            for n, k in zip(sizes, keys[len(sizes) :], strict=True)
        ]
    arrays, shapes = eqx.partition(nets, eqx.is_array)
    adam = optax.adam(RATE)
    rows = [jnp.asarray(x, jnp.float32) for x in views]
    steps = epochs * max(1, known // BATCH)

    def step(carry, key):
        moving, state = carry
        chosen, jitter, draw = jax.random.split(key, 3)
        index = jax.random.randint(chosen, (BATCH,), 0, known)
        batch = [
            x[index] + noise * jax.random.normal(jax.random.fold_in(jitter, i), (BATCH, x.shape[1]))
            for i, x in enumerate(rows)
        ]
        gradient = jax.grad(lambda m: loss(eqx.combine(m, shapes), batch, draw))(moving)
        updates, state = adam.update(gradient, state)
        return (optax.apply_updates(moving, updates), state), None

    run = jax.jit(partial(jax.lax.scan, step))
    (arrays, _), _ = run((arrays, adam.init(arrays)), jax.random.split(jax.random.fold_in(key, 3), steps))
    nets = eqx.combine(arrays, shapes)
    means = [parts(jax.vmap(net)(x))[0] for net, x in zip(nets["common"], rows, strict=True)]
    return np.asarray(sum(means) / len(means), dtype=np.float64)


# All of them --------------------------------------------------------------------------------


def others(data: lt.Dataset, chosen: np.ndarray, values: int, seed: int, slow: bool, noise: float = 0.3) -> dict:
    """Latents that others would use, fitted to chosen rows; those of networks only where time allows."""
    training = data.take(chosen)
    order = np.concatenate([chosen, np.setdiff1d(np.arange(len(data)), chosen)])
    flat = [np.asarray(data[name], float).reshape(len(data), -1)[order] for name in data.names]
    scaled = [StandardScaler().fit(x[: len(chosen)]).transform(x) for x in flat]
    back = np.argsort(order)
    size = min(8, max(1, data.layout.size // 2))

    def clusters(means):
        return KMeans(values, n_init=5, random_state=seed).fit(means[chosen]).predict(means)

    whole = np.hstack(scaled)
    leading = PCA(min(2, whole.shape[1]), random_state=0).fit(whole[: len(chosen)]).transform(whole)
    result = {"principal components": clusters(leading[back]), "k-means": clusters(whole[back])}
    if len(scaled) == 2:
        result["IIC (linear)"] = lt.CategoricalChannel(iic(scaled, len(chosen), values, seed)[back])
    if not slow:
        return result
    vae = lt.VAE(latent_dim=size, epochs=60, encoder="dense", decoder="dense", progress=False, seed=seed).fit(training)
    result["VAE, then k-means"] = clusters(vae.transform(data))
    for name, loss in (("GK-VAE, then k-means", gk_loss), ("DVSIB, then k-means", dvsib_loss)):
        if len(scaled) == 2 or loss is gk_loss:
            result[name] = clusters(trained(scaled, len(chosen), size, seed, loss, EPOCHS, noise)[back])
    pima = lt.CausalPIMA(
        nodes=(values,),
        latent_dim=size,
        epochs=PIMA_EPOCHS,
        encoder="dense",
        decoder="dense",
        progress=False,
        seed=seed,
    ).fit(training)
    return result | {"CausalPIMA": pima.clusters(data)}
