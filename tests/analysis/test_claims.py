"""What the papers state, as data: each number is read from here, every claim has a row, amounts are of their tables."""

import re
from collections.abc import Iterator
from fnmatch import fnmatch

import nbformat
import pytest

from lib.analysis.claims import COMPONENTS, MARGIN, Entry, claims, entry
from lib.analysis.facts import SOURCES, facts
from lib.analysis.scoreboard import FIXED, PARTS
from lib.book.notebooks import chapters
from lib.files import ROOT
from lib.methods import METHODS
from lib.metrics import METRICS
from lib.profile import load_profile
from lib.studies import NOTEBOOKS

BY_ID = {claim.id: claim for claim in claims()}
BASELINE = "multi_hyde_rerank"
DERIVED = {"right", "declined", "corrected", "missed_by_both", "table_failure", "vocabulary_failure", "stage_one"}
DERIVED |= {f"pages_{n}" for n in (5, 10, 20)} | {f"alpha_{percent}" for percent in FIXED}


def leaves(values: object) -> Iterator[object]:
    for value in values.values() if isinstance(values, dict) else values if isinstance(values, list) else ():
        yield from leaves(value)
    if not isinstance(values, dict | list):
        yield values


@pytest.mark.parametrize("source", SOURCES)
def test_facts_are_whole_and_name_rows_that_exist(source):
    known, profile = facts(source), load_profile("default")
    assert f"{{{known.source['bibliography']}," in (ROOT / "book" / "references.bib").read_text()
    ids = [table["id"] for table in known.tables]
    assert len(ids) == len(set(ids))
    assert known.methods.keys() <= {row for table in known.tables for row in table["rows"] or {}}
    assert {*known.methods.values()} <= METHODS.keys()
    for row in known.differs or []:
        assert row["here"].format(**profile)
        for pattern in re.findall("`(.+?)`", row["rows"]):
            assert [name for name in METHODS if fnmatch(name, pattern)], pattern


def test_tables_are_read_by_the_paper_s_rows_or_by_our_methods_and_versions_and_shares_agree():
    known = facts()
    assert known.table("Table 3")["page_scorer"]["page_recall"] == 0.55
    assert known.by_method("Table 3")["page_scorer_filing"] is known.table("Table 3")["page_scorer"]
    with pytest.raises(KeyError):
        known.table("Table 99")
    english, french = facts("kobeissi2026_en"), facts("kobeissi2026_fr")
    retrieval = french.table("Table 4")
    assert {row: retrieval[row] for row in english.table("Table 3")} == english.table("Table 3")
    assert english.table("Table 6") == french.table("Table 9")
    assert english.table("Table 4") == french.table("Table 5")
    n = facts("yepes2024").data["n_questions"]
    cells = [row[name] for row in facts("yepes2024").table("Table 5").values() for name in row]
    cells += [row["page_accuracy"] for row in facts("yepes2024").table("Table 4").values()]
    assert all(abs(share - 100 * round(n * share / 100) / n) < 0.006 for share in cells)


def test_no_reported_number_is_typed_in_a_chapter():
    tables = (table for source in SOURCES for table in facts(source).tables)
    cells = (value for table in tables for value in leaves(table["rows"]) if isinstance(value, float))
    exact = {value for value in cells if round(value, 2) != value}
    assert 0.48601 in exact
    for name in chapters():
        for cell in nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4).cells:
            typed = {float(text) for text in re.findall(r"(?<![\w.])\d*\.\d{3,}", cell.source)}
            assert not typed & exact, (name, cell.id)


def test_every_claim_is_tested_by_known_rows_and_measures_or_says_why_not():
    for claim in claims():
        assert bool(claim.kind) != bool(claim.not_measured), claim.id
        assert claim.kind in ("", "difference", "every", "pairs", "groups", "contrasts", "argmax", "correlation")
        assert claim.says in (">", "<=", "!="), claim.id
        assert claim.b or claim.kind not in ("every", "pairs", "correlation"), claim.id
        assert len(claim.a) == len(claim.b) or claim.kind != "pairs", claim.id
        assert not claim.same_as or not BY_ID[claim.same_as].same_as, "which has the verdict"
        assert claim.components.keys() <= COMPONENTS.keys() == PARTS.keys()
        assert {*claim.needs} <= claim.components.keys(), claim.id
        assert {*claim.treatment} <= METHODS.keys(), claim.id
        for one in claim.a + claim.b:
            assert one.row in METHODS or one.row == "best-baseline", claim.id
            assert one.metric in METRICS or one.metric in DERIVED, claim.id
            assert one.row not in METHODS or one.condition in METHODS[one.row].conditions, claim.id


