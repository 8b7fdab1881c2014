"""Kinds of failures, each decided by a stated rule.

A *missed page* is a gold page that is not among the pages of the top k chunks; its rules (OF_PAGES) compare it with
what came instead, the best-ranked page of the gold filing where that is among the top k, else the first-ranked page:
names, types and periods of filings, page numbers and kinds of pages.

A *failed question* has none of its gold pages among them. Akarsu et al. (2026) had GPT-5.4 label 100 sampled failures;
here every kind is a rule (OF_QUESTIONS) over what can be measured, for all failures. Those that look at the question
and its evidence alone hold for found questions, too: a kind explains a failure only where failures have it more often.
The kinds and their rules in words are in ``failures.yaml``.
"""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from lib.ahead.terms import terms, topic
from lib.answers.pages_read import texts_of_pages
from lib.files import read_yaml
from lib.method import stored
from lib.metrics.answers import quantities
from lib.metrics.retrieval import gold_pages, gold_ranks, page_hit
from lib.study import Study

HEAD_CHARACTERS = 300
MIN_NUMBERS = 20
#: Words of questions that say nothing of their evidence.
ASKING_WORDS = frozenset(
    "a an the of in on at for to from by with and or is are was were be been being has have had do does did what which"
    " who whom whose when where how why that this these those it its as if then than so not no any all each other such"
    " there their they we our us you your he she his her i me my will would can could may might should shall please"
    " into over under between about during per more most very much many also only own same both either neither use"
    " used using based give given state answer question round following company".split()
)
NUMBER = re.compile(r"\b(?!(?:19|20)\d\d\b)\d[\d,.]*")
FIGURE_SHARE = 0.3
TOLERANCE = 0.01
SCALES = tuple(1000.0**power for power in range(-3, 4))
FIGURE = re.compile(r"[($€£-]*\d[\d,.]*[%)]*")
NEXT_K = 20  # chunks that a better order could draw from
SORTS = (
    "filing not among the first",
    "some of its pages found",
    "answer's figures stand on a page that was found",
    "page among the next",
    "page further down",
)


class Rule(NamedTuple):
    """A kind of failure: the step that lost it or what the rule is about, and the rule in words."""

    step: str
    says: str


READ = ("run=standard/{name}", "pages", "dataset")  # what is stored depends on
_FILE = read_yaml(Path(__file__).with_suffix(".yaml"))
STATEMENTS, SUMMARY = _FILE["statements"], "|".join(_FILE["summary"])
OF_PAGES = {kind: Rule(*rule) for kind, rule in _FILE["of_pages"].items()}
OF_QUESTIONS = {
    kind: Rule(step, says.format(share=f"{FIGURE_SHARE:.0%}")) for kind, (step, says) in _FILE["of_questions"].items()
}


def page_kind(text: str) -> str:
    """What a page is by its head: a primary statement, a ``summary`` of results, or ``other``.

    A table is told from prose by MIN_NUMBERS numbers that are no years. A statement's name must stand in the first
    HEAD_CHARACTERS characters and one of its line items on the page; the name that stands first decides.
    """
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


def _places(run: pd.DataFrame, k: int) -> dict[str, list[tuple[str, int]]]:
    top = run[run["rank"] <= k].sort_values(["question_id", "rank"])
    parts = top.groupby("question_id")
    return {name: list(zip(part["doc_name"], part["page"], strict=True)) for name, part in parts}


def _kind_of(
    gold: pd.Series, shown: pd.Series | None, has_other: bool, has_neighbour: bool, kinds: tuple[str, str]
) -> str:
    """The first rule that holds, by the rows of the two filings and the kinds of the two pages, gold first."""
    if shown is None:
        return "nothing retrieved"
    wants_statement, is_same_kind = kinds[0] in STATEMENTS, kinds[0] == kinds[1]
    is_inside, is_same_company = shown.name == gold.name, shown["company"] == gold["company"]
    is_same_type = shown["doc_type"] == gold["doc_type"]
    held = {
        "other gold page only": is_inside and has_other,
        "neighbour page": is_inside and has_neighbour,
        "summary instead of statement": is_inside and wants_statement and kinds[1] == "summary",
        "same statement elsewhere": is_inside and wants_statement and is_same_kind,
        "other statement": is_inside and wants_statement and kinds[1] in STATEMENTS,
        "text or note instead of statement": is_inside and wants_statement,
        "right filing, other part": is_inside,
        "wrong year": is_same_company and is_same_type and shown["doc_period"] != gold["doc_period"],
        "other type of filing": is_same_company,
        "same statement of another company": wants_statement and is_same_kind,
        "other company": True,
    }
    return next(kind for kind, holds in held.items() if holds)


