"""Kinds of failures, each decided by a stated rule.

A *missed page* is a gold page that is not among the pages of the top k chunks; the rules look at what came instead: the
best-ranked page of the gold filing where the filing is among the top k, else the first-ranked page. The first rule of
RULES that holds decides. They look at names, types and periods of filings, at page numbers and at what kind of page the
two are.

A *failed question* has none of its gold pages among them. Akarsu et al. (2026) sorted failed questions by reading; here
every kind is a rule over what can be measured, a question may be of several kinds, and the first is its primary one.
Three of these rules look at the question and its evidence alone and so hold for found questions, too: a kind explains
a failure only where failures have it more often than found questions.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from lib.ahead.queries import terms, topic_terms
from lib.metrics.answers import quantities
from lib.metrics.retrieval import gold_pages, page_hit
from lib.study import Study

HEAD_CHARACTERS = 300
MIN_NUMBERS = 20
NUMBER = re.compile(r"\b(?!(?:19|20)\d\d\b)\d[\d,.]*")
#: The primary statements: a name in the page's head, and a line item anywhere on the page.
STATEMENTS = {
    "cash flow statement": (
        r"statements? of (?:consolidated )?cash ?flow",
        r"(?:operating|financing) activities",
    ),
    "balance sheet": (
        r"balance shee|statements? of (?:consolidated )?financial (?:position|condition)",
        r"total (?:current )?(?:assets|liabilities)|total .{0,20}equity",
    ),
    "income statement": (
        r"statements? of (?:consolidated |net )?(?:income|operations|earnings|loss)|income statement",
        r"income tax|net (?:income|earnings|loss|\(loss\))",
    ),
}
SUMMARY = (
    r"selected (?:consolidated |historical )?(?:financial|quarterly)|highlights|(?:five|ten)-year|financial summary"
    r"|results of operations|operating results|executive overview|financial (?:review|performance)"
)
FIGURE_SHARE = 0.3
TOLERANCE = 0.01
SCALES = tuple(1000.0**power for power in range(-3, 4))
FIGURE = re.compile(r"[($€£-]*\d[\d,.]*[%)]*")


@dataclass(frozen=True)
class Rule:
    """A kind of failure: what fails, the step that lost it or what the rule is about, and the rule in words."""

    kind: str
    fails: Literal["page", "question"]
    step: str
    says: str


#: All kinds of failures, in the order in which they are tried.
RULES = (
    Rule("other gold page only", "page", "page", "another gold page of the question is among the top k"),
    Rule("neighbour page", "page", "page", "the page before or after the gold page is among the top k"),
    Rule("summary instead of statement", "page", "page",
         "the gold page is a primary statement, a summary of results came"),
    Rule("same statement elsewhere", "page", "page",
         "both are the same kind of primary statement, in the gold filing"),
    Rule("other statement", "page", "page", "the gold page is a primary statement, another one came"),
    Rule("text or note instead of statement", "page", "page",
         "the gold page is a primary statement, a page that is none came"),
    Rule("right filing, other part", "page", "page", "any other page of the gold filing"),
    Rule("wrong year", "page", "document", "the company's filing of the same type for another period"),
    Rule("other type of filing", "page", "document", "another filing of the company"),
    Rule("same statement of another company", "page", "document", "both are the same kind of primary statement"),
    Rule("other company", "page", "document", "any other page of another company"),
    Rule("nothing retrieved", "page", "document", "the run has no chunk for the question"),
    Rule("table structure", "question", "question",
         f"{FIGURE_SHARE:.0%} or more of the evidence's words are figures"),
    Rule("numerical reasoning", "question", "question",
         "the answer has a number, and none of its numbers stands in the evidence"),
    Rule("vocabulary", "question", "question",
         "a smaller share of the question's terms stands on a gold page than for half of the found questions"),
    Rule("ambiguous", "question", "retrieved",
         "a page of the same kind from another filing of the company is among the top k"),
    Rule("long document", "question", "retrieved",
         "the gold filing is among the top k, and it has more pages than half of the filings"),
    Rule("none of these", "question", "retrieved", "no rule holds"),
)  # fmt: skip
OF_PAGES = {rule.kind: rule for rule in RULES if rule.fails == "page"}
OF_QUESTIONS = {rule.kind: rule for rule in RULES if rule.fails == "question"}


def page_kind(text: str) -> str:
    """What a page is by its head: a primary statement, a ``summary`` of results, or ``other``.

    A table is told from prose by MIN_NUMBERS numbers that are no years. A statement's name must stand in the first
    HEAD_CHARACTERS characters and one of its line items on the page; the name that stands first decides.
    """
    plain = " ".join(text.lower().split())
    head = plain[:HEAD_CHARACTERS]
    if len(NUMBER.findall(plain)) < MIN_NUMBERS:
        return "other"
    named = {
        kind: re.search(name, head) for kind, (name, item) in STATEMENTS.items() if re.search(item, plain)
    }
    found = {kind: match.start() for kind, match in named.items() if match}
    if found:
        return min(found, key=found.get)
    return "summary" if re.search(SUMMARY, head) else "other"


def _places(run: pd.DataFrame, k: int) -> dict[str, list[tuple[str, int]]]:
    top = run[run["rank"] <= k].sort_values(["question_id", "rank"])
    return {
        question_id: list(zip(part["doc_name"], part["page"], strict=True))
        for question_id, part in top.groupby("question_id")
    }


def misses(run: pd.DataFrame, questions: pd.DataFrame, k: int) -> pd.DataFrame:
    """The gold pages that are not among the top k, and what came instead.

    Returns:
        question_id, doc_name, page (the gold page), shown_doc, shown_page (missing where nothing was retrieved),
        has_other (another gold page is there), has_neighbour.
    """
    ranked, gold_of = _places(run, k), questions.set_index("question_id")["gold_pages"].map(set)
    rows = []
    for gold in gold_pages(questions).itertuples():
        seen = ranked.get(gold.question_id, [])
        if (gold.doc_name, gold.page) in seen:
            continue
        wanted = gold_of[gold.question_id]
        inside = [page for doc_name, page in seen if doc_name == gold.doc_name]
        instead = [page for page in inside if page not in wanted] or inside
        shown = (gold.doc_name, instead[0]) if inside else (seen or [(None, None)])[0]
        has_neighbour = any(abs(page - gold.page) == 1 for page in inside)
        rows.append((*gold[1:4], *shown, bool(wanted & set(inside)), has_neighbour))
    columns = ["question_id", "doc_name", "page", "shown_doc", "shown_page", "has_other", "has_neighbour"]
    return pd.DataFrame(rows, columns=columns).astype({"shown_page": "Int64"})


def kind_of(miss, gold: pd.Series, shown: pd.Series | None, gold_kind: str, shown_kind: str) -> str:
    """The first rule that holds for a missed page.

    Args:
        miss: a row of :func:`misses`.
        gold, shown: rows of the filings (company, doc_type, doc_period); ``shown`` is None where nothing came.
        gold_kind, shown_kind: of :func:`page_kind`.
    """
    if shown is None:
        return "nothing retrieved"
    wants_statement = gold_kind in STATEMENTS
    is_inside, is_same_company = miss.shown_doc == miss.doc_name, shown["company"] == gold["company"]
    is_same_type = shown["doc_type"] == gold["doc_type"]
    held = {
        "other gold page only": is_inside and miss.has_other,
        "neighbour page": is_inside and miss.has_neighbour,
        "summary instead of statement": is_inside and wants_statement and shown_kind == "summary",
        "same statement elsewhere": is_inside and wants_statement and shown_kind == gold_kind,
        "other statement": is_inside and wants_statement and shown_kind in STATEMENTS,
        "text or note instead of statement": is_inside and wants_statement,
        "right filing, other part": is_inside,
        "wrong year": is_same_company and is_same_type and shown["doc_period"] != gold["doc_period"],
        "other type of filing": is_same_company,
        "same statement of another company": wants_statement and shown_kind == gold_kind,
        "other company": True,
    }
    return next(kind for kind, holds in held.items() if holds)


def missed_pages(study: Study, name: str, k: int) -> pd.DataFrame:
    """All missed pages of a method's standard run with their kind and the kinds of the two pages; stored.

    Returns:
        The columns of :func:`misses`, and gold_kind, shown_kind, kind, step.
    """
    params = _params(study, name, k)
    found = study.store.frame(
        f"analysis/missed-pages/{name}", params, lambda: classify(study, study.run(name), k), public=True
    )
    return found.astype({"shown_page": "Int64"})


def _params(study: Study, name: str, k: int) -> dict:
    run, pages = study.run_digest(name, "standard"), study.digest("pages")
    return {"run": run, "pages": pages, "dataset": study.dataset.fingerprint, "k": k}


def classify(study: Study, run: pd.DataFrame, k: int) -> pd.DataFrame:
    """What :func:`missed_pages` stores, of any run."""
    found, filings, texts = (
        misses(run, study.questions, k),
        study.filings.set_index("doc_name"),
        _texts(study),
    )

    def kind_at(doc_name: str, page: object) -> str:
        return "other" if pd.isna(page) else page_kind(texts[doc_name, int(page)])

    rows = []
    for miss in found.itertuples():
        kinds = kind_at(miss.doc_name, miss.page), kind_at(miss.shown_doc, miss.shown_page)
        shown = None if pd.isna(miss.shown_page) else filings.loc[miss.shown_doc]
        kind = kind_of(miss, filings.loc[miss.doc_name], shown, *kinds)
        rows.append((*kinds, kind, OF_PAGES[kind].step))
    columns = ["gold_kind", "shown_kind", "kind", "step"]
    return found.join(pd.DataFrame(rows, columns=columns, index=found.index))


def _texts(study: Study) -> dict[tuple[str, int], str]:
    return study.memo("page_texts", lambda: study.pages.set_index(["doc_name", "page"])["text"].to_dict())


def typology(classified: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """How many missed pages each kind has: kind, step, says, and a count for each name; kinds that never occur too."""
    rows = [(rule.kind, rule.step, rule.says) for rule in OF_PAGES.values()]
    table = pd.DataFrame(rows, columns=["kind", "step", "says"])
    for name, part in classified.items():
        table[name] = table["kind"].map(part["kind"].value_counts()).fillna(0).astype(int)
    return table


def examples(classified: pd.DataFrame, n: int) -> pd.DataFrame:
    """One missed page for each of the ``n`` most frequent kinds: the first in the questions' order, each of another
    company's filing where there is one. Those with nothing retrieved have no picture and are left out."""
    shown = classified[classified["kind"] != "nothing retrieved"]
    company, picked = shown["doc_name"].str.split("_").str[0], []
    for kind in shown["kind"].value_counts(sort=True).index[:n]:
        part = shown[shown["kind"] == kind]
        fresh = part[~company[part.index].isin([company[index] for index in picked])]
        picked.append((fresh if len(fresh) else part).index[0])
    return shown.loc[picked].reset_index(drop=True)


