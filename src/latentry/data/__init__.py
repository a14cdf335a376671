"""Data as latentry sees them: datasets, channels, files, batches."""
