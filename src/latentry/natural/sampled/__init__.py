"""What samples can certify, refute, or leave open about a latent."""