@stored("analysis/missed-pages/{name}", on=READ, public=True)
def missed_pages(study: Study, name: str, k: int) -> pd.DataFrame:
    """The gold pages that are not among the top k of a method's standard run, and what came instead; stored.

    Returns:
        question_id, doc_name, page (the gold page), shown_doc, shown_page (missing where nothing was retrieved),
        has_other (another gold page is there), has_neighbour, gold_kind, shown_kind (of the two pages), kind, step.
    """
    return classify(study, study.run(name), k)


def classify(study: Study, run: pd.DataFrame, k: int) -> pd.DataFrame:
    """What :func:`missed_pages` stores, of any run."""
    texts, filings, ranked = texts_of_pages(study), study.filings.set_index("doc_name"), _places(run, k)
    gold_of, rows = study.questions.set_index("question_id")["gold_pages"], []
    for question_id, doc_name, page in gold_pages(study.questions).itertuples(index=False):
        seen, wanted = ranked.get(question_id, []), set(gold_of[question_id])
        if (doc_name, page) in seen:
            continue
        inside = [number for name, number in seen if name == doc_name]
        instead = [number for number in inside if number not in wanted] or inside
        shown = (doc_name, instead[0]) if inside else (seen or [(None, None)])[0]
        near = bool(wanted & set(inside)), any(abs(number - page) == 1 for number in inside)
        kinds = page_kind(texts[doc_name, page]), page_kind(texts[shown]) if seen else "other"
        kind = _kind_of(filings.loc[doc_name], filings.loc[shown[0]] if seen else None, *near, kinds)
        rows.append((question_id, doc_name, page, *shown, *near, *kinds, kind, OF_PAGES[kind].step))
    columns = "question_id doc_name page shown_doc shown_page has_other has_neighbour gold_kind shown_kind kind step"
    return pd.DataFrame(rows, columns=columns.split()).astype({"shown_page": "Int64"})


