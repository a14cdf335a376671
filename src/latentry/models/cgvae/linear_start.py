r"""Where a sparse fit begins: linear unmixings under which the domains' covariances are diagonal and the mixing is sparse."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Key
from scipy.stats import rankdata

from latentry.data import Domain, normal_scores, unit_columns

__all__ = ["groups_of", "linear_unmixings", "on_standardised"]

_FEWEST, _MOST, _STEPS, _RATE = 64, 512, 600, 0.05  # tries, steps of each, and their size
_TOGETHER = 64 * 4**3  # tries side by side, times what an inverse costs
_BUDGET = 2**19  # tries times what a step of each costs, below which there are as many as that
_EDGE = 0.2  # strength at which an edge counts whole; the search comes down to it from 1
_SAME = 0.95  # cosine above which two rows count as one latent
_GROUPS = 8  # of a continuous u


def linear_unmixings(
    values: np.ndarray, groups: np.ndarray, *, weight: float, most: int, seed: int, latents: int | None = None
) -> np.ndarray:
    r"""Search for up to ``most`` different unmixing matrices W of columns that are made normal one by one.

    Each is a local minimum, from many random rotations, of

    .. math:: -\log|\det W| + \tfrac12 \sum_{ki} \pi_k \log (W C_k W^\top)_{ii}
        + \lambda \sum_{ij} \min(S_{ij}/\tau, 1), \qquad S_{ij} = |W^{-1}|_{ij}\,\sigma(z_j)/\sigma(x_i),

    with :math:`C_k` the covariance of group k and :math:`\pi_k` its fraction of the rows: the profile likelihood of independent
    Gaussian latents whose distributions change between groups (Pham and Cardoso, *Blind separation of instantaneous mixtures of
    nonstationary sources*, 2001), and a count of edges. Fewer latents than columns unmix the principal components. A bend
    of each column by itself does not matter, since ranks are all that is used.

    Args:
        values: (rows, columns).
        groups: A label for each row.
        weight: λ, in nats a row for each edge.
        most: How many matrices.
        seed: Of the random rotations.
        latents: How many; as many as columns by default.

    Returns:
        (k, latents, columns), the best first.

    >>> rng = np.random.default_rng(0)
    >>> groups = np.repeat([0, 1], 2000)
    >>> latents = rng.normal(size=(4000, 2)) * np.array([[1, 1], [3, 0.5]])[groups]
    >>> unmixing = linear_unmixings(np.exp(latents), groups, weight=0.02, most=1, seed=0)[0]
    >>> (np.abs(unmixing) > 0.1).sum().item()
    2
    """
    normal = normal_scores(values)
    pooled = np.atleast_2d(np.cov(normal, rowvar=False, bias=True))
    axes = np.eye(len(pooled)) if latents is None or latents == len(pooled) else np.linalg.eigh(pooled)[1][:, -latents:]
    parts = normal @ axes
    n = axes.shape[1]
    ridge = 1e-4 * np.eye(n)  # ranks of a small group may be tied to each other
    labels, counts = np.unique(groups, return_counts=True)
    within = [np.atleast_2d(np.cov(parts[groups == label], rowvar=False, bias=True)) + ridge for label in labels]
    whole = axes.T @ pooled @ axes + ridge
    scales = np.sqrt(np.diag(pooled))
    tried, losses = _search(
        *(
            jax.device_put(part.astype(np.float32))
            for part in (np.stack(within), counts / counts.sum(), whole, axes, scales)
        ),
        jax.random.split(jax.random.key(seed), tries_for(n, len(labels))),
        jnp.float32(weight),
    )
    matrices = np.asarray(tried, np.float64)
    order = [at for at in np.argsort(np.asarray(losses)) if np.isfinite(matrices[at]).all()]
    best: np.ndarray = _different(matrices[order], np.linalg.cholesky(whole), most) @ axes.T
    return best


def tries_for(latents: int, groups: int) -> int:
    """Return how many starts to try: many where they cost little, for few latents already have many local minima."""
    return int(np.clip(_BUDGET // (latents**2 * max(groups, 16)), _FEWEST, _MOST))


def on_standardised(unmixings: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return the linear maps of standardised columns that come nearest to unmixings of normal scores, in least squares.

    Args:
        unmixings: (k, latents, columns), of normal scores.
        values: (rows, columns).

    Returns:
        (k, latents, columns).
    """
    standard = unit_columns(values)
    targets = np.einsum("kij,rj->rki", unmixings, normal_scores(values)).reshape(len(values), -1)
    maps: np.ndarray = np.linalg.lstsq(standard, targets, rcond=None)[0].T.reshape(unmixings.shape)
    return maps


