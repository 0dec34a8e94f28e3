"""How the documentation is built: tables and figures are made first, from the package itself."""

import doctest
import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
os.environ["MPLBACKEND"] = "agg"  # the tutorials draw, and no window shall open

import evenhand  # noqa: E402

MADE = HERE / "generated"
REPORTS = MADE / "reports"  # pages that are copied as they are
REPORTS.mkdir(parents=True, exist_ok=True)

project = "evenhand"
author = "The evenhand developers"
copyright = "The evenhand developers"
version = release = evenhand.__version__

# Words of types, such as "rows" in "of shape (rows,)", are no references to what is called so.
suppress_warnings = ["ref.python"]
extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.doctest",
    "sphinx.ext.napoleon",
]
exclude_patterns = ["_build", "generated/*.md", "leaderboard/summary.md"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

default_role = "literal"  # single backticks in docstrings name parameters and columns
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {
    # scikit-learn's own
    "exclude-members": "set_fit_request, set_score_request, set_predict_request",
}
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
napoleon_google_docstring = False

doctest_default_flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
doctest_test_doctest_blocks = ""  # the examples in docstrings run with the tests of the package

html_theme = "pydata_sphinx_theme"
html_title = "evenhand"
html_static_path = ["static"]
html_extra_path = ["paper/report", "leaderboard/page", "generated/reports"]  # whole pages
html_css_files = ["evenhand.css"]
html_show_sourcelink = False
html_sidebars = {
    "index": [],
    "first-look": [],
    "gallery": [],
    "reference/translation": [],
    "paper/index": [],
    "paper/claims": [],
}
html_theme_options = {
    "show_prev_next": False,
    "navbar_align": "left",
    "header_links_before_dropdown": 9,
    "navbar_persistent": ["search-button"],
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}


def make_generated(app):
    import figures
    import notebooks
    import reproduction
    import tables

    tables.write(MADE)
    reproduction.write(MADE)
    if app.builder.format == "html":
        figures.draw(MADE)
        figures.write_report(REPORTS / "demo-report.html")
        notebooks.draw(MADE)
    else:  # nobody looks at pictures, and none are drawn
        app.config.suppress_warnings = [*app.config.suppress_warnings, "image.not_readable"]


def setup(app):
    app.connect("builder-inited", make_generated)
