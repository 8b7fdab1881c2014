"""The steps of Ahead, some views more at each, trained within the same folds; the first is the untrained sum."""

from typing import NamedTuple

import pandas as pd

from lib.ahead.ranker import UNTRAINED, WHOLE, WITH_KINDS, Variant, nested_recalls
from lib.ahead.search import scored_by
from lib.ahead.views import ENCODED
from lib.evaluation import METRIC_COLUMNS, evaluate
from lib.metrics.frame import Metrics, long_frame
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
    Rung("untrained", "identity and words, untrained", UNTRAINED),
    Rung("words", "boosted trees on identity and words (BM25)", _only(*_WORDS)),
    Rung("terms", "+ word pairs, passages, row labels", _only(*_TERMS)),
    Rung("windows", "+ encoder vectors of windows and page heads", _only(*_TERMS, *ENCODED)),
    Rung("statements", "+ statements, line items and years", WHOLE),
    Rung("kinds", "+ hand-written page kinds", WITH_KINDS),
)


def rungs_of(study: Study) -> tuple[Rung, ...]:
    """The steps that a study has: all where its questions are scored by folds, else the first."""
    return LADDER if scored_by(study) == "folds" else LADDER[:1]


def ladder_metrics(study: Study, k: int = 5) -> pd.DataFrame:
    """Every rung's recall of the study's questions, mean over the seeds of the folds, as metrics of ``ahead``.

    The metric is ``rung_doc_recall/<name>`` or ``rung_page_recall/<name>``; ``whole_<seed>`` is the last rung, which is
    the method itself, under one seed.
    """
    seeds, rows = study.profile.ahead.fold_seeds, []
    for rung in rungs_of(study):
        drawn_by = seeds[:1] if rung.variant == UNTRAINED else seeds
        drawn = {seed: _own_recalls(study, rung.variant, seed, k) for seed in drawn_by}
        found = {rung.name: sum(drawn.values()) / len(drawn)}
        if rung is LADDER[-1]:
            found |= {f"whole_{seed}": one for seed, one in drawn.items()}
        for name, values in found.items():
            rows += [long_frame(values[metric], f"rung_{metric}/{name}", k) for metric in values]
    return pd.concat(rows, ignore_index=True).assign(method="ahead", condition="standard")[METRIC_COLUMNS]


def _own_recalls(study: Study, variant: Variant, seed: int, k: int) -> pd.DataFrame:
    """Both recalls by question_id; of the method itself those of its run, in which pages without text take no place."""
    if (variant, seed) == (LADDER[-1].variant, study.profile.ahead.fold_seeds[0]):
        of_run = Metrics(evaluate(study, "ahead"))
        return pd.DataFrame({metric: of_run["ahead", metric, k] for metric in ("doc_recall", "page_recall")})
    found = nested_recalls(study, variant, seed, k=k).set_index("question_id")
    return found.loc[study.questions["question_id"], ["doc_recall", "page_recall"]]