def figure_share(text: str) -> float:
    """The share of a text's words that are figures: ``Sales 1,577 (12)`` has two of three; 0 for no words."""
    words = text.split()
    return sum(bool(FIGURE.fullmatch(word)) for word in words) / len(words) if words else 0.0


def stands_in(answer: str, evidence: str, question: str) -> bool:
    """Whether a number of the answer stands in the evidence, within 1 % and up to sign and thousands.

    ``$1.577 billion`` stands in a table in millions that has ``1,577``. An answer without numbers does.
    """
    wanted, there = (
        np.array([abs(quantity.value) for quantity in quantities(text, question)])
        for text in (answer, evidence)
    )
    readings = np.outer(there, SCALES).ravel()
    return not len(wanted) or bool((np.abs(readings[:, None] - wanted) <= TOLERANCE * wanted).any())


def term_share(question: str, company: str, pages: Sequence[str]) -> float:
    """The largest share of a question's terms that one of the pages has; its company, years and units do not count.

    A question without other terms has them all (1.0).
    """
    wanted = set(topic_terms(question, [company]))
    return max(len(wanted & set(terms(page))) / len(wanted) for page in pages) if wanted else 1.0


def facts(study: Study, run: pd.DataFrame, k: int) -> pd.DataFrame:
    """What the rules of failed questions look at, one row per question.

    Returns:
        question_id, is_found, figure_share, stands_in, term_share, n_pages (of the gold filing), has_filing (the gold
        filing is among the top k), has_twin (a page of a gold page's kind from another filing of the company is).
    """
    texts, filings, seen = _texts(study), study.filings.set_index("doc_name"), _places(run, k)
    found, rows = page_hit(run, study.questions, k), []
    for row in study.questions.itertuples():
        gold = [texts[row.doc_name, page] for page in row.gold_pages]
        shown, kinds = seen.get(row.question_id, []), {page_kind(text) for text in gold}
        company = filings.at[row.doc_name, "company"]
        others = [place for place in shown if place[0] != row.doc_name]
        twins = [place for place in others if filings.at[place[0], "company"] == company]
        rows.append(
            {
                "question_id": row.question_id,
                "is_found": bool(found[row.question_id]),
                "figure_share": figure_share(row.evidence),
                "stands_in": stands_in(row.answer, row.evidence, row.question),
                "term_share": term_share(row.question, company, gold),
                "n_pages": filings.at[row.doc_name, "n_pages"],
                "has_filing": len(others) < len(shown),
                "has_twin": any(page_kind(texts[place]) in kinds for place in twins),
            }
        )
    return pd.DataFrame(rows)


