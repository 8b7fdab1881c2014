"""What generated text may contain: the roles, directives and HTML that this book's own code writes, and nothing else.

Text of a dataset is escaped where it meets MyST (:func:`lib.show.markup.escape`). Should one place forget that, a role
that copies a file, a directive that includes one, or a script is found here, before anything is compiled: the text is
parsed as jupyter-book parses it, and what is not on these lists is refused.
"""

import json
import re
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import yaml
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

from lib.files import ROOT
from lib.schema import StudyError

#: Directive to what its argument has to be; the content of all but ``raw`` is checked like the text around it.
DIRECTIVES = {
    "container": r"[\w -]*",
    "dropdown": None,  # its title is text, checked like the rest
    "figure": r"\.\./figures/[\w.-]+\.(?:png|svg)",
    "grid": r"[\d ]*",
    "grid-item": "",
    "raw": "html",
    "table": None,
}
#: Role to what it has to contain.
ROLES = {
    "cite": r"[\w,: -]+",
    "cite:t": r"[\w,: -]+",
    "doc": r"[\w./-]+",
    "download": r"CSV <\.\./(?:tables|figures)/[\w-]+\.csv>",
    "numref": r"[\w-]+",
    "ref": r"[\w-]+",
}
OPTIONS = {"alt", "class", "class-container", "gutter", "name"}
LINK = re.compile(
    r"https?://|#|\w+\.ipynb$|\.\./_static/(?:\w[\w.-]*/)*\w[\w.-]*$|[\w-]+\.html(?:#[\w-]*)?$|\.\./book/explorer\.html#[\w=&%.~-]*$"
)
#: Tags of generated HTML, with the attributes that hold no script; ``src`` and ``href`` have to be links as above.
TAGS = set(
    "a blockquote br caption code details div em fieldset figcaption figure form hr input label legend li ol option p "
    "pre select small span strong style summary table tbody td tfoot th thead tr ul wbr".split()
)
ATTRIBUTES = re.compile(
    r"(?:aria|data)-[\w-]+|alt|autocomplete|border|checked|class|colspan|download|for|halign|hidden|href|id|name|role|rowspan"
    r"|scope|scoped|selected|src|style|tabindex|title|type|valign|value"
)
SCRIPT = re.compile(r"\.\./_static/[\w-]+\.js")
PICTURE = re.compile(r"data:image/(?:svg\+xml|png);base64,[A-Za-z0-9+/]+=*")  # in which no script runs
HTML_PAGES = {"leaderboard"}  # generated pages with HTML of their own


def check_generated(outputs: Path) -> None:
    """Check the outputs of the executed chapters (``notebooks/``) and the generated pages (``pages/``).

    Raises:
        StudyError: something that is not on the lists, with the file that contains it.
    """
    found = {}
    for path in sorted((outputs / "notebooks").glob("[0-9a]*.ipynb")):
        for number, cell in enumerate(nbformat.read(path, as_version=4).cells):
            shown = [one for output in cell.get("outputs", []) for one in output.get("data", {}).items()]
            found[f"{path.name}, cell {number}"] = [what for one in shown for what in found_in_output(*one)]
    for path in sorted((outputs / "pages").glob("*.md")):
        found[path.name] = found_in(path.read_text(encoding="utf-8"), path.stem in HTML_PAGES)
    for where, what in found.items():
        if what:
            reason = "generated text may not contain it, a dataset's text least of all; nothing is compiled"
            raise StudyError(f"{where}: {'; '.join(what[:3])}: {reason}")


def found_in_output(kind: str, content: str | dict) -> list[str]:
    """What an output of a cell contains that it may not."""
    readers = {"text/html": found_in_html, "text/markdown": found_in}
    readers |= dict.fromkeys(("text/plain", "image/png"), lambda content: [])  # in which no script runs
    return readers[kind](content) if kind in readers else [f"an output of type {kind}"]


def found_in(text: str, may_be_html: bool = False) -> list[str]:
    """What a MyST text contains that is not on the lists; ``may_be_html`` lets it have HTML blocks of its own."""
    return [what for token in _parser().parse(text) for what in _of_token(token, may_be_html)]


@cache
def _parser() -> MarkdownIt:
    given = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["parse"]["myst_enable_extensions"]
    return create_md_parser(MdParserConfig(enable_extensions=set(given)), RendererHTML)


def _of_token(token: Token, may_be_html: bool) -> Iterator[str]:
    for child in token.children or ():
        yield from _of_token(child, may_be_html)
    if token.type in ("fence", "colon_fence"):
        yield from _of_fence(token, may_be_html)
    elif token.type == "myst_role":
        name = token.meta["name"]
        if name not in ROLES or not re.fullmatch(ROLES[name], token.content):
            yield f"the role {{{name}}}`{token.content[:60]}`"
    elif token.type in ("html_block", "html_inline"):
        yield from found_in_html(token.content)
    elif token.type in ("link_open", "image"):
        address = str(token.attrs.get("href", token.attrs.get("src", "")))
        if token.type == "image" or not LINK.match(address):
            yield f"the link to {address[:60]}"
    elif token.type.startswith(("substitution", "math", "myst_line_comment", "front_matter")):
        yield f"a {token.type}"


def _of_fence(token: Token, may_be_html: bool) -> Iterator[str]:
    found = re.match(r"\{([^}]*)\}\s*(.*)", token.info.strip())
    if not found:
        return  # code
    name, argument = found.groups()
    if name not in DIRECTIVES or (name == "raw" and not may_be_html):
        yield f"the directive {{{name}}}"
        return
    if DIRECTIVES[name] is None:
        yield from found_in(argument)
    elif not re.fullmatch(DIRECTIVES[name], argument):
        yield f"{{{name}}} {argument[:60]}"
    if name == "raw":
        yield from found_in_html(token.content)
        return
    if token.content.startswith("---"):
        yield f"a block of options of {{{name}}}"
    options = re.match(r"(?::(?!:).*(?:\n|$))*", token.content)[0]
    for option in re.findall(r"^:([^:\n]*)", options, re.M):
        if option not in OPTIONS:
            yield f"the option {option} of {{{name}}}"
    yield from found_in(token.content.removeprefix(options), may_be_html)


class _Html(HTMLParser):
    """Collects tags and attributes that are not on the lists."""

    def __init__(self):
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Check one tag."""
        known = {name: value or "" for name, value in attrs}
        is_ours = tag == "script" and list(known) == ["src"] and SCRIPT.fullmatch(known["src"])
        is_picture = tag == "img" and PICTURE.fullmatch(known.get("src", ""))
        if tag not in TAGS and not (is_ours or is_picture):
            self.found.append(f"the HTML tag <{tag}>")
        for name, value in known.items():
            is_link = name in ("href", "src")
            if not ATTRIBUTES.fullmatch(name) or (is_link and not (is_ours or is_picture or LINK.match(value))):
                self.found.append(f"the HTML attribute {name}={json.dumps(value[:60])}")

    def handle_decl(self, decl: str) -> None:
        """Neither a declaration nor a processing instruction is allowed."""
        self.found.append(f"the HTML tag <{decl[:40]}>")

    handle_pi = handle_decl


def found_in_html(text: str) -> list[str]:
    """What HTML contains that is not on the lists."""
    parser = _Html()
    parser.feed(text)
    parser.close()
    return parser.found
