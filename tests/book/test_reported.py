"""The page of what the papers report: every table with its number, n and depth, and what is not stated."""

from types import SimpleNamespace

import pytest

from lib.analysis.facts import MAIN, SOURCES, facts
from lib.book.reported import reported_page, rows_table, settings_table
from lib.profile import load_profile
from lib.show.markup import escape

STUDY = SimpleNamespace(profile=load_profile("default"))


def test_every_table_of_a_paper_is_on_the_page_with_number_n_depth_and_conditions():
    page = reported_page(STUDY)
    ids = [table["id"] for source in SOURCES for table in facts(source).tables]
    assert [one for one in ids if f"\n**{escape(one)}**: " not in page] == []
    assert "**Table 3**: retrieval, all questions; n = 150; depth 5; all filings." in page
    assert "| multi hyde rerank | `multi_hyde_rerank` | 0.93 | 0.46 | 0.28 | 0.40 |" in page


def test_cells_have_the_digits_that_are_printed():
    known = facts("yepes2024")
    table = rows_table(known, known.table("Table 4")).set_index("Row")
    assert table.loc["keywords chipper"].tolist() == ["`element_keywords`", "20,843", "46.10", "0.444", "–"]
    inside = rows_table(facts(), facts().table("Figure 3")).set_index("Row")
    assert inside.loc["page scorer", "metrics-generated: D"] == "1.00"
    details = rows_table(facts("kim2025"), facts("kim2025").table("Table 11")).set_index("Row")
    assert details.loc["learning rate", "Value"] == "2e-05"
    shares = facts("akarsu2026")
    assert {"R@5", "MRR@3", "nDCG@10"} < {*rows_table(shares, shares.table("Table I and Table VI"))}
    assert rows_table(shares, shares.table("Table IV"))["Value"].tolist() == ["73", "20", "5", "1", "1"]


@pytest.mark.parametrize(
    ("source", "row", "cells"),
    [
        (MAIN, "bm25: k1", {"Stated": "not stated", "Chosen here": "1.5"}),
        (MAIN, "cost", {"Stated": "not stated", "Chosen here": "–"}),
        (MAIN, "k", {"Stated": "5", "Chosen here": "–"}),
        ("yepes2024", "fixed tokenizer", {"Read in": "N"}),  # the mark of where it was read
        ("yepes2024", "element chunks: rule", {"Read in": "V2"}),
        ("yepes2024", "seed", {"Read in": "–"}),
    ],
)
def test_what_is_not_stated_says_so_and_what_is_taken_instead_is_ours(source, row, cells):
    table = settings_table(STUDY, facts(source)).set_index("What")
    assert table.loc[row, [*cells]].to_dict() == cells
    assert ("Read in" in table) == (source == "yepes2024")
