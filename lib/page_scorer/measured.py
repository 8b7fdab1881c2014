"""What chapter 04 measures beside the runs, as one long frame without any text, so that it can be published."""

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from lib import runs
from lib.metrics.retrieval import doc_recall, page_recall
from lib.page_scorer import full, light
from lib.page_scorer.scores import folds, load_records
from lib.page_scorer.search import page_run, scorer_scores, search, search_in_page_order
from lib.page_scorer.vectors import base_vectors
from lib.study import Study

COLUMNS = ["part", "scorer", "by", "item", "metric", "k", "value"]
FILE = "measured.csv"
MISTAKE = "slip "  # before a mistake's name in the column "part" of published files
PAGES = (5, 10, 20, 50)
SECTIONS = ("embedder", "page_scorer", "page_scorer_light")
SCORERS = {  # scorer and what its folds hold out: the row of the method table
    ("untrained", ""): "page_then_chunk",
    ("light", "filing"): "page_scorer_light_filing",
    ("light", "company"): "page_scorer_light",
    ("full", "filing"): "page_scorer_filing",
    ("full", "company"): "page_scorer",
}


def measurements(study: Study, k: int = 5) -> pd.DataFrame:
    """COLUMNS: ``part`` is what was measured, ``item`` a question, fold or epoch, ``k`` the pages or chunks kept.

    The mistakes on the fine-tuned scorer are included once ``python -m lib mistakes`` has measured them. Where nothing
    can be trained, only the parts ``pages``, ``ablation`` and ``page order`` are included.

    Raises:
        NeedsFilings: there are no filings, and the measurements were not published.
    """
    frame = _stored(study, f"page_scorer/measured/{k}", _params(study, k), lambda: _measured(study, k))
    if not (frame["part"] == "training").any():
        return frame
    for by in (
        "filing",
        "company",
    ):  # used even where the measurements are stored, so that both are published
        full.scores_entry(study, by)
        light.scores_entry(study, by)
    mistakes = [measured_mistakes(study, "light", k), measured_mistakes(study, "full", k, may_compute=False)]
    return pd.concat([frame, *(part for part in mistakes if part is not None)], ignore_index=True)


def measured_mistakes(study: Study, scorer: str, k: int = 5, may_compute: bool = True) -> pd.DataFrame | None:
    """What the evaluation mistakes give on a scorer, folds by company: COLUMNS.

    Args:
        study: one dataset under one profile.
        scorer: ``light`` (minutes) or ``full`` (trains three models per fold: hours).
        k: depth of the metrics.
        may_compute: otherwise None is returned where nothing is stored.
    """

    def rows() -> Iterable[tuple]:
        from lib.page_scorer import mistakes_full, mistakes_light

        measure = {"light": mistakes_light, "full": mistakes_full}[scorer].measure
        for row in measure(study, "company", k).itertuples():
            yield f"{MISTAKE}{row.mistake}", scorer, "company", row.question_id, row.metric, k, row.value

    params = _params(study, k)
    for name in ("pages", "compare_tokens"):
        del params["settings"]["page_scorer"][name]
    stage = f"page_scorer/slips/measured/{scorer}/{k}"
    if may_compute or study.store.find(stage, params):
        return _stored(study, stage, params, rows)
    return None


def _params(study: Study, k: int) -> dict:
    inputs = {name: study.digest(name) for name in ("pages", "chunks", "questions")}
    return {"k": k, **inputs, "settings": study.settings_of(SECTIONS)}


def _stored(study: Study, stage: str, params: dict, rows: Callable[[], Iterable[tuple]]) -> pd.DataFrame:
    def compute(target: Path) -> None:
        frame = pd.DataFrame(rows(), columns=COLUMNS)
        frame.to_csv(target / FILE, index=False, float_format="%.6g")

    entry = study.store.get(stage, params, compute, public=True)
    return pd.read_csv(entry.path / FILE, dtype={"item": str, "by": str}, keep_default_na=False)


def _measured(study: Study, k: int) -> Iterable[tuple]:
    yield from _recalls(study, k)
    if not full.untrainable(study):
        for by in ("filing", "company"):
            yield from _folds(study, by)
        yield from _tokens(study, k)


