"""The best latent of a finite law: found, and bounded from below."""
