"""Sphinx's configuration of the site; make_site lays out its sources and sets the environment."""

import os
import re
import sys

from pygments.lexer import RegexLexer
from pygments.token import Comment, Keyword, Name, Number, String, Text

sys.path.insert(0, os.environ["WARPFOLD_SITE_PYTHON"])

project = "Warpfold"
copyright = "the Warpfold authors"
extensions = ["myst_parser", "sphinx.ext.autodoc"]
myst_heading_anchors = 6
html_theme = "furo"
html_title = "Warpfold"
html_show_sphinx = False
html_copy_source = False
smartquotes = False  # --option stays --option
# A summary would be fetched, and browsers refuse to fetch if pages are files.
html_show_search_summary = False
html_static_path = ["static"]
html_css_files = ["style.css"]
html_extra_path = [os.environ["WARPFOLD_SITE_WORK"] + "/extra"]
html_theme_options = {"dark_css_variables": {
    "color-problematic": "#ff8a80",
    "color-foreground-primary": "#e2e4e8",
    "color-foreground-secondary": "#a9afb8",
    "color-foreground-muted": "#939aa5",
    "color-foreground-border": "#6b7280",
    "color-background-primary": "#16181c",
    "color-background-secondary": "#1d2025",
    "color-background-hover": "#262a31",
    "color-background-hover--transparent": "#262a3100",
    "color-background-border": "#353a43",
    "color-background-item": "#4b515c",
    "color-brand-primary": "#7db4ff",
    "color-brand-content": "#7db4ff",
    "color-highlighted-background": "#0f3a68",
    "color-highlight-on-target": "#3a3a12",
    "color-api-keyword": "var(--color-foreground-secondary)",
}}
pygments_style = "friendly"
pygments_dark_style = "native"
autodoc_member_order = "bysource"
try:
    import warpfold  # noqa: F401
except ImportError:
    autodoc_mock_imports = ["warpfold._warpfold"]


def docstring(_app, _what, _name, _obj, _options, lines):
    """Docstrings are written as Markdown is: `code`, and code blocks by their indentation."""
    text = "\n".join(lines)
    text = re.sub(r"(?<!`)`([^`\n]+)`(?!`)", r"``\1``", text)
    text = re.sub(r"(?m)^(\S.*\n)\n(?=    )", r"\1\n::\n\n", text)
    lines[:] = text.split("\n")


class TextProto(RegexLexer):
    """Protobuf's text format."""

    tokens = {"root": [
        (r"#.*", Comment),
        (r'"[^"\n]*"', String),
        (r"\b[A-Z][A-Z0-9_]+\b", Keyword.Constant),
        (r"[a-z_]\w*(?=\s*[:{])", Name.Attribute),
        (r"-?\b\d[\w.]*", Number),
        (r"\s+|\w+|.", Text),
    ]}


def setup(app):
    app.add_lexer("textproto", TextProto)
    app.connect("autodoc-process-docstring", docstring)