def test_amounts_are_differences_of_the_papers_tables():
    pages = {row: cells["page_recall"] for row, cells in facts().table("Table 3").items()}
    given = facts().table("Table 2")["oracle-document"]["page_recall"]
    scorer, oracle, best = (facts().table("Table 4")[row] for row in ("page_scorer", "oracle-document", BASELINE))
    hits = {row: cells["page_accuracy"] / 100 for row, cells in facts("yepes2024").table("Table 4").items()}
    alone = {row: value for row, value in hits.items() if "aggregation" not in row}
    base, chipper = ([value for row, value in alone.items() if form in row] for form in ("base", "chipper"))
    expected = {
        "kobeissi2026/dense-over-sparse": pages["dense"] - max(pages["bm25"], pages["splade"]),
        "kobeissi2026/best-baseline": pages[BASELINE] - pages["multi_hyde"],
        "kobeissi2026/reformulation-and-rerank-help-pages/over all filings": pages["hyde"] - pages["dense"],
        "kobeissi2026/gap-baseline": given - pages[BASELINE],
        "kobeissi2026/scorer-best": 0.55 - pages[BASELINE],
        "kobeissi2026/page-filter-over-direct": 0.55 - pages["dense"],
        "kobeissi2026/10k-above-oracle": scorer["10-K"]["P"] - oracle["10-K"]["P"],
        "kobeissi2026/earnings-weak": best["earnings"]["P"] - scorer["earnings"]["P"],
        "yepes2024/base-better-pages": sum(base) / 3 - sum(chipper) / 3,
        "yepes2024/aggregation": hits["base_aggregation"] - max(*base, *chipper),
    }
    assert {name: BY_ID[name].amount for name in expected} == pytest.approx(expected, abs=5e-4)


def test_variants_change_only_what_they_say_and_no_help_is_tested_against_the_margin_and_reversed_by_a_gain():
    own, variant = BY_ID["akarsu2026/bm25-over-dense"], BY_ID["akarsu2026/bm25-over-dense/BM25 as published"]
    assert [one.row for one in own.a + variant.a] == ["bm25", "bm25_k12"]
    assert (variant.claim, variant.b) == (own.claim, own.b)
    claim = BY_ID["akarsu2026/multi-query-nothing"]
    assert (claim.says, claim.bound, claim.opposite) == ("<=", MARGIN, 0.0)
    gap = BY_ID["kobeissi2026/scorer-gap"]  # names its own bound: the opposite is a gap beyond it
    assert (gap.bound, gap.opposite) == (0.05, 0.05)


def test_an_entry_names_row_condition_measure_and_depth_and_a_file_that_does_not_fit_is_refused(monkeypatch):
    assert entry("dense", "page_recall@5") == Entry("dense", "standard", "page_recall", 5)
    assert entry("dense/oracle-page:ctx_bleu@10", "x") == Entry("dense", "oracle-page", "ctx_bleu", 10)
    assert entry("best-baseline:numeric_match", "x") == Entry("best-baseline", "standard", "numeric_match", None)
    with pytest.raises(ValueError, match="page_recall"):
        entry("dense page_recall", "x")
    source = {"facts": ["yepes2024"], "metric": "page_hit@10", "also": "", "components": {}, "data": ""}
    file = {"sources": {"yepes2024": source}, "claims": {"yepes2024": {"aggregation": {"not_measured": "x"}}}}
    monkeypatch.setattr("lib.analysis.claims._FILE", file)
    with pytest.raises(ValueError, match="yepes2024"):
        claims.__wrapped__()
