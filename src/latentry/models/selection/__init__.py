"""Models compared on rows that none of them saw."""

from latentry.models.selection.choose import Choice, choose, score_kind
from latentry.models.selection.choose_sparsity import SparsityPath, choose_sparsity

__all__ = ["Choice", "SparsityPath", "choose", "choose_sparsity", "score_kind"]
