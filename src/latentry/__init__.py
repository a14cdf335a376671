"""latentry: find the hidden variables in your data, and know how far to trust them."""

__version__ = "0.1.0"
