"""The compiled site without what no page needs: a second way to draw icons (1.5 MB), source maps, translations."""

import re
import shutil
from pathlib import Path

#: The theme draws its icons from its font, too; the search index is read by the search page alone.
UNUSED = ("*.map", "fontawesome.js*", "webpack-macros.html", "sbt-webpack-macros.html")
ICONS = re.compile(
    r"\s*<!-- So that users can add custom icons -->|\s*<script[^>]*fontawesome\.js[^>]*></script>"
)
LOGO = re.compile(r'<div class="sidebar-primary-item"(>\s*<a class="navbar-brand)')
SEARCH = re.compile(r'\s*<script src="[^"]*(?:searchtools|language_data|searchindex)\.js[^"]*"></script>')


def tidy(site: Path) -> None:
    """Remove from a folder of HTML what no page needs, and correct what axe-core finds in the markup of the theme."""
    for pattern in UNUSED:
        for path in (site / "_static").rglob(pattern):
            path.unlink()
    shutil.rmtree(site / "_static" / "locales", ignore_errors=True)
    for path in site.rglob("*.html"):
        text = ICONS.sub("", path.read_text()).replace("<th></th>", "<td></td>")
        text = LOGO.sub(r'<div class="sidebar-primary-item" role="navigation" aria-label="Title"\1', text)
        path.write_text(text if path.name == "search.html" else SEARCH.sub("", text))
