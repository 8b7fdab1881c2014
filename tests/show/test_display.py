"""What a notebook cell shows: a numbered table, a figure, and one line where filings are missing."""

import re
from dataclasses import replace
from types import SimpleNamespace

import matplotlib.pyplot as plt
import myst_nb
import numpy as np
import pandas as pd
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from PIL import Image

from lib.data.locate import open_dataset
from lib.show.display import (
    PAGE_COMMENT,
    TYPE,
    figure,
    glue,
    laid_out,
    markdown_table,
    note,
    only_with_filings,
    p_value,
    shown_if,
    table,
)
from lib.show.drawn import OF_DEMO, SHOWN_WIDTH, not_drawn, pages_in, smallest_type
from lib.show.markup import Markup, as_csv, escape, explorer_link, label, verbatim
from lib.show.pictures import marked_lines, page_pair
from lib.words import NeedsFilings


def test_no_p_value_is_printed_as_nothing():
    assert [p_value(p) for p in (0.03, 0.0005, 0.0002, float("nan"))] == ["0.030", "0.001", "< 0.001", "–"]


@pytest.fixture
def study(tmp_path):
    def write(name: str, content: str) -> None:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)

    return SimpleNamespace(
        write=write,
        provenance="",
        outputs=tmp_path,
        questions=pd.DataFrame({"company": ["3M", "3M", "Apple"]}),
        dataset=SimpleNamespace(name="own"),
        profile=SimpleNamespace(name="default"),
        parameters={"k": 5},
    )


def test_a_table_has_its_label_its_rows_and_its_data_and_a_constant_n_is_in_its_caption(study):
    shown = table(study, pd.DataFrame({"Method": ["dense"], "n": [3]}), "few", "Caption.", "Takeaway.")
    assert ":name: tab-few\n" in shown.markdown
    assert "| Method | n |\n|---|--:|\n| Dense | 3 |\n" in shown.markdown
    assert shown.markdown.endswith("\n**Takeaway.**\n")
    assert (study.outputs / "tables" / "few.csv").read_text() == "Method,n\ndense,3\n"
    frame = pd.DataFrame({"Method": ["dense", "bm25"], "n": [3, 3]})
    shown = table(study, frame, "all", "Caption.").markdown
    assert "Caption. n = 3. {download}" in shown
    assert "| Method |\n|---|\n| Dense |" in shown
    assert (study.outputs / "tables" / "all.csv").read_text().startswith("Method,n\n")
    assert "| Method | n |" in table(study, frame.assign(n=[3, 2]), "some", "Caption.").markdown


def test_a_frame_is_laid_out_by_the_names_of_its_columns():
    frame = {"method": ["dense", "bm25"], "page_recall": [0.2, 0.3], "difference": [0.1, -0.2], "p_holm": [0.2, 0.0001]}
    frame |= {"difference_low": [0.01, -0.3], "difference_high": [0.2, -0.1], "question_s": [0.0123, np.nan]}
    shown = laid_out(pd.DataFrame(frame | {"is_sure": [False, True]}))
    assert [*shown] == ["Method", "Page recall", "Difference", "p (Holm)", "Question s", "Is sure", "Verdict"]
    first = ["Dense", "0.20", "+0.10 [+0.01, +0.20]", "0.200", "0.012", "no", "likely gain"]
    assert shown.to_numpy().tolist() == [first, ["BM25", "0.30", "-0.20 [-0.30, -0.10]", "< 0.001", "–", "yes", "loss"]]
    assert [*laid_out(pd.DataFrame(frame), {"Gain": "difference"})] == ["Gain", "Verdict"]
    assert [*laid_out(pd.DataFrame(frame).drop(columns="p_holm"), {"Gain": "difference"})] == ["Gain"]


def test_captions_are_filled_in_from_the_study_and_what_is_given(study):
    caption = "At {k}, {n} questions of {companies} in {dataset}, {profile}: {title}, {cite}`x`, \\{n\\}."
    shown = table(study, pd.DataFrame({"n": [3]}), "few", caption, title="Dense")
    assert "At 5, 3 questions of 2 in own, default: Dense, {cite}`x`, \\{n\\}." in shown.markdown
    with pytest.raises(KeyError, match="unknown"):
        table(study, pd.DataFrame({"n": [3]}), "few", "{unknown}")


