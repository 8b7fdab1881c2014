"""Pages of numbers from elsewhere: what the papers report, and the data card against published files."""

import re
from types import SimpleNamespace

import pandas as pd
import pytest

from lib.analysis.facts import MAIN, SOURCES, facts
from lib.book.reported import reported_page, rows_table, settings_table
from lib.files import ROOT
from lib.profile import load_profile
from lib.published import RESULTS
from lib.show.markup import escape

STUDY = SimpleNamespace(profile=load_profile("default"))


def test_every_table_of_a_paper_is_on_the_page_with_number_n_depth_and_conditions():
    page = reported_page(STUDY)
    ids = [table["id"] for source in SOURCES for table in facts(source).tables]
    assert [one for one in ids if f", {escape(one)}\n" not in page] == []
    assert "Table 3\n\nRetrieval, all questions; n = 150; depth 5; all filings." in page
    assert "| multi hyde rerank | `multi_hyde_rerank` | 0.93 | 0.46 | 0.28 | 0.40 |" in page


@pytest.mark.parametrize(
    ("source", "table", "row", "cells"),
    [
        ("yepes2024", "Table 4", "keywords chipper", ["`element_keywords`", "20,843", "46.10", "0.444", "–"]),
        ("kim2025", "Table 11", "learning rate", ["2e-05"]),
        ("akarsu2026", "Table IV", 0, ["73", "20", "5", "1", "1"]),
    ],
)
def test_cells_have_the_digits_that_are_printed(source, table, row, cells):
    found = rows_table(facts(source), facts(source).table(table)).set_index("Row")
    assert (found["Value"] if row == 0 else found.loc[row]).tolist() == cells


@pytest.mark.parametrize(
    ("source", "row", "cells"),
    [
        (MAIN, "bm25: k1", {"Stated": "not stated", "Chosen here": "1.5"}),
        (MAIN, "k", {"Stated": "5", "Chosen here": "–"}),
        ("yepes2024", "fixed tokenizer", {"Read in": "N"}),  # the mark of where it was read
        ("yepes2024", "element chunks: rule", {"Read in": "V2"}),
    ],
)
def test_what_is_not_stated_says_so_and_what_is_taken_instead_is_ours(source, row, cells):
    table = settings_table(STUDY, facts(source)).set_index("What")
    assert table.loc[row, [*cells]].to_dict() == cells


CARD = re.sub(r"\s+", " ", (ROOT / "book" / "data_card.md").read_text(encoding="utf-8"))


def test_the_second_set_is_as_described():
    questions = pd.read_csv(RESULTS / "page-questions" / "default" / "questions.csv")
    companies, filings, types = (questions[name].value_counts() for name in ("company", "doc_name", "question_type"))
    assert f"{len(questions)} questions on {len(filings)} of FinanceBench's 84 filings" in CARD
    largest = f"JPMorgan {companies['JPMorgan']} questions ({companies['JPMorgan'] / len(questions):.0%})"
    assert largest.replace("%)", " %)") in CARD
    assert f"largest filing has {filings.max()} questions ({100 * filings.max() / len(questions):.0f} %)" in CARD
    for name, n in companies.drop("JPMorgan").items():
        assert f"{name.removesuffix(' Corporation')} {n}" in CARD
    assert f"`page-number` ({types['page-number']} questions" in CARD
    assert f"`page-text` ({types['page-text']})" in CARD
    kinds = questions["doc_type"].value_counts()
    assert f"{kinds['10-K']} questions are on 10-Ks and {kinds['10-Q']} on 10-Qs" in CARD


def test_the_larger_collection_the_systems_and_the_outside_sets_are_as_described():
    tables = RESULTS / "financebench" / "default" / "shown" / "tables"
    pages = pd.read_csv(tables / "haystack.csv").groupby("n_filings")["n_pages"].max()
    assert f"150, 250 and {pages.index[-1]} filings ({pages.iloc[-1]:,} pages)" in CARD
    assert f"instead of {pages.index[0]} ({pages.iloc[0]:,} pages)" in CARD
    systems = pd.read_csv(tables.with_name("figures") / "answers-systems.csv")
    assert f"{systems['system'].nunique()} labelled systems" in CARD
    assert f"On the {systems['n'].min()} questions whose answer is a number" in CARD
    outside = pd.read_csv(ROOT / "lib" / "analysis" / "outside.csv", dtype=str).groupby("set")["question_id"].nunique()
    assert [name for name, n in outside.items() if not re.search(f"{n} questions of (the )?{name}", CARD)] == []
