"""What is measured on the questions about unseen companies beside the study's own, and the contrasts by which they are
compared, which were declared before they were measured (``book/changelog.md``, 2026-11-28)."""

from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from lib import runs
from lib.analysis.strict_folds import strictest_of
from lib.evaluation import evaluate_all, evaluate_given
from lib.frames import read_csv
from lib.method_sets import over_all_filings
from lib.metrics.frame import Metrics
from lib.metrics.losses import losses
from lib.other_sets import with_both_encoders
from lib.page_scorer import light
from lib.page_scorer.search import search_pages_first
from lib.retrievers.matched import run_within
from lib.schema import K
from lib.stats import Resampling, compare, compare_pairs
from lib.study import Study

#: Name of a contrast to the row and the row that it is compared with, in page recall at 5 over all filings.
CONTRASTS = {
    "Metadata match": ("dense_records", "dense"),
    "Hybrid search after the metadata match": ("hybrid_rrf_records", "dense_records"),
    "Ahead, from the match": ("ahead", "dense_records"),
    "Ahead, from matched hybrid search": ("ahead", "hybrid_rrf_records"),
    "Ahead without page kinds, from the match": ("ahead_general", "dense_records"),
    "Page kinds": ("ahead", "ahead_general"),
    "Items apart, after matched hybrid search": ("items_apart_records", "hybrid_rrf_records"),
    "Missing items again, after matched hybrid search": ("items_again_records", "hybrid_rrf_records"),
    "Items apart, over Ahead": ("ahead_items_apart", "ahead"),
    "Missing items again, over Ahead": ("ahead_items_again", "ahead"),
}
LIGHT = "page_scorer_light_order_records"
#: Contrasts of rows that were added after the first publication, declared before they were measured, too; LIGHT is of
#: the scorer that FinanceBench's questions train.
ADDED = {
    "Small child chunks after the metadata match": ("parent_child_records", "dense_records"),
    "SPLADE, from BM25": ("splade", "bm25"),
    "Pages first, untrained": ("page_then_chunk", "dense"),
    "Light page scorer, from the match": (LIGHT, "dense_records"),
}
BEFORE = "ahead_before"  # Ahead as it was first published, commit 21d7a2f4: page recall at 5, in a file of that name
#: Contrasts of what reads prose, declared before it was measured.
PROSE = {
    "Ahead, from Ahead as first published": ("ahead", BEFORE),
    "Spans in context, from dense search, both after the match": ("spans_records", "dense_records"),
    "The untrained sum, from matched hybrid search": ("ahead_untrained", "hybrid_rrf_records"),
}
MISSED = Path(__file__).with_name("unseen_missed.csv")  # why Ahead missed pages, as a language model read them
#: Kinds of MISSED, the first that holds.
KINDS = {
    "equivalent": "another retrieved page answers in full",
    "filing": "no page of the right filing is retrieved",
    "continuation": "the page before or after is retrieved",
    "several": "one of several gold pages is missing",
    "words": "the gold page says it in other words",
    "other part": "pages on the topic, not on what is asked",
    "other": "another reason",
}
#: Rows that are compared with both encoders.
ENCODED = ("dense", "dense_records", "hybrid_rrf_records")
LEVELS = ["doc_recall", "page_recall", "page_recall_pooled", "page_recall_lenient"]


def fates(sets: Mapping[str, Study], methods: Collection[str], k: int) -> pd.DataFrame:
    """What becomes of the gold pages of question sets, by name, in the first k chunks of those methods that each
    measures; of a trained one with its strictest folds (:mod:`lib.analysis.strict_folds`).

    Returns:
        set, head (of several sets the name and size in its first row, else empty), method, and the shares ``found``,
        ``page`` (page not retrieved) and ``document`` (filing not retrieved), which add to 1; in a set the least found
        first.
    """
    parts = []
    for name, study in sets.items():
        here = [one for one in over_all_filings(study.profile) if one in methods]
        levels, strict = evaluate_all(study, here, ["standard"]), strictest_of(study, here, k)
        docs, pages = (
            {one: strict[one][metric].mean() if one in strict else levels[one, metric, k].mean() for one in here}
            for metric in ("doc_recall", "page_recall")
        )
        table = pd.DataFrame(losses(pd.Series(docs), pd.Series(pages))).sort_values("found")
        table = table.rename_axis("method").reset_index()
        heads = [f"{name} (n = {len(study.questions)})" if len(sets) > 1 else "", *[""] * (len(table) - 1)]
        parts.append(table.assign(set=name, head=heads))
    found = pd.concat(parts, ignore_index=True)
    return found[["set", "head", "method", "found", "page", "document"]]


