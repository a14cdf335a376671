"""Parameters of experts in a certificate."""

import numpy as np

from latentry.certificate.audits.physics import physics_numbers, physics_table
from latentry.contracts import HasPhysics, PhysicalParameter


class Curves(HasPhysics):
    """A model with three parameters of curves: by cluster, for all rows, and by the value of a node."""

    def physical_parameters(self):
        return [
            PhysicalParameter("curve", "slope", "cluster", np.array([-0.2, 0.5]), np.array([0.01, np.nan])),
            PhysicalParameter("curve", "gain", "all", np.array([0.9]), np.array([0.02])),
            PhysicalParameter("curve", "shift", "N1", np.array([1.0, 2.0]), np.array([0.0, 0.1])),
        ]


def test_each_parameter_has_its_places_and_errors():
    table = physics_table(Curves())
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
    assert physics_table(None) == []
