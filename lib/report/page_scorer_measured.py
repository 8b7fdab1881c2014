"""What chapter 04 measures beside the runs, as one long frame without any text, so that it can be published."""

import json
from collections.abc import Iterable

import numpy as np
import pandas as pd

from lib import runs
from lib.metrics.retrieval import doc_recall, page_recall
from lib.models import page_scorer, page_scorer_light
from lib.retrievers.page_then_chunk import page_run, scorer_scores, search, search_in_page_order
from lib.words import NeedsFilings

COLUMNS = ["part", "scorer", "by", "item", "metric", "k", "value"]
FILE = "page_scorer.csv"
PAGES = (5, 10, 20, 50)
SCORERS = (
    ("untrained", ""),
    ("light", "filing"),
    ("light", "company"),
    ("full", "filing"),
    ("full", "company"),
)


def measurements(study, k: int = 5) -> pd.DataFrame:
    """COLUMNS: ``part`` is what was measured, ``item`` a question, fold or epoch, ``k`` the pages or chunks kept.

    Written to the view as ``page_scorer.csv``; without filings it is read from what was published.

    Raises:
        NeedsFilings: there are none, and it was not published.
    """
    if not study.has_filings:
        path = study.published.root / FILE
        if not path.is_file():
            raise NeedsFilings("the page scorer's measurements were not published")
        frame = pd.read_csv(path, dtype={"item": str, "by": str}, keep_default_na=False)
    else:
        rows = [*_recalls(study, k), *_folds(study), *_slips(study, k)]
        frame = pd.DataFrame(rows, columns=COLUMNS)
    study.write(FILE, frame.to_csv(index=False, float_format="%.6g"))
    return frame


def _recalls(study, k: int) -> Iterable[tuple]:
    everything = study.candidates("standard")
    for scorer, by in SCORERS:
        scores = scorer_scores(study, scorer, by or "company")
        ranked = page_run(study, scores, everything, max(PAGES))
        ordered = search_in_page_order(study, scores, everything)
        found = {("ablation", n_pages): search(study, scores, everything, n_pages) for n_pages in PAGES}
        found["page order", study.profile.page_scorer.pages] = ordered
        for n_pages in PAGES:
            yield from _values(study, ranked, n_pages, "pages", scorer, by, n_pages)
        for (part, n_pages), matrix in found.items():
            run = runs.rank(matrix, study.questions, study.chunks, k)
            yield from _values(study, run, k, part, scorer, by, n_pages)


def _values(
    study, run: pd.DataFrame, depth: int, part: str, scorer: str, by: str, n_pages: int
) -> Iterable[tuple]:
    for metric in (doc_recall, page_recall):
        for question, value in metric(run, study.questions, depth).items():
            yield part, scorer, by, question, metric.__name__, n_pages, value


def _folds(study) -> Iterable[tuple]:
    for by in ("filing", "company"):
        light = page_scorer_light.choices(study, by)
        for fold, record in zip(page_scorer.folds(study, by), light, strict=True):
            for row in fold.test:
                yield "fold", "", by, study.questions["question_id"].iloc[row], "fold", 0, fold.number
            entry = page_scorer.fold_model(study, fold)
            curve = pd.DataFrame(json.loads((entry.path / "curves.json").read_text()))
            for epoch, loss in curve.groupby(np.ceil(curve["epoch"]))["loss"].mean().items():
                yield "curve", "full", by, f"{fold.number}:{epoch:.0f}", "loss", 0, loss
            known = {
                "n_pairs": record["n_train_pairs"],
                "n_questions": record["n_test_questions"],
                "wall_s": entry.wall_s,
            }
            known |= {"nearest": record["nearest_question_similarity"]}
            known |= {
                f"n_{side}_{what}": len(record[f"{side}_{what}"])
                for side in ("train", "test")
                for what in ("filings", "companies")
            }
            known |= {f"n_shared_{what}": len(record[f"shared_{what}"]) for what in ("filings", "companies")}
            known |= {
                "light_steps": record["plan"]["steps"],
                "light_both_sides": record["plan"]["sides"] == "both",
            }
            for metric, value in known.items():
                yield "training", "", by, str(fold.number), metric, 0, float(value)


def _slips(study, k: int) -> Iterable[tuple]:
    from lib.slips import full, light

    measured = {"light": light.slips(study, "company", k)}
    if full.are_trained(study, "company"):
        measured["full"] = full.slips(study, "company", k)
    for scorer, values in measured.items():
        for row in values.itertuples():
            yield f"slip {row.slip}", scorer, "company", row.question_id, row.metric, k, row.value
