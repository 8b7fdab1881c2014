"""The page ranker for questions of every kind, by question set: mean over fold seeds, transfer, ablations."""

import pandas as pd

from lib.ahead.ranker import UNTRAINED, WHOLE, WITH_KINDS, Variant, nested_recalls, without
from lib.ahead.sets import SETS
from lib.ahead.views import VIEWS
from lib.stats import Resampling, holm
from lib.study import Study
from lib.words import NeedsFilings

BASE = "untrained sum of identity and words"
TRAINED, KINDS = "trained, without hand-written kinds", "trained, with hand-written kinds"
#: Which variants are measured, by title.
MEASURED = {
    BASE: UNTRAINED,
    TRAINED: WHOLE,
    KINDS: WITH_KINDS,
    **{f"trained, without {name}": without(name) for name in (*VIEWS, "encoder")},
}
COLUMNS = ["variant", "set", "n", "companies", "seeds", "doc", "page", "low", "high", "reference"]
COLUMNS += ["difference", "difference_low", "difference_high", "p", "p_holm"]


def seeds_of(study: Study, variant: Variant) -> list[int]:
    """The seeds of the folds under which a variant is measured: all, but one of what has no folds."""
    return list(study.profile.ahead.fold_seeds)[: 1 if variant == UNTRAINED else None]


def is_measured(study: Study) -> bool:
    """Whether the study's filings have several question sets, so that a ranker is trained on all of them."""
    return study.dataset.collection in SETS


def mean_recalls(study: Study, variant: Variant, sets: tuple[str, ...] = ()) -> pd.DataFrame:
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
    """COLUMNS: every variant on every set, with its difference in page recall from its reference: the ranker of all
    views for those with kinds or without a view, else the untrained sum.

    Intervals and tests draw companies; p_holm is corrected within a set and a reference (Holm, 1979).
    """
    found = {title: mean_recalls(study, variant) for title, variant in MEASURED.items()}
    if found[BASE].empty:
        return pd.DataFrame(columns=COLUMNS)
    for name in (study.dataset.collection, *SETS.get(study.dataset.collection, ())):
        found[f"trained on {name} alone"] = mean_recalls(study, WHOLE, (name,))
    rows, significance = [], study.profile.significance
    for title, recalls in found.items():
        n_seeds = len(seeds_of(study, MEASURED.get(title, WHOLE)))
        reference = TRAINED if title in MEASURED and title not in (BASE, TRAINED) else BASE
        base = found[reference].set_index("question_id")["page_recall"]
        for name, part in recalls.set_index("question_id").groupby("set", sort=False):
            values, companies = part["page_recall"], part["company"]
            draws = Resampling(companies, significance.n_draws, significance.seed)
            page, apart = draws.interval(values), draws.difference(values, base)
            about = (title, name, page.n, companies.nunique(), n_seeds, part["doc_recall"].mean())
            tested = (reference, apart.mean, apart.low, apart.high, draws.p(values, base))
            nothing = ("", *[float("nan")] * 4)
            rows.append((*about, page.mean, page.low, page.high, *(nothing if title == BASE else tested)))
    table = pd.DataFrame(rows, columns=COLUMNS[:-1])
    return table.assign(p_holm=table.dropna(subset="p").groupby(["set", "reference"])["p"].transform(holm))


def by_type(study: Study) -> pd.DataFrame:
    """Page recall by set and type of question: a row per type, a column per variant without ablations."""
    parts = {
        title: mean_recalls(study, variant)
        .groupby(["set", "question_type"], sort=False)["page_recall"]
        .mean()
        for title, variant in MEASURED.items()
        if not variant.name.startswith("without")
    }
    sizes = mean_recalls(study, UNTRAINED).groupby(["set", "question_type"], sort=False).size()
    return pd.DataFrame(parts).assign(n=sizes).reset_index()
