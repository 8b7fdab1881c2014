"""Variants of the page ranker by question set, each beside the one that it changes."""

import pandas as pd

from lib.ahead.ranker import FROM_COVERS, UNTRAINED, WHOLE, WITH_KINDS, Variant, nested_recalls, without
from lib.ahead.sets import SETS
from lib.ahead.views import VIEWS
from lib.analysis.ladder import LADDER
from lib.methods import METHODS
from lib.stats import LEVELS, Resampling, holm
from lib.study import Study
from lib.words import NeedsFilings

BASE = METHODS["ahead_untrained"].title
TRAINED, KINDS = "trained, without hand-written kinds", "trained, with hand-written kinds"
#: Which variants of the page ranker are measured, by title.
MEASURED = {
    BASE: UNTRAINED,
    TRAINED: WHOLE,
    KINDS: WITH_KINDS,
    f"{KINDS}, by cover pages": FROM_COVERS,
    **{f"trained, without {name}": without(name) for name in (*VIEWS, "encoder")},
}
RECALLS = ["doc_recall", "page_recall"]
SET_COLUMNS = (
    "variant set n companies seeds doc page low high reference difference difference_low difference_high p p_holm"
).split()


def seeds_of(study: Study, variant: Variant) -> list[int]:
    """The seeds of the folds under which a variant is measured: all, but one of what has no folds."""
    return list(study.profile.ahead.fold_seeds)[: 1 if variant == UNTRAINED else None]


def has_sets(study: Study) -> bool:
    """Whether the study's filings have several question sets, so that a ranker is trained on all of them."""
    return study.dataset.collection in SETS


def mean_recalls(study: Study, variant: Variant, sets: tuple[str, ...] = ()) -> pd.DataFrame:
    """The recalls of each question, mean over seeds: question_id, set, question_type, company, doc_recall, page_recall.

    Empty where they are not known and cannot be computed here.
    """
    try:
        drawn = [nested_recalls(study, variant, seed, sets) for seed in seeds_of(study, variant)]
    except NeedsFilings:
        return pd.DataFrame(columns=["question_id", "set", "question_type", "company", *RECALLS])
    return drawn[0].assign(**(sum(one[RECALLS] for one in drawn) / len(drawn)))


def by_set(study: Study, steps: pd.DataFrame | None = None) -> pd.DataFrame:
    """SET_COLUMNS: every variant on every set, with its difference in page recall from its reference: the ranker of all
    views for those with kinds or without a view, else the untrained sum.

    Intervals and tests draw companies; p_holm is corrected within a set and a reference (Holm, 1979). What the kinds
    are worth on the study's own set is a step of the ladder, too: it has the p of these ``steps``, where given.
    """
    found = {title: mean_recalls(study, variant) for title, variant in MEASURED.items()}
    if found[BASE].empty:
        return pd.DataFrame(columns=SET_COLUMNS)
    for name in (study.dataset.collection, *SETS.get(study.dataset.collection, ())):
        found[f"trained on {name} alone"] = mean_recalls(study, WHOLE, (name,))
    rows, own, base = [], {}, {}
    for title, recalls in found.items():
        n_seeds = len(seeds_of(study, MEASURED.get(title, WHOLE)))
        reference = TRAINED if title in MEASURED and title not in (BASE, TRAINED) else BASE
        of_reference = found[reference].set_index("question_id")["page_recall"]
        for name, part in recalls.set_index("question_id").groupby("set", sort=False):
            own[title, name], base[title, name] = part["page_recall"], of_reference.reindex(part.index)
            rows.append((title, name, n_seeds, part["doc_recall"].mean(), reference))
    significance = study.profile.significance
    company = found[BASE].set_index("question_id")["company"]
    table = Resampling(company, significance.n_draws, significance.seed).compare(base, own)
    table = table.rename(columns=LEVELS | {"n_clusters": "companies", "mean": "page"}).reset_index(drop=True)
    table = pd.DataFrame(rows, columns=["variant", "set", "seeds", "doc", "reference"]).join(table)
    is_base = table["variant"] == BASE
    table.loc[is_base, ["difference", "difference_low", "difference_high", "p"]] = float("nan")
    table.loc[is_base, "reference"] = ""
    of_ladder = {} if steps is None else steps.set_index("title")["p_holm"].to_dict()
    is_step = table["variant"].eq(KINDS) & table["set"].eq(study.dataset.name) & (LADDER[-1].title in of_ladder)
    p_holm = table[~is_step].dropna(subset="p").groupby(["set", "reference"])["p"].transform(holm)
    p_holm = p_holm.reindex(table.index).where(~is_step, of_ladder.get(LADDER[-1].title))
    return table.assign(p_holm=p_holm)[SET_COLUMNS]
