"""What a cell shows: a numbered table, a figure in the width of the book, and one line where filings are missing."""

import re
from dataclasses import replace
from types import SimpleNamespace

import matplotlib.pyplot as plt
import myst_nb
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from markdown_it import MarkdownIt
from PIL import Image

from lib.data.locate import open_dataset
from lib.show import display, figures
from lib.show.display import (
    figure,
    glue,
    laid_out,
    markdown_table,
    note,
    only_with_filings,
    p_value,
    seconds,
    shown_if,
    table,
    typeset,
)
from lib.show.drawn import OF_DEMO, PHONE_WIDTH, SHOWN_WIDTH, _lines_high, for_phone, not_drawn, pages_in, smallest_type
from lib.show.markup import Markup, as_csv, escape, explorer_link, label, verbatim
from lib.show.pictures import marked_lines, page_pair
from lib.show.tables import reported_means, reported_runs
from lib.words import NeedsFilings

HOSTILE = "1. <script>a</script>|{download}`x </etc/passwd>`\n$x$ {{ 1 }} [a](b) *c* :::{raw} html"
ONE = pd.DataFrame({"n": [1]})


def test_a_table_has_its_label_its_rows_and_its_data_and_a_constant_n_is_in_its_caption(study):
    shown = table(study, pd.DataFrame({"Method": ["dense"], "n": [3]}), "few", "Caption.", "Takeaway.").markdown
    assert ":name: tab-few\n" in shown
    assert "| Method | n |\n|---|--:|\n| Dense | 3 |\n" in shown
    assert shown.endswith("\n**Takeaway.**\n")
    assert (study.outputs / "tables" / "few.csv").read_text() == "Method,n\ndense,3\n"
    frame = pd.DataFrame({"Method": ["dense", "bm25"], "n": [3, 3]})
    shown = table(study, frame, "all", "Caption.").markdown
    assert "Caption. n = 3. {download}" in shown
    assert "| Method |\n|---|\n| Dense |" in shown
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
    assert [*map(p_value, (0.0005, 0.0002, np.nan))] == ["0.001", "< 0.001", "–"]


def test_numbers_have_a_minus_sign_and_none_where_they_round_to_zero_and_seconds_two_digits():
    cells = ["-0.20 [-0.30, -0.00]", "+0.00", "-0.001", "-3", "10-K", "-0.0 and text"]
    shown = markdown_table(pd.DataFrame({"Gain": cells})).splitlines()[2:]
    written = ["−0.20 \\[−0.30,&nbsp;0.00\\]", "0.00", "−0.001", "−3", "10\\-K", "\\-0.0 and text"]
    assert shown == [f"| {text} |" for text in written]
    assert typeset("-0.05 [-0.10, -0.00] (loss); no 10-K, 2-3") == "−0.05 [−0.10, 0.00] (loss); no 10-K, 2-3"
    assert [*map(seconds, (0.0504, 0.0423, 2, 9.96, 12.3))] == ["0.050", "0.042", "2.0", "10", "12"]


def test_captions_are_filled_in_from_the_study_and_what_is_given_and_no_rows_are_still_a_table(study):
    caption = "At {k}, {n} questions of {companies} in {dataset}, {profile}: {title}, {cite}`x`, \\{n\\}."
    shown = table(study, pd.DataFrame({"n": [3]}), "few", caption, title="Dense")
    assert "At 5, 3 questions of 2 in dataset, profile: Dense, {cite}`x`, \\{n\\}." in shown.markdown
    with pytest.raises(KeyError, match="unknown"):
        table(study, pd.DataFrame({"n": [3]}), "few", "{unknown}")
    with pytest.raises(ValueError, match=r"\{share:.2f\} is no placeholder; format the value, and say \{share\}"):
        table(study, pd.DataFrame({"n": [3]}), "few", "{share:.2f}", share=0.5)
    for frame, head in ((pd.DataFrame(columns=["Method", "n"]), "| Method | n |"), (ONE[[]][:0], "| Nothing known |")):
        rows = re.findall(r"(?m)^\|.*", table(study, frame, "none", "Caption.").markdown)
        assert (rows[0], len(rows)) == (head, 3)
        assert set(rows[2]) <= set("| –")


def test_what_the_dataset_says_is_escaped_in_heads_cells_captions_and_takeaways(study):
    cells = markdown_table(pd.DataFrame({"Name": ["<b>*x*", "`doc_recall`"], "n": [np.nan, 2]}))
    assert cells.splitlines()[2:] == ["| \\<b\\>\\*x\\* | – |", "| `doc_recall` | 2.0 |"]
    shown = table(study, pd.DataFrame({HOSTILE: [HOSTILE]}), "few", "Of {who}.", "Best: {who}.", who=HOSTILE).markdown
    assert shown.count(escape(HOSTILE)) == 4
    assert shown.replace(escape(HOSTILE), "") == (
        "::::{table} Of . {download}`CSV <../tables/few.csv>`\n:name: tab-few\n:class: study-table\n\n"
        "|  |\n|--:|\n|  |\n::::\n\n**Best: .**\n"
    )


