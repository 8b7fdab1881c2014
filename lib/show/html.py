"""What a cell shows, as HTML for those who read a notebook without Sphinx: Jupyter, VS Code and nbconvert."""

import base64
import html
import json
import re
from functools import cache
from pathlib import Path

from markdown_it import MarkdownIt

NUMBERED = re.compile(r"^::::\{(table|figure)\} (.*)\n((?::.*\n)*)\n((?:.*\n)*?)::::$", re.M)
ALT = re.compile(r"^:alt: (.*)$", re.M)
DATA = re.compile(r" ?(?<!\\)\{download\}`[^`]+`")
TYPES = {".svg": "image/svg+xml", ".png": "image/png"}


def as_html(text: str, outputs: Path | None = None) -> str:
    """MyST of :mod:`lib.show.output` as HTML: tables with their captions, figures of ``outputs`` as they are there, and
    no links to data."""
    text, parts, end = DATA.sub("", text), [], 0
    for found in NUMBERED.finditer(text):
        parts += [_render(text[end : found.start()]), _numbered(*found.groups(), outputs)]
        end = found.end()
    return "".join([*parts, _render(text[end:])])


def _numbered(kind: str, argument: str, options: str, body: str, outputs: Path | None) -> str:
    if kind == "table":
        caption = f'<caption style="text-align:left">{_parser().renderInline(argument.strip())}</caption>'
        # as numbers are aligned at the right
        rows = re.sub("<t([hd])>", r'<t\1 style="text-align:left">', _render(body))
        return rows.replace("<table>", f"<table>\n{caption}", 1)
    path = outputs / argument.removeprefix("../")
    content = base64.b64encode(path.read_bytes()).decode()
    alt = html.escape(json.loads(ALT.search(options)[1]))
    picture = f'<img alt="{alt}" src="data:{TYPES[path.suffix]};base64,{content}">'
    caption = _parser().renderInline(body.strip())
    return f'<figure style="background: white">{picture}<figcaption>{caption}</figcaption></figure>\n'


def _render(text: str) -> str:
    return _parser().render(text)


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark").enable("table")