@pytest.mark.parametrize(
    ("frame", "body"),
    [(pd.DataFrame(columns=["Method", "n"]), "| Method | n |"), (pd.DataFrame([]), "| Nothing known |")],
)
def test_a_table_without_rows_is_still_a_table(study, frame, body):
    lines = table(study, frame, "none", "Caption.").markdown.splitlines()
    rows = [line for line in lines if line.startswith("|")]
    assert rows[0] == body
    assert len(rows) == 3
    assert set(rows[2]) <= set("| –")


HOSTILE = "1. <script>a</script>|{download}`x </etc/passwd>`\n$x$ {{ 1 }} [a](b) *c* :::{raw} html"


def test_what_the_dataset_says_is_escaped_in_heads_cells_captions_and_takeaways(study):
    frame = pd.DataFrame({HOSTILE: [HOSTILE]})
    cells = markdown_table(pd.DataFrame({"Name": ["<b>*x*", "`doc_recall`"], "n": [np.nan, 2]}))
    assert cells.splitlines()[2:] == ["| \\<b\\>\\*x\\* | – |", "| `doc_recall` | 2.0 |"]
    shown = table(study, frame, "few", "Of {who}.", "Best: {who}.", who=HOSTILE).markdown
    assert shown.count(escape(HOSTILE)) == 4
    left = shown.replace(escape(HOSTILE), "")
    assert left == (
        "::::{table} Of . {download}`CSV <../tables/few.csv>`\n:name: tab-few\n:class: study-table\n\n"
        "|  |\n|--:|\n|  |\n::::\n\n**Best: .**\n"
    )


def test_escaped_text_is_the_same_text_once_it_is_parsed():
    from markdown_it import MarkdownIt

    for text in (HOSTILE, "% no comment", "=", "12. no list", "a\\`b", "-", "#1"):
        tokens = MarkdownIt().parse(escape(text))
        assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
        said = "".join(child.content for child in tokens[1].children)
        assert said == " ".join(text.split())
    assert escape(escape("*")) == "\\*"
    assert escape(Markup("*a*")) == "*a*"
    assert label("a $x$\nb") == r"a \$x\$ b"
    assert len(label("word " * 100)) <= 80
    assert verbatim("a\n````\n# b") == "`````text\na\n````\n# b\n`````"


def test_what_a_spreadsheet_would_compute_is_text_and_numbers_stay_numbers():
    cells = ["=1+1", "@x", "-2+3+cmd|' /C calc'!A0", "-0.5", "+0.10 [0.02, 0.18]", "–", None, "-3 %", "\t=1"]
    lines = as_csv(pd.DataFrame({"=head": cells, "n": -0.5})).splitlines()
    assert lines == ["'=head,n", "'=1+1,-0.5", "'@x,-0.5", "'-2+3+cmd|' /C calc'!A0,-0.5", "-0.5,-0.5",
        '"+0.10 [0.02, 0.18]",-0.5', "–,-0.5", ",-0.5", "-3 %,-0.5", "'\t=1,-0.5"]  # fmt: skip


def test_a_legend_s_entry_is_drawn_where_something_with_data_has_its_colour():
    drawn, axes = plt.subplots()
    axes.plot([0, 1], [0, 1], color="C0", label="line")
    axes.bar([0], [1], color="C1", label="bar")
    axes.scatter([0], [1], facecolors="white", edgecolors="C2")
    axes.plot([], [], "o", color="C2", label="hollow dots")
    axes.plot([], [], "o", color="C3", label="dots without data")
    axes.bar([0], [0], color="C4", label="a bar of no width")
    axes.legend()
    assert not_drawn(drawn) == ["dots without data", "a bar of no width"]
    plt.close(drawn)


