"""From a fitted model and data to a certificate and its page."""
