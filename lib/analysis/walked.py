"""One question to walk through, chosen by a rule: what several methods find for it, and what is read from their pages.

Of a study's questions it is the one that shows most: the last of the methods has every gold page among its first k
chunks, and the methods before it miss one; then the last reads the right answer, and the others none or a wrong one.
Among equals the answer of the fewest cells counts, then the order of the questions.
"""

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import NamedTuple

import pandas as pd

from lib.analysis.failures import page_kind
from lib.answers.calculation import named_filings
from lib.method_sets import over_all_filings
from lib.metrics.retrieval import gold_pages, gold_ranks
from lib.metrics.right import answer_right, figure
from lib.retrievers.matched import identities
from lib.retrievers.places import texts_of_pages
from lib.retrievers.tables import sheet_of
from lib.statements.sure import Reading, reading
from lib.study import Study

METHODS = ("dense", "dense_records", "ahead")
GOLD, RIGHT_FILING, SAME_COMPANY, OTHER = (
    "gold page",
    "right filing",
    "another filing of the company",
    "another company",
)
Place = tuple[str, int]


class Found(NamedTuple):
    """What a method has for a question."""

    places: tuple[Place, ...]  # pages of its first k chunks, best first: doc_name and page
    ranks: tuple[int | None, ...]  # of each gold page's first chunk
    read: Reading
    outcome: str  # right or wrong, "read" where that cannot be known, else "no answer"


def runs_here(study: Study) -> dict[str, pd.DataFrame]:
    """The runs of METHODS that the study's profile runs over all filings."""
    here = over_all_filings(study.profile)
    return {name: study.run(name) for name in METHODS if name in here}


def ranks_by_question(run: pd.DataFrame, questions: pd.DataFrame) -> dict[str, tuple[int | None, ...]]:
    """For each question the rank of each of its gold pages, None where the run does not have it."""
    found = gold_ranks(run, questions)
    return {
        question_id: tuple(None if pd.isna(rank) else int(rank) for rank in ranks)
        for question_id, ranks in found.groupby("question_id", sort=False)["rank"]
    }


def places_of(run: pd.DataFrame, question_id: str, k: int) -> tuple[Place, ...]:
    """The pages of a question's first k chunks, best first, each once."""
    top = run[(run["question_id"] == question_id) & (run["rank"] <= k)].sort_values("rank")
    return tuple(dict.fromkeys(zip(top["doc_name"], map(int, top["page"]), strict=True)))


def is_whole(ranks: Sequence[int | None], k: int) -> bool:
    """Whether every gold page is among the first k."""
    return all(rank is not None and rank <= k for rank in ranks)


def chosen(study: Study, runs: Mapping[str, pd.DataFrame], k: int) -> tuple[pd.Series, dict[str, Found]]:
    """The question that shows most, and what each method has for it; see above."""
    ranks = {name: ranks_by_question(run, study.questions) for name, run in runs.items()}
    ids = gold_pages(study.questions)["question_id"].unique().tolist()
    by_id = study.questions.set_index("question_id", drop=False)

    def of_ranks(question_id: str) -> tuple[bool, int]:
        *before, last = (is_whole(of[question_id], k) for of in ranks.values())
        return last, before.count(False)

    most = max(map(of_ranks, ids))
    found = {
        one: {name: found_of(study, by_id.loc[one], run, ranks[name][one], k) for name, run in runs.items()}
        for one in ids
        if of_ranks(one) == most
    }
    best = max(found, key=lambda one: of_answers([*found[one].values()]))
    return by_id.loc[best], found[best]


def of_answers(found: Sequence[Found]) -> tuple[bool, int, int]:
    """How much the answers to a question show, more of each first: whether the last method's is right, how many of the
    others' are not, and how few cells the last one's needs."""
    *before, last = found
    is_right = last.outcome in ("right", "read")
    return is_right, sum(one.outcome in ("wrong", "no answer") for one in before), -len(last.read.result.cells)


def found_of(study: Study, question: pd.Series, run: pd.DataFrame, ranks: tuple[int | None, ...], k: int) -> Found:
    """What a run has for a question, and what is read from its pages; a reading that is not sure is no answer."""
    places, named = places_of(run, question["question_id"], k), named_filings(study)[question["question_id"]]
    read = reading(question["question"], named, [sheet_of(study, *one) for one in places], identities(study, False))
    if not read.is_sure:
        return Found(places, ranks, read, "no answer")
    has_figure = bool(question["answer"]) and figure(question["answer"], question["question"]) is not None
    is_right = has_figure and answer_right(read.result.text, question["answer"], question["question"])
    return Found(places, ranks, read, "right" if is_right else "wrong" if has_figure else "read")


def names_of(study: Study, question: pd.Series) -> list[str]:
    """The names of the company that a question asks about."""
    return sorted(set(chain(*named_filings(study)[question["question_id"]].values())))


def what_page(study: Study, question: pd.Series, place: Place) -> str:
    """What a retrieved page is to a question: of which filing, and within the right one of which kind."""
    doc_name, page = place
    if doc_name == question["doc_name"]:
        return GOLD if page in question["gold_pages"] else f"{RIGHT_FILING}, {kind_in_words(study, place)}"
    company = study.filings.set_index("doc_name")["company"]
    return SAME_COMPANY if company[doc_name] == company[question["doc_name"]] else OTHER


def kind_in_words(study: Study, place: Place) -> str:
    """What a page is, by :func:`lib.analysis.failures.page_kind`."""
    kind = page_kind(texts_of_pages(study)[place])
    return {"other": "text or notes", "summary": "summary of results"}.get(kind, kind)


class Pair(NamedTuple):
    """A page that a method has, and the gold page that it misses."""

    method: str
    wrong: Place
    missed: Place


def wrong_and_missed(question: pd.Series, found: Mapping[str, Found], k: int) -> Pair | None:
    """The first wrong page of the last method that misses a gold page, in the right filing where it has one there, and
    the gold page that it misses; None where no method misses one."""
    doc_name, gold_pages = question["doc_name"], question["gold_pages"]
    gold = {(doc_name, page) for page in gold_pages}
    for name, one in reversed(found.items()):
        missed = [page for page, rank in zip(gold_pages, one.ranks, strict=True) if not is_whole([rank], k)]
        wrong = sorted((place for place in one.places if place not in gold), key=lambda place: place[0] != doc_name)
        if missed and wrong:
            return Pair(name, wrong[0], (doc_name, missed[0]))
    return None


def missed_by_search(
    questions: pd.DataFrame, runs: Mapping[str, pd.DataFrame], k: int
) -> tuple[pd.Series, dict[str, tuple[tuple[int | None, ...], tuple[Place, ...]]]] | None:
    """The question whose gold pages the last method ranks first, best of those that the others miss inside the right
    filing, though another page that answers in full (``also``) counts as found; with ranks and pages by method. None
    where there is none."""
    ranks = {name: ranks_by_question(run, questions) for name, run in runs.items()}
    *before, last = runs
    kept = []
    for _, question in questions.iterrows():
        one = question["question_id"]
        places = {name: places_of(run, one, k) for name, run in runs.items()}
        answering = {(question["doc_name"], page) for page in (*question["gold_pages"], *question["also"])}
        is_missed = all(
            not answering & {*places[name]} and question["doc_name"] in dict(places[name]) for name in before
        )
        if is_missed and is_whole(ranks[last][one], k):
            kept.append((question, {name: (ranks[name][one], places[name]) for name in runs}))
    return min(kept, key=lambda one: max(one[1][last][0]), default=None)
