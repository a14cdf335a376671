"""Settings of the site: `make docs` builds it from the pages of docs/, the tables of benchmarks/ and the docstrings.

The root of the sources is the root of the repository, so that a link works on the site as it does between the files.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import latentry

project = "latentry"
author = "The latentry developers"
copyright = author
release = version = latentry.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "site_parts.anchors",
    "site_parts.docstrings",
    "site_parts.mathml",
    "site_parts.start_page",
]
root_doc = "docs/index"
include_patterns = ["docs/**", "benchmarks/results/*.md", "CHANGELOG.md", "CONTRIBUTING.md"]
exclude_patterns = ["build", ".*", "**/.*", "benchmarks/*.py", "src", "tests", "tools", "**/__pycache__"]
nitpicky = False

# Markdown ---------------------------------------------------------------------------------------
myst_enable_extensions = ["dollarmath", "amsmath", "deflist", "attrs_inline", "attrs_block"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

# Notebooks: run once, and again only when their code changes ------------------------------------
nb_execution_mode = "cache"
nb_execution_cache_path = "build/docs/notebooks"
nb_execution_timeout = 900
nb_execution_raise_on_error = True
nb_merge_streams = True
nb_output_stderr = "remove-warn"

# Docstrings -------------------------------------------------------------------------------------
autodoc_typehints = "none"  # shapes as strings are no types that can be looked up; docstrings say what arguments are
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "imported-members": True}
autosummary_generate = False
napoleon_numpy_docstring = False
napoleon_use_rtype = False
add_module_names = False
python_maximum_signature_line_length = 88

# The pages --------------------------------------------------------------------------------------
html_theme = "furo"
html_title = f"latentry {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# Addresses outside: `make linkcheck` --------------------------------------------------------------
linkcheck_timeout = 20
linkcheck_retries = 2
linkcheck_workers = 4
linkcheck_anchors_ignore_for_url = [r"https://github\.com/.*"]  # made by scripts, which are not run
