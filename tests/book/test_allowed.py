"""Generated text holds what the book's own code writes; anything else is found before it is compiled."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.book import allowed
from lib.book.allowed import check_generated, found_in, found_in_html, found_in_output
from lib.schema import StudyError
from lib.show.markup import CONTROL, escape, explorer_link
from tests.breaking.hostile import TEXTS

OURS = """::::{table} Caption. {download}`CSV <../tables/x-1.csv>`
:name: tab-x
:class: study-table

| a | b |
|---|--:|
| *c* `d` | 0.1&nbsp;2 |
::::

:::{figure} ../figures/x.png
:name: fig-x
:alt: "Two: bars."

{cite:t}`kobeissi2026`, see {numref}`tab-x`. {download}`CSV <../figures/x.csv>`
:::

:::{dropdown} More
<code>ab<wbr>cd</code> [page](https://example.org)
```yaml
- '{include}'
```
:::
"""
HOSTILE = {
    "{download}`x </etc/passwd>`": "the role {download}",
    "{download}`CSV <../tables/../../x.csv>`": "the role {download}",
    "{raw}`x`": "the role {raw}",
    "```{include} /etc/passwd\n```": "the directive {include}",
    "```{literalinclude} /etc/passwd\n```": "the directive {literalinclude}",
    "```{raw} html\n<b>\n```": "the directive {raw}",
    "```{eval-rst}\n.. include:: /etc/passwd\n```": "the directive {eval-rst}",
    "```{code-cell}\n1\n```": "the directive {code-cell}",
    "```{figure} ../../secret.png\n```": "{figure}",
    ":::{dropdown} {raw}`x`\n:::": "the role {raw}",
    ":::{dropdown} More\n{download}`x </y>`\n:::": "the role {download}",
    ":::{table} T\n:link: x\n:::": "the option link",
    "<script>alert(1)</script>": "the HTML tag <script>",
    "a <img src=x onerror=alert(1)>": "the HTML tag <img>",
    "<a href='javascript:1'>x</a>": "the HTML attribute href",
    "<a href='../book/explorer.html#method=<x>'>x</a>": "the HTML attribute href",
    "<!-- a --><b>": "the HTML tag <b>",
    "[x](../../etc/passwd)": "the link to ../../etc/passwd",
    "![x](../../etc/x.png)": "the link to",
    "% gone": "a myst_line_comment",
    r"$\href{javascript:1}{x}$": "a math",
}


def test_what_the_book_writes_is_allowed():
    assert found_in(OURS) == []
    assert found_in(explorer_link("look up", method="bm25", type="a & b")) == []


@pytest.mark.parametrize(("text", "what"), HOSTILE.items())
def test_what_a_dataset_could_smuggle_in_is_found_and_gone_once_it_is_escaped(text, what):
    assert found_in(text)[0].startswith(what)
    assert found_in(escape(text)) == []


PIECES = ["- a", "+ a", "1. a", "_a_", "|a|b|\n|-|-|", "a\n=", *"\\`*_{}[]<>()#+!|$~^@&:-%=1. \n"]


@given(st.lists(st.sampled_from([*HOSTILE, *TEXTS, *PIECES]), max_size=6).map("".join) | st.text(max_size=60))
def test_any_text_is_the_same_text_once_it_is_escaped_and_parsed_as_the_book_is(text):
    inside = [child for token in allowed._parser().parse(escape(text)) for child in token.children or ()]
    assert {child.type for child in inside} <= {"text", "text_special"}
    assert "".join(child.content for child in inside) == CONTROL.sub(" ", text).strip()
    assert found_in(escape(text)) == found_in(f"- {escape(text)}") == []


def test_outputs_have_types_that_hold_no_script():
    assert found_in_output("application/javascript", "1") == ["an output of type application/javascript"]
    assert found_in_output("image/png", "iVBORw0KGgo=") == []
    assert found_in_output("text/html", '<table border="1" class="dataframe"><td>&lt;script&gt;</td></table>') == []
    assert found_in_html("<script src='../_static/board.js'></script>") == []
    assert found_in_html("<script src='https://example.org/x.js'></script>")


def test_a_page_and_a_cell_are_named(tmp_path):
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "methods.md").write_text("{raw}`x`")
    with pytest.raises(StudyError, match=r"methods\.md: the role \{raw\}"):
        check_generated(tmp_path)
    (tmp_path / "pages" / "methods.md").unlink()
    (tmp_path / "notebooks").mkdir()
    output = {"output_type": "display_data", "data": {"text/markdown": "<svg>"}, "metadata": {}}
    cell = {"cell_type": "code", "id": "a", "source": "", "outputs": [output], "metadata": {}, "execution_count": 1}
    book = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "notebooks" / "01_data.ipynb").write_text(json.dumps(book))
    with pytest.raises(StudyError, match=r"01_data\.ipynb, cell 0: the HTML tag <svg>"):
        check_generated(tmp_path)
