"""How much memory small tables take: in processes of their own, by the peak that the system counted."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.long

MOST = 1000  # MB: the bar that we state

SCRIPT = """
import resource, sys, warnings
import numpy as np
warnings.simplefilter("ignore")
import latentry as lt
rng = np.random.default_rng(0)
kind = rng.integers(0, 3, 178)  # as wine: 178 rows of 13 columns, three kinds
rows = 2 * np.eye(3)[kind] @ rng.normal(size=(3, 13)) + rng.normal(size=(178, 13))
{what}
try:  # of this program alone: what the system counts for a process begins with the process that started it
    peak = [line for line in open("/proc/self/status") if line.startswith("VmHWM")][0].split()[1]
except (OSError, IndexError):
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(int(peak) / 1024)
"""

FITS = {
    "VAE": "lt.VAE(epochs=5, progress=False).fit(rows)",
    "IVAE": "lt.IVAE(latent_dim=3, epochs=5, progress=False).fit(rows, kind)",
    "IFlow": "lt.IFlow(epochs=5, progress=False).fit(rows, kind)",
    "CausalPIMA": "lt.CausalPIMA(epochs=5, progress=False).fit(rows)",
    "certify": """
halves = lt.Dataset({"left": rows[:, :6], "right": rows[:, 6:]}, domain=kind)
lt.certify(lt.VAE(epochs=5, progress=False).fit(halves.take(range(60))), halves)""",
}


@pytest.mark.parametrize("name", FITS)
def test_a_small_table_takes_less_than_a_gigabyte(name):
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(what=FITS[name])], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    assert float(ended.stdout.split()[-1]) < MOST
