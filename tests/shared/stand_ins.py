"""What a reader brings to a page that does not make its data: small arrays and files under the names of the page."""

import numpy as np

import latentry as lt


def tour():
    rng = np.random.default_rng(0)
    whole = lt.Dataset(
        {"image": rng.random((400, 8, 8)), "curve": rng.normal(size=(400, 12))},
        domain=np.repeat(["lab 1", "lab 2"], 200),
    )
    write_measurements()
    laws = np.array([[[0.4, 0.1], [0.1, 0.4]], [[0.3, 0.2], [0.2, 0.3]]])
    channel = np.zeros((2, 2, 2)) + 0.5
    return {
        "images": whole["image"],
        "curves": whole["curve"],
        "lab": whole.domain.values,
        "other": lt.VAE(latent_dim=2, epochs=1, seed=1, progress=False).fit(lt.read("measurements.h5mu", domain="lab")),
        "x": rng.normal(size=100),
        "y": rng.normal(size=100),
        "laws": laws,
        "channel": channel,
        "embedding": rng.normal(size=(400, 2)),
    }


def write_measurements(rows=400):
    """Write two tables of cells from two laboratories, as `measurements.h5mu`."""
    import anndata
    import mudata
    import pandas as pd

    rng = np.random.default_rng(1)
    names = [f"cell {i}" for i in range(rows)]
    obs = pd.DataFrame({"lab": np.repeat(["lab 1", "lab 2"], rows // 2)}, index=names)
    hidden = rng.normal(size=(rows, 2))
    tables = {}
    for name in ("left", "right"):
        x = np.tanh(hidden @ rng.normal(size=(2, 5))) + 0.1 * rng.normal(size=(rows, 5))
        tables[name] = anndata.AnnData(x, obs=obs, var=pd.DataFrame(index=[f"{name} {i}" for i in range(5)]))
    with mudata.set_options(pull_on_update=False):
        whole = mudata.MuData(tables)
        whole.obs["lab"] = obs["lab"]
        whole.write("measurements.h5mu")


def data():
    import anndata
    import mudata
    import pandas as pd
    import xarray

    rng = np.random.default_rng(0)
    birds = pd.DataFrame(
        {
            "bird": [f"N{i}" for i in range(60)],
            "island": np.repeat(["Biscoe", "Dream", "Torgersen"], 20),
            "length": rng.normal(40, 5, 60),
            "depth": rng.normal(17, 2, 60),
            "sex": rng.choice(["female", "male"], 60),
            "comments": "",
        }
    )
    table = birds.assign(bill_length=birds.length, bill_depth=birds.depth, mass=4000.0, species="Adelie")
    table["mass"] += rng.normal(0, 300, 60)
    table[["island", "species", "bill_length", "bill_depth", "mass"]].to_csv("penguins.csv", index=False)
    np.savez("arrays.npz", x=rng.normal(size=(60, 3)), u=np.repeat([0, 1], 30))
    obs = pd.DataFrame({"batch": np.repeat(["1", "2"], 30), "donor": np.repeat(list("abcdef"), 10)})
    obs.index = [f"cell {i}" for i in range(60)]
    counts = rng.poisson(3.0, size=(60, 4)).astype(float)
    cells = anndata.AnnData(counts, obs=obs, layers={"counts": counts}, obsm={"X_pca": rng.normal(size=(60, 2))})
    cells.var_names = ["CD3", "CD8", "CD19", "CD56"]
    cells.write_h5ad("cells.h5ad")
    adt = anndata.AnnData(rng.normal(size=(60, 3)), obs=obs)
    with mudata.set_options(pull_on_update=False):
        mudata.MuData({"rna": cells, "adt": adt}).write("cells.h5mu")
    curves = xarray.DataArray(
        rng.normal(size=(60, 12)), dims=("row", "time"), coords={"lab": ("row", np.repeat(["a", "b"], 30))}
    )
    return {
        "images": rng.random((60, 8, 8)),
        "curves": curves,
        "frame": birds[["length", "depth"]],
        "lab": np.repeat(["a", "b"], 30),
        "patient": np.repeat(np.arange(12), 5),
        "angle": rng.normal(size=60),
        "birds": birds,
        "cells": cells,
    }


def certificate():
    np.save("from_pytorch.npy", np.random.default_rng(0).normal(size=(1200, 2)))
    return {}


def cluster():
    """Small data; each engine of the page is the one that runs here, and is asked with the words of the real one."""
    data = lt.generators.segments(domains=3, rows_per_domain=40, latents=4)
    return {"data": data, "models": [lt.VAE(latent_dim=1, epochs=1)], "lt": Here()}


class Here:
    """The library, whose sweeps run in this process whatever engine is asked for."""

    def __getattr__(self, name):
        return getattr(lt, name)

    def fit_many(self, models, data, *, folder, executor="local", workers=None, address=None):
        assert executor in ("local", "dask", "ray")
        models = [model.set_params(epochs=1) for model in models]
        return lt.fit_many(models, data, folder=str(folder).lstrip("/"), executor="here", progress=False)


BRINGS = {
    "docs/tour.md": tour,
    "docs/data.md": data,
    "docs/certificate.md": certificate,
    "docs/how-to/cluster-and-gpu.md": cluster,
}
