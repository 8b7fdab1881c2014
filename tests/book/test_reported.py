"""The page of what the papers report: every table with its number, n and depth, and what is not stated."""

from types import SimpleNamespace

import pytest

from lib.analysis.facts import SOURCES, facts
from lib.book.reported import caption, reported_page, rows_table, settings_table
from lib.profile import load_profile
from lib.show.display import markdown_table
from lib.show.markup import escape

STUDY = SimpleNamespace(profile=load_profile("default"))


@pytest.fixture(scope="module")
def page() -> str:
    return reported_page(STUDY)


@pytest.mark.parametrize("source", SOURCES)
def test_every_table_of_a_paper_is_on_the_page(source, page):
    known = facts(source)
    for table in known.tables:
        head = f"\n**{escape(table['id'])}**: {escape(caption(table))}\n\n"
        assert head in page
        if table["rows"]:
            rows = markdown_table(rows_table(known, table["rows"]))
            assert f"{head}:::{{container}} study-table\n{rows}\n:::\n" in page
            assert rows.count("\n") == len(table["rows"]) + 1
    assert page.count(":::{dropdown} What contradicts itself") == len(SOURCES)


def test_a_caption_has_number_n_depth_and_conditions(page):
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


def test_what_is_not_stated_says_so_and_what_is_taken_instead_is_ours():
    table = settings_table(STUDY, facts()).set_index("What")
    assert table.loc["bm25: k1", ["Stated", "Chosen here"]].tolist() == ["not stated", "1.5"]
    assert table.loc["cost", ["Stated", "Chosen here"]].tolist() == ["not stated", "–"]
    assert table.loc["k", ["Stated", "Chosen here"]].tolist() == ["5", "–"]
    assert "nrefs:1" in table.loc["bleu variant", "Chosen here"]
    assert "Read in" not in table


def test_facts_of_yepes_have_the_mark_of_where_they_were_read():
    table = settings_table(STUDY, facts("yepes2024")).set_index("What")
    assert table.loc["fixed tokenizer", "Read in"] == "N"
    assert table.loc["element chunks: rule", "Read in"] == "V2"
    assert table.loc["seed", "Read in"] == "–"
