"""What a cell shows: tables and figures with their data, and sentences with numbers."""

import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from PIL import Image

from lib.schema import NeedsFilings
from lib.show import output
from lib.show.drawn import OF_DEMO, OF_FILING
from lib.show.figures import blank
from lib.show.markup import escape
from lib.show.output import COMPARED, gain, interval, joined, printed, say, show
from tests.show.conftest import HOSTILE

ONE = pd.DataFrame({"n": [1]})


def read(study, file: str) -> str:
    return (study.outputs / file).read_text(encoding="utf-8")


def test_a_table_has_its_label_its_rows_and_its_data_and_a_constant_n_is_in_its_caption(study):
    frame = pd.DataFrame({"mean": [0.5, 0.25], "n": 3}, pd.Index(["dense", "bm25"], name="method"))
    shown = show(study, frame, "few", "Caption.", "Takeaway.").markdown
    assert ":name: tab-few\n" in shown
    assert "Caption. n = 3. {download}" in shown
    assert "| Method | Mean |\n|---|--:|\n| Dense | 0.50 |\n" in shown
    assert shown.endswith("\n**Takeaway.**\n")
    assert read(study, "tables/few.csv") == "method,mean,n\ndense,0.5,3\nbm25,0.25,3\n"
    assert "| Method | Mean | n |" in show(study, frame.assign(n=[3, 2]), "few", "Caption.", data=ONE).markdown
    assert read(study, "tables/few.csv") == "n\n1\n"


def test_intervals_and_signs_are_named_and_p_values_and_seconds_have_their_form():
    frame = {"method": ["dense", "bm25"], "mean": [0.2, 0.3], "difference": [0.1, -0.2], "p_holm": [0.2, 0.0001]}
    frame |= {"difference_low": [0.01, -0.3], "difference_high": [0.2, -0.1], "question_s": [0.0123, np.nan]}
    frame = pd.DataFrame(frame | {"low": [0.1, np.nan], "high": [0.3, 0.4], "is_sure": [False, True], "n": 12_345})
    shown = printed(frame, ["method", gain(), "p_holm", "question_s", "is_sure", "n"])
    assert [*shown] == ["Method", "Difference", "p (Holm)", "Question s", "Is sure", "n"]
    first = ["Dense", "+0.10 [+0.01, +0.20]", "0.200", "0.012", "no", "12,345"]
    assert shown.to_numpy().tolist() == [first, ["BM25", "-0.20 [-0.30, -0.10]", "< 0.001", "–", "yes", "12,345"]]
    assert printed(frame, {"Pages": interval("mean", "low", "high")})["Pages"].tolist()[0] == "0.20 [0.10, 0.30]"
    assert [*printed(frame.assign(verdict="gain"), COMPARED)] == ["Difference", "Verdict"]


def test_captions_and_sentences_are_filled_in_from_the_study_and_what_is_given(study):
    text = "At {k}, {n} of {companies}, {dataset}, {profile}: {x}, {x:.0%}, {y}, {z}, {many}, \\{n\\}."
    filled = say(study, text, x=0.256, y=-0.1, z=np.nan, many=12_013).markdown
    assert filled == "At 5, 3 of 2, dataset, profile: 0.26, 26%, −0.10, –, 12,013, \\{n\\}."
    with pytest.raises(KeyError, match="unknown"):
        show(study, ONE, "few", "{unknown}")


def test_no_rows_are_a_reason_or_else_a_row_of_dashes(study):
    for frame, head in ((pd.DataFrame(columns=["Method", "n"]), "| Method | n |"), (ONE[[]][:0], "| Nothing known |")):
        rows = re.findall(r"(?m)^\|.*", show(study, frame, "none", "Caption.").markdown)
        assert (rows[0], len(rows)) == (head, 3)
        assert set(rows[2]) <= set("| –")
        assert show(study, frame, "no", "Caption.", empty="Not measured.").markdown == "Not measured."
    assert show(study, None, "no", "Caption.").markdown == output.NOTHING
    assert show(study, blank(2), "no", "Caption.", data=ONE[:0], empty="Not timed.").markdown == "Not timed."
    assert not (study.outputs / "tables" / "no.csv").exists()


