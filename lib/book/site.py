"""The compiled site without what no page needs: icons that are not drawn, source maps, translations.

The theme carries all icons of Font Awesome three times, as a script (1.5 MB), as rules of a style sheet and as a font.
Here the rules and the glyphs of those icons remain that a page or a style sheet names.
"""

import re
import shutil
from pathlib import Path

from fontTools.subset import Subsetter
from fontTools.ttLib import TTFont

UNUSED = ("*.map", "fontawesome.js*", "webpack-macros.html", "sbt-webpack-macros.html")
SCRIPT = re.compile(
    r"\s*<!-- So that users can add custom icons -->|\s*<script[^>]*fontawesome\.js[^>]*></script>"
)
#: The index is read by the search page alone.
SEARCH = re.compile(r'\s*<script src="[^"]*(?:searchtools|language_data|searchindex)\.js[^"]*"></script>')
LOGO = re.compile(r'<div class="sidebar-primary-item"(>\s*<a class="navbar-brand)')
ICON, RULE = re.compile(r"\bfa-[\w-]+"), re.compile(r'((?:\.fa-[\w-]+:before,?)+)\{content:"[^"]*"\}')
CODE = re.compile(r"\\([ef][0-9a-f]{3})\b")
THEME, FONTS = "_static/styles/pydata-sphinx-theme.css", "_static/vendor/fontawesome/webfonts"


def tidy(site: Path) -> None:
    """Remove from a folder of HTML what no page needs, and correct what axe-core finds in the markup of the theme."""
    for pattern in UNUSED:
        for path in (site / "_static").rglob(pattern):
            path.unlink()
    shutil.rmtree(site / "_static" / "locales", ignore_errors=True)
    named = set()
    for path in site.rglob("*.html"):
        text = SCRIPT.sub("", path.read_text()).replace("<th></th>", "<td></td>")
        text = LOGO.sub(r'<div class="sidebar-primary-item" role="navigation" aria-label="Title"\1', text)
        text = text.replace(' role="doc-biblioentry"', "").replace(
            '<div role="list" class="citation-list">', "<div>"
        )
        named |= set(ICON.findall(text))
        path.write_text(text if path.name == "search.html" else SEARCH.sub("", text))
    if (site / THEME).is_file():
        keep_icons(site, named)


def keep_icons(site: Path, named: set[str]) -> None:
    """Leave rules and glyphs of the icons that pages name, and glyphs that other rules of the style sheets draw."""
    theme = site / THEME
    drawn = lambda rule: rule[0] if named & set(ICON.findall(rule[1])) else ""  # noqa: E731
    text = RULE.sub(drawn, theme.read_text())
    theme.write_text(text.replace('.woff2) format("woff2")', '.woff) format("woff")'))
    styles = "".join(path.read_text() for path in (site / "_static").rglob("*.css"))
    codes = [int(code, 16) for code in CODE.findall(styles)]
    codes += [ord(character) for character in set(styles) if 0xE000 <= ord(character) <= 0xF8FF]
    for path in (site / FONTS).glob("*.ttf"):
        font, subsetter = TTFont(path), Subsetter()
        subsetter.populate(unicodes=codes)
        subsetter.subset(font)
        font.flavor = "woff"  # which needs no further library for its compression
        font.save(path.with_suffix(".woff"))
        path.with_suffix(".woff2").unlink()
