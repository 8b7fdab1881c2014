"""What the papers state, as data: each number is read from here, every claim has a row, amounts are of their tables."""

import re
from collections.abc import Iterator
from fnmatch import fnmatch

import nbformat
import pytest

from lib.analysis.claims import CHANGED_LEAST, COMPONENTS, MARGIN, Entry, claims, entry, filters_of
from lib.analysis.facts import SOURCES, facts
from lib.analysis.scoreboard import FIXED, PARTS
from lib.book.notebooks import chapters
from lib.files import ROOT
from lib.methods import METHODS
from lib.metrics import METRICS
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


BY_ID = {claim.id: claim for claim in claims()}
DERIVED = {"right", "declined", "corrected", "missed_by_both", "table_failure", "vocabulary_failure", "stage_one"}
DERIVED |= {f"pages_{n}" for n in (5, 10, 20)} | {f"alpha_{percent}" for percent in FIXED}


@pytest.mark.parametrize("claim", claims(), ids=lambda claim: claim.id)
def test_every_claim_is_tested_by_known_rows_and_measures_or_says_why_not(claim):
    assert bool(claim.kind) != bool(claim.not_measured)
    assert claim.kind in ("", "difference", "every", "pairs", "groups", "contrasts", "argmax", "correlation")
    assert claim.says in (">", "<=", "!=")
    assert all([claim.claim, claim.numbers])
    assert claim.b or claim.kind not in ("every", "pairs", "correlation")
    assert len(claim.a) == len(claim.b) or claim.kind != "pairs"
    assert not claim.same_as or not BY_ID[claim.same_as].same_as  # which has the verdict
    assert {*re.findall(r"\{doc\}`([^`]+)`", f"{claim.note} {claim.not_measured}")} <= {*chapters()}
    assert claim.components.keys() <= COMPONENTS.keys() == PARTS.keys()
    assert {*claim.needs} <= claim.components.keys()
    for one in claim.a + claim.b:
        assert one.row in METHODS or one.row == "best-baseline"
        assert one.metric in METRICS or one.metric in DERIVED
        assert one.row not in METHODS or one.condition in METHODS[one.row].conditions
    assert set(claim.treatment) <= set(METHODS)


def test_amounts_are_differences_of_the_papers_tables():
    pages = {row: cells["page_recall"] for row, cells in facts().table("Table 3").items()}
    given = facts().table("Table 2")["oracle-document"]["page_recall"]
    by_type = facts().table("Table 4")
    hits = {row: cells["page_accuracy"] / 100 for row, cells in facts("yepes2024").table("Table 4").items()}
    alone = {row: value for row, value in hits.items() if "aggregation" not in row}
    base, chipper = ([value for row, value in alone.items() if form in row] for form in ("base", "chipper"))
    best = max(*base, *chipper)
    expected = {
        "kobeissi2026/dense-over-sparse": pages["dense"] - max(pages["bm25"], pages["splade"]),
        "kobeissi2026/best-baseline": pages["multi_hyde_rerank"] - pages["multi_hyde"],
        "kobeissi2026/reformulation-and-rerank-help-pages/over all filings": pages["hyde"] - pages["dense"],
        "kobeissi2026/gap-baseline": given - pages["multi_hyde_rerank"],
        "kobeissi2026/scorer-best": 0.55 - pages["multi_hyde_rerank"],
        "kobeissi2026/page-filter-over-direct": 0.55 - pages["dense"],
        "kobeissi2026/10k-above-oracle": by_type["page_scorer"]["10-K"]["P"] - by_type["oracle-document"]["10-K"]["P"],
        "kobeissi2026/earnings-weak": by_type["multi_hyde_rerank"]["earnings"]["P"]
        - by_type["page_scorer"]["earnings"]["P"],
        "yepes2024/base-better-pages": sum(base) / 3 - sum(chipper) / 3,
        "yepes2024/aggregation": hits["base_aggregation"] - best,
    }
    assert {name: BY_ID[name].amount for name in expected} == pytest.approx(expected, abs=5e-4)


def test_variants_change_only_what_they_say_and_no_help_is_tested_against_the_margin_and_reversed_by_a_gain():
    own, variant = BY_ID["akarsu2026/bm25-over-dense"], BY_ID["akarsu2026/bm25-over-dense/BM25 as published"]
    assert [one.row for one in own.a + variant.a] == ["bm25", "bm25_k12"]
    assert (variant.claim, variant.b) == (own.claim, own.b)
    ranked = BY_ID["akarsu2026/bm25-over-dense/MRR"]
    assert (ranked.a, ranked.also) == ((Entry("bm25", "standard", "doc_mrr", 3),), "doc_ndcg@5")
    claim = BY_ID["akarsu2026/multi-query-nothing"]
    assert (claim.says, claim.bound, claim.opposite) == ("<=", MARGIN, 0.0)
    gap = BY_ID["kobeissi2026/scorer-gap"]  # names its own bound: the opposite is a gap beyond it
    assert (gap.bound, gap.opposite) == (0.05, 0.05)
    assert 0 < CHANGED_LEAST < 0.5


def test_an_entry_names_row_condition_measure_and_depth_and_a_file_that_does_not_fit_is_refused(monkeypatch):
    assert entry("dense", "page_recall@5") == Entry("dense", "standard", "page_recall", 5)
    assert entry("dense/oracle-page:ctx_bleu@10", "x") == Entry("dense", "oracle-page", "ctx_bleu", 10)
    assert entry("best-baseline:numeric_match", "x") == Entry("best-baseline", "standard", "numeric_match", None)
    with pytest.raises(ValueError, match="no measure of a row"):
        entry("dense page_recall", "x")
    source = {"facts": ["yepes2024"], "metric": "page_hit@10", "also": "", "components": {}, "data": ""}
    file = {"sources": {"yepes2024": source}, "claims": {"yepes2024": {"aggregation": {"not_measured": "x"}}}}
    monkeypatch.setattr("lib.analysis.claims._FILE", file)
    with pytest.raises(ValueError, match="not in both"):
        claims.__wrapped__()


def test_the_filters_of_a_claim_are_the_first_rows_of_its_sides():
    of_type = {"method": "page_scorer_filing", "other": "dense", "type": "metrics-generated"}
    filters = {"akarsu2026/bm25-over-dense": {"method": "bm25", "other": "dense"}}
    filters |= {"kobeissi2026/lag": {"method": "dense"}, "kobeissi2026/metrics-above-oracle": of_type}  # two measures
    assert {name: filters_of(BY_ID[name]) for name in filters} == filters
