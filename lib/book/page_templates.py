"""The templates of the pages that the build writes: Jinja, ``*.md`` beside this module."""

import html
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from lib.book.repository import with_commits
from lib.show.display import markdown_table
from lib.show.markup import escape
from lib.show.tables import title

_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
#: Text and frames as MyST, a method's title, a percentage, commits with their links, and text as HTML.
_TEMPLATES.filters |= {"escape": escape, "table": markdown_table, "method": title, "share": "{:.0%}".format}
_TEMPLATES.filters |= {"commits": with_commits, "html": html.escape}


def filled(name: str, **values: object) -> str:
    """A template with its values; a jinja2.UndefinedError where one is missing."""
    return _TEMPLATES.get_template(f"{name}.md").render(values)


def filled_text(text: str, **values: object) -> str:
    """As :func:`filled`, of a template that is given as text."""
    return _TEMPLATES.from_string(text).render(values)
