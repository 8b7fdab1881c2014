"""The compiled site without what no page needs: an icon script of 1.5 MB, source maps, and translations."""

import re
import shutil
from pathlib import Path

#: The theme's icons are drawn by ``study.css``; the search index is read by the search page alone.
UNUSED = ("*.map", "fontawesome.js*", "webpack-macros.html", "sbt-webpack-macros.html")
ICONS = re.compile(
    r"\s*<!-- So that users can add custom icons -->|\s*<script[^>]*fontawesome\.js[^>]*></script>"
)
SEARCH = re.compile(r'\s*<script src="[^"]*(?:searchtools|language_data|searchindex)\.js[^"]*"></script>')


def tidy(site: Path) -> None:
    """Remove from a folder of HTML what no page needs."""
    for pattern in UNUSED:
        for path in (site / "_static").rglob(pattern):
            path.unlink()
    for name in ("locales", "vendor"):
        shutil.rmtree(site / "_static" / name, ignore_errors=True)
    for path in site.rglob("*.html"):
        text = ICONS.sub("", path.read_text())
        path.write_text(text if path.name == "search.html" else SEARCH.sub("", text))
