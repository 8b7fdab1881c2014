"""Pages of numbers from elsewhere: what the papers report, and the data card against published files."""

import re
from types import SimpleNamespace

import pandas as pd
import pytest

from lib.analysis.facts import MAIN, SOURCES, facts
from lib.book.reported import reported_page, rows_table, settings_table
from lib.files import RESULTS, ROOT
from lib.profile import load_profile
from lib.show.markup import escape

STUDY = SimpleNamespace(profile=load_profile("default"))


def test_every_table_of_a_paper_is_on_the_page_with_its_numbers():
    page = reported_page(STUDY)
    ids = [table["id"] for source in SOURCES for table in facts(source).tables]
    assert [one for one in ids if f", {escape(one)}\n" not in page] == []
    assert "n = 150; depth 5; all filings." in page
    assert "| multi hyde rerank | `multi_hyde_rerank` | 0.93 | 0.46 | 0.28 | 0.40 |" in page


@pytest.mark.parametrize(
    ("source", "table", "row", "cells"),
    [
        ("yepes2024", "Table 4", "keywords chipper", ["`element_keywords`", "20,843", "46.10", "0.444", "–"]),
        ("kim2025", "Table 11", "learning rate", ["2e-05"]),
        ("akarsu2026", "Table IV", None, ["73", "20", "5", "1", "1"]),  # of one column
    ],
)
def test_cells_have_the_digits_that_are_printed(source, table, row, cells):
    found = rows_table(facts(source), facts(source).table(table)).set_index("Row")
    assert (found.loc[row] if row else found["Value"]).tolist() == cells


def test_what_is_not_stated_says_so_and_what_is_taken_instead_is_ours():
    table = settings_table(STUDY, facts(MAIN)).set_index("What")
    assert table.loc["bm25: k1", ["Stated", "Chosen here"]].tolist() == ["not stated", "1.5"]
    assert table.loc["k", ["Stated", "Chosen here"]].tolist() == ["5", "–"]
    table = settings_table(STUDY, facts("yepes2024")).set_index("What")
    assert table.loc[["fixed tokenizer", "element chunks: rule"], "Read in"].tolist() == ["N", "V2"]


def described() -> list[str]:
    """What the data card has to say of the published questions, filings and systems."""
    questions = pd.read_csv(RESULTS / "page-questions" / "default" / "questions.csv")
    columns = ("company", "doc_name", "question_type", "doc_type")
    companies, filings, types, forms = (questions[name].value_counts() for name in columns)
    tables = RESULTS / "financebench" / "default" / "shown" / "tables"
    pages = pd.read_csv(tables / "haystack.csv").groupby("n_filings")["n_pages"].max()
    systems = pd.read_csv(tables.with_name("figures") / "answers-systems.csv")
    return [
        f"{len(questions)} questions on {len(filings)} of FinanceBench's 84 filings",
        f"JPMorgan {companies['JPMorgan']} questions ({100 * companies['JPMorgan'] / len(questions):.0f} %)",
        f"largest filing has {filings.max()} questions ({100 * filings.max() / len(questions):.0f} %)",
        *(f"{name.removesuffix(' Corporation')} {n}" for name, n in companies.drop("JPMorgan").items()),
        f"`page-number` ({types['page-number']} questions",
        f"`page-text` ({types['page-text']})",
        f"{forms['10-K']} questions are on 10-Ks and {forms['10-Q']} on 10-Qs",
        f"150, 250 and {pages.index[-1]} filings ({pages.iloc[-1]:,} pages)",
        f"instead of {pages.index[0]} ({pages.iloc[0]:,} pages)",
        f"{systems['system'].nunique()} labelled systems",
        f"On the {systems['n'].min()} questions whose answer is a number",
    ]


def test_the_data_card_is_of_what_is_published():
    card = re.sub(r"\s+", " ", (ROOT / "book" / "data_card.md").read_text(encoding="utf-8"))
    assert [words for words in described() if words not in card] == []
    outside = pd.read_csv(ROOT / "lib" / "analysis" / "outside.csv", dtype=str).groupby("set")["question_id"].nunique()
    assert [name for name, n in outside.items() if not re.search(f"{n} questions of (the )?{name}", card)] == []