def groups_of(domain: Domain) -> np.ndarray:
    """Return a group for each row: its label, or for a continuous u equally large groups along its main direction.

    Args:
        domain: Of each row.

    Returns:
        Whole numbers.
    """
    if not domain.is_continuous:
        return domain.values
    standard = unit_columns(domain.values)
    along = standard @ np.linalg.svd(standard, full_matrices=False)[2][0]
    groups: np.ndarray = (rankdata(along, method="ordinal") - 1) * _GROUPS // len(along)
    return groups


@jax.jit
def _search(
    within: Float[Array, "groups n n"],
    fractions: Float[Array, " groups"],
    pooled: Float[Array, "n n"],
    axes: Float[Array, "columns n"],
    data_scale: Float[Array, " columns"],
    keys: Key[Array, " tries"],
    weight: Float[Array, ""],
) -> tuple[Float[Array, "tries n n"], Float[Array, " tries"]]:
    whiten = jnp.linalg.inv(jnp.linalg.cholesky(pooled))
    optimiser = optax.adam(optax.cosine_decay_schedule(_RATE, _STEPS))

    def scale(matrix: jax.Array) -> jax.Array:
        return jnp.sqrt(jnp.einsum("ij,jk,ik->i", matrix, pooled, matrix))

    def loss(matrix: jax.Array, edge: jax.Array) -> jax.Array:
        variance = jnp.einsum("ij,gjk,ik->gi", matrix, within, matrix)
        fit = 0.5 * (fractions[:, None] * jnp.log(variance)).sum() - jnp.linalg.slogdet(matrix)[1]
        strength = jnp.abs(axes @ jnp.linalg.inv(matrix)) * scale(matrix) / data_scale[:, None]
        total: jax.Array = fit + weight * jnp.minimum(strength / edge, 1.0).sum()
        return total

    def descend(key: jax.Array) -> tuple[jax.Array, jax.Array]:
        begin = jax.random.orthogonal(key, len(pooled)) @ whiten

        def step(
            carry: tuple[jax.Array, optax.OptState], taken: jax.Array
        ) -> tuple[tuple[jax.Array, optax.OptState], None]:
            matrix, state = carry
            edge = jnp.maximum(_EDGE, _EDGE ** (1.5 * taken / _STEPS))
            update, state = optimiser.update(jax.grad(loss)(matrix, edge), state)
            return (matrix + update, state), None

        (matrix, _), _ = jax.lax.scan(step, (begin, optimiser.init(begin)), jnp.arange(_STEPS))
        return matrix / scale(matrix)[:, None], loss(matrix, jnp.float32(_EDGE))

    # Two large batches of triangular solves at once can wait for each other for ever on a machine with two cores.
    minima: tuple[Array, Array] = jax.lax.map(
        descend, keys, batch_size=int(np.clip(_TOGETHER // len(pooled) ** 3, 1, _FEWEST))
    )
    return minima


def _different(matrices: np.ndarray, root: np.ndarray, most: int) -> np.ndarray:
    """The first ones that are not the same up to order and sign; rows are compared as directions of whitened data."""
    kept: list[int] = []
    directions = matrices @ root
    directions /= np.linalg.norm(directions, axis=2, keepdims=True)
    for at, new in enumerate(directions):
        if all(np.abs(new @ directions[old].T).max(axis=0).min() < _SAME for old in kept):
            kept.append(at)
        if len(kept) == most:
            break
    return matrices[kept]
