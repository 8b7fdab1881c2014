"""The compiled site without what no page needs, and with what axe-core finds in the theme's markup corrected."""

import re
import shutil
from pathlib import Path

UNUSED = ("*.map", "fontawesome.js*", "webpack-macros.html", "sbt-webpack-macros.html")
SCRIPT = re.compile(r"\s*<!-- So that users can add custom icons -->|\s*<script[^>]*fontawesome\.js[^>]*></script>")
#: The index is read by the search page alone.
SEARCH = re.compile(r'\s*<script src="[^"]*(?:searchtools|language_data|searchindex)\.js[^"]*"></script>')
LOGO = re.compile(r'<div class="sidebar-primary-item"(>\s*<a class="navbar-brand)')
#: What the search page leaves out of the excerpts that it shows; code of notebooks as well.
LEFT_OUT, CELLS = '".headerlink", ', '"details.hide, .cell_input, .code-switch", '


def tidy(site: Path) -> None:
    """Remove from a folder of HTML what no page needs, and correct what axe-core finds in the markup of the theme."""
    static = site / "_static"
    for pattern in UNUSED:
        for path in static.rglob(pattern):
            path.unlink()
    shutil.rmtree(static / "locales", ignore_errors=True)
    for path in site.rglob("*.html"):
        text = SCRIPT.sub("", path.read_text(encoding="utf-8")).replace("<th></th>", "<td></td>")
        text = LOGO.sub(r'<div class="sidebar-primary-item" role="navigation" aria-label="Title"\1', text)
        text = text.replace(' role="doc-biblioentry"', "").replace('<div role="list" class="citation-list">', "<div>")
        path.write_text(text if path.name == "search.html" else SEARCH.sub("", text), encoding="utf-8")
    if (tools := static / "searchtools.js").is_file():
        tools.write_text(tools.read_text(encoding="utf-8").replace(LEFT_OUT, LEFT_OUT + CELLS))