def contrasts(draws: Resampling, recalls: pd.DataFrame, wanted: Mapping[str, tuple[str, str]]) -> pd.DataFrame:
    """Contrasts of page recall (questions × methods) whose rows were measured: :func:`lib.stats.compare_pairs` with
    ``contrast``, its name; Holm's correction is over all of them."""
    here = {name: pair for name, pair in wanted.items() if {*pair} <= {*recalls}}
    found = compare_pairs(recalls, [*here.values()], draws)
    return found.assign(contrast=[*here])


def prose_recalls(other: Study) -> pd.DataFrame:
    """Page recall at 5 of the rows of PROSE on unseen companies, questions × methods, BEFORE among them."""
    rows = {method for pair in PROSE.values() for method in pair}
    here = [name for name in over_all_filings(other.profile) if name in rows]
    metrics = evaluate_all(other, here, ["standard"])
    before = read_csv(Path(__file__).with_name(f"{BEFORE}.csv")).set_index("question_id")["page_recall"]
    values = pd.DataFrame({name: metrics[name, "page_recall", 5] for name in here})
    return values.assign(**{BEFORE: before.reindex(values.index)}).dropna(axis=1)


def missed_by_kind(other: Study) -> pd.DataFrame:
    """Why Ahead missed gold pages of unseen companies at 5, each read once: kinds × question types and ``All``."""
    read = read_csv(MISSED).merge(other.questions[["question_id", "question_type"]], on="question_id")
    table = pd.crosstab(read["kind"], read["question_type"]).reindex(KINDS, fill_value=0)
    return table.assign(All=table.sum(axis=1)).rename(KINDS).rename_axis("Why").rename_axis(columns=None)


def better_encoder(other: Study, k: int = K) -> pd.DataFrame | None:
    """Page recall of ENCODED on unseen companies with the better encoder less that with the encoder of ``other``:
    :func:`lib.stats.compare`, p corrected over these rows; None where it was not measured."""
    before_and_after = with_both_encoders(other).get(other.dataset.name)
    if before_and_after is None or not {*ENCODED} <= {*over_all_filings(before_and_after[1].profile)}:
        return None
    before, after = (
        pd.DataFrame({name: metrics[name, "page_recall", k] for name in ENCODED})
        for metrics in (evaluate_all(one, ENCODED, ["standard"]) for one in before_and_after)
    )
    return compare(after, before, Resampling.of(other))


def light_recalls(study: Study, other: Study, k: int = K, measure: bool = False) -> pd.DataFrame | None:
    """LEVELS by question of LIGHT on unseen companies, trained on all of the study's questions: its pages' order behind
    the match. Stored; where it is not, computed if ``measure``, as vectors of all pages take half an hour, else None;
    None for other questions than FinanceBench's, too."""
    if study.dataset.name != "financebench" or LIGHT not in over_all_filings(study.profile):
        return None

    def make() -> pd.DataFrame:
        scores, depth = light.scores_elsewhere(study, other), other.profile.run.depth

        def rank(allowed: np.ndarray) -> pd.DataFrame:
            scored = search_pages_first(other, scores, allowed, order="page")
            scored[~allowed] = float("-inf")
            return runs.rank(scored, other.questions, other.chunks, depth)

        run = run_within(other, other.candidates("standard"), False, rank)
        metrics = Metrics(evaluate_given(other, run, LIGHT))
        return pd.DataFrame({name: metrics[LIGHT, name, k] for name in LEVELS}).rename_axis("question_id").reset_index()

    params = {"settings": study.settings_of(("embedder", "page_scorer", "page_scorer_light", "run")), "k": k}
    params |= {name: study.digest(name) for name in ("questions", "pages")}
    params |= {f"other {name}": other.digest(name) for name in ("questions", "pages", "chunks")}
    found = study.store.frame("analysis/light-elsewhere", params, make if measure else None, public=True)
    return None if found is None else found.set_index("question_id")