def kinds_of(known: pd.DataFrame, filings: pd.DataFrame) -> pd.DataFrame:
    """Which rules hold for each question, boolean, columns OF_QUESTIONS; ``primary`` is the first that holds.

    Args:
        known: from :func:`facts`.
        filings: FILING_COLUMNS, for the median number of pages.

    ``ambiguous`` and ``long document`` are about what came instead and hold for failures only.
    """
    found = known["is_found"]
    usual = known.loc[found, "term_share"].median() if found.any() else known["term_share"].median()
    table = pd.DataFrame(
        {
            "table structure": known["figure_share"] >= FIGURE_SHARE,
            "numerical reasoning": ~known["stands_in"].astype(bool),
            "vocabulary": known["term_share"] < usual,
            "ambiguous": known["has_twin"].astype(bool) & ~found,
            "long document": known["has_filing"] & (known["n_pages"] > filings["n_pages"].median()) & ~found,
        }
    )
    table["none of these"] = ~table.any(axis=1)
    return table.assign(primary=table[list(OF_QUESTIONS)].idxmax(axis=1))


def failed_questions(study: Study, name: str, k: int = 5) -> pd.DataFrame:
    """How many failed questions of a method's standard run have each kind; what the rules look at is stored.

    Returns:
        kind, rule, primary (failures of which it is the first), any (failures that have it), share_failed (of the
        failures), share_found (of the found questions; missing where the rule is about what came instead), n_failed.
    """
    params = _params(study, name, k)
    known = study.store.frame(
        f"analysis/failed-questions/{name}", params, lambda: facts(study, study.run(name), k), public=True
    )
    held, found = kinds_of(known, study.filings), known["is_found"]
    failed, rows = held[~found], []
    for rule in OF_QUESTIONS.values():
        counts = int((failed["primary"] == rule.kind).sum()), int(failed[rule.kind].sum())
        share_found = held.loc[found, rule.kind].mean() if rule.step == "question" else np.nan
        rows.append((rule.kind, rule.says, *counts, failed[rule.kind].mean(), share_found, len(failed)))
    columns = ["kind", "rule", "primary", "any", "share_failed", "share_found", "n_failed"]
    return pd.DataFrame(rows, columns=columns)
