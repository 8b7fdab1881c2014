"""Failures sorted into the kinds of Akarsu et al. (2026), each decided by a stated rule over what can be measured.

A question fails when none of its gold pages is among the pages of the top k chunks. The published study sorted
failures by reading; here every kind is a rule, a failure may be of several kinds, and the first in KINDS is its primary
one. Three rules look at the question and its evidence alone and so hold for found questions too: a kind explains a
failure only where failures have it more often than found questions.
"""

import re
from collections.abc import Sequence

import numpy as np
import pandas as pd

from lib.ahead.queries import terms, topic_terms
from lib.analysis.failures import page_kind
from lib.metrics.answers import quantities
from lib.metrics.retrieval import page_hit

FIGURE_SHARE = 0.3
TOLERANCE = 0.01
SCALES = tuple(1000.0**power for power in range(-3, 4))
FIGURE = re.compile(r"[($€£-]*\d[\d,.]*[%)]*")
#: Kind and rule, in the order in which the published study lists them.
RULES = {
    "table structure": f"{FIGURE_SHARE:.0%} or more of the evidence's words are figures",
    "numerical reasoning": "the answer has a number, and none of its numbers stands in the evidence",
    "vocabulary": "a smaller share of the question's terms stands on a gold page than for half of the found questions",
    "ambiguous": "a page of the same kind from another filing of the company is among the top k",
    "long document": "the gold filing is among the top k, and it has more pages than half of the filings",
    "none of these": "no rule holds",
}
KINDS = tuple(RULES)
OF_QUESTION = KINDS[:3]


def figure_share(text: str) -> float:
    """The share of a text's words that are figures: ``Sales 1,577 (12)`` has two of three; 0 for no words."""
    words = text.split()
    return sum(bool(FIGURE.fullmatch(word)) for word in words) / len(words) if words else 0.0


def stands_in(answer: str, evidence: str, question: str) -> bool:
    """Whether a number of the answer stands in the evidence, within 1 % and up to sign and thousands.

    ``$1.577 billion`` stands in a table in millions that has ``1,577``. An answer without numbers does.
    """
    wanted = np.array([abs(quantity.value) for quantity in quantities(answer, question)])
    there = np.array([abs(quantity.value) for quantity in quantities(evidence, question)])
    readings = np.outer(there, SCALES).ravel()
    return not len(wanted) or bool((np.abs(readings[:, None] - wanted) <= TOLERANCE * wanted).any())


def term_share(question: str, company: str, pages: Sequence[str]) -> float:
    """The largest share of a question's terms that one of the pages has; its company, years and units do not count.

    A question without other terms has them all (1.0).
    """
    wanted = set(topic_terms(question, [company]))
    return max(len(wanted & set(terms(page))) / len(wanted) for page in pages) if wanted else 1.0


def facts(study, run: pd.DataFrame, k: int) -> pd.DataFrame:
    """What the rules look at, one row a question, indexed by question_id.

    Returns:
        is_found, figure_share, stands_in, term_share, n_pages (of the gold filing), has_filing (the gold filing is
        among the top k), has_twin (a page of a gold page's kind from another filing of the company is).
    """
    texts = study.memo("page_texts", lambda: study.pages.set_index(["doc_name", "page"])["text"].to_dict())
    filings, found = study.filings.set_index("doc_name"), page_hit(run, study.questions, k)
    top = run[run["rank"] <= k].groupby("question_id")[["doc_name", "page"]]
    seen = {question_id: [*part.itertuples(index=False, name=None)] for question_id, part in top}
    rows = []
    for row in study.questions.itertuples():
        gold = [texts[row.doc_name, page] for page in row.gold_pages]
        shown = seen.get(row.question_id, [])
        kinds = {page_kind(text) for text in gold}
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
    return pd.DataFrame(rows).set_index("question_id")


def kinds_of(known: pd.DataFrame, filings: pd.DataFrame) -> pd.DataFrame:
    """Which rules hold for each question, boolean, columns KINDS; ``primary`` is the first that holds.

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
    return table.assign(primary=table[list(KINDS)].idxmax(axis=1))


def failure_table(study, run: pd.DataFrame, k: int = 5) -> pd.DataFrame:
    """How many failures of a run have each kind.

    Returns:
        kind, rule, primary (failures of which it is the first), any (failures that have it), share_failed (of the
        failures), share_found (of the found questions; missing where the rule is about what came instead), n_failed.
    """
    known = facts(study, run, k)
    held, found = kinds_of(known, study.filings), known["is_found"]
    failed = held[~found]
    rows = [
        (
            kind,
            rule,
            int((failed["primary"] == kind).sum()),
            int(failed[kind].sum()),
            failed[kind].mean(),
            held.loc[found, kind].mean() if kind in OF_QUESTION else np.nan,
            len(failed),
        )
        for kind, rule in RULES.items()
    ]
    columns = ["kind", "rule", "primary", "any", "share_failed", "share_found", "n_failed"]
    return pd.DataFrame(rows, columns=columns)
