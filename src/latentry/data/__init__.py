"""Data as latentry sees them: datasets, channels, files, batches."""

from latentry.data.batches import Batch, Plan, assemble
from latentry.data.cells import raw_column
from latentry.data.channel import CategoricalChannel, Channel, GaussianChannel
from latentry.data.copies import copy_groups
from latentry.data.dataset import DataLike, Dataset
from latentry.data.dataset_checks import are_swapped
from latentry.data.domain import Domain, DomainLike
from latentry.data.files import Seen, read, read_array, read_columns, survey, write_columns
from latentry.data.frames import aligned, as_frame, frame_columns
from latentry.data.inputs import DataFrameLike, Label, LabelsLike, RowsLike, StoredRows, is_annotated
from latentry.data.joined_columns import beside_rows, joined_columns, paired_rows
from latentry.data.largest import LARGEST
from latentry.data.latents import (
    channel_from_array,
    column_scales,
    counted_names,
    has_few_values,
    missing_entries,
    nearest_centres,
    varying_columns,
)
from latentry.data.layout import LAYOUT, Layout
from latentry.data.lazy_rows import blocks
from latentry.data.named_columns import without_columns
from latentry.data.native_frames import as_native_frame
from latentry.data.numbering import OBSERVATION, Numbering
from latentry.data.ranks import normal_scores
from latentry.data.raw_columns import RawColumn
from latentry.data.repeated_rows import Repeats, near_rows, numbers_of_rows, repeated_rows, sketches
from latentry.data.rounded import crowded, lattice_step, unrounded
from latentry.data.row_dependence import OrderDependence, group_labels, order_dependence, time_blocks, time_values
from latentry.data.row_marks import row_marks
from latentry.data.split import split_rows
from latentry.data.standardiser import Standardiser, moments, unit_columns

__all__ = [
    "copy_groups",
    "crowded",
    "lattice_step",
    "unrounded",
    "LAYOUT",
    "LARGEST",
    "Batch",
    "CategoricalChannel",
    "Channel",
    "DataFrameLike",
    "DataLike",
    "Dataset",
    "Domain",
    "DomainLike",
    "GaussianChannel",
    "Label",
    "LabelsLike",
    "Layout",
    "Numbering",
    "OBSERVATION",
    "OrderDependence",
    "Plan",
    "RawColumn",
    "Repeats",
    "RowsLike",
    "Seen",
    "Standardiser",
    "StoredRows",
    "aligned",
    "are_swapped",
    "as_frame",
    "as_native_frame",
    "assemble",
    "beside_rows",
    "blocks",
    "channel_from_array",
    "column_scales",
    "counted_names",
    "frame_columns",
    "group_labels",
    "has_few_values",
    "is_annotated",
    "joined_columns",
    "missing_entries",
    "moments",
    "near_rows",
    "nearest_centres",
    "normal_scores",
    "order_dependence",
    "raw_column",
    "paired_rows",
    "read",
    "read_array",
    "read_columns",
    "numbers_of_rows",
    "repeated_rows",
    "row_marks",
    "sketches",
    "split_rows",
    "survey",
    "time_blocks",
    "time_values",
    "unit_columns",
    "varying_columns",
    "without_columns",
    "write_columns",
]