def typology(classified: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """How many missed pages each kind has: kind, step, says, and a count for each name; kinds that never occur too."""
    counts = {name: part["kind"].value_counts().reindex([*OF_PAGES], fill_value=0) for name, part in classified.items()}
    rules = pd.DataFrame(OF_PAGES.values(), index=[*OF_PAGES])
    return rules.assign(**counts).rename_axis("kind").reset_index()


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
    return sum(map(bool, map(FIGURE.fullmatch, words))) / len(words) if words else 0.0


def stands_in(answer: str, evidence: str, question: str) -> bool:
    """Whether a number of the answer stands in the evidence, within 1 % and up to sign and thousands.

    ``$1.577 billion`` stands in a table in millions that has ``1,577``. An answer without numbers does.
    """
    both = (quantities(text, question) for text in (answer, evidence))
    wanted, there = (np.array([abs(quantity.value) for quantity in found]) for found in both)
    readings = np.outer(there, SCALES).ravel()
    return not len(wanted) or bool((np.abs(readings[:, None] - wanted) <= TOLERANCE * wanted).any())


def term_share(question: str, company: str, pages: Sequence[str]) -> float:
    """The largest share of a question's terms that one of the pages has; its company, years and units do not count.

    A question without other terms has them all (1.0).
    """
    wanted = set(topic(terms(question, ASKING_WORDS), terms(company, ASKING_WORDS)))
    return max(len(wanted & set(terms(page, ASKING_WORDS))) / len(wanted) for page in pages) if wanted else 1.0


def facts(study: Study, run: pd.DataFrame, k: int) -> pd.DataFrame:
    """What the rules of failed questions look at, one row per question.

    Returns:
        question_id, is_found, figure_share, stands_in, term_share, n_pages (of the gold filing), has_filing (the gold
        filing is among the top k), has_twin (a page of a gold page's kind from another filing of the company is).
    """
    texts, filings, seen = texts_of_pages(study), study.filings.set_index("doc_name"), _places(run, k)
    found, rows = page_hit(run, study.questions, k), []
    for row in study.questions.itertuples():
        gold = [texts[row.doc_name, page] for page in row.gold_pages]
        shown, kinds = seen.get(row.question_id, []), {page_kind(text) for text in gold}
        company, n_pages = filings.loc[row.doc_name, ["company", "n_pages"]]
        others = [place for place in shown if place[0] != row.doc_name]
        twins = [place for place in others if filings.at[place[0], "company"] == company]
        states = figure_share(row.evidence), stands_in(row.answer, row.evidence, row.question)
        has_twin = any(page_kind(texts[place]) in kinds for place in twins)
        known = *states, term_share(row.question, company, gold), n_pages, len(others) < len(shown), has_twin
        rows.append((row.question_id, bool(found[row.question_id]), *known))
    columns = "question_id is_found figure_share stands_in term_share n_pages has_filing has_twin"
    return pd.DataFrame(rows, columns=columns.split())


def kinds_of(known: pd.DataFrame, filings: pd.DataFrame) -> pd.DataFrame:
    """Which rules hold for each question of :func:`facts`, boolean, columns OF_QUESTIONS, and ``primary``, the first.

    The filings give the median number of pages.
    """
    found = known["is_found"]
    usual = known.loc[found if found.any() else slice(None), "term_share"].median()
    held = {
        "table structure": known["figure_share"] >= FIGURE_SHARE,
        "numerical reasoning": ~known["stands_in"].astype(bool),
        "vocabulary": known["term_share"] < usual,
        "ambiguous": known["has_twin"].astype(bool) & ~found,
        "long document": known["has_filing"] & (known["n_pages"] > filings["n_pages"].median()) & ~found,
    }
    table = pd.DataFrame(held)
    table["none of these"] = ~table.any(axis=1)
    return table.assign(primary=table.idxmax(axis=1))


@stored("analysis/failed-questions/{name}", on=READ, public=True)
def _facts(study: Study, name: str, k: int) -> pd.DataFrame:
    return facts(study, study.run(name), k)


def kinds_by_question(study: Study, name: str, k: int = 5) -> pd.DataFrame:
    """:func:`kinds_of` every question of a method's standard run, with question_id and is_found; what the rules look at
    is stored."""
    known = _facts(study, name, k)
    return known[["question_id", "is_found"]].join(kinds_of(known, study.filings))


def failed_questions(study: Study, name: str, k: int = 5) -> pd.DataFrame:
    """How many failed questions of a method's standard run have each kind.

    Returns:
        kind, rule, primary (failures of which it is the first), any (failures that have it), share_failed (of the
        failures), share_found (of the found questions; missing where the rule is about what came instead), n_failed.
    """
    held, kinds = kinds_by_question(study, name, k), [*OF_QUESTIONS]
    failed, found = held[~held["is_found"]], held.loc[held["is_found"], kinds]
    rules = pd.DataFrame(OF_QUESTIONS.values(), kinds)
    parts = {"kind": kinds, "rule": rules["says"]}
    parts |= {"primary": failed["primary"].value_counts().reindex(kinds, fill_value=0)}
    parts |= {"any": failed[kinds].sum(), "share_failed": failed[kinds].mean()}
    parts |= {"share_found": found.mean().where(rules["step"] == "question")}
    return pd.DataFrame(parts, kinds).assign(n_failed=len(failed)).reset_index(drop=True)


def figures(text: str) -> set[str]:
    """The figures of a text of three characters or more that are no years, without thousands' commas."""
    found = {figure.replace(",", "") for figure in re.findall(r"\d[\d,]*(?:\.\d+)?", text)}
    return {figure for figure in found if len(figure) > 2 and not re.fullmatch(r"(?:19|20)\d\d", figure)}


def missed(study: Study, name: str, k: int = 5) -> pd.DataFrame:
    """The questions whose gold pages are not all among a method's first k chunks; stored.

    Returns:
        question_id, question_type, doc_type, n_gold, n_found, best_rank (of a missed page, missing if not in the run),
        sort (the first of SORTS that holds).
    """
    return _missed(study, name, k, NEXT_K)


@stored("analysis/missed/{name}", on=[*READ, "questions"], public=True)
def _missed(study: Study, name: str, k: int, next_k: int) -> pd.DataFrame:
    return sort_missed(study, study.run(name), k)


def sort_missed(study: Study, run: pd.DataFrame, k: int) -> pd.DataFrame:
    """What :func:`missed` stores, of any run."""
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
            not pd.isna(question.best_rank) and question.best_rank <= NEXT_K,
            True,
        )
        sorts.append(SORTS[holds.index(True)])
    return lost[["question_id", "question_type", "doc_type", *counts]].assign(sort=sorts)
