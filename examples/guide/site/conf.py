"""The configuration of Sphinx: pages in Markdown, names by docstrings, nothing from elsewhere.

From the root of the repository, with the extra `site` and the packages in `integrations`:

    python -m sphinx -W --keep-going -c examples/guide/site examples/guide build/site

Sphinx and not MkDocs: MkDocs had its last release in August 2024, and its theme Material goes into
maintenance. Sphinx reads docstrings as they are (autodoc, napoleon), writes an inventory of all
names, and is maintained. MyST reads the pages, which are Markdown that a Git host shows, too.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

# Before autodoc imports them with what their authors import for types alone.
import langchain_clew  # noqa: F401
import llama_index.postprocessor.clew
import llama_index.retrievers.clew  # noqa: F401

import clew

project = "clew"
version = release = clew.__version__
author = "The authors of clew"
copyright = "The authors of clew, Apache-2.0"
html_title = f"clew {release}"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "guide",
]
root_doc = "index"
exclude_patterns = ["site"]
nitpicky = False  # signatures name types of numpy and of the frameworks; "guide" checks our own

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
myst_url_schemes = ("http", "https")

default_role = "name"
highlight_language = "none"
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
napoleon_numpy_docstring = False
napoleon_use_ivar = True
napoleon_custom_sections = [("Glossary", "params_style")]
maximum_signature_line_length = 88

html_theme = "furo"
html_static_path = ["guide.css"]
html_css_files = ["guide.css"]
html_math_renderer = "mathml"
html_show_sphinx = False
html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
