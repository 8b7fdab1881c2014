"""Ahead step by step: rankers of some views more at each step, and variants by question set, beside what they change.

Every one is trained within the same folds; the first step is the untrained sum.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from lib.ahead.ranker import (
    FROM_COVERS,
    SECTIONS,
    UNTRAINED,
    VERSION,
    WHOLE,
    WITH_KINDS,
    Variant,
    fold_rankers,
    nested_scores,
    without,
)
from lib.ahead.search import scored_by
from lib.ahead.sets import DEPTH, TRAINED_ON, recalls, union_of
from lib.ahead.views import ENCODED, VIEWS
from lib.evaluation import evaluate
from lib.method import memoized
from lib.methods import METHODS
from lib.metrics.frame import Metrics
from lib.schema import K, or_without_filings
from lib.stats import DIFFERENCE, Resampling, holm, with_p_holm
from lib.study import Study


class Rung(NamedTuple):
    """A step of the ladder: what it adds, and what its ranker reads."""

    name: str
    title: str
    variant: Variant


def _only(*views: str) -> Variant:
    return Variant(f"only {' '.join(views)}", views)


_WORDS = ("words", "identity")
_TERMS = (*_WORDS, "pairs", "passages", "cover", "labels")
LADDER = (
    Rung("untrained", "identity, words and spans, untrained", UNTRAINED),
    Rung("words", "boosted trees on identity and words (BM25)", _only(*_WORDS)),
    Rung("terms", "+ word pairs, passages, row labels", _only(*_TERMS)),
    Rung("vectors", "+ encoder vectors of spans in context", _only(*_TERMS, *ENCODED)),
    Rung("statements", "+ statements, line items and years", WHOLE),
    Rung("kinds", "+ hand-written page kinds", WITH_KINDS),
)
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
PROBES = [*MEASURED.values()][3:]  # of one draw of folds: without one view each, and by cover pages
FIRST = f"{TRAINED}, first folds"  # what PROBES are compared with
#: Shorter names of those that a table shows beside the rankers that are trained on one set alone.
SHORT = {BASE: "untrained sum", TRAINED: "trained, without kinds", KINDS: "trained, with kinds"}
RECALLS = ["doc_recall", "page_recall"]
BY_SET = "variant set n companies seeds doc mean low high reference".split()
BY_SET += [*DIFFERENCE, "p", "p_holm", "verdict"]


def seeds_of(study: Study, variant: Variant) -> list[int]:
    """The seeds of the folds under which a variant is measured: all, but one of what has no folds, and of PROBES."""
    return list(study.profile.ahead.fold_seeds)[: 1 if variant == UNTRAINED or variant in PROBES else None]


def rungs_of(study: Study) -> tuple[Rung, ...]:
    """The steps that a study has: all where its questions are scored by folds, else the first."""
    return LADDER if scored_by(study) == "folds" else LADDER[:1]


@memoized
def rung_recalls(study: Study, k: int = K) -> dict[str, pd.DataFrame]:
    """Each of RECALLS of every rung, mean over the seeds of the folds: questions × rungs.

    ``whole_<seed>`` is the last rung, the method itself, under one seed. There are no rungs where they are not known at
    this k and need filings that are not here.
    """
    return or_without_filings(lambda: _rung_recalls(study, k), {metric: pd.DataFrame() for metric in RECALLS})


def _rung_recalls(study: Study, k: int) -> dict[str, pd.DataFrame]:
    found = {}
    for rung in rungs_of(study):
        drawn = {seed: _own_recalls(study, rung.variant, seed, k) for seed in seeds_of(study, rung.variant)}
        found[rung.name] = sum(drawn.values()) / len(drawn)
        if rung is LADDER[-1]:
            found |= {f"whole_{seed}": one for seed, one in drawn.items()}
    return {metric: pd.DataFrame({name: one[metric] for name, one in found.items()}) for metric in RECALLS}


def nested_recalls(study: Study, variant: Variant, seed: int, sets: Sequence[str] = (), k: int = DEPTH) -> pd.DataFrame:
    """Both recalls by a variant trained on ``sets``, by default all, of the questions of all, with question_id, set,
    question_type and company; stored."""

    def make() -> pd.DataFrame:
        union = union_of(study, variant.is_from_covers)
        if variant == UNTRAINED:
            scores = union.pool.table["plain"].to_numpy(float)
        else:
            rankers = fold_rankers(study, variant, seed, sets)
            scores = nested_scores(rankers, union.questions["company"].to_numpy(), union.pool)
        about = union.questions[["question_id", "set", "question_type", "company"]]
        return pd.concat([about, recalls(union, scores, k)], axis=1)

    params = {"variant": variant.name, "seed": seed, "sets": list(sets), "k": k}
    params |= {"pages": study.digest("pages"), "inputs": study.inputs_digest("ahead_untrained")}
    params |= {"settings": study.settings_of(SECTIONS)}
    return study.store.frame("ahead/tested", params, make, VERSION, public=True)


def _own_recalls(study: Study, variant: Variant, seed: int, k: int) -> pd.DataFrame:
    """Both recalls by question_id; of the method itself those of its run, in which pages without text take no place."""
    if (variant, seed) == (LADDER[-1].variant, study.profile.ahead.fold_seeds[0]):
        of_run = Metrics(evaluate(study, "ahead"))
        return pd.DataFrame({metric: of_run["ahead", metric, k] for metric in RECALLS})
    found = nested_recalls(study, variant, seed, k=k).set_index("question_id")
    return found.loc[study.questions["question_id"], RECALLS]


def has_sets(study: Study) -> bool:
    """Whether the study's filings have several question sets, so that a ranker is trained on all of them."""
    return study.dataset.collection in TRAINED_ON


