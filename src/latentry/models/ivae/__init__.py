"""The identifiable variational autoencoder."""

from latentry.models.ivae.estimator import IVAE
from latentry.models.ivae.settings import Bound

__all__ = ["IVAE", "Bound"]
