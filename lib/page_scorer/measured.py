"""What chapter 04 measures beside the runs, as one long frame without any text, so that it can be published."""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from lib import runs
from lib.folds import By
from lib.metrics.retrieval import doc_recall, page_recall
from lib.page_scorer import full as page_scorer
from lib.page_scorer import light as page_scorer_light
from lib.page_scorer.mistakes_table import PAGES as PAGES_OF_SLIPS
from lib.page_scorer.search import page_run, scorer_scores, search, search_in_page_order
from lib.page_scorer.vectors import base_vectors

COLUMNS = ["part", "scorer", "by", "item", "metric", "k", "value"]
FILE = "measured.csv"
PAGES = (5, 10, 20, 50)
SCORERS = {  # scorer and what its folds hold out: the row of the method table
    ("untrained", ""): "page_then_chunk",
    ("light", "filing"): "page_scorer_light_filing",
    ("light", "company"): "page_scorer_light",
    ("full", "filing"): "page_scorer_filing",
    ("full", "company"): "page_scorer",
}


def measurements(study, k: int = 5) -> pd.DataFrame:
    """COLUMNS: ``part`` is what was measured, ``item`` a question, fold or epoch, ``k`` the pages or chunks kept.

    The slips of the fine-tuned scorer are there once ``python -m lib.page_scorer.mistakes_full`` has trained them. Where
    nothing can be trained, only the parts ``pages``, ``ablation`` and ``page order`` are there.

    Raises:
        NeedsFilings: there are no filings, and it was not published.
    """
    if study.has_filings and not page_scorer.untrainable(study):
        for by in (
            "filing",
            "company",
        ):  # looked up even where the measurements are there, so that both are published
            page_scorer.scores_entry(study, by)
            page_scorer_light.scores_entry(study, by)
    parts = [_stored(study, f"page_scorer/measured/{k}", k, _measured, lambda params: params)]
    for scorer in ("light", "full"):
        stage = f"page_scorer/slips/measured/{scorer}/{k}"
        if study.is_shared(stage) or (study.has_filings and _can_slip(study, scorer)):
            parts.append(_stored(study, stage, k, partial(_slips, scorer=scorer), _at_the_pages_of_slips))
    return pd.concat(parts, ignore_index=True)


def _stored(
    study, stage: str, k: int, rows: Callable[[object, int], Iterable[tuple]], changed: Callable[[dict], dict]
) -> pd.DataFrame:
    def params() -> dict:
        used = [changed(study.run_params(name, "standard")) for name in SCORERS.values()]
        return {"k": k, "runs": used}

    def compute(target: Path) -> None:
        frame = pd.DataFrame(rows(study, k), columns=COLUMNS)
        frame.to_csv(target / FILE, index=False, float_format="%.6g")

    sections = ("embedder", "page_scorer", "page_scorer_light")
    entry = study.shared(stage, params, compute, settings=sections)
    return pd.read_csv(entry.path / FILE, dtype={"item": str, "by": str}, keep_default_na=False)


def _measured(study, k: int) -> list[tuple]:
    if page_scorer.untrainable(study):
        return [*_recalls(study, k)]
    folds = [row for by in ("filing", "company") for row in _folds(study, by)]
    return [*_recalls(study, k), *folds, *_tokens(study, k)]


def _can_slip(study, scorer: str) -> bool:
    from lib.page_scorer import mistakes_full as full

    return not page_scorer.untrainable(study) and (scorer == "light" or full.are_trained(study))


def _at_the_pages_of_slips(params: dict) -> dict:
    settings = params["settings"]
    return params | {
        "settings": settings | {"page_scorer": settings["page_scorer"] | {"pages": PAGES_OF_SLIPS}}
    }


def _slips(study, k: int, scorer: str) -> Iterable[tuple]:
    from lib.page_scorer import mistakes_full as full
    from lib.page_scorer import mistakes_light as light

    values = {"light": light, "full": full}[scorer].slips(study, "company", k)
    for row in values.itertuples():
        yield f"slip {row.slip}", scorer, "company", row.question_id, row.metric, k, row.value


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


def _tokens(study, k: int) -> Iterable[tuple]:
    """What reading more of a page brings, on the test questions of the first fold by company."""
    settings, light = study.profile.page_scorer, study.profile.page_scorer_light
    trained = {settings.max_tokens, settings.compare_tokens} - {0}
    for n_tokens in sorted(trained | {light.max_tokens}):
        other = study.with_changes(
            {"page_scorer.max_tokens": n_tokens, "page_scorer_light.max_tokens": n_tokens}
        )
        fold = page_scorer.folds(other, "company")[0]
        rows = list(fold.test)
        queries, pages = base_vectors(other)
        yield from _read(study, n_tokens, rows, queries[rows] @ pages.T, k, "untrained")
        if n_tokens in trained:
            entry = page_scorer.fold_model(other, fold)
            yield "tokens", "full", "company", "0", "wall_s", n_tokens, entry.wall_s
            found = page_scorer.scores_of_model(other, entry, rows)
            yield from _read(study, n_tokens, rows, found, k, "full")


def _read(study, n_tokens: int, rows: list[int], found: np.ndarray, k: int, scorer: str) -> Iterable[tuple]:
    n_pages, everything = study.profile.page_scorer.pages, study.candidates("standard")
    scores = np.full((len(study.questions), len(study.pages)), -np.inf, np.float32)
    scores[rows] = found
    ranked = page_run(study, scores, everything, n_pages)
    run = runs.rank(search(study, scores, everything), study.questions, study.chunks, k)
    for part, ranking, depth in (("kept", ranked, n_pages), ("both", run, k)):
        for question, value in page_recall(ranking, study.questions.iloc[rows], depth).items():
            yield "tokens", scorer, "company", question, f"page_recall_{part}", n_tokens, value


def _folds(study, by: By) -> Iterable[tuple]:
    light, full = page_scorer_light.choices(study, by), page_scorer.fold_records(study, by)
    for fold, record, plan in zip(page_scorer.folds(study, by), full, light, strict=True):
        for row in fold.test:
            yield "fold", "", by, study.questions["question_id"].iloc[row], "fold", 0, fold.number
        for epoch, loss in enumerate(record["curve"], 1):
            yield "curve", "full", by, f"{fold.number}:{epoch}", "loss", 0, loss
        for metric, value in _known(record, plan["plan"]).items():
            yield "training", "", by, str(fold.number), metric, 0, float(value)


def _known(record: dict, plan: dict) -> dict[str, float]:
    sizes = {
        f"n_{side}_{what}": len(record[f"{side}_{what}"])
        for side in ("train", "test")
        for what in ("filings", "companies")
    }
    return sizes | {
        "n_pairs": record["n_train_pairs"],
        "n_questions": record["n_test_questions"],
        "wall_s": record["wall_s"],
        "nearest": record["nearest_question_similarity"],
        "n_shared_filings": len(record["shared_filings"]),
        "n_shared_companies": len(record["shared_companies"]),
        "light_steps": plan["steps"],
        "light_both_sides": plan["sides"] == "both",
    }
