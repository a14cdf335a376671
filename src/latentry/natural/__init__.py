"""Natural latents: mediation and redundancy, in every domain and mixture."""
