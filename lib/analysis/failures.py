"""Kinds of failures, each decided by a stated rule; where several rules hold, the first one counts.

A *missed page* is a gold page that is not among the pages of the top k chunks; its rules (OF_PAGES) compare it with
what came instead: the best-ranked page of the gold filing where that is among the top k, else the first-ranked page.
A *failed question* has none of its gold pages among them. Akarsu et al. (2026) had GPT-5.4 label 100 sampled failures.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from lib.ahead.terms import terms, topic
from lib.metrics.retrieval import gold_pages, gold_ranks, page_hit
from lib.retrievers.places import texts_of_pages
from lib.schema import K, or_without_filings
from lib.study import Study

HEAD_CHARACTERS = 300
MIN_NUMBERS = 20
NUMBER = re.compile(r"\b(?!(?:19|20)\d\d\b)\d[\d,.]*")
#: The primary statements: a name in the page's head, and a line item anywhere on the page.
STATEMENTS = {
    "cash flow statement": (r"statements? of (?:consolidated )?cash ?flow", r"(?:operating|financing) activities"),
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
FIGURE = re.compile(r"[($€£-]*\d[\d,.]*[%)]*")
FIGURE_SHARE = 0.3
#: Words of questions that say nothing of their evidence.
ASKING_WORDS = frozenset(
    "a an the of in on at for to from by with and or is are was were be been being has have had do does did what which"
    " who whom whose when where how why that this these those it its as if then than so not no any all each other such"
    " there their they we our us you your he she his her i me my will would can could may might should shall please"
    " into over under between about during per more most very much many also only own same both either neither use"
    " used using based give given state answer question round following company".split()
)
MISSED = "question_id doc_name page shown_doc shown_page has_other has_neighbour gold_kind shown_kind"
NEXT_K = 20  # chunks that a better order could draw from


class Rule(NamedTuple):
    """A kind of missed page: the step that lost it, the rule in words, and for which rows it holds."""

    step: str
    says: str
    holds: Callable[[pd.DataFrame], pd.Series]


PAGE_STEP, DOCUMENT_STEP = "page", "document"
# fmt: off
#: Kinds of missed pages, of the columns of :func:`missed_pages` and :func:`_compared`.
OF_PAGES = {
    "other gold page only": Rule(
        PAGE_STEP, "another gold page of the question is among the top k",
        lambda m: m.in_filing & m.has_other),
    "neighbour page": Rule(
        PAGE_STEP, "the page before or after the gold page is among the top k",
        lambda m: m.in_filing & m.has_neighbour),
    "summary instead of statement": Rule(
        PAGE_STEP, "the gold page is a primary statement, a summary of results was retrieved",
        lambda m: m.in_filing & m.wants_statement & (m.shown_kind == "summary")),
    "same statement elsewhere": Rule(
        PAGE_STEP, "both pages are the same kind of primary statement, in the gold filing",
        lambda m: m.in_filing & m.wants_statement & (m.shown_kind == m.gold_kind)),
    "other statement": Rule(
        PAGE_STEP, "the gold page is a primary statement, another statement was retrieved",
        lambda m: m.in_filing & m.wants_statement & m.shown_kind.isin(STATEMENTS)),
    "text or note instead of statement": Rule(
        PAGE_STEP, "the gold page is a primary statement, a non-statement page was retrieved",
        lambda m: m.in_filing & m.wants_statement),
    "right filing, other part": Rule(PAGE_STEP, "any other page of the gold filing", lambda m: m.in_filing),
    "wrong year": Rule(
        DOCUMENT_STEP, "the company's filing of the same type for another period",
        lambda m: m.same_company & (m.shown_doc_type == m.doc_type) & (m.shown_doc_period != m.doc_period)),
    "other type of filing": Rule(DOCUMENT_STEP, "another filing of the company", lambda m: m.same_company),
    "same statement of another company": Rule(
        DOCUMENT_STEP, "both pages are the same kind of primary statement",
        lambda m: m.shown_doc.notna() & m.wants_statement & (m.shown_kind == m.gold_kind)),
    "other company": Rule(DOCUMENT_STEP, "any other page of another company", lambda m: m.shown_doc.notna()),
    "nothing retrieved": Rule(DOCUMENT_STEP, "the run has no chunk for the question", lambda m: m.shown_doc.isna()),
}
# fmt: on
#: Why some of a question's gold pages are missed.
SORTS = (
    "filing not among the first",
    "some of its pages found",
    "answer's figures stand on a page that was found",
    "page among the next",
    "page further down",
)


def page_kind(text: str) -> str:
    """What a page with MIN_NUMBERS numbers is: a primary statement, if one's name stands in its head (the first name
    decides) and one of its line items on the page; a ``summary`` of results; or ``other``."""
    plain = " ".join(text.lower().split())
    head = plain[:HEAD_CHARACTERS]
    if len(NUMBER.findall(plain)) < MIN_NUMBERS:
        return "other"
    found = {
        kind: match.start()
        for kind, (name, item) in STATEMENTS.items()
        if re.search(item, plain) and (match := re.search(name, head))
    }
    return min(found, key=found.get, default="summary" if re.search(SUMMARY, head) else "other")


def _stored(study: Study, stage: str, name: str, make: Callable[[], pd.DataFrame], **params: object) -> pd.DataFrame:
    """A frame about a method's standard run over the pages and questions of the dataset, published without text."""
    params |= {"run": study.run_entry(name).digest, "pages": study.digest("pages"), "dataset": study.digest("dataset")}
    return study.store.frame(f"analysis/{stage}/{name}", params, make, public=True)


