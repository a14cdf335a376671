"""The compiled training loop, run state, checkpoints, progress and devices."""
