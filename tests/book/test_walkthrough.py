"""The page that follows one question: what its rule picks, what is marked, and what is left out."""

import re
from dataclasses import replace
from types import SimpleNamespace

import pandas as pd
import pytest
from PIL import Image

from lib.analysis import walked
from lib.analysis.walked import Found, chosen, is_whole, missed_by_search, of_answers, wrong_and_missed
from lib.book import walkthrough
from lib.book.walkthrough import by_filing, drawn, rank_in_words, spoken_formula, table_of, walkthrough_page
from lib.published import Published
from lib.schema import StudyError
from lib.statements.columns import Column
from lib.statements.reading import Cell, Result
from lib.statements.rows import Line, Sheet
from lib.statements.sure import Reading
from lib.studies import open_study

K = 5


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The demo, whose published runs are looked at."""
    return open_study("demo", artifacts=tmp_path_factory.mktemp("artifacts"), say=lambda line: None)


@pytest.fixture(scope="module")
def runs(demo):
    """The demo's published runs of the walk's methods."""
    return {name: demo.published.runs["standard", name] for name in walked.METHODS}


@pytest.fixture(scope="module")
def walk(demo, runs):
    """The question of the demo that is shown, and what each method has for it."""
    return chosen(demo, runs, K)


@pytest.fixture(scope="module")
def page(demo):
    """The page of a FinanceBench without filings, and the folder of its pictures."""
    study = open_study("", artifacts=demo.home.parents[1], say=lambda line: None)
    return walkthrough_page(study), study.outputs / "pages"


def found(outcome: str, n_cells: int) -> Found:
    """What a method has, as far as the rule looks at it."""
    return Found((), (), Reading(None, Result("", "", "", (None,) * n_cells)), outcome)


def test_the_question_shows_a_right_answer_that_the_other_methods_do_not_have(walk):
    question, methods = walk
    *before, last = methods.values()
    assert (is_whole(last.ranks, K), last.outcome) == (True, "right")
    assert [is_whole(one.ranks, K) for one in before] == [False, False]
    assert {one.outcome for one in before} <= {"no answer", "wrong"}
    assert len(question["gold_pages"]) == len(last.ranks)


def test_of_several_questions_the_one_with_most_wrong_answers_and_then_fewest_cells_is_shown():
    right, wrong, none = found("right", 3), found("wrong", 1), found("no answer", 0)
    assert of_answers([none, wrong, right]) == (True, 2, -3)
    assert of_answers([right, wrong, right]) == (True, 1, -3)
    assert of_answers([none, none, found("right", 6)]) < of_answers([none, wrong, right])
    assert of_answers([none, none, none]) < of_answers([right, right, right])


def test_a_wrong_page_of_the_right_filing_stands_beside_the_gold_page_that_was_missed():
    question = pd.Series({"question_id": "q", "doc_name": "A", "gold_pages": [3, 7]})
    before = found("no answer", 0)._replace(places=(("B", 1), ("A", 3), ("A", 5)), ranks=(2, 9))
    last = found("right", 1)._replace(places=(("A", 3), ("A", 7)), ranks=(1, 2))
    assert wrong_and_missed(question, {"dense": before, "ahead": last}, K) == ("dense", ("A", 5), ("A", 7))
    assert wrong_and_missed(question, {"ahead": last}, K) is None


QUESTIONS = pd.DataFrame(
    [(name, "A", [7], also) for name, also in (("far", []), ("also", [4]), ("near", []))],
    columns=["question_id", "doc_name", "gold_pages", "also"],
)


def ranked(pages: dict[str, list[int]]) -> pd.DataFrame:
    """A run over filing A with a chunk for each page, in this order."""
    rows = [(name, rank, "A", page) for name, of in pages.items() for rank, page in enumerate(of, 1)]
    return pd.DataFrame(rows, columns=["question_id", "rank", "doc_name", "page"])


def test_search_misses_a_question_inside_its_filing_and_another_page_that_answers_counts_as_found():
    search = ranked({"far": [1, 2, 3, 4, 5, 7], "near": [1, 2, 3, 4, 5, 7], "also": [4, 1, 2, 3, 5, 7]})
    ahead = ranked({"far": [1, 7], "near": [7, 1], "also": [7, 1]})
    question, by_method = missed_by_search(QUESTIONS, {"dense": search, "ahead": ahead}, K)
    assert question["question_id"] == "near"
    assert by_method["dense"] == ((6,), (("A", 1), ("A", 2), ("A", 3), ("A", 4), ("A", 5)))
    assert by_method["ahead"][0] == (1,)
    assert missed_by_search(QUESTIONS, {"dense": ahead, "ahead": ahead}, K) is None


def test_rows_and_columns_that_are_read_are_marked_and_what_is_between_is_a_gap():
    columns = (Column(2022, None, None, None, None), Column(2021, None, None, None, None))
    lines = tuple(Line(name, "", columns, (value, -value)) for value, name in enumerate("abcdef", 1))
    cell = Cell("x", 2021, -4.0, -4.0, "", "d", "A", 0, False, 1.0)
    table = table_of(Sheet("A", 0, None, 2022, lines), [cell])
    assert table["heads"] == [(2022, False), (2021, True)]
    assert [row["label"] for row in table["rows"]] == ["", "c", "d", "e", ""]
    assert [row["cells"] for row in table["rows"] if row["is_read"]] == [["4", "(4)"]]


def test_pages_count_from_1_and_gold_ones_are_bold_and_formulas_are_words():
    question = pd.Series({"doc_name": "A", "gold_pages": [7], "also": [4]})
    assert by_filing(question, [("B", 7), ("A", 7), ("A", 4), ("A", 0)]) == "B: 8; A: **8**, *5*, 1"
    assert spoken_formula("net_income / at(total_assets, 2021)") == "net income / total assets (2021)"


def test_the_page_has_the_ranks_of_the_published_runs_and_small_described_pictures(walk, page):
    text, folder = page
    _, methods = walk
    ranks = [", ".join(map(rank_in_words, one.ranks)) for one in methods.values()]
    assert f"| Gold at | {' | '.join(ranks)} |" in text
    assert f"**{methods['ahead'].read.result.text}** = " in text
    pictures = re.findall(r"\{figure\} (\S+)\n:alt: Page \d+ of .+", text)
    assert pictures == ["walkthrough-wrong.webp", "walkthrough-missed.webp"]
    assert sum((folder / name).stat().st_size for name in pictures) < 200_000
    assert all(Image.open(folder / name).width > 600 for name in pictures)


def test_the_question_of_unseen_companies_has_its_published_ranks_and_no_text_but_the_quoted_evidence(page):
    text = page[0].partition("## A question that one report alone lets one ask")[2]
    published = Published.of("unseen-companies", "default")
    asked = published.questions[published.questions["question_type"] == walkthrough.OF_REPORT]
    runs = {name: published.runs["standard", name] for name in walked.METHODS}
    question, by_method = missed_by_search(asked, runs, K)
    assert question["doc_name"] in text.replace("\\", "")
    for ranks, _ in by_method.values():
        assert f"| {', '.join(map(str, ranks))} | " in text
    assert f"**{question['gold_pages'][0] + 1}**" in text
    assert text.count("\n> ") == 1 + text.count("Evidence on page ")


def test_without_a_run_of_a_method_its_steps_are_left_out(demo, runs, study, monkeypatch):
    assert "no run of the methods that the walk compares" in walkthrough_page(study)
    monkeypatch.setattr(walkthrough, "with_text", lambda study: demo)
    monkeypatch.setattr(walkthrough, "runs_here", lambda study: {"dense": runs["dense"]})
    study.dataset = replace(study.dataset, name="mine")
    text = walkthrough_page(study)
    assert "Ahead" not in text
    assert "A question that one report alone" not in text
    assert text.count("| dense |") == 2  # in the ranked pages and in the answers


def test_a_question_without_an_answer_is_read_and_neither_right_nor_wrong(demo, runs, walk, monkeypatch):
    question, _ = walk
    monkeypatch.setattr(walked, "reading", lambda *given: SimpleNamespace(is_sure=True, result=Result("1", "", "")))
    assert walked.found_of(demo, pd.Series({**question, "answer": ""}), runs["ahead"], (1,), K).outcome == "read"
    assert walked.found_of(demo, question, runs["ahead"], (1,), K).outcome == "wrong"


def test_a_page_of_text_or_one_that_cannot_be_drawn_has_no_picture(study, demo, monkeypatch):
    assert drawn(study, study, ("ACME_2020_10K", 0), "wrong", "") is None
    assert drawn(study, demo, ("VEYLORIA_2022_10K", 0), "wrong", "") == "walkthrough-wrong.webp"

    def refuse(*given):
        raise StudyError("cannot be drawn")

    monkeypatch.setattr(walkthrough, "picture", refuse)
    assert drawn(study, demo, ("VEYLORIA_2022_10K", 0), "wrong", "") is None