def missed_pages(study: Study, name: str, k: int) -> pd.DataFrame:
    """The gold pages (question_id, doc_name, page) that are not among the top k of a method's standard run, and what
    came instead: shown_doc and shown_page (missing where nothing was retrieved), has_other (another gold page is
    there), has_neighbour, gold_kind and shown_kind (of the two pages), kind, step; stored."""

    def make() -> pd.DataFrame:
        return pages_missed(study.run(name), study.questions, study.filings, k, texts_of_pages(study))

    return _stored(study, "missed-pages", name, make, k=k)


def missed_by(study: Study, names: Sequence[str], k: int) -> dict[str, pd.DataFrame]:
    """:func:`missed_pages` of several methods, by name; without rows where the filings are needed and not here."""
    otherwise = dict.fromkeys(names, pd.DataFrame(columns=[*MISSED.split(), "kind", "step"]))
    return or_without_filings(lambda: {name: missed_pages(study, name, k) for name in names}, otherwise)


def pages_missed(
    run: pd.DataFrame, questions: pd.DataFrame, filings: pd.DataFrame, k: int, texts: Mapping[tuple[str, int], str]
) -> pd.DataFrame:
    """:func:`missed_pages` of any run; a page without text is ``other``, so that no rule about statements holds."""
    parts = run[run["rank"] <= k].sort_values(["question_id", "rank"]).groupby("question_id")
    ranked = {name: list(zip(part["doc_name"], part["page"], strict=True)) for name, part in parts}
    gold, rows = gold_pages(questions), []
    wanted = gold.groupby("question_id")["page"].agg(set)
    for question_id, doc_name, page in gold.itertuples(index=False):
        seen = ranked.get(question_id, [])
        if (doc_name, page) in seen:
            continue
        inside = [place for place in seen if place[0] == doc_name]
        instead = [place for place in inside if place[1] not in wanted[question_id]] or inside or seen or [(None, None)]
        found = {number for _, number in inside}
        near = bool(wanted[question_id] & found), bool({page - 1, page + 1} & found)
        kinds = page_kind(texts.get((doc_name, page), "")), page_kind(texts.get(instead[0], ""))
        rows.append((question_id, doc_name, page, *instead[0], *near, *kinds))
    missed = pd.DataFrame(rows, columns=MISSED.split()).astype({"shown_page": "Int64"})
    compared = _compared(missed, filings)
    holds = pd.DataFrame({kind: rule.holds(compared).astype(bool) for kind, rule in OF_PAGES.items()}, missed.index)
    kind = holds.idxmax(axis=1).astype(object)
    return missed.assign(kind=kind, step=[OF_PAGES[one].step for one in kind])


def _compared(missed: pd.DataFrame, filings: pd.DataFrame) -> pd.DataFrame:
    """Missed pages with company, doc_type and doc_period of the gold filing and, after ``shown_``, of the other one."""
    known = filings.set_index("doc_name")[["company", "doc_type", "doc_period"]]
    both = missed.join(known, on="doc_name").join(known.add_prefix("shown_"), on="shown_doc")
    return both.assign(
        in_filing=both["shown_doc"] == both["doc_name"],
        same_company=both["shown_company"] == both["company"],
        wants_statement=both["gold_kind"].isin(STATEMENTS),
    )