def test_outputs_are_joined_and_the_reason_stands_where_the_filings_are_missing(study):
    def refuse():
        raise NeedsFilings("a picture needs the filings")

    reason = "*Not shown: a picture needs the filings.*"
    assert show(study, lambda: ONE, "few", "Caption.").markdown.startswith("::::{table} Caption.")
    assert show(study, refuse, "few", "Caption.").markdown == reason
    assert joined([say(study, "a"), say(study, "b")]).markdown == "a\nb"
    assert joined([]).markdown == output.NOTHING
    assert joined(refuse() for _ in range(2)).markdown == reason


def test_what_the_dataset_says_is_escaped_in_heads_cells_captions_and_takeaways(study):
    shown = show(study, pd.DataFrame({HOSTILE: [HOSTILE]}), "few", "Of {who}.", "Best: {who}.", who=HOSTILE).markdown
    assert shown.count(escape(HOSTILE)) == 4
    assert shown.replace(escape(HOSTILE), "") == (
        "::::{table} Of . {download}`CSV <../tables/few.csv>`\n:name: tab-few\n:class: study-table\n\n"
        "|  |\n|--:|\n|  |\n::::\n\n**Best: .**\n"
    )


@pytest.mark.parametrize(("gid", "comment"), [(OF_FILING, output.PAGE_COMMENT), (OF_DEMO, None)])
def test_a_page_of_a_filing_is_a_picture_that_is_marked_unless_it_is_of_the_demo(study, gid, comment):
    page = blank(2)
    page.axes[0].set_gid(gid)
    assert "figures/page.png" in show(study, page, "page", "Caption.").markdown  # colours are inverted in dark mode
    assert Image.open(study.outputs / "figures" / "page.png").info.get("Comment") == comment


def test_a_figure_is_saved_with_its_data_stays_as_it_was_made_and_is_forgotten_by_pyplot(study, two_panels):
    figure, panels = two_panels
    before = [figure.get_size_inches().tolist(), *(axes.get_position().bounds for axes in panels)]
    shown = show(study, figure, "both", "Caption.", data=ONE, alt="Two panels.").markdown
    assert ':name: fig-both\n:class: dark-light\n:alt: "Two panels."\n' in shown
    assert read(study, "figures/both.csv") == "n\n1\n"
    assert (study.outputs / "figures" / "narrow" / "both.svg").is_file()
    assert [figure.get_size_inches().tolist(), *(axes.get_position().bounds for axes in panels)] == before
    assert panels[1].get_legend() is not None
    assert plt.get_fignums() == []  # or Jupyter would show it a second time
    panels[0].set_title("changed")
    show(study, figure, "both", "Caption.", data=ONE)
    assert "changed" in read(study, "figures/both.svg")


def test_a_figure_that_cannot_be_copied_and_the_file_of_a_drawing_are_shown_as_they_are(study, tmp_path):
    figure, axes = plt.subplots()
    axes.bar_label(axes.bar([0], [1]), label_type="center")
    assert "figures/bars.svg" in show(study, figure, "bars", "Caption.").markdown
    assert not (study.outputs / "figures" / "narrow" / "bars.svg").exists()
    (given := tmp_path / "boxes.svg").write_text("<svg/>")
    assert "../figures/boxes.svg" in show(study, given, "pipeline", "Boxes.").markdown
    assert read(study, "figures/boxes.svg") == "<svg/>"


def test_a_figure_needs_no_data_and_is_described_by_its_plot(study):
    shown = show(study, blank(2, alt="Empty axes."), "mine", "Caption of {n}.").markdown
    assert "CSV" not in shown
    assert ':alt: "Empty axes. Caption of 3."' in shown
    assert blank(2)._repr_png_()[:4] == b"\x89PNG"