def _recalls(study: Study, k: int) -> Iterable[tuple]:
    everything = study.candidates("standard")
    for scorer, by in SCORERS:
        scores = scorer_scores(study, scorer, by or "company")
        ranked = page_run(study, scores, everything, max(PAGES))
        for n_pages in PAGES:
            yield from _values(study, ranked, n_pages, "pages", scorer, by, n_pages)
        found = {("ablation", n_pages): search(study, scores, everything, n_pages) for n_pages in PAGES}
        found["page order", study.profile.page_scorer.pages] = search_in_page_order(study, scores, everything)
        for (part, n_pages), matrix in found.items():
            run = runs.rank(matrix, study.questions, study.chunks, k)
            yield from _values(study, run, k, part, scorer, by, n_pages)


def _values(study: Study, run: pd.DataFrame, depth: int, part: str, *names: object) -> Iterable[tuple]:
    scorer, by, n_pages = names
    for metric in (doc_recall, page_recall):
        for question, value in metric(run, study.questions, depth).items():
            yield part, scorer, by, question, metric.__name__, n_pages, value


def _tokens(study: Study, k: int) -> Iterable[tuple]:
    """What reading more of a page brings, on the test questions of the first fold by company."""
    settings = study.profile.page_scorer
    trained = {settings.max_tokens, settings.compare_tokens} - {0}
    for n_tokens in sorted(trained | {study.profile.page_scorer_light.max_tokens}):
        names = ("page_scorer.max_tokens", "page_scorer_light.max_tokens")
        other = study.with_changes(dict.fromkeys(names, n_tokens))
        fold = folds(other, "company")[0]
        rows = list(fold.test)
        queries, pages = base_vectors(other)
        yield from _read(study, n_tokens, rows, queries[rows] @ pages.T, k, "untrained")
        if n_tokens in trained:
            entry = full.fold_model(other, fold)
            yield "tokens", "full", "company", "0", "wall_s", n_tokens, entry.wall_s
            yield from _read(study, n_tokens, rows, full.scores_of_model(other, entry, rows), k, "full")


def _read(
    study: Study, n_tokens: int, rows: list[int], found: np.ndarray, k: int, scorer: str
) -> Iterable[tuple]:
    n_pages, everything = study.profile.page_scorer.pages, study.candidates("standard")
    scores = np.full((len(study.questions), len(study.pages)), -np.inf, np.float32)
    scores[rows] = found
    ranked = page_run(study, scores, everything, n_pages)
    run = runs.rank(search(study, scores, everything), study.questions, study.chunks, k)
    for part, ranking, depth in (("kept", ranked, n_pages), ("both", run, k)):
        for question, value in page_recall(ranking, study.questions.iloc[rows], depth).items():
            yield "tokens", scorer, "company", question, f"page_recall_{part}", n_tokens, value


def _folds(study: Study, by: str) -> Iterable[tuple]:
    records = [load_records(scorer.scores_entry(study, by)) for scorer in (full, light)]
    for fold, record, choice in zip(folds(study, by), *records, strict=True):
        for row in fold.test:
            yield "fold", "", by, study.questions["question_id"].iloc[row], "fold", 0, fold.number
        for epoch, loss in enumerate(record["curve"], 1):
            yield "curve", "full", by, f"{fold.number}:{epoch}", "loss", 0, loss
        for metric, value in _known(record, choice["plan"]).items():
            yield "training", "", by, str(fold.number), metric, 0, float(value)


def _known(record: dict, plan: dict) -> dict[str, float]:
    sides = [f"{side}_{what}" for side in ("train", "test") for what in ("filings", "companies")]
    return {f"n_{name}": len(record[name]) for name in sides} | {
        "n_pairs": record["n_train_pairs"],
        "n_questions": record["n_test_questions"],
        "wall_s": record["wall_s"],
        "nearest": record["nearest_question_similarity"],
        "n_shared_filings": len(record["shared_filings"]),
        "n_shared_companies": len(record["shared_companies"]),
        "light_steps": plan["steps"],
        "light_both_sides": plan["sides"] == "both",
    }