def typology(classified: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """How many missed pages each kind has: kind, step, says, and a count for each name; kinds that never occur too."""
    counts = {name: part["kind"].value_counts().reindex([*OF_PAGES], fill_value=0) for name, part in classified.items()}
    rules = pd.DataFrame(OF_PAGES.values(), index=[*OF_PAGES])[["step", "says"]]
    return rules.assign(**counts).rename_axis("kind").reset_index()


def figure_share(text: str) -> float:
    """The share of a text's words that are figures: ``Sales 1,577 (12)`` has two of three; 0 for no words."""
    words = text.split()
    return sum(map(bool, map(FIGURE.fullmatch, words))) / len(words) if words else 0.0


def term_share(question: str, company: str, pages: Sequence[str]) -> float:
    """The largest share of a question's terms, without company, years and units, that one page has; 1.0 of none."""
    wanted = set(topic(terms(question, ASKING_WORDS), terms(company, ASKING_WORDS)))
    return max(len(wanted & set(terms(page, ASKING_WORDS))) / len(wanted) for page in pages) if wanted else 1.0


def failed_questions(study: Study, name: str) -> pd.DataFrame:
    """A row per question of a method's standard run: question_id, is_found (a gold page is among the top K),
    figure_share of its evidence, and term_share on its gold pages; stored."""
    return _stored(study, "failed-questions", name, lambda: _failed_questions(study, name), k=K)


def _failed_questions(study: Study, name: str) -> pd.DataFrame:
    texts, found, rows = texts_of_pages(study), page_hit(study.run(name), study.questions, K), []
    company = study.filings.set_index("doc_name")["company"]
    for row in study.questions.itertuples():
        gold = [texts[row.doc_name, page] for page in row.gold_pages]
        shares = figure_share(row.evidence), term_share(row.question, company[row.doc_name], gold)
        rows.append((row.question_id, bool(found[row.question_id]), *shares))
    return pd.DataFrame(rows, columns=["question_id", "is_found", "figure_share", "term_share"])


def figures(text: str) -> set[str]:
    """The figures of a text of three characters or more that are no years, without thousands' commas."""
    found = {figure.replace(",", "") for figure in re.findall(r"\d[\d,]*(?:\.\d+)?", text)}
    return {figure for figure in found if len(figure) > 2 and not re.fullmatch(r"(?:19|20)\d\d", figure)}


def missed(study: Study, name: str, k: int = K, next_k: int = NEXT_K) -> pd.DataFrame:
    """The questions whose gold pages are not all among a method's first k chunks: question_id, question_type, doc_type,
    n_gold, n_found, best_rank (of a missed page), sort (the first of SORTS that holds); stored."""
    params = {"k": k, "next_k": next_k, "questions": study.digest("questions")}
    return _stored(study, "missed", name, lambda: _missed(study, name, k, next_k), **params)


def _missed(study: Study, name: str, k: int, next_k: int) -> pd.DataFrame:
    run = study.run(name)
    gold = gold_ranks(run, study.questions).astype({"rank": "Int64"})
    is_found = gold["rank"].le(k).fillna(False).astype(bool)
    gold = gold.assign(found=is_found, rank=gold["rank"].mask(is_found)).groupby("question_id")
    counts = gold.agg(n_gold=("page", "size"), n_found=("found", "sum"), best_rank=("rank", "min"))
    lost = study.questions.merge(counts[counts["n_found"] < counts["n_gold"]], on="question_id")
    shown, sorts = run[run["rank"] <= k].merge(study.pages, on=["doc_name", "page"]), []
    for question in lost.itertuples():
        top, wanted = shown[shown["question_id"] == question.question_id], figures(question.answer)
        holds = (
            question.doc_name not in set(top["doc_name"]),
            question.n_found > 0,
            bool(wanted) and any(wanted <= figures(text) for text in top["text"]),
            pd.notna(question.best_rank) and question.best_rank <= next_k,
            True,
        )
        sorts.append(SORTS[holds.index(True)])
    return lost[["question_id", "question_type", "doc_type", *counts]].assign(sort=sorts)
