"""Whether the latents could be found at all, and how well they were."""
