"""How Sphinx builds the documentation. `python -m tools.site` puts all pages into one folder and calls it."""

project = "llm-conformance"
copyright = "the maintainers of llm-conformance"
author = "the maintainers of llm-conformance"
extensions = ["myst_parser", "sphinx_copybutton"]
myst_heading_anchors = 4
smartquotes = False  # options begin with two hyphens
copybutton_exclude = ".linenos, .gp, .go"

html_theme = "furo"
html_title = "llm-conformance"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["_extra"]
html_copy_source = False
html_show_sourcelink = False
pygments_style = "friendly"
pygments_dark_style = "monokai"
