"""Text of a dataset is text wherever it is shown, and no formula of a spreadsheet."""

import pandas as pd
from markdown_it import MarkdownIt

from lib.show.display import markdown_table
from lib.show.markup import Markup, as_csv, escape, explorer_link, label
from tests.show.conftest import HOSTILE


def test_escaped_text_is_the_same_text_once_it_is_parsed():
    for text in (HOSTILE, "% no comment", "=", "12. no list", "a\\`b", "-", "#1"):
        tokens = MarkdownIt().parse(escape(text))
        assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
        assert "".join(child.content for child in tokens[1].children) == " ".join(text.split())
    assert (escape(escape("*")), escape(Markup("*a*"))) == ("\\*", "*a*")
    assert label("a $x$\nb") == r"a \$x\$ b"
    assert len(label("word " * 100)) <= 80
    link = explorer_link("look <up>", method="bm25", type="a & b")
    assert link == '<a href="../book/explorer.html#method=bm25&amp;type=a%20%26%20b">look &lt;up&gt;</a>'
    assert link in markdown_table(pd.DataFrame({"Questions": [link]}))
    assert explorer_link("look up") == "–"


def test_what_a_spreadsheet_would_compute_is_text_and_numbers_stay_numbers():
    computed = ["=1+1", "@x", "-2+3+cmd|' /C calc'!A0", "\t=1"]
    others = ["-0.5", "+0.10 [0.02, 0.18]", "–", None, "-3 %"]
    lines = as_csv(pd.DataFrame({"=head": computed + others, "n": -0.5})).splitlines()
    wanted = ["-0.5", '"+0.10 [0.02, 0.18]"', "–", "", "-3 %"]
    assert lines == ["'=head,n", *(f"'{one},-0.5" for one in computed), *(f"{one},-0.5" for one in wanted)]
