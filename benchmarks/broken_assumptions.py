"""Data on which the assumptions of identifiability by changes hold, or one of them is broken: two latents, twelve domains."""

from __future__ import annotations

import numpy as np

import latentry as lt
from latentry.generators.mixings import bent_layers

DOMAINS, ROWS = 12, 1000


def _parts(seed: int) -> tuple[np.random.Generator, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng([7, seed])
    domain = np.repeat(np.arange(DOMAINS), ROWS)
    scale = rng.uniform(0.5, 3.0, size=(DOMAINS, 2))
    return rng, domain, scale, rng.standard_normal((len(domain), 2))


def _seen(
    rng: np.random.Generator, domain: np.ndarray, sources: np.ndarray, factors: np.ndarray | None = None
) -> lt.Dataset:
    mixed = bent_layers(sources, 2, 3, rng, repeat=True)
    shown = sources if factors is None else factors
    return lt.Dataset(mixed, domain, factors={f"s{i + 1}": shown[:, i] for i in range(shown.shape[1])})


def sound(seed: int) -> lt.Dataset:
    rng, domain, scale, noise = _parts(seed)
    return _seen(rng, domain, scale[domain] * noise)


def sound_means(seed: int) -> lt.Dataset:
    """Means move too."""
    rng, domain, scale, noise = _parts(seed)
    return _seen(rng, domain, rng.uniform(-2, 2, size=(DOMAINS, 2))[domain] + scale[domain] * noise)


def sensor_gain(seed: int) -> lt.Dataset:
    """Latents never change; laboratories differ in gain and offset of their sensors."""
    rng, domain, _, noise = _parts(seed)
    data = _seen(rng, domain, noise)
    gain, offset = rng.uniform(0.5, 3.0, size=(DOMAINS, 2)), rng.normal(size=(DOMAINS, 2))
    return lt.Dataset(gain[domain] * np.asarray(data["x"]) + offset[domain], domain, factors=data.factors)


def rotating_mixing(seed: int) -> lt.Dataset:
    """The mixing turns from domain to domain."""
    rng, domain, scale, noise = _parts(seed)
    sources = scale[domain] * noise
    angle = np.linspace(0, np.pi / 2, DOMAINS)[domain]
    turned = np.column_stack(
        [
            np.cos(angle) * sources[:, 0] - np.sin(angle) * sources[:, 1],
            np.sin(angle) * sources[:, 0] + np.cos(angle) * sources[:, 1],
        ]
    )
    return _seen(rng, domain, turned, sources)


def alternating_correlation(seed: int) -> lt.Dataset:
    """Latents are correlated by 0.7 within domains, with alternating sign."""
    rng, domain, scale, noise = _parts(seed)
    rho = np.where(domain % 2, 0.7, -0.7)
    noise[:, 1] = rho * noise[:, 0] + np.sqrt(1 - rho**2) * noise[:, 1]
    return _seen(rng, domain, scale[domain] * noise)


def slow_series(seed: int) -> lt.Dataset:
    """Two autoregressive series of one spectrum (0.99); segments of time are the domains."""
    rng, domain, _, noise = _parts(seed)
    series = np.zeros_like(noise)
    for t in range(1, len(noise)):
        series[t] = 0.99 * series[t - 1] + np.sqrt(1 - 0.99**2) * noise[t]
    return _seen(rng, domain, series)


def three_behind_two(seed: int) -> lt.Dataset:
    """Three latents behind two columns."""
    rng, domain, _, _ = _parts(seed)
    scale = rng.uniform(0.5, 3.0, size=(DOMAINS, 3))
    sources = scale[domain] * rng.standard_normal((len(domain), 3))
    mixed = np.tanh(sources @ rng.normal(size=(3, 3))) @ rng.normal(size=(3, 2)) + 0.2 * sources @ rng.normal(
        size=(3, 2)
    )
    return lt.Dataset(mixed, domain, factors={f"s{i + 1}": sources[:, i] for i in range(3)})


def hidden_group(seed: int, shift: float = 3.0) -> lt.Dataset:
    """A hidden group shifts both latents, by so many of their deviations."""
    rng, domain, scale, noise = _parts(seed)
    member = rng.integers(0, 2, len(domain))[:, None]
    return _seen(rng, domain, scale[domain] * (noise + shift * (member - 0.5)))


def weak_hidden_group(seed: int) -> lt.Dataset:
    """The same by half of that: the latents are found all the same."""
    return hidden_group(seed, 1.5)


def chain(seed: int) -> lt.Dataset:
    """The second latent is the first plus a part of its own: what can be found are independent components."""
    rng, domain, scale, noise = _parts(seed)
    parts = scale[domain] * noise
    return _seen(rng, domain, np.column_stack([parts[:, 0], parts[:, 0] + parts[:, 1]]))


def two_modes(seed: int) -> lt.Dataset:
    rng, domain, scale, noise = _parts(seed)
    modes = (0.4 * noise + np.sign(rng.standard_normal(noise.shape))) / np.sqrt(1.16)
    return _seen(rng, domain, scale[domain] * modes)


def gamma(seed: int) -> lt.Dataset:
    rng, domain, scale, noise = _parts(seed)
    return _seen(rng, domain, scale[domain] * (rng.gamma(2.0, size=noise.shape) - 2.0) / np.sqrt(2.0))


def means_only(seed: int) -> lt.Dataset:
    rng, domain, _, noise = _parts(seed)
    return _seen(rng, domain, rng.uniform(-3, 3, size=(DOMAINS, 2))[domain] + noise)


CASES = {
    "sound": sound,
    "sound, means move": sound_means,
    "3 sensor gain and offset": sensor_gain,
    "3b mixing rotates": rotating_mixing,
    "6 alternating correlation": alternating_correlation,
    "7 slow series": slow_series,
    "8 three latents behind two columns": three_behind_two,
    "9 hidden group": hidden_group,
    "9 weak hidden group": weak_hidden_group,
    "10 one latent causes the other": chain,
    "11 two modes": two_modes,
    "11 gamma": gamma,
    "means only": means_only,
}
