"""Certificates of real data: `python docs/examples/real_data.py [penguins digits clusters mice wine cancer]`."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

import latentry as lt
from latentry.cli.recipes import RECIPES

HERE = Path(__file__).parent
EPSILON = 0.1


def fitted(name: str) -> tuple[lt.Dataset, lt.Certificate]:
    """The data and the model of a demonstration, certified on the rows that were set aside."""
    recipe = RECIPES[name]
    rows = recipe.data(0)
    training, _ = rows.split(1 - recipe.aside, recipe.aside)
    found = lt.certify(recipe.model(0, progress=False).fit(training), rows, **recipe.options)
    found.to_html(HERE / f"{name}.html", title=recipe.title)
    found.to_json(HERE / f"{name}.json")
    return rows, found


def penguins() -> None:
    """A model that finds three clusters, and two latents that biologists would name."""
    birds, found = fitted("penguins")
    show("three clusters found by CausalPIMA", found)
    species, sex = birds.factors["species"], birds.factors["sex"]
    show("the species, as labels", lt.certify(species, birds, epsilon=EPSILON))
    show("species and sex, as labels", lt.certify(np.char.add(species, sex), birds, epsilon=EPSILON))


def digits() -> None:
    """A VAE of six views, rounded to ten values."""
    _, found = fitted("digits")
    show("eight latents of a VAE, rounded to ten values", found)


def clusters() -> None:
    """Clusters of another tool: k-means on principal components, learned from half of the digits."""
    views = lt.datasets.digit_views().shuffled(0)
    blocks = ("fourier", "pixels", "zernike")
    table = np.hstack([StandardScaler().fit_transform(views[name]) for name in views.names])
    half = np.random.default_rng(0).permutation(len(table))[:1000]
    leading = PCA(20, random_state=0).fit(table[half])
    found = KMeans(10, n_init=10, random_state=0).fit(leading.transform(table[half])).predict(leading.transform(table))
    show("ten clusters of k-means", lt.certify(found, views, epsilon=EPSILON, blocks=blocks, seen=half))
    show("the digit, as labels", lt.certify(views.factors["digit"], views, epsilon=EPSILON, blocks=blocks))


def mice() -> None:
    """Forty mice: the genotype that was bred into them, and how little so few rows allow."""
    data = lt.datasets.nutrimouse().shuffled(0)
    found = lt.certify(data.factors["genotype"], data, epsilon=EPSILON)
    show("the genotype, as labels", found)
    found.to_html(HERE / "mice.html", title="Forty mice: liver genes and fatty acids")
    found.to_json(HERE / "mice.json")
    show("the diet, as labels", lt.certify(data.factors["diet"], data, epsilon=EPSILON))


def wine() -> None:
    """Wines of three cultivars: what colour and phenols have in common with the rest of the chemistry."""
    table = load_wine()
    order = np.random.default_rng(0).permutation(len(table.target))  # the file is sorted by cultivar
    values, cultivar = table.data[order], table.target[order]
    plants = [i for i, name in enumerate(table.feature_names) if "phenol" in name or name in PLANT]
    others = [i for i in range(values.shape[1]) if i not in plants]
    names = np.array(table.feature_names)
    data = lt.Dataset(
        {"phenols": values[:, plants], "chemistry": values[:, others]},
        columns={"phenols": list(names[plants]), "chemistry": list(names[others])},
    )
    compared(
        data,
        {"cultivar": cultivar, "PCA": scaled_components(values)},
        "wine",
        "Wine: three cultivars, thirteen measurements",
    )


def cancer() -> None:
    """Cell nuclei of breast masses: average and worst nucleus as two views, and the diagnosis."""
    table = load_breast_cancer()
    order = np.random.default_rng(0).permutation(len(table.target))
    values, diagnosis = table.data[order], table.target[order]
    names = list(table.feature_names)
    data = lt.Dataset(
        {"average nucleus": values[:, :10], "worst nucleus": values[:, 20:]},
        columns={"average nucleus": names[:10], "worst nucleus": names[20:]},
    )
    compared(
        data,
        {"diagnosis": diagnosis, "PCA": scaled_components(values)},
        "cancer",
        "Breast masses: average and worst nucleus",
    )


PLANT = ("flavanoids", "proanthocyanins", "color_intensity", "hue", "od280/od315_of_diluted_wines")


def scaled_components(values: np.ndarray) -> np.ndarray:
    """Two principal components of columns in units of their spread."""
    components: np.ndarray = PCA(2, random_state=0).fit_transform(StandardScaler().fit_transform(values))
    return components


def compared(data: lt.Dataset, latents: dict[str, np.ndarray], name: str, title: str) -> None:
    """Latents side by side, and the page of the first of them."""
    together = lt.certify(latents, data, epsilon=EPSILON)
    print(f"\n## {title}\n\n{together}")
    first = next(iter(latents))
    show(first, together[first])
    together.to_html(HERE / f"{name}.html", title=title)
    together.to_json(HERE / f"{name}.json")


def show(title: str, certificate: lt.Certificate) -> None:
    """Verdicts, agreement with the known labels, and the bounds that decide."""
    print(f"\n## {title}\n\n{certificate}")
    for name, number in certificate["fit"].numbers.items():
        if "against" in name:
            print(f"{name}: {number}")
    for row in certificate["natural"].details.get("table", ()):
        if row["place"] in ("every mixture", "all rows pooled"):
            low, high = (None if row[k] is None else round(row[k], 3) for k in ("lower", "upper"))
            print(f"  {row['error']}, {row['place']}: at least {low}, at most {high}: {row['status']}")


if __name__ == "__main__":
    examples = {
        "penguins": penguins,
        "digits": digits,
        "clusters": clusters,
        "mice": mice,
        "wine": wine,
        "cancer": cancer,
    }
    for word in sys.argv[1:] or examples:
        examples[word]()
