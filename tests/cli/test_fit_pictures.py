"""latentry fit --model cggan."""

import json

import pytest

from latentry.generators import domain_images

SMALL = ["latent_dim=6", "style_dim=2", "channels=2", "most_channels=4", "style_width=4", "batch_size=8"]
SMALL += ["pretrain=0.0", "autoencode=0.0"]  # one phase, whose program the tests of the model compile too


@pytest.fixture
def pictures(tmp_path):
    domain_images(rows_per_domain=10, size=8).write(tmp_path / "pictures.npz")
    return tmp_path / "pictures.npz"


def fit(pictures, folder, *more):
    settings = [word for setting in SMALL for word in ("--set", setting)]
    return [
        "fit",
        pictures,
        "--model",
        "cggan",
        "--domain",
        "domain",
        "--epochs",
        2,
        *settings,
        "--out",
        folder,
        "--quiet",
        *more,
    ]


def test_a_run_that_info_and_transform_know(call, pictures, tmp_path):
    code, out, err = call(*fit(pictures, tmp_path / "run", "--json"))
    assert code == 0, err
    assert json.loads(out)["model"] == "cggan"
    code, out, err = call("info", tmp_path / "run", "--json")
    assert code == 0, err
    found = json.loads(out)
    assert (found["model"], found["modalities"], found["domains"]) == ("cggan", "image (8, 8, 3)", "2: 0, 1")
    code, out, err = call(
        "transform", tmp_path / "run", pictures, "--domain", "domain", "--out", tmp_path / "z.csv", "--json"
    )
    assert code == 0, err
    assert json.loads(out)["latents"] == 6


def test_no_certificate_is_promised(call, pictures, tmp_path):
    code, _, err = call(*fit(pictures, tmp_path / "run", "--certify"))
    assert code == 2
    assert "CGGAN has no likelihood, hence no certificate" in err
    assert not (tmp_path / "run").exists()


def test_the_installation_names_it(call):
    assert "cggan" in call("info")[1]
