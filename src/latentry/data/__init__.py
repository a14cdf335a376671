"""Data as latentry sees them: datasets, channels, files, batches."""

from latentry.data.batches import Batch, Plan, assemble
from latentry.data.channel import CategoricalChannel, Channel, GaussianChannel
from latentry.data.dataset import Dataset
from latentry.data.domain import Domain
from latentry.data.files import read, read_columns
from latentry.data.layout import Layout
from latentry.data.numbering import OBSERVATION, Numbering
from latentry.data.row_marks import row_marks
from latentry.data.rows import blocks
from latentry.data.standard import Standardiser

__all__ = [
    "Batch",
    "CategoricalChannel",
    "Channel",
    "Dataset",
    "Domain",
    "GaussianChannel",
    "Layout",
    "Numbering",
    "OBSERVATION",
    "Plan",
    "Standardiser",
    "assemble",
    "blocks",
    "read",
    "read_columns",
    "row_marks",
]