def test_escaped_text_is_the_same_text_once_it_is_parsed():
    for text in (HOSTILE, "% no comment", "=", "12. no list", "a\\`b", "-", "#1"):
        tokens = MarkdownIt().parse(escape(text))
        assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
        assert "".join(child.content for child in tokens[1].children) == " ".join(text.split())
    assert (escape(escape("*")), escape(Markup("*a*"))) == ("\\*", "*a*")
    assert label("a $x$\nb") == r"a \$x\$ b"
    assert len(label("word " * 100)) <= 80
    assert verbatim("a\n````\n# b") == "`````text\na\n````\n# b\n`````"
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
    for gid, comment in ((None, display.PAGE_COMMENT), (OF_DEMO, None)):
        page, axes = plt.subplots()
        axes.imshow(np.zeros((2, 2, 3), np.uint8))
        axes.set_gid(gid)
        shown = figure(study, page, "page", "Caption.", "A page.", ONE)
        assert "figures/page.png" in shown.markdown  # a drawing's colours are inverted in dark mode
        assert Image.open(study.outputs / "figures" / "page.png").info.get("Comment") == comment
    narrow, axes = plt.subplots(figsize=(SHOWN_WIDTH / 2, 2))
    axes.set_xlabel("few", fontsize=7)
    assert smallest_type(narrow) == "7.0"
    wide, axes = plt.subplots(figsize=(2 * SHOWN_WIDTH, 2))
    axes.set_xlabel("many", fontsize=12)
    assert 5 < float(smallest_type(wide)) < 7
    shown = figure(study, wide, "wide", "Caption.", "A page.", ONE)
    assert ':name: fig-wide\n:class: dark-light\n:alt: "A page."\n' in shown.markdown
    assert (study.outputs / "figures" / "wide.csv").read_text() == "n\n1\n"
    svg = (study.outputs / "figures" / "wide.svg").read_text(encoding="utf-8")
    assert float(re.search(f'"{display.TYPE}": "([0-9.]+)"', svg)[1]) < 7


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
    shown = marked_lines("the cover page\nnet sales rose\n2018\nthe end of it", "net sales rose", width=14)
    assert shown.splitlines() == ["  the cover page", "▌ net sales rose", "  2018 the end", "  of it"]
    shown = marked_lines("word " * 100, "", width=20, n_lines=3)
    assert shown.splitlines() == ["  word word word word"] * 3 + ["  …"]


def test_reported_figures_are_known_of_their_dataset_alone():
    assert reported_runs("page-questions") == {}
    known = reported_runs("financebench")
    assert known["page_scorer_filing", "standard"]["page_recall"] == 0.55
    assert ("page_scorer", "standard") not in known
    assert known["dense", "oracle-document"]["ctx_bleu"] == 0.25
    assert len(known) == 11 + 2
    means = reported_means("financebench", "dense", ["page_recall", "doc_ndcg"])  # of which it reports one
    assert means["Reported: Page recall"].to_dict() == {"standard": 0.34, "oracle-document": 0.6, "oracle-page": 1.0}
    assert list(means) == ["Reported: Page recall"]
    assert reported_means("demo", "dense", ["page_recall"]).shape == (3, 0)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def names(drawn: plt.Figure) -> list[str]:
    return [label.get_text() for label in drawn.axes[0].get_yticklabels()]


def test_a_bar_of_what_is_lost_adds_to_one_and_small_parts_have_no_number():
    rows = [("dense", 0.25, 0.5, 0.25), ("Mine", 0.75, 0.24, 0.01)]
    drawn = figures.lost_bars(pd.DataFrame(rows, columns=["method", "found", "page", "document"]))
    axes, texts = drawn.axes[0], {one.get_text() for one in drawn.axes[0].texts}
    assert {round(bar.get_x() + bar.get_width(), 9) for bar in axes.containers[-1]} == {1.0}
    assert texts >= {"Dense", "Mine", "found", "right filing, wrong page", "wrong filing"}
    assert {text for text in texts if text.isdigit()} == {"24", "25", "50", "75"}
    assert float(smallest_type(drawn)) >= 9


