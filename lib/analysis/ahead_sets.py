"""The page ranker for questions of every kind, by question set: mean over fold seeds, transfer, ablations."""

import pandas as pd

from lib.ahead.ranker import UNTRAINED, VARIANTS, WHOLE, WITH_KINDS, WITH_LEARNT, nested_recalls
from lib.ahead.sets import SETS
from lib.stats import Resampling
from lib.study import Study
from lib.words import NeedsFilings

BASE = "untrained sum of identity and words"
#: Which variants are measured, by title.
MEASURED = {
    BASE: UNTRAINED,
    "trained, without hand-written kinds": WHOLE,
    "trained, with hand-written kinds": WITH_KINDS,
    "trained, with kinds learnt from other filings": WITH_LEARNT,
    **{f"trained, {variant}": variant for variant in VARIANTS if variant.startswith("without ")},
}
COLUMNS = [
    "variant",
    "set",
    "n",
    "companies",
    "seeds",
    "doc",
    "page",
    "low",
    "high",
    "difference",
    "difference_low",
]
COLUMNS += ["difference_high", "p"]


def seeds_of(study: Study, variant: str) -> list[int]:
    """The seeds of the folds under which a variant is measured: all for the two rankers, else the first alone."""
    seeds = list(study.profile.ahead.fold_seeds)
    return seeds if variant in (WHOLE, WITH_KINDS) else seeds[:1]


def is_measured(study: Study) -> bool:
    """Whether the study's filings have several question sets, so that a ranker is trained on all of them."""
    return study.dataset.collection in SETS


def mean_recalls(study: Study, variant: str, sets: tuple[str, ...] = ()) -> pd.DataFrame:
    """The recalls of each question, mean over seeds: question_id, set, question_type, company, doc_recall, page_recall.

    Empty where they are not known and cannot be computed here.
    """
    try:
        drawn = [nested_recalls(study, variant, seed, sets) for seed in seeds_of(study, variant)]
    except NeedsFilings:
        return pd.DataFrame(
            columns=["question_id", "set", "question_type", "company", "doc_recall", "page_recall"]
        )
    recalls = ["doc_recall", "page_recall"]
    return drawn[0].assign(**(sum(one[recalls] for one in drawn) / len(drawn)))


def by_set(study: Study) -> pd.DataFrame:
    """COLUMNS: every variant on every set, with its difference in page recall from the untrained sum.

    Intervals and tests draw companies; the p-values are not corrected.
    """
    found = {title: mean_recalls(study, variant) for title, variant in MEASURED.items()}
    if found[BASE].empty:
        return pd.DataFrame(columns=COLUMNS)
    for name in (study.dataset.collection, *SETS.get(study.dataset.collection, ())):
        found[f"trained on {name} alone"] = mean_recalls(study, WHOLE, (name,))
    rows, significance = [], study.profile.significance
    base = found[BASE].set_index("question_id")["page_recall"]
    for variant, recalls in found.items():
        for name, part in recalls.groupby("set", sort=False):
            values = part.set_index("question_id")["page_recall"]
            draws = Resampling(
                part.set_index("question_id")["company"], significance.n_draws, significance.seed
            )
            page, apart = draws.interval(values), draws.difference(values, base)
            about = (
                variant,
                name,
                page.n,
                part["company"].nunique(),
                len(seeds_of(study, MEASURED.get(variant, WHOLE))),
            )
            measured = (part["doc_recall"].mean(), page.mean, page.low, page.high)
            tested = (apart.mean, apart.low, apart.high, draws.p(values, base))
            is_base = variant == BASE
            rows.append((*about, *measured, *((float("nan"),) * len(tested) if is_base else tested)))
    return pd.DataFrame(rows, columns=COLUMNS)


def by_type(study: Study) -> pd.DataFrame:
    """Page recall by set and type of question: a row per type, a column per variant without ablations."""
    variants = {title: variant for title, variant in MEASURED.items() if not variant.startswith("without ")}
    parts = {
        title: mean_recalls(study, variant)
        .groupby(["set", "question_type"], sort=False)["page_recall"]
        .mean()
        for title, variant in variants.items()
    }
    sizes = mean_recalls(study, UNTRAINED).groupby(["set", "question_type"], sort=False).size()
    return pd.DataFrame(parts).assign(n=sizes).reset_index()
