"""Parameters of experts in a certificate."""

from types import SimpleNamespace

import numpy as np

from latentry.certificate.audits.physics import physics_numbers, physics_table
from latentry.nets import Expert, Parameter


def test_each_parameter_has_its_places_and_errors():
    kinds = {"slope": Parameter(1.0), "gain": Parameter(1.0, per="all"), "shift": Parameter(0.0, per="N1")}
    fitted = {"slope": np.array([-0.2, 0.5]), "slope_error": np.array([0.01, np.nan]), "noise": np.array([0.1, 0.1])}
    fitted |= {"gain": np.array([0.9]), "gain_error": np.array([0.02])}
    fitted |= {"shift": np.array([1.0, 2.0]), "shift_error": np.array([0.0, 0.1])}
    expert = Expert(lambda slope, gain, shift: slope + gain + shift, kinds)
    model = SimpleNamespace(experts={"curve": expert}, experts_={"curve": fitted})
    table = physics_table(model)
    assert [(row["parameter"], row["per"]) for row in table] == [("slope", "cluster"), ("gain", "all"), ("shift", "N1")]
    assert table[0]["values"] == [[-0.2, 0.01], [0.5, None]]
    numbers = physics_numbers(table)
    assert set(numbers) == {
        "slope of curve, cluster 0",
        "slope of curve, cluster 1",
        "gain of curve",
        "shift of curve, N1 = 0",
        "shift of curve, N1 = 1",
    }
    assert numbers["gain of curve"].value == 0.9
    assert "standard error 0.02" in numbers["gain of curve"].method
    assert physics_table(SimpleNamespace()) == []
