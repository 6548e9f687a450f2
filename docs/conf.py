"""How Sphinx builds these pages."""

import re
from types import GenericAlias
from typing import Any

from cosmodag import __version__

project = "cosmodag"
author = "The cosmodag developers"
copyright = "The cosmodag developers"
version = release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "numpydoc",
    "myst_parser",
]
templates_path = ["_templates"]
exclude_patterns = ["_build"]

html_theme = "furo"
html_title = "cosmodag"
html_show_sphinx = False

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_mock_imports = ["ray", "torch"]
numpydoc_show_class_members = False


def escape_absolute_values(
    app: Any, what: str, name: str, obj: object, options: Any, lines: list[str]
) -> None:
    """Read ``|W|`` in a docstring as mathematics; to reStructuredText it is a substitution."""
    for number, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            pieces = line.split("`")
            pieces[::2] = [re.sub(r"(?<!\\)\|(?=[^\s|])", r"\\|", piece) for piece in pieces[::2]]
            lines[number] = "`".join(pieces)


def skip_type_aliases(
    app: Any, what: str, name: str, obj: object, skip: bool, options: Any
) -> bool | None:
    """Leave out names for types such as ``dict[str, Any]``, over which numpydoc and Sphinx trip."""
    return True if isinstance(obj, GenericAlias) else None


def setup(app: Any) -> None:
    app.connect("autodoc-skip-member", skip_type_aliases)
    # after numpydoc, which rewrites the lines
    app.connect("autodoc-process-docstring", escape_absolute_values, priority=900)
