"""A short form of ``make faults``: a few of each fault of folders and disks, and one model that is killed and resumed."""

import numpy as np
import pytest

from fault_trials import PLAIN

TRIES = {"killed_writers": 12, "two_writers": 3, "readers": 150, "clock": 150, "short_files": 3}


@pytest.mark.parametrize("fault", PLAIN, ids=lambda fault: fault.__name__)
def test_nothing_is_lost(fault, tmp_path):
    outcome = fault(tmp_path, TRIES.get(fault.__name__, 12), np.random.default_rng(3))
    assert outcome.lost == []
    if outcome.tries == 0:
        pytest.skip("no file system may be mounted here")


def test_counts_of_an_earlier_page_are_added_to_with_its_losses():
    from fault_trials import Outcome
    from faults import counted, table, together

    first, second = Outcome("SIGKILL", 5, 3, 1, ["why"]), Outcome("the disk is full", 2, 2, 0)
    page = f"# Faults\n\ntext\n\n{table([first, second])}\n\n`python tools/faults.py --seed 1`; versions.\n"
    rows, feet = counted(page)
    assert [(row.fault, row.tries, row.kept, row.before, len(row.lost)) for row in rows] == [
        ("SIGKILL", 5, 3, 1, 1),
        ("the disk is full", 2, 2, 0, 0),
    ]
    assert feet == ["`python tools/faults.py --seed 1`; versions."]
    (both,) = together([rows[0], first])
    assert (both.tries, both.kept, both.before, len(both.lost)) == (10, 6, 2, 2)


@pytest.mark.long
def test_a_model_that_is_killed_goes_on_bit_by_bit(tmp_path):
    from fault_trials import Server
    from faults import certificates, fits, saves, sweeps

    rng = np.random.default_rng(4)
    with Server(tmp_path) as server:
        outcomes = fits(server, "vae", tmp_path, 1, rng)
        outcomes += [task(server, "vae", tmp_path, 2, rng) for task in (saves, sweeps)]
        outcomes += certificates(server, "vae", tmp_path, 2, rng)
    assert [why for outcome in outcomes for why in outcome.lost] == []
    assert sum(outcome.tries for outcome in outcomes) == 14
