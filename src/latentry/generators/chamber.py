"""Datasets from the simulators of physical test beds, such as those of the package causalchamber."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import ArrayLike

from latentry.data import Dataset
from latentry.errors import DataError, MissingExtra, nearest
from latentry.generators.checks import check_positive, check_seed
from latentry.graphs import Graph

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["chamber", "chamber_graph"]


class Simulator(Protocol):
    """What makes a modality from inputs."""

    inputs_names: Sequence[str]

    def simulate_from_inputs(self, inputs: pd.DataFrame, /) -> ArrayLike | tuple[ArrayLike, ...]:
        """Return a row for each row of the table, or a tuple of columns."""
        ...


def chamber(
    simulators: Mapping[str, Simulator],
    inputs: Mapping[str, ArrayLike],
    *,
    domain: ArrayLike | None = None,
    noise: float = 0.0,
    seed: int = 0,
) -> Dataset:
    """Make a modality with each simulator, all driven by the same inputs, which become the factors.

    A simulator has ``inputs_names`` and ``simulate_from_inputs(table)``, as those of causalchamber (Gamella, Peters and
    Bühlmann, *Causal chambers as a real-world physical testbed for AI methodology*, 2025) have::

        from causalchamber.simulators.lt import ModelF1
        light = ModelF1(center_x=0.5, center_y=0.5, radius=0.4, offset=0, image_size=32)
        data = chamber({"image": light}, {"red": red, "green": green, "blue": blue, "pol_1": first, "pol_2": second})

    Cost: linear in the rows; those with images, rows · pixels.

    Args:
        simulators: By the name of the modality they make.
        inputs: One value per row for each input.
        domain: One label per row, if there are domains.
        noise: Gaussian noise added to each modality, in deviations of that modality.
        seed: Of the noise.

    Returns:
        A dataset with a row for each row of inputs.

    Raises:
        DataError: If inputs are missing or of unequal length, or a simulator gives another number of rows.
    """
    check_positive("noise", noise, zero=True)
    check_seed(seed)
    columns = _columns(inputs)
    made = {name: _made(name, simulator, columns) for name, simulator in simulators.items()}
    rng = np.random.default_rng(seed)
    if noise:
        made = {
            name: values + noise * values.std() * rng.standard_normal(values.shape) for name, values in made.items()
        }
    return Dataset(made, domain, factors=columns)


def chamber_graph(name: str = "lt", configuration: str = "camera") -> Graph:
    """Return the true graph of a chamber, as causalchamber gives it.

    Cost: constant.

    Args:
        name: "lt" is the light tunnel, "wt" the wind tunnel.
        configuration: Of the chamber, by causalchamber's name.

    Returns:
        The graph.

    Raises:
        MissingExtra: If causalchamber is not installed.
    """
    try:
        from causalchamber.ground_truth.main import edges, variables
    except ImportError:
        raise MissingExtra("causalchamber", "chamber", "the graph of a chamber") from None
    return Graph(tuple(variables(name, configuration)), tuple(edges(name, configuration)))


def _columns(inputs: Mapping[str, ArrayLike]) -> dict[str, np.ndarray]:
    columns = {name: np.asarray(values, dtype=np.float64) for name, values in inputs.items()}
    if not columns:
        raise DataError("inputs={}: there are none. Give one value per row for each input of the simulators.")
    rows = len(next(iter(columns.values())))
    for name, values in columns.items():
        if values.shape != (rows,):
            raise DataError(
                f"inputs[{name!r}]: it has shape {values.shape}. Give one number for each of the {rows} rows."
            )
    return columns


def _made(name: str, simulator: Simulator, columns: Mapping[str, np.ndarray]) -> np.ndarray:
    import pandas as pd

    for need in simulator.inputs_names:
        if need not in columns:
            raise DataError(f"simulators[{name!r}]: it needs the input {need!r}{nearest(need, columns)}")
    raw = simulator.simulate_from_inputs(pd.DataFrame(columns))
    values = np.column_stack(raw) if isinstance(raw, tuple) else np.asarray(raw)  # sensors come as a tuple of columns
    values = values.astype(np.float64)
    rows = len(next(iter(columns.values())))
    if len(values) != rows:
        raise DataError(
            f"simulators[{name!r}]: it gave {len(values)} rows for {rows} rows of inputs. It must give as many."
        )
    return values