def test_of_two_joined_dots_the_first_is_hollow_and_a_missing_one_is_left_out():
    drawn, axes = plt.subplots()
    parts = {"before": pd.DataFrame({"mean": [0.2, 0.3]}), "after": pd.DataFrame({"mean": [0.4, np.nan]})}
    figures.paired_dots(axes, parts, ["Dense", "BM25"])
    first, second = axes.lines
    assert (first.get_markerfacecolor(), second.get_markerfacecolor()) == ("white", figures.COLOURS[0])
    assert [*first.get_xdata()] == [0.2, 0.3]
    assert names(drawn) == ["Dense", "BM25"]


def test_bars_are_named_in_the_group_with_most_room_and_have_one_number_of_digits():
    axes = plt.figure().subplots()
    parts = {"ours": pd.DataFrame({"mean": [0.9, 0.4]}), "theirs": pd.DataFrame({"mean": [0.35, 0.3]})}
    figures.bars(axes, parts, ["Dense", "BM25"], figures.COLOURS)
    assert [one.get_text() for one in axes.texts] == ["0.90", "0.40  ours", "0.35", "0.30  theirs"]
    ends = pd.DataFrame({"mean": [4.0, 2.0], "low": [3.0, 1.0], "high": [5.0, 9.0]})
    axes = plt.figure().subplots()
    figures.bars(axes, {"ours": ends}, ["Dense", "BM25"], figures.COLOURS)
    assert [one.get_text() for one in axes.texts] == ["ours", ""]


def test_two_joined_dots_are_named_once_the_names_apart_from_each_other():
    axes = plt.figure().subplots()
    parts = {"before": pd.DataFrame({"mean": [0.2, 0.3]}), "after": pd.DataFrame({"mean": [np.nan, 0.1]})}
    figures.name_pair(axes, parts)
    shown = [(one.get_text(), one.xy, one.get_ha()) for one in axes.texts]
    assert shown == [("after", (0.1, 1), "right"), ("before", (0.3, 1), "left")]
    figures.name_pair(axes, {name: part.head(1) for name, part in parts.items()})
    assert len(axes.texts) == 2


def test_names_of_dots_stand_on_their_side_and_apart_where_dots_are_near():
    axes = plt.figure().subplots()
    dots = pd.DataFrame({"name": ["a", "b", "c"], "x": [1.0, 1.1, 10.0], "y": [0.5, 0.5, 0.5]})
    figures.name_dots(axes, dots.assign(is_left=[False, False, True]), 0.2)
    shown = {one.get_text(): (one.get_ha(), round(one.xy[1], 9)) for one in axes.texts}
    assert shown == {"a": ("left", 0.4), "b": ("left", 0.6), "c": ("right", 0.5)}


def test_a_phone_has_panels_below_each_other_and_no_layout_of_a_figure_whose_texts_would_meet():
    drawn, panels = plt.subplots(1, 2, figsize=(7.6, 2), sharey=True)
    for axes in panels:
        axes.barh([0, 1, 2], [1, 2, 3], label="pages")
        figures.label_rows(axes, ["Light page scorer, sum of scores, filings matched by records"] * 3)
    panels[1].legend()
    assert for_phone(drawn)
    upper, lower = (axes.get_window_extent() for axes in panels)
    assert (drawn.get_figwidth(), lower.y1 < upper.y0) == (PHONE_WIDTH, True)
    assert (panels[1].get_legend(), len(drawn.legends)) == (None, 1)
    assert max(len(line) for name in names(drawn) for line in name.split("\n")) <= 26
    crowded, axes = plt.subplots(figsize=(7.6, 2))
    for place in (0, 0.3, 0.6):
        axes.text(place, 0.5, "a name beside its point")
    assert not for_phone(crowded)


def test_rows_on_a_phone_are_as_far_apart_as_the_lines_of_their_names():
    axes = plt.figure().subplots()
    axes.set(ylim=(10, 0), yticks=[1, 2, 6])
    assert _lines_high(axes, [1, 1, 1]) == 10  # a line for each of ten parts, the first two rows being one apart
    assert _lines_high(axes, [1, 1, 15]) == 20  # 8 lines from middle to middle, over four parts
    axes.set(yticks=[5])
    assert _lines_high(axes, [3]) == 3


@given(st.lists(st.floats(0, 1), min_size=1, max_size=15))
def test_labels_keep_their_gap_and_their_order_and_stay_if_they_are_apart(heights):
    placed = figures.spread_labels(heights, 0.1)
    assert (np.diff(placed[np.argsort(heights, kind="stable")]) > 0.1 - 1e-9).all()
    assert figures.spread_labels([0.9, 0.1, 0.5], 0.2) == pytest.approx([0.9, 0.1, 0.5])
    assert figures.spread_labels([0.5, 0.5], 0.2) == pytest.approx([0.4, 0.6])
