"""Measurements of page scorers beside their runs, without any text, so that they can be published."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from lib import runs
from lib.analysis import mistakes
from lib.evaluation import evaluate
from lib.folds import By
from lib.metrics.frame import Metrics
from lib.metrics.retrieval import doc_recall, page_recall
from lib.page_scorer import full, light
from lib.page_scorer.pages import base_vectors, folds, load_records
from lib.page_scorer.search import ORDERS, page_run, scorer_scores, search_pages_first
from lib.retrievers import matched
from lib.schema import K, or_without_filings
from lib.stats import Resampling, columns_of
from lib.study import Study

#: Of the stored rows of mistakes: ``part`` is a mistake behind MISTAKE, ``item`` a question, ``k`` the chunks read.
COLUMNS = ["part", "scorer", "by", "item", "metric", "k", "value"]
FILE = "measured.csv"
MISTAKE = "slip "
PAGES = (5, 10, 20, 50)
SCORERS = {  # scorer and what its folds hold out: the row of the method table
    ("untrained", ""): "page_then_chunk",
    ("light", "filing"): "page_scorer_light_filing",
    ("light", "company"): "page_scorer_light",
    ("full", "filing"): "page_scorer_filing",
    ("full", "company"): "page_scorer",
}
TRAINED = [key for key in SCORERS if key[1]]
BEST = [("best", "company"), ("best", "filing")]  # trained by the profile's page_scorer_best; set-ups alone
#: How a set-up knows the filing, as tables name it.
IDENTITIES = {"none": "Not matched", "covers": "Covers", "records": "Records", "given": "Filing given"}
#: Changes of one part of a set-up, by what a table calls them.
CHANGES: dict[str, dict[str, str]] = {
    "Chunks in page order": {"order": "page"},
    "Chunks by the sum of both scores": {"order": "sum"},
    "Metadata match (cover pages)": {"identity": "covers"},
    "Metadata match": {"identity": "records"},
    "Filing given": {"identity": "given"},
    "The light page scorer in place of fine-tuning": {"scorer": "light"},
    "A header before each page": {"scorer": "best"},
    "Folds by filing: companies are known": {"by": "filing"},
}
#: The measured parts and the scorers as figures name them.
PARTS = {"pages": "among the P pages", "ablation": "in the first chunks", "page order": "in page order"}
SCORER_TITLES = {"full": "fine-tuned", "light": "light page scorer"}
SECTIONS = ("embedder", "page_scorer", "page_scorer_light")  # of the profile, that the measurements read
#: Stages of a recall by tokens.
STAGES = ["recall_of_kept_pages", "page_recall"]
TOKENS = ["scorer", "tokens", "question_id", *STAGES, "minutes"]
LOSSES = ["by", "fold", "epoch", "loss"]
KEPT = ["part", "scorer", "by", "pages"]  # of a column of what stage one keeps


class Measurements(NamedTuple):
    """What was measured of page scorers, a frame a thing; where nothing can be trained, ``kept`` alone has rows."""

    kept: pd.DataFrame  # page recall: questions × (part of PARTS, scorer, by, pages that stage one keeps)
    tokens: pd.DataFrame  # recall of the first fold by tokens read: TOKENS, with the minutes of training
    fold_of: pd.DataFrame  # the fold that tests a question: questions × by
    training: pd.DataFrame  # what a fold trains on and shares with its test questions: by, fold, and numbers
    losses: pd.DataFrame  # LOSSES: the mean training loss of each epoch
    mistakes: dict[str, pd.DataFrame]  # page recall with each evaluation mistake, by scorer: questions × MISTAKES


#: Where nothing was measured.
UNMEASURED = Measurements(
    kept=pd.DataFrame(columns=pd.MultiIndex.from_arrays([[]] * len(KEPT), names=KEPT)),
    tokens=pd.DataFrame(columns=TOKENS),
    fold_of=pd.DataFrame(columns=full.TUNED_BY),
    training=pd.DataFrame(columns=["by", "fold"]),
    losses=pd.DataFrame(columns=LOSSES),
    mistakes={},
)


def measurements(study: Study, k: int = K) -> Measurements:
    """The measurements of page scorers at ``k`` chunks.

    The mistakes on the fine-tuned scorer are there once ``python -m lib mistakes`` has measured them.
    """

    def stored(name: str, make: Callable[[Study, int], pd.DataFrame]) -> pd.DataFrame:
        make_now = partial(make, study, k)
        return study.store.frame(f"page_scorer/{name}/{k}", _params(study, k), make_now, public=True)

    kept = stored("kept", _kept).set_index("question_id")
    places = [(part, scorer, by, int(pages)) for part, scorer, by, pages in (name.split("/") for name in kept)]
    kept.columns = pd.MultiIndex.from_tuples(places, names=KEPT)
    tokens = stored("tokens", _tokens)
    if tokens.empty:
        return UNMEASURED._replace(kept=kept)
    fold_of, (training, losses) = _fold_of(study), _training(study)
    return Measurements(kept, tokens, fold_of, training, losses, _mistakes(study, k))


def known_measurements(study: Study, k: int) -> Measurements:
    """:func:`measurements`; UNMEASURED where they would be made now and the filings are not here."""
    return or_without_filings(lambda: measurements(study, k), UNMEASURED)


def _mistakes(study: Study, k: int) -> dict[str, pd.DataFrame]:
    """Page recall with each mistake by scorer, questions × MISTAKES, of those scorers that were measured."""
    found = {}
    for scorer, measure in (("light", mistakes.measure_light), ("full", None)):
        rows = measured_mistakes(study, scorer, k, measure)
        if rows is not None:
            rows = rows[rows["metric"] == "page_recall"].assign(mistake=rows["part"].str.removeprefix(MISTAKE))
            wide = rows.pivot(index="item", columns="mistake", values="value")
            found[scorer] = wide[rows["mistake"].unique()].rename_axis("question_id")
    return found


def measured_mistakes(
    study: Study, scorer: str, k: int, measure: Callable[[Study, int], pd.DataFrame] | None = None
) -> pd.DataFrame | None:
    """What the evaluation mistakes give on the scorer ``light`` or ``full``, folds by company: COLUMNS; None where they
    were not measured and there is no ``measure``, such as :func:`lib.analysis.mistakes.measure_light`."""

    def compute(target: Path) -> None:
        study.need_filings("measuring page scorers")
        rows = measure(study, k).rename(columns={"question_id": "item"})
        rows = rows.assign(part=MISTAKE + rows["mistake"], scorer=scorer, by="company", k=k)
        rows[COLUMNS].to_csv(target / FILE, index=False, float_format="%.6g")

    stage, params = f"page_scorer/slips/measured/{scorer}/{k}", _params(study, k)
    for name in ("pages", "compare_tokens"):
        del params["settings"]["page_scorer"][name]
    if not measure and not study.store.find(stage, params):
        return None
    entry = study.store.files(stage, params, compute, public=True)
    return pd.read_csv(entry.file(FILE), dtype={"item": str, "by": str}, keep_default_na=False)


def setups(study: Study, k: int = K) -> pd.DataFrame:
    """Document and page recall at k chunks of every set-up: question_id, metric, and a column for each, by its scorer
    and folds (of TRAINED and BEST), ORDERS and IDENTITIES, such as ``light/company/page/none``."""
    identities = [study.inputs_digest(f"page_scorer_order_{kind}") for kind in ("covers", "records")]
    params = _params(study, k) | {"identities": identities}
    recipe = {"settings": study.settings_of(("embedder", "page_scorer", "page_scorer_best"))}
    parts = [
        study.store.frame(f"page_scorer/{stage}/{k}", given, partial(_setups, study, k, scorers), public=True)
        for stage, given, scorers in (("setups", params, TRAINED), ("setups_best", params | recipe, BEST))
    ]
    return parts[0].merge(parts[1], on=["metric", "question_id"], validate="one_to_one")


def why_untrained(study: Study, measured: Measurements) -> str:
    """A sentence with the reason why measurements are of no trained scorer; empty where they are."""
    if len(measured.training):
        return ""
    return f"No scorer is trained here, the untrained encoder is in its place: {full.untrainable(study)}."


def by_stage(study: Study, measured: Measurements, recall: pd.DataFrame, k: int) -> pd.DataFrame:
    """What training adds to page recall, each tested alone: COMPARED of ``stage one`` (the fewest of PAGES that it
    keeps), and of what stage two has ``lost`` of that once k chunks are read as published; ``recall``: :func:`setups`.
    """
    trained, untrained = (measured.kept["pages", *key, min(PAGES)] for key in (("full", "company"), ("untrained", "")))
    published = Metrics(evaluate(study, SCORERS["untrained", ""]))[SCORERS["untrained", ""], "page_recall", k]
    draws, both = Resampling.of(study), recall["full/company/base/none"] - published
    parts = draws.compare(untrained, {"stage one": trained}), draws.compare(both, {"lost": trained - untrained})
    return pd.concat(parts)


def by_fold(fold_of: pd.DataFrame, values: pd.DataFrame, folds_by: Mapping[str, By]) -> pd.DataFrame:
    """The mean of each method's values (questions × methods) in each fold, and the mean and deviation of these means.

    ``folds_by`` says what the folds of a method keep together. Indexed by ``method``: ``Folds by``, ``Fold 0`` and so
    on, ``mean``, ``SD`` and the number of questions ``n``; no rows where there are no folds.
    """
    rows = []
    for name, by in folds_by.items() if len(fold_of) else ():
        means = values[name].groupby(fold_of[by]).mean().rename("Fold {}".format)
        about = {"method": name, "Folds by": by, **means, "mean": means.mean(), "SD": means.std()}
        rows.append(about | {"n": fold_of[by].count()})
    return pd.DataFrame(rows, columns=None if rows else ["method"]).set_index("method")


def trained_folds(measured: Measurements) -> pd.DataFrame:
    """What each fold trains on and shares with its test questions: by, fold, counts (``n_…``), nearest (the similarity
    of the nearest question), last_loss, minutes."""
    found = measured.training
    if found.empty:
        return found
    last = measured.losses.groupby(["by", "fold"])["loss"].last().rename("last_loss")
    return found.join(last, on=["by", "fold"]).assign(minutes=found["wall_s"] / 60)


def by_tokens(measured: Measurements, draws: Resampling) -> pd.DataFrame:
    """What more tokens of a page bring on one fold: scorer, tokens, minutes of training, n, and the recall of kept
    pages and of both stages (STAGES) with their intervals."""
    rows = []
    for (tokens, scorer), part in measured.tokens.groupby(["tokens", "scorer"], sort=False):
        row = {"scorer": scorer, "tokens": tokens, "minutes": part["minutes"].iloc[0], "n": len(part)}
        for stage in STAGES:
            row |= columns_of(stage, draws.interval(part.set_index("question_id")[stage]))
        rows.append(row)
    return pd.DataFrame(rows)


def _setups(study: Study, k: int, scorers: Sequence[tuple[str, By]]) -> pd.DataFrame:
    asked, shared = (study.questions, study.chunks, k), study.candidates("standard")
    values = {}
    for (scorer, by), order, identity in product(scorers, ORDERS, IDENTITIES):
        scores = scorer_scores(study, scorer, by)

        def rank(allowed: np.ndarray, scores: np.ndarray = scores, order: str = order) -> pd.DataFrame:
            return runs.rank(search_pages_first(study, scores, allowed, order=order), *asked)

        if identity in ("none", "given"):
            run = rank(shared if identity == "none" else study.candidates("oracle-document"))
        else:
            run = matched.run_within(study, shared, identity == "covers", rank)
        both = [metric(run, study.questions, k) for metric in (doc_recall, page_recall)]
        values["/".join((scorer, by, order, identity))] = pd.concat(both, keys=["doc_recall", "page_recall"])
    return pd.DataFrame(values).rename_axis(["metric", "question_id"]).reset_index()


def _params(study: Study, k: int) -> dict:
    inputs = {name: study.digest(name) for name in ("pages", "chunks", "questions")}
    return {"k": k, **inputs, "settings": study.settings_of(SECTIONS)}


def _kept(study: Study, k: int) -> pd.DataFrame:
    """``question_id``, and page recall in columns ``part/scorer/by/pages``."""
    study.need_filings("measuring page scorers")
    everything, found = study.candidates("standard"), {}
    for scorer, by in SCORERS:
        scores = scorer_scores(study, scorer, by or "company")
        ranked = page_run(study, scores, everything, max(PAGES))
        for n_pages in PAGES:
            found[f"pages/{scorer}/{by}/{n_pages}"] = page_recall(ranked, study.questions, n_pages)
        for part, n_pages in [*(("ablation", n) for n in PAGES), ("page order", study.profile.page_scorer.pages)]:
            order = "page" if part == "page order" else "base"
            chunk_scores = search_pages_first(study, scores, everything, n_pages, order)
            run = runs.rank(chunk_scores, study.questions, study.chunks, k)
            found[f"{part}/{scorer}/{by}/{n_pages}"] = page_recall(run, study.questions, k)
    return pd.DataFrame(found).rename_axis("question_id").reset_index()


def _fold_of(study: Study) -> pd.DataFrame:
    ids = study.questions["question_id"]
    found = {by: {ids.iloc[row]: fold.number for fold in folds(study, by) for row in fold.test} for by in full.TUNED_BY}
    return pd.DataFrame(found).rename_axis("question_id")


def _training(study: Study) -> tuple[pd.DataFrame, pd.DataFrame]:
    """``training`` and ``losses`` of :class:`Measurements`, from the records of the folds."""
    rows, losses = [], []
    for by in full.TUNED_BY:
        records = [load_records(scorer.scores_entry(study, by)) for scorer in (full, light)]
        for fold, record, choice in zip(folds(study, by), *records, strict=True):
            place = {"by": by, "fold": fold.number}
            losses += [place | {"epoch": epoch, "loss": loss} for epoch, loss in enumerate(record["curve"], 1)]
            sides = [f"{side}_{what}" for side in ("train", "test") for what in ("filings", "companies")]
            row = place | {f"n_{name}": len(record[name]) for name in sides}
            row |= {"n_pairs": record["n_train_pairs"], "n_questions": record["n_test_questions"]}
            row |= {"wall_s": record["wall_s"], "nearest": record["nearest_question_similarity"]}
            row |= {f"n_shared_{what}": len(record[f"shared_{what}"]) for what in ("filings", "companies")}
            plan = choice["plan"]
            rows.append(row | {"light_steps": plan["steps"], "light_both_sides": plan["sides"] == "both"})
    return pd.DataFrame(rows), pd.DataFrame(losses, columns=LOSSES)


def _tokens(study: Study, k: int) -> pd.DataFrame:
    """What reading more of a page brings, on the test questions of the first fold by company: TOKENS."""
    study.need_filings("measuring page scorers")
    if full.untrainable(study):
        return pd.DataFrame(columns=TOKENS)
    settings, everything, parts = study.profile.page_scorer, study.candidates("standard"), []
    trained = {settings.max_tokens, settings.compare_tokens} - {0}
    for n_tokens in sorted(trained | {study.profile.page_scorer_light.max_tokens}):
        names = ("page_scorer.max_tokens", "page_scorer_light.max_tokens")
        other = study.with_changes(dict.fromkeys(names, n_tokens))
        fold, (queries, pages) = folds(other, "company")[0], base_vectors(other)
        rows = list(fold.test)
        found = {"untrained": (queries[rows] @ pages.T, np.nan)}
        if n_tokens in trained:
            entry = full.fold_model(other, fold)
            found["full"] = full.scores_of_model(other, entry, rows), entry.wall_s / 60
        for scorer, (of_fold, minutes) in found.items():
            scores = np.full((len(study.questions), len(study.pages)), -np.inf, np.float32)
            scores[rows] = of_fold
            kept = page_run(study, scores, everything, settings.pages)
            both = runs.rank(search_pages_first(study, scores, everything), study.questions, study.chunks, k)
            asked = study.questions.iloc[rows]
            recalls = [page_recall(kept, asked, settings.pages), page_recall(both, asked, k)]
            part = pd.concat(recalls, axis=1, keys=STAGES).rename_axis("question_id").reset_index()
            parts.append(part.assign(scorer=scorer, tokens=n_tokens, minutes=minutes))
    return pd.concat(parts, ignore_index=True)[TOKENS]
