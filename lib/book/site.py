"""The compiled site without what no page needs: styles and icons of other pages, source maps, translations.

The theme carries all of Bootstrap, sphinx-design and Font Awesome, the latter as a script (1.5 MB) too. Here the rules
remain whose classes a page or a script names, and the glyphs of those icons that the rules draw.
"""

import re
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import tinycss2
from fontTools.subset import Subsetter
from fontTools.ttLib import TTFont
from tinycss2.ast import Node

UNUSED = ("*.map", "fontawesome.js*", "webpack-macros.html", "sbt-webpack-macros.html")
SCRIPT = re.compile(r"\s*<!-- So that users can add custom icons -->|\s*<script[^>]*fontawesome\.js[^>]*></script>")
#: The index is read by the search page alone.
SEARCH = re.compile(r'\s*<script src="[^"]*(?:searchtools|language_data|searchindex)\.js[^"]*"></script>')
LOGO = re.compile(r'<div class="sidebar-primary-item"(>\s*<a class="navbar-brand)')
#: What the search page leaves out of the excerpts that it shows; code of notebooks as well.
LEFT_OUT, CELLS = '".headerlink", ', '"details.hide, .cell_input, .code-switch", '
CLASSES, WORD = re.compile(r'\bclass="([^"]*)"'), re.compile(r"[\w-]+")
BUILT = "bs-"  # classes that Bootstrap's scripts put together from parts
NESTED = ("media", "supports")
SKIP = {"skip_comments": True, "skip_whitespace": True}
CODE = re.compile(r"\\([ef][0-9a-f]{3})\b")
FONTS = "vendor/fontawesome/webfonts"


def tidy(site: Path) -> None:
    """Remove from a folder of HTML what no page needs, and correct what axe-core finds in the markup of the theme."""
    static, named = site / "_static", set()
    for pattern in UNUSED:
        for path in static.rglob(pattern):
            path.unlink()
    shutil.rmtree(static / "locales", ignore_errors=True)
    for path in site.rglob("*.html"):
        text = SCRIPT.sub("", path.read_text()).replace("<th></th>", "<td></td>")
        text = LOGO.sub(r'<div class="sidebar-primary-item" role="navigation" aria-label="Title"\1', text)
        text = text.replace(' role="doc-biblioentry"', "").replace('<div role="list" class="citation-list">', "<div>")
        named |= {name for found in CLASSES.findall(text) for name in found.split()}
        path.write_text(text if path.name == "search.html" else SEARCH.sub("", text))
    if (tools := static / "searchtools.js").is_file():
        tools.write_text(tools.read_text().replace(LEFT_OUT, LEFT_OUT + CELLS))
    for path in [*static.glob("*.js"), *(static / "scripts").glob("*.js")]:
        named |= set(WORD.findall(path.read_text()))
    styles = sorted(static.rglob("*.css"))
    for path in styles:
        text = "".join(_rules(tinycss2.parse_stylesheet(path.read_text(), **SKIP), named))
        path.write_text(text.replace('.woff2) format("woff2")', '.woff) format("woff")'))
    keep_glyphs(static / FONTS, "".join(path.read_text() for path in styles))


def _rules(rules: list[Node], named: set[str]) -> Iterator[str]:
    """The rules as text, without selectors that need a class which is not named; empty rules are left out."""
    for rule in rules:
        if rule.type == "qualified-rule":
            kept = [one for one in _selectors(rule.prelude) if _classes(one) <= named]
            text = ",".join(tinycss2.serialize(one).strip() for one in kept)
            yield f"{text}{{{tinycss2.serialize(rule.content)}}}" if kept else ""
        elif rule.type == "at-rule" and rule.lower_at_keyword in NESTED:
            inner = "".join(_rules(tinycss2.parse_rule_list(rule.content, **SKIP), named))
            head = f"@{rule.at_keyword}{tinycss2.serialize(rule.prelude)}"
            yield f"{head}{{{inner}}}" if inner else ""
        else:
            yield rule.serialize()


def _selectors(prelude: list[Node]) -> list[list[Node]]:
    """What a rule is for: the parts between the commas."""
    parts: list[list[Node]] = [[]]
    for token in prelude:
        if token == ",":
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _classes(selector: list[Node]) -> set[str]:
    """The classes that an element must have or be inside of; those in brackets, as of ``:not()``, are not read."""
    pairs = pairwise(selector)
    found = {name.value for dot, name in pairs if dot == "." and name.type == "ident"}
    return {name for name in found if not name.startswith(BUILT)}


def keep_glyphs(fonts: Path, styles: str) -> None:
    """Leave in a folder's fonts the glyphs that the styles draw."""
    codes = [int(code, 16) for code in CODE.findall(styles)]
    codes += [ord(character) for character in set(styles) if 0xE000 <= ord(character) <= 0xF8FF]
    for path in fonts.glob("*.ttf"):
        font, subsetter = TTFont(path), Subsetter()
        subsetter.populate(unicodes=codes)
        subsetter.subset(font)
        font.flavor = "woff"  # which needs no further library for its compression
        font.save(path.with_suffix(".woff"))
        path.with_suffix(".woff2").unlink()
