"""Write run folders and certificates of this version, which every later one must load: python tests/golden/make_golden.py [name].

Files of an earlier version stay as they are; this script refuses to write over them.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np

import latentry as lt
from latentry.models import ImageNetworks

HERE = Path(__file__).parent
SMALL = ImageNetworks(channels=2, most_channels=2, style_width=4, mapping_layers=1, law_layers=1)
MODELS = {
    "VAE": {"latent_dim": 1, "hidden": (4,)},
    "IVAE": {"latent_dim": 1, "hidden": (4,)},
    "IFlow": {"hidden": (4,)},
    "CGVAE": {"latent_dim": 2, "hidden": (4,)},
    "CausalPIMA": {"nodes": (2, 2), "latent_dim": 2, "hidden": (4,)},
    "CGGAN": {"latent_dim": 2, "style_dim": 2, "networks": SMALL},
    "NaturalLatents": {"latent_dim": 1, "hidden": (4,), "restarts": 1},
}
ASKED = ("fit", "informative")


def rows(name):
    """120 rows of three domains, whose means and scales differ."""
    rng = np.random.default_rng(0)
    domain = np.repeat(["a", "b", "c"], 40)
    if name == "CGGAN":
        return lt.Dataset({"image": np.round(rng.uniform(size=(120, 8, 8, 1)), 2)}, domain=domain)
    number = np.repeat(np.arange(3), 40)[:, None]
    x = np.round(rng.normal(size=(120, 2)) * (1 + number) + number, 3)
    y = np.round(x @ np.array([[1.0, 0.3, -0.5], [0.2, 1.0, 0.7]]) + 0.1 * rng.normal(size=(120, 3)), 3)
    if name == "NaturalLatents":
        return lt.Dataset({"left": x, "right": y}, domain=domain)
    return lt.Dataset({"x": x if name == "IFlow" else y}, domain=domain)


def make(folder, names):
    """Write some models' files to the folder of a version."""
    for name in names:
        if (folder / name).exists():
            sys.exit(
                f"{folder / name} is there already: files of a version are written once. Remove it before the version is released."
            )
    for name in names:
        parameters = MODELS[name]
        data = rows(name)
        model = getattr(lt, name)(epochs=1, seed=0, progress=False, **parameters).fit(data.take(np.arange(0, 120, 2)))
        model.save(folder / name)
        certificate = lt.certify(model, data, only=ASKED)
        certificate.to_json(folder / f"{name}.json")
        latents = np.round(model.transform(data).astype(float), 5).tolist()
        (folder / f"{name}-latents.json").write_text(json.dumps(latents) + "\n")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    make(HERE / lt.__version__, sys.argv[1:] or list(MODELS))
