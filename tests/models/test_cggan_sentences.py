import warnings

import numpy as np
import pytest

import latentry as lt
from latentry.models import model_class, picture_grid, write_png
from latentry.models.cggan.checks import check_resolution

IMAGES = np.random.default_rng(0).uniform(size=(8, 8, 8, 3)).astype(np.float32)
DOMAIN = np.repeat(["day", "night"], 4)


def refuse(match, images=IMAGES, domain=DOMAIN, **changes):
    model = lt.CGGAN().set_params(**{"latent_dim": 4, "style_dim": 2, "progress": False, **changes})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lt.DataWarning)  # the domains are small
        with pytest.raises(lt.DataError, match=match):
            model.fit(images, domain)
    assert not hasattr(model, "module_")


def test_domains():
    refuse("CGGAN needs at least 2 domains, the data have 1", domain=["day"] * 8)
    refuse("it needs a domain for each row", domain=None)
    refuse("continuous u: cut it into classes", domain=np.linspace(0, 1, 8))


def test_pictures_of_unequal_size():
    refuse(
        r"image 2 has shape \(9, 8, 3\), image 0 has \(8, 8, 3\): bring them to one size",
        images=[*IMAGES[:2], np.ones((9, 8, 3)), *IMAGES[3:]],
    )
    refuse("images of 8 × 6: crop or pad them to squares", images=IMAGES[:, :, :6])
    refuse(r"rows of shape \(8, 8, 5\): CGGAN takes images", images=np.ones((8, 8, 8, 5)))
    refuse(r"rows of shape \(5,\): CGGAN takes images", images=np.ones((8, 5)))
    refuse("one modality of images, the data have a, b", images={"a": IMAGES, "b": IMAGES})


def test_values_outside_the_declared_range():
    bad = IMAGES.copy()
    bad[3, 0, 0, 0] = 1.5
    refuse(r"modality 'x', row 3: 1.5 lies outside value_range = \(0, 1\)", images=bad)
    refuse(r"row 3: 1.5 lies outside value_range = \(-1, 1.2\)", images=bad, value_range=(-1, 1.2))
    refuse("value_range=3: not 2 numbers", value_range=3)
    refuse(r"value_range=\(1, 0\): not the lowest and the highest", value_range=(1, 0))


def test_resolution():
    refuse("images of 30 × 30 cannot be reached by doubling.*set resolution=28", images=np.ones((8, 30, 30)))
    assert check_resolution(None, 28) == 28
    assert [check_resolution(size, 9) for size in (16, 28, 32, 64, 128, 256)] == [16, 28, 32, 64, 128, 256]
    with pytest.raises(lt.DataError, match="set resolution=256"):
        check_resolution(512, 28)


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"style_dim": 9}, "style_dim=9: there are 4 latents"),
        ({"conditioning": "flows"}, "conditioning='flows': not known; did you mean 'flow'"),
        ({"conditioning": "embedding"}, 'With conditioning="embedding" set sparsity=0'),
        ({"adversarial__augmentation": ("shear",)}, "augmentation=.*'shear' is not known"),
        ({"networks__precision": "float16"}, "precision='float16': not known"),
        ({"validation": 0.1}, "losses of two players say nothing on held-out rows"),
        ({"training__beta": 2.0}, "training__beta=2.0: .* a game of two players has none"),
        ({"restarts": 2}, "restarts=2: there is no held-out loss to choose by"),
        ({"adversarial__translation": 1.0}, "translation=1.0: not a number of at least 0 below 1"),
        ({"adversarial__r1": -1}, "r1=-1: not a number of at least 0"),
        ({"networks__channels": 0}, "channels=0: not a whole number of at least 1"),
        ({"networks__law_layers": -1}, "law_layers=-1: not a whole number of at least 0"),
    ],
)
def test_parameters(changes, match):
    refuse(match, **changes)


def test_a_name_that_is_nearly_right():
    assert model_class("cggan") is lt.CGGAN
    with pytest.raises(lt.DataError, match="did you mean 'cggan'"):
        model_class("cgan")


def test_grids():
    with pytest.raises(lt.DataError, match=r"pictures has shape \(3,\)"):
        picture_grid(np.ones(3), columns=2)
    with pytest.raises(lt.DataError, match=r"picture has shape \(3, 3\)"):
        write_png("never.png", np.ones((3, 3)))
