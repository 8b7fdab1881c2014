"""What was retrieved instead of a missed gold page: kinds of failures, each decided by a stated rule.

A failure is a gold page that is not among the pages of the top k chunks. What came instead is the best-ranked page of
the gold filing where the filing is among the top k, else the first-ranked page. The first rule of RULES that holds
decides. Rules look at names, types and periods of filings, at page numbers and at what kind of page the two are.
"""

import re
from dataclasses import dataclass

import pandas as pd

from lib.metrics.retrieval import gold_pages
from lib.show.display import escape

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


@dataclass(frozen=True)
class Rule:
    """A kind of failure: the step that lost the page, and the rule in words."""

    kind: str
    step: str
    says: str


RULES = (
    Rule("other gold page only", "page", "another gold page of the question is among the top k"),
    Rule("neighbour page", "page", "the page before or after the gold page is among the top k"),
    Rule("summary instead of statement", "page", "the gold page is a primary statement, a summary of results came"),
    Rule("same statement elsewhere", "page", "both are the same kind of primary statement, in the gold filing"),
    Rule("other statement", "page", "the gold page is a primary statement, another one came"),
    Rule("text or note instead of statement", "page", "the gold page is a primary statement, a page that is none came"),
    Rule("right filing, other part", "page", "any other page of the gold filing"),
    Rule("wrong year", "document", "the company's filing of the same type for another period"),
    Rule("other type of filing", "document", "another filing of the company"),
    Rule("same statement of another company", "document", "both are the same kind of primary statement"),
    Rule("other company", "document", "any other page of another company"),
    Rule("nothing retrieved", "document", "the run has no chunk for the question"),
)  # fmt: skip
KINDS = tuple(rule.kind for rule in RULES)
STEP_OF = {rule.kind: rule.step for rule in RULES}


def misses(run: pd.DataFrame, questions: pd.DataFrame, k: int) -> pd.DataFrame:
    """The gold pages that are not among the top k, and what came instead.

    Returns:
        question_id, doc_name, page (the gold page), shown_doc, shown_page (missing where nothing was retrieved),
        has_other (another gold page is there), has_neighbour.
    """
    top = run[run["rank"] <= k].sort_values(["question_id", "rank"])
    ranked = {question_id: list(zip(part["doc_name"], part["page"], strict=True)) for question_id, part in
              top.groupby("question_id")}  # fmt: skip
    gold_of = questions.set_index("question_id")["gold_pages"].map(set)
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
    """The first rule that holds.

    Args:
        miss: a row of :func:`misses`.
        gold, shown: rows of the filings (company, doc_type, doc_period); ``shown`` is None where nothing came.
        gold_kind, shown_kind: of :func:`page_kind`.
    """
    is_same_statement = gold_kind == shown_kind and gold_kind in STATEMENTS
    if shown is None:
        return "nothing retrieved"
    if miss.shown_doc == miss.doc_name:
        wants_statement = gold_kind in STATEMENTS
        held = (
            miss.has_other,
            miss.has_neighbour,
            wants_statement and shown_kind == "summary",
            is_same_statement,
            wants_statement and shown_kind in STATEMENTS,
            wants_statement,
            True,
        )
        return KINDS[held.index(True)]
    if shown["company"] == gold["company"]:
        is_same_type = shown["doc_type"] == gold["doc_type"]
        return (
            "wrong year"
            if is_same_type and shown["doc_period"] != gold["doc_period"]
            else "other type of filing"
        )
    return "same statement of another company" if is_same_statement else "other company"


def classify(study, run: pd.DataFrame, k: int) -> pd.DataFrame:
    """All misses of a run with their kind and the kinds of the two pages.

    Returns:
        The columns of :func:`misses`, and gold_kind, shown_kind, kind, step.
    """
    found, filings = misses(run, study.questions, k), study.filings.set_index("doc_name")
    texts = study.memo("page_texts", lambda: study.pages.set_index(["doc_name", "page"])["text"].to_dict())

    def kind_at(doc_name: str, page: object) -> str:
        return "other" if pd.isna(page) else page_kind(texts[doc_name, int(page)])

    rows = []
    for miss in found.itertuples():
        kinds = kind_at(miss.doc_name, miss.page), kind_at(miss.shown_doc, miss.shown_page)
        shown = None if pd.isna(miss.shown_page) else filings.loc[miss.shown_doc]
        kind = kind_of(miss, filings.loc[miss.doc_name], shown, *kinds)
        rows.append((*kinds, kind, STEP_OF[kind]))
    columns = ["gold_kind", "shown_kind", "kind", "step"]
    return found.join(pd.DataFrame(rows, columns=columns, index=found.index))


def typology(classified: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """How many misses each kind has: kind, step, says, and for each name its ``count``; kinds that never occur too."""
    table = pd.DataFrame(
        [(rule.kind, rule.step, rule.says) for rule in RULES], columns=["kind", "step", "says"]
    )
    for name, part in classified.items():
        table[name] = table["kind"].map(part["kind"].value_counts()).fillna(0).astype(int)
    return table


def examples(classified: pd.DataFrame, n: int) -> pd.DataFrame:
    """One miss for each of the ``n`` most frequent kinds: the first in the questions' order, each of another company's
    filing where there is one. Misses with nothing retrieved have no picture and are left out."""
    shown = classified[classified["kind"] != "nothing retrieved"]
    picked = []
    for kind in shown["kind"].value_counts(sort=True).index[:n]:
        part = shown[shown["kind"] == kind]
        fresh = part[
            ~part["doc_name"].str.split("_").str[0].isin([row["doc_name"].split("_")[0] for row in picked])
        ]
        picked.append((fresh if len(fresh) else part).iloc[0])
    return pd.DataFrame(picked).reset_index(drop=True)


def caption(miss, question: str) -> str:
    """A picture's caption: the question, the kind of failure and its rule."""
    says = next(rule.says for rule in RULES if rule.kind == miss.kind)
    return f"{escape(miss.question_id)}: {escape(question)} *{miss.kind}*: {says}."