def test_a_figure_is_saved_with_its_data_and_its_smallest_type_and_a_page_of_a_filing_is_marked(study):
    for gid, comment in ((None, PAGE_COMMENT), (OF_DEMO, None)):
        page, axes = plt.subplots()
        axes.imshow(np.zeros((2, 2, 3), np.uint8))
        axes.set_gid(gid)
        shown = figure(study, page, "page", "Caption.", "A page.", pd.DataFrame({"n": [1]}))
        assert "figures/page.png" in shown.markdown  # a drawing's colours are inverted in dark mode
        assert Image.open(study.outputs / "figures" / "page.png").info.get("Comment") == comment
    narrow, axes = plt.subplots(figsize=(SHOWN_WIDTH / 2, 2))
    axes.set_xlabel("few", fontsize=7)
    assert smallest_type(narrow) == "7.0"
    wide, axes = plt.subplots(figsize=(2 * SHOWN_WIDTH, 2))
    axes.set_xlabel("many", fontsize=12)
    assert 5 < float(smallest_type(wide)) < 7
    shown = figure(study, wide, "wide", "Caption.", "A page.", pd.DataFrame({"n": [1]}))
    assert ':name: fig-wide\n:class: dark-light\n:alt: "A page."\n' in shown.markdown
    assert (study.outputs / "figures" / "wide.csv").read_text() == "n\n1\n"
    svg = (study.outputs / "figures" / "wide.svg").read_text(encoding="utf-8")
    assert float(re.search(f'"{TYPE}": "([0-9.]+)"', svg)[1]) < 7


def test_one_line_gives_the_reason_where_the_filings_are_missing():
    def refuse():
        raise NeedsFilings("a page's picture needs the filings")

    assert only_with_filings(lambda: note("text")).markdown == "text"
    assert shown_if(True, lambda: note("text"), "Empty.").markdown == "text"
    assert shown_if(False, refuse, "Empty.").markdown == "Empty."
    assert only_with_filings(refuse).markdown == "*Not shown: a page's picture needs the filings.*"


@pytest.mark.parametrize(
    ("value", "form", "text"),
    [(0.456, ".2f", "0.46"), (np.float64(0.456), ".0%", "46%"), (12345, ".2f", "12,345"), ("dense", ".2f", "dense")],
)
def test_values_for_the_text_are_formatted_and_kept_as_myst_nb_keeps_them(value, form, text):
    InteractiveShell.instance()  # without one, display prints
    kept = []
    for keep in (lambda: glue("recall", value, form), lambda: myst_nb.glue("recall", text, display=False)):
        with capture_output() as captured:
            keep()
        kept.append([(output.data, output.metadata) for output in captured.outputs])
    assert kept[0] == kept[1] != []


@pytest.mark.parametrize("collection", ["demo", "mine"])
def test_a_page_of_the_demo_alone_may_be_published(collection):
    dataset = replace(open_dataset("demo"), collection=collection)
    study = SimpleNamespace(dataset=dataset, need_filings=lambda what: None)
    gold, other = ("TARNBECK_2022_10K", np.int64(11)), ("TARNBECK_2022_10K", 12)
    drawn = page_pair(study, gold, "Gross profit", other, "retrieved")
    assert pages_in(drawn) == drawn.axes
    heads = ["gold: TARNBECK_2022_10K, p. 11", "retrieved: TARNBECK_2022_10K, p. 12"]
    assert [axes.get_title() for axes in drawn.axes] == heads
    assert {axes.get_gid() == OF_DEMO for axes in drawn.axes} == {collection == "demo"}
    plt.close(drawn)


def test_lines_that_are_mostly_evidence_get_a_bar_and_a_long_page_is_cut():
    text = "the cover page\nnet sales rose\n2018\nthe end of it"
    shown = marked_lines(text, "net sales rose", width=14).splitlines()
    assert shown == ["  the cover page", "▌ net sales rose", "  2018 the end", "  of it"]
    shown = marked_lines("word " * 100, "", width=20, n_lines=3)
    assert shown.splitlines() == ["  word word word word"] * 3 + ["  …"]


def test_a_link_to_the_explorer_has_its_filters_and_stays_markup_in_a_table():
    link = explorer_link("look <up>", method="bm25", type="a & b")
    assert link == '<a href="../book/explorer.html#method=bm25&amp;type=a%20%26%20b">look &lt;up&gt;</a>'
    assert link in markdown_table(pd.DataFrame({"Questions": [link]}))
    assert explorer_link("look up") == "–"
