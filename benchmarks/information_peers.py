"""Other packages' estimators, called one at a time in their own environment.

Run by the information benchmarks as `peer-python information_peers.py NAME K FILE...`; needs nothing of latentry. Prints one JSON
line per file: value in nats, first and best wall time, processor time, peak memory.
"""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
VENV = HERE / ".venv-information-peers"
PACKAGES = [
    "scikit-learn==1.9.1",
    "ennemi==1.5.0",
    "infomeasure==0.6.3",
    "npeet-plus==0.2.0",
    "numpy==2.4.6",
    "scipy==1.17.1",
]
# torch-mist does not name pandas, matplotlib and tqdm, which it imports
TRAINED = ["torch==2.13.0", "torch-mist==0.2.17", "pandas==2.3.3", "matplotlib", "tqdm"]
REPEATS = 5
LONG = 3.0  # seconds after which a run is not repeated


def scikit_learn(x, y, k):
    from sklearn.feature_selection import mutual_info_regression

    if x.shape[1] > 1 or y.shape[1] > 1:
        raise NotImplementedError("one column against one column only")
    return mutual_info_regression(x, y[:, 0], n_neighbors=k, random_state=0)[0]


def ennemi(x, y, k):
    if x.shape[1] == y.shape[1] == 1:
        from ennemi import estimate_mi

        return float(estimate_mi(y[:, 0], x[:, 0], k=k, preprocess=True).flatten()[0])
    from ennemi._entropy_estimators import _estimate_single_mi  # the public function takes single columns

    return _estimate_single_mi(x / x.std(axis=0), y / y.std(axis=0), k)


def npeet_plus(x, y, k):
    import numpy as np
    from npeet_plus import mi

    return mi(x, y, k=k) * np.log(2)


def infomeasure(x, y, k):
    import infomeasure as im

    return im.mutual_information(x, y, approach="ksg", k=k)


def cca(x, y, k):
    """Canonical correlations, −½ Σ log(1 − ρ²): the strongest single estimator of published comparisons on these tasks."""
    import numpy as np

    x, y = (np.linalg.qr(v - v.mean(axis=0))[0] for v in (x, y))
    rho = np.linalg.svd(x.T @ y, compute_uv=False)
    return -0.5 * float(np.sum(np.log1p(-np.minimum(rho**2, 1 - 1e-12))))


def torch_mist_infonce(x, y, k):
    """InfoNCE of torch-mist: two layers of 64, up to 50 epochs, early stopping, measured on the last quarter of the rows."""
    import contextlib

    import numpy as np
    import torch
    from torch_mist import estimate_mi

    torch.manual_seed(0)
    torch.set_num_threads(1)
    x, y = x.astype(np.float32), y.astype(np.float32)
    cut = 3 * len(x) // 4
    with contextlib.redirect_stdout(sys.stderr):
        found = estimate_mi(
            data=(x[:cut], y[:cut]),
            test_data=(x[cut:], y[cut:]),
            estimator="infonce",
            hidden_dims=[64, 64],
            max_epochs=50,
            patience=5,
            verbose=False,
        )
    return float(found[0] if isinstance(found, tuple) else found)


def latentry(x, y, k):
    from latentry.information import mutual_information

    return float(mutual_information(x, y, estimator="ksg", k=k, confidence=None))


CONTENDERS = {f.__name__: f for f in (latentry, scikit_learn, ennemi, npeet_plus, infomeasure, cca, torch_mist_infonce)}


def peer_python(name=""):
    """The interpreter of the peer's environment, made when missing; critics have one with PyTorch."""
    trained = name.startswith("torch_mist")
    folder, packages = (HERE / ".venv-information-torch", TRAINED) if trained else (VENV, PACKAGES)
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *packages], check=True)
    return str(python)


def measure(name, path, k, repeats):
    """Value, best wall time and the processor time of that run; imports are paid beforehand on a few rows."""
    import numpy as np

    data = np.load(path)
    x, y = data["x"], data["y"]
    if repeats > 1:
        CONTENDERS[name](x[:500], y[:500], k)
    runs = []
    while len(runs) < repeats and (len(runs) < 2 or sum(run[0] for run in runs) < LONG):
        start, busy = time.perf_counter(), time.process_time()
        value = CONTENDERS[name](x, y, k)
        runs.append((time.perf_counter() - start, time.process_time() - busy))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "value": float(value),
        "first": runs[0][0],
        "best": min(r[0] for r in runs),
        "cpu": min(r[1] for r in runs),
        "peak_mb": peak,
    }


def main():
    name, k, *paths = [word for word in sys.argv[1:] if word != "--once"]
    repeats = 1 if "--once" in sys.argv else REPEATS
    for path in paths:
        try:
            print(json.dumps(measure(name, path, int(k), repeats)), flush=True)
        except NotImplementedError as error:
            print(json.dumps({"missing": str(error)}), flush=True)


if __name__ == "__main__":
    main()
