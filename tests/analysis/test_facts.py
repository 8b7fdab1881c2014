"""What the papers state, as data: each number of the book is read from here, and none is typed."""

import re
from collections.abc import Iterator
from fnmatch import fnmatch

import nbformat
import pytest

from lib.analysis.facts import SOURCES, facts
from lib.book.notebooks import chapters
from lib.files import ROOT
from lib.methods import METHODS
from lib.profile import load_profile
from lib.studies import NOTEBOOKS

in_every_source = pytest.mark.parametrize("source", SOURCES)


def leaves(values: object) -> Iterator[object]:
    for value in values.values() if isinstance(values, dict) else values if isinstance(values, list) else ():
        yield from leaves(value)
    if not isinstance(values, dict | list):
        yield values


@in_every_source
def test_facts_are_whole_and_rows_of_ours_exist(source):
    known = facts(source)
    assert f"{{{known.source['bibliography']}," in (ROOT / "book" / "references.bib").read_text()
    ids = [table["id"] for table in known.tables]
    assert len(ids) == len(set(ids))
    assert known.inconsistencies
    assert all({"id", "what", "rows"} <= table.keys() for table in known.tables)
    assert all({"id", "where", "claim", "numbers", "table"} <= claim.keys() for claim in known.claims)
    assert known.methods.keys() <= {row for table in known.tables for row in table["rows"] or {}}
    assert {*known.methods.values()} <= METHODS.keys()


@in_every_source
def test_what_is_chosen_here_is_not_stated_there(source):
    known = facts(source)
    for place in known.chosen_here:
        section, *names = place.split(".")
        value = getattr(known, section)
        for name in names:
            value = value[name] if name in value else value[".".join(names[names.index(name) :])]
            if not isinstance(value, dict):
                break
        assert value is None, place


def test_tables_are_read_by_the_paper_s_rows_or_by_our_methods_and_versions_and_shares_agree():
    known = facts()
    assert known.table("Table 3")["page_scorer"]["page_recall"] == 0.55
    assert known.by_method("Table 3")["page_scorer_filing"] is known.table("Table 3")["page_scorer"]
    assert facts("akarsu2026").by_method("Table I and Table VI")["hybrid_rrf"]["R5"] == 0.695
    assert facts("kim2025").by_method("Table 4")["lm_expansion_dense"] == {"ndcg10": 0.48601}
    with pytest.raises(KeyError):
        known.table("Table 99")
    english, french = facts("kobeissi2026_en"), facts("kobeissi2026_fr")
    retrieval = french.table("Table 4")
    assert {row: retrieval[row] for row in english.table("Table 3")} == english.table("Table 3")
    assert english.table("Table 6") == french.table("Table 9")
    assert english.table("Table 4") == french.table("Table 5")
    assert english.table("Table 5").keys() == french.table("Table 6").keys()
    assert english.table("Table 5") != french.table("Table 6")
    n = facts("yepes2024").data["n_questions"]
    cells = [row[name] for row in facts("yepes2024").table("Table 5").values() for name in row]
    cells += [row["page_accuracy"] for row in facts("yepes2024").table("Table 4").values()]
    assert all(abs(share - 100 * round(n * share / 100) / n) < 0.006 for share in cells)


def test_no_reported_number_is_typed_in_a_chapter():
    tables = (table for source in SOURCES for table in facts(source).tables)
    cells = (value for table in tables for value in leaves(table["rows"]) if isinstance(value, float))
    exact = {value for value in cells if round(value, 2) != value}
    for name in chapters():
        for cell in nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4).cells:
            typed = {float(text) for text in re.findall(r"(?<![\w.])\d*\.\d{3,}", cell.source)}
            assert not typed & exact, (name, cell.id)
    assert 0.48601 in exact


@in_every_source
def test_every_row_that_departs_from_its_paper_is_one_of_ours(source):
    profile = load_profile("default")
    for row in facts(source).differs or []:
        assert row["paper"]
        assert row["here"].format(**profile)
        for pattern in re.findall("`(.+?)`", row["rows"]):
            assert [name for name in METHODS if fnmatch(name, pattern)], pattern
