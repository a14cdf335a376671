"""Real data, read from files that other projects publish."""

from latentry.datasets.images import digits, fashion, two_colour_digits
from latentry.datasets.penguins import penguins
from latentry.datasets.views import digit_views, nutrimouse

__all__ = ["digit_views", "digits", "fashion", "nutrimouse", "penguins", "two_colour_digits"]