def mean_recalls(
    study: Study, variant: Variant, sets: tuple[str, ...] = (), n_seeds: int | None = None
) -> pd.DataFrame:
    """The recalls of each question, mean over the first seeds or all: question_id, set, question_type, company,
    doc_recall, page_recall; empty where they are not known and cannot be computed here."""
    drawn = or_without_filings(
        lambda: [nested_recalls(study, variant, seed, sets) for seed in seeds_of(study, variant)[:n_seeds]]
    )
    if drawn is None:
        return pd.DataFrame(columns=["question_id", "set", "question_type", "company", *RECALLS])
    return drawn[0].assign(**(sum(one[RECALLS] for one in drawn) / len(drawn)))


def variants(study: Study) -> dict[str, pd.DataFrame]:
    """:func:`mean_recalls` by question_id of MEASURED, FIRST, and WHOLE trained on each set alone, where known."""
    alone = (study.dataset.collection, *TRAINED_ON.get(study.dataset.collection, ()))
    found = {title: mean_recalls(study, variant) for title, variant in MEASURED.items()}
    found |= {FIRST: mean_recalls(study, WHOLE, n_seeds=1)}
    found |= {f"trained on {name} alone": mean_recalls(study, WHOLE, (name,)) for name in alone}
    return {title: one.set_index("question_id") for title, one in found.items()} if len(found[BASE]) else {}


def tried() -> pd.DataFrame:
    """Page recall of rankers with other views, in the order in which they were tried: variant, a column a question set.

    Folds hold out companies and twins; means over seeds. Measured beside the study before views were chosen: with what
    the pages were trained on then, and spans behind the filing's record, too.
    """
    found = pd.read_csv(Path(__file__).with_name("views_tried.csv"))
    found = found[found["round"] == found["round"].max()]
    table = found.pivot_table("page_recall", "variant", "set", "mean", sort=False)
    return table.reset_index().rename_axis(columns=None)


#: Rows of :func:`tried` that part what spans and narrative questions add: neither, each, both, and what is kept.
STEPS_TRIED = (
    "MiniLM's windows and heads; trained without narrative questions",
    "trained without narrative questions",  # on spans of 126, the first span, stretches of two
    "MiniLM's windows and heads",
    "spans of 126, the first span, stretches of two",
    "spans behind Item, Note and heading, questions without company and periods",
)


def by_view(by_sets: pd.DataFrame) -> pd.DataFrame:
    """What the ranker loses without each view, of :func:`by_set`: view and, behind each set's name, DIFFERENCE."""
    prefix = "trained, without "
    views = [f"{prefix}{name}" for name in (*VIEWS, "encoder")]
    found = by_sets[by_sets["variant"].isin(views)]
    parts = []
    for name, part in found.groupby("set", sort=False):
        values = part.set_index("variant")[DIFFERENCE]
        parts.append(values.add_prefix(f"{name}_"))
    table = pd.concat(parts, axis=1) if parts else pd.DataFrame(index=pd.Index([], name="variant"))
    return table.rename(lambda title: title.removeprefix(prefix)).rename_axis("view").reset_index()


def by_set(
    study: Study, recalls: Mapping[str, pd.DataFrame], draws: Resampling, p_kinds: float | None = None
) -> pd.DataFrame:
    """Page recall of each of :func:`variants` on each question set: BY_SET, less that of BASE or, where a variant is a
    trained one with a change, of TRAINED or, for PROBES, of FIRST; no rows of no recalls.

    p is corrected within a set and a reference. What the kinds are worth on the study's own set is a step of the
    ladder: it has that p, ``p_kinds``, and no part in these families, unless there is no ladder (None).
    """
    if not recalls:
        return pd.DataFrame(columns=BY_SET)
    parts = {(title, name): part for title, one in recalls.items() for name, part in one.groupby("set", sort=False)}
    reference = dict.fromkeys(recalls, BASE) | {KINDS: TRAINED} | dict.fromkeys([*MEASURED][3:], FIRST)
    values = {key: part["page_recall"] for key, part in parts.items()}
    before = {
        (title, name): recalls[reference[title]].loc[one.index, "page_recall"] for (title, name), one in values.items()
    }
    found = replace(draws, company=recalls[BASE]["company"]).compare(before, values)
    found = found.rename(columns={"n_clusters": "companies"}).reset_index(drop=True)
    found = pd.DataFrame([*parts], columns=["variant", "set"]).join(found)
    found["seeds"] = [1 if title == FIRST else len(seeds_of(study, MEASURED.get(title))) for title in found["variant"]]
    found["doc"] = [part["doc_recall"].mean() for part in parts.values()]
    is_base = found["variant"] == BASE
    found["reference"] = found["variant"].map(reference).mask(is_base, "")
    found.loc[is_base, [*DIFFERENCE, "p"]] = np.nan
    is_step = found["variant"].eq(KINDS) & found["set"].eq(study.dataset.name) & (p_kinds is not None)
    p_holm = found[~is_step].dropna(subset="p").groupby(["set", "reference"])["p"].transform(holm)
    return with_p_holm(found, p_holm.reindex(found.index).where(~is_step, p_kinds))[BY_SET]
