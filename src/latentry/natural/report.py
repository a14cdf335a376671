"""What `check` returns: every error as a Bound, per domain, pooled and at the worst mixture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latentry.evidence import Bound, Interval, Verdict
from latentry.natural.worst_mixture import Supremum

__all__ = ["Drift", "Errors", "Report", "TheoremCheck", "WorstCase", "plain"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Errors:
    """Errors of a latent over one distribution, in nats.

    Args:
        mediation: TC(X|Λ).
        redundancy: Strong, I(Λ; X_{−i}|X_i), one per observable.
        weak: I(Λ; X_i|X_{−i}), one per observable.
        deletion: By the number m of deleted observables, the largest I(Λ; X_D|X_{−D}) with |D| = m.
        deterministic: H(Λ|X_i), one per observable.
        latent_entropy: H(Λ); a latent that is almost constant is redundant whatever the data.
    """

    mediation: Bound
    redundancy: tuple[Bound, ...]
    weak: tuple[Bound, ...]
    deletion: Mapping[int, Bound]
    deterministic: tuple[Bound, ...]
    latent_entropy: Bound

    @property
    def worst(self) -> float:
        """Return the largest of mediation and strong redundancy."""
        return max(self.mediation.value, *(b.value for b in self.redundancy))


@dataclass(frozen=True)
class WorstCase:
    """Suprema over the region of mixtures; fields as in Errors."""

    mediation: Supremum
    redundancy: tuple[Supremum, ...]
    weak: tuple[Supremum, ...]
    deletion: Mapping[int, Interval]
    deterministic: tuple[Supremum, ...]
    region: str


@dataclass(frozen=True)
class Drift:
    """How much the domain J shows through.

    Args:
        guess: I(Λ; J|X_i) per observable: the gap between pooled and average redundancy.
        mechanism: I(J; X|Λ).
        synergy: I(J; X|Λ) − Σ_i I(J; X_i|Λ) = Σ_j α_j M_j − M(α); when positive, the pooled mediation error
            is smaller than the average of the domains' errors.
    """

    guess: tuple[Bound, ...]
    mechanism: Bound
    synergy: Bound


@dataclass(frozen=True, eq=False)
class TheoremCheck:
    """What the mixture says about one domain, beside the truth.

    Args:
        weight: α_j.
        redundancy: ε_i^j, the truth.
        redundancy_tangent: d_j(α), the tightest bound from the mixture.
        redundancy_refined: (ε_i(α) − I(Λ;J|X_i)) / α_j.
        redundancy_ratio: ε_i(α) / α_j.
        mediation: M_j, the truth.
        mediation_ceiling: g_j(α) + D(P_j(X|Λ)‖P_α(X|Λ)), the corrected bound.
        mediation_ratio: M(α) / α_j, which the uncorrected theorem claims to be a bound at stationary α.
    """

    weight: float
    redundancy: tuple[Bound, ...]
    redundancy_tangent: tuple[Bound, ...]
    redundancy_refined: tuple[Bound, ...]
    redundancy_ratio: tuple[Bound, ...]
    mediation: Bound
    mediation_ceiling: Bound
    mediation_ratio: float

    @property
    def ratio_fails(self) -> bool:
        """Return whether M_j ≤ M(α)/α_j is false here."""
        return self.mediation.value > self.mediation_ratio + 1e-9


@dataclass(frozen=True, eq=False)
class Report:
    """The naturality of one latent in every domain, pooled, and under the worst mixture."""

    names: tuple[str, ...]
    observables: tuple[str, ...]
    weights: Array
    domains: tuple[Errors, ...]
    pooled: Errors
    worst: WorstCase
    drift: Drift
    baselines: Mapping[str, Errors]
    mediation_gradient: Array
    redundancy_gradients: Array
    stationary: bool
    theorem: tuple[TheoremCheck, ...]
    verdicts: Mapping[str, Verdict]
    notes: tuple[str, ...]

    @property
    def verdict(self) -> Verdict | None:
        """Judge naturality within epsilon under every mixture of the region; None if no epsilon was declared."""
        return list(self.verdicts.values())[-1] if self.verdicts else None

    def __str__(self) -> str:
        rows = [["", "mediation", *(f"redundancy {name}" for name in self.observables), "H(Λ)"]]
        laws = list(zip(self.names, self.domains, strict=True))
        several = len(laws) > 1
        rows += [[name, *_numbers(errors)] for name, errors in [*laws, *([("pooled", self.pooled)] if several else [])]]
        worst = [self.worst.mediation, *self.worst.redundancy]
        rows += [["worst mixture", *(f"≤ {s.upper.value:.4f}" for s in worst), ""]] if several else []
        rows += [[f"[{name}]", *_numbers(errors)] for name, errors in self.baselines.items()]
        scope = f"(nats; worst over {self.worst.region}; [baselines] pooled)" if several else "(nats; [baselines])"
        return "\n".join([_aligned(rows), scope, *map(str, self.verdicts.values()), *self.notes])

    def to_json(self) -> dict[str, Any]:
        """Return plain data for a JSON file."""
        fields: dict[str, Any] = plain(self)
        return fields


def _numbers(errors: Errors) -> list[str]:
    return [f"{b.value:.4f}" for b in (errors.mediation, *errors.redundancy, errors.latent_entropy)]


def _aligned(rows: list[list[str]]) -> str:
    widths = [max(len(row[c]) for row in rows) for c in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(line.rstrip() for line in lines)


def plain(value: object) -> Any:
    """Convert dataclasses, arrays and mappings to JSON types.

    What is not finite becomes a string; functions are left out.

    Args:
        value: A dataclass, array, mapping, sequence, number or text.

    Returns:
        Dictionaries, lists, numbers and texts.
    """
    if isinstance(value, Bound | Interval | Verdict):
        return value.to_json()
    if is_dataclass(value):
        named = {f.name: getattr(value, f.name) for f in fields(value)}
        return {name: plain(part) for name, part in named.items() if not callable(part)}
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, tuple | list):
        return [plain(v) for v in value]
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value
