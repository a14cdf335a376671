"""Synthetic data with known truth."""

from collections.abc import Callable

from latentry.data import Dataset
from latentry.generators import finite_laws, information_tasks
from latentry.generators.causal_components import CausalComponents, causal_components, causal_components_law
from latentry.generators.chamber import chamber, chamber_graph
from latentry.generators.circles import circles, circles_graph, measure_circles
from latentry.generators.content_style import content_style
from latentry.generators.domain_images import domain_images
from latentry.generators.finite_laws import (
    FiniteFamily,
    FiniteSample,
    constant_latent,
    leaked_noise,
    near_miss,
    noisy_copies,
    planted_natural,
    random_family,
    synergy,
    xor_across_domains,
)
from latentry.generators.gin import gin
from latentry.generators.imca import imca
from latentry.generators.lattices import LATTICE_CURVES, lattices, lattices_graph
from latentry.generators.pendulum import measure_pendulum, pendulum, pendulum_graph, project_shadow
from latentry.generators.poisson_curve import poisson_curve
from latentry.generators.segments import SEGMENTS, segments
from latentry.generators.sparse_mixing import SparseLaw, sparse_law, sparse_mixing

__all__ = [
    "GENERATORS",
    "LATTICE_CURVES",
    "SEGMENTS",
    "CausalComponents",
    "FiniteFamily",
    "FiniteSample",
    "SparseLaw",
    "causal_components",
    "causal_components_law",
    "chamber",
    "chamber_graph",
    "circles",
    "circles_graph",
    "constant_latent",
    "content_style",
    "domain_images",
    "finite_laws",
    "gin",
    "imca",
    "information_tasks",
    "lattices",
    "lattices_graph",
    "leaked_noise",
    "measure_circles",
    "measure_pendulum",
    "near_miss",
    "noisy_copies",
    "pendulum",
    "pendulum_graph",
    "planted_natural",
    "poisson_curve",
    "project_shadow",
    "random_family",
    "segments",
    "sparse_law",
    "sparse_mixing",
    "synergy",
    "xor_across_domains",
]

# by the name that the command line uses
GENERATORS: dict[str, Callable[..., Dataset]] = {
    "segments": segments,
    "imca": imca,
    "gin": gin,
    "poisson_curve": poisson_curve,
    "content_style": content_style,
    "circles": circles,
    "lattices": lattices,
    "pendulum": pendulum,
    "sparse_mixing": sparse_mixing,
    "causal_components": causal_components,
    "domain_images": domain_images,
}
