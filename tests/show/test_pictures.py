"""Pages as pictures: the text of a page that has no PDF, with its evidence marked."""

from lib.show.pictures import marked_lines


def test_lines_that_are_mostly_evidence_get_a_bar():
    text = "the cover page\nnet sales rose\n2018\nthe end of it"
    shown = marked_lines(text, "net sales rose", width=14).splitlines()
    assert shown == ["  the cover page", "▌ net sales rose", "  2018 the end", "  of it"]


def test_a_long_page_is_cut_and_a_page_without_evidence_has_no_bars():
    shown = marked_lines("word " * 100, "", width=20, n_lines=3)
    assert shown.splitlines() == ["  word word word word"] * 3 + ["  …"]
