"""Images from several domains."""

from latentry.models.cggan.estimator import CGGAN
from latentry.models.cggan.image_grid import picture_grid, write_png
from latentry.models.cggan.settings import Adversarial, ImageNetworks

__all__ = ["CGGAN", "Adversarial", "ImageNetworks", "picture_grid", "write_png"]
