"""Whether there are as many latents as the model has: by fits with one fewer and one more."""

from __future__ import annotations

from collections.abc import Mapping

from latentry.evidence import Assumption, Outcome
from latentry.identifiability.assumptions.paired_scores import Gain

__all__ = ["NUMBER_OF_LATENTS", "number_of_latents"]

NUMBER_OF_LATENTS = Assumption(
    "there are as many latents as the model has",
    "untested",
    note="refits=True fits one fewer and one more, and compares them on new rows",
)
_TOLERANCE = 0.03  # nats per row by which another fit of the right number may be better
_PLANTED = 0.1  # nats per row whose power is stated


def number_of_latents(latents: int, gains: Mapping[int, Gain], level: float) -> Assumption:
    """Test whether another number of latents describes new rows clearly better.

    A fit that fell short of its best likelihood can be beaten by one with a latent too many: refuted means that the number is
    wrong or the fit is, and either leaves the theorem without ground.

    Args:
        latents: Of the model.
        gains: Of fits with other numbers of latents over the model, on rows that trained neither.
        level: Of the test.

    Returns:
        The assumption, refuted where another number gains more than a refit of the right one would.

    >>> print(number_of_latents(2, {1: Gain(-0.8, 0.02, 500), 3: Gain(0.4, 0.02, 500)}, 0.05))
    there are as many latents as the model has: refuted (fits with 1 and 3 latents ..., 3 latents: +0.400 ± 0.020 nats a row; ...)
    """
    if not gains:
        return NUMBER_OF_LATENTS
    test = f"fits with {' and '.join(map(str, gains))} latents on new rows, against {_TOLERANCE:g} nats a row"
    p_value = min(1.0, len(gains) * min(gain.exceeds(_TOLERANCE) for gain in gains.values()))
    power = min(gain.power(_PLANTED, _TOLERANCE, level / len(gains)) for gain in gains.values())
    note = ", ".join(f"{count} latents: {gain} nats a row" for count, gain in gains.items())
    fewer = gains.get(latents - 1)
    if fewer is not None and fewer.mean + 2 * fewer.error > -_TOLERANCE:
        note += "; one fewer describes them as well"
    note += f"; power for {_PLANTED:g}"
    outcome: Outcome = "refuted" if p_value <= level else "not refuted"
    return Assumption(NUMBER_OF_LATENTS.name, outcome, test, p_value, power, note)
